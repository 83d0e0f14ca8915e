"""Workflows over the ports, one module each."""
