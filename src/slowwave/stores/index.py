"""The search index of one scope, in RAM: built from stored entries, appended memory by memory, scanned exactly."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.model.entry import Entry
from slowwave.model.memory import HOT, KINDS, MESSAGE, Memory
from slowwave.model.query import Query, Ranked
from slowwave.policy.features import Question, ask, date_terms, name_words
from slowwave.policy.ranking import (
    MEANING,
    Corpus,
    Floats,
    Mask,
    Rows,
    add_up,
    bareness,
    first,
    gate,
    lent,
    parts,
    weight,
)
from slowwave.policy.segment import term_id
from slowwave.stores.index_vectors import ContextVectors, grown

_COLUMNS: Final[Mapping[str, type[np.generic]]] = {
    "words": np.float64,
    "gate": np.float64,
    "question": np.float64,
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
    "original": np.bool_,
    "hot": np.bool_,
    "open": np.bool_,
    "outdated": np.bool_,
}


_NO_VECTORS: Final = (
    None,
    np.zeros(0, dtype=np.float32),
    np.zeros((0, 0), dtype=np.float32),
    np.zeros(0, dtype=np.intp),
)


class Index:
    """Every memory of one scope, whatever its phase, as arrays.

    Scores depend on texts, times, speakers and neighbours, never on phases: a phase only decides what is searched.
    Document frequencies and lengths are those of the scope's originals (messages, and facts that rest on none),
    whatever their phase. The order of results is total: by score, then newest first, then by id.

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
        self._subjects: dict[int, tuple[str, ...]] = {}  # of each fact that rests on no message: who it is about
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
        fresh = slice(start, self._size)
        self._columns["words"][fresh] = [entry.words for _, entry in rows]
        self._columns["gate"][fresh] = [gate(entry.words) for _, entry in rows]
        self._columns["question"][fresh] = [bareness(entry.question, entry.words) for _, entry in rows]
        self._columns["cues"][fresh] = [entry.cues for _, entry in rows]
        for row, (memory, entry) in enumerate(rows, start):
            self._bury(memory.id)
            self._row[memory.id] = row
            self._ids.append(memory.id)
            for term in memoryview(entry.terms).cast("Q"):
                self._postings[term].append(row)
            self._link(row, memory)
            self._describe(row, memory)
        chained = np.array([memory.kind == MESSAGE for memory, _ in rows], dtype=np.bool_)
        self._append_vectors(start, [entry for _, entry in rows], chained)
        self._prepared.clear()

    def change(self, memories: Iterable[Memory]) -> None:
        """Take over everything but the words: phase, kind, category, times and sources of known memories."""
        for memory in memories:
            row = self._row[memory.id]
            if memory.kind != MESSAGE:
                self._release(row)
                self._link(row, memory)
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
        for name in ("hot", "open", "original"):
            self._columns[name][row] = False
        self._release(row)

    def _link(self, row: int, memory: Memory) -> None:
        """Find the place of a memory: in its conversation, or on the messages it rests on; and who speaks."""
        columns = self._columns
        for name in ("before", "after", "conversation", "speaker"):
            columns[name][row] = -1
        columns["user"][row] = False
        columns["original"][row] = memory.kind == MESSAGE or not (memory.sources or memory.members or memory.span)
        if memory.kind == MESSAGE:
            self._link_message(row, memory)
            return
        if memory.conversation is not None:
            columns["conversation"][row] = self._conversation(memory.conversation)
        for source in dict.fromkeys(source.memory for source in memory.sources):
            if source in self._row:
                self._rest(row, self._row[source])
            else:
                self._awaited[source].append(row)
        if memory.subject and not memory.sources:
            self._subjects[row] = tuple(name_words(memory.subject))
            self._settle(row)

    def _link_message(self, row: int, memory: Memory) -> None:
        columns, number = self._columns, self._conversation(memory.conversation or "")
        columns["conversation"][row] = number
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
            self._rest(fact, row)

    def _rest(self, fact: int, message: int) -> None:
        """A fact takes after the messages it rests on: their conversation, and their speaker if they have but one."""
        columns = self._columns
        lone = columns["conversation"][fact] < 0 or columns["speaker"][fact] == columns["speaker"][message]
        if columns["conversation"][fact] < 0:
            columns["conversation"][fact] = columns["conversation"][message]
        columns["speaker"][fact] = columns["speaker"][message] if lone else -1
        columns["user"][fact] |= columns["user"][message]
        self._lenders.append(fact)
        self._borrowers.append(message)

    def _settle(self, fact: int) -> None:
        """A fact that rests on no message counts as said by the known speaker it is about."""
        meant = [self._names[word] for word in self._subjects[fact] if word in self._names]
        both = frozenset.intersection(*meant) if meant else frozenset()
        self._columns["speaker"][fact] = min(both) if len(both) == 1 else -1

    def _conversation(self, name: str) -> int:
        number = self._conversations.setdefault(name, len(self._last))
        if number == len(self._last):
            self._last.append((0, -1))
            self._named.append(False)
            self._assisted.append(False)
        return number

    def _speaker(self, name: str) -> int:
        if name not in self._speakers:
            number = self._speakers[name] = len(self._speakers)
            for word in name_words(name):
                self._names[word] = self._names.get(word, frozenset()) | {number}
            for fact in self._subjects:
                self._settle(fact)
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

    def _release(self, fact: int) -> None:
        """Forget what a fact rests on."""
        pairs = [pair for pair in zip(self._lenders, self._borrowers, strict=True) if pair[0] != fact]
        self._lenders = array("q", (lender for lender, _ in pairs))
        self._borrowers = array("q", (borrower for _, borrower in pairs))
        for waiting in self._awaited.values():
            if fact in waiting:
                waiting.remove(fact)
        self._subjects.pop(fact, None)

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
        found = parts(corpus, question, query.vector)
        scores = add_up(found)
        placed = searchable
        loan = lent(corpus, scores, searchable)
        if loan is not None:
            found["lent"] = loan
            scores += loan
            placed = searchable.copy()
            placed[corpus.lenders[searchable[corpus.lenders] & searchable[corpus.borrowers]]] = False
        if query.deep and (outdated := self._view("outdated")).any():
            found["outdated"] = (query.outdated_penalty - 1.0) * (outdated * np.maximum(scores, 0.0))
            scores += found["outdated"]
        rows = self._ordered(first(np.where(placed, scores, -np.inf), query.top_k), scores, query.top_k)
        return self._ranked(rows, found, scores, self._shown(rows, scores, searchable, corpus), question)

    def _view(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self._size]

    def _posting(self, term: int) -> tuple[Rows, int]:
        """The rows with a term, one for each time it occurs, and how many originals have it."""
        found = self._postings.get(term)
        if found is None:
            return np.zeros(0, dtype=np.intp), 0
        rows = np.frombuffer(found.tobytes(), dtype=np.int32).astype(np.intp)
        distinct = rows[np.append(True, rows[1:] != rows[:-1])]
        return rows, int(np.count_nonzero(self._columns["original"][distinct]))

    def _corpus(self, embedder: str | None) -> Corpus:
        """Everything as the ranking wants it, kept until the next write."""
        if embedder in self._prepared:
            return self._prepared[embedder]
        personal = [named and not assisted for named, assisted in zip(self._named, self._assisted, strict=True)]
        words, original = self._view("words"), self._view("original")
        count = int(np.count_nonzero(original))
        stored = self._vectors.get(embedder) if embedder else None
        vectors, scale, passages, passage_rows = stored.arrays(self._size) if stored else _NO_VECTORS
        corpus = Corpus(
            count=count,
            postings=self._posting,
            weight=weight(words, max(1.0, float(words @ original) / max(1, count))),
            gate=self._view("gate"),
            before=self._view("before"),
            after=self._view("after"),
            day=self._view("day"),
            days={term: np.array(numbers) for term, numbers in self._day_terms.items()},
            speaker=self._view("speaker"),
            user=self._view("user"),
            people=np.array([*personal, False], dtype=np.bool_)[self._view("conversation")],
            question=self._view("question"),
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
            shown.setdefault(home[fact], []).append(self._ids[fact])
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
            posting = self._postings.get(term)
            if posting is not None:
                shared += np.isin(rows, posting)
        values = {name: part[rows].tolist() for name, part in found.items()}
        return [
            Ranked(
                id=self._ids[row],
                score=score,
                parts={name: part[place] for name, part in values.items() if part[place]},
                facts=tuple(shown.get(row, ())),
                cosine=values["meaning"][place] / MEANING if "meaning" in values else None,
                shared=common,
            )
            for place, (row, score, common) in enumerate(zip(rows, scores[rows].tolist(), shared.tolist(), strict=True))
        ]
