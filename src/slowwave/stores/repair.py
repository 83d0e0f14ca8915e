"""Recomputes the checksums of rows that count as damaged although a replay of the journal confirms their values."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from slowwave.errors import CorruptError, InputError
from slowwave.model.codec import COLUMNS, Row, Scalar, dumps, loads, row_content, written
from slowwave.model.status import Repaired
from slowwave.stores.journal import Replayed, padded
from slowwave.stores.replay import JournalChecker
from slowwave.stores.rows import checked, checked_journal
from slowwave.stores.seal import sealed, sealed_journal
from slowwave.stores.sql import COPYING, bounds

_WIDTH: Final = len(COLUMNS)
_PLACE: Final = {name: place for place, name in enumerate(COLUMNS)}
_SHOWN: Final = 5
_ROWS: Final = frozenset({"add", "change", "use"})
"""The operations whose payload contains values of columns."""


class _JournalRow(NamedTuple):
    key: int
    op: str
    memory: str | None
    other: str | None
    because: str
    payload: str | None


_Rows: TypeAlias = dict[str, list[_JournalRow]]


class Repairer(JournalChecker):
    """The repair of a store, scope by scope, each in one transaction."""

    def repair(self) -> Repaired:
        """Recompute the checksum of damaged rows where a replay of the journal gives the same values.

        Earlier versions accepted a number where text belongs, such as `record_retrieval(session=42)`. The store
        converted it to text, and the checksum, computed over the number, failed on every later read. Compared as text,
        such a row equals the journal. Only the checksum of the row is written; in the journal the number becomes the
        same text. A row that the replay does not confirm is reported and not changed.
        """
        with self._guard, self._one_state():
            self._see_every_scope()
            scopes = [(token, path) for token, path in self._all("scopes", ()) if not path.startswith(COPYING)]
            hit = [(token, path) for token, path in scopes if any(True for _ in self._damaged(token))]
        total = Repaired()
        for token, path in hit:
            with self._guard, self._transaction(path):
                done = self._repair(token, path)
            total = Repaired(
                memories=total.memories + done.memories,
                journal=total.journal + done.journal,
                refused=(*total.refused, *done.refused),
            )
        return total

    def _damaged(self, token: int) -> Iterator[Sequence[Any]]:
        low, high = bounds(token)
        for row in self._db.run("every_memory", {"low": low, "high": high}):
            try:
                checked(row)
            except CorruptError:
                yield row

    def _repair(self, token: int, path: str) -> Repaired:
        damaged = list(self._damaged(token))
        try:
            journaled = self._journal_of(token, {str(row[0]) for row in damaged})
        except CorruptError as error:
            return Repaired(refused=(f"scope {path}: nothing was repaired, because {error}",))
        memories = journal = 0
        unproven = []
        for row in damaged:
            changes = _agreement(tuple(row[:_WIDTH]), row[_WIDTH], journaled.get(str(row[0]), []))
            if changes is None:
                unproven.append(str(row[0]))
                continue
            self._db.run("reseal_memory", (sealed(tuple(row[:_WIDTH]))[1], token, row[0]))
            for old, payload in changes:
                values = (payload, sealed_journal(old.op, old.memory, old.other, old.because, payload), old.key)
                self._db.run("reseal_journal", values)
            memories, journal = memories + 1, journal + len(changes)
        refused: tuple[str, ...] = ()
        if unproven:
            shown = ", ".join(unproven[:_SHOWN]) + (f" and {len(unproven) - _SHOWN} more" if unproven[_SHOWN:] else "")
            refused = (
                f"scope {path}: {len(unproven)} damaged rows were not changed, because the journal has other values: "
                f"{shown}; restore a backup",
            )
        return Repaired(memories=memories, journal=journal, refused=refused)

    def _journal_of(self, token: int, ids: set[str]) -> _Rows:
        """The journal rows of these memories in order; CorruptError if any row of the scope's journal is damaged."""
        rows: _Rows = {}
        for key, *values, total in self._db.run("whole_journal", bounds(token)):
            checked_journal(key, values, total)
            row = _JournalRow(key, *values)
            if row.op in _ROWS and row.memory in ids:
                rows.setdefault(str(row.memory), []).append(row)
        return rows


def _agreement(row: Row, content: object, journaled: Sequence[_JournalRow]) -> list[tuple[_JournalRow, str]] | None:
    """The journal rows to rewrite, with their new payload, so that a replay gives this row exactly; None if it cannot."""
    replayed = Replayed()
    changes = []
    try:
        for entry in journaled:
            payload = _retyped(entry, row)
            if payload != entry.payload:
                changes.append((entry, payload))
            replayed.take(entry.op, entry.memory, entry.other, payload)
        sealed(row)
        keyed = content is None or content == row_content(row)
    except (InputError, KeyError, TypeError, ValueError):  # damage can turn any value into another type
        return None
    return changes if keyed and replayed.rows.get(str(row[0])) == row else None


def _retyped(entry: _JournalRow, row: Row) -> str:
    """The payload, with each value that the store converted replaced by the converted value of the row."""
    payload = str(entry.payload)
    if entry.op == "add":
        values = [_as_stored(value, row[place]) for place, value in enumerate(padded(payload))]
        return dumps(written(tuple(values))) if any(map(_differ, values, padded(payload))) else payload
    moved = loads(payload)
    stored = {name: [_as_stored(value, row[_PLACE[name]]) for value in pair] for name, pair in moved.items()}
    changed = any(
        _differ(new, old) for name, pair in stored.items() for new, old in zip(pair, moved[name], strict=True)
    )
    return dumps(stored) if changed else payload


def _differ(new: object, old: object) -> bool:
    return type(new) is not type(old)


def _as_stored(journaled: Scalar, stored: Scalar) -> Scalar:
    """The stored text if it is the conversion of the journaled number; else the journaled value.

    NaN became NULL in SQLite and "NaN" in Postgres.
    """
    if isinstance(journaled, float) and journaled != journaled:  # noqa: PLR0124 - NaN
        return stored if stored in {None, "NaN"} else journaled
    if not isinstance(journaled, int | float) or not isinstance(stored, str):
        return journaled
    if not isinstance(journaled, float):
        return stored if stored in {format(journaled, "d"), str(journaled).lower()} else journaled
    try:
        return stored if float(stored) == journaled else journaled
    except ValueError:
        return journaled
