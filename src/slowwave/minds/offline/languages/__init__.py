"""Statements in other languages than English, one table a language."""
