"""The same random history in SQLite and in Postgres gives the same state, runs and hits for every question."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from random import Random

import numpy as np
import pytest

from slowwave.errors import ConflictError
from slowwave.model.memory import Memory
from slowwave.model.operations import Erase, MoveCursor, Operation, RejectFact, Suppress
from slowwave.model.plan import Group, Plan
from slowwave.model.query import Query, Where
from slowwave.ports import Store
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import NOW, SCOPE, add, change, entry, fact, group, link, message, plan, use

WORDS = [
    "tea",
    "rye",
    "zoo",
    "Berlin",
    "piano",
    "dentist",
    "Straße",
    "İstanbul",
    "東京",
    "moved",
    "likes",
    "opens",
    "at",
    "nine",
    "sister",
    "the",
    "a",
    "42",
    "not",
]
OTHER = "acme/bob"
CI, LONG, SERVED, STEPS = 12, 1000, 4, 14


class History:
    """Random plans from a seed and the content of a store."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.number = 0

    def text(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 7)))

    def named(self) -> str:
        self.number += 1
        return f"n{self.number}"

    def next(self, store: Store, scope: str) -> Plan:
        """The next plan, which both stores apply."""
        known = store.select([scope], Where(cascade=None))
        groups = tuple(
            group([self.operation(store, scope, known) for _ in range(self.chance.randint(1, 4))], self.text())
            for _ in range(self.chance.randint(1, 2))
        )
        return self._plan(scope, groups)

    def _plan(self, scope: str, groups: tuple[Group, ...]) -> Plan:
        cause = self.chance.choice(["add", "observe", "edit", "sleep/fade"])
        self.number += 1
        at = NOW + timedelta(hours=self.number)
        return replace(plan(*groups, cause=cause, scope=scope, at=at), id=f"r{self.number}")

    def operation(self, store: Store, scope: str, known: list[Memory]) -> Operation:
        chance = self.chance
        kind = chance.choice(["message", "message", "fact", "fact", "change", "change", "use", "link", "other"])
        if kind == "message" or not known:
            ref = chance.choice([None, f"ref{chance.randint(1, 9)}"])
            talk = chance.choice(["c1", "c2"])
            speaker = chance.choice([None, "Ann", "Zoë"])
            return self._added(
                message(self.text(), id=self.named(), ref=ref, conversation=talk, speaker=speaker, scope=scope)
            )
        if kind == "fact":
            due = NOW + timedelta(days=chance.randint(0, 9))
            return self._added(
                fact(self.text(), id=self.named(), due_at=due, pace=chance.choice([None, 7]), scope=scope)
            )
        one, two = chance.choice(known), chance.choice(known)
        if kind == "change":
            text = one.text if one.kind == "message" else self.text()
            phase = chance.choice(["active", "core", "cold", "superseded", "retracted"])
            made = change(one, text=text, phase=phase, pinned=chance.random() < 0.2)
            return replace(made, entry=entry(text) if text != one.text else None)
        if kind == "use":
            return use(one, used_at=NOW + timedelta(days=chance.randint(1, 9)), sessions=one.sessions + 1)
        if kind == "link":
            joined = {(known.source, known.target): known.weight for known in store.links(scope, [one.id])}
            return link(one.id, two.id, before=joined.get((one.id, two.id), 0.0), weight=chance.choice([0.0, 0.5, 1.0]))
        return self._other(store, scope, one)

    def _added(self, memory: Memory) -> Operation:
        embedder = self.chance.choice(["test-8", "test-8", "test-8", "else-8", None])
        made = add(memory)
        return replace(made, entry=entry(memory.text, embedder) if self.chance.random() < 0.95 else None)

    def _other(self, store: Store, scope: str, one: Memory) -> Operation:
        which = self.chance.randint(0, 3)
        if which == 0:
            talk = store.conversation(scope, "c1")
            stands = talk.cursor("distil") if talk else 0
            return MoveCursor(conversation="c1", cursor="distil", before=stands, after=stands + 1, because="read")
        if which == 1:
            return Suppress(key=self.chance.choice("abc"), on=self.chance.random() < 0.7, because="undone")
        if which == 2:
            return RejectFact(text=self.text(), quote=self.text(), reason="not said", because=self.text())
        return Erase(memory=one.id, words=(self.chance.choice(WORDS),), because="asked to")


