"""Pairs that were compared: the links that say so, and the key by which a judgement that a person undid is held."""

from typing import Final

from slowwave.model.codec import content_key
from slowwave.model.memory import Memory

SETTLED: Final = ("distinct", "close", "value changed?", "conflict?", "unsure")
"""Kinds of links with which a comparison ends."""


def pair_key(one: Memory, other: Memory) -> str:
    """The key under which two facts are held as compared, whichever comes first: by what they say."""
    return f"pair {' '.join(sorted((content_key(one.text), content_key(other.text))))}"
