"""Memory in one SQLite file, or in RAM: the reads, and `apply`, the only write."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType

import apsw

from slowwave.errors import ClosedError, InputError, StoreError
from slowwave.model.codec import dumps, from_micros, to_micros
from slowwave.model.entry import Entry
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operation import Add, Operation
from slowwave.model.plan import BATCH_MAX, GROUP_MAX, Dropped, Group, Plan, Receipt
from slowwave.model.query import Where
from slowwave.model.state import Conversation, Linked
from slowwave.stores.migrate import Migration, migrate, migrations, queries
from slowwave.stores.rows import memory_of
from slowwave.stores.sqlite_apply import GroupWriter, Stale, Tokens
from slowwave.stores.sqlite_file import APPLICATION_ID, MEMORY, opened, translated
from slowwave.stores.sqlite_select import COLUMN_LIST, selected

_SQL = queries("sqlite")
_ONE = f"SELECT {COLUMN_LIST} FROM memories WHERE scope = ? AND id = ?"  # noqa: S608  # constants only
_MANY = f"SELECT {COLUMN_LIST} FROM memories WHERE scope = ? AND id IN (SELECT value FROM json_each(?))"  # noqa: S608


class SqliteStore:
    """A store in one file that many threads and processes may use at once.

    One connection, guarded by a lock; each read sees one committed state. A write is acknowledged once it is synced
    to the disk.

    Args:
        path: a file, made if it is not there, or ":memory:".
        busy_seconds: how long a write waits for other processes, seconds.
        reached: called with the name of each point that the store passes; for tests that make it fail there.
        vfs: the name of a registered SQLite VFS; for tests that record what is written.
        steps: the migrations; for tests of migrations.

    Raises:
        StoreError: one of its kinds, saying what to do next; a file that is not ours is never touched.
    """

    def __init__(
        self,
        path: str,
        *,
        busy_seconds: float = 30.0,
        reached: Callable[[str], None] | None = None,
        vfs: str | None = None,
        steps: Sequence[Migration] | None = None,
    ) -> None:
        self.name = path
        self._reached = reached
        wanted = list(steps or migrations("sqlite"))
        try:
            self._db = opened(path, busy_seconds=busy_seconds, vfs=vfs, steps=wanted)
            self._guard = _Guard(self._db, path)
            with self._guard:
                migrate(self._db, path, APPLICATION_ID, wanted, reached)
                self._db.create_scalar_function("folded", _folded, 1, deterministic=True)
        except apsw.Error as error:
            raise translated(error, path) from error
        self._tokens = Tokens(self._db, {}, {})

    # ---- writing

    def apply(self, plan: Plan) -> Receipt:
        """Each group in one transaction: rows, indexes and journal. Groups that no longer hold are dropped.

        A plan of which nothing was applied leaves no run.

        Raises:
            InputError: a group is too large, or names another scope; nothing was applied.
            ConflictError: a message id is known with other content; its group was not applied.
        """
        for group in plan.groups:
            _check_group(group, plan.scope)
        applied: list[Operation] = []
        dropped: list[Dropped] = []
        run = _RunRow(plan)
        with self._guard:
            for group in plan.groups:
                try:
                    applied += self._apply_group(group, plan.scope, run)
                except Stale as stale:
                    dropped.append(Dropped(group=group, reason=str(stale)))
        return Receipt(
            run_id=plan.id, cause=plan.cause, scope=plan.scope, applied=tuple(applied), dropped=tuple(dropped)
        )

    def _apply_group(self, group: Group, scope: str, run: "_RunRow") -> list[Operation]:
        db, reached = self._db, self._reached
        if reached:
            reached("apply.before_begin")
        db.execute("BEGIN IMMEDIATE")
        try:
            if reached:
                reached("apply.begun")
            writer = GroupWriter(db, self._tokens, scope, reached)
            for operation in group.operations:
                writer.perform(operation)
            if writer.performed or not group.operations:
                key = run.key or writer.next_run
                last = writer.finish(key, len(run.because))
                run.write(db, writer.token, key, (writer.first_journal, last), group.because)
            if reached:
                reached("apply.before_commit")
            db.execute("COMMIT")
        except BaseException:
            self._tokens.forget()
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        if writer.performed or not group.operations:
            run.committed(key, group.because)
        if reached:
            reached("apply.committed")
        return writer.performed

    # ---- reading

    def get(self, scopes: Sequence[str], ids: Iterable[str]) -> list[Memory]:
        """The memories of these ids, in their order; unknown ones are left out."""
        wanted = list(ids)
        found: dict[str, Memory] = {}
        with self._guard:
            for scope, token in self._readable(scopes):
                if len(wanted) == 1:
                    rows = self._db.execute(_ONE, (token, wanted[0])).fetchall()
                else:
                    rows = self._db.execute(_MANY, (token, dumps(wanted))).fetchall()
                for row in rows:
                    found.setdefault(row[0], memory_of(scope, row))
        return [found[identity] for identity in wanted if identity in found]

    def select(self, scopes: Sequence[str], where: Where) -> list[Memory]:
        """The memories that match."""
        statement, values = selected(where)
        memories: list[Memory] = []
        with self._guard:
            for scope, token in self._readable(scopes):
                rows = self._db.execute(statement, {**values, "scope": token}).fetchall()
                memories += [memory_of(scope, row) for row in rows]
        return memories if where.limit is None else memories[: where.limit]

    def count(self, scope: str) -> dict[tuple[str, str], int]:
        """How many memories there are, by kind and phase. A cascade summary counts as kind "cascade"."""
        counts: dict[tuple[str, str], int] = {}
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return counts
            for kind, phase, cascade, number in self._db.execute(_SQL["count_facts"], (token,)):
                counts["cascade" if cascade else kind, phase] = number
            active: int = self._db.execute(_SQL["count_messages"], (token,)).get
            for phase, number in self._db.execute(_SQL["count_messages_off"], (token,)):
                counts[MESSAGE, phase] = number
                active -= number
            if active:
                counts[MESSAGE, "active"] = active
        return counts

    def due(self, scope: str, now: datetime) -> int:
        """How many facts have their `due_at` at or before now. One index read when none has."""
        with self._guard:
            token = self._tokens.scope(scope)
            return 0 if token is None else self._db.execute(_SQL["due"], (token, to_micros(now))).get

    def conversations(self, scope: str) -> list[Conversation]:
        """Every conversation, the one written to last first."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return []
            cursors: dict[str, dict[str, int]] = {}
            for name, cursor, seq in self._db.execute(_SQL["cursors"], (token,)):
                cursors.setdefault(name, {})[cursor] = seq
            rows = self._db.execute(_SQL["conversations"], (token,)).fetchall()
        return [
            Conversation(name=name, last_seq=seq, last_at=from_micros(at), cursors=cursors.get(name, {}))
            for name, seq, at in rows
        ]

    def conversation(self, scope: str, name: str) -> Conversation | None:
        """One conversation, or None."""
        with self._guard:
            token = self._tokens.scope(scope)
            row = None if token is None else self._db.execute(_SQL["conversation"], (token, name)).fetchone()
            if row is None:
                return None
            cursors = dict(self._db.execute(_SQL["cursors_of"], (token, name)).fetchall())
        return Conversation(name=name, last_seq=row[0], last_at=from_micros(row[1]), cursors=cursors)

    def links(self, scope: str, ids: Collection[str], kinds: Collection[str] | None = None) -> list[Linked]:
        """The joins that touch any of these memories, with a weight above 0."""
        found: dict[tuple[str, str, str], Linked] = {}
        with self._guard:
            token = self._tokens.scope(scope)
            for identity in ids if token is not None else ():
                for source, target, kind, weight, at in self._db.execute(
                    _SQL["links_of"], {"scope": token, "id": identity}
                ):
                    if weight > 0 and (kinds is None or kind in kinds):
                        found[source, target, kind] = Linked(
                            source=source, target=target, kind=kind, weight=weight, at=from_micros(at)
                        )
        return list(found.values())

    def held(self, scope: str, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys that a person's undo holds."""
        with self._guard:
            token = self._tokens.scope(scope)
            return frozenset(
                key for key in keys if token is not None and self._db.execute(_SQL["is_held"], (token, key)).get
            )

    def close(self) -> None:
        """Let go of the file. Idempotent."""
        self._guard.close()

    def _readable(self, scopes: Sequence[str]) -> list[tuple[str, int]]:
        tokens = ((scope, self._tokens.scope(scope)) for scope in dict.fromkeys(scopes))
        return [(scope, token) for scope, token in tokens if token is not None]


class _RunRow:
    """The row of a run: inserted with its first applied group, extended by the next ones."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.key = 0
        self.because: list[str] = []

    def write(self, db: apsw.Connection, token: int, key: int, journal: tuple[int, int], because: str) -> None:
        """Inside the group's transaction."""
        sentences = dumps([*self.because, because])
        if self.key:
            db.execute(_SQL["extend_run"], (sentences, journal[1], key))
            return
        plan, cost = self.plan, self.plan.cost
        amounts = dumps([cost.calls, cost.tokens_in, cost.tokens_out, cost.money, cost.seconds])
        values = (key, token, plan.id, plan.cause, to_micros(plan.at), plan.parent, amounts, sentences, *journal)
        try:
            db.execute(_SQL["add_run"], values)
        except apsw.ConstraintError as error:
            raise Stale(f"the plan {plan.id} was applied before") from error

    def committed(self, key: int, because: str) -> None:
        """After the group's transaction."""
        self.key = key
        self.because.append(because)


class _Guard:
    """One thread at a time; SQLite's errors in Slowwave's words."""

    def __init__(self, db: apsw.Connection, path: str) -> None:
        self._db: apsw.Connection | None = db
        self._path = path
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._db is None:
            self._lock.release()
            raise ClosedError(f"the store {self._path} was closed: open it again")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
        if isinstance(error, apsw.Error):
            raise translated(error, self._path) from error

    def close(self) -> None:
        """Close the connection, once."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None


def _check_group(group: Group, scope: str) -> None:
    messages = True
    for operation in group.operations:
        if isinstance(operation, Add):
            memory = operation.memory
            if memory.scope != scope:
                raise InputError(f"{memory.id} belongs to the scope {memory.scope!r}, the plan to {scope!r}")
            if (memory.kind == MESSAGE) != bool(memory.conversation and memory.role):
                raise InputError(f"{memory.id} is a {memory.kind}: messages, and only they, have conversation and role")
            messages = messages and memory.kind == MESSAGE
        else:
            messages = False
    most = BATCH_MAX if messages else GROUP_MAX
    if len(group) > most:
        raise InputError(f"{len(group):,} operations in one group, more than {most:,}: cut them into several groups")


def _folded(text: str) -> str:
    return text.casefold()
