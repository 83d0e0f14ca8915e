"""Workflows that store messages and facts."""
