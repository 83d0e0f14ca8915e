"""Applies plans to a store, the only write of memories: each group in one transaction. Shared by both stores."""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime

from slowwave.errors import InputError, SuppressedError
from slowwave.model.codec import dumps, to_micros
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import MESSAGE, NOTE, Memory
from slowwave.model.operations import Add, Change, Erase, Operation, Use
from slowwave.model.pass_record import ABANDONED, PassRecord
from slowwave.model.plan import BATCH_MAX, FREE, GROUP_MAX, Dropped, Group, Plan, Receipt
from slowwave.stores.connection import Connection, StoreBase, Values, WriteHints
from slowwave.stores.eraser import StalePlanError
from slowwave.stores.group_writer import GroupWriter, read_first, rests_on
from slowwave.stores.reasons import SEAL, sealed_details, sealed_reasons
from slowwave.stores.seal import check, check_run, sealed_entry
from slowwave.stores.sql import bounds
from slowwave.telemetry import record_apply


class PlanApplier(StoreBase):
    """The writes of a store."""

    def _transaction(self, scope: str, run: "RunRow | None" = None) -> AbstractContextManager[None]:
        """A write transaction on one scope, with one writer at a time. Postgres uses `run` to learn if it was committed."""
        raise NotImplementedError

    def _write_hints(self) -> WriteHints | None:
        """The hints of the last write, or None if another connection has written since. Call it inside the transaction."""
        return None

    def _keep_hints(self, given: WriteHints | None) -> None:
        """Keep the hints of the transaction that was just committed for the next write."""

    def _release_to_writers(self) -> None:
        """Let waiting writers take the lock. Called between two groups of a plan, outside the guard."""

    @record_apply
    def apply(self, plan: Plan) -> Receipt:
        """Apply each group in one transaction: rows, indexes and journal. Groups planned on outdated versions are dropped.

        If no group was applied, no run is stored.

        Raises:
            InputError: a group is too large, names another scope, or contains a value that would be read back
                differently; nothing was applied.
            ConflictError: a message id is stored with other content; its group was not applied.
            SuppressedError: one of the keys `unless_held` of the plan is suppressed.
        """
        if plan.parts:
            raise InputError("a plan with parts is applied part by part")
        for group in plan.groups:
            _check_group(group, plan.scope)
        for group in plan.groups[1:]:  # GroupWriter checks every group; the first needs no check before
            for operation in group.operations:
                check(operation)
        check_run(plan)
        applied: list[Operation] = []
        dropped: list[Dropped] = []
        run = RunRow(plan)
        for place, group in enumerate(plan.groups):
            if place:
                self._release_to_writers()
            with self._guard:
                try:
                    applied += self._apply_group(group, plan, run)
                except StalePlanError as stale:
                    dropped.append(Dropped(group=group, reason=str(stale)))
        return Receipt(
            run_id=plan.id, cause=plan.cause, scope=plan.scope, applied=tuple(applied), dropped=tuple(dropped)
        )

    def _apply_group(self, group: Group, plan: Plan, run: "RunRow") -> list[Operation]:
        needed = rests_on(group)
        with self._transaction(plan.scope, run):
            token = self._tokens.new_scope(plan.scope)
            self._read_ahead(*_read_first(token, group, plan, needed), *read_first(token, group.operations))
            writer = GroupWriter(
                self._db,
                self._tokens,
                scope=plan.scope,
                run=run.key,
                part=run.groups,
                hints=self._write_hints(),
                reached=self._reached,
                planned_on=plan.sequence,
                at=to_micros(plan.at),
            )
            if plan.lease is not None and self._db.run("lease_token", (writer.token,)).get != plan.lease:
                raise StalePlanError("another sleeper has taken the lease over since this was planned")
            if plan.unless_held and self._db.run("unless_held", (writer.token, dumps(plan.unless_held))).get:
                raise SuppressedError("a key that the plan relies on is suppressed: plan it again")
            if needed:
                writer.require(needed)
            writer.read_ahead(group.operations)
            for operation in group.operations:
                writer.perform(operation)
            if any(isinstance(operation, Erase) for operation in group.operations):
                self._db.run("erase_answers", {"scope": writer.token})  # they may quote what is erased
            writer.destroy()
            # Operations that were all known already write no run. An empty group is a run that only has parts.
            if happened := bool(writer.performed or not group.operations):
                last = writer.finish()
                run.write(self._db, writer.token, writer.run, (writer.first_journal, last), group)
            if writer.hints is None:
                erases = happened and any(isinstance(operation, Erase) for operation in writer.performed)
                self._after_erase((writer.token, writer.run, to_micros(plan.at)) if erases else None)
        if happened:
            self._keep_hints(writer.hints)
            run.key = writer.run
            run.groups += 1
        return writer.performed

    def lease(
        self,
        scope: str,
        holder: str,
        seconds: float,
        now: datetime,
        ended: Callable[[str], bool] | None = None,
    ) -> int | None:
        """Take or renew the lease of a scope's sleep pass for `seconds`; 0 seconds releases it.

        A lease that ends more than twice `seconds` from now was taken while the clock was wrong, and is ignored.

        Returns:
            A token that grows with every new holder, or None while another holder has the lease.
        """
        at, span = to_micros(now), int(seconds * 1_000_000)
        if span and (taken := self._free_lease(scope, holder, at + span)) is not None:
            return taken
        with self._guard, self._transaction(scope):
            scope_token = self._tokens.new_scope(scope)
            token, owner, until, run, failures = self._one("lease", (scope_token,)) or (
                *(0, "", at, bounds(scope_token)[0]),
                0,
            )
            if owner != holder:
                if not span or (owner and at < until <= at + 2 * span and not (ended and ended(owner))):
                    return None
                token += 1
                if owner:  # it was not released: the process that held it ended during the pass
                    record = PassRecord(failures=failures).failed(now, ABANDONED)
                    self._db.run("lease_abandoned", (*_failure(record), scope_token))
            self._db.run("put_lease", (scope_token, token, holder if span else "", at + span, run))
        return int(token)

    def _free_lease(self, scope: str, holder: str, until: int) -> int | None:
        """Take a lease that is free, and return its token; None if another holder has it."""
        with self._guard, self._transaction(scope):
            token = self._tokens.new_scope(scope)
            self._commit_with_next()
            row = self._one("take_lease", {"scope": token, "holder": holder, "until": until, "run": bounds(token)[0]})
        return None if row is None else int(row[0])

    def slept(
        self,
        scope: str,
        holder: str,
        run: int | None,
        now: datetime,
        again: datetime | None = None,
        *,
        error: str = "",
    ) -> datetime | None:
        """Record the end of the sleep pass of the lease's holder, and release the lease. Other holders change nothing."""
        with self._guard, self._transaction(scope):
            token = self._tokens.new_scope(scope)
            record = PassRecord(ended=now)
            if error:
                row = self._one("lease", (token,))
                record = PassRecord(failures=row[4] if row else 0).failed(now, error)
            due = None if again is None else to_micros(again)
            failures, next_try, kind = _failure(record)
            values = {"run": run, "again": due, "now": to_micros(now), "scope": token, "holder": holder}
            self._commit_with_next()
            row = self._one("slept", values | {"failures": failures, "next_try": next_try, "error": kind})
        return None if row is None else record.next_try or again

    def retry_pass(self, scope: str) -> bool:
        """Forget the failures of a scope's sleep passes, so that it is due at once; False if none failed."""
        with self._guard, self._transaction(scope):
            return bool(self._db.run("retry_pass", (self._tokens.new_scope(scope),)).fetchall())

    def index(self, scope: str, entries: Mapping[str, IndexEntry], *, gists: bool = False) -> int:
        """Write index entries, which are derived from texts: no memory changes and nothing is journaled.

        With `gists`, the entries are those of the trimmed texts; memories without a trimmed text are skipped.

        Returns:
            How many entries were written.
        """
        with self._guard, self._transaction(scope):
            token = self._tokens.new_scope(scope)
            rows = []
            for identity, entry in entries.items():
                found = self._one("trimmed_key_of" if gists else "key_of", (token, identity))
                if found is not None:
                    rows.append((found[0], token, self._tokens.new_embedder(entry.embedder), *sealed_entry(entry)))
            self._db.run_many("put_gist" if gists else "put_entry", rows)
            if rows:
                self._db.run("reindexed", (token,))
        return len(rows)


