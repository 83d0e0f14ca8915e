"""Recomputes the checksums of rows that count as damaged although a replay of the journal confirms their values."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

from slowwave.errors import CorruptError, InputError
from slowwave.model.codec import COLUMNS, Row, Scalar, dumps, loads, row_content, written
from slowwave.model.status import Repaired
from slowwave.policy.text.features import index_text
from slowwave.stores.journal import Replayed, padded
from slowwave.stores.reasons import SEAL, checked_reasons, rewritten_reasons
from slowwave.stores.replay import JournalChecker
from slowwave.stores.rows import checked, checked_journal, entry_of
from slowwave.stores.seal import sealed, sealed_entry, sealed_journal
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

        A damaged index entry is derived from the text again, by words. Of a damaged run the reasons that fail their
        checksum are replaced by a sentence that says so.
        """
        with self._guard, self._one_state():
            self._see_every_scope()
            scopes = [(token, path) for token, path in self._all("scopes", ()) if not path.startswith(COPYING)]
            hit = [
                (token, path)
                for token, path in scopes
                if any(any(True for _ in rows(token)) for rows in (self._damaged, self._lost_entries, self._lost_runs))
            ]
        total = Repaired()
        for token, path in hit:
            with self._guard, self._transaction(path):
                done = self._repair(token, path)
            total = Repaired(
                memories=total.memories + done.memories,
                journal=total.journal + done.journal,
                derived=total.derived + done.derived,
                runs=total.runs + done.runs,
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

    def _lost_entries(self, token: int) -> Iterator[int]:
        """The keys of damaged index entries."""
        low, high = bounds(token)
        for row in self._db.run("every_entry", {"low": low, "high": high}):
            values: Any = row
            try:
                entry_of(None, values[1:-1], values[-1])
            except CorruptError:
                yield values[0]

    def _lost_runs(self, token: int) -> Iterator[Sequence[Any]]:
        """The rows of damaged runs."""
        low, high = bounds(token)
        for row in self._db.run("every_run", {"low": low, "high": high}):
            try:
                checked_reasons(row)
            except CorruptError:
                yield row

    def _repair(self, token: int, path: str) -> Repaired:
        """Repair a scope: index entries and records of runs, which no memory depends on, and the checksums of memories."""
        entries = list(self._lost_entries(token))
        for key in entries:
            text = self._one("text_of_key", (token, key))[0]
            self._db.run("put_entry", (key, token, 0, *sealed_entry(index_text(text))))
        if entries:
            self._db.run("reindexed", (token,))
        runs = list(self._lost_runs(token))
        for run in runs:
            parts = [part for *_, part in self._all("run_rows", (run[-2], run[-1], run[0]))]
            groups = max(parts, default=-1) + 1
            self._db.run("reseal_run", (*rewritten_reasons(run, groups), SEAL, run[0]))
        done = self._repair_memories(token, path)
        return replace(done, derived=len(entries), runs=len(runs))

    def _repair_memories(self, token: int, path: str) -> Repaired:
        damaged = list(self._damaged(token))
        if not damaged:
            return Repaired()
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
