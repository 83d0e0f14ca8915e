"""Pipelines: gather, decide, return operations."""
