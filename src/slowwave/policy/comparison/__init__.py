"""Rules that compare two statements."""
