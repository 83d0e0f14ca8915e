"""The connections of the Postgres store: a pool, a session for each thread that uses it, and the tokens."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg import conninfo
from psycopg.types.numeric import Int8Dumper

from slowwave import forks
from slowwave.errors import ClosedError, CorruptError, OlderSchemaError, SettingsError, SlowwaveError
from slowwave.stores.address import REFUSED, checked
from slowwave.stores.connection import Composed, StoreBase
from slowwave.stores.migrations import Migration, migrations
from slowwave.stores.postgres.byte_scan import PAGES, reads_pages
from slowwave.stores.postgres.errors import translated
from slowwave.stores.postgres.half import Half, HalfDumper
from slowwave.stores.postgres.migrate import ROLE, schema_of, usable
from slowwave.stores.postgres.opening import TransactionSettings
from slowwave.stores.postgres.pool import Pool, RawConnection, connected
from slowwave.stores.postgres.session import Session
from slowwave.stores.postgres.statements import STATEMENTS, Query
from slowwave.stores.rows import unreadable
from slowwave.stores.scope_locks import ScopeLocks
from slowwave.stores.tokens import SCOPES_CACHED, Tokens

if TYPE_CHECKING:
    from slowwave.stores.connection import Asked, Values, WriteHints

_ABOUT: Final = """
SELECT current_setting('synchronous_commit'), current_setting('server_encoding'),
    EXISTS (SELECT 1 FROM pg_roles WHERE rolname = %s AND pg_has_role(oid, 'MEMBER')),
    EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('slowwave') AND relkind = 'p'), pg_backend_pid()
