"""The search index in RAM."""
