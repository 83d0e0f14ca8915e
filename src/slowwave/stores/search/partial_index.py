"""Some memories of a scope, scored as they are among all of them: what a ranking needs where the whole is too large for RAM."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from slowwave.model.memory import KINDS, MESSAGE
from slowwave.policy.ranking.score import Mask, Rows, Vectors, sentences
from slowwave.stores.search.index import Index
from slowwave.stores.search.rows import IndexRows
from slowwave.stores.search.vectors import ContextVectors

BEFORE: Final = 4
AFTER: Final = 2
"""Messages whose words and vectors a message borrows. Messages further away than these may be missing between two that
are here: that they then look like neighbours reaches nobody whose own neighbours are all here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusStatistics:
    """What a ranking has to know of a scope beside the rows it looks at.

    Attributes:
        originals: how many texts document frequencies are counted over, and `words` how many words these have.
        latest: the latest of all times, microseconds since 1970.
        speakers: every name that a message was spoken by.
        talks: by conversation, whether somebody in it has a name, and whether an assistant without one speaks in it.
        frequency: in how many originals a term occurs; terms that are not in it occur in none.
        dims: the length of the vectors of each embedder that there are any of, perhaps of other memories.
    """

    originals: int = 0
    words: int = 0
    latest: int = 0
    speakers: Collection[str] = ()
    talks: Mapping[str, tuple[bool, bool]] = field(default_factory=dict)
    frequency: Mapping[int, int] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """What is searched of a memory, and what is known of it.

    `part` is 0 for its whole text, -1 for what is hot of its wording, from 1 on a passage of the whole, from -2 down of
    the other. `vector` is the unit vector, with that of its context where it is no passage; `prior` what its kind of sentence adds
    to any score.
    """

    id: str
    part: int
    embedder: str | None
    hot: bool
    open: bool
    speaker: str | None
    by_user: bool
    prior: float
    vector: Vectors | None


class PartialRows(IndexRows):
    """Rows of some memories, under the statistics of all."""

    def __init__(self, statistics: CorpusStatistics) -> None:
        super().__init__()
        self._statistics = statistics
        for name in statistics.speakers:
            self._speaker(name)
        self._vectors |= {name: ContextVectors(dim) for name, dim in statistics.dims.items()}

    @property
    def originals(self) -> int:
        """How many texts document frequencies are counted over: those of the scope."""
        return self._statistics.originals

    @property
    def average(self) -> float:
        """The average length of these."""
        return max(1.0, self._statistics.words / max(1, self._statistics.originals))

    @property
    def latest(self) -> float:
        """The latest of all times of the scope."""
        return self._statistics.latest / 1_000_000

    @property
    def personal(self) -> list[bool]:
        """Of each conversation, whether it is a talk between people."""
        talks = (self._statistics.talks.get(name, (False, False)) for name in self.conversations)
        return [named and not assisted for named, assisted in talks]

    def posting(self, term: int) -> tuple[Rows, int]:
        """The rows with a term, one for each time it occurs, and how many originals of the scope have it."""
        return self.postings.of(term), self._statistics.frequency.get(term, 0)


class PartialIndex(Index):
    """An index of some memories of a scope.

    Args:
        statistics: those of the scope.
        complete: the ids of the messages whose neighbours and facts are all here: of messages only they may be found.
            Facts always may: what they score rests on themselves, and on facts that rest on them, of which there are few.
    """

    def __init__(self, statistics: CorpusStatistics, complete: Collection[str] = ()) -> None:
        super().__init__(PartialRows(statistics))
        self._complete = complete

    def places(self, ids: Iterable[str]) -> Iterator[CandidateRow]:
        """What is searched of these memories."""
        rows = self._rows
        plain = rows.corpus(None)
        known = {name: rows.corpus(name) for name in rows.embedders}
        prior = sum(sentences(plain).values(), np.zeros(rows.size))
        speakers = [*rows.speakers]

        def place(row: int, part: int, embedder: str | None, vector: Vectors | None) -> CandidateRow:
            number = int(plain.speaker[row])
            return CandidateRow(
                id=rows.ids[row],
                part=part,
                embedder=embedder,
                hot=bool(rows.view("hot")[row]),
                open=bool(rows.view("open")[row]),
                speaker=speakers[number] if number >= 0 else None,
                by_user=bool(plain.user[row] and not plain.people[row]),
                prior=float(prior[row]),
                vector=vector,
            )

        for row, part in rows.parts(ids):
            embedder = next((name for name, corpus in known.items() if corpus.scale[row]), None)
            if embedder is None:
                yield place(row, part, None, None)
                continue
            corpus = known[embedder]
            if corpus.vectors is not None:
                yield place(row, part, embedder, corpus.vectors[row] * corpus.scale[row])
            for number, passage in enumerate(np.flatnonzero(corpus.passage_rows == row), 1):
                yield place(row, part - number if part else number, embedder, corpus.passages[passage])

    def _placeable(self, searchable: Mask) -> Mask:
        kinds, message = self._rows.view("kind"), KINDS.index(MESSAGE)
        known = np.fromiter((one in self._complete for one in self._rows.ids), dtype=np.bool_, count=self._rows.size)
        found: Mask = searchable & (known | (kinds != message))
        return found
