"""The sleep pass and its stages."""
