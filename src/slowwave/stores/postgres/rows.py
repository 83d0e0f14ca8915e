"""The rows of a statement: those of a psycopg cursor, or none without a round trip."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import psycopg

Reply: TypeAlias = "psycopg.Cursor[tuple[Any, ...]]"


class Rows:
    """The rows of a statement, as the shared code reads them."""

    def __init__(self, reply: "Reply | None" = None) -> None:
        self._reply = reply

    @property
    def get(self) -> Any:  # noqa: ANN401  # a scalar of any type
        """The first value of the first row, or None."""
        row = self.fetchone()
        return None if row is None else row[0]

    def fetchone(self) -> Any:  # noqa: ANN401  # a row of scalars, or None
        """The next row, or None."""
        return self._reply and self._reply.fetchone()

    def fetchall(self) -> list[Any]:
        """The remaining rows."""
        return self._reply.fetchall() if self._reply else []

    def __iter__(self) -> Iterator[Any]:
        """The remaining rows, one by one."""
        return iter(self._reply or ())


NOTHING: Final = Rows()
"""The rows of a statement that returns none."""
