"""The Markdown pages of a vault."""
