"""The mind that asks a language model."""