def _read_first(token: int, group: Group, plan: Plan, needed: Collection[str]) -> list[tuple[str, Values]]:
    """What the checks before a group read."""
    found: list[tuple[str, Values]] = []
    if plan.lease is not None:
        found.append(("lease_token", (token,)))
    if plan.unless_held:
        found.append(("unless_held", (token, dumps(plan.unless_held))))
    if needed:
        found.append(("count_of_ids", (token, dumps(sorted(needed)))))
    if plan.parent is not None and group is plan.groups[0]:
        found.append(("run_exists", (token, plan.parent)))
    return found


def _failure(record: PassRecord) -> tuple[int, int, str]:
    """The columns of a lease that hold the failures."""
    return record.failures, 0 if record.next_try is None else to_micros(record.next_try), record.error


class RunRow:
    """The row of a run: inserted with its first applied group, updated by the next ones."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.key = 0  # not written yet
        self.groups = 0

    def write(self, db: Connection, token: int, key: int, journal: tuple[int, int], group: Group) -> None:
        """Insert or update the row. Call it inside the group's transaction."""
        if self.key:
            db.run("extend_run", (group.because, dumps(sealed_details(group)), journal[1], key))
            return
        plan = self.plan
        amounts = "{}" if plan.cost is FREE or plan.cost == FREE else dumps(asdict(plan.cost))
        own = (plan.id, plan.cause, to_micros(plan.at), plan.parent, plan.undoes, amounts)
        values = (key, token, *own, *sealed_reasons(group, own), SEAL, *journal)
        if plan.parent is not None and not db.run("run_exists", (token, plan.parent)).get:
            # The run that contains all parts is stored with the first of them.
            whole = plan.cause.partition("/")[0]
            part_of = (key - 1, token, plan.parent, whole, to_micros(plan.at), None, None, "{}", "[]", "[]")
            db.run("add_run", (*part_of, SEAL, *journal))
        try:
            db.run("add_run", values)
        except db.clash as error:
            raise StalePlanError(f"the plan {plan.id} was applied before") from error


