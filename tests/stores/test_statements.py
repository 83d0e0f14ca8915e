"""The query files of both backends hold the same statements, with the same parameters."""

import re

import apsw
import psycopg
import pytest
from psycopg.pq import ExecStatus

from slowwave.stores.postgres.statements import STATEMENTS
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.sql import NamedStatement, named_statements
from slowwave.stores.sqlite.store import SqliteStore

SQLITE = named_statements("sqlite")
POSTGRES = named_statements("postgres")
SEARCH = named_statements("postgres", "search")
ONLY_SQLITE: set[str] = set()
ONLY_POSTGRES = {"put_pending_proof", "drop_pending_proof", "pending_proofs", "running_workers"}
"""Statements of one backend only, besides those of `search.sql`: a file is proved as a whole, and has no workers."""

OTHER_PARAMETERS: dict[str, set[str]] = {}
"""Statements of which a backend needs no value for a parameter of the other."""


def numbers(statement: NamedStatement) -> set[int]:
    return {int(number) for number in re.findall(r"\$(\d+)", statement.text)}


def named_in(statement: NamedStatement) -> set[str]:
    """The named parameters of a statement of SQLite."""
    return set(re.findall(r"(?<!:):([a-z]\w*)", statement.text))


def test_both_backends_have_the_same_statements() -> None:
    assert set(SQLITE) - set(POSTGRES) == ONLY_SQLITE
    assert set(POSTGRES) - set(SQLITE) == ONLY_POSTGRES
    assert not set(SEARCH) & set(POSTGRES)


@pytest.mark.parametrize("statements", [SQLITE, POSTGRES, SEARCH])
def test_every_name_in_braces_is_replaced(statements: dict[str, NamedStatement]) -> None:
    left = {name for name, statement in statements.items() if re.search(r"\{\??\w+(?:\.\w+)?\}", statement.text)}
    assert left == set()


@pytest.mark.parametrize("name", sorted(set(SQLITE) & set(POSTGRES)))
def test_a_statement_has_the_same_parameters_in_both_backends(name: str) -> None:
    if named := named_in(SQLITE[name]):
        assert named ^ set(POSTGRES[name].parameters) == OTHER_PARAMETERS.get(name, set())
    else:
        assert SQLITE[name].text.count("?") == len(POSTGRES[name].parameters)


@pytest.mark.parametrize(("name", "statement"), sorted((POSTGRES | SEARCH).items()))
def test_a_header_lists_the_parameters_and_says_what_is_deferred(name: str, statement: NamedStatement) -> None:
    assert numbers(statement) == set(range(1, len(statement.parameters) + 1))
    assert len(set(statement.parameters)) == len(statement.parameters)
    returns_rows = statement.text.startswith(("SELECT", "WITH")) or " RETURNING " in statement.text
    assert returns_rows == statement.properties.isdisjoint({"deferred", "strict"})
    assert ("skipped_with_hints" in statement.properties) == (name in {"known_message", "unless_held"})
    if "strict" in statement.properties:
        assert statement.text.endswith("ON CONFLICT DO NOTHING")
    else:
        assert statement.properties <= {"deferred", "skipped_with_hints"}


@pytest.mark.parametrize(("name", "statement"), sorted((POSTGRES | SEARCH).items()))
def test_no_statement_of_postgres_needs_a_function_of_sqlite(name: str, statement: NamedStatement) -> None:
    assert not re.search(r"\binstr\(|\bmax\([^()]*,|\bjson_each\(|\bchar\(", statement.text), name


def test_the_server_prepares_every_statement(in_postgres: PostgresStore, address: str) -> None:
    assert in_postgres.name  # its migrations made the tables
    refused = {}
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("SET search_path = slowwave, pg_catalog")
        for name, statement in STATEMENTS.items():
            result = db.pgconn.prepare(name.encode(), statement.text)
            if result.status != ExecStatus.COMMAND_OK:
                refused[name] = result.error_message.decode()
    assert refused == {}


def test_sqlite_prepares_every_statement() -> None:
    store = SqliteStore(":memory:")
    refused = {}
    for name, statement in SQLITE.items():
        try:
            values = dict.fromkeys(named_in(statement)) or [None] * statement.text.count("?")
            store._db.execute(f"EXPLAIN {statement.text}", values)
        except apsw.Error as error:
            refused[name] = str(error)
    store.close()
    assert refused == {}
