"""Rules about strength, phases and archiving."""
