"""An index of some memories of a scope, scored with the statistics of the whole scope, which is too large for RAM."""

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
"""The number of messages before and after a message that its score depends on. Messages farther away may be missing.
Two messages around such a gap then look like neighbours, but this changes no score of a message whose neighbours are
all in the index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusStatistics:
    """The statistics of a scope that a ranking needs.

    Attributes:
        originals: the number of texts that document frequencies are counted over.
        words: the number of words of these texts.
        latest: the latest time in the scope, microseconds since 1970.
        speakers: the names of all speakers of messages.
        talks: by conversation, whether a speaker has a name, and whether an assistant without a name speaks.
        frequency: the number of originals that contain a term; 0 for terms that are missing here.
        dims: the dimension of the vectors of each embedder that the scope has vectors of.
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
    """A searchable part of a memory.

    `part` is 0 for the full text, -1 for the trimmed text, 1 and above for a passage of the full text, -2 and below for a
    passage of the trimmed one. `vector` is a unit vector; that of a text, unlike that of a passage, includes its context.
    `prior` is the part of the score that its kind of sentence adds whatever the question; `cues` are those of its entry.
    """

    id: str
    part: int
    embedder: str | None
    hot: bool
    open: bool
    speaker: str | None
    by_user: bool
    prior: float
    cues: int
    vector: Vectors | None


class PartialRows(IndexRows):
    """Rows of some memories, with the statistics of the whole scope."""

    def __init__(self, statistics: CorpusStatistics) -> None:
        super().__init__()
        self._statistics = statistics
        for name in statistics.speakers:
            self._speaker(name)
        self._vectors |= {name: ContextVectors(dim) for name, dim in statistics.dims.items()}

    @property
    def originals(self) -> int:
        """The number of texts of the scope that document frequencies are counted over."""
        return self._statistics.originals

    @property
    def average(self) -> float:
        """The average number of words of the originals."""
        return max(1.0, self._statistics.words / max(1, self._statistics.originals))

    @property
    def latest(self) -> float:
        """The latest time in the scope, in seconds since 1970."""
        return self._statistics.latest / 1_000_000

    @property
    def personal(self) -> list[bool]:
        """For each conversation, whether all its speakers are people."""
        talks = (self._statistics.talks.get(name, (False, False)) for name in self.conversations)
        return [named and not assisted for named, assisted in talks]

    def posting(self, term: int) -> tuple[Rows, int]:
        """The rows with a term, one for each occurrence, and the number of originals of the scope that contain it."""
        return self.postings.of(term), self._statistics.frequency.get(term, 0)


class PartialIndex(Index):
    """An index of some memories of a scope.

    Args:
        statistics: the statistics of the scope.
        complete: the ids of the messages whose neighbours and facts are all in this index. Only these messages can be
            results. Facts can always be results: their scores depend on themselves and on the few facts about them.
    """

    def __init__(self, statistics: CorpusStatistics, complete: Collection[str] = ()) -> None:
        super().__init__(PartialRows(statistics))
        self._complete = complete

    def places(self, ids: Iterable[str]) -> Iterator[CandidateRow]:
        """The searchable parts of these memories."""
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
                cues=int(plain.cues[row]),
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
        known = np.fromiter(
            (identity in self._complete for identity in self._rows.ids), dtype=np.bool_, count=self._rows.size
        )
        found: Mask = searchable & (known | (kinds != message))
        return found
