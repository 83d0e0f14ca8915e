"""The demo: nine months of a conversation, replayed in the terminal."""
