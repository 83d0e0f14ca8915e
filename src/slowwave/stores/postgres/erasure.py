"""Proves an erase on a Postgres server: in the rows of its scope at once, in the free space of all tables in batches."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from slowwave.errors import BusyError, ReadOnlyError, StoreError
from slowwave.model.codec import from_micros, loads
from slowwave.model.counted import counted
from slowwave.model.proof import ErasureProof, PendingProof, StoreProof
from slowwave.stores.byte_scan import BytePatterns
from slowwave.stores.postgres.base import PostgresBase
from slowwave.stores.postgres.byte_scan import (
    REWRITTEN_MAX,
    TOUCHED,
    WAITED,
    Table,
    found,
    found_in_scope,
    found_in_table,
    older,
    rewritten,
    searched_tables,
    tables,
)
from slowwave.stores.postgres.pool import RawConnection
from slowwave.stores.postgres.proofs import (
    SEARCHED,
    PendingRun,
    erased_ids,
    finish_proofs,
    held_elsewhere,
    pending_runs,
    search_begins,
    tables_rewritten,
)
from slowwave.stores.repair import Repairer

if TYPE_CHECKING:
    from slowwave.ports import Progress

LATE: Final = 7 * 24 * 3600 * 1_000_000
"""Microseconds after which `doctor` reports a pending proof as a problem."""
_PENDING: Final = "the free space of {} tables may still hold bytes of what was erased, until `slowwave erase --prove-pending` rewrites them"


class _Erased(threading.local):
    """The tables from which one thread erased and those it rewrote; other threads have their own."""

    def __init__(self) -> None:
        self.waiting: set[str] = set()  # tables that are to be rewritten
        self.rewritten: set[str] = set()  # tables that it rewrote last
        self.runs: set[tuple[int, int]] = set()  # scope and run of erases that are not proved in the whole store


class PostgresErasure(Repairer, PostgresBase):
    """Removal of erased bytes, and the proof that they are gone."""

    unreached: tuple[str, ...] = ("the server's write-ahead log and replicas, until they are recycled",)

    def __init__(self, url: str, **options: Any) -> None:  # noqa: ANN401  # those of PostgresBase
        super().__init__(url, **options)
        self._erased = _Erased()

    def after_fork(self) -> None:
        """In a forked child: it has erased nothing yet."""
        super().after_fork()
        self._erased = _Erased()

    def _after_erase(self, run: tuple[int, int, int] | None) -> None:
        """Note the tables that lost rows; of an erase also in the store, so that a crash loses no pending proof."""
        self._erased.waiting |= {name for (name,) in self._db.execute(TOUCHED)}
        if run is not None:
            token, key, at = run
            self._erased.runs.add((token, key))
            listed = "{" + ",".join(f'"{name}"' for name in sorted(self._erased.waiting)) + "}"
            self._db.run("put_pending_proof", (token, key, at, listed))

    # ---- the proof of one erase

    def prove_erased(
        self, scope: str, texts: Sequence[str], ids: Sequence[str], *, rewrite: bool | None = None, again: bool = False
    ) -> ErasureProof:
        """Prove an erase in the whole store if it is small, else in the rows of its scope. See `Store.prove_erased`."""
        traces: tuple[str, ...] | None = None
        with self._guard, self._owner() as db:
            there = tables(db)
            if _scope_sized(there, rewrite):
                token = int(self._tokens.scope(scope) or 0)
                needles = self._needles(texts, token)
                traces = tuple(found_in_scope(db, token, needles, BytePatterns([one.encode() for one in ids])))
        if traces is not None:
            waiting = self._erased.waiting or {table.name for table in there}
            self._erased.waiting, self._erased.runs = set(), set()
            return ErasureProof(problems=traces, pending=(_PENDING.format(len(waiting)),))
        problems: list[str] = []
        names: tuple[str, ...] = ()
        try:
            names = self.rewrite_erased(rewrite=rewrite, again=again)
        except StoreError as error:
            problems.append(str(error))
        with self._guard, self._owner() as db:
            token = int(self._tokens.scope(scope) or 0)
            shared = held_elsewhere(db, ids, [token])  # there they are no trace
            if shared:
                patterns = BytePatterns([one.encode() for one in shared])
                problems += found_in_scope(db, token, BytePatterns([]), patterns)
        problems += self.find_traces(texts, [one for one in ids if one not in shared])
        if not problems:
            self._forget_pending(scope)
        return ErasureProof(problems=tuple(problems), rewritten=names)

    def _forget_pending(self, scope: str) -> None:
        """Delete the notes of the erases that this thread has just proved in the whole store."""
        if self._erased.runs:
            with self._guard, self._transaction(scope):
                for token, run in self._erased.runs:
                    self._db.run("drop_pending_proof", (token, run))
            self._erased.runs = set()

    # ---- of the whole store

    def rewrite_erased(self, *, rewrite: bool | None = None, again: bool = False) -> tuple[str, ...]:
        """Rewrite the tables from which rows were erased, so that no page keeps their bytes. The write-ahead log still does.

        A table cannot be read or written while it is rewritten. Its lock is waited for two seconds at most. A plain VACUUM
        would lock nothing, but leaves bytes in the free space of pages.

        Args:
            rewrite: True: however large they are. False: never. None: up to 64 MB in all.
            again: all tables, not only those from which this thread erased rows.

        Returns:
            The names of the tables, and for how long each was locked.

        Raises:
            BusyError: some tables were not rewritten, or another transaction can still see the erased rows, which are
                then kept. The message names the statement to run.
            ReadOnlyError: only the owner may rewrite the tables, and this login is not the owner.
        """
        with self._guard, self._owner() as db:
            waiting = self._erased.waiting
            chosen = [table for table in tables(db) if again or not waiting or table.name in waiting]
            kept = f"what was erased is gone from the rows of {self.name}, but free space in pages may hold bytes of it"
            full = f"VACUUM FULL {', '.join(table.name for table in chosen)}"
            if not all(table.ours for table in chosen):
                raise ReadOnlyError(f"{kept}: their owner has to run `{full}` when the store may stand still")
            large = sum(table.size for table in chosen) > REWRITTEN_MAX
            if chosen and (rewrite is False or (rewrite is None and large)):
                raise BusyError(
                    f"{kept}: run `{full}` when the store may stand still, or erase again with `--rewrite` (rewrite=True)"
                )
            seeing = older(db)
            done, busy = rewritten(db, chosen)
            report = f" (rewritten: {', '.join(done)})" if done else ""
            if busy:
                raise BusyError(
                    f"{kept}: others were using it, and are not waited for longer than {WAITED} s: "
                    f"run `VACUUM FULL {', '.join(busy)}` when the store may stand still, or erase again{report}"
                )
            if seeing:
                # A scan of the pages needs a superuser, and later the erased words are no longer known.
                raise BusyError(
                    f"{kept}: {', '.join(seeing)} could still see it when they were rewritten, as a dump or an open "
                    f"transaction does. Repeat the erase when that has ended{report}"
                )
            self._erased.rewritten = {table.name for table in chosen}
            waiting.clear()
            return tuple(done)

    def find_traces(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        """The places that still hold erased words and ids: tables, the queue of the workers included, and files.

        Every column of every table is searched. A superuser also reads the pages of the files: of the rewritten tables and
        of all tables up to 64 MB; for other logins `unreached` says that they were not read. Words that a memory still
        holds do not count.
        """
        with self._guard:
            self._see_every_scope()
            needles = self._needles(texts)
        with self._guard, self._owner() as db:
            ours = BytePatterns([identity.encode() for identity in ids])
            return list(found(db, needles, ours, self._erased.rewritten))

    # ---- the proofs of many erases

    def pending_proofs(self) -> list[PendingProof]:
        """The erases that wait for a proof of the whole store, the oldest first."""
        with self._guard:
            self._see_every_scope()
            rows = self._all("pending_proofs", ())
        return [
            PendingProof(
                scope=str(path),
                at=from_micros(at),
                tables=tuple(name.removeprefix(SEARCHED) for name in _listed(names)),
            )
            for path, at, names in rows
        ]

    def prove_pending(self, *, rewrite: bool | None = None, on_progress: "Progress | None" = None) -> StoreProof:
        """Rewrite the tables that the pending erases name, one after the other, then search each table once for their ids.

        What was done is recorded after each table, so that an interrupted pass continues behind it. An erase whose tables
        could not all be rewritten, or whose id is still in a row, stays pending.
        """
        with self._guard, self._owner() as db:
            runs = pending_runs(db)
            done, problems, left = self._rewrite_pending(db, runs, rewrite=rewrite)
            complete = [run for run in runs if left.isdisjoint(run.tables)]
            problems += _search_pending(db, complete, on_progress)
            if complete:
                finish_proofs(db, complete)
            pending = {(run.scope, run.run) for run in pending_runs(db)}
        return StoreProof(
            proved=sum((run.scope, run.run) not in pending for run in runs),
            pending=len(pending),
            rewritten=tuple(done),
            problems=tuple(dict.fromkeys(problems)),
        )

    def _rewrite_pending(
        self, db: RawConnection, runs: Sequence[PendingRun], *, rewrite: bool | None
    ) -> tuple[list[str], list[str], set[str]]:
        """Rewrite the tables of the runs. Returns those rewritten, the problems, and the tables that are still to be."""
        wanted = {name for run in runs for name in run.tables if not name.startswith(SEARCHED)}
        chosen = [table for table in tables(db) if table.name in wanted]
        foreign = [table.name for table in chosen if not table.ours]
        large = [table.name for table in chosen if rewrite is False or (rewrite is None and table.size > REWRITTEN_MAX)]
        problems: list[str] = []
        if foreign:
            problems.append(f"only their owner may rewrite {', '.join(foreign)}: run this command as the owner")
        elif large:
            problems.append(
                f"{', '.join(large)} {'is' if len(large) == 1 else 'are'} larger than 64 MB and would be locked for "
                "long: run it with --rewrite when the store may stand still, or partition the store"
            )
        left = {*foreign, *large}
        done: list[str] = []
        for place, table in enumerate(chosen):
            if table.name in left:
                continue
            if seeing := older(db):  # also of the tables that follow: to rewrite them would only lock them
                problems.append(
                    f"{', '.join(seeing)} can still see erased rows of {table.name}: run this command again"
                )
                left |= {other.name for other in chosen[place:]}
                break
            finished, busy = rewritten(db, [table])
            done += finished
            if busy:
                problems.append(
                    f"{table.name} was in use, and is not waited for longer than {WAITED} s: run this command again"
                )
                left.add(table.name)
            else:
                tables_rewritten(db, runs, [table.name])
        empty = wanted - {table.name for table in tables(db)}  # a table without rows has no pages
        tables_rewritten(db, runs, empty - left)
        return done, problems, left

    def _proofs(self) -> list[tuple[str, bool, str]]:
        """What `doctor` says of pending proofs; nothing if there are none."""
        pending = self.pending_proofs()
        if not pending:
            return []
        first = pending[0].at
        with self._guard, self._owner() as db:
            row: Any = db.execute("SELECT CAST(extract(epoch FROM now()) * 1000000 AS bigint)").fetchone()
        late = row[0] - int(first.timestamp() * 1_000_000) > LATE
        erases = counted(len(pending), "erase waits", "erases wait")
        sentence = (
            f"{erases} for a proof of the whole store, the oldest since {first:%Y-%m-%d}: run "
            "`slowwave erase --prove-pending` as the owner"
        )
        return [("proofs", not late, sentence)]


def _scope_sized(there: Sequence[Table], rewrite: bool | None) -> bool:
    """Whether an erase is proved in its scope only: the store is large, or this login may not rewrite its tables."""
    if rewrite is not None:
        return not rewrite
    return sum(table.size for table in there) > REWRITTEN_MAX or not all(table.ours for table in there)


def _search_pending(db: RawConnection, runs: Sequence[PendingRun], on_progress: "Progress | None") -> list[str]:
    """Search each table once for the ids of runs whose tables were all rewritten. Returns what was found, as sentences."""
    if not runs:
        return []
    there = {table.path: table for table in searched_tables(db)}
    search_begins(db, runs, there)
    chosen = {(run.scope, run.run) for run in runs}
    runs = [run for run in pending_runs(db) if (run.scope, run.run) in chosen]
    waiting: dict[str, list[PendingRun]] = {}
    for run in runs:
        for name in run.tables:
            waiting.setdefault(name.removeprefix(SEARCHED), []).append(run)
    problems = []
    patterns: dict[tuple[PendingRun, ...], BytePatterns] = {}
    for place, (name, of) in enumerate(sorted(waiting.items())):
        if on_progress is not None:
            on_progress(place, len(waiting))
        if tuple(of) not in patterns:
            patterns[tuple(of)] = BytePatterns([identity.encode() for identity in erased_ids(db, of)])
        if problem := found_in_table(db, there[name], BytePatterns([]), patterns[tuple(of)]):
            problems.append(problem)
        else:
            tables_rewritten(db, of, [SEARCHED + name])
    return problems


def _listed(names: object) -> list[str]:
    value: Any = loads(names) if isinstance(names, str) else names
    return [str(name) for name in value]
