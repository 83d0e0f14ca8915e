"""Rules that select and join clauses for summaries."""
