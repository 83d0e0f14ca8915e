"""Slowwave: memory for LLM agents that sleeps on it.

>>> import slowwave
>>> "AgentMemory" in slowwave.__all__
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory
    from slowwave.aio import AsyncAgentMemory
    from slowwave.consolidator import (
        ConsolidationResult,
        DistilledFact,
        InMemoryVectorStore,
        MemoryConsolidator,
        SemanticMemory,
    )
    from slowwave.errors import SlowwaveError
    from slowwave.model.config import Config
    from slowwave.model.memory import Memory
    from slowwave.model.message import Message
    from slowwave.model.plan import Plan, Receipt
    from slowwave.model.query import Context, Hit

__version__ = "0.1.0"

__all__ = [
    "AgentMemory",
    "AsyncAgentMemory",
    "Config",
    "ConsolidationResult",
    "Context",
    "DistilledFact",
    "Hit",
    "InMemoryVectorStore",
    "Memory",
    "MemoryConsolidator",
    "Message",
    "Plan",
    "Receipt",
    "SemanticMemory",
    "SlowwaveError",
]

_ROOMS = {
    "AgentMemory": "agent_memory",
    "AsyncAgentMemory": "aio",
    "Config": "model.config",
    "ConsolidationResult": "consolidator",
    "Context": "model.query",
    "DistilledFact": "consolidator",
    "Hit": "model.query",
    "InMemoryVectorStore": "consolidator",
    "Memory": "model.memory",
    "MemoryConsolidator": "consolidator",
    "Message": "model.message",
    "Plan": "model.plan",
    "Receipt": "model.plan",
    "SemanticMemory": "consolidator",
    "SlowwaveError": "errors",
}


def __getattr__(name: str) -> object:
    """Load a name's room when it is first asked for, so that `import slowwave` costs next to nothing."""
    if name not in _ROOMS:
        raise AttributeError(f"slowwave has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"slowwave.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    """What there is."""
    return sorted(__all__)
