"""What tests of programs on Slowwave need, shipped: scripted models, a fake provider, the malformed replies of real ones."""

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
