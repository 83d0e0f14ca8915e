"""Candidates from the server: a search of a scope too large for RAM tells what one in RAM does, and follows every change."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import numpy as np
import psycopg
import pytest

from slowwave import AgentMemory, Config, Message, Slowwave
from slowwave.model.memory import Memory, SourceRef
from slowwave.model.operations import Erase
from slowwave.model.query import Query, Ranked
from slowwave.stores.postgres import server_search
from slowwave.stores.postgres.doctor import EMPTY_SEARCH, check_server
from slowwave.stores.postgres.search_sync import _TABLES, SearchSync
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.search.partial_index import CorpusStatistics, PartialIndex
from slowwave.stores.sql import named_statements
from slowwave.testing.builders import NOW, SCOPE, add, change, entry, fact, message, note, plan
from slowwave.testing.postgres import PostgresServer

WORDS = [
    "tea",
    "rye",
    "zoo",
    "Berlin",
    "piano",
    "dentist",
    "moved",
    "likes",
    "opens",
    "nine",
    "sister",
    "lake",
    "bread",
    "march",
    "train",
    "garden",
]
QUESTIONS = (
    *(
        "Where did Ann move?",
        "tea and rye",
        "When does the zoo open?",
        "What does Zoë like now?",
        "piano in March 2026",
    ),
    *("Who is the sister of Ann?", "dentist", "nothing that is known", "bread garden lake train"),
)


def made_message(number: int, chance: Random) -> Memory:
    """A message of one of three talks, said on one of sixty days."""
    return message(
        " ".join(chance.choices(WORDS, k=chance.randint(2, 9))) + ("?" if number % 7 == 0 else ""),
        id=f"m{number}",
        conversation=f"c{number % 3}",
        role="assistant" if number % 2 else "user",
        speaker=(None, "Ann", "Zoë")[number % 3],
        valid_from=NOW + timedelta(days=number % 60),
    )


@pytest.fixture
def lived(in_postgres: PostgresStore) -> PostgresStore:
    """A store in which the server searches: 300 messages of three talks, and 40 facts on some of them."""
    return _live(in_postgres)


@contextmanager
def _read_only(address: str) -> Iterator[PostgresStore]:
    """A store in a database of its own, for the tests that write nothing: it is filled once."""
    store = PostgresStore(address, connections=4, busy_seconds=10)
    yield store
    store.close()


@pytest.fixture(scope="module")
def only_read(shared_postgres: PostgresServer, migrated: str) -> Iterator[PostgresStore]:
    """The same, read only."""
    with _read_only(shared_postgres.database(migrated)) as store:
        yield _live(store)


def _live(store: PostgresStore) -> PostgresStore:
    chance = Random(7)
    messages = [made_message(number, chance) for number in range(300)]
    facts = [
        fact(
            " ".join(chance.choices(WORDS, k=4)),
            id=f"f{number}",
            sources=tuple(SourceRef(memory=one.id, ref=one.id) for one in chance.sample(messages, number % 3)),
            subject=chance.choice([None, "Ann", "Zoë"]),
        )
        for number in range(40)
    ]
    for first in range(0, 300, 100):
        store.apply(plan(*(indexed(one) for one in messages[first : first + 100])))
    store.apply(plan(*(indexed(one) for one in facts)))
    store.in_ram = 0
    return store


def indexed(memory: Memory) -> Any:  # noqa: ANN401  # an Add
    return replace(add(memory), entry=entry(memory.text))


def asked(text: str, **more: Any) -> Query:  # noqa: ANN401  # fields of a Query
    vector = np.frombuffer(entry(text).vectors, dtype="<f4")
    return Query(text=text, top_k=10, now=NOW + timedelta(days=61), vector=vector, embedder="test-8", **more)


def both(store: PostgresStore, *queries: Query) -> list[tuple[list[Ranked], list[Ranked]]]:
    """The same questions to the server and in RAM."""
    store.in_ram = 0
    ours = [store.search([SCOPE], query) for query in queries]
    assert not store._indexes
    store.in_ram = None
    theirs = [store.search([SCOPE], query) for query in queries]
    store._indexes.pop_all()
    store.in_ram = 0
    return list(zip(ours, theirs, strict=True))


def same(store: PostgresStore, **more: Any) -> None:  # noqa: ANN401  # fields of a Query
    made_message = both(store, *(asked(text, **more) for text in QUESTIONS))
    for text, (ours, theirs) in zip(QUESTIONS, made_message, strict=True):
        assert ours == theirs, text


# ---- the same answers


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"deep": True},
        {"kinds": frozenset({"message"})},
        {"kinds": frozenset({"semantic"}), "categories": frozenset({"other"})},
        {"kinds": frozenset()},
        {"since": NOW + timedelta(days=20), "until": NOW + timedelta(days=25)},
        {"conversation": "c1"},
        {"except_conversation": "c1"},
        {"allowed": frozenset({"m3", "m4", "f7", "nobody"})},
        {"profile": "generative_agents"},
        {"profile": "retention", "strength": {"m5": 0.5, "f2": 0.1}},
    ],
    ids=[
        "plain",
        "deep",
        "messages",
        "facts",
        "nothing",
        "dates",
        "talk",
        "other talks",
        "allowed",
        "generative",
        "retention",
    ],
)
def test_server_search_returns_the_hits_and_scores_of_a_search_in_ram(
    only_read: PostgresStore, more: dict[str, Any]
) -> None:
    same(only_read, **more)


def test_a_question_without_a_vector_is_answered_by_words(only_read: PostgresStore) -> None:
    ((ours, theirs),) = both(only_read, replace(asked("tea and rye"), vector=None, embedder=None))
    assert ours == theirs
    assert ours


def test_a_request_for_advice_finds_rules_and_preferences_that_share_no_word_with_it(
    in_postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_search, "SCORED", 8)
    monkeypatch.setattr(server_search, "UNNEAR", 8)
    said = [("user", f"Tea and rye number {number} in the garden") for number in range(60)]
    said[7:7] = [("user", "Always add a joke"), ("user", "I prefer quiet corners"), ("assistant", "Always add salt")]
    talk = [
        message(text, id=f"a{number}", conversation="a", role=role, valid_from=NOW + timedelta(days=number % 60))
        for number, (role, text) in enumerate(said)
    ]
    in_postgres.apply(plan(*(indexed(one) for one in talk)))
    in_postgres.in_ram = 0
    query = replace(asked("Can you suggest a violin?"), top_k=2)
    ((ours, theirs),) = both(in_postgres, query)
    assert ours == theirs
    assert {hit.id for hit in ours} <= {"a7", "a8"}
    assert "advice" in ours[0].parts


def test_words_speakers_and_wording_are_those_of_the_scope(lived: PostgresStore) -> None:
    ours = lived.frequencies(SCOPE), lived.speakers(SCOPE), lived.wording([SCOPE], "What does Ann like?")
    lived.in_ram = None
    theirs = lived.frequencies(SCOPE), lived.speakers(SCOPE), lived.wording([SCOPE], "What does Ann like?")
    assert ours[1:] == theirs[1:]
    assert ours[0][1] == theirs[0][1] == 314
    assert [ours[0][0](word) for word in WORDS] == [theirs[0][0](word) for word in WORDS]
    assert ours[0][0]("piano") > 0


def test_a_scope_too_large_for_ram_is_searched_at_the_server(lived: PostgresStore) -> None:
    lived.in_ram = 340
    lived.search([SCOPE], asked("tea"))
    assert len(lived._indexes) == 1
    lived.apply(plan(indexed(made_message(300, Random(1)))))
    before = lived.search([SCOPE], asked("tea"))  # which makes the index in RAM too large
    assert lived.search([SCOPE], asked("tea")) == before
    assert not lived._indexes


def test_scopes_are_searched_each_in_its_own_way_and_together(lived: PostgresStore) -> None:
    other = "acme/other"
    lived.apply(plan(replace(add(fact("Tea for two", id="o1", scope=other)), entry=entry("Tea for two")), scope=other))
    lived.in_ram = 100
    found = lived.search([other, SCOPE], replace(asked("tea for two"), top_k=30))
    assert found[0].id == "o1"
    assert len(found) == 30


# ---- every change


def test_an_added_message_is_found_at_once(lived: PostgresStore) -> None:
    lived.search([SCOPE], asked("tea"))
    lived.apply(plan(indexed(message("Quokka in the garden", id="q", conversation="c0", seq=101))))
    assert lived.search([SCOPE], asked("quokka"))[0].id == "q"
    same(lived)


def test_notes_are_found_at_the_server_as_in_ram_and_belong_to_no_conversation(lived: PostgresStore) -> None:
    chance = Random(9)
    notes = [
        note(f"n{number}", folder=f"c{number % 3}", text=" ".join(chance.choices(WORDS, k=5)), id=f"n{number}")
        for number in range(30)
    ]
    lived.apply(plan(*(indexed(one) for one in notes)))
    same(lived)
    same(lived, kinds=frozenset({"note"}))
    same(lived, conversation="c1")
    inside = lived.search([SCOPE], asked("tea and rye", conversation="c1"))
    assert {one.id for one in inside}.isdisjoint({one.id for one in notes})
    again = change(notes[0], text="A walrus in the bathtub")
    lived.apply(plan(again, change(notes[1], phase="retracted")))
    assert lived.search([SCOPE], asked("walrus"))[0].id == "n0"
    same(lived, kinds=frozenset({"note"}))


def test_archived_memories_are_found_by_a_deep_search_only(lived: PostgresStore) -> None:
    lived.search([SCOPE], asked("tea"))
    first = lived.search([SCOPE], asked("tea and rye"))[0].id
    (memory,) = lived.get([SCOPE], [first])
    lived.apply(plan(replace(change(memory, phase="cold"), entry=None)))
    assert first not in [one.id for one in lived.search([SCOPE], asked("tea and rye"))]
    same(lived)
    same(lived, deep=True)


def test_a_reworded_fact_is_found_by_its_new_words_only(lived: PostgresStore) -> None:
    lived.search([SCOPE], asked("tea"))
    (memory,) = lived.get([SCOPE], ["f3"])
    lived.apply(plan(replace(change(memory, text="Keeps a quokka"), entry=entry("Keeps a quokka"))))
    assert lived.frequencies(SCOPE)[0]("quokka") == (not memory.sources)
    same(lived)


def test_new_vectors_of_old_memories_are_indexed(lived: PostgresStore) -> None:
    lived.search([SCOPE], asked("tea"))
    lived.index(SCOPE, {f"m{number}": entry(f"{number} zoo") for number in range(0, 60, 7)})
    same(lived)


def test_an_erase_removes_search_rows_and_their_neighbours_are_indexed_again(
    lived: PostgresStore, address: str
) -> None:
    lived.apply(plan(indexed(message("Quokka and numbat", id="q", conversation="c0", seq=101, speaker="Wilbur"))))
    lived.apply(plan(indexed(message("Tea again", id="r", conversation="c0", seq=102))))
    assert lived.search([SCOPE], asked("quokka"))[0].id == "q"
    assert "Wilbur" in lived.speakers(SCOPE)
    with psycopg.connect(address) as db:
        before = {name: _rows(db, name) for name in _TABLES}
    lived.apply(plan(Erase(memory="q", because="asked to")))
    with psycopg.connect(address) as db:
        after = {name: _rows(db, name) for name in _TABLES}
    assert not [row for name in _TABLES for row in after[name] if "Wilbur" in row]
    assert len(before["terms"]) - len(after["terms"]) == len(["quokka", "and", "numbat"])
    assert len(before["places"]) - len(after["places"]) == 1
    assert "Wilbur" not in lived.speakers(SCOPE)
    same(lived)


def test_erasing_all_leaves_no_row(lived: PostgresStore, address: str) -> None:
    lived.search([SCOPE], asked("tea"))
    ids = [*(f"f{number}" for number in range(40)), *(f"m{number}" for number in range(300))]
    lived.apply(plan(*(Erase(memory=one, because="asked to") for one in ids)))
    assert lived.search([SCOPE], asked("tea")) == []
    with psycopg.connect(address) as db:
        assert [name for name in _TABLES if _rows(db, name)] == ["state"]


def _rows(db: "psycopg.Connection[Any]", name: str) -> list[Any]:
    return db.execute(f"SELECT * FROM slowwave.search_{name}".encode()).fetchall()


def test_a_long_used_memory_answers_the_same_with_its_archived_part(address: str, emptied: Callable[[], None]) -> None:
    PostgresStore(address).close()
    emptied()
    now = NOW
    config = Config(hot_words_max=900, search_in_ram=0)  # room for the facts and a part of the messages
    with AgentMemory.open(address, scope=SCOPE, config=config, clock=lambda: now) as memory:
        chance = Random(3)
        for day in range(7):
            now = NOW + timedelta(days=day)
            said = [
                Message(
                    role="user", speaker="Ann", content=f"I {' '.join(chance.choices(WORDS, k=14))}, and so on. Yes!"
                )
                for _ in range(6)
            ]
            memory.add_messages(said, conversation=f"d{day}")
            memory.end_conversation(f"d{day}")
        memory.sleep()
        store = memory.ports.store
        assert isinstance(store, PostgresStore)
        assert any(one.memory.gist for one in memory.search("tea and rye", top_k=40))
        for text in QUESTIONS:
            ours = memory.search(text), memory.search(text, deep=True)
            assert not store._indexes
            store.in_ram = None
            assert (memory.search(text), memory.search(text, deep=True)) == ours
            store._indexes.pop_all()
            store.in_ram = 0


# ---- taking in


def test_an_interrupted_indexing_continues_where_it_stopped(
    lived: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.stores.postgres.search_sync.BATCH", 50)
    steps = 0

    def broken(point: str) -> None:
        nonlocal steps
        steps += point == "apply.before_commit"
        if steps == 4:
            raise KeyboardInterrupt

    lived._reached = broken
    with pytest.raises(KeyboardInterrupt):
        lived.search([SCOPE], asked("tea"))
    lived._reached = None
    with lived._guard:
        ((scope, token),) = lived._readable([SCOPE])
        assert 0 < len(lived._db.execute("SELECT key FROM search_taken WHERE scope = $1", (token,)).fetchall()) < 340
    same(lived)
    assert scope == SCOPE


def test_two_that_take_in_at_once_take_in_once(lived: PostgresStore, address: str) -> None:
    other = PostgresStore(address, in_ram=0)
    found: list[list[Ranked]] = []
    threads = [
        threading.Thread(target=lambda store=store: found.append(store.search([SCOPE], asked("tea"))))
        for store in (lived, other)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    other.close()
    assert found[0] == found[1]
    same(lived)


def test_another_row_layout_is_indexed_again(lived: PostgresStore, address: str) -> None:
    lived.search([SCOPE], asked("tea"))
    with psycopg.connect(address) as db:
        db.execute("UPDATE slowwave.search_state SET layout = 0, words = 7")
    same(lived)


def test_a_server_without_pgvector_leaves_the_search_to_ram(lived: PostgresStore, address: str) -> None:
    with psycopg.connect(address) as db:
        db.execute("ALTER TABLE slowwave.search_places RENAME COLUMN vector TO kept")
    try:
        assert lived.search([SCOPE], asked("tea"))
        assert lived._indexes
    finally:
        with psycopg.connect(address) as db:
            db.execute("ALTER TABLE slowwave.search_places RENAME COLUMN kept TO vector")


# ---- what it looks at


@pytest.fixture(scope="module")
def large_address(shared_postgres: PostgresServer, migrated: str) -> str:
    return shared_postgres.database(migrated)


@pytest.fixture(scope="module")
def large(large_address: str) -> Iterator[PostgresStore]:
    """A store with 3,000 short messages, many more than are scored, read only."""
    chance = Random(11)
    with _read_only(large_address) as store:
        for first in range(0, 3000, 1000):
            rows = (
                message(f"w{chance.randint(0, 400)} w{chance.randint(0, 40)} tea", id=f"m{number}", conversation="c")
                for number in range(first, first + 1000)
            )
            store.apply(plan(*(indexed(one) for one in rows)))
        store.in_ram = 0
        yield store


def test_of_many_the_best_are_found_and_have_their_scores(large: PostgresStore) -> None:
    agree = 0
    for ours, theirs in both(large, *(asked(f"w{number} w{number % 41}") for number in range(0, 400, 80))):
        assert ours[0] == theirs[0]
        known = {one.id: one for one in theirs}
        assert all(known[one.id] == one for one in ours if one.id in known)
        agree += len({one.id for one in ours} & known.keys())
    assert agree >= 0.95 * 50


def test_only_candidates_leave_the_server(large: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    large.search([SCOPE], asked("tea"))
    read = 0
    real = large._messages

    def counted(*arguments: Any) -> Any:  # noqa: ANN401  # those of the store
        nonlocal read
        rows = real(*arguments)
        read += len(rows)
        return rows

    monkeypatch.setattr(large, "_messages", counted)
    large.search([SCOPE], asked("w7 tea"))
    assert 10 <= read <= 13 * (server_search.SCORED + server_search.AROUND) / 2


def test_words_are_looked_up_by_their_index_under_row_level_security(large: PostgresStore, large_address: str) -> None:
    large.search([SCOPE], asked("tea"))
    with psycopg.connect(large_address) as db:
        db.execute("ANALYZE slowwave.search_postings")
        db.execute("SET LOCAL ROLE slowwave_app; SET LOCAL search_path = slowwave, pg_catalog")
        token = (
            db.execute("SELECT set_config('slowwave.every_scope', 'on', true)")
            and db.execute("SELECT token FROM scopes").fetchone()
        )
        assert token is not None
        db.execute(f"SET LOCAL slowwave.every_scope = 'off'; SET LOCAL slowwave.scopes = '{token[0]}'")
        rows = db.execute(
            f"EXPLAIN SELECT key FROM search_postings WHERE scope = {token[0]} AND term = ANY ('{{7}}')"
        ).fetchall()
        assert "search_postings_pkey" in str(rows)
        assert "Seq Scan" not in str(rows)


def test_statements_of_a_search_name_the_scope() -> None:
    for name, statement in named_statements("postgres", "search").items():
        assert name.startswith("search_")
        assert "scope = $" in statement.text or "(scope" in statement.text, name


def test_an_excerpt_scores_only_messages_with_loaded_neighbours() -> None:
    excerpt = PartialIndex(CorpusStatistics(talks={}, frequency={}, dims={}), frozenset())
    lone = fact("Likes tea")
    excerpt.append([(message("tea", id="a", seq=1), entry("tea")), (lone, entry("Likes tea"))])
    assert [one.id for one in excerpt.search(asked("tea"))] == [lone.id]


# ---- what is easily forgotten


def derived(address: str) -> dict[str, list[Any]]:
    """All rows of what the server searches, but for the places of context that is only looked at."""
    with psycopg.connect(address) as db:
        return {name: sorted(_rows(db, name), key=repr) for name in _TABLES if name != "state"}


def equals_rebuilt(store: PostgresStore, address: str) -> None:
    """Search tables that followed every change equal those built from nothing."""
    store.in_ram = 0
    store.search([SCOPE], asked("tea"))
    followed = derived(address)
    with psycopg.connect(address) as db:
        sums = db.execute("SELECT originals, words, latest FROM slowwave.search_state").fetchall()
        db.execute("DELETE FROM slowwave.search_state")
    store.search([SCOPE], asked("tea"))
    made = derived(address)
    for name, rows in made.items():
        assert followed[name] == rows, name
    with psycopg.connect(address) as db:
        assert db.execute("SELECT originals, words, latest FROM slowwave.search_state").fetchall() == sums


def test_the_trimmed_text_of_a_long_message_may_be_long(in_postgres: PostgresStore, address: str) -> None:
    in_postgres.in_ram = 0
    long = " ".join(f"tea{number}" for number in range(150))
    whole = message(long, id="m0")
    two = replace(entry(long), vectors=entry(long).vectors * 3)  # the text and two passages
    in_postgres.apply(plan(replace(add(whole), entry=two)))
    in_postgres.search([SCOPE], asked("tea3"))
    (known,) = in_postgres.get([SCOPE], ["m0"])
    left = " ".join(long.split()[:80])
    in_postgres.apply(
        plan(replace(change(known, gist=left), entry=replace(entry(left), vectors=entry(left).vectors * 3)))
    )
    same(in_postgres)
    same(in_postgres, deep=True)
    equals_rebuilt(in_postgres, address)


def test_entries_that_change_while_a_scope_is_indexed_are_indexed(
    lived: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.stores.postgres.search_sync.BATCH", 50)
    other, steps = PostgresStore(address), 0

    def meanwhile(point: str) -> None:
        nonlocal steps
        steps += point == "apply.committed"
        if steps == 4:
            steps += 1
            other.index(SCOPE, {"m2": entry("quokka")})

    lived._reached = meanwhile
    lived.search([SCOPE], asked("tea"))
    lived._reached = None
    other.close()
    assert lived.frequencies(SCOPE)[0]("quokka") == 1
    same(lived)
    equals_rebuilt(lived, address)


def test_a_fact_of_an_earlier_version_waits_for_its_source_message(
    lived: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slowwave.stores.apply.rests_on", lambda _: set())  # earlier versions did not look for sources
    lived.search([SCOPE], asked("tea"))
    early = fact("Keeps a numbat", id="early", sources=(SourceRef(memory="late", ref="late"),))
    lived.apply(plan(indexed(early)))
    lived.search([SCOPE], asked("numbat"))
    lived.apply(plan(indexed(message("I keep one", id="late", conversation="c1", speaker="Ann"))))
    found = lived.search([SCOPE], asked("numbat"))
    assert [row.id for row in found][:2] == ["early", "late"]
    same(lived)
    equals_rebuilt(lived, address)


def test_values_that_a_fact_inherits_follow_their_source(lived: PostgresStore, address: str) -> None:
    lived.apply(plan(indexed(fact("Likes rye", id="wilbur", subject="Wilbur"))))
    equals_rebuilt(lived, address)
    lived.apply(plan(indexed(message("Hello", id="w", conversation="c0", speaker="Wilbur"))))
    equals_rebuilt(lived, address)  # whom the fact is about is known now
    lived.apply(plan(Erase(memory="w", because="asked to")))
    equals_rebuilt(lived, address)
    lived.apply(plan(indexed(message("I can help", id="help", conversation="c1", role="assistant"))))
    equals_rebuilt(lived, address)  # no longer a talk between people
    lived.apply(plan(Erase(memory="m7", because="asked to"), Erase(memory="m8", because="asked to")))
    equals_rebuilt(lived, address)
    same(lived)


def test_messages_without_an_entry_are_no_neighbours_until_they_get_one(lived: PostgresStore, address: str) -> None:
    lived.apply(plan(add(message("Unread", id="u", conversation="c0")), add(fact("On it", id="on", sources=()))))
    lived.apply(plan(*(indexed(message(f"tea {n}", id=f"t{n}", conversation="c0")) for n in range(5))))
    same(lived)
    equals_rebuilt(lived, address)
    lived.index(SCOPE, {"u": entry("Unread tea")})
    same(lived)
    equals_rebuilt(lived, address)


def test_a_login_that_may_only_read_searches_in_ram(lived: PostgresStore, address: str) -> None:
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(f"ALTER DATABASE {db.info.dbname} SET default_transaction_read_only = on".encode())
    try:
        reader = PostgresStore(address, in_ram=0)
        found = reader.search([SCOPE], asked("tea"))
        assert reader._indexes
        reader.close()
    finally:
        with psycopg.connect(address, autocommit=True) as db:
            db.execute("SET default_transaction_read_only = off")
            db.execute(f"ALTER DATABASE {db.info.dbname} RESET default_transaction_read_only".encode())
    assert lived.search([SCOPE], asked("tea")) == found


def test_of_a_long_list_that_is_allowed_only_candidates_are_read(
    large: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = frozenset(f"m{number}" for number in range(0, 3000, 2))
    found = large.search([SCOPE], asked("w7 w8", allowed=allowed))
    assert {one.id for one in found} <= allowed
    monkeypatch.setattr(server_search, "LOOKED", 10_000)
    assert large.search([SCOPE], asked("w7 w8", allowed=allowed))[0] == found[0]


def test_no_place_is_wanted(lived: PostgresStore) -> None:
    assert lived.search([SCOPE], replace(asked("tea"), top_k=0)) == []


@pytest.mark.parametrize("text", ["What was on 7 January?", "January", "tea in February 2026", "28", "8 of 2026"])
def test_date_words_find_messages_of_that_time(dated: PostgresStore, text: str) -> None:
    ((ours, theirs),) = both(dated, asked(text))
    assert [one.score for one in ours] == [one.score for one in theirs]  # of many that are equal, some


@pytest.fixture(scope="module")
def dated(shared_postgres: PostgresServer, migrated: str) -> Iterator[PostgresStore]:
    """A store with 1,200 messages of sixty days, one of them Wilbur's, half without a vector; read only."""
    chance = Random(5)
    with _read_only(shared_postgres.database(migrated)) as store:
        for first in range(0, 1200, 400):
            said = [
                replace(made_message(number, chance), conversation="c", speaker="Wilbur" if number == 3 else "Ann")
                for number in range(first, first + 400)
            ]
            store.apply(
                plan(*(replace(add(one), entry=entry(one.text, "test-8" if one.seq % 2 else None)) for one in said))
            )
        yield store