def _check_group(group: Group, scope: str) -> None:
    memory: Memory | None
    whole = True  # only new messages, or notes: a batch of them is one group
    for operation in group.operations:
        if isinstance(operation, Add):
            memory = operation.memory
            if (memory.kind == MESSAGE) != bool(memory.conversation and memory.role):
                raise InputError(f"{memory.id} is a {memory.kind}: messages, and only they, have conversation and role")
            if memory.kind == NOTE and (memory.conversation is None or not memory.ref):
                raise InputError(
                    f"{memory.id} is a note without a folder or a name: give it both; a folder may be empty"
                )
            whole = whole and memory.kind in {MESSAGE, NOTE}
        else:
            memory = _subject(operation)
            whole = whole and isinstance(operation, Change) and operation.before.kind == NOTE
        if memory is not None and memory.scope != scope:
            raise InputError(f"{memory.id} belongs to the scope {memory.scope!r}, the plan to {scope!r}")
    most = BATCH_MAX if whole else GROUP_MAX
    if len(group) > most:
        raise InputError(f"{len(group):,} operations in one group, more than {most:,}: cut them into several groups")


def _subject(operation: Operation) -> Memory | None:
    match operation:
        case Change():
            return operation.before
        case Use():
            return operation.used_version
        case _:
            return None
