"""The search index of one scope in RAM: built from stored index entries, extended by new ones, scanned exactly."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import KINDS, Memory
from slowwave.model.query import Query, Ranked
from slowwave.policy.ranking.score import (
    MEANING,
    Corpus,
    Floats,
    Mask,
    Rows,
    fact_contribution,
    parts,
    profile_parts,
    top_rows_with_ties,
    total,
)
from slowwave.policy.text.features import ParsedQuestion, parse_question
from slowwave.policy.text.tokens import term_id
from slowwave.stores.search.cold_load import MessageColumns
from slowwave.stores.search.rows import IndexRows


class Index:
    """All memories of one scope, of every phase, as arrays.

    Scores depend on texts, times, speakers and neighbours, never on phases: a phase only decides which rows are
    searched. Document frequencies and lengths are those of the scope's originals (messages, and facts without a
    source message) of every phase. The order of results is total: by score, then newest first, then by id.

    An index is not thread-safe: the store locks it. Build a new index after an erase, for a message that arrives out of
    order or with another text, and for new vectors of existing rows.
    """

    def __init__(self, rows: IndexRows | None = None) -> None:
        self._rows = IndexRows() if rows is None else rows
        self._last: tuple[Query, dict[str, Floats]] | None = None

    def __len__(self) -> int:
        """The number of memories."""
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """The RAM it takes, in bytes: its arrays, and an estimate of its ids and other objects."""
        return self._rows.nbytes

    def __contains__(self, identity: object) -> bool:
        """Whether it contains the memory with this id."""
        return identity in self._rows.row

    @property
    def originals(self) -> int:
        """The number of texts that document frequencies are counted over."""
        return self._rows.originals

    @property
    def speakers(self) -> frozenset[str]:
        """The names of all speakers of messages."""
        return frozenset(self._rows.speakers)

    def frequency(self, stem: str) -> int:
        """The number of originals that contain a stem."""
        return self._rows.posting(term_id(stem))[1]

    def drop_cached(self) -> None:
        """Drop the cached input of the ranking, which refers to the index: without it the RAM is freed at once."""
        self._last = None
        self._rows.drop_cached()

    def wording(self, text: str) -> str:
        """The question without the names of known speakers. Embed this text for `Query.vector`."""
        return parse_question(text, self._rows.names).wording

    def packed(self) -> tuple[str, bytearray]:
        """The whole index as JSON and bytes. `unpack` reads them if `snapshot.LAYOUT` is the same."""
        return self._rows.packed()

    def unpack(self, head: str, data: NDArray[np.uint8]) -> None:
        """Fill an empty index from the result of `packed`. Its scores are bit for bit the same."""
        self._rows.unpack(head, data)

    def append(self, rows: Sequence[tuple[Memory, IndexEntry]]) -> None:
        """Append memories, the messages of a conversation in the order of their seq. A known fact gets its new text.

        Raises:
            ValueError: a message is known already or arrives out of order; nothing was changed.
        """
        self._last = None
        self._rows.append(rows)

    def load(self, messages: MessageColumns) -> None:
        """Fill an empty index with all messages of a scope: the result of `append` in a tenth of the time."""
        self._last = None
        self._rows.load(messages)

    def trim(self, rows: Iterable[tuple[Memory, IndexEntry, IndexEntry]]) -> None:
        """Add the trimmed texts of messages, each with the entries of the full and of the trimmed text.

        A normal search uses the trimmed text in place of the full one; a deep search scores the full text.
        """
        self._last = None
        self._rows.trim(rows)

    def change(self, memories: Iterable[Memory]) -> None:
        """Update everything but the texts of known memories: phase, kind, category, times, use and sources."""
        self._last = None
        self._rows.change(memories)

    def search(self, query: Query) -> list[Ranked]:
        """The best rows for a query, best first, at most `query.top_k`."""
        if not self._rows.size or query.top_k < 1:
            return []
        corpus = self._rows.corpus(query.embedder)
        question = parse_question(query.text, self._rows.names)
        searchable = self._searchable(query, corpus)
        shares = self._parts(corpus, question, query)
        scores = total(shares)
        allowed = self._placeable(searchable)
        contribution = fact_contribution(corpus, scores, searchable)
        if contribution is not None:
            shares["lent"] = contribution
            scores += contribution
            allowed = allowed.copy()
            allowed[corpus.lenders[searchable[corpus.lenders] & searchable[corpus.borrowers]]] = False
        if query.profile != "evidence":
            extra = profile_parts(query.profile, scores, **self._profile_inputs(query))
            shares |= extra
            scores = total({"": scores, **extra})
        if query.deep and (outdated := self._rows.view("outdated")).any():
            shares["outdated"] = (query.outdated_penalty - 1.0) * (outdated * np.maximum(scores, 0.0))
            scores += shares["outdated"]
        rows = self._ordered(top_rows_with_ties(np.where(allowed, scores, -np.inf), query.top_k), scores, query.top_k)
        return self._ranked(rows, shares, scores, self._shown(rows, scores, searchable, corpus), question)

    def _parts(self, corpus: Corpus, question: ParsedQuestion, query: Query) -> dict[str, Floats]:
        """The parts of every score. They are cached, because a context asks the same question of several selections."""
        if self._last is None or not _same_question(self._last[0], query):
            self._last = (query, parts(corpus, question, query.vector))
        return dict(self._last[1])

    def _profile_inputs(self, query: Query) -> dict[str, Floats]:
        """The inputs of the other profiles: importance, seconds since the last use, and strength."""
        strength = np.ones(self._rows.size)
        for identity, value in (query.strength or {}).items():
            if identity in self._rows.row:
                strength[self._rows.row[identity]] = value
        age = np.maximum(0.0, query.now.timestamp() - self._rows.view("anchor"))
        return {"importance": self._rows.view("importance"), "age": age, "strength": strength}

    def _searchable(self, query: Query, corpus: Corpus) -> Mask:
        mask: Mask = self._rows.view("open" if query.deep else "hot")
        if query.kinds is not None:
            mask = mask & np.array([kind in query.kinds for kind in KINDS])[self._rows.view("kind")]
        if query.categories is not None:
            mask = (
                mask
                & np.array([name in query.categories for name in self._rows.categories])[self._rows.view("category")]
            )
        if query.conversation is not None:
            inside = self._rows.view("conversation") == self._rows.conversations.get(query.conversation, -2)
            resting = corpus.lenders[inside[corpus.borrowers]]
            inside[resting] = True
            mask = mask & inside
        if query.since is not None:
            mask = mask & (corpus.at >= query.since.timestamp())
        if query.until is not None:
            mask = mask & (corpus.at <= query.until.timestamp())
        if query.allowed is not None:
            listed = np.zeros(self._rows.size, dtype=np.bool_)
            listed[[self._rows.row[identity] for identity in query.allowed if identity in self._rows.row]] = True
            mask = mask & listed
        return mask

    def _placeable(self, searchable: Mask) -> Mask:
        """The searched rows that may be results: here all of them."""
        return searchable

    def _ordered(self, rows: Rows, scores: Floats, wanted: int) -> list[int]:
        """Rows by score, then newest first, then by id."""
        at = self._rows.view("at")
        return sorted(rows.tolist(), key=lambda row: (-scores[row], -at[row], self._rows.ids[row]))[:wanted]

    def _shown(self, rows: list[int], scores: Floats, searchable: Mask, corpus: Corpus) -> dict[int, list[str]]:
        """The facts to show with each row: those that rest on it, best first, each with the best of its rows only."""
        if not len(corpus.lenders):
            return {}
        places = {row: place for place, row in enumerate(rows)}
        near = np.flatnonzero(np.isin(corpus.borrowers, rows) & searchable[corpus.lenders])
        home: dict[int, int] = {}
        for fact, row in zip(corpus.lenders[near].tolist(), corpus.borrowers[near].tolist(), strict=True):
            if fact not in home or places[row] < places[home[fact]]:
                home[fact] = row
        shown: dict[int, list[str]] = {}
        for fact in self._ordered(np.array(list(home), dtype=np.intp), scores, len(home)):
            shown.setdefault(home[fact], []).append(self._rows.ids[fact])
        return shown

    def _ranked(
        self,
        rows: list[int],
        shares: Mapping[str, Floats],
        scores: Floats,
        shown: Mapping[int, list[str]],
        question: ParsedQuestion,
    ) -> list[Ranked]:
        shared = np.zeros(len(rows), dtype=np.intp)
        for term in question.terms:
            shared += np.isin(rows, self._rows.postings.of(term))
        values = {name: part[rows].tolist() for name, part in shares.items()}
        return [
            Ranked(
                id=self._rows.ids[row],
                score=score,
                parts={name: part[place] for name, part in values.items() if part[place]},
                facts=tuple(shown.get(row, ())),
                cosine=values["meaning"][place] / MEANING if "meaning" in values else None,
                shared=common,
            )
            for place, (row, score, common) in enumerate(zip(rows, scores[rows].tolist(), shared.tolist(), strict=True))
        ]


def _same_question(query: Query, other: Query) -> bool:
    """Whether text, embedder and vector are equal: the scores depend on nothing else."""
    if (query.text, query.embedder) != (other.text, other.embedder) or (query.vector is None) != (other.vector is None):
        return False
    return query.vector is None or other.vector is None or bool(np.array_equal(query.vector, other.vector))
