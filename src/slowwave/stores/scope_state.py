"""Reads the state of a scope for a sleep pass: in Postgres one round trip, from one committed state."""

from collections.abc import Iterator, Sequence
from typing import Any

from slowwave.model.memory import Memory
from slowwave.model.scope_state import Changed, ScopeState, StateQuery
from slowwave.stores.connection import Asked, Composed
from slowwave.stores.reads import Reader, conversations_of, unread_counts, unread_statements
from slowwave.stores.rows import memory_of
from slowwave.stores.sql import bounds
from slowwave.stores.where_clause import selected


class ScopeStateReader(Reader):
    """Reads what a sleep pass needs at once."""

    def scope_state(self, scope: str, query: StateQuery) -> ScopeState:
        """The state of a scope, with what the query asks for."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return _of_nothing(query)
            low, high = bounds(token)
            embedded = [] if query.embedder is None else self._unembedded(token, query.embedder, 1)
            selections = [Composed(*selected(where, token, self._db.dialect)) for where in query.selections]
            changed: list[Asked] = [
                ("changed_after_cursor", {"scope": token, "low": low, "high": high, "cursor": cursor, "limit": limit})
                for cursor, limit in query.changed.items()
            ]
            rows = iter(
                self._together(
                    [
                        ("last_run", (low, low, high)),
                        ("last_journal", (low, high)),
                        ("cursors", (token,)),
                        ("conversations", (token,)),
                        *unread_statements(token),
                        *selections,
                        *changed,
                        *embedded,
                        *_unscheduled(token, query),
                    ]
                )
            )
            ((last_run,),), ((last_journal,),), cursors, conversations = (next(rows) for _ in range(4))
            sequence = 0 if last_journal is None else int(last_journal) - low
            unread = unread_counts(*(next(rows) for _ in range(3)))
            found = {where: _memories(scope, next(rows)) for where in query.selections}
            after = {
                cursor: _changed(scope, next(rows), limit, sequence, low) for cursor, limit in query.changed.items()
            }
            missing = [next(rows) for _ in embedded]
            return ScopeState(
                last_run=int(last_run),
                sequence=sequence,
                conversations=tuple(conversations_of(cursors, conversations)),
                cursors={cursor: seq for name, cursor, seq in cursors if not name},
                unread=unread,
                selected=found,
                changed=after,
                has_unembedded=any(missing),
                unscheduled=_counted(scope, rows, query),
            )


def _of_nothing(query: StateQuery) -> ScopeState:
    """The state of a scope in which nothing was ever stored."""
    return ScopeState(
        selected=dict.fromkeys(query.selections, ()), changed={cursor: Changed() for cursor in query.changed}
    )


def _memories(scope: str, rows: Sequence[Any]) -> tuple[Memory, ...]:
    return tuple(memory_of(scope, row) for row in rows)


def _changed(scope: str, rows: Sequence[Any], limit: int, sequence: int, low: int) -> Changed:
    """What changed after a cursor. If not all was read, only the last change that was read was reached."""
    reached = sequence if len(rows) < limit else rows[-1][-1] - low
    return Changed(_memories(scope, rows), reached)


def _unscheduled(token: int, query: StateQuery) -> list[Asked]:
    if query.unscheduled is None:
        return []
    least, greatest, limit = query.unscheduled
    values = {"scope": token, "low": least, "high": greatest}
    return [("unpaced", {**values, "limit": limit}), ("count_unpaced", values)]


def _counted(scope: str, rows: Iterator[Sequence[Any]], query: StateQuery) -> tuple[tuple[Memory, ...], int]:
    if query.unscheduled is None:
        return (), 0
    return _memories(scope, next(rows)), int(next(rows)[0][0])
