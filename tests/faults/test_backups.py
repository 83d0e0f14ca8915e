"""Backups of a Postgres store with the server's own tools: a restored store is the same, and an empty backup is detected."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from slowwave import AgentMemory
from slowwave.stores.copy import state_hash
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import PostgresServer, postgres_server

SCOPES = ("acme/alice", "acme/bob")
FACTS = ("owns the deploy pipeline", "likes her coffee black", "moved to Lisbon in May")
QUESTION = "who owns deploys?"


@pytest.fixture
def own(postgres: PostgresServer, migrated: str) -> str:
    return lived_in(postgres.database(migrated))


def lived_in(address: str) -> str:
    for scope in SCOPES:
        with AgentMemory.open(address, scope=scope, llm=None, embedder="static") as memory:
            for fact in FACTS:
                memory.add(f"{scope.title()} {fact}")
            memory.update(memory.get_all()[0].id, f"{scope.title()} owned the deploy pipeline until June")
    return address


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[PostgresServer]:
    with postgres_server(in_ram=True) as server:
        server.disable_fsync()
        yield server


def tool(server: PostgresServer, name: str, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [server.program(name), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def dumped(server: PostgresServer, address: str, to: Path, *words: str, **environment: str) -> None:
    done = tool(server, "pg_dump", address, "--schema=slowwave", "--no-owner", f"--file={to}", *words, **environment)
    assert done.returncode == 0, done.stderr


def restored(server: PostgresServer, dump: Path) -> str:
    address = server.database()
    made = tool(server, "psql", address, "--quiet", "--command=CREATE EXTENSION vector")
    assert made.returncode == 0, made.stderr
    done = tool(server, "psql", address, "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction", f"--file={dump}")
    assert done.returncode == 0, done.stderr
    return address


def state(address: str) -> dict[str, str]:
    store = PostgresStore(address, connections=2)
    try:
        return {scope: state_hash(store, scope) for scope in SCOPES}
    finally:
        store.close()


def recalled(address: str, scope: str) -> list[tuple[str, float]]:
    with AgentMemory.open(address, scope=scope, llm=None, embedder="static") as memory:
        return [(hit.text, round(hit.score, 9)) for hit in memory.search(QUESTION)]


def same(before: str, after: str) -> None:
    assert state(after) == state(before)
    assert state_of_nothing() not in state(after).values()
    for scope in SCOPES:
        assert recalled(after, scope) == recalled(before, scope) != []
        with AgentMemory.open(after, scope=scope, llm=None, embedder="static") as memory:
            assert memory.doctor(deep=True) == []
            assert {name for name, ok, _ in memory.ports.store.about() if not ok} <= {"disk"}, (
                "row security is restored"
            )
            memory.add("Somebody new came by")
    with AgentMemory.open(after, scope="acme/new", llm=None, embedder="none") as memory:
        memory.add("A scope made after it has a token of its own")
        assert len(memory.get_all()) == 1


def state_of_nothing() -> str:
    with AgentMemory.open(":memory:", llm=None, embedder="none") as memory:
        return state_hash(memory.ports.store, "nobody")


def test_a_dump_restored_into_another_database_has_the_same_state_and_hits(
    postgres: PostgresServer, own: str, tmp_path: Path
) -> None:
    dumped(postgres, own, tmp_path / "memory.sql")
    same(own, restored(postgres, tmp_path / "memory.sql"))


def test_a_dump_is_restored_on_another_server_that_has_the_role(
    postgres: PostgresServer, elsewhere: PostgresServer, own: str, tmp_path: Path
) -> None:
    dumped(postgres, own, tmp_path / "memory.sql")
    with psycopg.connect(elsewhere.url, autocommit=True) as db:
        db.execute("CREATE ROLE slowwave_app NOLOGIN")
    same(own, restored(elsewhere, tmp_path / "memory.sql"))


def test_an_owner_bound_by_row_security_gets_no_dump_unless_it_selects_all_scopes(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    address, dump = postgres.database(), tmp_path / "memory.sql"
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("CREATE ROLE keeper LOGIN")
        db.execute(f"ALTER DATABASE {db.info.dbname} OWNER TO keeper".encode())
    owner = lived_in(address.replace("postgres:@", "keeper@"))
    refused = tool(postgres, "pg_dump", owner, "--schema=slowwave", f"--file={dump}")
    assert refused.returncode != 0
    assert "row-level security" in refused.stderr
    dumped(postgres, owner, dump, "--enable-row-security")
    assert "deploy pipeline" not in dump.read_text("utf-8"), "this is why it must never be taken so"
    dumped(postgres, owner, dump, "--enable-row-security", PGOPTIONS="-c slowwave.every_scope=on")
    same(owner, restored(postgres, dump))
