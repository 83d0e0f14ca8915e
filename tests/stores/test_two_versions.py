"""A program of this version and one of a newer version use the same scopes; the newer one migrates the store meanwhile.

The newer version is a copy of the package with one more migration. So this version is played against what comes after it:
a program that is running cannot be changed any more.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from tests.newer_version import newer_package
from tests.waiting import LONGEST, until

from slowwave import AgentMemory, NewerSchemaError
from slowwave.model.codec import loads
from slowwave.stores.migrations import migrations
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.stores.upgrade import migrate_store
from slowwave.testing.builders import NOW, SCOPE, add, fact, plan

NEWER = """
import json, sys
from slowwave import AgentMemory
address, *texts = sys.argv[1:]
with AgentMemory.open(address, scope="acme", llm=None, embedder="none") as memory:
    for text in texts:
        memory.add(text)
        memory.add_messages({"role": "user", "content": text}, "talk")
    print(json.dumps([memory.doctor(deep=True), sorted(one.text for one in memory.get_all())]))
"""
CALLS: dict[str, Callable[[AgentMemory], object]] = {
    "a message": lambda memory: memory.add_messages({"role": "user", "content": "Hello"}, "talk"),
    "a fact": lambda memory: memory.add("Ann owns a harp"),
    "a note": lambda memory: memory.note("a", data=1),
    "a change": lambda memory: memory.update(memory.get_all()[0].id, "Ann owns two boats"),
    "a use": lambda memory: memory.record_retrieval([memory.get_all()[0].id]),
    "an undo": lambda memory: memory.undo(memory.runs(1)[0].id),
    "a sleep pass": lambda memory: memory.sleep(),
    "a lease": lambda memory: memory.ports.store.lease("acme", "me", 9.0, NOW),
    "an erase": lambda memory: memory.erase(text="boat"),
    "a check": lambda memory: memory.doctor(deep=True),
    "a repair": lambda memory: memory.doctor(repair=True),
}

Run = Callable[..., tuple[list[str], list[str]]]


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "memory.db") if request.param == "sqlite" else str(request.getfixturevalue("own"))


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs the newer version: writes these texts to the scope. Returns what its deep check finds, and the facts there."""

    made: dict[bool, Path] = {}

    def run(address: str, *texts: str, readable: bool = False) -> tuple[list[str], list[str]]:
        if readable not in made:
            made[readable] = newer_package(tmp_path_factory.mktemp("newer"), readable=readable)
        command = [sys.executable, "-c", NEWER, address, *texts]
        done = subprocess.run(
            command,
            env=os.environ | {"PYTHONPATH": str(made[readable])},
            check=False,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
        assert done.returncode == 0, done.stderr
        found, facts = loads(done.stdout)
        return found, facts

    return run


def test_a_program_that_is_open_while_a_newer_one_migrates_the_store_writes_nothing_more(
    address: str, newer: Run
) -> None:
    with AgentMemory.open(address, scope="acme", llm=None, embedder="none") as memory:
        memory.add("Ann owns a boat")
        memory.add_messages({"role": "user", "content": "My boat is green."}, "talk")
        assert newer(address, "Bob owns a kite") == ([], ["Ann owns a boat", "Bob owns a kite"])
        for name, call in CALLS.items():
            with pytest.raises(NewerSchemaError, match="was written by a newer Slowwave"):
                raise AssertionError(f"{name} was done: {call(memory)}")
        assert [hit.text for hit in memory.search("who owns the kite?")][:1] == ["Bob owns a kite"]
    with pytest.raises(NewerSchemaError):
        AgentMemory.open(address, llm=None, embedder="none")
    assert newer(address) == ([], ["Ann owns a boat", "Bob owns a kite"])


def test_an_erase_during_which_the_store_is_migrated_is_not_verified(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with AgentMemory.open(path, scope=SCOPE, llm=None, embedder="none") as memory:
        memory.add("Ann owns a boat")

        def migrated(point: str) -> None:
            if point == "apply.committed":
                latest = migrations("sqlite")[-1][0]
                SqliteStore(path, steps=[*migrations("sqlite"), (latest + 1, "CREATE TABLE news (x)")]).close()

        memory.ports.store._reached = migrated
        with pytest.raises(NewerSchemaError):
            memory.erase(text="boat")


def test_two_versions_that_can_use_one_schema_write_to_one_scope_and_nothing_counts_as_damaged(
    own: str, newer: Run
) -> None:
    with AgentMemory.open(own, scope="acme", llm=None, embedder="none") as memory:
        memory.add("Ann owns a boat")
        for place in range(2):
            found, _ = newer(own, f"Bob owns kite {place}", readable=True)
            assert found == []
            assert memory.add(f"Cleo owns oar {place}").ids
            memory.sleep()
            assert memory.erase(id=memory.add("Dan has a harp").ids[0]).destroyed
            assert memory.doctor(deep=True) == []
        assert len(newer(own, readable=True)[1]) == 5


def test_a_migration_waits_for_a_write_that_began_before_it(own: str) -> None:
    waits, goes_on = threading.Event(), threading.Event()

    def reached(point: str) -> None:
        if point == "apply.before_commit":
            waits.set()
            goes_on.wait(LONGEST)

    latest = migrations("postgres")[-1][0]
    steps = [*migrations("postgres"), (latest + 1, "CREATE TABLE news (x bigint)")]
    store = PostgresStore(own, reached=reached)
    with pytest.MonkeyPatch.context() as patch, psycopg.connect(own, autocommit=True) as db:
        patch.setattr("slowwave.stores.upgrade.migrations", lambda _: steps)
        writing = threading.Thread(target=lambda: store.apply(plan(add(fact("Likes tea")))))
        writing.start()
        assert waits.wait(LONGEST)
        migrating = threading.Thread(target=lambda: migrate_store(own, patience=LONGEST, say=lambda _: None))
        migrating.start()
        waiting = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)"
        until(lambda: db.execute(waiting).fetchone() == (True,))
        assert db.execute("SELECT max(number) FROM slowwave.migrations").fetchone() == (latest,)
        goes_on.set()
        writing.join(LONGEST)
        migrating.join(LONGEST)
        assert db.execute("SELECT max(number) FROM slowwave.migrations").fetchone() == (latest + 1,)
    with pytest.raises(NewerSchemaError, match=f"schema {latest + 1}, this one knows {latest}"):
        store.apply(plan(add(fact("Likes rye"))))
    store.close()
