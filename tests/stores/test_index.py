"""Properties of the search index: what scores depend on, and what they do not depend on."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, strategies as st

from slowwave.errors import CorruptError
from slowwave.model.codec import loads
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory, SourceRef
from slowwave.model.query import Query, Ranked
from slowwave.model.zone import offset_text
from slowwave.policy.ranking.score import PREFERENCE, STANDING
from slowwave.policy.text.features import index_text
from slowwave.policy.text.tokens import stem
from slowwave.stores.search.cold_load import MessageColumns
from slowwave.stores.search.index import Index
from slowwave.stores.search.postings import Postings
from slowwave.stores.search.snapshot import LAYOUT

START = datetime(2023, 5, 8, tzinfo=UTC)
NOW = START + timedelta(days=400)
DIM = 8
Row = tuple[Memory, IndexEntry]


def unit(text: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    row = np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)
    return row / np.linalg.norm(row)


def embedded(text: str, passages: Sequence[str] = (), embedder: str = "free") -> IndexEntry:
    vectors = np.stack([unit(one) for one in (text, *passages)])
    return replace(index_text(text), vectors=vectors.tobytes(), dim=DIM, embedder=embedder)


def said(number: int, text: str, *, conversation: str = "c", seq: int | None = None, **fields: object) -> Row:
    at = START + timedelta(hours=number)
    memory = Memory(
        id=f"{conversation}{number}", scope="s", kind="message", text=text, recorded_at=at, valid_from=at,
        conversation=conversation, seq=seq or number, **{"role": "user", **fields},
    )  # fmt: skip
    return memory, embedded(text)


def known(name: str, text: str, *sources: str, **fields: object) -> Row:
    refs = tuple(SourceRef(memory=source, ref=source) for source in sources)
    fields = {"kind": "semantic", "recorded_at": START, "valid_from": START, **fields}
    return Memory(id=name, scope="s", text=text, sources=refs, **fields), embedded(text)


def built(rows: Sequence[Row]) -> Index:
    index = Index()
    index.append(rows)
    return index


def query(text: str, *, vector: bool = True, **fields: object) -> Query:
    found = {"top_k": 100, "now": NOW, "embedder": "free", "vector": unit(text) if vector else None, **fields}
    return Query(text=text, **found)


def scores(found: Sequence[Ranked]) -> dict[str, float]:
    return {place.id: place.score for place in found}


WORDS = ("cat", "dog", "painted", "Rome", "yesterday", "because", "sister", "May", "two", "why?", "8", "東京")
texts = st.lists(st.sampled_from(WORDS), max_size=70).map(" ".join)
questions = st.lists(st.sampled_from((*WORDS, "Ann", "Bob", "when", "who", "I", "now", "you")), max_size=5).map(
    " ".join
)
zones = st.sampled_from([timezone(timedelta(hours=hours)) for hours in (0, 9, -5)])  # of other days
phases = st.sampled_from(("quarantined", "active", "core", "cold", "superseded", "retracted"))


@st.composite
def talks(draw: st.DrawFn, name: str) -> list[Row]:
    people = draw(st.booleans())
    rows = []
    for seq, text in enumerate(draw(st.lists(texts, max_size=8)), 1):
        role = draw(st.sampled_from(("user", "assistant")))
        speaker = {"user": "Ann", "assistant": "Bob"}[role] if people else None
        memory, entry = said(seq, text, conversation=name, role=role, speaker=speaker)
        memory = replace(memory, phase=draw(phases), valid_from=memory.at.astimezone(draw(zones)))
        rows.append((memory, draw(st.sampled_from((entry, index_text(text), embedded(text, ["one", "two"]))))))
    return rows


@st.composite
def scopes(draw: st.DrawFn) -> list[Row]:
    rows = [*draw(talks("a")), *draw(talks("b"))]
    ids = [memory.id for memory, _ in rows] + ["lost"]
    for number, text in enumerate(draw(st.lists(texts, max_size=5))):
        sources = draw(st.lists(st.sampled_from(ids), max_size=3))
        rows.append(
            known(f"f{number}", text, *sources, subject=draw(st.sampled_from((None, "Ann"))), phase=draw(phases))
        )
    return rows


@given(
    scopes(), questions, st.booleans(), st.booleans(), st.sampled_from(("evidence", "generative_agents", "retention"))
)
def test_the_parts_add_up_to_the_score_and_hits_are_in_order(
    rows: list[Row], text: str, deep: bool, vector: bool, profile: str
) -> None:
    found = built(rows).search(query(text, deep=deep, vector=vector, profile=profile, strength={"a1": 0.3, "x": 0.1}))
    at = {memory.id: memory.at for memory, _ in rows}
    for place in found:
        assert sum(place.parts.values()) == pytest.approx(place.score, abs=1e-12)
        assert (place.cosine is None) == (not vector or not any(entry.vectors for _, entry in rows))
    order = [(-place.score, -at[place.id].timestamp(), place.id) for place in found]
    assert order == sorted(order)


@given(scopes(), questions)
def test_appending_one_by_one_equals_appending_all_bit_for_bit(rows: list[Row], text: str) -> None:
    slow = Index()
    for row in rows:
        slow.append([row])
        slow.search(query(text))
    assert slow.search(query(text, deep=True)) == built(rows).search(query(text, deep=True))


def columns(rows: Sequence[Row]) -> MessageColumns:
    def micros(at: datetime) -> int:
        return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)

    return MessageColumns.of(
        (
            *(
                m.id,
                m.phase,
                m.reason,
                m.category,
                m.importance,
                micros(m.at),
                micros(m.last_used_or_recorded),
                m.conversation or "",
            ),
            *(m.seq, m.role, m.speaker, m.gist is not None, e.embedder, e.terms, e.words, e.question, e.cues),
            *(e.vectors, e.dim, offset_text(m.at)),
        )
        for m, e in rows
    )


@given(scopes(), questions, st.booleans())
def test_loading_columns_equals_appending_memories_bit_for_bit_also_after_more_rows(
    rows: list[Row], text: str, deep: bool
) -> None:
    messages = [row for row in rows if row[0].kind == "message"]
    facts = rows[len(messages) :]
    bulk = Index()
    bulk.load(columns(messages))
    bulk.append(facts)
    more = [said(9, "two cats in Rome", conversation="b"), said(1, "May 8", conversation="z", speaker="Ann Bob")]
    plain = built([*messages, *facts])
    for index in (bulk, plain):
        index.append(more)
    asked = query(text, deep=deep, conversation=None)
    assert bulk.search(asked) == plain.search(asked)
    assert bulk.search(query(text, conversation="b")) == plain.search(query(text, conversation="b"))
    assert [bulk.frequency(stem(word)) for word in WORDS] == [plain.frequency(stem(word)) for word in WORDS]


def taken_up(index: Index) -> Index:
    head, data = index.packed()
    again = Index()
    again.unpack(head, np.frombuffer(bytearray(data), dtype=np.uint8))
    assert again.packed() == (head, data)
    return again


@given(scopes(), questions, st.booleans())
def test_a_stored_index_scores_like_the_one_in_ram_bit_for_bit_also_after_more_rows(
    rows: list[Row], text: str, deep: bool
) -> None:
    index = built(rows)
    whole = {memory.id: (replace(memory, gist="cat"), entry) for memory, entry in rows if memory.kind == "message"}
    index.trim((*whole[one], embedded("cat")) for one in list(whole)[:2])
    again = taken_up(index)
    for asked in (query(text, deep=deep), query(text, conversation="b", vector=False)):
        assert again.search(asked) == index.search(asked)
    more = [
        said(9, "two cats in Rome", conversation="b"),
        said(1, "May 8", conversation="z", speaker="Ann Bob"),
        known("f0", "Ann painted Rome", "b9", subject="Bob"),
        known("new", "sister", "lost"),
        said(90, "it is found", conversation="lost"),
    ]
    for one in (index, again):
        one.append(more)
        one.trim((*pair, embedded("dog", ["two", "why?"])) for pair in list(whole.values())[1:3])
        one.change([replace(memory, phase="cold", importance=0.9) for memory, _ in (*rows, *more)[::2]])
    for asked in (query(text, deep=deep), query(text, conversation="b"), query(text, profile="generative_agents")):
        assert again.search(asked) == index.search(asked)
    assert [again.frequency(stem(word)) for word in WORDS] == [index.frequency(stem(word)) for word in WORDS]
    assert (len(again), again.originals, again.speakers) == (len(index), index.originals, index.speakers)
    assert ("f0" in again, "f99" in again) == (True, False)
    assert again.packed() == index.packed()


def test_the_stored_form_of_an_index_changes_only_with_its_layout_number() -> None:
    rows = [
        said(1, "I painted a cat in Rome", speaker="Ann"),
        said(2, "Why? Because of my sister, on May 8", speaker="Bob"),
        said(3, "two", conversation="b", role="assistant"),
        known("f", "Ann paints cats", "c1"),
        known("g", "Bob has a sister", subject="Bob"),
        known("h", "awaited", "later"),
    ]
    index = built(rows)
    index.trim([(replace(rows[0][0], gist="cat"), rows[0][1], embedded("cat", ["one", "two"]))])
    head, data = index.packed()
    places = loads(head)["arrays"]
    numbers = [np.frombuffer(data, kind, int(np.prod(shape)), start) for _, kind, shape, start in places]
    rounded = [
        (np.round(one.astype(np.float64), 3) + 0.0).tobytes() for one in numbers
    ]  # processors add in different orders
    stated = hashlib.blake2b(head.encode() + b"".join(rounded), digest_size=8).hexdigest()
    # If this fails, the same entries give other numbers: raise LAYOUT, so that stored indexes are ignored.
    assert (LAYOUT, stated) == (3, "fd50d064b0a8fba0")


def test_a_malformed_entry_is_refused_when_columns_are_read() -> None:
    memory, entry = said(1, "cats and dogs")
    for damage in ({"terms": b"x"}, {"vectors": b"xyz"}):
        with pytest.raises(CorruptError, match="doctor"):
            columns([(memory, replace(entry, **damage))])


def test_postings_are_the_same_before_and_after_they_are_sorted() -> None:
    rng = np.random.default_rng(3)
    terms, places = rng.integers(0, 20, 500).astype(np.uint64), np.sort(rng.integers(0, 90, 500))
    postings = Postings()
    postings.add(terms[:300], places[:300])
    for asked in range(200):  # enough lookups to sort, with more terms added in between
        if asked == 100:
            postings.add(terms[300:], places[300:])
        count = 500 if asked >= 100 else 300
        expected = places[:count][terms[:count] == asked % 21]
        assert postings.of(asked % 21).tolist() == expected.tolist()


@given(scopes(), questions)
def test_the_order_of_conversations_changes_no_score(rows: list[Row], text: str) -> None:
    turned = sorted(rows, key=lambda row: (row[0].conversation or "", -row[0].seq), reverse=True)
    mine, other = (
        scores(built(rows).search(query(text, deep=True))),
        scores(built(turned).search(query(text, deep=True))),
    )
    assert mine == pytest.approx(other, abs=1e-6)


@given(scopes(), questions)
def test_phases_change_no_score_so_a_deep_search_equals_a_search_of_the_full_store(rows: list[Row], text: str) -> None:
    kept = [(memory, entry) for memory, entry in rows if memory.phase != "quarantined"]
    full = built([(replace(memory, phase="active"), entry) for memory, entry in kept]).search(query(text))
    deep = built(kept).search(query(text, deep=True, outdated_penalty=1.0))
    assert scores(deep) == scores(full)
    assert [place.id for place in deep] == [place.id for place in full]


@given(scopes(), questions, st.data())
def test_changed_phases_and_sources_equal_a_new_index(rows: list[Row], text: str, data: st.DataObject) -> None:
    index, after = built(rows), []
    index.search(query(text))
    for memory, entry in rows:
        changed = replace(memory, phase=data.draw(phases))
        if memory.kind != "message":
            changed = replace(
                changed, sources=known("x", "", *data.draw(st.lists(st.sampled_from(["a1", "b1"]))))[0].sources
            )
        after.append((changed, entry))
    index.change(memory for memory, _ in after)
    for deep in (False, True):
        asked = query(text, deep=deep)
        assert scores(index.search(asked)) == pytest.approx(scores(built(after).search(asked)), abs=1e-9)


@given(scopes(), questions, st.integers(1, 12))
def test_a_smaller_top_k_returns_the_first_hits_of_a_larger_one(rows: list[Row], text: str, wanted: int) -> None:
    index = built(rows)
    every = index.search(query(text, deep=True))
    assert [place.id for place in index.search(query(text, deep=True, top_k=wanted))] == [
        place.id for place in every[:wanted]
    ]


def test_the_first_hits_of_many_rows_are_those_of_a_full_sort() -> None:
    rows = [said(n, f"{WORDS[n % 7]} {WORDS[n % 5]} {n}") for n in range(1, 1500)]
    index = built(rows)
    every = index.search(query("cat Rome painted", top_k=5000))
    assert len(every) == 1499
    assert index.search(query("cat Rome painted", top_k=7)) == every[:7]


@pytest.mark.parametrize("text", ["", "the of and", "cat", "zebra"])
def test_an_empty_index_and_an_empty_question_raise_no_error(text: str) -> None:
    assert Index().search(query(text)) == []
    index = Index()
    index.append([])
    assert index.search(query(text)) == []
    assert len(built([said(1, "a cat")]).search(query(text, vector=False))) == 1


def test_ties_are_ordered_by_newer_time_then_by_smaller_id() -> None:
    rows = [known(name, "same", valid_from=START + timedelta(days=day)) for name, day in (("b", 0), ("a", 0), ("c", 1))]
    assert [place.id for place in built(rows).search(query("same"))] == ["c", "a", "b"]


@pytest.mark.parametrize("wanted", [1, 40, 199, 200, 201, 599, 600, 700])
def test_the_first_of_many_ties_are_those_of_a_full_sort(wanted: int) -> None:
    names = [f"{n * 7919 % 1000:03}" for n in range(600)]
    days = {name: n % 3 for n, name in enumerate(names)}
    index = built([known(name, "same", valid_from=START + timedelta(days=days[name])) for name in names])
    found = [place.id for place in index.search(query("same", top_k=wanted))]
    assert found == sorted(names, key=lambda name: (-days[name], name))[:wanted]


def test_vectors_of_another_embedder_are_ignored_and_words_still_match() -> None:
    index = built(
        [
            (said(1, "a cat")[0], embedded("a cat", embedder="old")),
            said(2, "a dog"),
            (said(3, "cat")[0], index_text("cat")),
        ]
    )
    found = {place.id: place for place in index.search(query("cat"))}
    assert "meaning" not in found["c3"].parts or found["c1"].parts["words"] > 0
    assert index.search(query("cat", embedder="unknown"))[0].cosine is None
    assert index.search(replace(query("cat"), vector=np.ones(3, dtype=np.float32)))[0].cosine is None


def test_a_fact_is_a_hit_of_its_own_whether_its_message_is_searched_or_not() -> None:
    cold = said(1, "hello")
    index = built(
        [
            (replace(cold[0], phase="cold"), cold[1]),
            known("f", "cat", "c1"),
            known("g", "cat", "lost"),
            known("h", "cat"),
        ]
    )
    assert {place.id for place in index.search(query("cat"))} == {"f", "g", "h"}
    assert {place.id for place in index.search(query("cat", deep=True))} == {"c1", "f", "g", "h"}


def test_a_message_can_arrive_after_the_fact_about_it() -> None:
    index = built([known("f", "cat", "c1")])
    index.append([said(1, "hello", speaker="Ann")])
    assert [place.id for place in index.search(query("cat"))] == ["f", "c1"]
    assert [place.id for place in index.search(query("cat", conversation="c"))] == ["f", "c1"]


def test_outdated_memories_are_penalised_and_found_only_by_a_deep_search() -> None:
    old = known("old", "cat", phase="superseded", reason="replaced")
    index = built([old, known("new", "cat"), known("twin", "cat", phase="superseded", reason="duplicate")])
    assert scores(index.search(query("cat"))).keys() == {"new"}
    deep = scores(index.search(query("cat", deep=True)))
    assert deep["twin"] == deep["new"]
    assert deep["old"] == pytest.approx(deep["new"] / 2)


def test_messages_of_the_speaker_whom_the_question_names_score_higher() -> None:
    rows = [
        said(1, "I painted", speaker="Ann"),
        said(2, "I painted", role="assistant", speaker="Bob"),
        known("f", "painted", "c2"),
    ]
    rows.append(known("g", "painted a cat", subject="ann"))
    parts = {place.id: place.parts for place in built(rows).search(query("What did Ann paint?"))}
    assert {name for name, part in parts.items() if "asked" in part} == {"c1", "g"}
    assert built(list(reversed(rows[:1] + rows[3:]))).search(query("What did Ann paint?"))[0].parts["asked"] > 0


def test_a_fact_of_two_speakers_has_no_speaker() -> None:
    rows = [said(1, "a", speaker="Ann"), said(2, "b", role="assistant", speaker="Bob"), known("f", "cat", "c1", "c2")]
    [fact] = built(rows).search(query("Ann's cat", kinds=frozenset({"semantic"})))
    assert "asked" not in fact.parts


def test_with_an_assistant_the_users_own_words_come_first() -> None:
    rows = [said(1, "my port is 80"), said(2, "my port is 80", role="assistant"), known("f", "port", "c1")]
    found = built(rows).search(query("Which port do I use?", vector=False))
    assert [place.id for place in found] == ["c1", "f", "c2"]
    assert ["user" in place.parts for place in found] == [True, True, False]
    assert all("asked" not in place.parts for place in found)
    assert all("question" not in place.parts for place in found)


def test_a_rule_and_a_preference_of_the_user_rise_for_what_asks_for_advice() -> None:
    rule, taste, other = "Always add units", "I prefer short trips", "Trains are fast"
    index = built([said(number, text) for number, text in enumerate((rule, taste, other), 1)])
    advised = {one.id: one.parts.get("advice", 0.0) for one in index.search(query("Can you suggest a route?"))}
    assert advised == {"c1": STANDING, "c2": PREFERENCE, "c3": 0.0}
    asked = {one.id: one.parts.get("advice", 0.0) for one in index.search(query("How do I plot a route?"))}
    assert asked == {"c1": STANDING, "c2": 0.0, "c3": 0.0}
    assert not any("advice" in one.parts for one in index.search(query("What did I say of trains?")))


def test_messages_a_day_apart_lend_each_other_nothing_whether_loaded_or_appended() -> None:
    rows = [said(1, "My cat is ill"), said(2, "So sad"), said(40, "So glad")]
    loaded = Index()
    loaded.load(columns(rows))
    for index in (built(rows), loaded):
        found = scores(index.search(query("cat", vector=False)))
        assert found["c2"] > found["c40"] == 0.0


def test_filters() -> None:
    rows = [
        said(1, "cat"),
        said(2, "cat", conversation="d", seq=1),
        known("f", "cat", "d2", category="person"),
        known("g", "cat"),
    ]
    index = built(rows)

    def found(**fields: object) -> set[str]:
        return {place.id for place in index.search(query("cat", **fields))}

    assert found() == {"c1", "d2", "f", "g"}
    assert found(kinds=frozenset({"message"})) == {"c1", "d2"}
    assert found(categories=frozenset({"person"})) == {"f"}
    assert found(conversation="d") == {"d2", "f"}
    assert found(conversation="d", kinds=frozenset({"semantic"})) == {"f"}
    assert found(conversation="nowhere") == set()
    assert found(allowed=frozenset({"g", "unknown"})) == {"g"}
    assert found(since=START + timedelta(hours=2)) == {"d2"}
    assert found(until=START + timedelta(hours=1)) == {"c1", "f", "g"}


def test_a_fact_with_a_new_text_is_not_found_by_its_old_words() -> None:
    index = built([said(1, "hello"), known("f", "cat", "c1")])
    index.append([known("f", "dog")])
    assert len(index) == 2
    assert index.frequency(stem("cats")) == 0
    assert index.frequency("dog") == 1
    assert scores(index.search(query("dog"))).keys() == {"c1", "f"}
    assert index.originals == 2


def test_a_known_message_or_one_out_of_order_is_refused_before_any_change() -> None:
    index = built([said(2, "cat")])
    before = index.search(query("cat"))
    for row in (said(2, "cat"), said(1, "dog"), said(3, "dog", seq=2)):
        with pytest.raises(ValueError, match="build a new index"):
            index.append([known("f", "cat"), row])
    with pytest.raises(ValueError, match="build a new index"):
        index.append([said(4, "cat"), said(3, "cat")])
    assert index.search(query("cat")) == before


def test_neighbours_of_every_phase_add_their_words_and_meaning() -> None:
    rows = [said(1, "which city?"), said(2, "Rome of course"), said(3, "nice")]
    rows[1] = (replace(rows[1][0], phase="cold"), rows[1][1])
    [first, *_] = built(rows).search(query("Rome", vector=False))
    assert first.id == "c3"
    assert first.parts["words"] > 0


def test_a_cascade_summary_belongs_to_its_conversation_and_counts_no_words() -> None:
    summary = known("s", "cat cat", kind="summary", conversation="c", span=(1, 2))
    index = built([said(1, "cat"), summary])
    assert index.originals == 1
    assert index.frequency("cat") == 1
    assert scores(index.search(query("cat", conversation="c"))).keys() == {"c1", "s"}


def test_speakers_are_known_and_their_names_removed_from_the_text_to_embed() -> None:
    index = built([said(1, "hi", speaker="Ann Lee"), said(2, "hi", speaker="Bob Lee")])
    assert index.speakers == {"Ann Lee", "Bob Lee"}
    assert index.wording("Where does Ann live?") == "Where does live?"


def test_a_long_text_is_found_by_its_best_passage() -> None:
    memory, _ = said(1, "long")
    index = built([(memory, embedded("long", ["cats", "dogs"])), said(2, "short")])
    [place] = [place for place in index.search(query("dogs")) if place.id == "c1"]
    assert place.cosine is not None
    assert place.cosine > 0.4


def test_shared_counts_stems_without_stop_words() -> None:
    [place] = built([known("f", "the cats of Rome")]).search(query("the cat in Rome or Paris"))
    assert place.shared == 2


def test_a_trimmed_text_is_searched_instead_of_its_message_and_changes_no_other_score() -> None:
    texts = [
        "I adopted a dog called Biscuit",
        "What does Biscuit eat?",
        "Kibble, and every cushion in sight",
        "Oh dear",
    ]
    talk = [said(number, text) for number, text in enumerate(texts, 1)]
    (third, entry), gist = talk[2], "every cushion in sight"
    fact = known("f", "Biscuit eats kibble", third.id)
    left = replace(third, gist=gist)
    whole = built([*talk, fact])
    trimmed = built([*talk[:3], fact])
    trimmed.trim([(left, entry, embedded(gist))])
    trimmed.append([talk[3]])
    at_once = built([*talk, fact])
    at_once.trim([(left, entry, embedded(gist))])
    assert len(trimmed) == len(at_once) == len(whole) == 5
    for text in ("kibble", "cushion Biscuit", "What does the dog eat?"):
        assert trimmed.search(query(text, deep=True)) == whole.search(query(text, deep=True))
        shallow, full = scores(trimmed.search(query(text))), scores(whole.search(query(text)))
        assert {name: score for name, score in shallow.items() if name != third.id} == {
            name: score for name, score in full.items() if name != third.id
        }
        assert shallow[third.id] != full[third.id]
        assert shallow == pytest.approx(scores(at_once.search(query(text))), abs=1e-6)
    trimmed.change([replace(left, phase="cold")])
    assert third.id not in scores(trimmed.search(query("cushion")))
    trimmed.change([replace(left, gist=None)])
    assert trimmed.search(query("kibble")) == whole.search(query("kibble"))


@given(st.lists(talks("c"), min_size=1, max_size=1), questions, questions)
def test_a_repeated_question_about_another_selection_equals_a_new_index(
    rows: list[list[Row]], text: str, other: str
) -> None:
    stated = rows[0]
    index = built(stated)
    for asked in (text, text, other, text):
        for fields in ({}, {"deep": True}, {"vector": False}, {"kinds": frozenset({"semantic"})}):
            assert index.search(query(asked, **fields)) == built(stated).search(query(asked, **fields))
    more = known("f", "the cat painted Rome")
    index.append([more])
    assert index.search(query(text)) == built([*stated, more]).search(query(text))
    index.change([replace(more[0], phase="cold")])
    assert "f" not in scores(index.search(query(text)))


def test_the_same_question_about_another_selection_is_scanned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from slowwave.stores.search import index as module  # noqa: PLC0415 - only here its insides are watched

    scanned: list[object] = []
    real = module.parts
    monkeypatch.setattr(module, "parts", lambda *asked: scanned.append(asked) or real(*asked))
    index = built([said(1, "cat"), known("f", "a dog")])
    index.search(query("cat"))
    index.search(query("cat", kinds=frozenset({"semantic"}), top_k=1))
    assert len(scanned) == 1
    index.search(query("dog"))
    index.append([said(2, "dog")])
    index.search(query("dog"))
    assert len(scanned) == 3
