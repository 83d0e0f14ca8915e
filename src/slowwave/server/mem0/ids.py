"""Ids of memories as UUIDs, which mem0's clients expect, and back."""

from typing import Final
from uuid import UUID

from slowwave.errors import InputError, NotFoundError, shown

LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
"""The alphabet of ids (`pipelines.planning.new_id`): 20 letters of 5 bits."""
_LETTERS: Final = 20
_BITS: Final = 100
_FREE: Final = 122 - _BITS
"""Bits of a UUID besides its version and its variant, and those that stay 0."""
_VERSION: Final = 8
"""A version for ids that a program defines itself (RFC 9562)."""


def to_uuid(memory_id: str) -> str:
    """The id of a memory as a UUID of version 8.

    >>> to_uuid("6aks3s9359r2zc0aq2f7")
    '32a791e5-232a-8702-bec0-2ae279c00000'
    >>> from_uuid(to_uuid("6aks3s9359r2zc0aq2f7"))
    '6aks3s9359r2zc0aq2f7'

    Raises:
        InputError: the id was not made by this version of Slowwave.
    """
    if len(memory_id) != _LETTERS or not set(memory_id) <= set(LETTERS):
        raise InputError(f"the memory {shown(memory_id)} has an id that is not a UUID: read it with /v1")
    number = 0
    for letter in memory_id:
        number = number << 5 | LETTERS.index(letter)
    bits = number << _FREE
    high, middle, low = bits >> 74, bits >> 62 & 0xFFF, bits & ((1 << 62) - 1)
    return str(UUID(int=high << 80 | _VERSION << 76 | middle << 64 | 2 << 62 | low))


def from_uuid(text: str) -> str:
    """The id of a memory of its UUID.

    Raises:
        InputError: the text is not a UUID.
        NotFoundError: the UUID was not made by `to_uuid`.
    """
    try:
        whole = UUID(text)
    except ValueError:
        raise InputError("memory_id must be a valid UUID") from None
    value = whole.int
    bits = value >> 80 << 74 | (value >> 64 & 0xFFF) << 62 | value & ((1 << 62) - 1)
    if whole.version != _VERSION or bits & ((1 << _FREE) - 1):
        raise NotFoundError("Memory not found!")
    number = bits >> _FREE
    return "".join(LETTERS[number >> shift & 31] for shift in range(_BITS - 5, -1, -5))
