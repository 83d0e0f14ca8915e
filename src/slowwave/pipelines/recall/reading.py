"""Embeds a question, and then reads what it needs from one committed state."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from slowwave.errors import EmbedderError, NotFoundError
from slowwave.model.memory import Memory
from slowwave.model.names import checked_id
from slowwave.model.query import Where
from slowwave.pipelines.planning import check_reviews
from slowwave.policy.text.languages import is_foreign
from slowwave.ports import Ports, Reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TRIES: Final = 3
"""How often a question is embedded at most, if speakers are new each time."""


def named(ports: Ports, memory_id: str) -> Memory:
    """The memory of this id in the scopes that are read.

    Raises:
        NotFoundError: there is none.
        TrustError: it is withheld from the reader of these ports.
    """
    found = ports.whole.store.get(ports.scopes, [checked_id(memory_id)])
    if not found:
        raise NotFoundError(f"no memory {memory_id!r} in scope {ports.scope}: check the id and the scope")
    check_reviews(ports, f"{memory_id} waits for review or was rejected", needed=found[0].is_withheld)
    return found[0]


class Asked(NamedTuple):
    """A question that was embedded, inside a reading.

    Attributes:
        reading: where further reads are announced.
        vector: the vector of the question, or None.
    """

    reading: Reading
    vector: "NDArray[np.float32] | None"


@contextmanager
def asked(
    ports: Ports, question: str, selections: Sequence[Where] = (), conversation: str | None = None
) -> Iterator[Asked]:
    """Embed a question, and begin a reading with these selections.

    No transaction is open while an embedder is called. The names of speakers are left out of the embedded text: if the
    indexes turn out to have new ones, the question is embedded again.
    """
    for attempt in range(1, TRIES + 1):
        with ports.store.reading(ports.scopes) as reading:
            wording = _wording(ports, question)
            vector = _vector(ports, wording)
            has_new_speakers = reading.begin(selections, conversation)
            if attempt < TRIES and has_new_speakers and _wording(ports, question) != wording:
                continue
            yield Asked(reading, vector)
            return


def _wording(ports: Ports, question: str) -> str:
    """The text to embed, empty for none: vectors of unknown words would order the hits by chance."""
    if ports.embedder is None or (getattr(ports.embedder, "english_only", False) and is_foreign(question)):
        return ""
    return ports.store.wording(ports.scopes, question) if question.strip() else ""


def _vector(ports: Ports, wording: str) -> "NDArray[np.float32] | None":
    if not wording.strip():
        return None
    try:
        vector = ports.embed([wording])[0]
    except EmbedderError:
        return None  # the search continues by words alone
    return vector if vector.any() else None
