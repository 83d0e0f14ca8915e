"""A transaction whose statements go to the server while the next are made, over libpq itself.

The server works on them meanwhile, and cursors would take as long as it does.
"""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import psycopg
from psycopg import errors
from psycopg.adapt import PyFormat
from psycopg.generators import fetch_many, send
from psycopg.pq import ConnStatus, ExecStatus

if TYPE_CHECKING:
    from psycopg.abc import PQGen

    from slowwave.stores.postgres.pool import RawConnection

Statement: TypeAlias = tuple[bytes, Sequence[Any]]

_PREPARED: Final = 64
"""Statements that a server keeps prepared for a connection, at most."""

_numbers = count()


class Stream:
    """Statements whose rows nobody wants, sent as they come. After one that fails the server does none, until the end.

    Until then the connection is of no other use. Statements that come again are prepared.
    """

    def __init__(self, raw: "RawConnection") -> None:
        self._raw = raw
        self._prepared: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        raw.pgconn.enter_pipeline_mode()

    def put(self, text: bytes, rows: Iterable[Sequence[Any]]) -> None:
        """A statement for each row of values; it is on its way after `flush`, or at the end.

        Raises:
            psycopg.DataError: for a value that no server takes.
            psycopg.OperationalError: the connection is lost.
        """
        link, known = self._raw.pgconn, self._raw.prepared
        dumping = self._raw.dumping
        for values in rows:
            dumped = dumping.dump_sequence(values, [PyFormat.AUTO] * len(values))
            types, formats = dumping.types or (), dumping.formats or ()
            name = known.get((text, types)) or self._prepared.get((text, types))
            if name is None and (text, types) not in known:
                if len(known) < _PREPARED:
                    known[text, types] = b""  # prepared when it comes again
                link.send_query_params(text, dumped, types, formats)
                continue
            if not name:
                name = self._prepared[text, types] = b"slowwave_%d" % next(_numbers)
                link.send_prepare(name, text, types)
            link.send_query_prepared(name, dumped, formats)

    def flush(self) -> None:
        """Have the server begin with what was put."""
        self._raw.pgconn.flush()

    def end(self) -> None:
        """Wait until all of it is done.

        Raises:
            psycopg.Error: of the first statement that failed, or the connection was lost.
        """
        try:
            self._raw.wait(self._ended())
        except errors.InvalidSqlStatementName:
            self._raw.prepared.clear()  # another server, or it has forgotten
            raise
        self._raw.prepared.update(self._prepared)

    def _ended(self) -> "PQGen[None]":
        link = self._raw.pgconn
        try:
            link.pipeline_sync()
            yield from send(link)
            yield from _answered(self._raw)
        finally:
            if link.status == ConnStatus.OK:
                link.exit_pipeline_mode()


def _answered(raw: "RawConnection") -> "PQGen[None]":
    """Until the server has said that all of it is done. The first error is raised."""
    failed: psycopg.Error | None = None
    try:
        while results := (yield from fetch_many(raw.pgconn)):
            for result in results:
                if result.status == ExecStatus.FATAL_ERROR:
                    failed = failed or errors.error_from_result(result, raw.info.encoding)
                elif result.status == ExecStatus.PIPELINE_SYNC:
                    if failed:
                        raise failed
                    return
    except psycopg.OperationalError:
        if failed is None:
            raise
    raise failed or psycopg.OperationalError("the server has not answered to the end")
