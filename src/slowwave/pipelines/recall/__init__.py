"""Workflows that read: search, context, core memory."""
