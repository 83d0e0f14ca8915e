"""Workflows that take messages and facts in."""
