"""A message keeps the offset of its time: dates are counted in it, and it is shown in it, in each store and after each journey."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, Config, InputError, Slowwave
from slowwave.model.memory import Memory
from slowwave.testing import FrozenClock, ScriptedLLM

TOKYO, BOGOTA = timezone(timedelta(hours=9)), timezone(timedelta(hours=-5))
EVENING = datetime(2025, 6, 10, 23, 30, tzinfo=BOGOTA)  # the 11th in UTC
MORNING = datetime(2025, 6, 11, 8, 30, tzinfo=TOKYO)  # 23:30 of the 10th in UTC
NOW = datetime(2026, 3, 1, 20, tzinfo=UTC)  # the 2nd in Tokyo


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "a.db") if request.param == "sqlite" else str(request.getfixturevalue("own"))


@pytest.fixture
def memory(store: str) -> Iterator[AgentMemory]:
    with opened(store) as memory:
        yield memory


def opened(store: str, **options: Any) -> AgentMemory:  # noqa: ANN401 - those of AgentMemory.open
    return AgentMemory.open(store, **({"llm": None, "embedder": "none", "clock": FrozenClock(NOW)} | options))


def told(memory: AgentMemory, text: str, at: datetime | str | None, **fields: object) -> Memory:
    """The message as another handle of the store reads it."""
    receipt = memory.add_messages({"role": "user", "content": text, "at": at, **fields}, "talk")
    return memory.get(receipt.ids[0])


def offset(at: datetime) -> timedelta | None:
    return at.utcoffset()


@pytest.mark.parametrize(
    ("at", "text", "day"),
    [
        ("2025-06-10T23:30:00-05:00", "I adopted a dog named Rufus today.", "10 June 2025"),
        ("2025-06-11T00:30:00+09:00", "I adopted a dog named Rufus yesterday.", "10 June 2025"),
        ("2025-01-01T05:00:00+09:00", "I got married last year.", "2024"),
        ("2025-06-11T03:00:00+05:30", "I adopted a dog named Rufus two days ago.", "9 June 2025"),
        ("2025-07-01T02:00:00+12:45", "We moved to Napier last month.", "June 2025"),
    ],
)
def test_the_rules_count_relative_dates_in_the_offset_of_the_message(
    memory: AgentMemory, at: str, text: str, day: str
) -> None:
    told(memory, text, at)
    memory.consolidate(force=True)
    (fact,) = memory.get_all()
    assert day in fact.text
    assert offset(fact.at) == datetime.fromisoformat(at).utcoffset()


def test_equal_instants_of_two_zones_are_two_days(memory: AgentMemory) -> None:
    """A cache that is keyed by the instant would give both the day of the first."""
    text = "I adopted a dog named Rufus today."
    for at in (EVENING, EVENING.astimezone(TOKYO)):
        told(memory, text, at)
        memory.consolidate(force=True)
    texts = " ".join(fact.text for fact in memory.get_all())
    assert "10 June 2025" in texts
    assert "11 June 2025" in texts


@pytest.mark.parametrize(
    ("written", "since"),
    [
        ("2025-06-12", "2025-06-12T00:00:00+09:00"),
        ("2025-06-12T01:00:00Z", "2025-06-12T01:00:00+00:00"),
        ("0001-01-01T00:00:00+14:00", "2025-06-11T08:30:00+09:00"),  # before the calendar: the time of the message
    ],
)
def test_a_model_is_shown_the_clock_of_the_speaker_and_its_dates_are_of_that_clock(
    store: str, written: str, since: str
) -> None:
    fact = {
        "text": "The user's flight to Rome leaves on 12 June 2025",
        "category": "goal",
        "messages": [1],
        "quote": "to Rome",
    }
    llm = ScriptedLLM(distil={"facts": [fact | {"valid_from": written}]}, reconcile={"reviewed": 1, "changes": []})
    with opened(store, llm=llm) as memory:
        told(memory, "My flight to Rome leaves tomorrow at 7 am.", MORNING)
        memory.consolidate(force=True)
        (stored,) = memory.get_all()
    assert "Wed 2025-06-11 08:30 UTC+09:00" in llm.asked[0].text
    assert stored.at.isoformat() == since
    assert "12 June 2025" in stored.text, "the messages give the day"


@pytest.mark.parametrize(("day", "stored"), [("10", 1), ("11", 0)])
def test_a_fact_of_a_model_with_the_day_in_utc_is_refused(store: str, day: str, stored: int) -> None:
    text = f"The user adopted a dog on {day} June 2025"
    fact = {"text": text, "category": "family", "messages": [1], "quote": "I adopted a dog today"}
    llm = ScriptedLLM(distil={"facts": [fact]}, reconcile={"reviewed": 1, "changes": []})
    with opened(store, llm=llm) as memory:
        told(memory, "I adopted a dog today.", EVENING)
        memory.consolidate(force=True)
        assert len(memory.get_all()) == stored


def test_an_end_that_the_words_name_is_that_of_the_local_day(memory: AgentMemory) -> None:
    told(memory, "I am on parental leave until 12 June 2025.", MORNING)
    memory.consolidate(force=True)
    (fact,) = memory.get_all()
    ends = memory.explain(fact.id).expires_at or memory.explain(fact.id).fades_at
    assert ends is not None
    assert (ends.date(), ends.hour, offset(ends)) == (date(2025, 6, ends.day), 0, timedelta(hours=9))


def test_the_offset_is_read_again_by_every_way(store: str) -> None:
    with opened(store) as memory:
        said = told(memory, "I adopted a dog named Rufus.", EVENING)
        stated = memory.add("Rufus is a dog", at=MORNING, expires_at=MORNING + timedelta(days=900))
    with opened(store) as memory:
        (message,) = memory.messages("talk")
        (hit,) = (hit for hit in memory.search("Rufus dog") if hit.memory.id == stated.ids[0])
        fact = memory.get(stated.ids[0])
        assert said.at == message.at == EVENING
        assert {offset(at) for at in (said.at, message.at)} == {timedelta(hours=-5)}
        assert fact.expires_at is not None
        assert {offset(at) for at in (hit.memory.at, fact.at, fact.expires_at)} == {timedelta(hours=9)}
        assert "2025-06-11" in str(hit)
        memory.add_messages({"role": "user", "content": "Hello again."}, "later")
        assert "2025-06-10" in str(memory.context("Which dog was adopted?", conversation="later"))
        assert memory.doctor(deep=True) == []


@pytest.mark.parametrize("in_ram", [200_000, 0])  # 0: the Postgres server searches
def test_a_day_that_a_question_names_is_the_local_day(store: str, in_ram: int) -> None:
    with opened(store) as memory:
        for text, at in (("We painted the gate green.", EVENING), ("We painted the gate blue.", MORNING)):
            told(memory, text, at)
        for number in range(30):
            told(memory, f"We painted fence number {number}.", NOW - timedelta(days=number))
    with opened(store, config=Config(search_in_ram=in_ram)) as memory:  # whose index is built from rows
        assert memory.search("What did we paint at the gate on 10 June 2025?")[0].text == "We painted the gate green."
        assert memory.search("What did we paint at the gate on 11 June 2025?")[0].text == "We painted the gate blue."


def test_an_undo_and_a_replay_keep_the_offset(memory: AgentMemory) -> None:
    memory.add_messages({"role": "user", "content": "I adopted a dog named Rufus today.", "at": EVENING}, "talk")
    done = memory.consolidate(force=True)
    (fact,) = memory.get_all()
    changed = memory.update(fact.id, text=fact.text, category="family")
    memory.undo(changed.run_id)
    assert offset(memory.get(fact.id).at) == timedelta(hours=-5)
    for undone in memory.undo(done.run_id):
        memory.undo(undone.run_id)
    assert [offset(each.at) for each in memory.get_all()] == [timedelta(hours=-5)]
    assert memory.doctor(deep=True) == []


@pytest.mark.parametrize("name", ["out.jsonl", "vault"])
def test_an_export_and_an_import_keep_the_offset(memory: AgentMemory, tmp_path: Path, name: str) -> None:
    said = told(memory, "I adopted a dog named Rufus.", EVENING)
    stated = memory.add("Rufus is a dog", at=MORNING)
    if name == "vault":
        memory.export_vault(tmp_path / name)
        memory.import_vault(tmp_path / name)
        assert offset(memory.get(stated.ids[0]).at) == timedelta(hours=9)
        return
    memory.export(tmp_path / name)
    with AgentMemory.in_memory(embedder="none", clock=FrozenClock(NOW), zone="+01:00") as other:
        other.import_(tmp_path / name)
        assert [offset(other.get(one).at) for one in (said.id, stated.ids[0])] == [
            timedelta(hours=-5),
            timedelta(hours=9),
        ]


def test_a_plan_in_a_file_and_a_copy_of_the_store_keep_the_offset(store: str, tmp_path: Path) -> None:
    from slowwave.composition import copy_store  # noqa: PLC0415 - only here

    with opened(store) as memory:
        said = told(memory, "I adopted a dog named Rufus.", EVENING)
    copy_store(store, str(tmp_path / "copy.db"))
    with opened(str(tmp_path / "copy.db")) as copied:
        assert offset(copied.get(said.id).at) == timedelta(hours=-5)
        assert copied.doctor(deep=True) == []


def test_an_erased_message_is_recognised_in_another_zone(memory: AgentMemory) -> None:
    text = "My locker has the number 4711."
    memory.erase(id=told(memory, text, EVENING).id)
    again = memory.add_messages({"role": "user", "content": text, "at": EVENING.astimezone(UTC)}, "talk")
    assert again.ids == ()
    assert "1 left out: erased earlier" in again.notes


# ---- the zone of a memory


def test_a_time_without_a_zone_and_a_message_without_a_time_are_of_the_memorys_zone(store: str) -> None:
    with opened(store, zone="Asia/Tokyo") as memory:
        written = told(memory, "Rufus barks.", "2025-06-11T08:30:00")
        undated = told(memory, "Rufus sleeps.", None)
        dated = told(memory, "Rufus runs.", EVENING)
        stated = memory.get(memory.add("Rufus is a dog").ids[0])
        assert written.at.isoformat() == MORNING.isoformat()
        assert undated.at.isoformat() == "2026-03-02T05:00:00+09:00"
        assert stated.at.isoformat() == "2026-03-02T05:00:00+09:00"
        assert dated.at.isoformat() == EVENING.isoformat()
        assert [hit.text for hit in memory.search("Rufus", until=datetime(2025, 6, 11, 9))] == ["Rufus barks."]  # noqa: DTZ001


def test_each_scope_has_a_zone_and_an_inner_one_that_of_the_outer(store: str) -> None:
    with Slowwave.open(store, llm=None, embedder="none", clock=FrozenClock(NOW), zone="+01:00") as whole:
        alice, bob = whole.within("alice", zone="America/Bogota"), whole.within("bob")
        notes = alice.within("notes")
        naive = "2025-06-10T23:30:00"
        assert told(alice, "Hello.", naive).at == EVENING
        assert offset(told(bob, "Hello.", naive).at) == timedelta(hours=1)
        assert offset(told(notes, "Hello.", naive).at) == timedelta(hours=-5)
        assert offset(told(notes.within("x", zone="+02:00"), "Hello.", naive).at) == timedelta(hours=2)
        with pytest.raises(InputError, match="zone='Mars/Olympus' is not a known time zone"):
            whole.within("carol", zone="Mars/Olympus")


def test_the_zone_comes_from_the_argument_else_from_the_settings_else_it_is_utc(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    naive = "2025-06-10T23:30:00"
    with opened(store) as memory:
        assert told(memory, "One.", naive).at.isoformat() == f"{naive}+00:00"
    monkeypatch.setenv("SLOWWAVE_ZONE", "Asia/Tokyo")
    with opened(store) as memory:
        assert offset(told(memory, "Two.", naive).at) == timedelta(hours=9)
    with opened(store, zone="America/Bogota") as memory:
        assert offset(told(memory, "Three.", naive).at) == timedelta(hours=-5)
    with opened(store, config=Config(zone="+03:00")) as memory:
        assert offset(told(memory, "Four.", naive).at) == timedelta(hours=3)
    monkeypatch.setenv("SLOWWAVE_ZONE", "Asia/Tokio")
    with pytest.raises(InputError, match=r"SLOWWAVE_ZONE: .*zone='Asia/Tokio' is not a known time zone"):
        opened(store)


def test_an_import_reads_times_without_an_offset_in_the_zone(store: str, tmp_path: Path) -> None:
    rows = {"naive": "2025-06-11T08:30:00", "utc": "2025-06-10T23:30:00Z", "epoch": 1749598200, "own": MORNING}
    lines = [
        f'{{"role": "user", "content": "{name} words", "id": "{name}", "at": "{at}"}}' for name, at in rows.items()
    ]
    (tmp_path / "talk.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with opened(store, zone="America/Bogota") as memory:
        memory.import_(tmp_path / "talk.jsonl")
        read = {str(found.id): found.at.isoformat() for found in memory.messages("talk") if found.at}
    assert read == {
        "naive": "2025-06-11T08:30:00-05:00",
        "utc": "2025-06-10T18:30:00-05:00",
        "epoch": "2025-06-10T18:30:00-05:00",
        "own": "2025-06-11T08:30:00+09:00",
    }


def test_times_of_changes_are_shown_in_the_zone(store: str) -> None:
    with Slowwave.open(store, llm=None, embedder="none", clock=FrozenClock(NOW), zone="Asia/Tokyo") as whole:
        memory = whole.within("alice")
        told(memory, "Rufus barks.", EVENING)
        fact = memory.add("Rufus is a dog").ids[0]
        memory.sleep()
        (event,), explained = memory.history(fact), memory.explain(fact)
        (scope,), (talk,) = whole.scopes(), memory.conversations()
        runs = memory.runs(parts="all")
        shown = [
            *(run.at for run in (*runs, *memory.run(runs[0].id).parts)),
            *(event.at, explained.history[0].at, scope.last_written, talk.last_at),
            *(memory.status().last_sleep, memory.health().slept),
        ]
        assert {at and offset(at) for at in shown} == {timedelta(hours=9)}
        assert f"{event.at:%Y-%m-%d %H:%M}" == "2026-03-02 05:00"
        assert "2026-03-02 05:00 add" in str(explained)
        assert talk.last_at == EVENING


def test_an_end_at_the_end_of_the_calendar_does_no_harm(store: str) -> None:
    ends = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone(timedelta(hours=14)))
    with opened(store, zone="+14:00") as memory:
        fact = memory.get(memory.add("Rufus is a dog", at=MORNING, expires_at=ends).ids[0])
        assert fact.expires_at == ends
        assert memory.search("Rufus")[0].memory == fact
        assert memory.sleep().problems == ()
        assert memory.doctor(deep=True) == []
