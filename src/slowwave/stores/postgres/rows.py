"""What a statement gave: the rows of a cursor, or none without asking a server."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import psycopg

Reply: TypeAlias = "psycopg.Cursor[tuple[Any, ...]]"


class Rows:
    """What a statement gave."""

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
        """All rows that are left."""
        return self._reply.fetchall() if self._reply else []

    def __iter__(self) -> Iterator[Any]:
        """The rows, one after the other."""
        return iter(self._reply or ())


NOTHING: Final = Rows()
"""What a statement gives that gives no rows."""
