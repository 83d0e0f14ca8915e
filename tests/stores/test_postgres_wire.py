"""A transaction sent at once over libpq: all of it or nothing, and what is prepared is known to be."""

import signal
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import psycopg
import pytest

from slowwave.stores import postgres_wire
from slowwave.stores.postgres import PostgresStore
from slowwave.stores.postgres_base import _configured
from slowwave.stores.postgres_pool import Raw, connected
from slowwave.stores.postgres_wire import Statement, exchanged

INSERT = b"INSERT INTO kept VALUES ($1, $2, $3, $4)"


@pytest.fixture
def raw(in_postgres: PostgresStore, address: str) -> Iterator[Raw]:
    """A connection to a database with a table of numbers, texts, bytes and fractions."""
    assert in_postgres.name
    connection = connected(address)
    _configured(connection)
    connection.execute(
        "CREATE TABLE IF NOT EXISTS kept (number bigint PRIMARY KEY, text text, data bytea, part float8)"
    )
    connection.execute("TRUNCATE kept")
    yield connection
    connection.execute("DROP TABLE kept") if not connection.closed else None
    connection.close()


def row(number: int, text: str | None = "x") -> Statement:
    return INSERT, (number, text, b"\x00\xff", 0.5)


def kept(raw: Raw) -> list[int]:
    return [number for (number,) in raw.execute("SELECT number FROM kept ORDER BY number").fetchall()]


def prepared(raw: Raw) -> list[Any]:
    return raw.execute("SELECT name FROM pg_prepared_statements WHERE name LIKE 'slowwave%'").fetchall()


def test_what_comes_again_is_prepared_and_values_arrive_as_they_are(raw: Raw) -> None:
    for number in range(4):
        exchanged(raw, [row(2 * number), row(2 * number + 1, None)])
    assert kept(raw) == list(range(8))
    assert len(prepared(raw)) == 1  # the same text, and no value has a type that another has not
    found = raw.execute("SELECT text, data, part FROM kept WHERE number < 2 ORDER BY number").fetchall()
    assert found == [("x", b"\x00\xff", 0.5), (None, b"\x00\xff", 0.5)]


def test_only_so_many_are_prepared(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_wire, "_PREPARED", 2)
    numbers = count()
    for _ in range(3):
        for name in range(4):
            exchanged(raw, [(INSERT + b" -- %d" % name, row(next(numbers))[1])])
    assert (len(kept(raw)), len(prepared(raw))) == (12, 2)


def test_all_of_it_is_done_or_nothing(raw: Raw) -> None:
    for number in range(2):
        with pytest.raises(psycopg.errors.UniqueViolation):
            exchanged(raw, [row(10 + number), row(7), row(7), row(20 + number)])
        assert kept(raw) == []
    exchanged(raw, [row(1), row(7)])
    assert kept(raw) == [1, 7]


def test_what_the_server_has_forgotten_is_prepared_again(raw: Raw) -> None:
    for number in range(3):
        exchanged(raw, [row(number)])
    raw.execute("DEALLOCATE ALL")
    exchanged(raw, [row(3)])
    exchanged(raw, [row(4)])
    assert (kept(raw), len(prepared(raw))) == ([0, 1, 2, 3, 4], 1)


def test_text_that_no_server_holds_is_refused_before_anything_is_sent(raw: Raw) -> None:
    with pytest.raises(psycopg.DataError, match="NUL"):
        exchanged(raw, [row(1), row(2, "a\x00b")])
    exchanged(raw, [row(3)])
    assert kept(raw) == [3]


def test_a_server_that_ends_the_connection_is_told_as_lost(raw: Raw, address: str) -> None:
    pid = raw.info.backend_pid
    with psycopg.connect(address, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (pid,))
        with pytest.raises(psycopg.OperationalError):
            exchanged(raw, [row(1)])
        assert raw.closed
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s", (pid,))
        assert other.execute("SELECT count(*) FROM kept").fetchone() == (0,)
        other.execute("DROP TABLE kept")


def test_whoever_interrupts_it_gets_a_connection_that_works(raw: Raw) -> None:
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        exchanged(raw, [row(1), (b"SELECT pg_sleep(20)", ())])
    timer.join()
    exchanged(raw, [row(2)])
    assert kept(raw) == [2]
