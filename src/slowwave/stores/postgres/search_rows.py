"""Reads the rows of a partial index of a scope from the server."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory
from slowwave.stores.search.cold_load import MessageColumns
from slowwave.stores.search.partial_index import AFTER, BEFORE, CorpusStatistics, PartialIndex
from slowwave.stores.search.service import Searcher
from slowwave.stores.sql import bounds

LAYOUT: Final = 2
"""The version of the derived search rows. A scope with another one is derived again from its memories."""

_INDEX_COLUMNS: Final = 20
"""The number of columns of a message that the index uses; the key and the checksum of its entry follow."""
_EMBEDDER: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state of a scope, and of its derived search rows.

    Attributes:
        given: how many memories were ever added.
        journal, reindexed: the last journal key and the count of index writes.
        layout, until, indexed: these values at the last synchronisation, None before the first one.
        originals, words, latest: as in `CorpusStatistics`.
        stale: whether a row has to be derived again.
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
        """Whether the search rows are behind the journal."""
        return self.stale or (self.layout, self.until, self.indexed) != (LAYOUT, self.journal, self.reindexed)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """The columns of a message that the index uses."""

    key: int
    checksum: int
    values: tuple[Any, ...]

    @property
    def id(self) -> str:
        """The id of the memory."""
        return str(self.values[0])

    @property
    def at(self) -> int:
        """The time of the message, microseconds since 1970."""
        return int(self.values[5])

    @property
    def zone(self) -> str | None:
        """The offset in which it was said; None: UTC."""
        zone: str | None = self.values[19]
        return zone

    @property
    def conversation(self) -> str:
        """The name of its conversation."""
        return str(self.values[7])

    @property
    def named(self) -> str:
        """The name of its speaker, "" for none."""
        return self.values[10] or ""

    @property
    def assisted(self) -> bool:
        """Whether its speaker is an assistant without a name."""
        return self.values[9] == "assistant" and not self.named

    @property
    def trimmed(self) -> bool:
        """Whether it has a gist, so that only a part of its words is hot."""
        return bool(self.values[11])

    @property
    def terms(self) -> bytes:
        """The term ids of its words in their order, int64."""
        return bytes(self.values[13])

    @property
    def words(self) -> int:
        """The number of its words."""
        return int(self.values[14])


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A memory of another kind than message, with its index entry."""

    key: int
    memory: Memory
    entry: IndexEntry
    checksum: int


def array(numbers: Iterable[int]) -> str:
    """Numbers as a Postgres array literal, which is twenty times as fast to send as a list."""
    return f"{{{','.join(map(str, numbers))}}}"


class SearchRowReader(Searcher):
    """Reads messages, facts and their neighbours by keys, and builds partial indexes of them."""

    def _state_of(self, token: int) -> State:
        low, high = bounds(token)
        row = self._one("search_state", {"scope": token, "low": low, "high": high})
        return State(**dict(zip(State.__annotations__, row, strict=True)))

    def _keys(self, name: str, values: Any) -> list[int]:  # noqa: ANN401  # a tuple or a mapping of scalars
        return [row[0] for row in self._all(name, values)]

    def _messages(self, token: int, keys: Collection[int], whole: Collection[int] = ()) -> list[MessageRow]:
        """The messages among these keys, by conversation and seq; those in `whole` with the vectors of their passages."""
        values = {"scope": token, "keys": array(keys), "whole": array(whole)}
        rows = self._all("search_messages", values) if keys else []
        names = {0: None, **dict(self._all("embedders", ()))}
        return [
            MessageRow(
                key=row[_INDEX_COLUMNS],
                checksum=row[_INDEX_COLUMNS + 1],
                values=(*row[:_EMBEDDER], names[row[_EMBEDDER]], *row[_EMBEDDER + 1 : _INDEX_COLUMNS]),
            )
            for row in rows
        ]

    def _facts(self, scope: str, token: int, keys: Collection[int]) -> list[FactRow]:
        """The facts among these keys, in the order they were added."""
        rows = self._all("search_facts", (token, array(keys))) if keys else []
        return [
            FactRow(key=row[-1], memory=memory, entry=entry, checksum=row[-2])
            for row, (memory, entry) in zip(rows, self._pairs(scope, [row[:-1] for row in rows]), strict=True)
        ]

    def _around(
        self, token: int, keys: Collection[int], before: int, after: int, statement: str = "search_around"
    ) -> list[int]:
        """The keys of the messages among these, and of so many messages before and after each in its conversation."""
        values = {"scope": token, "keys": array(keys), "before": before, "after": after}
        return self._keys(statement, values) if keys else []

    def _sources(self, token: int, facts: Sequence[FactRow]) -> dict[str, int]:
        """The keys of the memories that these facts rest on, by id."""
        ids = {source.memory for fact in facts for source in fact.memory.sources}
        return dict(self._all("search_keys_of", (token, [*ids]))) if ids else {}

    def _talks(
        self, token: int, messages: Sequence[MessageRow], facts: Sequence[FactRow]
    ) -> dict[str, tuple[bool, bool]]:
        names = {one.conversation for one in messages} | {one.memory.conversation or "" for one in facts}
        return {name: (named, assisted) for name, named, assisted in self._all("search_talks", (token, [*names]))}

    def _names(self, token: int) -> frozenset[str]:
        return frozenset(row[0] for row in self._all("search_speakers", (token,)))

    def _excerpt(
        self,
        scope: str,
        token: int,
        keys: Collection[int],
        statistics: CorpusStatistics,
    ) -> PartialIndex:
        """A partial index of these messages with their neighbours, and of these facts with their sources.

        The statistics are those of the whole scope; its conversations are added here.
        """
        facts = self._facts(scope, token, keys)
        resting = self._sources(token, facts).values()
        near = {*self._around(token, keys, BEFORE, AFTER), *resting}
        messages = self._messages(token, near, keys)
        if others := near - {one.key for one in messages} - {one.key for one in facts}:
            # Facts that others rest on, or messages without an index entry: then the next messages are the neighbours.
            near |= {*self._around(token, keys, BEFORE, AFTER, "search_around_indexed")}
            messages = self._messages(token, near, keys)
            facts = sorted([*facts, *self._facts(scope, token, others)], key=lambda fact: fact.key)
        wanted = frozenset(keys)
        whole = replace(statistics, talks=self._talks(token, messages, facts))
        excerpt = PartialIndex(whole, frozenset(one.id for one in messages if one.key in wanted))
        excerpt.load(MessageColumns.of([one.values for one in messages]))
        excerpt.append([(one.memory, one.entry) for one in facts])
        self._trim(excerpt, scope, token, [one.id for one in messages if one.trimmed])
        return excerpt