"""


class PostgresBase(StoreBase):
    """An open database. The arguments are those of `PostgresStore`."""

    def __init__(
        self,
        url: str,
        *,
        busy_seconds: float = 30.0,
        connections: int = 16,
        connect_seconds: float = 30.0,
        statement_seconds: float | None = None,
        idle_transaction_seconds: float | None = 60.0,
        application_name: str = "slowwave",
        prepared_statements: bool | None = None,
        reached: Any = None,  # noqa: ANN401  # as in StoreBase
        steps: Sequence[Migration] | None = None,
        create: bool = True,
    ) -> None:
        super().__init__(shown(url))
        self._reached = reached
        self._patience = busy_seconds
        self._connect = partial(_connected_within, url, connect_seconds, application_name)
        wanted = list(steps or migrations("postgres"))
        self._knows = wanted[-1][0]
        try:
            with self._connect(busy_seconds) as db:
                schema_of(db, self.name, wanted, create=create)
                about: Any = db.execute(_ABOUT, (ROLE,)).fetchone()
                pooled = about[-1] != db.info.backend_pid  # a pooler gives its clients numbers of its own
                if not reads_pages(db):
                    self.unreached = (*self.unreached, PAGES)
        except psycopg.Error as error:
            raise translated(error, self.name) from error
        durability, encoding, member, self._partitioned, _ = about
        if encoding != "UTF8":
            raise SettingsError(f"the database {self.name} is encoded in {encoding}: create one with ENCODING 'UTF8'")
        self._opening = TransactionSettings(
            always={**({"role": ROLE} if member else {}), **_timeout("statement_timeout", statement_seconds)},
            durable={
                **({"synchronous_commit": "on"} if durability in {"off", "local"} else {}),
                **_timeout("idle_in_transaction_session_timeout", idle_transaction_seconds),
            },
            patience=busy_seconds,
            knows=self._knows,
        )
        self._prepares = not pooled if prepared_statements is None else prepared_statements
        self._secret: bytes | None = None
        self._url, self._most = url, connections
        self._begin()
        forks.watch(self)

    def _begin(self) -> None:
        """Create the state of one process: pool, sessions, tokens and write hints."""
        self._scopes: dict[str, int] = {}
        self._embedders: dict[str, int] = {}
        self._left: dict[int, WriteHints] = {}  # the hints of the last write of this process, by scope
        self._pool = Pool(self.name, most=self._most, configure=self._connected, connect=self._connect)
        self._writers = ScopeLocks()
        self._gate = PostgresGuard(self)

    def after_fork(self) -> None:
        """In a forked child: replace the pool. The parent's connections are not closed; see `RawConnection.after_fork`."""
        super().after_fork()
        closed = self._gate.closed
        self._begin()
        self._gate.closed = closed

    @property
    def secret(self) -> bytes:
        """32 random bytes that were generated with the store: the key of the marks around contexts."""
        if self._secret is None:
            with self._guard:
                self._secret = bytes(self._one("secret", ())[0])
        return self._secret

    def gauges(self) -> dict[str, float]:
        """What the pool holds now, besides the gauges of the indexes."""
        return {
            **super().gauges(),
            "connections.in_use": self._pool.in_use,
            "connections.waiting": self._pool.waiting,
            "connections.max": self._most,
        }

    def limit_connections(self, most: int) -> None:
        """Hold at most so many connections from now on; call it before the store is used."""
        self._most = most
        self._pool.limit(most)

    def _owner(self) -> RawConnection:
        """A connection of the login itself, with its own role, for the upkeep of the tables."""
        db = self._connect(self._patience)
        try:
            usable(db, self.name, self._knows)
        except BaseException:
            db.close()
            raise
        return db

    def _refuse_newer(self) -> None:
        self._owner().close()

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._gate.closed = True
        self._pool.close()

    def _stop_waiting(self) -> None:
        self._patience = self._opening.patience = 0.1  # a time-out of 0 would wait without limit

    @property
    def _guard(self) -> AbstractContextManager[None]:
        return self._gate.entered()

    @property
    def _db(self) -> Session:
        return self._gate.own.session

    @property
    def _tokens(self) -> "ScopeFilter":
        return self._gate.own.tokens

    def _see_every_scope(self) -> None:
        self._db.see_every_scope()

    def _state(self) -> object:
        return None  # no query that tells whether another session has committed is cheaper than the read itself

    @contextmanager
    def _one_state(self) -> Iterator[None]:
        self._db.hold()
        yield

    def _read_ahead(self, *statements: "tuple[str, Values]") -> None:
        for name, values in statements:
            self._db.read_ahead(name, values)

    def _tells_embedders_apart(self) -> bool:
        return True  # the index of `entries` by embedder exists in every schema

    def _commit_with_next(self) -> None:
        self._db.end_with_next()

    def _together(self, statements: "Sequence[Asked]") -> list[list[Any]]:
        queries = [
            Query(statement.text.encode(), statement.values)
            if isinstance(statement, Composed)
            else STATEMENTS[statement[0]].with_values(statement[1])
            for statement in statements
        ]
        return [rows.fetchall() for rows in self._db.together(queries)]

    def _connected(self, raw: RawConnection) -> None:
        """Configure a new connection. It may lead to a standby that took over and lacks the last writes: drop the hints."""
        _configured(raw)
        raw.prepares, raw.partitioned = self._prepares, self._partitioned
        self._left.clear()

    def _session(self) -> tuple[Session, "ScopeFilter"]:
        session = Session(self._pool, self._opening)
        return session, ScopeFilter(session, self._scopes, self._embedders)


class ScopeFilter(Tokens):
    """Tokens that make the rows of their scopes visible to the transaction when they are read.

    Tokens that a session reads or creates are known to it only, until `learned` shares them after the transaction.

    Args:
        db: the session.
        scopes: the tokens of scopes that all sessions share.
        embedders: the tokens of embedders that all sessions share.
    """

    db: Session

    def __init__(self, db: Session, scopes: dict[str, int], embedders: dict[str, int]) -> None:
        super().__init__(db, {}, {})
        self._scopes = scopes
        self._embedders = embedders

    def scope(self, path: str) -> int | None:
        """The token of a scope, or None if nothing was ever stored in it."""
        token = self._scopes.get(path)
        if token is None:
            if path not in self.scopes:
                self.db.see_path(path)
            token = Tokens.scope(self, path)
        if token is not None:
            self.db.see(token)
        return token

    def found_or_created(self, path: str) -> tuple[int, bool]:
        """The token of a scope, and whether it is new, in a transaction of its own and one round trip."""
        token = self._scopes.get(path) or self.scopes.get(path)
        if token is not None:
            return token, False
        self.db.write(None)
        self.db.see_path(path)
        self.db.end_with_next()
        found: Any = self.db.run("find_or_add_scope", (path,)).fetchone()
        token, is_new = found
        self.scopes[path] = token
        return token, is_new

    def new_scope(self, path: str) -> int:
        """The token of a scope, created inside a transaction if it has none."""
        token = Tokens.new_scope(self, path)
        self.db.see(token)
        return token

    def embedder(self, name: str | None) -> int | None:
        """The token of an embedder's fingerprint, 0 for none, or None if no vector of it was ever stored."""
        return self._embedders.get(name or "") or Tokens.embedder(self, name)

    def learned(self) -> None:
        """Share the tokens that this session read or committed with all sessions."""
        if self.scopes or self.embedders:
            if len(self._scopes) >= SCOPES_CACHED:
                self._scopes.clear()
            self._scopes.update(self.scopes)
            self._embedders.update(self.embedders)
            self.forget()


