"""Readers of the export formats of other programs."""
