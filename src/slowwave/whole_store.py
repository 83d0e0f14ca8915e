"""Slowwave: an open store with all its scopes, for an application with many users."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Never, Self
from uuid import UUID

from slowwave.agent_memory import AgentMemory
from slowwave.errors import NotFoundError
from slowwave.model.access import AccessKey, NewKey
from slowwave.model.arguments import checked_class
from slowwave.model.config import Config
from slowwave.model.fleet import Fleet
from slowwave.model.memory import Memory, Trust
from slowwave.model.names import checked_id, optional_count
from slowwave.model.pass_record import PassRecord
from slowwave.model.proof import PendingProof, StoreProof
from slowwave.model.scope import Scope, ScopeName, is_path, path_of, scope_of
from slowwave.model.suggestions import suggests_names
from slowwave.model.zone import local
from slowwave.ports import LLM, Clock, Embedder, Mind, Progress
from slowwave.session import (
    FROM_SETTINGS,
    FromSettings,
    MemorySession,
    open_store,
    ports_of,
    refuse_unknown_arguments,
)

if TYPE_CHECKING:
    from slowwave.aio import AsyncSlowwave
    from slowwave.pipelines.admin.erase import ErasureReceipt
    from slowwave.pipelines.sleep.report import SleepReport

PAGE: Final = 1000
"""Scopes that `scopes` reads in one query."""
NAMED: Final = 10
"""Scopes that a receipt names."""


@suggests_names
@checked_class
class Slowwave:
    """An open store with all its scopes. `within` gives the memory of a scope at almost no cost.

    Open a store once for the whole application: all its memories share one embedder, one connection (of Postgres, one
    pool), one model and one cache of search indexes. Threads may share one object, and a forked child may use it. Every
    method raises ClosedError after `close()`, and StoreError if the file or the server fails.

    >>> with Slowwave.open(":memory:", embedder="none") as store:
    ...     _ = store.within("acme", "Alice O'Neil").add("Alice owns the deploy pipeline")
    ...     [(scope.names, scope.facts) for scope in store.scopes()]
    [(('acme', "Alice O'Neil"), 1)]

    The arguments and errors are those of `open`.
    """

    def __init__(
        self,
        store: str | Path | None = None,
        *,
        llm: str | LLM | Mind | None | FromSettings = FROM_SETTINGS,
        embedder: str | Embedder | None | FromSettings = FROM_SETTINGS,
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        create: bool = True,
        **unknown: Never,
    ) -> None:
        from slowwave.pipelines.sleep.background import seconds

        refuse_unknown_arguments(unknown, type(self).open)
        pause = seconds(sleep_every) if sleep_every is not None else None
        self._session = open_store(
            store,
            llm=llm,
            embedder=embedder,
            config=config,
            zone=zone,
            clock=clock,
            strict=strict,
            create=create,
        )
        self._async: AsyncSlowwave | None = None
        if pause is not None:
            self._session.start_sleeper(pause)

    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        llm: str | LLM | Mind | None | FromSettings = FROM_SETTINGS,
        embedder: str | Embedder | None | FromSettings = FROM_SETTINGS,
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        create: bool = True,
        **unknown: Never,
    ) -> Self:
        """Open a store. One that does not exist is created, unless `create` is False.

        Args:
            store: a file, ":memory:", or "postgresql://…"; None: SLOWWAVE_STORE, else a file in the user's data folder.
            llm: the model of all scopes, as in `AgentMemory.open`. By default SLOWWAVE_LLM, else the offline rules.
            embedder: the embedder of all scopes, as in `AgentMemory.open`. By default SLOWWAVE_EMBEDDER, else "static".
            config: the numbers of all policies; None: those of the settings file, else the defaults.
            zone: the time zone of times without one and of messages without a time, such as "Europe/Berlin" or "+09:00". A
                message counts "today" and "tomorrow" in the offset of its own time. None: that of `config`, else UTC.
            clock: a function that returns the present time, with a time zone; None: the system's clock.
            strict: raise PortError if a model or embedder fails, instead of reporting it in the result.
            sleep_every: run `sleep_due` this often on a separate thread: a timedelta, seconds, or text such as "8h".
                `health()` of any memory reports its failures. None: only `sleep`, `sleep_due` and
                `Config.sleep_every_ingests` run sleep passes.
            create: False: raise NotFoundError if there is no store.
            unknown: no other argument is accepted; the error says where fields of Config belong.

        Raises:
            NotFoundError: there is no store, and `create` is False.
            InputError: the store, zone or `sleep_every` is invalid, or an argument is unknown.
            SettingsError: the kind of store, model or embedder is unknown, or an extra is not installed.
            StoreError: the store cannot be opened; each subclass says what to do.
        """
        return cls(
            store,
            llm=llm,
            embedder=embedder,
            config=config,
            zone=zone,
            clock=clock,
            strict=strict,
            sleep_every=sleep_every,
            create=create,
            **unknown,
        )

    @classmethod
    def in_memory(
        cls,
        *,
        llm: str | LLM | Mind | None = None,
        embedder: str | Embedder | None = "static",
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        **unknown: Never,
    ) -> Self:
        """Open a store in RAM, such as for tests. Its content is lost when it is closed.

        The arguments and errors are those of `open`. SLOWWAVE_LLM and SLOWWAVE_EMBEDDER are not read: by default no model
        is asked, and the embedder is "static".
        """
        refuse_unknown_arguments(unknown, cls.in_memory)
        return cls(
            ":memory:",
            llm=llm,
            embedder=embedder,
            config=config,
            zone=zone,
            clock=clock,
            strict=strict,
            sleep_every=sleep_every,
        )

    def within(self, *names: str | int | UUID | Scope, inherit: bool = False, zone: str | None = None) -> AgentMemory:
        """Return the memory of a scope: `within("acme", "alice")` has the scope "acme/alice". Nothing is read or loaded.

        Each name is one part of the path, whatever it contains, so that no user's name can reach the scope of another.
        A name that is a valid part stays as it is. In other names a slash, a space, a control character, and a % before
        two hexadecimal digits become "%2F" and the like; `scopes` returns the names as they were. So
        `within("acme/alice")` is one name, with the scope "acme%2Falice". Different names give different scopes. An int
        or a UUID is the name of its text.

        Closing a memory leaves the store open. It may also be dropped without closing it: it holds nothing open.

        Args:
            names: one or more texts, ints or UUIDs; or one Scope of `scopes`, which names its own path.
            inherit: also read the memories of the parent scopes ("acme" for "acme/alice"). They are never written.
            zone: the time zone of times without one and of messages without a time, as in `open`. None: that of the store.

        Raises:
            InputError: there is no name, one is invalid, the path is longer than 2,048 bytes of UTF-8, or the zone is unknown.
        """
        if len(names) == 1 and isinstance(names[0], Scope):
            return self._at(path_of(names[0]), inherit=inherit, zone=zone)
        return self._at(scope_of(names), inherit=inherit, zone=zone)

    def scopes(
        self, prefix: ScopeName = "", *, after: ScopeName | None = None, limit: int | None = None
    ) -> list[Scope]:
        """Return scopes with the counts of their content, in order of path, page by page.

            page = store.scopes(limit=100)
            next_page = store.scopes(after=page[-1].path, limit=100)

        A page costs what its scopes cost: paths are read from an index, and only the content of the returned scopes is
        counted.

        Args:
            prefix: only this scope and those below it: "acme" selects "acme" and "acme/alice", not "acme2". A path, a
                Scope, or names in a tuple as `within` takes them.
            after: only paths greater than that of this scope; None: from the first.
            limit: how many at most; None: all.

        Raises:
            InputError: an argument is invalid.
        """
        limit, below = optional_count(limit, "limit"), path_of(prefix) if prefix else ""
        found: list[Scope] = []
        last = "" if after is None else path_of(after)
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(found))
            page = self._session.ports.store.scopes(below, last, size)
            found += page
            if len(page) < size:
                break
            last = page[-1].path
        zone = self._session.ports.zone
        return [replace(one, last_written=one.last_written and local(one.last_written, zone)) for one in found]

    def find(self, memory_id: str, prefix: ScopeName = "") -> Memory:
        """Return the memory with an id from any scope at or below a prefix, the first in order of path.

        It takes one index step for each of these scopes: 16 ms for 10,000 scopes in SQLite. `memory.scope` is the path.

        Args:
            memory_id: the id.
            prefix: a path, such as "acme", a Scope, or names in a tuple; empty: the whole store.

        Raises:
            NotFoundError: none of these scopes has a memory of that id.
            InputError: an argument is invalid.
        """
        store, below = self._session.ports.store, path_of(prefix) if prefix else ""
        scope = store.scope_of(checked_id(memory_id), below)
        memories = [] if scope is None else store.get((scope,), [memory_id])
        if not memories:
            place = f"at or below {below!r}" if below else "of the store"
            raise NotFoundError(f"no memory {memory_id!r} in any scope {place}: check the id")
        return memories[0]

    def delete_scope(self, *names: str | int | UUID | Scope, rewrite: bool | None = None) -> "ErasureReceipt":
        """Destroy everything in a scope and its name, and verify it: `erase(scope=True, rewrite=rewrite)` of its memory.

            store.delete_scope("users", "ann@example.com")

        It cannot be undone. The journal records that an erase took place, under a hash of the path with the secret of the
        store, so that imports bring nothing back. Keys of the server for exactly this scope are revoked, and lose the path
        and their label. Scopes below it are not touched, and the receipt names them in `not_reached`.

        Args:
            names: the names, as `within` takes them; or one text that is a path, such as "users/ann"; or one Scope.
            rewrite: as in `AgentMemory.erase`.

        Raises:
            InputError: it is no scope.
            NotFoundError: the scope contains nothing.
        """
        is_one = len(names) == 1 and (isinstance(names[0], Scope) or is_path(names[0]))
        path = path_of(names[0]) if is_one else scope_of(names)
        receipt = self._at(path).erase(scope=True, rewrite=rewrite)
        below = [scope.path for scope in self.scopes(path) if scope.path != path and (scope.messages or scope.facts)]
        more = f" and {len(below) - NAMED} more" if len(below) > NAMED else ""
        named = (f"the scopes below it: {', '.join(below[:NAMED])}{more}",) if below else ()
        return replace(receipt, not_reached=(*receipt.not_reached, *named))

    # ---- keys of the server

    def add_key(
        self,
        label: str,
        *,
        prefix: ScopeName = "",
        rights: Collection[str] = ("read", "write"),
        trust: Trust = "user",
        expires_at: datetime | None = None,
        made_by: str | None = None,
    ) -> NewKey:
        """Make a key for the server (`slowwave serve`). Its secret is in the result only: the store has its hash.

        Once a store has a key, its server answers no request without one, also after all keys were revoked.

        Args:
            label: what a person calls it, up to 100 characters.
            prefix: the scopes that it opens: this one and those below it, as a path, a Scope, or names in a tuple; ""
                opens all scopes.
            rights: some of "read", "write", "review", "erase" and "admin", which includes the others.
            trust: the ceiling of what is written with it, as in `AgentMemory.trusting`.
            expires_at: until when it opens anything, with a time zone; None: until it is revoked.
            made_by: the id of the key with which it is made, which it does not outlive, and with which
                `revoke_key(..., cascade=True)` revokes it; None: it is made at the store itself.

        Raises:
            InputError: an argument is invalid.
            NotFoundError: there is no valid key of the id `made_by`.
        """
        from slowwave.pipelines.admin.access import add_key

        below = path_of(prefix) if prefix else ""
        return add_key(self._session.ports, label, below, rights, trust, expires_at, made_by)

    def list_keys(self) -> list[AccessKey]:
        """Return all keys of the server without their secrets, revoked and expired ones included, the oldest first."""
        return self._session.ports.store.access_keys()

    def has_keys(self) -> bool:
        """Return whether a key of the server was ever made, also if it was revoked since."""
        return self._session.ports.store.has_access_keys()

    def verify_key(self, secret: str) -> AccessKey | None:
        """Return the key of a secret; None if there is none, or if it was revoked or has expired."""
        from slowwave.pipelines.admin.access import verify_key

        return verify_key(self._session.ports, secret)

    def revoke_key(self, key_id: str, *, cascade: bool = False) -> AccessKey:
        """Revoke a key of the server: from now on it opens nothing. Repeating it changes nothing.

        Args:
            key_id: the id of the key.
            cascade: also revoke the keys that were made with it, and with these.

        Raises:
            NotFoundError: there is no key of that id.
        """
        from slowwave.pipelines.admin.access import revoke_key

        return revoke_key(self._session.ports, key_id, cascade=cascade)

    def sleep_due(
        self,
        *,
        think: bool = True,
        limit: int | None = None,
        on_progress: Callable[[str, "SleepReport"], None] | None = None,
    ) -> dict[str, "SleepReport"]:
        """Run a sleep pass for each scope that is due, at most `limit` (None: all). Returns reports by scope. See `AgentMemory.sleep_due`."""
        return self._memory().sleep_due(think=think, limit=limit, on_progress=on_progress)

    def fleet(self) -> Fleet:
        """Return the state of the whole store: schema, backlog, workers, dead letters, pending proofs, and this process."""
        from slowwave.pipelines.admin.fleet import fleet

        return fleet(self._session.ports)

    def ready(self) -> list[str]:
        """Return why requests cannot be served, as sentences; an empty list if they can. It reads one row.

        Raises:
            StoreError: the store cannot be reached.
        """
        from slowwave.pipelines.admin.fleet import ready

        return ready(self._session.ports)

    def doctor(
        self, *, deep: bool = False, repair: bool = False, scopes: Sequence[ScopeName] | int | None = None
    ) -> list[str]:
        """Check the store. Returns the problems as sentences. See `AgentMemory.doctor`.

        Args:
            deep: also check every row against its checksum, and replay the journal.
            repair: first recompute checksums where the journal proves the content.
            scopes: scopes as paths or names in tuples, or the size of a random sample of scopes: only their rows are
                read. None: all.
        """
        return self._memory().doctor(deep=deep, repair=repair, scopes=scopes)

    def prove_erased(self, *, rewrite: bool | None = None, on_progress: Progress | None = None) -> StoreProof:
        """Prove the erases of which only the scope was searched so far, with one pass over the whole store.

        On a server it rewrites the tables from which was erased, one after the other: each cannot be used meanwhile. Run
        it as the owner of the tables, for instance every night. An interrupted pass continues behind its last table. In a
        file there is nothing to do.

        Args:
            rewrite: True: tables of any size. False: none. None: tables of up to 64 MB each.
            on_progress: called with how many tables were searched, and how many there are to search.
        """
        return self._session.ports.store.prove_pending(rewrite=rewrite, on_progress=on_progress)

    def pending_proofs(self) -> list[PendingProof]:
        """Return the erases that `prove_erased` has yet to prove, the oldest first."""
        return self._session.ports.store.pending_proofs()

    def failing(self) -> dict[str, PassRecord]:
        """Return the scopes whose last sleep passes failed, those with the most failures in a row first; at most 10,000.

        A scope with `PassRecord.dead` failed at least three times with an error. It is tried again at `PassRecord.next_try`, or at
        once after `retry`.
        """
        from slowwave.pipelines.sleep.all_scopes import failing_scopes

        return failing_scopes(self._session.ports)

    def retry(self, scope: ScopeName | None = None) -> list[str]:
        """Make failing scopes due for a sleep pass at once, for instance after a model works again.

        Args:
            scope: a scope whose passes failed, as a path, a Scope, or names in a tuple; None: all of them, at most 10,000.

        Returns:
            The scopes that had failed.

        Raises:
            NotFoundError: the store has no scope of this name.
        """
        from slowwave.pipelines.sleep.all_scopes import retry

        return retry(self._session.ports, None if scope is None else path_of(scope))

    def backup(self, path: str | Path) -> None:
        """Write a verified copy of the whole store to a new file. See `AgentMemory.backup`.

        Raises:
            InputError: the file exists, or the store is in Postgres: use `pg_dump` or `slowwave copy`.
            StoreError: the copy cannot be written, or fails the check; no file remains.
        """
        self._memory().backup(path)

    def close(self) -> None:
        """Close the store, all its memories and the background threads. Idempotent.

        A sleep pass and a summary under way in the background each get up to 5 seconds to end.
        """
        self._session.close()

    def __enter__(self) -> Self:
        """Return the store itself.

        Raises:
            ClosedError: the store was closed.
        """
        _ = self._session.ports
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        """Close the store; errors pass through."""
        self.close()
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session.name!r})"

    @property
    def aio(self) -> "AsyncSlowwave":
        """This store for async code: the same methods, to be awaited. It is always the same object."""
        from slowwave.aio import AsyncSlowwave

        if self._async is None:
            self._async = AsyncSlowwave(self)
        return self._async

    @property
    def closed(self) -> bool:
        """Whether the store was closed."""
        return self._session.closed

    def _at(self, path: str, *, inherit: bool = False, zone: str | None = None) -> AgentMemory:
        ports = ports_of(self._session.ports, path, inherit=inherit, zone=zone)
        return AgentMemory.of_session(MemorySession(self._session, ports))

    def _memory(self) -> AgentMemory:
        """The memory of the scope that the settings name, for methods of the whole store."""
        return AgentMemory.of_session(MemorySession(self._session, self._session.ports))
