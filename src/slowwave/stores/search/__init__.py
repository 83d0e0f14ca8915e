"""The search index, which is kept in RAM, one for each scope."""
