"""Rules about words, clauses, names and dates."""
