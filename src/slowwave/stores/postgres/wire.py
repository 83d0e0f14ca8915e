"""A pipeline of statements over libpq itself: psycopg's own pipeline takes twice the time of the client for an add."""

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import psycopg
from psycopg import errors
from psycopg.adapt import PyFormat
from psycopg.generators import fetch_many, send
from psycopg.pq import ConnStatus, ExecStatus, Format, TransactionStatus

from slowwave.stores.postgres.pool import STATEMENTS_PREPARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psycopg.abc import PQGen
    from psycopg.pq.abc import PGresult

    from slowwave.stores.postgres.pool import RawConnection
    from slowwave.stores.postgres.statements import Query

Replies: TypeAlias = "list[tuple[Query, PGresult]]"

Row: TypeAlias = tuple[Any, ...]

_DECODED: Final = 500
"""Rows that are decoded at once while a caller iterates over them."""

_numbers = count()


class Reply:
    """The reply to a statement. Its rows are decoded when they are asked for.

    Args:
        raw: the connection, which knows how types are decoded.
        result: the result in libpq's binary format.
    """

    def __init__(self, raw: "RawConnection", result: "PGresult") -> None:
        self._raw = raw
        self._result = result
        self._next = 0

    @property
    def rowcount(self) -> int:
        """How many rows the statement returned or wrote."""
        return self._result.command_tuples or 0

    def fetchone(self) -> Row | None:
        """The next row, or None."""
        return next(iter(self._rows(1)), None)

    def fetchall(self) -> list[Row]:
        """The remaining rows."""
        return self._rows(self._result.ntuples)

    def __iter__(self) -> "Iterator[Row]":
        """The remaining rows, one by one."""
        while rows := self._rows(_DECODED):
            yield from rows

    def _rows(self, most: int) -> list[Row]:
        first, last = self._next, min(self._next + most, self._result.ntuples)
        if first >= last:
            return []
        self._next = last
        loading = self._raw.loading
        loading.set_pgresult(self._result)
        return loading.load_rows(first, last, tuple)


def exchanged(raw: "RawConnection", queries: "Sequence[Query]") -> list[Reply]:
    """Send statements in one pipeline, and wait for the replies. They are one transaction if none has begun.

    Raises:
        psycopg.Error: of the first statement that failed; the server executed none after it.
        psycopg.OperationalError: the connection is lost.
    """
    stream = Stream(raw, Format.BINARY)
    try:
        stream.put(queries)
    except psycopg.Error:
        with suppress(psycopg.Error):
            stream.end()
        raise
    try:
        return [Reply(raw, result) for _, result in stream.end()]
    except psycopg.Error as error:
        if raw.closed and not isinstance(error, psycopg.OperationalError):
            raise psycopg.OperationalError(str(error)) from error  # the server ended an idle transaction
        raise


class Stream:
    """Statements that are sent as they come. After one that fails the server executes none until the end.

    The connection can do nothing else until `end`. A statement that is sent a second time is prepared, if the connection
    prepares statements.

    Args:
        raw: the connection.
        format: the format of the results.
    """

    def __init__(self, raw: "RawConnection", format: Format = Format.TEXT) -> None:  # noqa: A002  # libpq's word
        self._raw = raw
        self._format = format
        self._prepared: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self._sent: list[Query | None] = []  # None for the preparation of a statement
        raw.pgconn.enter_pipeline_mode()

    def put(self, queries: "Iterable[Query]") -> None:
        """Hand statements to libpq. It sends them after `flush`, or at the end.

        Raises:
            psycopg.DataError: a value has no form that the server accepts.
            psycopg.OperationalError: the connection is lost.
        """
        link, known = self._raw.pgconn, self._raw.prepared
        dumping = self._raw.dumping
        for query in queries:
            dumped = dumping.dump_sequence(query.values, [PyFormat.AUTO] * len(query.values))
            types, formats = dumping.types or (), dumping.formats or ()
            key = query.text, types
            name = known.get(key) or self._prepared.get(key)
            if name is None and key not in known:
                if self._raw.prepares and len(known) < STATEMENTS_PREPARED:
                    known[key] = b""  # prepared when it is sent again
                link.send_query_params(query.text, dumped, types, formats, self._format)
            else:
                if not name:
                    name = self._prepared[key] = b"slowwave_%d" % next(_numbers)
                    link.send_prepare(name, query.text, types)
                    self._sent.append(None)
                link.send_query_prepared(name, dumped, formats, self._format)
            self._sent.append(query)

    def flush(self) -> None:
        """Send what was put, so that the server begins with it."""
        self._raw.pgconn.flush()

    def end(self) -> Replies:
        """Wait until the server has executed all statements. Returns each with its reply.

        Raises:
            psycopg.Error: of the first statement that failed, or the connection was lost.
        """
        try:
            results = self._raw.wait(self._results())
        except errors.InvalidSqlStatementName:
            self._raw.prepared.clear()  # another server behind a pooler, or the server dropped its statements
            raise
        self._raw.prepared.update(self._prepared)
        return [(query, result) for query, result in zip(self._sent, results, strict=True) if query is not None]

    def _results(self) -> "PQGen[list[PGresult]]":
        link = self._raw.pgconn
        try:
            link.pipeline_sync()
            yield from send(link)
            return (yield from _received(self._raw))
        finally:
            # Within an exchange, as after a KeyboardInterrupt, libpq refuses it.
            if link.status == ConnStatus.OK and link.transaction_status != TransactionStatus.ACTIVE:
                link.exit_pipeline_mode()


def _received(raw: "RawConnection") -> "PQGen[list[PGresult]]":
    """The results up to the end of the pipeline. The first error is raised there."""
    failed: psycopg.Error | None = None
    received: list[PGresult] = []
    try:
        while results := (yield from fetch_many(raw.pgconn)):
            for result in results:
                if result.status == ExecStatus.PIPELINE_SYNC:
                    if failed:
                        raise failed
                    return received
                if result.status == ExecStatus.FATAL_ERROR:
                    failed = failed or errors.error_from_result(result, raw.info.encoding)
                received.append(result)
    except psycopg.OperationalError:
        if failed is None:
            raise
    raise failed or psycopg.OperationalError("the server did not answer all statements")
