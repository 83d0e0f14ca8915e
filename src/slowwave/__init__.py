"""Slowwave: memory for LLM agents that sleeps on it."""