@pytest.mark.parametrize("text", ["Wilbur", "What did Wilbur say?", "Where did Wilbur paint?"])
@pytest.mark.parametrize("embedder", ["test-8", None])
def test_the_subject_of_a_question_is_found_without_a_vector(
    dated: PostgresStore, text: str, embedder: str | None
) -> None:
    query = asked(text)
    if embedder is None:
        query = replace(query, vector=None, embedder=None)
    ((ours, theirs),) = both(dated, query)
    assert ours[0] == theirs[0]
    assert ours[0].id == "m3"


def test_following_the_advice_of_doctor_repairs_the_tables(lived: PostgresStore, address: str) -> None:
    lived.search([SCOPE], asked("tea"))

    def advice(line: str) -> str:
        with psycopg.connect(address, autocommit=True) as db:
            return next(words for name, _, words in check_server(db, 4) if name == line)

    with psycopg.connect(address, autocommit=True) as db:
        db.execute("ALTER TABLE slowwave.memories DISABLE TRIGGER search_erased")
        lived.apply(plan(Erase(memory="m7", because="asked to")))
        mends = advice("triggers")
        assert EMPTY_SEARCH in mends
        db.execute("ALTER TABLE slowwave.memories ENABLE TRIGGER search_erased")
        db.execute(EMPTY_SEARCH)
        same(lived)
        equals_rebuilt(lived, address)
        db.execute("DROP EXTENSION vector CASCADE")
        for statement in advice("pgvector").partition("(")[2].rstrip(")").partition(": ")[2].split("; "):
            db.execute(statement.encode())
    restarted = PostgresStore(address)
    same(restarted)
    restarted.close()


def test_a_sleep_pass_of_a_large_scope_derives_what_its_next_search_needs(
    own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(search_in_ram=20)
    said = [Message(role="user", content=f"Barge {n} carries gravel") for n in range(40)]
    with Slowwave.open(own, llm=None, embedder="static", config=config) as store:
        store.within("small").add_messages(said[:3], "c")
        store.within("large").add_messages(said, "c")
        for name in ("small", "large"):
            store.within(name).sleep()
    with psycopg.connect(own) as db:
        db.execute("SET slowwave.every_scope = 'on'")
        taken = "SELECT path, originals FROM slowwave.search_state JOIN slowwave.scopes ON token = scope"
        assert db.execute(taken.encode()).fetchall() == [("large", 40)]
    steps: list[int] = []
    step = SearchSync._step
    monkeypatch.setattr(SearchSync, "_step", lambda *given: (steps.append(1), step(*given))[1])
    with Slowwave.open(own, llm=None, embedder="static", config=config) as store:
        assert "Barge 7" in store.within("large").search("barge 7")[0].memory.text
    assert not steps
