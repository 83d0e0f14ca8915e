"""Repairs rows that count as damaged although the journal proves what they hold: their checksums are computed anew."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from slowwave.errors import CorruptError, InputError
from slowwave.model.codec import COLUMNS, Row, Scalar, dumps, loads, row_content
from slowwave.model.status import Repaired
from slowwave.stores.journal import Replayed, padded
from slowwave.stores.replay import Checking
from slowwave.stores.rows import checked, checked_journal
from slowwave.stores.seal import sealed, sealed_journal
from slowwave.stores.sql import SQL, UNNAMED, bounds

_WIDTH: Final = len(COLUMNS)
_PLACE: Final = {name: place for place, name in enumerate(COLUMNS)}
_SHOWN: Final = 5
_ROWS: Final = frozenset({"add", "change", "use"})
"""The operations of which the payload holds values of columns."""


class _JournalRow(NamedTuple):
    key: int
    op: str
    memory: str | None
    other: str | None
    because: str
    payload: str | None


_Rows: TypeAlias = dict[str, list[_JournalRow]]


class Repairing(Checking):
    """The repair of a store, scope by scope, each in one transaction."""

    def repair(self) -> Repaired:
        """Compute the checksum of damaged rows anew where a replay of the journal agrees with what they hold.

        Earlier versions accepted a number where text belongs, such as `record_retrieval(session=42)`. The store
        converted it to text, and the checksum, computed over the number, failed on every later read. Such a row holds
        what the journal says once both are compared as text. Of the row only the checksum is written; in the journal the
        number becomes the same text. A row that the replay does not confirm is reported and left as it is.
        """
        with self._guard, self._one_state():
            self._see_all()
            scopes = [(token, path) for token, path in self._all(SQL["scopes"], ()) if not path.startswith(UNNAMED)]
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
        for row in self._db.execute(SQL["every_memory"], {"low": low, "high": high}):
            try:
                checked(row)
            except CorruptError:
                yield row

    def _repair(self, token: int, path: str) -> Repaired:
        damaged = list(self._damaged(token))
        try:
            told = self._journal_of(token, {str(row[0]) for row in damaged})
        except CorruptError as error:
            return Repaired(refused=(f"scope {path}: nothing was repaired, because {error}",))
        memories = journal = 0
        unproven = []
        for row in damaged:
            changes = _agreement(tuple(row[:_WIDTH]), row[_WIDTH], told.get(str(row[0]), []))
            if changes is None:
                unproven.append(str(row[0]))
                continue
            self._db.execute(SQL["reseal_memory"], (sealed(tuple(row[:_WIDTH]))[1], token, row[0]))
            for old, payload in changes:
                values = (payload, sealed_journal(old.op, old.memory, old.other, old.because, payload), old.key)
                self._db.execute(SQL["reseal_journal"], values)
            memories, journal = memories + 1, journal + len(changes)
        refused: tuple[str, ...] = ()
        if unproven:
            shown = ", ".join(unproven[:_SHOWN]) + (f" and {len(unproven) - _SHOWN} more" if unproven[_SHOWN:] else "")
            refused = (
                f"scope {path}: {len(unproven)} damaged rows were not touched, because the journal says something else: "
                f"{shown}; restore a backup",
            )
        return Repaired(memories=memories, journal=journal, refused=refused)

    def _journal_of(self, token: int, ids: set[str]) -> _Rows:
        """The journal rows of these memories in order; CorruptError if any row of the scope's journal is damaged."""
        rows: _Rows = {}
        for key, *values, total in self._db.execute(SQL["whole_journal"], bounds(token)):
            checked_journal(key, values, total)
            row = _JournalRow(key, *values)
            if row.op in _ROWS and row.memory in ids:
                rows.setdefault(str(row.memory), []).append(row)
        return rows


def _agreement(row: Row, content: object, told: Sequence[_JournalRow]) -> list[tuple[_JournalRow, str]] | None:
    """The journal rows that need another payload for the replay to give this row exactly; None if it does not agree."""
    replayed = Replayed()
    changes = []
    try:
        for one in told:
            payload = _retyped(one, row)
            if payload != one.payload:
                changes.append((one, payload))
            replayed.take(one.op, one.memory, one.other, payload)
        sealed(row)
        keyed = content is None or content == row_content(row)
    except (InputError, KeyError, TypeError, ValueError):  # damage can turn any value into another type
        return None
    return changes if keyed and replayed.rows.get(str(row[0])) == row else None


def _retyped(told: _JournalRow, row: Row) -> str:
    """The payload with each value that the store converted as the row holds it."""
    payload = str(told.payload)
    if told.op == "add":
        values = [_as_stored(value, row[place]) for place, value in enumerate(padded(payload))]
        return dumps(values) if any(map(_differ, values, padded(payload))) else payload
    moved = loads(payload)
    stored = {name: [_as_stored(value, row[_PLACE[name]]) for value in pair] for name, pair in moved.items()}
    changed = any(
        _differ(new, old) for name, pair in stored.items() for new, old in zip(pair, moved[name], strict=True)
    )
    return dumps(stored) if changed else payload


def _differ(new: object, old: object) -> bool:
    return type(new) is not type(old)


def _as_stored(told: Scalar, stored: Scalar) -> Scalar:
    """What the store made of a journaled value: the stored text, if a number was converted to it; else the value.

    NaN became NULL in SQLite and "NaN" in Postgres.
    """
    if isinstance(told, float) and told != told:  # noqa: PLR0124 - NaN
        return stored if stored in {None, "NaN"} else told
    if not isinstance(told, int | float) or not isinstance(stored, str):
        return told
    if not isinstance(told, float):
        return stored if stored in {format(told, "d"), str(told).lower()} else told
    try:
        return stored if float(stored) == told else told
    except ValueError:
        return told
