"""Rules that read English conversations: split messages, classify statements, and rewrite them in the third person."""
