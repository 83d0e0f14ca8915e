"""The search index of one scope in RAM: built from stored index entries, extended by new ones, scanned exactly."""

from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import KINDS, MESSAGE, Memory
from slowwave.model.query import Query, Ranked
from slowwave.policy.ranking.relevance import Features, information, relevances
from slowwave.policy.ranking.score import (
    MEANING,
    Corpus,
    Floats,
    Mask,
    Rows,
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
        if query.profile != "evidence":
            extra = profile_parts(query.profile, scores, **self._profile_inputs(query))
            shares |= extra
            scores = total({"": scores, **extra})
        if query.deep and (outdated := self._rows.view("outdated")).any():
            shares["outdated"] = (query.outdated_penalty - 1.0) * (outdated * np.maximum(scores, 0.0))
            scores += shares["outdated"]
        rows = self._ordered(top_rows_with_ties(np.where(allowed, scores, -np.inf), query.top_k), scores, query.top_k)
        features, shared = self._features(rows, shares, corpus, question, query.related)
        return self._ranked(rows, shares, scores, relevances(features, question, self.originals), shared)

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
        if query.except_conversation is not None:
            apart = self._rows.view("conversation") == self._rows.conversations.get(query.except_conversation, -2)
            apart[corpus.lenders] = False  # a fact has the conversation of a source; it stays
            mask = mask & ~apart
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

    def _ordered(self, rows: Rows, scores: Floats, count: int) -> list[int]:
        """The first rows by score, then newest first, then by id. Thousands of equal facts may tie."""
        at = self._rows.view("at")
        first: list[int] = []
        for values in (-scores, -at):
            if (needed := count - len(first)) >= len(rows):
                break
            among = values[rows]
            edge = np.partition(among, needed - 1)[needed - 1]
            first += rows[among < edge].tolist()
            rows = rows[among == edge]
        first += nsmallest(count - len(first), rows.tolist(), key=self._rows.ids.__getitem__)
        return sorted(first, key=lambda row: (-scores[row], -at[row], self._rows.ids[row]))

    def _features(
        self,
        rows: list[int],
        shares: Mapping[str, Floats],
        corpus: Corpus,
        question: ParsedQuestion,
        related: float,
    ) -> tuple[list[Features], list[int]]:
        """Of each result: what relevance needs, and the number of shared stems."""
        known = information(question, self.originals, lambda term: self._rows.posting(term)[1])
        mass, shared = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.intp)
        for term, value in known.items():
            contains = _among(rows, self._rows.postings.of(term))
            mass += value * contains
            shared += contains
        attainable = sum(known.values())
        asked = corpus.speaker[rows] == (-2 if question.speaker is None else question.speaker)
        covered = mass / attainable if attainable else asked.astype(np.float64)
        nothing = np.zeros(len(rows))
        cosines = shares["meaning"][rows] / MEANING / related if "meaning" in shares else nothing
        embedded = corpus.scale[rows] > 0 if "meaning" in shares else nothing
        asking = corpus.question[rows] * corpus.people[rows]
        cues = shares["cue"][rows] > 0 if "cue" in shares else nothing
        facts = self._rows.view("kind")[rows] != KINDS.index(MESSAGE)
        columns = (shares["words"][rows], covered, mass, cosines, embedded, asked, asking, cues, facts)
        features = [
            Features(
                words=words,
                covered=share,
                mass=found,
                cosine=cosine if has_vector else None,
                asked=bool(by_asked),
                question=asks,
                fact=fact,
                cue=bool(has_cue),
            )
            for words, share, found, cosine, has_vector, by_asked, asks, has_cue, fact in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]
        return features, shared.tolist()

    def _ranked(
        self,
        rows: list[int],
        shares: Mapping[str, Floats],
        scores: Floats,
        relevance: Sequence[float],
        shared: Sequence[int],
    ) -> list[Ranked]:
        values = {name: part[rows].tolist() for name, part in shares.items()}
        return [
            Ranked(
                id=self._rows.ids[row],
                score=score,
                parts={name: part[place] for name, part in values.items() if part[place]},
                cosine=values["meaning"][place] / MEANING if "meaning" in values else None,
                shared=shared[place],
                relevance=relevance[place],
            )
            for place, (row, score) in enumerate(zip(rows, scores[rows].tolist(), strict=True))
        ]


def _among(rows: Rows | Sequence[int], others: Rows | Sequence[int]) -> Mask:
    """Whether each row is one of the others. By a table, because sorting them would import `numpy.ma`, which takes 20 ms."""
    return np.isin(np.asarray(rows, dtype=np.intp), np.asarray(others, dtype=np.intp), kind="table")


def _same_question(query: Query, other: Query) -> bool:
    """Whether text, embedder and vector are equal: the scores depend on nothing else."""
    if (query.text, query.embedder) != (other.text, other.embedder) or (query.vector is None) != (other.vector is None):
        return False
    return query.vector is None or other.vector is None or bool(np.array_equal(query.vector, other.vector))
