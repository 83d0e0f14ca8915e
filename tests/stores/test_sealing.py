"""Both stores refuse a row that would be read back differently, and apply nothing of its plan."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from slowwave.errors import InputError
from slowwave.model.codec import dumps, to_row
from slowwave.model.operations import Add, Link, MoveCursor, Operation, RejectFact, Suppress
from slowwave.model.plan import Cost, Group
from slowwave.model.query import Where
from slowwave.ports import Store
from slowwave.stores.rows import checksum, journal_checksum
from slowwave.stores.seal import sealed, sealed_journal
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import NOW, SCOPE, add, change, entry, fact, group, message, plan, use

KNOWN = fact("Likes tea", id="known")
NUL, LONE = "a\x00b", "a\ud800b"


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """An empty store of each kind."""
    opened = SqliteStore(":memory:") if request.param == "sqlite" else request.getfixturevalue("in_postgres")
    yield opened
    if request.param == "sqlite":
        opened.close()


def used(**fields: Any) -> Operation:  # noqa: ANN401 - fields of a Memory
    return use(KNOWN, **fields)


def linked(**fields: Any) -> Operation:  # noqa: ANN401 - fields of a Link
    values = {
        "source": "known",
        "target": "x",
        "kind": "close",
        "weight": 0.5,
        "before": 0.0,
        "because": "b",
        "at": NOW,
    }
    return Link(**{**values, **fields})


def advanced(**fields: Any) -> Operation:  # noqa: ANN401 - fields of an Advance
    return MoveCursor(
        **{"conversation": "c1", "cursor": "distil", "before": 0, "after": 1, "because": "read", **fields}
    )


WRONG: dict[str, Operation] = {
    "a number as a session": used(last_session=42),
    "a truth as a session": used(last_session=True),
    "zero as a session": used(last_session=0),
    "NaN as a session": used(last_session=float("nan")),
    "bytes as a session": used(last_session=b"chat"),
    "a list as a session": used(last_session=["chat"]),
    "NUL in a session": used(last_session=NUL),
    "a lone surrogate in a session": used(last_session=LONE),
    "a truth as a count": used(sessions=True),
    "a fraction as a count": used(sessions=1.5),
    "a number as a speaker": add(message("Hi", speaker=7)),
    "NUL in a conversation": add(message("Hi", conversation=NUL)),
    "a lone surrogate in a text": add(fact(LONE)),
    "NUL in a text": add(fact(NUL)),
    "an infinite importance": add(fact("x", importance=float("inf"))),
    "a confidence that is no number": add(fact("x", confidence=float("nan"))),
    "bytes in metadata": add(fact("x", metadata={"a": b"b"})),
    "no category": add(fact("x", category=None)),
    "a number too large for a column": add(fact("x", accesses=1 << 70)),
    "a number as a subject": change(KNOWN, subject=42),
    "an entry of text": Add(memory=fact("x"), because="b", entry=replace(entry("x"), terms="x")),
    "an entry with a whole number as a share": Add(
        memory=fact("x"), because="b", entry=replace(entry("x"), question=1)
    ),
    "a fact with a seq": add(fact("x", seq=1)),
    "a fact with a role": add(fact("x", role="user")),
    "a fact with a speaker": add(fact("x", speaker="Alice")),
    "a fact with members": add(fact("x", members=("known",))),
    "a message with a subject": add(message("Hi", subject="Alice")),
    "a message with a span": add(message("Hi", span=(1, 2))),
    "a summary of facts with a conversation": add(fact("x", kind="summary", conversation="c1")),
    "a summary of a conversation with a seq": add(fact("x", kind="summary", conversation="c1", span=(1, 2), seq=3)),
    "a fact that a change gives a role": change(KNOWN, role="user"),
    "a number as the reason": add(fact("x"), because=7),
    "NUL in the reason": add(fact("x"), because=NUL),
    "a number as the end of a link": linked(target=42),
    "zero as the end of a link": linked(target=0),
    "a weight that is no number": linked(weight=float("nan")),
    "a number as a cursor's conversation": advanced(conversation=42),
    "a fraction as a cursor": advanced(after=1.5),
    "a number as a suppressed key": Suppress(key=42, because="b"),
    "a lone surrogate in a refused fact": RejectFact(text=LONE, quote="", reason="r", because="b"),
}


def state(store: Store) -> object:
    return store.select([SCOPE], Where()), store.runs(SCOPE), store.links(SCOPE, None), store.conversations(SCOPE)


@pytest.mark.parametrize("name", WRONG)
def test_a_value_that_would_not_be_read_back_is_refused_and_nothing_of_its_plan_is_applied(
    store: Store, name: str
) -> None:
    store.apply(plan(add(KNOWN)))
    before = state(store)
    good = add(fact("Owns the pipeline"))
    for groups in ([WRONG[name]], [good, WRONG[name]], [group([good]), group([WRONG[name]])]):
        with pytest.raises(InputError):
            store.apply(plan(*groups))
        assert state(store) == before
    assert store.check(deep=True) == []
    assert len(store.apply(plan(use(KNOWN, last_session="42"))).applied) == 1, "the store goes on"


def test_a_stored_row_with_a_field_of_another_kind_can_still_be_changed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = fact("Likes tea", speaker="Alice")
    with monkeypatch.context() as earlier:  # earlier versions stored such rows
        earlier.setattr("slowwave.stores.seal.misplaced_fields", lambda _: ())
        store.apply(plan(add(odd)))
    store.apply(plan(change(odd, pinned=True)))
    (stored,) = store.get([SCOPE], [odd.id])
    assert (stored.pinned, stored.speaker) == (True, "Alice")
    with pytest.raises(InputError, match="no role"):
        store.apply(plan(change(stored, role="user")))


@pytest.mark.parametrize(
    "fields",
    [
        {"cause": 7},
        {"cause": NUL},
        {"scope": NUL},
        {"id": LONE},
        {"cost": Cost(money=float("nan"))},
        {"cost": Cost(calls="1")},
    ],
)
def test_a_run_that_would_not_be_read_back_is_refused(store: Store, fields: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        store.apply(plan(add(fact("x")), **fields))
    with pytest.raises(InputError):
        store.apply(replace(plan(), groups=(Group(operations=(add(fact("x")),), because=7),)))
    assert store.select([SCOPE], Where()) == []
    assert store.costs(SCOPE) == {}


def test_an_index_entry_that_would_not_be_read_back_is_refused(store: Store) -> None:
    store.apply(plan(add(KNOWN)))
    with pytest.raises(InputError, match="index entry"):
        store.index(SCOPE, {"known": replace(entry("x"), words="many")})
    assert store.check(deep=True) == []


class Name(str):
    """A subclass of str, such as a StrEnum is one."""

    __slots__ = ()


def test_a_subclass_of_str_is_stored_as_its_text(store: Store) -> None:
    store.apply(plan(add(fact("x", id="f", category=Name("goal"), subject="back\\u0000slash"))))
    (stored,) = store.get([SCOPE], ["f"])
    assert (stored.category, stored.subject) == ("goal", "back\\u0000slash")
    assert store.check(deep=True) == []


def test_checksums_are_those_that_reading_expects() -> None:

    row = to_row(fact("Zoë likes 茶", subject="back\\u0000slash"))
    first = dumps(row[:37])  # columns that were added later count only if they are set
    assert sealed(row) == (first, checksum(first))
    zoned = to_row(fact("Zoë likes 茶", valid_from=datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=9)))))
    assert sealed(zoned) == (dumps(zoned), checksum(dumps(zoned)))
    columns = ("link", "a", "b", "därum", '{"kind":"close"}')
    assert sealed_journal(*columns) == journal_checksum(*columns)
    assert sealed_journal("refuse", None, None, "b", None) == journal_checksum("refuse", None, None, "b", None)
