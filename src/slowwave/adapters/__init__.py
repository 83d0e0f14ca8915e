"""Adapters: the memory interfaces of agent frameworks, served by Slowwave. Each module imports one framework.

`import slowwave` loads none of them. A module whose framework is not installed raises ImportError with the extra to
install.
"""

EXTRAS = {
    "agent_framework": "agent-framework",
    "anthropic_memory": "anthropic",
    "google_adk": "google-adk",
    "langchain": "langchain",
    "langgraph": "langgraph",
    "llama_index": "llama-index",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai",
    "strands": "strands",
}
"""The extra of each module."""


def missing(module: str, error: ImportError) -> ImportError:
    """The error for a module (its `__name__`) whose framework is not installed. Raise it from `error`."""
    extra = EXTRAS[module.rpartition(".")[2]]
    return ImportError(f"{error.name} is not installed: pip install 'slowwave[{extra}]'", name=error.name)
