"""Tombstones: hashes by which erased words are known again and kept out."""

from slowwave.model.codec import content_key

SOME = "erased"
"""The key that is held once anything was erased: without it nobody has to look for tombstones."""


def tombstone(text: str) -> str:
    """The key under which erased words are held: a hash only."""
    return f"erased {content_key(text)}"
