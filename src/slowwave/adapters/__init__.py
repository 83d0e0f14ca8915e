"""Adapters: the memory interfaces of agent frameworks, served by Slowwave. Each module imports one framework.

`import slowwave` loads none of them. A module whose framework is not installed raises ImportError with the extra to
install.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from slowwave.errors import InputError, SlowwaveError
from slowwave.log import Log

_log = Log("adapters")

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


@contextmanager
def tolerated(action: str, *, also_input: bool = False) -> Iterator[None]:
    """Log a failure of memory instead of raising it, so that the run of an agent goes on without memory.

    The record has the class of the error only, because messages of errors can contain names and texts.

    Args:
        action: what fails, for the log, such as "recall".
        also_input: also log InputError. False: it is raised, because the program passed an invalid argument.
    """
    try:
        yield
    except InputError as error:
        if not also_input:
            raise
        _log.warning("%s failed: %s", action, type(error).__name__)
    except SlowwaveError as error:
        _log.warning("%s failed: %s", action, type(error).__name__)
