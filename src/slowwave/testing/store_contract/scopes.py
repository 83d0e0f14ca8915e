"""Tests of the reads over all scopes: inherit `ScopeContract` in a test file and define a `store` fixture."""

# ruff: noqa: D102, PLR2004  # a test's name is its sentence, and expected numbers are the point of a test

from dataclasses import replace
from datetime import timedelta

from slowwave.model.scope import Scope
from slowwave.ports import Store
from slowwave.testing.builders import NOW, add, change, fact, message, plan

PATHS = ("acme", "acme-2", "acme/alice", "acme/alice/notes", "acme/bob", "acme2", "acme0/x", "zoë", "%FF", "\U0010ffff")


def filled(store: Store) -> Store:
    """The store with a message in each of `PATHS`."""
    for scope in PATHS:
        store.apply(plan(add(message("The zoo opens at nine", scope=scope, id=f"of {scope}")), scope=scope))
    return store


class ScopeContract:
    """Tests of `scopes` and `scope_of`. The `store` fixture of the inheriting class returns an empty, open store."""

    def test_an_empty_store_has_no_scopes(self, store: Store) -> None:
        assert store.scopes("", "", 10) == []
        assert store.scope_of("x", "") is None

    def test_scopes_are_listed_in_order_of_path_page_by_page(self, store: Store) -> None:
        filled(store)
        found: list[str] = []
        while page := store.scopes("", found[-1] if found else "", 3):
            assert len(page) <= 3
            found += [scope.path for scope in page]
        assert found == sorted(PATHS)

    def test_a_prefix_selects_a_path_and_those_below_it(self, store: Store) -> None:
        filled(store)
        below = ["acme", "acme/alice", "acme/alice/notes", "acme/bob"]
        assert [scope.path for scope in store.scopes("acme", "", 10)] == below
        assert [scope.path for scope in store.scopes("acme", "", 2)] == below[:2]
        assert [scope.path for scope in store.scopes("acme", "acme", 2)] == below[1:3]
        assert [scope.path for scope in store.scopes("acme", "acme/alice", 10)] == below[2:]
        assert [scope.path for scope in store.scopes("acme/alice", "", 10)] == below[1:3]
        assert store.scopes("acm", "", 10) == []

    def test_content_is_counted_by_scope(self, store: Store) -> None:
        known, faded = fact("The zoo opens at nine", scope="a"), fact("Bob likes tea", scope="a")
        store.apply(plan(add(message("One", scope="a")), add(message("Two", scope="a")), scope="a"))
        later = replace(plan(add(known), add(faded), scope="a"), at=NOW + timedelta(days=1))
        store.apply(later)
        store.apply(replace(plan(change(faded, phase="cold"), scope="a"), at=NOW + timedelta(days=2)))
        store.apply(plan(add(fact("Of another", scope="b")), scope="b"))
        assert store.scopes("", "", 10) == [
            Scope(path="a", names=("a",), messages=2, facts=1, last_written=NOW + timedelta(days=2)),
            Scope(path="b", names=("b",), messages=0, facts=1, last_written=NOW),
        ]

    def test_an_id_is_found_in_any_scope_at_or_below_a_prefix(self, store: Store) -> None:
        filled(store)
        for scope in PATHS:
            assert store.scope_of(f"of {scope}", "") == scope
        assert store.scope_of("of acme", "acme") == "acme"
        assert store.scope_of("of acme/bob", "acme") == "acme/bob"
        assert store.scope_of("of acme-2", "acme") is None
        assert store.scope_of("of acme", "acme/alice") is None
