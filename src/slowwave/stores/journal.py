"""Reads the journal of a store: runs, histories, changes since a sequence, costs, and the replay of a scope."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from slowwave.errors import CorruptError
from slowwave.model.codec import COLUMNS, Row, dumps, from_micros, from_row, loads, to_micros, used
from slowwave.model.operations import (
    OPERATION_NAMES,
    Add,
    Change,
    Erase,
    Link,
    MoveCursor,
    Operation,
    RejectFact,
    SetTitle,
    Suppress,
    Use,
)
from slowwave.model.plan import Cost, Event, Plan, Run, RunParts, Written
from slowwave.stores.connection import StoreBase
from slowwave.stores.reasons import checked_reasons
from slowwave.stores.rows import checked_journal
from slowwave.stores.sql import bounds

_PLACE = {name: place for place, name in enumerate(COLUMNS)}
_PARTS: Mapping[RunParts, int] = {"none": 0, "stages": 1, "all": 2}
_FREQUENT = frozenset({"observe", "use"})
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_RUN_ID = 2
"""The place of the id in a row of `runs`."""


class Journal(StoreBase):
    """Reads runs and operations from the journal."""

    def runs(
        self,
        scope: str,
        limit: int | None = None,
        cause: str | None = None,
        since: datetime | None = None,
        *,
        parts: RunParts = "all",
        after: str | None = None,
    ) -> list[Run]:
        """The latest runs, newest first.

        Args:
            scope: whose runs.
            limit: the most runs; None: all.
            cause: only runs with this cause, or with a cause that begins with it and a slash.
            since: only runs after this instant.
            parts: which runs that are part of another are listed: "all", "stages" (of sleep passes), "none".
            after: only runs that were written before the run of this id; an unknown id gives no runs.
        """
        with self._guard, self._one_state():
            token = self._tokens.scope(scope)
            if token is None:
                return []
            low, high = bounds(token)
            if after is not None:
                row = self._one("run", (token, after))
                if row is None:
                    return []
                high = row[0] - 1
            values = {
                "low": low,
                "high": high,
                "scope": token,
                "parts": _PARTS[parts],
                "cause": cause,
                "since": None if since is None else to_micros(since),
                "limit": -1 if limit is None else limit,
            }
            which = "runs" if cause is None else "runs_of_frequent_cause" if cause in _FREQUENT else "runs_of_cause"
            return self._with_totals(token, self._runs(scope, self._all(which, values)))

    def run(self, scope: str, run_id: str) -> Run | None:
        """One run with its plan, or None."""
        with self._guard, self._one_state():
            token = self._tokens.scope(scope)
            row = None if token is None else self._one("run", (token, run_id))
            return None if row is None or token is None else self._with_totals(token, self._runs(scope, [row]))[0]

    def _with_totals(self, token: int, runs: Sequence[Run]) -> list[Run]:
        """The runs, those with parts with the number of parts and the operations of all parts."""
        wholes = [run.id for run in runs if run.parent is None and not any(run.plan.groups)]
        if not wholes:
            return list(runs)
        values = {"scope": token, "parents": dumps(wholes)}
        counts = dict(self._all("count_parts", values))
        totals: dict[str, dict[str, int]] = {}
        for parent, op, number in self._all("totals_of_parts", values):
            totals.setdefault(parent, {})[op] = number
        return [
            replace(run, part_count=counts[run.id], totals=totals.get(run.id, {})) if run.id in counts else run
            for run in runs
        ]

    def undos(self, scope: str) -> list[tuple[str, str, str | None]]:
        """The undos of a scope, newest first: the id of each, the run that it took back, and the run it is a part of."""
        with self._guard:
            token = self._tokens.scope(scope)
            rows = [] if token is None else self._all("undos", (token,))
        return [(str(row[0]), str(row[1]), row[2]) for row in rows]

    def children(self, scope: str, run_id: str) -> list[Run]:
        """The child runs of a run, in order."""
        with self._guard, self._one_state():
            token = self._tokens.scope(scope)
            rows = [] if token is None else self._all("children", (token, run_id))
            return self._runs(scope, rows)

    def later(self, scope: str, run: Run, *, known: Container[str] = frozenset()) -> list[Run]:
        """The later runs that rest on this run, newest first.

        They changed (not only used) a memory that this run added or changed, or added a fact that rests on a memory which
        this run added and that was not undone. Runs whose ids are in `known` are left out.
        """
        with self._guard, self._one_state():
            token = self._tokens.scope(scope)
            if token is None or (row := self._one("run", (token, run.id))) is None:
                return []
            values = {"scope": token, "run": row[0], "first": row[-2], "last": row[-1]}
            found = {later[0]: later for later in self._all("later", values)}
            added = {operation.memory.id for operation in run.plan.operations if isinstance(operation, Add)}
            low, high = bounds(token)
            for sources, *later in self._all("resting", {**values, "low": low, "high": high}) if added else ():
                if later[0] not in found and not added.isdisjoint(source for source, *_ in loads(sources)):
                    found[later[0]] = later
            fresh = [row for _, row in sorted(found.items(), reverse=True) if row[_RUN_ID] not in known]
            return self._runs(scope, fresh)

    def history(self, scope: str, memory: str) -> list[Event]:
        """Everything that ever happened to a memory, oldest first."""
        with self._guard, self._one_state():
            token = self._tokens.scope(scope)
            if token is None:
                return []
            operations = self._operations_on(scope, token, memory)
            events = []
            for key, run_id, cause, at in self._all("history", {"scope": token, "id": memory}):
                events.append(Event(run_id=run_id, cause=cause, at=from_micros(at), operation=operations[key]))
        return events

    def refused(self, scope: str, limit: int | None = None) -> list[RejectFact]:
        """The facts that were proposed and not stored, newest first."""
        with self._guard:
            token = self._tokens.scope(scope)
            values = {"scope": token, "limit": -1 if limit is None else limit}
            rows = [] if token is None else self._all("latest_refused", values)
            found = []
            for key, because, payload, total in rows:
                checked_journal(key, ("refuse", None, None, because, payload), total)
                text, quote, reason = loads(payload)
                found.append(RejectFact(text=text, quote=quote, reason=reason, because=because))
            return found

    def sequence(self, scope: str) -> int:
        """A number that grows with every journaled operation of the scope: the same number, nothing changed."""
        with self._guard:
            token = self._tokens.scope(scope)
            return 0 if token is None else self._sequence(token)

    def changed(self, scope: str, after: int, limit: int) -> tuple[list[str], int]:
        """The facts added or changed since a sequence, oldest first and each once, and the sequence they reach to."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return [], after
            low, high = bounds(token)
            rows = self._all("changed", {"after": low + after, "high": high, "limit": limit})
            if len(rows) < limit:
                return [row[0] for row in rows], max(after, self._sequence(token))
            # A fact that changes again later is listed twice, which is harmless; a missing one would not be.
            return [row[0] for row in rows], rows[-1][1] - low

    def written(self, scope: str, after: int, limit: int) -> tuple[list[Written], int]:
        """What runs wrote after a sequence, in the order of their last operation, and the sequence that was reached."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return [], after
            low, _ = bounds(token)
            last = min(after + limit, self._sequence(token))
            if last <= after:
                return [], after
            rows = self._all("written", {"after": low + after, "last": low + last})
            found: dict[str, Written] = {}
            for run_id, cause, at, parent, undoes, op, number, key in rows:
                before = found.get(run_id)
                reached, totals = (0, {}) if before is None else (before.sequence, before.totals)
                found[run_id] = Written(
                    sequence=max(reached, key - low),
                    run_id=run_id,
                    cause=cause,
                    at=from_micros(at),
                    parent=parent,
                    undoes=undoes,
                    totals={**totals, op: number},
                )
            return sorted(found.values(), key=lambda one: one.sequence), last

    def costs(self, scope: str, since: datetime | None = None, until: datetime | None = None) -> dict[str, Cost]:
        """The cost of model calls by cause, over the runs of the scope from one instant to another one."""
        with self._guard:
            token = self._tokens.scope(scope)
            values = {
                "scope": token,
                "since": to_micros(since if since is not None else _FIRST),
                "until": to_micros(until if until is not None else _LAST),
            }
            rows = [] if token is None else self._all("costs", values)
            return {
                cause: Cost(calls=calls, tokens_in=tokens_in, tokens_out=tokens_out, money=money, seconds=seconds)
                for cause, calls, tokens_in, tokens_out, money, seconds in rows
            }

    def _sequence(self, token: int) -> int:
        low, high = bounds(token)
        last = self._one("last_journal", (low, high))[0]
        return 0 if last is None else int(last) - low

    # ---- from rows to operations

    def _runs(self, scope: str, rows: Iterable[Any]) -> list[Run]:
        """The runs of these rows. The history of a memory is read once, however many of them changed it."""
        histories: dict[str, dict[int, Operation]] = {}  # by memory
        return [self._run(scope, row, histories) for row in rows]

    def _run(self, scope: str, row: Any, histories: dict[str, dict[int, Operation]]) -> Run:  # noqa: ANN401  # a row of scalars
        key, token, run_id, cause, at, parent, undoes, cost, _, _, _, first, last = row
        reasons = checked_reasons(row)
        operations: list[list[Operation]] = [[] for _ in reasons]
        for place, *values, total, part in self._all("run_rows", (first, last, key)):
            checked_journal(place, values, total)
            op, memory, other, sentence, payload = values
            if op in {"change", "use"}:
                if memory not in histories:
                    histories[memory] = self._operations_on(scope, token, memory)
                operations[part].append(histories[memory][place])
            else:
                operations[part].append(_simple(scope, op, memory, other, sentence, payload))
        plan = Plan(
            id=run_id,
            scope=scope,
            cause=cause,
            at=from_micros(at),
            groups=tuple(
                replace(reason, operations=tuple(done)) for reason, done in zip(reasons, operations, strict=True)
            ),
            parent=parent,
            cost=Cost(**loads(cost)),
            undoes=undoes,
        )
        totals = Counter(OPERATION_NAMES[type(operation)] for operation in plan.operations)
        return Run(
            id=run_id,
            scope=scope,
            cause=cause,
            at=plan.at,
            plan=plan,
            parent=parent,
            cost=plan.cost,
            totals=dict(totals),
        )

    def _operations_on(self, scope: str, token: int, memory: str) -> dict[int, Operation]:
        """Every operation on a memory by journal key.

        The journal holds changes as differences, so that all of them are read in order.
        """
        operations: dict[int, Operation] = {}
        state: Row | None = None
        for key, *values, total in self._all("memory_rows", {"scope": token, "id": memory}):
            checked_journal(key, values, total)
            op, one, other, because, payload = values
            if op not in {"change", "use"}:
                operations[key] = _simple(scope, op, one, other, because, payload)
                state = padded(payload) if op == "add" else state
                continue
            if state is None:
                raise CorruptError(f"the journal changes {memory} before it adds it: restore a backup")
            moved = loads(payload)
            if op == "change":
                before, state = state, changed_row(state, moved)
                operations[key] = Change(before=from_row(scope, before), after=from_row(scope, state), because=because)
            else:
                seen = changed_row(state, {name: (None, pair[0]) for name, pair in moved.items()})
                after = changed_row(seen, moved)
                operations[key] = Use(used_version=from_row(scope, seen), after=from_row(scope, after), because=because)
                state = used(state, moved)
        return operations

    def _replayed(self, token: int) -> "Replayed":
        """The state of the scope that its journal gives."""
        state = Replayed()
        low, high = bounds(token)
        for row in self._db.run("whole_journal", (low, high)):
            key, *values, total = row
            checked_journal(key, values, total)
            op, memory, other, _, payload = values
            state.take(op, memory, other, payload)
        return state


@dataclass(slots=True)
class Replayed:
    """The logical state of a scope: rows by id, links, cursors, held keys, and titles by conversation."""

    rows: dict[str, Row] = field(default_factory=dict)
    links: dict[tuple[str, str, str], tuple[float, int]] = field(default_factory=dict)
    cursors: dict[tuple[str, str], int] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    titles: dict[str, str] = field(default_factory=dict)

    def take(self, op: str, memory: Any, other: Any, payload: Any) -> None:  # noqa: ANN401  # scalars of a row
        """Apply one journal row."""
        match op:
            case "add":
                self.rows[memory] = padded(payload)
            case "change":
                self.rows[memory] = changed_row(self.rows[memory], loads(payload))
            case "use":
                self.rows[memory] = used(self.rows[memory], loads(payload))
            case "link":
                link = loads(payload)
                ends = (memory, other, link["kind"])
                if link["weight"][1]:
                    self.links[ends] = link["weight"][1], link["at"]
                else:
                    self.links.pop(ends, None)
            case "advance":
                conversation, cursor, _, after = loads(payload)
                self.cursors[conversation, cursor] = after
            case "title":
                conversation, _, title = loads(payload)
                if title is None:
                    self.titles.pop(conversation, None)
                else:
                    self.titles[conversation] = title
            case "hold":
                key, on = loads(payload)
                (self.held.add if on else self.held.discard)(key)
            case _:
                pass  # refusals change no state, and the journal no longer holds what was erased


def padded(payload: str) -> Row:
    """The row of a memory when it was added; columns that were added to the schema later are None."""
    values = loads(payload)
    return (*values, *(None,) * (len(COLUMNS) - len(values)))


def changed_row(row: Row, moved: Any) -> Row:  # noqa: ANN401  # names to pairs, from JSON
    """The row with new values under these names."""
    values = list(row)
    for name, (_, after) in moved.items():
        values[_PLACE[name]] = after
    return tuple(values)


def _simple(scope: str, op: str, memory: str, other: str, because: str, payload: str) -> Operation:
    """An operation that its journal row holds whole."""
    match op:
        case "add":
            return Add(memory=from_row(scope, padded(payload)), because=because)
        case "link":
            link = loads(payload)
            before, weight = link["weight"]
            return Link(
                source=memory,
                target=other,
                kind=link["kind"],
                weight=weight,
                before=before,
                because=because,
                at=from_micros(link["at"]),
            )
        case "erase":
            return Erase(memory=memory or "", because=because)
        case _:
            return _without_memory(op, payload, because)


def _without_memory(op: str, payload: str, because: str) -> Operation:
    """An operation on no memory, which its journal row holds whole."""
    match op:
        case "advance":
            conversation, cursor, before, after = loads(payload)
            return MoveCursor(conversation=conversation, cursor=cursor, before=before, after=after, because=because)
        case "title":
            conversation, former, title = loads(payload)
            return SetTitle(conversation=conversation, before=former, after=title, because=because)
        case "hold":
            key, on = loads(payload)
            return Suppress(key=key, on=on, because=because)
        case "refuse":
            text, quote, reason = loads(payload)
            return RejectFact(text=text, quote=quote, reason=reason, because=because)
        case _:
            raise CorruptError(f"the journal names an unknown operation {op!r}: restore a backup")
