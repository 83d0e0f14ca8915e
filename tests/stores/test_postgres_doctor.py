"""What a doctor says of a server: each thing that may be wrong is named with what to do about it."""

from collections.abc import Callable, Iterator
from importlib.resources import files

import psycopg
import pytest
from click.testing import CliRunner

from slowwave import AgentMemory, Message
from slowwave.cli.app import app
from slowwave.errors import ReadOnlyError
from slowwave.stores.postgres.doctor import UNBOUND
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import PostgresServer

Look = Callable[[], dict[str, tuple[bool, str]]]


@pytest.fixture
def opened(own: str) -> Iterator[PostgresStore]:
    store = PostgresStore(own, connections=2)
    yield store
    store.close()


@pytest.fixture
def look(opened: PostgresStore) -> Look:
    return lambda: {name: (ok, run_sql) for name, ok, run_sql in opened.about()}


def run_sql(address: str, statement: str) -> None:
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(statement.encode())


def test_doctor_reports_of_a_healthy_server_only_a_disk_without_sync(look: Look) -> None:
    found = look()
    assert {name for name, (ok, _) in found.items() if not ok} == {"disk"}, "the tests' server hurries"
    assert found["disk"][1].startswith("fsync off: what was acknowledged is lost")
    assert found["server"][1].startswith("PostgreSQL 1")
    assert "a superuser that works as slowwave_app" in found["login"][1]
    assert found["pgvector"][1][0].isdigit()
    assert found["migrations"][1].endswith("up to date")


def test_doctor_names_a_missing_extension_and_the_statement_that_installs_it(own: str, look: Look) -> None:
    run_sql(own, "DROP EXTENSION vector CASCADE")
    ok, words = look()["pgvector"]
    assert ok
    assert words.startswith("not installed: every scope is searched in RAM")
    create, alter, *remade = words.partition("(")[2].rstrip(")").partition(": ")[2].split("; ")
    run_sql(own, create)
    assert look()["pgvector"][1].endswith("; ".join((alter, *remade)))
    run_sql(own, "; ".join((alter, *remade)))
    assert look()["pgvector"][1].replace(".", "").isdigit()


@pytest.fixture
def without_autovacuum(own: str) -> Iterator[None]:
    run_sql(own, "ALTER SYSTEM SET autovacuum = off")
    run_sql(own, "SELECT pg_reload_conf()")
    yield
    run_sql(own, "ALTER SYSTEM RESET autovacuum")
    run_sql(own, "SELECT pg_reload_conf()")


@pytest.mark.usefixtures("without_autovacuum")
@pytest.mark.parametrize("partitions", [False, True], ids=["whole", "partitioned"])
def test_large_tables_without_statistics_are_named_until_they_are_analysed(
    own: str, look: Look, *, partitions: bool
) -> None:
    if partitions:
        script = (files("slowwave.stores") / "postgres/sql/partitions.sql").read_text("utf-8")
        run_sql(own, f"SET slowwave.partitions = 4; {script}")
    with AgentMemory.open(own, scope="t", llm=None, embedder="static") as memory:
        memory.add_messages([Message(role="user", content=f"Barge {n} carries gravel") for n in range(1500)], "c")
    ok, words = look()["statistics"]
    assert not ok
    what, _, statement = words.partition(": run as the owner: ")
    assert "entries" in what
    assert "due" not in what, "a small table"
    run_sql(own, statement)
    known = (True, "the planner has those of every large table")
    assert look()["statistics"] == known
    run_sql(own, "SELECT pg_stat_reset()")  # as a crash does: the server forgets when a table was analysed
    assert look()["statistics"] == known


@pytest.mark.parametrize("table", ["memories", "journal", "scopes", "snapshots"])
@pytest.mark.parametrize("lost", ["NO FORCE ROW LEVEL SECURITY", "DISABLE ROW LEVEL SECURITY"])
def test_a_table_without_row_security_is_found(own: str, look: Look, table: str, lost: str) -> None:
    run_sql(own, f"ALTER TABLE slowwave.{table} {lost}")
    ok, words = look()["row security"]
    assert not ok
    assert f"ALTER TABLE slowwave.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY" in words
    run_sql(own, words.rpartition("owner: ")[2])
    assert look()["row security"][0]


