"""Tests of topic pages: how they are written, kept up to date, found, undone and erased."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.pipelines.statements import SPORTS

from slowwave import AgentMemory, Message
from slowwave.model.memory import PAGE, Memory
from slowwave.model.plan import GROUP_MAX
from slowwave.pipelines.ingest import topic_pages
from slowwave.pipelines.ingest.topic_pages import CONVERSATIONS_MAX, CURSOR
from slowwave.policy.summaries.pages import lines_of
from slowwave.testing import FrozenClock
from slowwave.testing.builders import every_field

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(START)


@pytest.fixture
def memory(clock: FrozenClock) -> Iterator[AgentMemory]:
    with AgentMemory.open(":memory:", llm=None, embedder="none", clock=clock) as opened:
        yield opened


def tell(memory: AgentMemory, clock: FrozenClock, *texts: str, conversation: str = "talk") -> None:
    """One message a day of Ines, each answered by a person without a topic."""
    for text in texts:
        messages = [
            Message(role="user", speaker="Ines", content=text, at=clock.now, id=text),
            Message(role="assistant", speaker="Rui", content="Wow, really?", at=clock.now),
        ]
        memory.add_messages(messages, conversation=conversation)
        clock.now += timedelta(days=1)


def pages(memory: AgentMemory) -> dict[str, Memory]:
    return {str(page.ref): page for page in memory.get_all(categories=[PAGE])}


def said(page: Memory) -> list[str]:
    return [line.text for line in lines_of(page)]


def test_a_sleep_pass_writes_a_page_with_its_sources(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS)
    memory.sleep()
    page = pages(memory)["Ines/sports"]
    assert (page.kind, page.subject, page.depth, page.phase) == ("summary", "Ines", 1, "active")
    assert len(lines_of(page)) == len(SPORTS)
    assert [line.day for line in lines_of(page)] == [(START + timedelta(days=n)).date() for n in range(len(SPORTS))]
    assert any("kayaking on the lake" in source.text for source in memory.explain(page.id).sources)


def test_a_message_that_is_read_after_its_fact_is_not_listed_beside_it(
    memory: AgentMemory, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(memory, clock, *SPORTS)
    monkeypatch.setattr(topic_pages, "MESSAGES_MAX", 4)  # the facts of all messages are read, the messages in parts
    monkeypatch.setattr(topic_pages, "REREAD", 0)
    memory.consolidate_all(force=True)
    first = said(pages(memory)["Ines/sports"])
    for _ in SPORTS:
        clock.now += timedelta(days=1)
        memory.sleep()
    assert said(pages(memory)["Ines/sports"]) == first
    states = memory.ports.store.conversations(memory.scope)
    assert [state.cursor(CURSOR) for state in states] == [2 * len(SPORTS)]


def test_consolidating_writes_pages_as_a_part_of_its_run(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS)
    result = memory.consolidate("talk", force=True)
    assert "Ines/sports" in pages(memory)
    memory.undo(str(result.run_id))
    assert pages(memory) == {}


def test_a_page_takes_in_what_is_new_and_a_second_pass_changes_nothing(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS[:6])
    memory.sleep()
    tell(memory, clock, SPORTS[6])
    memory.sleep()
    page = pages(memory)["Ines/sports"]
    assert (page.version, len(lines_of(page))) == (2, 7)
    memory.sleep()
    runs = len(memory.runs(parts="all"))
    memory.sleep()
    assert len(memory.runs(parts="all")) == runs
    assert pages(memory)["Ines/sports"] == page


def test_few_entries_begin_no_page_and_count_later(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS[:2])
    memory.sleep()
    assert pages(memory) == {}
    tell(memory, clock, *SPORTS[2:])
    memory.sleep()
    assert len(lines_of(pages(memory)["Ines/sports"])) == len(SPORTS)


def test_a_replaced_fact_is_marked_and_a_withdrawn_one_leaves(memory: AgentMemory, clock: FrozenClock) -> None:
    texts = [
        f"Ines trains for the {race} race"
        for race in ("harbour", "forest", "bridge", "island", "winter", "castle", "night")
    ]
    ids = [memory.add(text, subject="Ines").ids[0] for text in texts]
    tell(memory, clock, "Good morning.")
    memory.sleep()
    clock.now += timedelta(days=3)
    memory.update(ids[0], text="Ines trains for the desert race")
    memory.delete(ids[1])
    memory.sleep()
    texts_now = said(pages(memory)["Ines/sports"])
    assert "Ines trains for the desert race" in texts_now
    assert texts[1] not in texts_now


def test_a_search_for_a_list_shows_the_page_last_and_other_searches_do_not(
    memory: AgentMemory, clock: FrozenClock
) -> None:
    tell(memory, clock, *SPORTS)
    before = [hit.memory.id for hit in memory.search("Which sports does Ines do?")]
    memory.sleep()
    hits = memory.search("Which sports does Ines do?")
    assert [hit.memory.id for hit in hits[:-1]] == before[:9]
    assert hits[-1].memory == pages(memory)["Ines/sports"]
    assert {str(source) for source in hits[-1].sources} == set(SPORTS)
    for question, filters in (
        ("When did Ines go kayaking?", {}),
        ("Which sports does Ines do?", {"top_k": 3}),
        ("Which sports does Ines do?", {"kinds": ["message"]}),
        ("Which sports does Ines do?", {"deep": True}),
    ):
        assert not any(hit.memory.is_page for hit in memory.search(question, **filters))
    assert [hit.memory.ref for hit in memory.search("sports", categories=[PAGE])] == ["Ines/sports"]


def test_no_stage_archives_a_page(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS)
    memory.sleep()
    for _ in range(3):
        clock.now += timedelta(days=400)
        memory.sleep()
    page = pages(memory)["Ines/sports"]
    assert (page.phase, page.due_at, len(lines_of(page))) == ("active", None, len(SPORTS))


def test_an_erased_message_leaves_its_page_which_is_proved_clean(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS)
    memory.sleep()
    old = pages(memory)["Ines/sports"]
    receipt = memory.erase(source=SPORTS[2])
    page = pages(memory)["Ines/sports"]
    assert receipt.verified
    assert old.id in receipt.destroyed
    assert page.id != old.id
    assert len(lines_of(page)) == len(SPORTS) - 1
    assert not any("medal" in text for text in said(page))


def test_an_erased_message_leaves_the_history_of_a_page_that_listed_it(clock: FrozenClock, tmp_path: Path) -> None:
    with AgentMemory.open(tmp_path / "memory.db", llm=None, embedder="none", clock=clock) as memory:
        tell(memory, clock, SMALL_TALK, conversation="holiday")
        tell(memory, clock, *SPORTS)
        memory.sleep()
        assert any("nothing new" in text for text in said(pages(memory)["Ines/sports"]))
        for _ in range(8):
            clock.now += timedelta(days=30)
            memory.sleep()
        page = pages(memory)["Ines/sports"]
        assert not any("nothing new" in text for text in said(page))
        receipt = memory.erase(conversation="holiday")
        assert (receipt.verified, page.id in receipt.destroyed) == (True, True)
        assert said(pages(memory)["Ines/sports"]) == said(page)
        assert "nothing new" not in every_field(memory.runs())
        assert [file for file in tmp_path.iterdir() if b"nothing new" in file.read_bytes()] == []


def test_erased_words_leave_every_page(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS)
    memory.sleep()
    receipt = memory.erase(text="medal")
    assert receipt.verified
    assert not any("medal" in text for page in pages(memory).values() for text in said(page))
    assert len(lines_of(pages(memory)["Ines/sports"])) == len(SPORTS) - 1


def test_an_undone_page_is_not_written_again_in_the_same_words(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS)
    night = memory.sleep().plan.id
    memory.undo(night)
    memory.sleep()
    assert pages(memory) == {}


@pytest.mark.parametrize("by", ["undo", "delete", "nothing to list"])
def test_a_page_that_was_retracted_is_written_again_for_new_statements(
    memory: AgentMemory, clock: FrozenClock, by: str
) -> None:
    tell(memory, clock, *SPORTS[:5])
    night = memory.sleep().plan.id
    page = pages(memory)["Ines/sports"]
    if by == "undo":
        memory.undo(night)
    elif by == "delete":
        memory.delete(page.id)
    else:
        memory.delete(page.members)
        memory.sleep()
    assert (pages(memory), memory.get(page.id).phase) == ({}, "retracted")
    tell(memory, clock, *(SPORTS if by == "nothing to list" else SPORTS[5:]), conversation="later")
    report = memory.sleep()
    assert (report.left, [receipt.dropped for receipt in report.receipts if receipt.dropped]) == ({}, [])
    again = pages(memory)["Ines/sports"]
    assert (again.id, again.valid_to) == (page.id, None)
    assert len(again.members) >= len(SPORTS)
    memory.undo(report.plan.id)
    assert pages(memory) == {}
    memory.sleep()
    assert pages(memory) == {}, "it is not begun again with the same statements"
    assert memory.doctor(deep=True) == []


def test_a_fact_with_the_id_of_a_page_does_not_stand_in_the_way_of_other_pages(
    memory: AgentMemory, clock: FrozenClock
) -> None:
    fact = memory.trusting("web").add("Rui repairs canoes", id="Ines/sports").ids[0]
    tell(memory, clock, *SPORTS)
    memory.add_messages([Message(role="user", speaker="Rui", content=text) for text in SPORTS], "other")
    clock.now += timedelta(days=1)
    assert memory.sleep().left == {}
    assert [*pages(memory)] == ["Rui/sports"]
    assert memory.get(fact).text == "Rui repairs canoes"


def test_a_later_page_does_not_stand_in_the_way_of_an_undo(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS[:6])
    night = memory.sleep().plan.id
    tell(memory, clock, SPORTS[6])
    memory.sleep()
    memory.undo(night)
    assert len(lines_of(pages(memory)["Ines/sports"])) == len(SPORTS)


def test_a_person_may_write_a_page_in_another_form(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS[:6])
    memory.sleep()
    page = pages(memory)["Ines/sports"]
    memory.update(page.id, text="Ines rows, climbs and skis.")
    tell(memory, clock, SPORTS[6])
    memory.sleep()
    assert pages(memory)["Ines/sports"].text == "Ines rows, climbs and skis."


def test_a_secret_stays_in_its_message(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS[:6], "My gym locker password is hunter2horse9 since the race.")
    memory.sleep()
    assert not any("hunter2horse9" in page.text for page in pages(memory).values())


SMALL_TALK = "Been at the gym, nothing new."


def test_small_talk_leaves_its_page_after_half_a_year_and_a_medal_stays(
    memory: AgentMemory, clock: FrozenClock
) -> None:
    tell(memory, clock, *SPORTS, SMALL_TALK)
    memory.sleep()
    assert any("nothing new" in text for text in said(pages(memory)["Ines/sports"]))
    for _ in range(8):
        clock.now += timedelta(days=30)
        memory.sleep()
    page = pages(memory)["Ines/sports"]
    assert not any("nothing new" in text for text in said(page))
    assert any("medal" in text for text in said(page))


def test_a_night_on_which_no_line_may_leave_has_nothing_to_do(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *SPORTS, SMALL_TALK)
    memory.sleep()
    page = pages(memory)["Ines/sports"]
    assert page.due_at == datetime.combine(START.date(), datetime.min.time(), UTC) + timedelta(days=180)
    clock.now += timedelta(days=1)
    memory.sleep()
    assert pages(memory)["Ines/sports"].version == page.version


LIFE = (
    "I'm a nurse at the harbour clinic.",
    "I moved here from Graz nine years ago.",
    "This ring is dear to me - a gift from my aunt.",
    "I struggled with insomnia when I was young.",
    "We took the ferry to the zoo with the kids.",
)


def test_the_page_of_a_life_keeps_what_lasts_and_answers_to_questions(memory: AgentMemory, clock: FrozenClock) -> None:
    tell(memory, clock, *LIFE)
    asked = Message(role="assistant", speaker="Rui", content="Lovely cats! What are their names?", at=clock.now)
    answer = Message(role="user", speaker="Ines", content="Biscuit and Toffee! They sleep.", at=clock.now, id="names")
    memory.add_messages([asked, answer], conversation="talk")
    memory.sleep()
    for _ in range(14):
        clock.now += timedelta(days=30)
        memory.sleep()
    texts = said(pages(memory)["Ines/life"])
    for words in ("nurse at the harbour clinic", "from Graz nine years ago", "gift from my aunt", "insomnia"):
        assert any(words in text for text in texts)
    assert "names of pets: Biscuit and Toffee" in texts
    assert not any("zoo" in text for text in texts)


def test_many_conversations_are_read_in_several_passes(memory: AgentMemory, clock: FrozenClock) -> None:
    """The cursors of a pass are one group, which has a limit; with one message each, conversations reach it first."""
    for n in range(GROUP_MAX + 110):
        memory.add_messages([Message(role="user", speaker="Ines", content=f"Hello {n}")], conversation=f"c{n:03}")
    tell(memory, clock, *SPORTS, conversation="z")
    lefts = []
    for _ in range(5):
        memory.sleep()
        unread = memory.ports.store.conversations(memory.scope)
        lefts.append(sum(found.cursor(CURSOR) < found.last_seq for found in unread))
    assert lefts[0] == GROUP_MAX + 111 - CONVERSATIONS_MAX
    assert lefts[-1] < CONVERSATIONS_MAX
    assert "Ines/sports" in pages(memory)


def test_an_export_restores_a_page_that_was_written_again_with_newer_members(
    memory: AgentMemory, clock: FrozenClock, tmp_path: Path
) -> None:
    for text in SPORTS[:5]:
        memory.add(text.replace("I ", "Ines ").replace("My ", "Ines's "), category="person", subject="Ines")
        memory.sleep()
        clock.now += timedelta(days=1)
    known = {page.id: (page.text, page.members, page.recorded_at) for page in memory.get_all(categories=[PAGE])}
    facts = {fact.id: fact.recorded_at for fact in memory.get_all()}
    assert any(facts[member] > at for _, members, at in known.values() for member in members)
    memory.export(tmp_path / "all.jsonl")
    with AgentMemory.open(":memory:", llm=None, embedder="none", clock=clock) as empty:
        report = empty.import_(tmp_path / "all.jsonl", trust_export=True)
        assert report.skipped == {}
        restored = empty.get_all(categories=[PAGE])
        assert {page.id: (page.text, page.members, page.recorded_at) for page in restored} == known
