"""The search index of one scope, in RAM: built from stored entries, appended memory by memory, scanned exactly."""

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
from slowwave.policy.text.features import Question, parse_question
from slowwave.policy.text.tokens import term_id
from slowwave.stores.search.cold_load import MessageColumns
from slowwave.stores.search.rows import IndexRows


class Index:
    """Every memory of one scope, whatever its phase, as arrays.

    Scores depend on texts, times, speakers and neighbours, never on phases: a phase only decides what is searched.
    Document frequencies and lengths are those of the scope's originals (messages, and facts that rest on none),
    whatever their phase. The order of results is total: by score, then newest first, then by id.

    One writer at a time, and no search during a write: the store holds its lock. After an erase, for a message that
    comes out of order or with other words, and for new vectors of old rows, build a new index.
    """

    def __init__(self, rows: IndexRows | None = None) -> None:
        self._rows = IndexRows() if rows is None else rows
        self._last: tuple[Query, dict[str, Floats]] | None = None

    def __len__(self) -> int:
        """How many memories it holds."""
        return len(self._rows)

    def __contains__(self, identity: object) -> bool:
        """Whether it holds the memory of an id."""
        return identity in self._rows.row

    @property
    def originals(self) -> int:
        """How many texts document frequencies are counted over."""
        return self._rows.originals

    @property
    def speakers(self) -> frozenset[str]:
        """Every name that a message was spoken by."""
        return frozenset(self._rows.speakers)

    def frequency(self, stem: str) -> int:
        """How many originals have a stem."""
        return self._rows.posting(term_id(stem))[1]

    def wording(self, text: str) -> str:
        """The question without the names of known speakers: what to embed for `Query.vector`."""
        return parse_question(text, self._rows.names).wording

    def packed(self) -> tuple[str, bytearray]:
        """All of it as JSON and bytes, for `unpack` of an index of the same `index_state.LAYOUT`."""
        return self._rows.packed()

    def unpack(self, head: str, data: NDArray[np.uint8]) -> None:
        """Take up in an empty index what `packed` gave; it answers to the bit as that one did."""
        self._rows.unpack(head, data)

    def append(self, rows: Sequence[tuple[Memory, IndexEntry]]) -> None:
        """Add memories, the messages of a conversation in the order of their seq; a known fact takes its new words.

        Raises:
            ValueError: before anything is changed, if a message is known already or comes out of order.
        """
        self._last = None
        self._rows.append(rows)

    def load(self, told: MessageColumns) -> None:
        """Take all messages of a scope into an empty index, as `append` would, in a tenth of the time."""
        self._last = None
        self._rows.load(told)

    def trim(self, rows: Iterable[tuple[Memory, IndexEntry, IndexEntry]]) -> None:
        """Messages of which only some words are hot, each with the entries of the whole and of these words.

        A search that is not deep sees these words in place of the whole; a deep one scores as if nothing were cold.
        """
        self._last = None
        self._rows.trim(rows)

    def change(self, memories: Iterable[Memory]) -> None:
        """Take over everything but the words: phase, kind, category, times, use and sources of known memories."""
        self._last = None
        self._rows.change(memories)

    def search(self, query: Query) -> list[Ranked]:
        """The best places for a query, best first, at most `query.top_k`."""
        if not self._rows.size or query.top_k < 1:
            return []
        corpus = self._rows.corpus(query.embedder)
        question = parse_question(query.text, self._rows.names)
        searchable = self._searchable(query, corpus)
        found = self._parts(corpus, question, query)
        scores = total(found)
        placed = self._placeable(searchable)
        loan = fact_contribution(corpus, scores, searchable)
        if loan is not None:
            found["lent"] = loan
            scores += loan
            placed = placed.copy()
            placed[corpus.lenders[searchable[corpus.lenders] & searchable[corpus.borrowers]]] = False
        if query.profile != "evidence":
            extra = profile_parts(query.profile, scores, **self._standing(query))
            found |= extra
            scores = total({"": scores, **extra})
        if query.deep and (outdated := self._rows.view("outdated")).any():
            found["outdated"] = (query.outdated_penalty - 1.0) * (outdated * np.maximum(scores, 0.0))
            scores += found["outdated"]
        rows = self._ordered(top_rows_with_ties(np.where(placed, scores, -np.inf), query.top_k), scores, query.top_k)
        return self._ranked(rows, found, scores, self._shown(rows, scores, searchable, corpus), question)

    def _parts(self, corpus: Corpus, question: Question, query: Query) -> dict[str, Floats]:
        """Every signal's share of every score. Whoever asks the same twice, of other memories, as a context does, scans once."""
        if self._last is None or not _asks_alike(self._last[0], query):
            self._last = (query, parts(corpus, question, query.vector))
        return dict(self._last[1])

    def _standing(self, query: Query) -> dict[str, Floats]:
        """What the other profiles look at: importance, age since the last use in seconds, and strength."""
        strength = np.ones(self._rows.size)
        for identity, value in (query.strength or {}).items():
            if identity in self._rows.row:
                strength[self._rows.row[identity]] = value
        age = np.maximum(0.0, query.now.timestamp() - self._rows.view("anchor"))
        return {"importance": self._rows.view("importance"), "age": age, "strength": strength}

    def _searchable(self, query: Query, corpus: Corpus) -> Mask:
        found: Mask = self._rows.view("open" if query.deep else "hot")
        if query.kinds is not None:
            found = found & np.array([kind in query.kinds for kind in KINDS])[self._rows.view("kind")]
        if query.categories is not None:
            found = (
                found
                & np.array([name in query.categories for name in self._rows.categories])[self._rows.view("category")]
            )
        if query.conversation is not None:
            inside = self._rows.view("conversation") == self._rows.conversations.get(query.conversation, -2)
            resting = corpus.lenders[inside[corpus.borrowers]]
            inside[resting] = True
            found = found & inside
        if query.since is not None:
            found = found & (corpus.at >= query.since.timestamp())
        if query.until is not None:
            found = found & (corpus.at <= query.until.timestamp())
        if query.allowed is not None:
            listed = np.zeros(self._rows.size, dtype=np.bool_)
            listed[[self._rows.row[identity] for identity in query.allowed if identity in self._rows.row]] = True
            found = found & listed
        return found

    def _placeable(self, searchable: Mask) -> Mask:
        """Which of the rows that are searched may be found: all of them."""
        return searchable

    def _ordered(self, rows: Rows, scores: Floats, wanted: int) -> list[int]:
        """Rows by score, then newest first, then by id."""
        at = self._rows.view("at")
        return sorted(rows.tolist(), key=lambda row: (-scores[row], -at[row], self._rows.ids[row]))[:wanted]

    def _shown(self, rows: list[int], scores: Floats, searchable: Mask, corpus: Corpus) -> dict[int, list[str]]:
        """The facts to show with each row: those that rest on it, best first, each with the first of its rows."""
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
        found: Mapping[str, Floats],
        scores: Floats,
        shown: Mapping[int, list[str]],
        question: Question,
    ) -> list[Ranked]:
        shared = np.zeros(len(rows), dtype=np.intp)
        for term in question.terms:
            shared += np.isin(rows, self._rows.postings.of(term))
        values = {name: part[rows].tolist() for name, part in found.items()}
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


def _asks_alike(one: Query, other: Query) -> bool:
    """Whether all that scores depend on is the same: the words, and the vector."""
    if (one.text, one.embedder) != (other.text, other.embedder) or (one.vector is None) != (other.vector is None):
        return False
    return one.vector is None or other.vector is None or bool(np.array_equal(one.vector, other.vector))