@pytest.mark.parametrize(
    ("table", "spoilt"),
    [
        ("links", "DROP POLICY own ON slowwave.links"),
        ("journal", "ALTER POLICY own ON slowwave.journal USING (true)"),
        ("scopes", "ALTER POLICY own ON slowwave.scopes USING (true)"),
        ("memories", "ALTER POLICY own ON slowwave.memories WITH CHECK (true)"),
        ("memories", "ALTER POLICY own ON slowwave.memories TO slowwave_app"),
        ("runs", "CREATE POLICY open ON slowwave.runs FOR SELECT USING (true)"),
        ("held", 'ALTER POLICY own ON slowwave.held RENAME TO "some ""other"'),
        ("due", "CREATE POLICY own ON slowwave.due USING (true)"),
    ],
)
def test_doctor_finds_a_changed_policy_and_names_the_statements_that_repair_it(
    own: str, look: Look, table: str, spoilt: str
) -> None:
    assert look()["row security"][0]
    run_sql(own, spoilt)
    ok, words = look()["row security"]
    assert not ok
    assert words.startswith(f"not in force, or with other policies, on {table}: run as the owner: ")
    run_sql(own, words.rpartition("owner: ")[2])
    assert look()["row security"][0]


@pytest.mark.parametrize(
    "spoilt", ["DROP TRIGGER came_in ON slowwave.runs", "ALTER TABLE slowwave.runs DISABLE TRIGGER came_in"]
)
def test_doctor_finds_a_disabled_trigger_and_names_the_statements_that_repair_it(
    own: str, look: Look, spoilt: str
) -> None:
    assert look()["triggers"] == (True, "those of the migrations")
    run_sql(own, spoilt)
    with AgentMemory.open(own, scope="acme", llm=None, embedder="none") as memory:
        memory.add_messages([Message(role="user", content="I own the deploy pipeline", id="1")])
    with psycopg.connect(own) as db:
        assert db.execute("SELECT count(*) FROM slowwave.due").fetchone() == (0,)
    ok, words = look()["triggers"]
    assert not ok
    assert words.startswith("missing or disabled: runs.came_in, due: run as the owner: ")
    run_sql(own, words.rpartition("owner: ")[2])
    assert look()["triggers"][0]
    with psycopg.connect(own) as db:
        assert db.execute("SELECT count(*) FROM slowwave.due").fetchone() == (1,), "what came in meanwhile is due"


@pytest.mark.parametrize(
    ("spoilt", "name"),
    [
        ("CREATE OR REPLACE FUNCTION slowwave.seen_all() RETURNS boolean LANGUAGE sql RETURN true", "seen_all()"),
        ("ALTER FUNCTION slowwave.seen() SECURITY DEFINER", "seen()"),
        ("DROP FUNCTION slowwave.mark_due(bigint)", "mark_due(whose bigint)"),
        (
            "CREATE OR REPLACE FUNCTION slowwave.due_now() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "due_now()",
        ),
        (
            "CREATE FUNCTION slowwave.current_setting(name text, missing boolean) RETURNS text LANGUAGE sql RETURN 'on'",
            "current_setting(name text, missing boolean)",
        ),
    ],
)
def test_doctor_finds_a_changed_function_and_names_the_statements_that_repair_it(
    own: str, look: Look, spoilt: str, name: str
) -> None:
    assert look()["functions"] == (True, "those of the migrations")
    run_sql(own, spoilt)
    ok, words = look()["functions"]
    assert not ok
    assert words.startswith(f"missing, changed or unknown: {name}: run as the owner: ")
    run_sql(own, words.rpartition("owner: ")[2])
    assert look()["functions"][0]


