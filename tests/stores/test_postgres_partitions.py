"""The scope is part of every key: an older store gets there with its rows."""

import psycopg

from slowwave.stores.copying import state_hash
from slowwave.stores.migrate import migrations
from slowwave.stores.postgres import PostgresStore
from slowwave.testing.plans import NOW, SCOPE, add, advance, entry, fact, link, message, plan
from slowwave.testing.postgres import PostgresServer

OTHER = "acme/bob"


def lived_in(store: PostgresStore) -> None:
    """Rows of two scopes in every table with a key."""
    tea, rye, hello = fact("Likes tea"), fact("Likes rye"), message("Hello there, old friend", id="m-1")
    store.apply(plan(add(hello), add(tea), add(rye), link(tea.id, rye.id), advance(0, 1), cause="observe"))
    store.apply(plan(add(fact("Likes milk", scope=OTHER, id="f-2")), scope=OTHER, cause="add"))


def test_an_older_store_gets_the_scope_into_its_keys_and_keeps_its_rows(postgres: PostgresServer) -> None:
    address, scopes = postgres.database(), (SCOPE, OTHER)
    old = PostgresStore(address, steps=migrations("postgres")[:3])
    lived_in(old)
    before = [state_hash(old, scope) for scope in scopes]
    old.close()
    store = PostgresStore(address)
    try:
        assert [state_hash(store, scope) for scope in scopes] == before
        assert state_hash(store, "nobody") not in before
        assert store.index(SCOPE, {"m-1": entry("Hello there, old friend")}) == 1
        assert store.index(SCOPE, {"m-1": entry("Hello there, old friend")}) == 1, "an upsert finds the key"
        assert not store.apply(plan(add(fact("Likes oats")))).dropped
        assert store.scopes_due(NOW, 10) == [SCOPE, OTHER]
        assert store.check(deep=True) == []
    finally:
        store.close()


def test_the_scope_is_part_of_every_unique_index_of_a_table_that_has_one(postgres: PostgresServer) -> None:
    address = postgres.database()
    PostgresStore(address).close()
    with psycopg.connect(address) as db:
        without = db.execute(
            "SELECT i.indexrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid "
            "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'scope' "
            "WHERE c.relnamespace = 'slowwave'::regnamespace AND i.indisunique AND NOT a.attnum = ANY (i.indkey)"
        ).fetchall()
    assert without == []
