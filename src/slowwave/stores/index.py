"""The search index of one scope, in RAM: built from stored entries, appended memory by memory, scanned exactly."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.model.entry import Entry
from slowwave.model.memory import HOT, KINDS, MESSAGE, Memory
from slowwave.model.query import Query, Ranked
from slowwave.policy.features import Question, ask, date_terms, name_words
from slowwave.policy.ranking import Corpus, Floats, Rows, add_up, first, gate, lent, parts, question_share
from slowwave.policy.segment import term_id
from slowwave.stores.index_vectors import ContextVectors, grown

Mask = NDArray[np.bool_]

_COLUMNS: Final[Mapping[str, type[np.generic]]] = {
    "words": np.float64,
    "gate": np.float64,
    "share": np.float64,
    "at": np.float64,
    "before": np.intp,
    "after": np.intp,
    "day": np.intp,
    "speaker": np.intp,
    "conversation": np.intp,
    "category": np.intp,
    "kind": np.intp,
    "cues": np.uint8,
    "user": np.bool_,
    "hot": np.bool_,
    "open": np.bool_,
    "outdated": np.bool_,
}


class Index:
    """Every memory of one scope, whatever its phase, as arrays.

    Scores depend on texts, times, speakers and neighbours, never on phases: a phase only decides what is searched.
    Document frequencies and lengths are taken over all memories of the scope, whatever their phase. The order of
    results is total: by score, then newest first, then by id.

    One writer at a time, and no search during a write: the store holds its lock. After an erase, for a message that
    comes out of order or with other words, and for new vectors of old rows, build a new index.
    """

    def __init__(self) -> None:
        self._size = 0
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(0, dtype=kind) for name, kind in _COLUMNS.items()}
        self._ids: list[str] = []
        self._row: dict[str, int] = {}
        self._postings: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
        self._buried: set[int] = set()
        self._total_words = 0
        self._latest = -np.inf
        self._conversations: dict[str, int] = {}
        self._last: list[tuple[int, int]] = []  # of each conversation: the seq and row of its last message
        self._named: list[bool] = []  # of each conversation: somebody in it has a name
        self._assisted: list[bool] = []  # of each conversation: an assistant without a name speaks in it
        self._speakers: dict[str, int] = {}
        self._names: dict[str, frozenset[int]] = {}
        self._categories: dict[str, int] = {}
        self._days: dict[int, int] = {}
        self._day_terms: defaultdict[int, list[int]] = defaultdict(list)
        self._lenders, self._borrowers = array("q"), array("q")
        self._awaited: defaultdict[str, list[int]] = defaultdict(list)  # messages not here yet: the facts on them
        self._vectors: dict[str, ContextVectors] = {}
        self._prepared: dict[str | None, Corpus] = {}

    def __len__(self) -> int:
        return self._size - len(self._buried)

    @property
    def speakers(self) -> frozenset[str]:
        """Every name that a message was spoken by."""
        return frozenset(self._speakers)

    def frequency(self, stem: str) -> int:
        """How many texts have a stem."""
        return self._posting(term_id(stem))[1]

    def wording(self, text: str) -> str:
        """The question without the names of known speakers: what to embed for `Query.vector`."""
        return ask(text, self._names).wording

    # ---- writing

    def append(self, rows: Sequence[tuple[Memory, Entry]]) -> None:
        """Add memories, the messages of a conversation in the order of their seq; a known fact takes its new words.

        Raises:
            ValueError: before anything is changed, if a message is known already or comes out of order.
        """
        self._check(rows)
        start = self._size
        self._size += len(rows)
        for name, column in self._columns.items():
            self._columns[name] = grown(column, start, self._size)
        lengths = [entry.words for _, entry in rows]
        fresh = slice(start, self._size)
        self._columns["words"][fresh] = lengths
        self._columns["gate"][fresh] = gate(np.array(lengths, dtype=np.float64))
        self._columns["share"][fresh] = [question_share(entry.question, entry.words) for _, entry in rows]
        self._columns["cues"][fresh] = [entry.cues for _, entry in rows]
        self._total_words += sum(lengths)
        chained = np.zeros(len(rows), dtype=np.bool_)
        for row, (memory, entry) in enumerate(rows, start):
            self._bury(memory.id)
            self._row[memory.id] = row
            self._ids.append(memory.id)
            for term in memoryview(entry.terms).cast("Q"):
                self._postings[term].append(row)
            chained[row - start] = memory.kind == MESSAGE
            self._link(row, memory)
            self._describe(row, memory)
        self._append_vectors(start, [entry for _, entry in rows], chained)
        self._prepared.clear()

    def change(self, memories: Iterable[Memory]) -> None:
        """Take over everything but the words: phase, kind, category, times and sources of known memories."""
        for memory in memories:
            row = self._row[memory.id]
            if memory.kind != MESSAGE:
                self._forget_sources({row})
            self._describe(row, memory)
        self._prepared.clear()

    def _check(self, rows: Sequence[tuple[Memory, Entry]]) -> None:
        newest: dict[str, int] = {}
        for memory, _ in rows:
            if memory.kind != MESSAGE:
                continue
            name = memory.conversation or ""
            if name not in newest:
                newest[name] = self._last[self._conversations[name]][0] if name in self._conversations else 0
            if memory.id in self._row or memory.seq <= newest[name]:
                raise ValueError(f"message {memory.id} is not the next of its conversation: build the index anew")
            newest[name] = memory.seq

    def _bury(self, identity: str) -> None:
        """The words of a fact that is about to be said anew no longer count."""
        row = self._row.get(identity)
        if row is None:
            return
        self._buried.add(row)
        self._total_words -= int(self._columns["words"][row])
        self._columns["hot"][row] = self._columns["open"][row] = False
        self._forget_sources({row})

    def _link(self, row: int, memory: Memory) -> None:
        """Find the place of a message in its conversation, and who speaks."""
        columns = self._columns
        columns["before"][row] = columns["after"][row] = columns["conversation"][row] = columns["speaker"][row] = -1
        if memory.conversation is None and memory.kind != MESSAGE:
            return
        number = self._conversations.setdefault(memory.conversation or "", len(self._conversations))
        columns["conversation"][row] = number
        if number == len(self._last):
            self._last.append((0, -1))
            self._named.append(False)
            self._assisted.append(False)
        if memory.kind != MESSAGE:
            return
        previous = self._last[number][1]
        columns["before"][row] = previous
        if previous >= 0:
            columns["after"][previous] = row
        self._last[number] = memory.seq, row
        if memory.speaker:
            self._named[number] = True
            columns["speaker"][row] = self._speaker(memory.speaker)
        elif memory.role == "assistant":
            self._assisted[number] = True
        columns["user"][row] = memory.role == "user"
        for fact in self._awaited.pop(memory.id, ()):
            self._lenders.append(fact)
            self._borrowers.append(row)

    def _speaker(self, name: str) -> int:
        if name not in self._speakers:
            number = self._speakers[name] = len(self._speakers)
            for word in name_words(name):
                self._names[word] = self._names.get(word, frozenset()) | {number}
        return self._speakers[name]

    def _describe(self, row: int, memory: Memory) -> None:
        """Write down what a memory says of itself, apart from its words."""
        columns, phase = self._columns, memory.phase
        columns["hot"][row] = phase in HOT
        columns["open"][row] = phase != "quarantined"
        columns["outdated"][row] = memory.outdated
        columns["kind"][row] = KINDS.index(memory.kind)
        columns["category"][row] = self._categories.setdefault(memory.category, len(self._categories))
        at = memory.at.timestamp()
        columns["at"][row] = at
        self._latest = max(self._latest, at)
        day = memory.at.toordinal()
        if day not in self._days:
            number = self._days[day] = len(self._days)
            for term in date_terms(memory.at):
                self._day_terms[term].append(number)
        columns["day"][row] = self._days[day]
        if memory.kind != MESSAGE:
            for source in {source.memory for source in memory.sources}:
                if (borrower := self._row.get(source)) is None:
                    self._awaited[source].append(row)
                else:
                    self._lenders.append(row)
                    self._borrowers.append(borrower)

    def _forget_sources(self, facts: set[int]) -> None:
        pairs = [pair for pair in zip(self._lenders, self._borrowers, strict=True) if pair[0] not in facts]
        self._lenders = array("q", (lender for lender, _ in pairs))
        self._borrowers = array("q", (borrower for _, borrower in pairs))
        for source, waiting in list(self._awaited.items()):
            self._awaited[source] = [row for row in waiting if row not in facts]

    def _append_vectors(self, start: int, entries: list[Entry], chained: Mask) -> None:
        for embedder in {entry.embedder: entry.dim for entry in entries if entry.embedder}:
            ours = [entry if entry.embedder == embedder else None for entry in entries]
            if embedder not in self._vectors:
                self._vectors[embedder] = ContextVectors(next(entry.dim for entry in ours if entry))
            self._vectors[embedder].append(start, ours, chained, self._columns["before"], self._columns["gate"])

    # ---- reading

    def search(self, query: Query) -> list[Ranked]:
        """The best places for a query, best first, at most `query.top_k`."""
        if not self._size or query.top_k < 1:
            return []
        corpus = self._corpus(query.embedder)
        question = ask(query.text, self._names)
        searchable = self._searchable(query, corpus)
        vector = query.vector
        if vector is not None and (corpus.vectors is None or len(vector) != corpus.vectors.shape[1]):
            vector = None
        found = parts(corpus, question, vector)
        scores = add_up(found)
        loan = lent(corpus, scores, searchable)
        placed = searchable
        if loan is not None:
            found["lent"] = loan
            scores = scores + loan
            placed = searchable.copy()
            placed[corpus.lenders[searchable[corpus.lenders] & searchable[corpus.borrowers]]] = False
        if query.deep:
            found["outdated"] = (query.outdated_penalty - 1.0) * (self._view("outdated") * np.maximum(scores, 0.0))
            scores = scores + found["outdated"]
        rows = self._ordered(first(scores, np.flatnonzero(placed), query.top_k), scores, query.top_k)
        return self._ranked(rows, found, scores, self._shown(rows, scores, searchable, corpus), corpus, question)

    def _view(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self._size]

    def _posting(self, term: int) -> tuple[Rows, int]:
        found = self._postings.get(term)
        if found is None:
            return np.zeros(0, dtype=np.intp), 0
        rows = np.frombuffer(found.tobytes(), dtype=np.int32).astype(np.intp)
        if self._buried:
            rows = rows[self._alive()[rows]]
        return rows, int(np.count_nonzero(np.diff(rows))) + bool(len(rows))

    def _alive(self) -> Mask:
        alive = np.ones(self._size, dtype=np.bool_)
        alive[list(self._buried)] = False
        return alive

    def _corpus(self, embedder: str | None) -> Corpus:
        """Everything as the ranking wants it, kept until the next write."""
        if embedder in self._prepared:
            return self._prepared[embedder]
        personal = np.array([*(n and not a for n, a in zip(self._named, self._assisted, strict=True)), False])
        among_people = personal[self._view("conversation")]
        stored = self._vectors.get(embedder) if embedder else None
        vectors, scale, passages, passage_rows = stored.arrays(self._size) if stored else (None, None, None, None)
        corpus = Corpus(
            count=len(self),
            average=max(1.0, self._total_words / max(1, len(self))),
            postings=self._posting,
            words=self._view("words"),
            gate=self._view("gate"),
            before=self._view("before"),
            after=self._view("after"),
            day=self._view("day"),
            days={term: np.array(numbers) for term, numbers in self._day_terms.items()},
            speaker=self._view("speaker"),
            user=self._view("user") & ~among_people,
            question=self._view("share") * among_people,
            cues=self._view("cues"),
            at=self._view("at"),
            latest=self._latest,
            vectors=vectors,
            scale=scale,
            passages=passages,
            passage_rows=passage_rows,
            lenders=np.array(self._lenders, dtype=np.intp),
            borrowers=np.array(self._borrowers, dtype=np.intp),
        )
        self._prepared[embedder] = corpus
        return corpus

    def _searchable(self, query: Query, corpus: Corpus) -> Mask:
        found: Mask = self._view("open" if query.deep else "hot")
        if query.kinds is not None:
            found = found & np.array([kind in query.kinds for kind in KINDS])[self._view("kind")]
        if query.categories is not None:
            found = found & np.array([name in query.categories for name in self._categories])[self._view("category")]
        if query.conversation is not None:
            inside = self._view("conversation") == self._conversations.get(query.conversation, -2)
            resting = corpus.lenders[inside[corpus.borrowers]]
            inside[resting] = True
            found = found & inside
        if query.since is not None:
            found = found & (corpus.at >= query.since.timestamp())
        if query.until is not None:
            found = found & (corpus.at <= query.until.timestamp())
        if query.allowed is not None:
            listed = np.zeros(self._size, dtype=np.bool_)
            listed[[self._row[identity] for identity in query.allowed if identity in self._row]] = True
            found = found & listed
        return found

    def _ordered(self, rows: Rows, scores: Floats, wanted: int) -> list[int]:
        """Rows by score, then newest first, then by id."""
        at = self._columns["at"]
        return sorted(rows.tolist(), key=lambda row: (-scores[row], -at[row], self._ids[row]))[:wanted]

    def _shown(self, rows: list[int], scores: Floats, searchable: Mask, corpus: Corpus) -> dict[int, list[str]]:
        """The facts to show with each row: those that rest on it, best first, each with the first of its rows."""
        places = {row: place for place, row in enumerate(rows)}
        near = np.flatnonzero(np.isin(corpus.borrowers, rows) & searchable[corpus.lenders])
        home: dict[int, int] = {}
        for fact, row in zip(corpus.lenders[near].tolist(), corpus.borrowers[near].tolist(), strict=True):
            if fact not in home or places[row] < places[home[fact]]:
                home[fact] = row
        shown: dict[int, list[str]] = {}
        for fact in self._ordered(np.array(list(home), dtype=np.intp), scores, len(home)):
            shown.setdefault(home[fact], []).append(self._ids[fact])
        return shown

    def _ranked(
        self,
        rows: list[int],
        found: Mapping[str, Floats],
        scores: Floats,
        shown: Mapping[int, list[str]],
        corpus: Corpus,
        question: Question,
    ) -> list[Ranked]:
        holders = [set(corpus.postings(term)[0].tolist()) for term in question.terms]
        return [
            Ranked(
                id=self._ids[row],
                score=float(scores[row]),
                parts={name: float(part[row]) for name, part in found.items() if part[row]},
                facts=tuple(shown.get(row, ())),
                cosine=float(found["meaning"][row] / 0.7) if "meaning" in found else None,
                shared=sum(row in holder for holder in holders),
            )
            for row in rows
        ]
