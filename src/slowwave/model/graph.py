"""The knowledge graph of the official server-memory as notes: folders, names and texts of entities and relations."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final

from slowwave.model.note import NAME_LONGEST
from slowwave.model.plain_text import storable

ENTITIES: Final = "graph/entities"
RELATIONS: Final = "graph/relations"
"""The folders of the notes."""
NAME_MOST: Final = NAME_LONGEST - 40
"""Characters of a readable name of a note; the name of a longer one is a hash."""
_SAME_MOST: Final = 1_000_000


def entity_text(name: str, entity_type: str, observations: Sequence[str]) -> str:
    r"""The words by which a search finds an entity: its name and type, and each observation on a line of its own.

    >>> entity_text("Alice", "person", ["likes tea"])
    'Alice (person)\nlikes tea'
    """
    return "\n".join((f"{name} ({entity_type})", *observations))


def relation_text(start: str, relation_type: str, end: str) -> str:
    """The words by which a search finds a relation."""
    return f"{start} {relation_type} {end}"


def note_names(words: str) -> Iterator[str]:
    """Names for the note of an element with these words, the first of which is used unless another note has it.

    >>> names = note_names("Alice")
    >>> next(names), next(names)
    ('Alice', 'Alice #2')
    """
    readable = words if 0 < len(words) <= NAME_MOST and storable(words) else _digest(words)
    yield readable
    yield from (f"{readable} #{number}" for number in range(2, _SAME_MOST))


def _digest(words: str) -> str:
    return f"#{blake2b(words.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"
