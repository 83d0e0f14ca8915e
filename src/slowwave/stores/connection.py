"""Interfaces that the shared store code uses: a connection for SQL, a guard around its use, and tokens."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from slowwave.errors import StoreError
from slowwave.stores.tokens import Tokens

if TYPE_CHECKING:
    from slowwave.model.query import Query, Where
    from slowwave.model.status import DecayClass
    from slowwave.stores.where_clause import Dialect

Values: TypeAlias = Sequence[Any] | Mapping[str, Any]


class ConstraintError(StoreError):  # the writer catches it and finds the conflicting row
    """A row violates a constraint. The transaction continues without it."""


class Composed(NamedTuple):
    """A composed statement and its values in order."""

    text: str
    values: Sequence[Any]


Asked: TypeAlias = "tuple[str, Values] | Composed"
"""A statement by its name in `queries.sql` with its values, or a composed one."""


class WriteHints(NamedTuple):
    """The last keys used in a scope, so that the next write need not query them.

    `seqs` are the last message numbers of recently written conversations.
    """

    token: int
    memory: int
    journal: int
    run: int
    seqs: dict[str, int]


class Cursor(Protocol):
    """The rows of a statement."""

    @property
    def get(self) -> Any:  # noqa: ANN401  # a scalar of any type
        """The first value of the first row, or None."""
        ...

    def fetchone(self) -> Any:  # noqa: ANN401  # a row of scalars, or None
        """The next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """All remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows."""
        ...


