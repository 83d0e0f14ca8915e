"""Reading from the server what an excerpt of a scope's index is made of."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory
from slowwave.stores.search.cold_load import MessageColumns
from slowwave.stores.search.partial_index import AFTER, BEFORE, CorpusStatistics, PartialIndex
from slowwave.stores.search.service import Searcher
from slowwave.stores.sql import SQL, bounds, filled

SEARCH: Final = filled("postgres", "search")
LAYOUT: Final = 1
"""To be raised whenever the same memories would be taken in as other rows: a scope is then taken in anew."""

_TOLD: Final = 19
"""Columns of a message that an index looks at; its key and the checksum of its entry follow."""
_EMBEDDER: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How a scope stands, and how far it was taken in.

    Attributes:
        given: how many memories were ever added.
        journal, reindexed: what they are now.
        layout, until, indexed: what they were when all was taken in; None before the first time.
        originals, words, latest: as in `Statistics`.
        stale: whether something has to be taken in again.
    """

    given: int
    journal: int
    reindexed: int
    layout: int | None
    until: int | None
    indexed: int | None
    originals: int | None
    words: int | None
    latest: int | None
    stale: bool

    @property
    def left(self) -> bool:
        """Whether something is still to be taken in."""
        return self.stale or (self.layout, self.until, self.indexed) != (LAYOUT, self.journal, self.reindexed)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """A message as an index looks at it."""

    key: int
    checksum: int
    values: tuple[Any, ...]

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.values[0])

    @property
    def at(self) -> int:
        """When it was said, microseconds since 1970."""
        return int(self.values[5])

    @property
    def conversation(self) -> str:
        """Where it was said."""
        return str(self.values[7])

    @property
    def named(self) -> str:
        """Who said it, "" if that has no name."""
        return self.values[10] or ""

    @property
    def assisted(self) -> bool:
        """Whether an assistant without a name said it."""
        return self.values[9] == "assistant" and not self.named

    @property
    def trimmed(self) -> bool:
        """Whether only some of its words are hot."""
        return bool(self.values[11])

    @property
    def terms(self) -> bytes:
        """The terms of its words, in their order."""
        return bytes(self.values[13])

    @property
    def words(self) -> int:
        """How many these are."""
        return int(self.values[14])


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A memory that is no message, as an index looks at it."""

    key: int
    memory: Memory
    entry: IndexEntry
    checksum: int


def array(numbers: Iterable[int]) -> str:
    """Numbers as the server takes an array: twenty times as fast as a list."""
    return f"{{{','.join(map(str, numbers))}}}"


class SearchRowReader(Searcher):
    """Excerpts of a scope's index, read from the server by keys."""

    def _state_of(self, token: int) -> State:
        low, high = bounds(token)
        row = self._one(SEARCH["state"], {"scope": token, "low": low, "high": high})
        return State(**dict(zip(State.__annotations__, row, strict=True)))

    def _keys(self, statement: str, values: Any) -> list[int]:  # noqa: ANN401  # a tuple or a mapping of scalars
        return [row[0] for row in self._all(statement, values)]

    def _messages(self, token: int, keys: Collection[int], whole: Collection[int] = ()) -> list[MessageRow]:
        """Those of the memories that are messages, by conversation and seq; these whole, others without passages."""
        values = {"scope": token, "keys": array(keys), "whole": array(whole)}
        rows = self._all(SEARCH["messages"], values) if keys else []
        names = {0: None, **dict(self._all(SQL["embedders"], ()))}
        return [
            MessageRow(
                key=row[_TOLD],
                checksum=row[_TOLD + 1],
                values=(*row[:_EMBEDDER], names[row[_EMBEDDER]], *row[_EMBEDDER + 1 : _TOLD]),
            )
            for row in rows
        ]

    def _facts(self, scope: str, token: int, keys: Collection[int]) -> list[FactRow]:
        """Those of the memories that are none, in the order they came in."""
        rows = self._all(SEARCH["facts"], (token, array(keys))) if keys else []
        return [
            FactRow(key=row[-1], memory=memory, entry=entry, checksum=row[-2])
            for row, (memory, entry) in zip(rows, self._pairs(scope, [row[:-1] for row in rows]), strict=True)
        ]

    def _around(
        self, token: int, keys: Collection[int], before: int, after: int, statement: str = "around"
    ) -> list[int]:
        """Those of the memories that are messages, and so many messages before and after each in its conversation."""
        values = {"scope": token, "keys": array(keys), "before": before, "after": after}
        return self._keys(SEARCH[statement], values) if keys else []

    def _sources(self, token: int, facts: Sequence[FactRow]) -> dict[str, int]:
        """What these facts rest on: the keys by id."""
        ids = {source.memory for fact in facts for source in fact.memory.sources}
        return dict(self._all(SEARCH["keys_of"], (token, [*ids]))) if ids else {}

    def _talks(
        self, token: int, messages: Sequence[MessageRow], facts: Sequence[FactRow]
    ) -> dict[str, tuple[bool, bool]]:
        names = {one.conversation for one in messages} | {one.memory.conversation or "" for one in facts}
        return {name: (named, assisted) for name, named, assisted in self._all(SEARCH["talks"], (token, [*names]))}

    def _names(self, token: int) -> frozenset[str]:
        return frozenset(row[0] for row in self._all(SEARCH["speakers"], (token,)))

    def _excerpt(
        self,
        scope: str,
        token: int,
        keys: Collection[int],
        statistics: CorpusStatistics,
    ) -> PartialIndex:
        """An index of these messages with their neighbours, and of these facts with what they rest on.

        The statistics are those of the scope, but for its talks.
        """
        facts = self._facts(scope, token, keys)
        resting = self._sources(token, facts).values()
        near = {*self._around(token, keys, BEFORE, AFTER), *resting}
        messages = self._messages(token, near, keys)
        if others := near - {one.key for one in messages} - {one.key for one in facts}:
            # Facts that others rest on, or messages of which nothing is derived yet: the next ones are neighbours then.
            near |= {*self._around(token, keys, BEFORE, AFTER, "around_told")}
            messages = self._messages(token, near, keys)
            facts = sorted([*facts, *self._facts(scope, token, others)], key=lambda fact: fact.key)
        wanted = frozenset(keys)
        whole = replace(statistics, talks=self._talks(token, messages, facts))
        excerpt = PartialIndex(whole, frozenset(one.id for one in messages if one.key in wanted))
        excerpt.load(MessageColumns.of([one.values for one in messages]))
        excerpt.append([(one.memory, one.entry) for one in facts])
        self._trim(excerpt, scope, token, [one.id for one in messages if one.trimmed])
        return excerpt
