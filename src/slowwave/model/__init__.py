"""Frozen value types that every other package uses."""
