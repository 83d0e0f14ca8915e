"""What only a shared server has: who sees which rows, many that boot at once, and its errors in clear sentences."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from tests.stores.conftest import older_store

from slowwave.errors import ClosedError, ForeignFileError, InputError, NewerSchemaError, SettingsError, StoreError
from slowwave.model.codec import to_micros
from slowwave.model.operations import Erase
from slowwave.model.query import Where
from slowwave.stores import make
from slowwave.stores.migrations import migrations
from slowwave.stores.postgres.statements import STATEMENTS
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import NOW, SCOPE, add, advance, change, fact, group, link, message, plan
from slowwave.testing.postgres import PostgresServer

OTHER = "acme/bob"
SCOPED = (
    *("memories", "entries", "conversations", "cursors", "links", "held", "runs", "journal", "leases", "gists"),
    *("snapshots", "answers", "pending_proofs"),
    *(
        "search_state",
        "search_taken",
        "search_places",
        "search_postings",
        "search_terms",
        "search_rests",
        "search_talks",
    ),
    "search_speakers",
)
FILLED = ("memories", "entries", "conversations", "cursors", "links", "runs", "journal", "leases")


@pytest.fixture
def canary(in_postgres: PostgresStore) -> PostgresStore:
    """A store with rows of one scope in nearly every table."""
    tea, rye = fact("Likes tea"), fact("Likes rye")
    in_postgres.apply(plan(add(message("Hello")), add(tea), add(rye), link(tea.id, rye.id), advance(0, 1)))
    in_postgres.lease(SCOPE, "me", 60, tea.recorded_at)
    in_postgres.apply(plan(add(fact("Likes milk", scope=OTHER)), scope=OTHER))
    return in_postgres


def app(address: str) -> "psycopg.Connection[tuple[object, ...]]":
    """A connection as the store uses it, but one that says nothing of scopes."""
    db = psycopg.connect(address, autocommit=False)
    db.execute("SET LOCAL ROLE slowwave_app")
    return db


# ---- row-level security


@pytest.mark.usefixtures("canary")
def test_a_transaction_that_names_no_scope_sees_no_row_of_any_table(address: str) -> None:
    with app(address) as db:
        for table in (*SCOPED, "scopes"):
            assert db.execute(f"SELECT count(*) FROM slowwave.{table}".encode()).fetchone() == (0,)


@pytest.mark.usefixtures("canary")
def test_a_transaction_sees_the_rows_of_the_scopes_it_names_and_no_others(address: str) -> None:
    with psycopg.connect(address) as db:
        tokens = dict(db.execute("SELECT path, token FROM slowwave.scopes").fetchall())
    with app(address) as db:
        db.execute("SELECT set_config('slowwave.scopes', %s, true)", (str(tokens[SCOPE]),))
        for table in FILLED:
            seen = db.execute(f"SELECT DISTINCT scope FROM slowwave.{table}".encode()).fetchall()
            assert seen == [(tokens[SCOPE],)], table


@pytest.mark.usefixtures("canary")
def test_the_next_transaction_of_a_connection_does_not_see_rows_of_other_scopes(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("BEGIN")
        db.execute("SET LOCAL ROLE slowwave_app")
        db.execute("SELECT set_config('slowwave.every_scope', 'on', true)")
        assert db.execute("SELECT count(*) > 3 FROM slowwave.memories").fetchone() == (True,)
        db.execute("COMMIT")
        db.execute("BEGIN")
        db.execute("SET LOCAL ROLE slowwave_app")
        assert db.execute("SELECT count(*) FROM slowwave.memories").fetchone() == (0,)


@pytest.mark.usefixtures("canary")
def test_nothing_can_be_written_or_destroyed_in_a_scope_that_was_not_named(address: str) -> None:
    with app(address) as db:
        for table in SCOPED:
            assert db.execute(f"DELETE FROM slowwave.{table}".encode()).rowcount == 0
        assert db.execute("UPDATE slowwave.memories SET text = 'mine'").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            db.execute("INSERT INTO slowwave.held VALUES (1, 'x')")


def test_every_table_with_a_scope_is_guarded(canary: PostgresStore, address: str) -> None:
    with psycopg.connect(address) as db:
        rows = db.execute(
            "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, EXISTS (SELECT 1 FROM pg_attribute a "
            "WHERE a.attrelid = c.oid AND a.attname = 'scope') FROM pg_class c "
            "WHERE c.relnamespace = 'slowwave'::regnamespace AND c.relkind = 'r'"
        ).fetchall()
    guarded = {name for name, forced, _ in rows if forced}
    scoped = {name for name, _, has in rows if has} - {
        "due"
    }  # whoever looks for work sees all of it: it holds no content
    assert scoped == set(SCOPED) == guarded - {"scopes"}
    assert canary.check(deep=True) == []


def test_due_scopes_are_known_without_reading_their_memories(in_postgres: PostgresStore, address: str) -> None:
    def due() -> list[tuple[object, ...]]:
        with psycopg.connect(address) as db:
            return db.execute("SELECT at FROM slowwave.due").fetchall()

    at, later = to_micros(NOW), NOW + timedelta(days=1)
    tea, rye = fact("Likes tea", due_at=later), fact("Likes rye", due_at=NOW)
    in_postgres.apply(plan(add(tea), cause="edit"))
    assert due() == [(to_micros(later),)]
    in_postgres.apply(plan(add(rye), cause="edit"))
    assert due() == [(at,)]
    in_postgres.apply(plan(change(rye, phase="cold"), cause="sleep"))
    assert due() == [(to_micros(later),)]
    in_postgres.apply(plan(add(message("Hello")), cause="observe"))
    in_postgres.apply(plan(add(fact("Likes oats", due_at=NOW)), cause="edit"))
    assert due() == [(0,)]
    assert in_postgres.lease(SCOPE, "me", 60, NOW) == 1
    in_postgres.slept(SCOPE, "me", in_postgres.last_run(SCOPE), NOW)
    assert due() == [(at,)]
    in_postgres.apply(
        plan(*(Erase(memory=one.id, because="asked") for one in in_postgres.select([SCOPE], Where())), cause="erase")
    )
    assert due() == []


def test_the_migration_fills_the_table_of_due_scopes(postgres: PostgresServer) -> None:
    address = postgres.database()
    with older_store(address, 2) as old:
        old.apply(plan(add(fact("Likes tea", due_at=NOW)), cause="edit"))
        old.apply(plan(add(message("Hello", scope=OTHER)), scope=OTHER, cause="observe"))
        old.apply(plan(add(message("Hello", scope="slept")), scope="slept", cause="observe"))
        last = old.last_run("slept")
    with psycopg.connect(address) as db:  # as the code of that version wrote it
        db.execute(
            "INSERT INTO slowwave.leases (scope, token, holder, until, run) "
            "SELECT token, 1, 'me', 0, %s FROM slowwave.scopes WHERE path = 'slept'",
            (last,),
        )
    opened = PostgresStore(address)
    assert set(opened.scopes_due(NOW, 10)) == {SCOPE, OTHER, "slept"}  # its pass did not read messages
    opened.close()


def test_a_login_with_rights_of_use_only_can_read_and_write(canary: PostgresStore, address: str) -> None:
    with psycopg.connect(address, autocommit=True) as db:
        db.execute("DROP ROLE IF EXISTS app_user")
        db.execute("CREATE ROLE app_user LOGIN IN ROLE slowwave_app")
    opened = PostgresStore(re.sub("//[^@]*@", "//app_user@", address), connections=2)
    try:
        assert opened.count(SCOPE) == canary.count(SCOPE)
        assert not opened.apply(plan(add(fact("Likes oats")))).dropped
    finally:
        opened.close()


# ---- the schema


def test_of_many_that_boot_at_once_one_migrates(postgres: PostgresServer) -> None:
    fresh, start = postgres.database(), threading.Barrier(4)

    def boot(number: int) -> int:
        start.wait()
        opened = PostgresStore(fresh, connections=1)
        opened.apply(plan(add(fact(f"Fact {number}"))))
        opened.close()
        return number

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(boot, range(4))) == [0, 1, 2, 3]
    with psycopg.connect(fresh) as db:
        assert db.execute("SELECT count(*) FROM slowwave.migrations").fetchone() == (len(migrations("postgres")),)
        assert db.execute("SELECT count(*) FROM slowwave.memories").fetchone() == (4,)


def test_a_foreign_or_newer_schema_is_refused_and_unchanged(postgres: PostgresServer) -> None:
    foreign, newer = postgres.database(), postgres.database()
    with psycopg.connect(foreign) as db:
        db.execute("CREATE SCHEMA slowwave")
    with pytest.raises(ForeignFileError, match="another program"):
        PostgresStore(foreign)
    PostgresStore(newer).close()
    with psycopg.connect(newer) as db:
        db.execute("INSERT INTO slowwave.migrations VALUES (99)")
    with pytest.raises(NewerSchemaError, match="schema 99"):
        PostgresStore(newer)


def test_both_schemas_have_the_same_tables_and_columns(in_postgres: PostgresStore, address: str) -> None:
    sqlite = SqliteStore(":memory:")
    ours = {
        (table, column)
        for (table,) in sqlite._db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (column,) in sqlite._db.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    }
    indexes = sqlite._db.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").fetchall()
    sqlite.close()
    with psycopg.connect(address) as db:
        columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'slowwave'"
        theirs = set(db.execute(columns).fetchall())
        made = {name for (name,) in db.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'slowwave'")}
    own = {
        "migrations",
        "due",
        "workers",
        "pending_proofs",
        *(name for name, _ in theirs if name.startswith("search_")),
    }
    assert {pair for pair in theirs if pair[0] not in own} == {pair for pair in ours if pair[0] != "log"}
    assert {name for (name,) in indexes} - made == set()
    assert in_postgres.count(SCOPE) == {}


def test_the_server_accepts_every_statement(in_postgres: PostgresStore) -> None:
    with in_postgres._guard, in_postgres._one_state():
        in_postgres._db.execute("SELECT 1")
        raw = in_postgres._db._connection()
        for statement in STATEMENTS.values():
            text = re.sub(r"\$\d+", "NULL", statement.text.decode())
            raw.execute(f"EXPLAIN {text}".encode())


# ---- addresses and errors


def test_an_unreachable_address_is_named_without_its_password() -> None:
    with pytest.raises(StoreError) as raised:
        PostgresStore("postgresql://ann:hunter2@127.0.0.1:9/memories", busy_seconds=1)
    assert "postgresql://ann@127.0.0.1:9/memories" in str(raised.value)
    assert "hunter2" not in str(raised.value)
    with pytest.raises(SettingsError, match="malformed"):
        PostgresStore("postgresql://[::1/x")
    with pytest.raises(SettingsError, match="mysql"):
        make("mysql://localhost/x")


def test_text_that_the_server_cannot_store_is_refused_with_one_sentence(in_postgres: PostgresStore) -> None:
    with pytest.raises(InputError, match="NUL"):
        in_postgres.apply(plan(add(fact("a\x00b"))))
    assert in_postgres.select([SCOPE], Where()) == []


def test_a_closed_store_raises_a_closed_error_and_closing_twice_is_allowed(own: str) -> None:
    opened = PostgresStore(own)
    opened.close()
    opened.close()
    with pytest.raises(ClosedError):
        opened.apply(plan(group([add(fact("Likes tea"))])))


def test_a_dropped_connection_is_replaced_unnoticed(in_postgres: PostgresStore, address: str) -> None:
    in_postgres.apply(plan(add(fact("Likes tea"))))
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    assert not in_postgres.apply(plan(add(fact("Likes rye")))).dropped
    assert len(in_postgres.select([SCOPE], Where())) == 2
