"""A stream of statements over libpq: at its end all are executed, or none after the first that fails."""

import signal
import threading
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import psycopg
import pytest
from tests.waiting import LONGEST, until

from slowwave.stores.postgres import wire
from slowwave.stores.postgres.base import _configured
from slowwave.stores.postgres.pool import RawConnection, connected
from slowwave.stores.postgres.statements import Query
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.postgres.wire import Stream

INSERT = b"INSERT INTO kept VALUES ($1, $2, $3, $4)"


@pytest.fixture
def raw(in_postgres: PostgresStore, address: str) -> Iterator[RawConnection]:
    """A connection to a database with a table of numbers, texts, bytes and fractions."""
    assert in_postgres.name
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("CREATE TABLE kept (number bigint PRIMARY KEY, text text, data bytea, part float8)")
        connection = connected(address)
        _configured(connection)
        connection.prepares = True
        yield connection
        connection.close()
        db.execute("DROP TABLE kept")


def row(number: int, text: str | None = "x") -> Sequence[object]:
    return number, text, b"\x00\xff", 0.5


def streamed(raw: RawConnection, *rows: Sequence[object], text: bytes = INSERT) -> list[int | None]:
    """Returns how many rows each statement inserted."""
    stream = Stream(raw)
    stream.put([Query(text, row) for row in rows])
    stream.flush()
    return [reply.command_tuples for _, reply in stream.end()]


def kept(raw: RawConnection) -> list[int]:
    return [number for (number,) in raw.execute("SELECT number FROM kept ORDER BY number").fetchall()]


def prepared(raw: RawConnection) -> list[Any]:
    return raw.execute("SELECT name FROM pg_prepared_statements WHERE name LIKE 'slowwave%'").fetchall()


def test_a_repeated_statement_is_prepared_once_and_its_values_are_unchanged(raw: RawConnection) -> None:
    for number in range(0, 12, 4):
        streamed(raw, row(number), row(number + 1, None), row(number + 2), row(number + 3))
    assert kept(raw) == list(range(12))
    assert len(prepared(raw)) == 1  # the same text, and no value has a type that another has not
    found = raw.execute("SELECT text, data, part FROM kept WHERE number < 2 ORDER BY number").fetchall()
    assert found == [("x", b"\x00\xff", 0.5), (None, b"\x00\xff", 0.5)]


def test_each_statement_has_its_own_reply(raw: RawConnection) -> None:
    text = INSERT + b" ON CONFLICT DO NOTHING"
    assert streamed(raw, row(1), row(2), row(1), text=text) == [1, 1, 0]
    assert streamed(raw, row(2), row(3), text=text) == [0, 1]


def test_the_number_of_prepared_statements_is_limited(raw: RawConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "STATEMENTS_PREPARED", 2)
    numbers = count()
    for _ in range(3):
        for name in range(4):
            streamed(raw, row(next(numbers)), text=INSERT + b" -- %d" % name)
    assert (len(kept(raw)), len(prepared(raw))) == (12, 2)


def test_after_a_failed_statement_none_is_executed_and_the_first_error_is_raised(raw: RawConnection) -> None:
    for number in range(2):
        with pytest.raises(psycopg.errors.UniqueViolation):
            streamed(raw, row(10 + number), row(7), row(7), row(20 + number, "1"), row(20 + number))
        assert kept(raw) == []
    streamed(raw, row(1), row(7))
    assert kept(raw) == [1, 7]


def test_a_statement_that_the_server_dropped_is_prepared_again_by_the_next_stream(raw: RawConnection) -> None:
    for number in range(3):
        streamed(raw, row(number))
    raw.execute("DEALLOCATE ALL")
    with pytest.raises(psycopg.errors.InvalidSqlStatementName):
        streamed(raw, row(3))
    for number in range(3, 6):
        streamed(raw, row(number))
    assert (kept(raw), len(prepared(raw))) == ([0, 1, 2, 3, 4, 5], 1)


def test_a_text_with_nul_is_refused_by_put(raw: RawConnection) -> None:
    stream = Stream(raw)
    with pytest.raises(psycopg.DataError, match="NUL"):
        stream.put([Query(INSERT, row(1)), Query(INSERT, row(2, "a\x00b"))])
    stream.end()
    assert kept(raw) == [1]


def test_a_connection_that_the_server_ended_is_reported_as_lost(raw: RawConnection, address: str) -> None:
    with psycopg.connect(address, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (raw.info.backend_pid,))
        with pytest.raises(psycopg.OperationalError):
            streamed(raw, row(1))
        assert raw.closed
        assert other.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_an_interrupted_stream_leaves_a_connection_that_works(raw: RawConnection, address: str) -> None:
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    reader, server = threading.get_ident(), raw.info.backend_pid

    def interrupt() -> None:
        with psycopg.connect(address, autocommit=True) as other:
            runs = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND state = 'active' AND query LIKE '%%pg_sleep%%'"
            until(lambda: other.execute(runs, (server,)).fetchone() == (1,))
        signal.pthread_kill(reader, signal.SIGINT)

    stream = Stream(raw)
    stream.put([Query(b"SELECT pg_sleep(%d)" % LONGEST)])
    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            stream.end()  # sends the statement
    finally:
        interrupting.join()
        signal.signal(signal.SIGINT, handler)
    streamed(raw, row(2))
    assert kept(raw) == [2]
