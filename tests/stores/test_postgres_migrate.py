"""The schema of a database is migrated beside programs that use it, and each version can use the schema before its own.

`data/schema_12.sql.gz` is a dump of a store that the released version wrote, whose programs are played by raw SQL.
"""

import gzip
import threading
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest
from tests.waiting import LONGEST, until

from slowwave import AgentMemory, NewerSchemaError, OlderSchemaError, Slowwave
from slowwave.cli.app import app
from slowwave.composition import copy_store
from slowwave.errors import BusyError, InputError, NotFoundError
from slowwave.stores.migrations import migrations
from slowwave.stores.postgres import migrate
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.upgrade import init_store, migrate_store, schema_state
from slowwave.testing.postgres import PostgresServer

RELEASED = 12
LATEST = migrations("postgres")[-1][0]
STEPS = migrations("postgres")
DATA = Path(__file__).parent / "data"
WRITE = """
SELECT set_config('slowwave.scopes', '1', true), set_config('search_path', 'slowwave, pg_catalog', true),
    pg_advisory_xact_lock(1936488311, 1);
INSERT INTO leases (scope, token, holder, until, run) VALUES (1, 9, 'raw', 1, 1 << 40)
    ON CONFLICT (scope) DO UPDATE SET token = leases.token + 1;
INSERT INTO held (scope, content) VALUES (1, gen_random_uuid()::text);
UPDATE memories SET accesses = accesses + 1 WHERE scope = 1 AND key > 0;
SELECT count(*) FROM memories m JOIN entries e USING (key) JOIN journal j ON j.key = m.born WHERE m.scope = 1
"""
"""What the released version does to the tables: it locks a scope, takes a lease, writes and reads."""


@pytest.fixture
def released(postgres: PostgresServer) -> str:
    """A database that the released version wrote."""
    address = postgres.database()
    with psycopg.connect(address) as db:
        db.execute("CREATE EXTENSION vector")
        db.execute(
            "DO $$ BEGIN IF to_regrole('slowwave_app') IS NULL THEN CREATE ROLE slowwave_app NOLOGIN; END IF; END $$"
        )
        db.execute(gzip.decompress((DATA / "schema_12.sql.gz").read_bytes()))
    return address


@pytest.fixture
def as_app(released: str) -> Iterator[str]:
    """The address of that database for a login that may not migrate it."""
    with psycopg.connect(released, autocommit=True) as db:
        db.execute("DROP ROLE IF EXISTS mig_app")
        db.execute("CREATE ROLE mig_app LOGIN IN ROLE slowwave_app")
        yield released.replace("postgres:@", "mig_app@")
        db.execute("DROP ROLE mig_app")


def schema(address: str) -> int:
    return schema_state(address).version


def test_a_login_that_may_not_migrate_an_unusable_schema_is_told_the_numbers_and_the_command(
    released: str, as_app: str
) -> None:
    with pytest.raises(OlderSchemaError, match=f"schema {RELEASED}, .* {LATEST} to {LATEST}: run `slowwave migrate`"):
        PostgresStore(as_app)
    with pytest.raises(InputError, match="run `slowwave migrate` as its owner"):
        migrate_store(as_app, patience=1, say=print)
    assert schema(released) == RELEASED


def test_opening_migrates_a_small_store_of_the_login_and_no_large_one(
    released: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "SMALL", 1)
    with pytest.raises(OlderSchemaError):
        PostgresStore(released)
    assert schema(released) == RELEASED
    monkeypatch.undo()
    PostgresStore(released).close()
    assert schema(released) == LATEST
    with AgentMemory.open(released, llm=None) as memory:
        assert memory.doctor(deep=True) == []
    with Slowwave.open(released, llm=None) as store:
        ann = store.within("users", "ann")
        assert "deploy pipeline" in ann.search("who owns the deploy pipeline?")[0].text
        assert [note.name for note in ann.notes("runbooks")] == ["deploy"]


def test_a_newer_schema_is_usable_if_it_says_so_and_refused_otherwise(own: str) -> None:
    with psycopg.connect(own, autocommit=True) as db:
        db.execute("INSERT INTO slowwave.migrations VALUES (%s, now(), %s)", (LATEST + 1, LATEST))
        with AgentMemory.open(own, llm=None, embedder="none") as memory:
            memory.add("Alice owns the deploy pipeline")
            assert memory.checks()[1].ok
        db.execute("INSERT INTO slowwave.migrations VALUES (%s, now(), %s)", (LATEST + 2, LATEST + 1))
        with pytest.raises(NewerSchemaError):
            PostgresStore(own)
        db.execute("UPDATE slowwave.migrations SET readable_from = NULL WHERE number > %s", (LATEST,))
        with pytest.raises(NewerSchemaError):
            PostgresStore(own)


def test_every_migration_says_who_can_use_its_schema() -> None:
    for number, script in STEPS:
        if number >= migrate._SAYS_READERS:
            assert migrate._READABLE.search(script), f"migration {number} needs a line `-- readable from N`"


@pytest.mark.long
def test_writers_of_the_released_version_go_on_while_the_store_is_migrated(
    released: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "LOCK_SECONDS", 0.3)
    monkeypatch.setattr(migrate, "FIRST_PAUSE", 0.1)
    failed: list[str] = []
    written: list[int] = []
    stopped = threading.Event()

    def work(number: int) -> None:
        with psycopg.connect(released) as db:
            while not stopped.is_set():
                try:
                    db.execute(WRITE)
                    db.commit()
                except psycopg.Error as error:
                    failed.append(str(error))
                    return
                written.append(number)

    def until_all_have_written() -> None:
        before = len(written)
        until(lambda: failed or {0, 1, 2} == set(written[before:]))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    said: list[str] = []

    def end() -> None:
        until(lambda: any("pg_dump" in sentence for sentence in said))
        for _ in range(3):  # while the migration waits for its lock, and between its tries
            until_all_have_written()
        dump.rollback()

    with psycopg.connect(released, application_name="pg_dump") as dump:
        dump.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        dump.execute("SELECT count(*) FROM slowwave.memories, slowwave.leases, slowwave.migrations")
        time.sleep(1.1)
        for worker in workers:
            worker.start()
        ending = threading.Thread(target=end)
        ending.start()
        state = migrate_store(released, patience=LONGEST, say=said.append)
        ending.join()
    until_all_have_written()
    stopped.set()
    for worker in workers:
        worker.join()
    assert failed == []
    assert state.version == LATEST