def test_doctor_reports_that_functions_were_not_compared_without_the_right_to_create_temporary_ones(
    own: str, opened: PostgresStore
) -> None:
    database = psycopg.conninfo.conninfo_to_dict(own)["dbname"]
    assert opened.about()
    run_sql(own, f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")
    run_sql(own, "CREATE ROLE poor LOGIN IN ROLE slowwave_app")
    store = PostgresStore(own.replace("postgres:@", "poor@"))
    found = {name: (ok, words) for name, ok, words in store.about()}["functions"]
    store.close()
    run_sql(own, "DROP ROLE poor")
    assert found[0]
    assert found[1].startswith("not compared with those of the migrations: permission denied")


def test_every_table_with_rows_of_a_scope_is_bound(own: str, opened: PostgresStore) -> None:
    assert opened.about()
    with psycopg.connect(own) as db:
        bare = db.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'slowwave'::regnamespace AND relkind = 'r' AND NOT relforcerowsecurity"
        ).fetchall()
        scoped = db.execute(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = 'slowwave' AND column_name = 'scope'"
        ).fetchall()
    assert {name for (name,) in bare} == UNBOUND
    assert {name for (name,) in scoped} & UNBOUND == {"due"}, "of a scope, but without content"


def test_missing_rights_are_named_with_the_grant_statement(own: str, look: Look) -> None:
    run_sql(own, "REVOKE UPDATE ON slowwave.memories FROM slowwave_app")
    ok, words = look()["privileges"]
    assert not ok
    run_sql(own, words.partition("owner, ")[2])
    assert look()["privileges"][0]


def test_doctor_reports_a_login_that_bypasses_row_level_security(own: str, opened: PostgresStore) -> None:
    assert opened.about()
    run_sql(own, "CREATE ROLE beyond LOGIN BYPASSRLS")
    run_sql(own, "GRANT USAGE ON SCHEMA slowwave TO beyond")
    run_sql(own, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA slowwave TO beyond")
    store = PostgresStore(own.replace("postgres:@", "beyond@"))
    try:
        found = {name: (ok, words) for name, ok, words in store.about()}
        assert found["login"] == (
            False,
            "beyond is not bound by row-level security: GRANT slowwave_app TO beyond, or ALTER ROLE beyond NOBYPASSRLS",
        )
        run_sql(own, "GRANT slowwave_app TO beyond")
        assert {name: ok for name, ok, _ in store.about()}["login"]
        run_sql(own, "ALTER ROLE slowwave_app BYPASSRLS")
        assert not {name: ok for name, ok, _ in store.about()}["login"]
    finally:
        store.close()
        run_sql(own, "ALTER ROLE slowwave_app NOBYPASSRLS")
        run_sql(own, "DROP OWNED BY beyond")
        run_sql(own, "DROP ROLE beyond")


def test_a_login_without_the_right_to_create_the_schema_learns_which_role_may(postgres: PostgresServer) -> None:
    empty = postgres.database()
    run_sql(empty, "CREATE ROLE newcomer LOGIN")
    theirs = empty.replace("postgres:@", "newcomer@")
    try:
        with pytest.raises(ReadOnlyError, match="is empty, and this login may not make the schema") as refused:
            PostgresStore(theirs)
        run_sql(empty, str(refused.value).split("`")[1])
        store = PostgresStore(theirs)
        found = {name: ok for name, ok, _ in store.about()}
        store.close()
        assert found["login"]
        assert found["row security"], "forced for the owner too"
    finally:
        run_sql(empty, "DROP OWNED BY newcomer CASCADE")
        run_sql(empty, "DROP ROLE newcomer")


def test_doctor_reports_missing_migrations_and_a_small_server(own: str) -> None:
    store = PostgresStore(own, connections=10_000)
    run_sql(own, "DELETE FROM slowwave.migrations WHERE number > 1")
    found = {name: (ok, words) for name, ok, words in store.about()}
    store.close()
    assert found["migrations"][1].startswith("schema 1 of ")
    assert not found["migrations"][0]
    assert found["pool"][1].endswith("raise max_connections, or put a pooler in between")


def test_the_command_shows_each_and_fails_where_one_does(own: str, opened: PostgresStore) -> None:
    assert opened.name
    done = CliRunner().invoke(app, ["--store", own, "--embedder", "none", "doctor"])
    assert done.exit_code == 1
    assert [line for line in done.stdout.splitlines() if line.startswith("PROBLEM")] == [
        "PROBLEM  disk: fsync off: what was acknowledged is lost when the machine fails; turn on and reload"
    ]
    assert "ok       row security: enabled and forced on " in done.stdout
