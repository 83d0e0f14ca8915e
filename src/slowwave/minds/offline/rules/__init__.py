"""Rules that read English talk without a model: cut it, tell what is worth a fact, and say it in the third person."""