class Connection(Protocol):
    """A connection as the shared code uses it. Statements are run by their names in the backend's `queries.sql`.

    Attributes:
        clash: the error of a row that a unique index refuses: the driver's own, or ConstraintError.
        dialect: how the backend words composed statements.
    """

    clash: type[Exception]
    dialect: "Dialect"

    def run(self, name: str, values: Values = (), /) -> Cursor:
        """Run the statement of this name: values in order, or by the names of its parameters."""
        ...

    def run_many(self, name: str, rows: Iterable[Values], /) -> object:
        """Run the statement of this name for each row of values. Raises `clash` if a row is refused."""
        ...

    def update_memory(self, columns: tuple[str, ...], values: Sequence[Any], key: int, /) -> object:
        """Write these columns of a memory. Raises `clash` if its new values are refused; the transaction goes on."""
        ...

    def execute(self, text: str, values: Sequence[Any] = (), /) -> Cursor:
        """Run a composed statement in the words of the backend, its placeholders numbered from 1."""
        ...

    def executemany(self, text: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run a composed statement for each row of values."""
        ...


class Reading:
    """What one thread reads for a search or a context: announced in advance, so that few round trips carry it.

    This one reads nothing in advance: a store in the same process has no round trips to save.
    """

    def begin(self, selections: "Iterable[Where]" = (), conversation: str | None = None) -> bool:  # noqa: ARG002
        """Bring the indexes up to date, and read these selections of the first scope and the state of a conversation.

        Returns:
            Whether the indexes may have other speakers than before.
        """
        return False

    def want(self, ids: Iterable[str]) -> None:
        """Announce memories."""

    def rank(self, query: "Query") -> None:
        """Announce a search of the scopes, and the rows of its results."""

    def select(self, selections: "Iterable[Where]" = (), conversation: str | None = None) -> None:
        """Announce further selections."""


_NO_READING: Final = Reading()


class StoreBase:
    """The base of the shared reads and writes; each store implements the missing methods.

    Attributes:
        name: the store in messages, such as its file name.
        unreached: copies of data that an erase cannot reach, as sentences.
        _reached: failpoint hook, called with the name of each point that a write passes; tests fail there.
        _lanes: the decay classes by scope, and the committed state that they were read in.
    """

    name: str
    unreached: tuple[str, ...] = ()
    _reached: Callable[[str], None] | None

    def __init__(self, path: str, **_: Any) -> None:  # noqa: ANN401  # each store has other arguments
        self.name = path
        self._lanes: tuple[object, dict[str, list[DecayClass]]] = (None, {})

    def after_fork(self) -> None:
        """In a forked child: drop the caches of the parent, and replace connections and locks. See `forks`."""
        self._lanes = (None, {})

    @property
    def secret(self) -> bytes:
        """32 random bytes created with the store: the key of fence tags in contexts and of the HMAC in exports."""
        raise NotImplementedError

    @property
    def _guard(self) -> AbstractContextManager[None]:
        """A block around every use of the connection. It translates errors to `slowwave.errors`."""
        raise NotImplementedError

    @property
    def _db(self) -> Connection:
        """The connection. Use it inside the guard."""
        raise NotImplementedError

    @property
    def _tokens(self) -> Tokens:
        """The tokens. Use them inside the guard."""
        raise NotImplementedError

    def _state(self) -> object:
        """A value that changes whenever any connection commits; None if unknown."""
        raise NotImplementedError

    def _one_state(self) -> AbstractContextManager[None]:
        """A read transaction: all reads inside see one committed state."""
        raise NotImplementedError

    def _transaction(self, scope: str) -> AbstractContextManager[None]:
        """A write transaction on one scope, with one writer at a time."""
        raise NotImplementedError

    def _after_erase(self, run: tuple[int, int, int] | None) -> None:
        """Hook at the end of a transaction that may have deleted rows.

        Args:
            run: of an erase: the token of its scope, the key of its run and its time in microseconds. None: no erase.
        """

    def _refuse_newer(self) -> None:
        """Raise NewerSchemaError if another process has migrated the store to a schema that this program cannot use."""
        raise NotImplementedError

    def _stop_waiting(self) -> None:
        """From now on, fail at once instead of waiting for a lock."""

    def gauges(self) -> dict[str, float]:
        """What the store holds now, by name; see `Store.gauges` of the ports."""
        return {}

    def close(self) -> None:
        """Close the store. Idempotent."""
        raise NotImplementedError

    def _see_every_scope(self) -> None:
        """Allow the next reads inside the guard to see every scope, for maintenance of the whole store."""

    def reading(self, scopes: Sequence[str]) -> AbstractContextManager[Reading]:  # noqa: ARG002  # Postgres has its own
        """Read what a search or a context needs from one committed state, in few round trips."""
        return nullcontext(_NO_READING)

    def _read_ahead(self, *statements: tuple[str, Values]) -> None:
        """Announce statements that are about to be run. Postgres sends them with the next one.

        Call it inside `_one_state`, or at the beginning of a transaction for rows that it reads before it writes them.
        """

    def _commit_with_next(self) -> None:
        """Commit with the next statement that returns rows; Postgres sends both in one round trip."""

    def _all(self, name: str, values: Any) -> list[Any]:  # noqa: ANN401  # a tuple or a mapping of scalars
        """All rows of the statement of this name."""
        return self._db.run(name, values).fetchall()

    def _one(self, name: str, values: Any) -> Any:  # noqa: ANN401  # a row of scalars, or None
        """The first row of the statement of this name, or None."""
        return self._db.run(name, values).fetchone()

    def _together(self, statements: Sequence[Asked]) -> list[list[Any]]:
        """All rows of each of these statements; Postgres reads them from one committed state, in one round trip."""
        return [
            (self._db.execute(*statement).fetchall() if isinstance(statement, Composed) else self._all(*statement))
            for statement in statements
        ]

    def _tells_embedders_apart(self) -> bool:
        """Whether the rows of each embedder have an index of their own."""
        return bool(self._one("several_embedders", ())[0])

    def _readable(self, scopes: Sequence[str]) -> list[tuple[str, int]]:
        tokens = ((scope, self._tokens.scope(scope)) for scope in dict.fromkeys(scopes))
        return [(scope, token) for scope, token in tokens if token is not None]
