"""What every store that keeps rows shares: a connection that speaks SQL, a guard around its use, and tokens."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from slowwave.errors import StoreError
from slowwave.stores.tokens import Tokens

if TYPE_CHECKING:
    from slowwave.model.status import DecayClass

Values: TypeAlias = Sequence[Any] | Mapping[str, Any]


class ConstraintError(StoreError):  # whoever wrote looks for what it clashes with
    """A row that the schema does not accept beside what is stored. The transaction goes on without it."""


class WriteHints(NamedTuple):
    """The last keys and numbers that were given out in a scope, so that the next write need not ask.

    `seqs` are the last numbers in a few conversations.
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
        """All rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """The rows, one after the other."""
        ...


class Connection(Protocol):
    """A connection as the shared code uses it. Statements are in the words of `statements.SQL`.

    Attributes:
        clash: what it raises for a row that is not accepted: the driver's own error, or Clash.
    """

    clash: type[Exception]

    def execute(self, statement: str, values: Values = (), /) -> Cursor:
        """Run one statement; `?` and `:name` stand for values."""
        ...

    def executemany(self, statement: str, rows: Iterable[Values], /) -> object:
        """Run one statement for every row of values. Raises `clash` if one is not accepted."""
        ...


class StoreBase:
    """What the shared reads and writes are built on; each store fills it in.

    Attributes:
        name: where it is, as messages name it.
        unreached: what an erase does not reach here, in words.
        _reached: called with the name of each point that a write passes; for tests that make it fail there.
        _guard: around every use of the connection: one committed state, errors in Slowwave's words.
        _lanes: the lanes by scope, and the committed state that they were read in.
    """

    name: str
    unreached: tuple[str, ...] = ()
    _guard: AbstractContextManager[None]
    _reached: Callable[[str], None] | None

    def __init__(self, path: str, **_: Any) -> None:  # noqa: ANN401  # each store has arguments of its own
        self.name = path
        self._lanes: tuple[object, dict[str, list[DecayClass]]] = (None, {})

    def after_fork(self) -> None:
        """In a forked child: forget what was read by the parent, and replace connections and locks. See `forks`."""
        self._lanes = (None, {})

    @property
    def secret(self) -> bytes:
        """32 random bytes made with the store: the key of the marks around contexts."""
        raise NotImplementedError

    @property
    def _db(self) -> Connection:
        """The connection, inside the guard."""
        raise NotImplementedError

    @property
    def _tokens(self) -> Tokens:
        """The tokens, inside the guard."""
        raise NotImplementedError

    def _state(self) -> object:
        """A value that is the same as long as nothing was committed by anybody; None if that is not known."""
        raise NotImplementedError

    def _one_state(self) -> AbstractContextManager[None]:
        """Around reads that must see one and the same committed state."""
        raise NotImplementedError

    def _transaction(self, scope: str) -> AbstractContextManager[None]:
        """Around writes to one scope: all of them or none, and one writer at a time."""
        raise NotImplementedError

    def _destroying(self) -> None:
        """At the end of a transaction that has destroyed something."""

    def _wait_for_nobody(self) -> None:
        """From now on, who holds a lock is not waited for."""

    def close(self) -> None:
        """Let go of the store. Idempotent."""
        raise NotImplementedError

    def _see_all(self) -> None:
        """The next reads inside the guard may see every scope: for upkeep of the whole store."""

    def _all(self, statement: str, values: Any) -> list[Any]:  # noqa: ANN401  # a tuple or a mapping of scalars
        return self._db.execute(statement, values).fetchall()

    def _one(self, statement: str, values: Any) -> Any:  # noqa: ANN401  # a row of scalars, or None
        return self._db.execute(statement, values).fetchone()

    def _readable(self, scopes: Sequence[str]) -> list[tuple[str, int]]:
        tokens = ((scope, self._tokens.scope(scope)) for scope in dict.fromkeys(scopes))
        return [(scope, token) for scope, token in tokens if token is not None]