def rows_of(store: Store, scope: str) -> dict[str, object]:
    """The results of all reads of a scope."""
    memories = store.select([scope], Where(cascade=None))
    return {
        "memories": memories,
        "again": store.get([scope], [one.id for one in memories]),
        "hot": store.select([scope], Where(phases=frozenset({"active", "core"}), order="due")),
        "in order": store.select([scope], Where(conversation="c1", order="seq")),
        "said": store.select([scope], Where(text="STRASSE")),
        "counts": store.count(scope),
        "links": sorted(store.links(scope, None), key=repr),
        "conversations": store.conversations(scope),
        "held": store.suppressed_keys(scope, "abc"),
        "runs": store.runs(scope),
        "observed": store.runs(scope, 3, "observe", NOW),
        "histories": [store.history(scope, one.id) for one in memories],
        "later": [store.later(scope, run) for run in store.runs(scope, 3)],
        "sequence": store.sequence(scope),
        "changed": store.changed(scope, 2, 5),
        "due": store.due(scope, NOW + timedelta(days=4)),
        "lanes": store.decay_classes(scope),
        "lane": store.facts_in_class(scope, 7, 0, 3),
        "faint": store.fading_facts(scope, (7, 0), NOW + timedelta(days=9), 3),
        "gone faint": store.cold_faded_facts(scope, ("semantic", "other"), "test-8", 3),
        "vectors": store.vectors(scope, [one.id for one in memories], "test-8"),
        "unpaced": {one.id for one in store.facts_without_schedule(scope, 3, 5, 1000)[0]},
        "unembedded": store.unembedded(scope, "test-8", 5),
        "mentions": store.mentions(scope, "i̇stanbul"),
        "speakers": store.speakers(scope),
        "frequencies": [store.frequencies(scope)[0](word) for word in WORDS],
        "entries": store.entries(scope, [one.id for one in memories]),
    }


def found(store: Store, scope: str, text: str, *, deep: bool) -> object:
    vector = np.frombuffer(entry(text).vectors, dtype="<f4")
    query = Query(text=text, top_k=8, now=NOW + timedelta(days=3), vector=vector, embedder="test-8", deep=deep)
    return store.search([scope], query)


def outcome(store: Store, wanted: Plan) -> object:
    try:
        return store.apply(wanted)
    except ConflictError as error:
        return str(error)


def live(seed: int, postgres: PostgresStore) -> None:
    history, sqlite = History(seed), SqliteStore(":memory:")
    try:
        for step in range(STEPS):
            scope = history.chance.choice([SCOPE, SCOPE, OTHER])
            wanted = history.next(sqlite, scope)
            assert outcome(postgres, wanted) == outcome(sqlite, wanted), (seed, step)
            asked = history.text()
            for deep in (False, True):
                assert found(postgres, scope, asked, deep=deep) == found(sqlite, scope, asked, deep=deep), (seed, step)
        for scope in (SCOPE, OTHER):
            ours, theirs = rows_of(sqlite, scope), rows_of(postgres, scope)
            for name, value in ours.items():
                assert theirs[name] == value, (seed, name)
        assert postgres.check(deep=True) == sqlite.check(deep=True) == []
    finally:
        sqlite.close()


@pytest.mark.parametrize("part", range(2))
def test_candidates_of_the_server_rank_like_a_search_in_ram(
    part: int, in_postgres: PostgresStore, emptied: Callable[[], None]
) -> None:
    in_postgres.in_ram = 0
    for seed in range(part, SERVED, 2):
        _afresh(in_postgres, emptied)
        live(seed, in_postgres)
        assert not in_postgres._indexes


@pytest.mark.parametrize("part", range(2))
def test_both_stores_have_the_same_state(part: int, in_postgres: PostgresStore, emptied: Callable[[], None]) -> None:
    for seed in range(part, CI, 2):
        _afresh(in_postgres, emptied)
        live(seed, in_postgres)


@pytest.mark.long
def test_both_stores_have_the_same_state_after_a_thousand_histories(
    in_postgres: PostgresStore, emptied: Callable[[], None]
) -> None:
    for seed in range(CI, CI + LONG):
        _afresh(in_postgres, emptied)
        live(seed, in_postgres)


@pytest.mark.long
def test_candidates_of_the_server_rank_like_a_search_in_ram_in_thirty_histories(
    in_postgres: PostgresStore, emptied: Callable[[], None]
) -> None:
    in_postgres.in_ram = 0
    for seed in range(SERVED, 30):
        _afresh(in_postgres, emptied)
        live(seed, in_postgres)
        assert not in_postgres._indexes


def _afresh(store: PostgresStore, emptied: Callable[[], None]) -> None:
    emptied()
    store._scopes.clear()
    store._embedders.clear()
    store._indexes.pop_all()
