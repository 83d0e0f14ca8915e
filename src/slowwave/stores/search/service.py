"""Search: one index in RAM for each scope in use, kept up with what any process commits, and stored for the next one."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from operator import itemgetter
from threading import RLock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.errors import ClosedError, StoreError
from slowwave.model.codec import dumps, from_row
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory
from slowwave.model.query import Query, Ranked
from slowwave.stores.connection import StoreBase
from slowwave.stores.rows import MEMORY_COLUMNS, entry_of
from slowwave.stores.search.cold_load import MessageColumns
from slowwave.stores.search.index import Index
from slowwave.stores.search.snapshot import LAYOUT, checksum
from slowwave.stores.sql import SQL, bounds

_WIDTH = len(MEMORY_COLUMNS)
_COLUMNS = tuple(field.name for field in fields(MessageColumns))
_PLACE = itemgetter(_COLUMNS.index("conversation"), _COLUMNS.index("seq"))
_EMBEDDER = _COLUMNS.index("embedder")
ROWS_IN_RAM = 1_000_000

WORTH_STORING: Final = 1000
"""Memories from which on an index is stored: one of fewer is built as quickly as it is read."""
BEHIND: Final = 64
"""A stored index is written anew once this part of its memories came or changed since, and passed over after four times."""
LARGEST: Final = 800_000_000
"""Bytes: SQLite holds at most a billion in a row."""


@dataclass(slots=True)
class _Held:
    """An index, and which state of the scope it shows."""

    index: Index
    scope: str
    journal: int
    reindexed: int
    stored: int | None = None  # the journal row it was stored with, if it was
    behind: int = 0  # memories that came or changed since
    seen: object = None


class Searching(StoreBase):
    """Reads that an index in RAM answers. The least used ones are let go when all hold over a million rows."""

    def __init__(self, path: str, **arguments: Any) -> None:  # noqa: ANN401  # those of the store
        self._indexes: OrderedDict[int, _Held] = OrderedDict()
        self._searching = RLock()  # an index has one user at a time
        super().__init__(path, **arguments)

    def after_fork(self) -> None:
        """In a forked child: no index, since another thread may have been changing one."""
        super().after_fork()
        self._indexes = OrderedDict()
        self._searching = RLock()

    def close(self) -> None:
        """Let go of the store. Idempotent. An index that took long to build is stored for whoever opens it next."""
        try:
            with suppress(StoreError, ClosedError):  # of no use but speed: what stands in the way is left alone
                while (last := self._let_go()) is not None:
                    self._wait_for_nobody()
                    self._store(*last)
        finally:
            super().close()

    def search(self, scopes: Sequence[str], query: Query) -> list[Ranked]:
        """The best places for a query, best first. Another scope's rows change no score."""
        with self._guard:
            found = [place for scope, token in self._readable(scopes) for place in self._found(scope, token, query)]
        # Sorting is stable: of equals, the scope named first stays first.
        return sorted(found, key=lambda place: -place.score)[: query.top_k] if len(scopes) > 1 else found

    def wording(self, scopes: Sequence[str], question: str) -> str:
        """The question without the names of known speakers: what to embed for `Query.vector`."""
        with self._guard:
            for scope, token in self._readable(scopes):
                question = self._wording(scope, token, question)
        return question

    def frequencies(self, scope: str) -> tuple[Callable[[str], int], int]:
        """Document frequency of a stem, and the number of documents, over the scope's messages and facts."""
        with self._guard:
            for _, token in self._readable((scope,)):
                return self._frequencies(scope, token)
        return _never, 0

    def speakers(self, scope: str) -> frozenset[str]:
        """Every name that a message of the scope was spoken by."""
        with self._guard:
            return frozenset().union(*(self._speakers(scope, token) for _, token in self._readable((scope,))))

    def _found(self, scope: str, token: int, query: Query) -> list[Ranked]:
        with self._searching:
            return self._index(scope, token).search(query)

    def _wording(self, scope: str, token: int, question: str) -> str:
        with self._searching:
            return self._index(scope, token).wording(question)

    def _frequencies(self, scope: str, token: int) -> tuple[Callable[[str], int], int]:
        with self._searching:
            index = self._index(scope, token)
            return index.frequency, index.originals

    def _speakers(self, scope: str, token: int) -> frozenset[str]:
        with self._searching:
            return self._index(scope, token).speakers

    def _index(self, scope: str, token: int) -> Index:
        """The scope's index, brought up to date by the rows touched since it was last asked."""
        held = self._indexes.get(token)
        seen = self._state()
        if held is not None and seen is not None and held.seen == seen:
            self._indexes.move_to_end(token)
            return held.index
        with self._one_state():
            low, high = bounds(token)
            last, reindexed = self._one(SQL["state_of_scope"], {"scope": token, "low": low, "high": high})
            if held is None:
                held = self._stored(scope, token)
            if held is None or held.reindexed != reindexed or not self._caught_up(held, scope, token, last or low):
                held = self._built(scope, token)
            held.journal, held.reindexed, held.seen = last or low, reindexed, seen
        self._indexes[token] = held
        self._indexes.move_to_end(token)
        while len(self._indexes) > 1 and sum(len(one.index) for one in self._indexes.values()) > ROWS_IN_RAM:
            self._indexes.popitem(last=False)
        return held.index

    def _built(self, scope: str, token: int) -> _Held:
        low, high = bounds(token)
        names = {0: None, **dict(self._all(SQL["embedders"], ()))}
        rows = self._all(SQL["messages_of_scope"], {"low": low, "high": high})
        rows.sort(key=_PLACE)  # the order the index wants
        messages = MessageColumns.of([(*row[:_EMBEDDER], names[row[_EMBEDDER]], *row[_EMBEDDER + 1 :]) for row in rows])
        facts = self._pairs(scope, self._all(SQL["facts_of_scope"], {"low": low, "high": high}))
        index = Index()
        index.load(messages)
        index.append(facts)
        trimmed = [identity for identity, some in zip(messages.id, messages.trimmed, strict=True) if some]
        self._trim(index, scope, token, trimmed)
        return _Held(index=index, scope=scope, journal=low, reindexed=0)

    def _trim(self, index: Index, scope: str, token: int, ids: Sequence[str]) -> None:
        """Messages of the index of which only some words are hot: what these are."""
        if ids:
            places = {"scope": token, "ids": dumps(ids)}
            pairs = self._pairs(scope, self._all(SQL["some_of_scope"], places))
            index.trim(self._gists(pairs, self._all(SQL["some_gists"], places)))

    def _stored(self, scope: str, token: int) -> _Held | None:
        """The scope's index as it was stored, if that can be read."""
        row = self._one(SQL["snapshot"], (token,))
        if row is None or row[2] != LAYOUT:
            return None
        journal, reindexed, _, total, head, size = row
        arrays = self._stored_arrays(token, size)
        if checksum(head, arrays) != total:
            return None
        index = Index()
        index.unpack(head, arrays)
        return _Held(index=index, scope=scope, journal=journal, reindexed=reindexed, stored=journal)

    def _stored_arrays(self, token: int, size: int) -> NDArray[np.uint8]:
        """So many bytes, to be written to by whoever asked."""
        return np.frombuffer(bytearray(self._one(SQL["snapshot_arrays"], (token,))[0]), dtype=np.uint8, count=size)

    def _let_go(self) -> tuple[int, _Held] | None:
        """An index that is no longer held, of any scope."""
        with self._searching:
            return self._indexes.popitem() if self._indexes else None

    def _store(self, token: int, held: _Held) -> None:
        """Store an index that took long to build or to catch up, unless somebody wrote in its scope meanwhile."""
        low, high = bounds(token)
        place = {"scope": token, "low": low, "high": high}
        if len(held.index) < WORTH_STORING:
            return
        with self._guard, self._searching, self._one_state():
            self._readable([held.scope])  # a server shows rows of scopes that were named
            last, reindexed = self._one(SQL["state_of_scope"], place)
            if held.reindexed != reindexed or not self._caught_up(held, held.scope, token, last or low):
                return
            held.journal = last or low
            if held.stored is not None and held.behind * BEHIND < len(held.index):
                return
            head, arrays = held.index.packed()
        if len(head) + len(arrays) > LARGEST:
            return
        held.index = Index()  # what it held takes as much room as the bytes
        values = (held.journal, held.reindexed, LAYOUT, checksum(head, arrays), head, arrays)
        with self._guard, self._transaction(held.scope):
            last, reindexed = self._one(SQL["state_of_scope"], place)
            if (last or low, reindexed) == (held.journal, held.reindexed):
                self._db.execute(SQL["put_snapshot"], (token, *values))

    def _caught_up(self, held: _Held, scope: str, token: int, last: int) -> bool:
        """Take over what the journal tells since; False if only a new index will do."""
        if held.journal == last:
            return True
        worded: set[str] = set()
        touched: set[str] = set()
        for op, memory, words in self._all(SQL["touched"], (held.journal, last)):
            if op == "erase":
                return False
            (worded if words or memory not in held.index else touched).add(memory)
        held.behind += len(worded | touched)
        if held.journal == held.stored and held.behind * BEHIND > 4 * len(held.index):
            return False
        if not (worded or touched):
            return True
        rows = self._all(SQL["some_of_scope"], {"scope": token, "ids": dumps([*worded, *touched])})
        pairs = self._pairs(scope, rows)
        try:
            held.index.append([pair for pair in pairs if pair[0].id in worded])
        except ValueError:  # a message out of order, or with other words
            return False
        held.index.change(memory for memory, _ in pairs if memory.id in held.index and memory.id not in worded)
        if trimmed := [memory.id for memory, _ in pairs if memory.gist is not None]:
            rows = self._all(SQL["some_gists"], {"scope": token, "ids": dumps(trimmed)})
            held.index.trim(self._gists(pairs, rows))
        return True

    def _gists(
        self, pairs: list[tuple[Memory, IndexEntry]], rows: list[Any]
    ) -> Iterator[tuple[Memory, IndexEntry, IndexEntry]]:
        names = {0: None, **dict(self._all(SQL["embedders"], ()))}
        known = {memory.id: (memory, entry) for memory, entry in pairs} if rows else {}
        for identity, embedder, *values, total in rows:
            yield (*known[identity], entry_of(names[embedder], values, total))

    def _pairs(self, scope: str, rows: list[Any]) -> list[tuple[Memory, IndexEntry]]:
        # Without the checksums of memories: a ranking only names them, and whoever shows one reads it anew.
        names = {0: None, **dict(self._all(SQL["embedders"], ()))}
        return [(from_row(scope, row), entry_of(names[row[_WIDTH]], row[_WIDTH + 1 : -1], row[-1])) for row in rows]


def _never(_: str) -> int:
    return 0