def test_a_migration_that_never_gets_its_lock_gives_up_and_names_the_session(
    released: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "LOCK_SECONDS", 0.1)
    with psycopg.connect(released, application_name="a dump") as dump:
        dump.execute("SELECT count(*) FROM slowwave.migrations, slowwave.leases")
        time.sleep(1.1)
        with pytest.raises(BusyError, match=rf"session {dump.info.backend_pid} \(a dump\)"):
            migrate_store(released, patience=0.3, say=lambda _: None)
    assert schema(released) < LATEST


@pytest.mark.parametrize("parts", [0, 3])
def test_an_index_is_built_beside_writers_and_one_that_was_left_invalid_is_built_again(own: str, parts: int) -> None:
    if parts:
        script = (files("slowwave.stores") / "postgres/sql/partitions.sql").read_bytes()
        with psycopg.connect(own, options=f"-c slowwave.partitions={parts}", autocommit=True) as db:
            db.execute(script)
    step = (LATEST + 1, "-- concurrently\nCREATE INDEX CONCURRENTLY runs_at ON runs (scope, at DESC);\n")
    held = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass"
    first = "slowwave.runs_0_runs_at" if parts else "slowwave.runs_at"
    with psycopg.connect(own, autocommit=True) as db, psycopg.connect(own) as writer:
        table = "slowwave.runs_0" if parts else "slowwave.runs"
        db.execute(f"CREATE INDEX {first.partition('.')[2]} ON {table} (scope)".encode())
        db.execute(held, (first,))  # as an interrupted build leaves it
        writer.execute("SELECT pg_advisory_xact_lock(5)")
        finished = threading.Event()
        building = threading.Thread(
            target=lambda: (migrate.migrate(db, "own", [*STEPS, step], patience=LONGEST), finished.set())
        )
        building.start()
        writer.execute("SET slowwave.every_scope = 'on'")
        writer.execute("INSERT INTO slowwave.held VALUES (1, 'x')")
        writer.commit()
        building.join(LONGEST)
        assert finished.is_set()
        rows = db.execute(
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indisvalid AND indexrelid::regclass::text LIKE %s",
            ("%runs_at",),
        ).fetchall()
        assert len(rows) == parts + 1
        assert all("at DESC" in definition for (definition,) in rows)
        assert migrate._version(db, "own") == LATEST + 1


def test_the_command_shows_what_is_missing_then_migrates(
    released: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(migrate, "SMALL", 1)

    def run(*words: str) -> int:
        with pytest.raises(SystemExit) as ended:
            app.main(["migrate", "--store", released, *words])
        return int(ended.value.code or 0)

    assert run("--check") == 1
    assert f"schema {RELEASED} of {LATEST}" in capsys.readouterr().out
    assert run() == 0
    said = capsys.readouterr()
    assert f"migration {LATEST} of {LATEST}" in said.err
    assert f"schema {LATEST}, up to date" in said.out
    assert run("--check") == 0


def test_a_file_is_migrated_by_the_same_command(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(gzip.decompress((DATA / "schema_2.db.gz").read_bytes()))
    before = schema_state(str(path))
    assert (before.version, before.steps[0]) == (2, 3)
    after = migrate_store(str(path), patience=1, say=print)
    assert (after.version, after.steps) == (before.wanted, ())


def test_a_new_store_can_be_partitioned_from_the_first_day(blank: str, tmp_path: Path) -> None:
    state = init_store(blank, partitions=4)
    assert state.steps == ()
    with psycopg.connect(blank) as db:
        parts = db.execute(
            "SELECT count(*) FROM pg_inherits WHERE inhparent = 'slowwave.memories'::regclass"
        ).fetchone()
        assert parts == (4,)
    with pytest.raises(InputError, match="already"):
        init_store(blank)
    with pytest.raises(InputError, match="partitions=4"):
        init_store(str(tmp_path / "memory.db"), partitions=4)
    assert init_store(str(tmp_path / "memory.db")).version == init_store(str(tmp_path / "other.db")).wanted


def test_one_scope_with_those_below_it_moves_to_another_database(own: str, tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Slowwave.open(own, llm=None, embedder="none") as store:
        for names in (("acme",), ("acme", "ann"), ("acme2",), ("other",)):
            store.within(*names).add(f"{names[-1]} has a harp")
        gone = store.within("acme", "ann").add("Ann has a violin").ids[0]
        store.within("acme", "ann").erase(id=gone)
    report = copy_store(own, path, scope="acme")
    assert sorted(report.hashes) == ["acme", "acme/ann"]
    with Slowwave.open(path, llm=None, embedder="none") as moved:
        assert [scope.path for scope in moved.scopes()] == ["acme", "acme/ann"]
        ann = moved.within("acme", "ann")
        again = ann.add_messages({"role": "user", "content": "Ann has a violin"}, "c")
        assert ann.doctor(deep=True) == []
        assert again.ids
    with pytest.raises(NotFoundError, match="no scope 'nobody'"):
        copy_store(own, path, scope="nobody")