class ThreadState(threading.local):
    """The state of one thread: its session, its tokens, its reading, and the depth of its nested guards."""

    def __init__(self, store: PostgresBase) -> None:
        self.session, self.tokens = store._session()  # noqa: SLF001  # of the same module
        self.depth = 0
        self.reading: Any = None  # the `PostgresReading` of the thread, if it has one

    def leave(self) -> None:
        """At the end of the outermost guard: give the connection back, and share the tokens."""
        if self.depth == 1:
            self.session.leave()
            self.tokens.learned()

    def abandon(self) -> None:
        """The same after a KeyboardInterrupt, which may have come within an exchange with the server: end the connection."""
        if self.depth == 1:
            self.session.abandon()
            self.tokens.forget()


class PostgresGuard:
    """Gives each thread that enters a session, and translates the errors of psycopg.

    Attributes:
        own: the state of this thread.
        closed: whether the store was closed, so that no thread may enter.
    """

    def __init__(self, store: PostgresBase) -> None:
        self._store = store
        self.own = ThreadState(store)
        self.closed = False

    @contextmanager
    def entered(self) -> Iterator[None]:
        """The block in which this thread may use its session."""
        own = self.own
        outer = own.depth
        if self.closed and not outer:
            raise ClosedError(f"the store {self._store.name} was closed: open it again")
        own.depth = outer + 1
        try:
            try:
                yield
            except Exception:
                own.leave()
                raise
            own.leave()
        except Exception as error:
            meant = self.words(error) if isinstance(error, psycopg.Error) else unreadable(error, self._store.name)
            if isinstance(meant or error, CorruptError | OlderSchemaError):
                with suppress(psycopg.Error):
                    self._store._refuse_newer()  # noqa: SLF001  # what a newer version wrote is no damage
            if meant is not None:
                raise meant from error
            raise
        except BaseException:
            own.abandon()
            raise
        finally:
            own.depth = outer

    def words(self, error: psycopg.Error) -> SlowwaveError:
        """The error of Slowwave for an error of psycopg."""
        return translated(error, self._store.name, self._store._knows)  # noqa: SLF001  # of the same module


def _configured(raw: RawConnection) -> None:
    raw.cursor_factory = psycopg.RawCursor  # values are $1, $2 …: psycopg does not parse the statement
    raw.adapters.register_dumper(int, Int8Dumper)  # one type, and so one plan, for numbers of any size
    raw.adapters.register_dumper(Half, HalfDumper)


def _connected_within(url: str, longest: float, application_name: str, seconds: float) -> RawConnection:
    return connected(url, min(longest, seconds), application_name)


def _timeout(name: str, seconds: float | None) -> dict[str, str]:
    """The setting of a time-out of the server, which counts milliseconds."""
    return {} if seconds is None else {name: str(max(1, round(1000 * seconds)))}


def shown(url: str) -> str:
    """The address without its password, as messages name it."""
    try:
        known = conninfo.conninfo_to_dict(checked(url))
    except psycopg.ProgrammingError:
        raise SettingsError(REFUSED) from None  # its message may repeat a part of the password
    host, user = known.get("host") or "localhost", known.get("user")
    if not set(str(known.get("port") or "")) <= set("0123456789,"):
        raise SettingsError(REFUSED)
    port = f":{known['port']}" if known.get("port") else ""
    return f"postgresql://{f'{user}@' if user else ''}{host}{port}/{known.get('dbname') or user or ''}"
