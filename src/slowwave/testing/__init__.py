"""What tests of programs on Slowwave need, shipped: scripted models, a fake provider, the malformed replies of real ones."""

from slowwave.testing.scripted_llm import Asked, ScriptedLLM
from slowwave.testing.shapes import SHAPES, malformed

__all__ = ["SHAPES", "Asked", "ScriptedLLM", "malformed"]
