"""The mind that works by rules."""
