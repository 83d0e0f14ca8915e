"""The demo: nine months of conversations, replayed in the terminal."""
