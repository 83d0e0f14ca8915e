"""Minds: whoever thinks. They distil, decide and summarise, and never write."""
