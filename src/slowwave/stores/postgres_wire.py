"""A whole transaction in one round trip, over libpq itself: a cursor for each statement takes as long as the server does."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import psycopg
from psycopg import errors
from psycopg.adapt import PyFormat
from psycopg.generators import fetch_many, send
from psycopg.pq import ConnStatus, ExecStatus, Format

if TYPE_CHECKING:
    from psycopg.abc import Buffer, PQGen

    from slowwave.stores.postgres_pool import Raw

Statement: TypeAlias = tuple[bytes, Sequence[Any]]

_PREPARED: Final = 64
"""Statements that a server keeps prepared for a connection, at most: some are large."""

_numbers = count()


class _Ready(NamedTuple):
    """A statement as libpq takes it; without a name it is not prepared."""

    text: bytes
    values: "Sequence[Buffer | None]"
    types: tuple[int, ...]
    formats: Sequence[Format]
    name: bytes | None


def exchanged(raw: "Raw", statements: Sequence[Statement]) -> None:
    """Send statements that give no rows, and wait until they are committed: together they are one transaction.

    Those that come again are prepared.

    Raises:
        psycopg.Error: of the first statement that failed; nothing was done. Or the connection was lost, and it is not
            known what was.
    """
    ready = list(_ready(raw, statements))
    try:
        raw.wait(_exchange(raw, ready))
    except errors.InvalidSqlStatementName:  # another server, or it has forgotten: nothing was done
        raw.prepared.clear()
        raw.wait(_exchange(raw, list(_ready(raw, statements))))


def _ready(raw: "Raw", statements: Sequence[Statement]) -> Iterator[_Ready]:
    for text, values in statements:
        dumping = raw.dumping
        dumped = dumping.dump_sequence(values, [PyFormat.AUTO] * len(values))
        types, formats = dumping.types or (), dumping.formats or ()
        name = raw.prepared.get((text, types))
        if name is None and len(raw.prepared) < _PREPARED:
            raw.prepared[text, types] = b""  # prepared when it comes again
        yield _Ready(text, dumped, types, formats, name)


def _exchange(raw: "Raw", ready: Sequence[_Ready]) -> "PQGen[None]":
    link, prepared = raw.pgconn, {}
    link.enter_pipeline_mode()
    try:
        for text, values, types, formats, name in ready:
            if name is None:
                link.send_query_params(text, values, types, formats)
                continue
            if not name:
                name = prepared[text, types] = b"slowwave_%d" % next(_numbers)  # noqa: PLW2901  # its name from now on
                link.send_prepare(name, text, types)
            link.send_query_prepared(name, values, formats)
        link.pipeline_sync()
        yield from send(link)
        yield from _answered(raw)
    finally:
        if link.status == ConnStatus.OK:
            link.exit_pipeline_mode()
    raw.prepared.update(prepared)


def _answered(raw: "Raw") -> "PQGen[None]":
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
