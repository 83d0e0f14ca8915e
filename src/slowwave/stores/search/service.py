"""Search: an index in RAM for each scope in use, updated from the journal. Large ones are stored when they are dropped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from threading import RLock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.errors import ClosedError, StoreError
from slowwave.model.codec import dumps, from_row
from slowwave.model.config import INDEX_CACHE_MB
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory
from slowwave.model.query import Query, Ranked
from slowwave.stores.connection import StoreBase
from slowwave.stores.rows import MEMORY_COLUMNS, entry_of
from slowwave.stores.scope_locks import ScopeLocks
from slowwave.stores.search.cache import MEGABYTE, CachedIndex, IndexCache
from slowwave.stores.search.cold_load import MessageColumns
from slowwave.stores.search.idle import IdleThread
from slowwave.stores.search.index import Index
from slowwave.stores.search.snapshot import LAYOUT, checksum
from slowwave.stores.sql import bounds
from slowwave.telemetry import child

_WIDTH = len(MEMORY_COLUMNS)
WORTH_STORING: Final = 1000
"""The least number of memories of a stored index. Smaller ones are built as fast as they are read."""
IDLE_SECONDS: Final = 20.0
"""A large index that was not used for so long is stored, and stays in RAM."""
BEHIND: Final = 64
"""A stored index is rewritten when 1/64 of its memories are new or changed, and ignored when 4/64 are."""
_TOUCHED: Final = ("touched", "touched_rows", "touched_gists")
"""The statements that read what was written to a scope after a row of its journal."""
LARGEST: Final = 800_000_000
"""The largest stored index in bytes. SQLite stores at most a billion bytes in a row."""


class Searcher(StoreBase):
    """Reads that use the search indexes in RAM.

    Threads take turns in a scope (`_turn`) while its index is read or updated: one of them builds it, and the others of
    the scope wait for it. Threads in other scopes do not wait. A thread takes its turn before it enters the guard, so
    that a thread that waits holds no connection.
    """

    def __init__(self, path: str, *, index_cache_mb: int = INDEX_CACHE_MB, **arguments: Any) -> None:  # noqa: ANN401  # those of the store
        self._indexes = IndexCache(index_cache_mb * MEGABYTE)
        self._evicted: list[tuple[int, CachedIndex]] = []  # large ones that were not stored yet
        # Of `_indexes` and `_evicted`; never held while a thread waits for anything else. As the other locks that `close`
        # takes it is reentrant: a signal handler may close the store while the thread that it interrupts holds it.
        self._cache_lock = RLock()
        self._turns = ScopeLocks()
        self._embedder_names: Mapping[int, str | None] = {0: None}
        self._built_indexes = self._loaded_indexes = 0
        self._idle = IdleThread(self._store_idle, IDLE_SECONDS)
        super().__init__(path, **arguments)

    def after_fork(self) -> None:
        """In a forked child: drop all indexes, since another thread of the parent may have been changing one."""
        super().after_fork()
        self._indexes = IndexCache(self._indexes.limit)
        self._evicted = []
        self._cache_lock = RLock()
        self._turns = ScopeLocks()
        self._embedder_names = {0: None}
        self._idle = IdleThread(self._store_idle, IDLE_SECONDS)

    def gauges(self) -> dict[str, float]:
        """What the indexes take now, and what was built, read and evicted since the store was opened."""
        cache = self._indexes
        return {
            **super().gauges(),
            "index.scopes": len(cache),
            "index.bytes": cache.size,
            "index.max_bytes": cache.limit,
            "index.builds": self._built_indexes,
            "index.loads": self._loaded_indexes,
            "index.evictions": cache.evicted,
        }

    def close(self) -> None:
        """Store the large indexes for the next process, and close the store. Idempotent.

        Indexes that other threads put into the cache meanwhile are not stored: else it would not end while they search.
        """
        self._idle.stop()
        with self._cache_lock:
            indexes = self._indexes.pop_all()
        try:
            with suppress(StoreError, ClosedError):  # as in `_store_evicted`
                while indexes:
                    self._stop_waiting()
                    self._store(*indexes.pop(), wait=True)
        finally:
            super().close()

    def search(self, scopes: Sequence[str], query: Query) -> list[Ranked]:
        """The best hits for a query, best first. Rows of one scope do not change the scores of another."""
        with self._turn(scopes), self._guard:
            hits = [hit for scope, token in self._readable(scopes) for hit in self._search_scope(scope, token, query)]
        if self._evicted:
            self._store_evicted()
        # Sorting is stable: of hits with equal scores, those of the first scope come first.
        return sorted(hits, key=lambda hit: -hit.score)[: query.top_k] if len(scopes) > 1 else hits

    def prepare_search(self, scope: str) -> None:
        """Derive now what the next search of a scope that is too large for RAM would derive first: here nothing."""

    def wording(self, scopes: Sequence[str], question: str) -> str:
        """The question without the names of known speakers. Embed this text for `Query.vector`."""
        with self._turn(scopes), self._guard:
            for scope, token in self._readable(scopes):
                question = self._wording(scope, token, question)
        return question

    def frequencies(self, scope: str) -> tuple[Callable[[str], int], int]:
        """A function for the document frequency of a stem, and the number of originals of the scope."""
        with self._turn((scope,)), self._guard:
            for _, token in self._readable((scope,)):
                return self._frequencies(scope, token)
        return (lambda _: 0), 0

    def speakers(self, scope: str) -> frozenset[str]:
        """The names of all speakers of messages of the scope."""
        with self._turn((scope,)), self._guard:
            return frozenset().union(*(self._speakers(scope, token) for _, token in self._readable((scope,))))

    def _turn(self, scopes: Sequence[str]) -> AbstractContextManager[object]:
        """Take turns with the other threads that use the indexes of these scopes. Enter it before the guard."""
        return self._turns.hold(scopes)

    def _search_scope(self, scope: str, token: int, query: Query) -> list[Ranked]:
        held = self._index(scope, token)
        with held.in_use() as index:
            return index.search(query)

    def _wording(self, scope: str, token: int, question: str) -> str:
        held = self._index(scope, token)
        with held.in_use() as index:
            return index.wording(question)

    def _frequencies(self, scope: str, token: int) -> tuple[Callable[[str], int], int]:
        held = self._index(scope, token)
        with held.in_use() as index:
            originals = index.originals

        def frequency(stem: str) -> int:  # called later, while other threads may change the index
            with held.lock:
                return index.frequency(stem)

        return frequency, originals

    def _speakers(self, scope: str, token: int) -> frozenset[str]:
        with self._cache_lock:
            is_in_ram = self._indexes.get(token) is not None
        if not is_in_ram:  # building it would read every row
            return frozenset(str(name) for (name,) in self._all("speakers", (token,)))
        held = self._index(scope, token)
        with held.in_use() as index:
            return index.speakers

    def _index(self, scope: str, token: int) -> CachedIndex:
        """The index of a scope, updated with the rows that were written since its last use. Call it in the scope's turn."""
        with self._cache_lock:
            held = self._indexes.get(token)
        seen = self._state()
        if held is not None and seen is not None and held.seen == seen:
            return held
        with self._one_state():
            low, high = bounds(token)
            if held is None:
                self._read_ahead(("snapshot", (token,)))
            elif self._has_written(token, held.journal):
                self._read_ahead(*((name, _since(token, held.journal)) for name in _TOUCHED))
            last, reindexed = self._one("state_of_scope", {"scope": token, "low": low, "high": high})
            last = last or low
            if held is None:
                held = self._stored(scope, token)
            elif held.journal > last:  # the server lost writes: a standby took over
                held = None
            if held is None or held.reindexed != reindexed or not self._caught_up(held, scope, token, last):
                held = self._built(scope, token)
            held.journal, held.reindexed, held.seen = last, reindexed, seen
        with self._cache_lock:
            evicted = self._indexes.put(token, held)
            is_large = len(held.index) >= WORTH_STORING
            self._evicted += (pair for pair in evicted if len(pair[1].index) >= WORTH_STORING)
        if is_large:
            self._idle.start()
        return held

    def _has_written(self, _token: int, _journal: int) -> bool:
        """Whether this process has written to a scope after this row of its journal: then reading it ahead saves a trip."""
        return False

    @child("slowwave.index.build")
    def _built(self, scope: str, token: int) -> CachedIndex:
        low, high = bounds(token)
        place = {"low": low, "high": high}
        self._read_ahead(("facts_of_scope", place), ("embedders", ()))
        messages = MessageColumns.of(self._db.run("messages_of_scope", place))
        names = {0: None, **dict(self._all("embedders", ()))}
        messages = messages.with_embedders(names)
        facts = self._pairs(scope, self._all("facts_of_scope", place), names)
        index = Index()
        index.load(messages)
        index.append(facts)
        self._built_indexes += 1
        trimmed = [identity for identity, some in zip(messages.id, messages.trimmed, strict=True) if some]
        self._trim(index, scope, token, trimmed)
        return CachedIndex(index=index, scope=scope, journal=low, reindexed=0)

    def _trim(self, index: Index, scope: str, token: int, ids: Sequence[str]) -> None:
        """Add the trimmed texts of these messages to the index."""
        if ids:
            places = {"scope": token, "ids": dumps(ids)}
            pairs = self._pairs(scope, self._all("some_of_scope", places))
            index.trim(self._gists(pairs, self._all("some_gists", places)))

    def _stored(self, scope: str, token: int) -> CachedIndex | None:
        """The stored index of a scope, if its layout and checksum are valid."""
        row = self._one("snapshot", (token,))
        if row is None or row[2] != LAYOUT:
            return None
        journal, reindexed, _, total, head, size = row
        arrays = self._stored_arrays(token, size)
        if checksum(head, arrays) != total:
            return None
        index = Index()
        index.unpack(head, arrays)
        self._loaded_indexes += 1
        return CachedIndex(index=index, scope=scope, journal=journal, reindexed=reindexed, stored=journal)

    def _stored_arrays(self, token: int, size: int) -> NDArray[np.uint8]:
        """The bytes of a stored index, in a writable array. Each backend has its own fast way."""
        raise NotImplementedError

    def _store_evicted(self) -> None:
        """Store the large indexes that were evicted: reading one takes a quarter of the time of building it again.

        Those that other threads evict meanwhile are left to them: else it would not end while they search.
        """
        with self._cache_lock:
            evicted, self._evicted = self._evicted, []
        while evicted:
            with suppress(StoreError, ClosedError):  # the stored index only saves time
                self._store(*evicted.pop())

    def _store_idle(self) -> None:
        """Store the large indexes that were not used for a while: a process that is killed stores none when it ends."""
        with self._cache_lock:
            idle = [
                (token, held)
                for token, held in self._indexes.idle(IDLE_SECONDS)
                if len(held.index) >= WORTH_STORING and held.tried != held.journal
            ]
        for token, held in idle:
            with suppress(StoreError, ClosedError):  # the stored index only saves time
                if not self._store(token, held, keep=True):
                    continue  # another thread uses the scope: the next interval tries again
            held.tried = held.journal

    def _store(self, token: int, held: CachedIndex, *, wait: bool = False, keep: bool = False) -> bool:
        """Store a large index, unless the stored one is recent or the scope was written to in the meantime.

        Without `wait` nothing is stored while another thread uses the scope: that thread puts the index into the cache.
        Without `keep` the index is empty afterwards, which frees its RAM.

        Returns:
            False if another thread uses the scope.
        """
        with self._turns.hold((held.scope,), None if wait else 0) as is_free:
            if is_free:
                self._store_in_turn(token, held, keep=keep)
        return is_free

    def _store_in_turn(self, token: int, held: CachedIndex, *, keep: bool) -> None:
        low, high = bounds(token)
        place = {"scope": token, "low": low, "high": high}
        if len(held.index) < WORTH_STORING:
            return
        with self._guard, self._one_state():
            self._readable([held.scope])  # a server shows rows of scopes that were named
            last, reindexed = self._one("state_of_scope", place)
            last = last or low
            if held.stored is not None and (last - held.stored) * BEHIND < len(held.index):
                return  # the stored index is recent, whatever the last rows of the journal are about
            if held.reindexed != reindexed or not self._caught_up(held, held.scope, token, last):
                return
            held.journal = last
            if held.stored is not None and held.behind * BEHIND < len(held.index):
                return
            with held.in_use() as index:
                head, arrays = index.packed()
        if len(head) + len(arrays) > LARGEST:
            return
        if not keep:
            held.index = Index()  # frees as much RAM as the bytes take
        values = (held.journal, held.reindexed, LAYOUT, checksum(head, arrays), head, arrays)
        with self._guard, self._transaction(held.scope):
            last, reindexed = self._one("state_of_scope", place)
            if (last or low, reindexed) == (held.journal, held.reindexed):
                self._db.run("put_snapshot", (token, *values))
                held.stored, held.behind = held.journal, 0

    def _caught_up(self, held: CachedIndex, scope: str, token: int, last: int) -> bool:
        """Update the index from the journal. Returns False if a new index must be built."""
        if held.journal == last:
            return True
        place = _since(token, held.journal)
        self._read_ahead(*((name, place) for name in _TOUCHED))
        worded: set[str] = set()
        touched: set[str] = set()
        for op, memory, words in self._all("touched", place):
            if op == "erase":
                return False
            (worded if words or memory not in held.index else touched).add(memory)
        held.behind += len(worded | touched)
        if held.journal == held.stored and held.behind * BEHIND > 4 * len(held.index):
            return False
        if not (worded or touched):
            return True
        pairs = self._pairs(scope, self._all("touched_rows", place))
        trimmed = any(memory.gist is not None for memory, _ in pairs)
        gists = list(self._gists(pairs, self._all("touched_gists", place))) if trimmed else []
        with held.in_use() as index:
            try:
                index.append([pair for pair in pairs if pair[0].id in worded])
            except ValueError:  # a message out of order, or with another text
                return False
            index.change(memory for memory, _ in pairs if memory.id in index and memory.id not in worded)
            if gists:
                index.trim(gists)
        return True

    def _names_of_embedders(self, tokens: set[int]) -> Mapping[int, str | None]:
        """The names of embedders by token: at least of these tokens, and None of 0."""
        if not tokens <= self._embedder_names.keys():
            self._embedder_names = {0: None, **dict(self._all("embedders", ()))}
        return self._embedder_names

    def _gists(
        self, pairs: list[tuple[Memory, IndexEntry]], rows: list[Any]
    ) -> Iterator[tuple[Memory, IndexEntry, IndexEntry]]:
        names = self._names_of_embedders({row[1] for row in rows})
        known = {memory.id: (memory, entry) for memory, entry in pairs} if rows else {}
        for identity, embedder, *values, total in rows:
            yield (*known[identity], entry_of(names[embedder], values, total))

    def _pairs(
        self, scope: str, rows: list[Any], names: Mapping[int, str | None] | None = None
    ) -> list[tuple[Memory, IndexEntry]]:
        # Checksums of memories are not verified here: a ranking only returns ids, and reading a memory verifies it.
        names = names or self._names_of_embedders({row[_WIDTH] for row in rows})
        return [(from_row(scope, row), entry_of(names[row[_WIDTH]], row[_WIDTH + 1 : -1], row[-1])) for row in rows]


def _since(token: int, journal: int) -> dict[str, int]:
    """The values of the statements `_TOUCHED`: what was written to a scope after this row of its journal."""
    return {"scope": token, "after": journal, "high": bounds(token)[1]}
