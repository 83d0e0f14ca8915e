"""Stores: where memory lives. `apply(plan)` is the only write."""
