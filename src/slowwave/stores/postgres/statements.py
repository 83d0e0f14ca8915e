"""The statements of the Postgres store: those of its query files by name, and a statement as it is sent."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from slowwave.stores.connection import Values
from slowwave.stores.sql import named_statements
from slowwave.stores.where_clause import Dialect

DIALECT: Final = Dialect(
    mark="$",
    nulls_first=" NULLS FIRST",
    contains='strpos({} COLLATE "C", {} COLLATE "C") > 0',
    key_in_scope="scope = {scope} AND key BETWEEN {low} AND {high}",
    key_parameters=("scope", "low", "high"),
)


class Query(NamedTuple):
    """A statement with its values, ready to be sent.

    Attributes:
        text: with $1, $2 … for values.
        values: in this order.
        strict: whether it must insert exactly one row, which it leaves out if it clashes with a stored one.
        deferred: whether the writer goes on before that is known.
    """

    text: bytes
    values: Sequence[Any] = ()
    strict: bool = False
    deferred: bool = False


class Statement(NamedTuple):
    """A statement of a query file. `sql/queries.sql` explains the properties."""

    text: bytes
    parameters: tuple[str, ...]
    deferred: bool
    strict: bool
    skipped_with_hints: bool

    @property
    def returns_rows(self) -> bool:
        """Whether its rows are waited for."""
        return not (self.deferred or self.strict)

    def with_values(self, values: Values) -> Query:
        """The statement with these values: in order, or by the names of its parameters."""
        in_order = [values[name] for name in self.parameters] if isinstance(values, Mapping) else values
        return Query(self.text, in_order, self.strict, self.deferred)


STATEMENTS: Final = {
    name: Statement(
        text=statement.text.encode(),
        parameters=statement.parameters,
        deferred="deferred" in statement.properties,
        strict="strict" in statement.properties,
        skipped_with_hints="skipped_with_hints" in statement.properties,
    )
    for file in ("queries", "search", "reading")
    for name, statement in named_statements("postgres", file).items()
}


@lru_cache(maxsize=256)
def update_of_memory(columns: tuple[str, ...]) -> bytes:
    """The statement that writes these columns of the memory whose key is the last value."""
    changes = ", ".join(f"{name} = ${place}" for place, name in enumerate(columns, 1))
    key = f"${len(columns) + 1}"
    return f"UPDATE memories SET {changes} WHERE scope = {key} >> 40 AND key = {key}".encode()  # noqa: S608  # constants only
