"""The rows of a statement: those of a reply, those that were read ahead, or none without a round trip."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from slowwave.stores.postgres.wire import Reply


class FetchedRows:
    """Rows that were fetched before they are asked for, with the methods of a cursor that `Rows` uses."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = iter(rows)

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None."""
        return next(self._rows, None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The remaining rows."""
        return list(self._rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The remaining rows, one by one."""
        return self._rows


class Rows:
    """The rows of a statement, as the shared code reads them."""

    def __init__(self, reply: "Reply | FetchedRows | None" = None) -> None:
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
