"""The cache of search indexes in RAM: a limit in bytes, with eviction of the least recently used."""

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import Final

from slowwave.stores.search.index import Index

MEGABYTE: Final = 1024 * 1024


@dataclass(slots=True)
class CachedIndex:
    """An index, and the state of the scope that it shows.

    `lock` is held while the index is used or changed, and never while a thread waits for the store.
    """

    index: Index
    scope: str
    journal: int
    reindexed: int
    stored: int | None = None  # the last journal row in the stored index, if there is one
    behind: int = 0  # memories added or changed since then
    seen: object = None
    size: int = 0  # bytes, when it was put into the cache
    used: float = 0.0  # `time.monotonic()` of its last use
    tried: int | None = None  # the last journal row when it was last tried to store it
    lock: RLock = field(default_factory=RLock)

    @contextmanager
    def in_use(self) -> Iterator[Index]:
        """The index, while no other thread uses it.

        An exception, such as a KeyboardInterrupt, may leave it half changed: it is built again at its next use.
        """
        with self.lock:
            try:
                yield self.index
            except BaseException:
                self.seen, self.reindexed = None, -1
                raise

    def drop_cached(self) -> None:
        """Free the RAM of the cached input of the ranking, unless a thread uses it now."""
        if self.lock.acquire(blocking=False):
            try:
                self.index.drop_cached()
            finally:
                self.lock.release()


class IndexCache:
    """The indexes of scopes by token, the most recently used last. It is not thread-safe: the store locks it.

    Args:
        limit: bytes of all indexes. The index used last stays even if it alone is larger.

    Attributes:
        size: bytes of all indexes now.
        evicted: how many were evicted so far.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self.evicted = 0
        self._indexes: OrderedDict[int, CachedIndex] = OrderedDict()

    def __len__(self) -> int:
        """The number of indexes."""
        return len(self._indexes)

    def get(self, token: int) -> CachedIndex | None:
        """The index of a scope, or None. It becomes the most recently used."""
        held = self._indexes.get(token)
        if held is not None:
            held.used = time.monotonic()
            self._indexes.move_to_end(token)
        return held

    def idle(self, seconds: float) -> list[tuple[int, CachedIndex]]:
        """The indexes that were not used for so long, with their tokens."""
        before = time.monotonic() - seconds
        return [(token, held) for token, held in self._indexes.items() if held.used <= before]

    def put(self, token: int, held: CachedIndex) -> list[tuple[int, CachedIndex]]:
        """Store an index that is new or has changed. Returns those that were evicted for it, with their tokens."""
        replaced = self.pop(token)
        if replaced is not None and replaced is not held:
            replaced.drop_cached()
        held.size, held.used = held.index.nbytes, time.monotonic()
        self._indexes[token] = held
        self.size += held.size
        evicted = []
        while self.size > self.limit and len(self._indexes) > 1:
            oldest = next(iter(self._indexes))
            evicted.append((oldest, self._remove(oldest)))
            evicted[-1][1].drop_cached()
        self.evicted += len(evicted)
        return evicted

    def pop(self, token: int) -> CachedIndex | None:
        """Remove the index of a scope, and return it; None if there is none."""
        return self._remove(token) if token in self._indexes else None

    def pop_all(self) -> list[tuple[int, CachedIndex]]:
        """Remove all indexes, and return them with their tokens, the most recently used last."""
        removed = list(self._indexes.items())
        self._indexes.clear()
        self.size = 0
        return removed

    def _remove(self, token: int) -> CachedIndex:
        held = self._indexes.pop(token)
        self.size -= held.size
        return held
