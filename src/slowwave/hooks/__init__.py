"""The command that coding agents call on events, and its installation in their settings."""
