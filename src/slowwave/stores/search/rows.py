"""The rows of a search index: the memories of one scope as arrays, grown in place."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.model.codec import EPOCH, to_micros
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import HOT, KINDS, MESSAGE, NOTE, Memory, is_outdated, is_withheld
from slowwave.model.zone import offset_of
from slowwave.policy.ranking.score import GAP, Corpus, Mask, Rows, length_normalisation
from slowwave.policy.text.features import date_terms, name_tokens
from slowwave.stores.search.cold_load import MessageColumns, numbered, seconds
from slowwave.stores.search.snapshot import IndexState
from slowwave.stores.search.vectors import ContextVectors

_DAY: Final = 86_400_000_000
_EPOCH: Final = datetime(1970, 1, 1).toordinal()  # noqa: DTZ001 - a day has no zone
_SHARED_WITH_GIST: Final = ("hot", "outdated", "kind", "category", "at", "anchor", "importance", "day")
"""The columns that the row of a gist copies from its message."""

ROW_BYTES: Final = 400
"""What a row takes beside its arrays: its id, its place in a dictionary, and its part of cached scores. Measured."""
FACT_BYTES: Final = 700
"""What a fact takes beside its row: its sources and the words of its subject. Measured."""
TERM_BYTES: Final = 250
"""What a date word takes: its entry in a dictionary, and the list of its days."""
EMPTY_BYTES: Final = 12_000
"""What an index without rows takes. Measured."""

_NO_VECTORS: Final = (
    None,
    np.zeros(0, dtype=np.float32),
    np.zeros((0, 0), dtype=np.float32),
    np.zeros(0, dtype=np.intp),
)


class IndexRows(IndexState):
    """The content of an `Index`: columns with one row for each memory, postings, conversations, speakers and vectors."""

    def __len__(self) -> int:
        return len(self.row)

    @property
    def nbytes(self) -> int:
        """The RAM it takes, in bytes: its arrays, and an estimate of the other objects."""
        arrays = sum(column.nbytes for column in self.columns.values()) + self.postings.nbytes
        vectors = sum(vectors.nbytes for vectors in self._vectors.values())
        objects = ROW_BYTES * self.size + FACT_BYTES * len(self._origins) + TERM_BYTES * len(self._day_terms)
        return arrays + vectors + objects + EMPTY_BYTES

    def append(self, rows: Sequence[tuple[Memory, IndexEntry]]) -> None:
        """Append memories, the messages of a conversation in the order of their seq. A known fact gets its new text.

        Raises:
            ValueError: a message is known already or arrives out of order; nothing was changed.
        """
        self._check(rows)
        start = self._fill([entry for _, entry in rows])
        retired: set[int] = set()
        for row, (memory, _) in enumerate(rows, start):
            if memory.id in self.row:
                retired.add(self._retire(memory.id))
            self.row[memory.id] = row
            self.ids.append(memory.id)
            self._link(row, memory)
            self._describe(row, memory)
        self._release(retired)
        chained = np.array([memory.kind == MESSAGE for memory, _ in rows], dtype=np.bool_)
        self._append_vectors(start, [entry for _, entry in rows], chained)
        self._prepared.clear()

    def load(self, messages: MessageColumns) -> None:
        """Fill an empty index with all messages of a scope: the result of `append` in a tenth of the time."""
        count, columns = len(messages), self.columns
        if not count:
            return
        columns.add(messages.words, messages.question, messages.cues)
        self.postings.add(messages.all_terms, np.repeat(np.arange(count), messages.words))
        self.ids.extend(messages.id)
        self.row.update(zip(messages.id, range(count), strict=True))
        self._load_conversations(messages)
        (phases, number), (reasons, reason) = numbered(messages.phase), numbered(messages.reason)
        withheld = np.array([[is_withheld(phase, why) for why in reasons] for phase in phases])
        columns["hot"][:count] = np.array([phase in HOT for phase in phases])[number]
        columns["open"][:count] = ~withheld[number, reason]
        outdated = np.array([[is_outdated(phase, why) for why in reasons] for phase in phases])
        columns["outdated"][:count] = outdated[number, reason]
        columns["kind"][:count] = KINDS.index(MESSAGE)
        names, number = numbered(messages.category)
        categories = [self.categories.setdefault(name, len(self.categories)) for name in names]
        columns["category"][:count] = np.array(categories)[number]
        columns["at"][:count], columns["anchor"][:count] = seconds(messages.at), seconds(messages.anchor)
        columns["importance"][:count] = messages.importance
        days, number = numbered(((np.array(messages.at) + _offsets(messages.zone)) // _DAY + _EPOCH).tolist())
        columns["day"][:count] = np.array([self._day(datetime.fromordinal(day)) for day in days])[number]
        for name in {name for name in messages.embedder if name}:
            blobs = [
                blob if other == name else b"" for blob, other in zip(messages.vectors, messages.embedder, strict=True)
            ]
            dim = messages.dim[messages.embedder.index(name)]
            self._vectors.setdefault(name, ContextVectors(dim))
            self._vectors[name].append(0, blobs, np.ones(count, dtype=np.bool_), columns["before"], columns["gate"])

    def _load_conversations(self, messages: MessageColumns) -> None:
        """Fill the columns of conversations, neighbours and speakers."""
        count, columns, starts = len(messages), self.columns, messages.starts
        numbers = [self._conversation(messages.conversation[start]) for start in starts]
        ends = [*starts[1:], count]
        columns["conversation"][:count] = np.repeat(numbers, np.subtract(ends, starts))
        columns["before"][:count], columns["after"][:count] = np.arange(-1, count - 1), np.arange(1, count + 1)
        times = np.array(seconds(messages.at))
        apart = np.flatnonzero(np.abs(np.diff(times)) > GAP) + 1
        columns["before"][starts] = columns["before"][apart] = -1
        columns["after"][np.subtract(ends, 1)] = columns["after"][apart - 1] = -1
        speakers, named = numbered(messages.speaker)
        columns["speaker"][:count] = np.array([self._speaker(name) if name else -1 for name in speakers])[named]
        roles, of_role = numbered(messages.role)
        columns["user"][:count] = np.array([role == "user" for role in roles])[of_role]
        columns["original"][:count] = True
        nameless = ("assistant", None), ("assistant", "")
        for number, start, end in zip(numbers, starts, ends, strict=True):
            self._last[number] = messages.seq[end - 1], end - 1
            self._named[number] = any(messages.speaker[start:end])
            speakers_here = set(zip(messages.role[start:end], messages.speaker[start:end], strict=True))
            self._assisted[number] = not speakers_here.isdisjoint(nameless)

    def change(self, memories: Iterable[Memory]) -> None:
        """Update everything but the texts of known memories: phase, kind, category, times and sources."""
        moved: list[tuple[int, Memory]] = []
        for memory in memories:
            row = self.row[memory.id]
            if memory.kind != MESSAGE and self._origins[row] != _origin(memory):
                moved.append((row, memory))
            self._describe(row, memory)
        self._release({row for row, _ in moved})
        for row, memory in moved:
            self._link(row, memory)
        self._prepared.clear()

    def trim(self, rows: Iterable[tuple[Memory, IndexEntry, IndexEntry]]) -> None:
        """Add the trimmed texts of messages, each with the entries of the full and of the trimmed text.

        A normal search uses the trimmed text. A deep search uses the full text, whose score and contributions to other
        rows do not change.
        """
        for memory, entry, trimmed in rows:
            whole, row = self.row[memory.id], self._fill([trimmed])
            self._drop_gist(whole)
            self.ids.append(memory.id)
            for name in ("before", "after"):
                self.columns[name][row] = -1
            for name in ("conversation", "speaker", "user"):
                self.columns[name][row] = self.columns[name][whole]
            self.columns["original"][row] = False
            self._gists[whole] = row
            self._describe(whole, memory)
            self._append_vectors(row, [trimmed], np.zeros(1, dtype=np.bool_))
            if trimmed.embedder:
                dim = entry.dim if entry.embedder == trimmed.embedder else 0
                full = np.frombuffer(entry.vectors, dtype="<f4", count=dim) if dim else np.zeros(trimmed.dim, "<f4")
                self._vectors[trimmed.embedder].pair(row, whole, full)
        self._prepared.clear()

    def _drop_gist(self, whole: int) -> None:
        """Exclude the trimmed text of a message from search."""
        if whole in self._gists:
            self.columns["hot"][self._gists.pop(whole)] = False

    def _fill(self, entries: Sequence[IndexEntry]) -> int:
        """Append rows with the values of their entries. Returns the first new row."""
        words = [entry.words for entry in entries]
        start = self.columns.add(words, [entry.question for entry in entries], [entry.cues for entry in entries])
        terms = np.frombuffer(b"".join(entry.terms for entry in entries), dtype="<u8")
        self.postings.add(terms, np.repeat(np.arange(start, self.size), words))
        return start

    def _check(self, rows: Sequence[tuple[Memory, IndexEntry]]) -> None:
        newest: dict[str, int] = {}
        for memory, _ in rows:
            if memory.kind != MESSAGE:
                continue
            name = memory.conversation or ""
            if name not in newest:
                newest[name] = self._last[self.conversations[name]][0] if name in self.conversations else 0
            if memory.id in self.row or memory.seq <= newest[name]:
                raise ValueError(f"message {memory.id} is not the next of its conversation: build a new index")
            newest[name] = memory.seq

    def _retire(self, identity: str) -> int:
        """Exclude the row of a fact that is about to get a new text. Returns that row."""
        row = self.row[identity]
        for name in ("hot", "open", "original"):
            self.columns[name][row] = False
        return row

    def _link(self, row: int, memory: Memory) -> None:
        """Set the conversation, the neighbours or source messages, and the speaker of a memory."""
        columns = self.columns
        for name in ("before", "after", "conversation", "speaker"):
            columns[name][row] = -1
        columns["user"][row] = False
        columns["original"][row] = memory.kind == MESSAGE or not (memory.sources or memory.members or memory.span)
        if memory.kind == MESSAGE:
            self._link_message(row, memory)
            return
        self._origins[row] = _origin(memory)
        if memory.conversation is not None and memory.kind != NOTE:  # of a note it is the folder
            columns["conversation"][row] = self._conversation(memory.conversation)
        for source in dict.fromkeys(source.memory for source in memory.sources):
            if source in self.row:
                self._attach(row, self.row[source])
            else:
                self._awaited[source].append(row)
        if memory.subject and not memory.sources:
            self._subjects[row] = name_tokens(memory.subject)
            self._assign_speaker(row)

    def _link_message(self, row: int, memory: Memory) -> None:
        columns, number = self.columns, self._conversation(memory.conversation or "")
        columns["conversation"][row] = number
        previous = self._last[number][1]
        if previous >= 0 and abs(memory.at.timestamp() - columns["at"][previous]) > GAP:
            previous = -1
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
            self._attach(fact, row)

    def _attach(self, fact: int, message: int) -> None:
        """Give a fact the conversation of its source messages, and their speaker if all have the same."""
        columns = self.columns
        same_speaker = columns["conversation"][fact] < 0 or columns["speaker"][fact] == columns["speaker"][message]
        if columns["conversation"][fact] < 0:
            columns["conversation"][fact] = columns["conversation"][message]
        columns["speaker"][fact] = columns["speaker"][message] if same_speaker else -1
        columns["user"][fact] |= columns["user"][message]
        self._lenders.append(fact)
        self._borrowers.append(message)

    def _assign_speaker(self, fact: int) -> None:
        """Make the known speaker that a fact without a source message is about its speaker."""
        speakers = [self.names[word] for word in self._subjects[fact] if word in self.names]
        common = frozenset.intersection(*speakers) if speakers else frozenset()
        self.columns["speaker"][fact] = min(common) if len(common) == 1 else -1

    def _conversation(self, name: str) -> int:
        number = self.conversations.setdefault(name, len(self._last))
        if number == len(self._last):
            self._last.append((0, -1))
            self._named.append(False)
            self._assisted.append(False)
        return number

    def _speaker(self, name: str) -> int:
        if name not in self.speakers:
            number = self.speakers[name] = len(self.speakers)
            self._index_name(name, number)
            for fact in self._subjects:
                self._assign_speaker(fact)
        return self.speakers[name]

    def _describe(self, row: int, memory: Memory) -> None:
        """Fill the columns that do not depend on the text of a memory."""
        columns, phase = self.columns, memory.phase
        if memory.gist is None:
            self._drop_gist(row)
        columns["hot"][row] = phase in HOT
        columns["open"][row] = not memory.is_withheld
        columns["outdated"][row] = memory.outdated
        columns["kind"][row] = KINDS.index(memory.kind)
        columns["category"][row] = self.categories.setdefault(memory.category, len(self.categories))
        at = memory.at.timestamp()
        columns["at"][row] = at
        columns["anchor"][row] = memory.last_used_or_recorded.timestamp()
        columns["importance"][row] = memory.importance
        columns["day"][row] = self._day(memory.at)
        if row in self._gists:
            for name in _SHARED_WITH_GIST:
                columns[name][self._gists[row]] = columns[name][row]
            columns["hot"][row] = columns["open"][self._gists[row]] = False

    def _day(self, at: datetime) -> int:
        """The number of a day. Indexes the date words of a new day."""
        day = at.toordinal()
        if day not in self._days:
            number = self._days[day] = len(self._days)
            for term in date_terms(at):
                self._day_terms[term].append(number)
        return self._days[day]

    def _release(self, facts: set[int]) -> None:
        """Remove the sources of these facts."""
        if not facts:
            return
        pairs = [pair for pair in zip(self._lenders, self._borrowers, strict=True) if pair[0] not in facts]
        self._lenders = array("q", (lender for lender, _ in pairs))
        self._borrowers = array("q", (borrower for _, borrower in pairs))
        for source, waiting in self._awaited.items():
            self._awaited[source] = [fact for fact in waiting if fact not in facts]
        for fact in facts:
            self._subjects.pop(fact, None)

    def _append_vectors(self, start: int, entries: list[IndexEntry], chained: Mask) -> None:
        for embedder, dim in {entry.embedder: entry.dim for entry in entries if entry.embedder}.items():
            blobs = [entry.vectors if entry.embedder == embedder else b"" for entry in entries]
            if embedder not in self._vectors:
                self._vectors[embedder] = ContextVectors(dim)
            self._vectors[embedder].append(start, blobs, chained, self.columns["before"], self.columns["gate"])

    def drop_cached(self) -> None:
        """Drop the cached input of the ranking."""
        self._prepared.clear()

    @property
    def originals(self) -> int:
        """The number of texts that document frequencies are counted over."""
        return int(np.count_nonzero(self.view("original")))

    @property
    def average(self) -> float:
        """The average number of words of the originals."""
        return max(1.0, float(self.view("words") @ self.view("original")) / max(1, self.originals))

    @property
    def latest(self) -> float:
        """The latest time, in seconds since 1970."""
        return float(self.view("at").max())

    @property
    def personal(self) -> list[bool]:
        """For each conversation, whether all its speakers are people."""
        return [named and not assisted for named, assisted in zip(self._named, self._assisted, strict=True)]

    @property
    def embedders(self) -> list[str]:
        """The embedders that the index has vectors of."""
        return list(self._vectors)

    def parts(self, ids: Iterable[str]) -> Iterator[tuple[int, int]]:
        """The rows of these memories, with 0 for the full and -1 for the trimmed text."""
        for identity in ids:
            row = self.row[identity]
            yield row, 0
            if row in self._gists:
                yield self._gists[row], -1

    def days_of(self, term: int) -> Rows | None:
        """The days that a date word can refer to; None for any other word."""
        return np.array(self._day_terms[term], dtype=np.intp) if term in self._day_terms else None

    @property
    def size(self) -> int:
        """The number of rows, including those of gists and of replaced texts."""
        return self.columns.size

    def view(self, name: str) -> NDArray[Any]:
        """The filled part of a column."""
        return self.columns[name][: self.size]

    def posting(self, term: int) -> tuple[Rows, int]:
        """The rows with a term, one for each occurrence, and the number of originals that contain it."""
        rows = self.postings.of(term)
        if not len(rows):
            return rows, 0
        distinct = rows[np.append(True, rows[1:] != rows[:-1])]
        return rows, int(np.count_nonzero(self.columns["original"][distinct]))

    def corpus(self, embedder: str | None) -> Corpus:
        """The input of the ranking, cached until the next write."""
        if embedder in self._prepared:
            return self._prepared[embedder]
        stored = self._vectors.get(embedder) if embedder else None
        vectors, scale, passages, passage_rows = stored.arrays(self.size) if stored else _NO_VECTORS
        lenders, borrowers = np.array(self._lenders, dtype=np.intp), np.array(self._borrowers, dtype=np.intp)
        gists = np.array(list(self._gists.values()), dtype=np.intp)
        wholes = np.array(list(self._gists), dtype=np.intp)
        gist_of = np.full(self.size, -1, dtype=np.intp)
        gist_of[wholes] = gists
        gist_borrowers = gist_of[borrowers]  # a fact contributes to the trimmed text of its message as well
        corpus = Corpus(
            count=self.originals,
            postings=self.posting,
            weight=length_normalisation(self.view("words"), self.average, self.view("original")),
            gate=self.view("gate"),
            before=self.view("before"),
            after=self.view("after"),
            day=self.view("day"),
            days=self.days_of,
            speaker=self.view("speaker"),
            user=self.view("user"),
            people=np.array([*self.personal, False], dtype=np.bool_)[self.view("conversation")],
            question=self.view("question"),
            cues=self.view("cues"),
            at=self.view("at"),
            latest=self.latest,
            vectors=vectors,
            scale=scale,
            passages=passages,
            passage_rows=passage_rows,
            lenders=np.append(lenders, lenders[gist_borrowers >= 0]),
            borrowers=np.append(borrowers, gist_borrowers[gist_borrowers >= 0]),
            gists=gists,
            wholes=wholes,
        )
        self._prepared[embedder] = corpus
        return corpus


def _offsets(zones: Sequence[str | None]) -> NDArray[np.int64]:
    """The offset of each time in microseconds: a question names the day on the clock of who said it."""
    distinct, number = numbered(zones)
    micros = [0 if zone is None else to_micros(EPOCH.replace(tzinfo=offset_of(zone))) for zone in distinct]
    return -np.array(micros, dtype=np.int64)[number]


def _origin(memory: Memory) -> list[object]:
    sources = list(dict.fromkeys(source.memory for source in memory.sources))
    return [sources, list(memory.members), list(memory.span or ()), memory.conversation, memory.subject]
