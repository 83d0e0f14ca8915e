"""Tools for testing programs that use Slowwave: a scripted model, a local provider, malformed replies, a fixed clock."""

from slowwave.testing.clock import FrozenClock
from slowwave.testing.failpoint import Failpoint, Injected
from slowwave.testing.malformed_replies import SHAPES, malformed
from slowwave.testing.openai_server import OpenAIServer, Served
from slowwave.testing.scripted_llm import Asked, ScriptedLLM

__all__ = [
    "SHAPES",
    "Asked",
    "Failpoint",
    "FrozenClock",
    "Injected",
    "OpenAIServer",
    "ScriptedLLM",
    "Served",
    "malformed",
]
