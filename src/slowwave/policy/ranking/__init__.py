"""Rules that score hits and pack contexts."""
