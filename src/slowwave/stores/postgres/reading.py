"""Reads of one search or context from one committed state, in two round trips and a few for what depends on their rows."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from slowwave.model.codec import dumps, from_micros
from slowwave.model.memory import Memory
from slowwave.model.query import Query, Ranked, Where
from slowwave.model.status import LinkRow
from slowwave.stores.connection import Reading
from slowwave.stores.postgres.base import PostgresBase
from slowwave.stores.postgres.server_search import ServerSearch
from slowwave.stores.postgres.statements import DIALECT, Query as SqlQuery
from slowwave.stores.rows import memory_of
from slowwave.stores.scope_state import ScopeStateReader
from slowwave.stores.search.cache import CachedIndex
from slowwave.stores.where_clause import selected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slowwave.stores.postgres.search_rows import State

_VECTOR: Final = "vector"
PIECE: Final = 1024 * 1024
"""Bytes of a stored index that are read at once: all in one value would be copied several times."""


class PostgresReading(Reading):
    """What one thread reads for a search or a context.

    `begin` opens a transaction that sees one committed state, and reads in one round trip what brings the indexes up to
    date, with the selections. Rankings then need no round trip: they only note which rows they want. The first read that
    needs such rows fetches them for all rankings, with their links and what they name, sends COMMIT in the same round
    trip, and gives the connection back. What was not foreseen is read later, in transactions of its own.

    Args:
        store: the store.
        scopes: the scopes that are read.
        guard: closed at the end of the reading; `begin` enters the guard of the store in it.
    """

    def __init__(self, store: "SnapshotReader", scopes: Sequence[str], guard: ExitStack) -> None:
        self.scopes = tuple(dict.fromkeys(scopes))
        self.indexes: dict[str, CachedIndex] = {}
        self.rankings: dict[object, list[Ranked]] = {}
        self._store = store
        self._tokens: dict[str, int] = {}
        self._wanted: dict[str, None] = {}
        self._memories: dict[str, dict[str, Memory | None]] = {}
        self._links: dict[str, dict[str, list[LinkRow]]] = {}
        self._entered = False
        self._guard = guard

    # ---- what a pipeline announces

    def begin(self, selections: Iterable[Where] = (), conversation: str | None = None) -> bool:
        """Open the transaction, update the indexes of the scopes, and read these selections of the first scope."""
        if self._entered:
            self.select(selections, conversation)
            return False
        store, before = self._store, self._store.speakers_in_ram(self.scopes)
        with store._turn(self.scopes):  # noqa: SLF001  # of the same module
            self._guard.enter_context(store._guard)  # noqa: SLF001
            self._entered = True
            with store._guard:  # noqa: SLF001  # translates errors
                self._tokens = dict(store._readable(self.scopes))  # noqa: SLF001
                if any(store._at_server(scope, token) for scope, token in self._tokens.items()):  # noqa: SLF001
                    self._tokens = {}  # the server searches a scope: it reads in its own way
                else:
                    store._db.hold()  # noqa: SLF001
                    store._readable(self.scopes)  # noqa: SLF001  # a look at the server may have ended a transaction
                    self.select(selections, conversation)
                    for scope, token in self._tokens.items():
                        self.indexes[scope] = store._index(scope, token)  # noqa: SLF001
            if not self._tokens:
                self._guard.close()  # its searches take their turns, and a thread that waits holds no connection
                return False
        return before != store.speakers_in_ram(self.scopes)

    def rank(self, query: Query) -> None:
        """Announce a search of the scopes, and the rows of its results."""
        if self.indexes:
            self._store.search(self.scopes, query)

    def select(self, selections: Iterable[Where] = (), conversation: str | None = None) -> None:
        """Read these selections of the first scope, and the state of a conversation, with the next round trip."""
        token = self._tokens.get(self.scopes[0])
        if token is None:
            return
        session = self._store._db  # noqa: SLF001
        for where in selections:
            text, values = selected(where, token, DIALECT)
            session.ask_ahead(SqlQuery(text.encode(), values))
        if conversation is not None:
            session.read_ahead("conversation", {"scope": token, "name": conversation})
            session.read_ahead("cursors_of", (token, conversation))

    # ---- what the store asks it

    def covers(self, scopes: Iterable[str]) -> bool:
        """Whether the indexes of these scopes are up to date, or nothing was ever stored in them."""
        return bool(self.indexes) and all(scope in self.indexes or scope in self._unknown for scope in scopes)

    @property
    def _unknown(self) -> set[str]:
        return set(self.scopes) - self._tokens.keys()

    def want(self, ids: Iterable[str]) -> None:
        """Announce memories: they are read with their links and with the memories that they name."""
        self._wanted |= dict.fromkeys(ids)

    def memories(self, scope: str, ids: Sequence[str]) -> dict[str, Memory | None]:
        """The memories of a scope by id, None for those that do not exist."""
        known = self._memories.setdefault(scope, {})
        if scope in self._tokens and not known.keys() >= set(ids):
            self._fetch(ids)
        return known

    def links(self, scope: str, ids: Sequence[str]) -> dict[str, list[LinkRow]]:
        """The links of memories of a scope by id."""
        known = self._links.setdefault(scope, {})
        if scope in self._tokens and not known.keys() >= set(ids):
            self._fetch(ids)
        return known

    def _fetch(self, ids: Sequence[str]) -> None:
        """Read the rows and links of these ids and of what was announced, of all scopes at once."""
        store = self._store
        wanted = list(dict.fromkeys((*ids, *self._wanted)))
        self._wanted.clear()
        with store._guard:  # noqa: SLF001
            places = [(token, dumps(wanted)) for _, token in store._readable(list(self._tokens))]  # noqa: SLF001
            store._db.hold()  # noqa: SLF001  # again for rows that were not foreseen
            store._db.end_with_next()  # noqa: SLF001
            store._read_ahead(*((name, place) for place in places for name in ("near_memories", "near_links")))  # noqa: SLF001
            for (each, _), place in zip(self._tokens.items(), places, strict=True):
                rows = store._all("near_memories", place)  # noqa: SLF001
                self._keep(each, wanted, rows, store._all("near_links", place))  # noqa: SLF001

    def _keep(self, scope: str, wanted: Sequence[str], rows: list[Any], links: list[Any]) -> None:
        memories = self._memories.setdefault(scope, {})
        memories |= {identity: memories.get(identity) for identity in wanted}
        memories |= {row[0]: memory_of(scope, row) for row in rows}
        by_id = self._links.setdefault(scope, {})
        by_id |= {identity: [] for identity in wanted}
        for source, target, kind, weight, at in links:
            link = LinkRow(source=source, target=target, kind=kind, weight=weight, at=from_micros(at))
            for end in {source, target} & by_id.keys():
                by_id[end].append(link)


class SnapshotReader(ScopeStateReader, ServerSearch, PostgresBase):
    """Reads that use the `PostgresReading` of their thread, if there is one."""

    @contextmanager
    def reading(self, scopes: Sequence[str]) -> Iterator[Reading]:
        """Read what a search or a context needs from one committed state. A block inside another one is part of it."""
        own = self._gate.own
        if own.reading is not None:
            yield own.reading
            return
        try:
            with ExitStack() as guard:
                own.reading = PostgresReading(self, scopes, guard)
                yield own.reading
        finally:
            own.reading = None

    @property
    def _reading(self) -> PostgresReading | None:
        reading: PostgresReading | None = self._gate.own.reading
        return reading

    def _turn(self, scopes: Sequence[str]) -> AbstractContextManager[object]:
        reading = self._reading
        return nullcontext() if reading is not None and reading.covers(scopes) else super()._turn(scopes)

    def _index(self, scope: str, token: int) -> CachedIndex:
        reading = self._reading
        held = None if reading is None else reading.indexes.get(scope)
        return super()._index(scope, token) if held is None else held

    def _stored_arrays(self, token: int, size: int) -> "NDArray[np.uint8]":
        data = np.zeros(size, dtype=np.uint8)
        rows = self._db.run("snapshot_pieces", {"scope": token, "size": size, "piece": PIECE})
        while (row := rows.fetchone()) is not None:
            data[row[0] : row[0] + len(row[1])] = np.frombuffer(row[1], dtype=np.uint8)
        return data

    def _at_server(self, scope: str, token: int) -> "State | None":
        reading = self._reading
        state = None if reading is not None and scope in reading.indexes else super()._at_server(scope, token)
        if state is not None:
            self._db.plan_anew()
        return state

    def speakers_in_ram(self, scopes: Sequence[str]) -> list[int | None]:
        """How many speakers the indexes of these scopes have; None for one that is not in RAM."""
        held = (self._in_ram(scope) for scope in scopes)
        return [None if each is None else len(each.index.speakers) for each in held]

    def _in_ram(self, scope: str) -> CachedIndex | None:
        token = self._scopes.get(scope)
        with self._cache_lock:
            return None if token is None else self._indexes.get(token)

    def wording(self, scopes: Sequence[str], question: str) -> str:
        """The question without the names of known speakers. Before `begin` of a reading, those that the RAM knows."""
        reading = self._reading
        if reading is None or reading.covers(scopes) or self._in_ram(scopes[0]) is None:
            return super().wording(scopes, question)
        for held in filter(None, map(self._in_ram, scopes)):
            with held.in_use() as index:
                question = index.wording(question)
        return question

    def search(self, scopes: Sequence[str], query: Query) -> list[Ranked]:
        """The best hits for a query, best first. In a reading the same query is ranked once."""
        reading = self._reading
        if reading is None or not reading.covers(scopes):
            return super().search(scopes, query)
        key = (tuple(scopes), _key(query))
        if key not in reading.rankings:
            reading.rankings[key] = super().search(scopes, query)
            for row in reading.rankings[key]:
                reading.want((row.id,))
        return list(reading.rankings[key])

    def get(self, scopes: Sequence[str], ids: Iterable[str]) -> list[Memory]:
        """The memories with these ids, in the order of the ids; unknown ids are skipped."""
        reading, wanted = self._reading, list(ids)
        if reading is None or not reading.covers(scopes) or not wanted:
            return super().get(scopes, wanted)
        found: dict[str, Memory] = {}
        for scope in dict.fromkeys(scopes):
            known = reading.memories(scope, wanted)
            for identity in wanted:
                if identity not in found and (memory := known.get(identity)) is not None:
                    found[identity] = memory
        return [found[identity] for identity in wanted if identity in found]

    def links(self, scope: str, ids: Collection[str] | None, kinds: Collection[str] | None = None) -> list[LinkRow]:
        """Links with a weight above 0 that touch any of these memories; with None for ids, all links of the scope."""
        reading = self._reading
        if reading is None or ids is None or not reading.covers((scope,)):
            return super().links(scope, ids, kinds)
        known = reading.links(scope, list(ids)) if ids else {}
        found = {
            (link.source, link.target, link.kind): link
            for identity in ids
            for link in known.get(identity, ())
            if link.weight > 0 and (kinds is None or link.kind in kinds)
        }
        return list(found.values())


def _key(query: Query) -> object:
    """What makes two queries the same."""
    vector = None if query.vector is None else query.vector.tobytes()
    strength = None if query.strength is None else tuple(query.strength.items())
    values = (getattr(query, name) for name in query.__dataclass_fields__ if name not in {_VECTOR, "strength"})
    return (vector, strength, *values)
