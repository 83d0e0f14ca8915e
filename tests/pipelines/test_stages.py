"""The stages of sleep one by one: what each does, and what it leaves alone."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest

from slowwave import AgentMemory, Config, Message
from slowwave.errors import ModelError
from slowwave.model.mind import Verdict
from slowwave.policy.retention.policies import fade_date
from slowwave.testing.clock import FrozenClock

if TYPE_CHECKING:
    from tests.conftest import Only, Says, Texts, World

DOWN = ModelError("model down")
HIKES = (
    "User went hiking at Mount Rainier on March 12, 2024",
    "User went kayaking at Lake Washington on March 15, 2024",
    "User went sailing at Fremont on March 20, 2024",
    "User went rock climbing at Stone Gardens on March 25, 2024",
    "User went cycling at Green Lake on March 28, 2024",
)


def _hikes(world: "World", memory: AgentMemory, lines: tuple[str, ...] = HIKES) -> None:
    for line in lines:
        memory.add(line, kind="episodic", category="observation")
        world.later(seconds=1)


# ---- expire, fade, size targets


def test_time_to_live_is_strict_and_by_category(world: "World", texts: "Texts") -> None:
    memory = world.open(category_ttl_days={"sprint": 14.0})
    memory.add("Working from the airport lounge", category="session_state")
    memory.add("The sprint goal is search", category="sprint")
    memory.add("My name is Matteo", category="identity")
    world.later(days=1)
    memory.sleep()
    assert len(texts(memory)) == 3, "not yet strictly over"
    world.later(seconds=1)
    memory.sleep()
    assert len(texts(memory)) == 2
    world.later(days=13)
    memory.sleep()
    assert texts(memory) == {"My name is Matteo"}
    assert {fact.reason for fact in memory.get_all(phases=["cold"])} == {"expired"}


def test_ten_uses_keep_a_fact_from_fading(world: "World", texts: "Texts") -> None:
    memory = world.open(core_session_threshold=99)
    memory.add("Alice owns the deploy pipeline", kind="episodic")
    memory.add("Bob owns the release train", kind="episodic")
    for _ in range(10):
        memory.record_retrieval(memory.search_knowledge("Alice deploy", top_k=1))
    world.later(days=5000)
    memory.sleep()
    assert texts(memory) == {"Alice owns the deploy pipeline"}


def test_the_weakest_facts_are_archived_over_the_limit(world: "World", texts: "Texts", only: "Only") -> None:
    memory = world.open(hot_facts_max=2)
    for name in ("Ann", "Bert", "Cecilia", "Dan"):
        memory.add(f"{name} owns room {len(name)}")
        world.later(days=1)
    memory.pin(only(memory, "Ann").id)
    memory.sleep()
    assert texts(memory) == {"Ann owns room 3", "Dan owns room 3"}
    assert {fact.reason for fact in memory.get_all(phases=["cold"])} == {"budget"}


def test_messages_leave_only_over_the_limit_and_stay_findable(world: "World") -> None:
    memory = world.open(hot_messages_max=10)
    memory.add("Alice owns the deploy pipeline")
    for n in range(12):
        text = "Ok." if n % 2 else f"The Rhine bridge number {n} opens on May {n + 1}, 2026"
        memory.add_message(Message(role="user", content=text, at=world.clock()), conversation="c")
    memory.sleep()
    cold = memory.get_all(kinds=["message"], phases=["cold"])
    assert [message.text for message in cold] == ["Ok."] * 3, "13 hot, the fact among them"
    assert {hit.deep for hit in memory.search("Ok", deep=True) if hit.text == "Ok."} == {True, False}
    assert len(memory.get_conversation_messages("c")) == 12


# ---- compress


def test_a_failing_model_leaves_the_clusters_due(world: "World", texts: "Texts", only: "Only") -> None:
    memory = world.open()
    _hikes(world, memory)
    world.fade(memory)
    world.mind.summary = DOWN
    for _ in range(2):
        report = memory.sleep()
        assert (report.left, report.problems) == ({"compress": 1}, ("model down",))
        assert texts(memory) == set(HIKES)
    world.mind.summary = None
    memory.sleep()
    assert only(memory).kind == "summary"


def test_a_cluster_that_a_model_refuses_to_read_is_asked_about_once_a_day(world: "World") -> None:
    memory = world.open()
    _hikes(world, memory)
    world.fade(memory)
    world.mind.summary = refusal = ModelError("filtered by the content policy")
    refusal.refused = True
    report = memory.sleep()
    assert (report.left, report.problems) == ({}, ("filtered by the content policy",))
    (run,) = [run.id for run in memory.runs() if run.cause == "sleep/compress"]
    for _ in range(2):
        memory.add(f"Bob has {len(memory.runs())} goats")
        memory.sleep()
    assert len(world.mind.questions("summarise")) == 1
    memory.undo(run)
    world.fade(memory)
    world.later(days=1)
    memory.sleep()
    assert len(world.mind.questions("summarise")) == 2


@pytest.mark.parametrize(
    ("summary", "words"),
    [("", "empty"), ("User was outdoors", "loses"), ("; ".join(HIKES) + "; Bob flew to Paris", "invents")],
)
def test_a_summary_that_loses_or_invents_is_refused(world: "World", texts: "Texts", summary: str, words: str) -> None:
    memory = world.open()
    _hikes(world, memory)
    world.fade(memory)
    world.mind.summary = summary
    (problem,) = memory.sleep().problems
    assert words in problem
    assert texts(memory) == set(HIKES)


def test_a_refused_summary_is_not_requested_again_until_a_member_changes(world: "World") -> None:
    memory = world.open()
    _hikes(world, memory)
    world.fade(memory)
    world.mind.summary = "User was outdoors"
    report = memory.sleep()
    assert (report.left, len(report.problems)) == ({}, 1)
    for _ in range(3):
        world.later(days=1)
        assert memory.sleep().problems == ()
    assert len(world.mind.questions("summarise")) == 1
    _hikes(world, memory, ("User went hiking in the rain",))
    world.fade(memory)
    world.mind.summary = None
    assert memory.sleep().problems == ()
    assert len(world.mind.questions("summarise")) == 2


@pytest.mark.parametrize("change", ["nothing", "another mind", "undone"])
def test_work_that_one_mind_failed_is_asked_of_another_and_again_after_an_undo(world: "World", change: str) -> None:
    memory = world.open()
    _hikes(world, memory)
    world.fade(memory)
    world.mind.summary = "User was outdoors"
    memory.sleep()
    if change == "undone":
        memory.undo(next(run.id for run in memory.runs() if run.cause == "sleep/compress"))
    elif change == "another mind":
        world.mind.name = "another"
    world.fade(memory, below=0.1)
    again = change != "nothing"
    assert memory.sleep(dry_run=True, think=False).left.get("compress", 0) == again
    assert len(memory.sleep().problems) == again
    assert len(world.mind.questions("summarise")) == 1 + again


def test_a_summary_may_have_the_words_of_one_of_its_members(world: "World", only: "Only") -> None:
    memory = world.open(consolidation_group_size=2)
    _hikes(world, memory, ("User likes walks", "User likes long walks by the river"))
    world.fade(memory)
    world.mind.summary = "User likes long walks by the river"
    assert not memory.sleep().left
    summary = only(memory)
    assert (summary.kind, summary.depth, len(summary.members)) == ("summary", 1, 2)
    (receipt,) = memory.undo(next(run.id for run in memory.runs() if run.cause == "sleep/compress"))
    assert not receipt.dropped
    assert len(memory.get_all()) == 2


def test_originals_of_a_summary_are_reached_by_deep_search_and_lend_it_their_sources(
    world: "World", only: "Only"
) -> None:
    memory = world.open()
    _hikes(world, memory)
    world.fade(memory)
    memory.sleep()
    summary = only(memory)
    links = memory.links(summary.id)
    assert [(link.kind, link.weight) for link in links] == [("provenance", 0.8)] * 5
    assert not any(hit.memory.id in summary.members for hit in memory.search("Mount Rainier"))
    deep = {hit.memory.id: hit for hit in memory.search("Mount Rainier", deep=True)}
    assert any(deep[one].deep and not deep[one].stale for one in summary.members if one in deep)


def test_a_fact_that_fades_later_joins_the_summary_of_its_like(world: "World", only: "Only") -> None:
    memory = world.open()
    _hikes(world, memory)
    world.fade(memory)
    memory.sleep()
    first = only(memory)
    later = memory.add("User went skating at Gas Works on April 2, 2024", kind="episodic", category="observation")
    world.clock.now = fade_date(memory.get(later.ids[0]), memory.ports.config, 0.2)
    night = memory.sleep()
    second = only(memory)
    assert set(second.members) == {*first.members, later.ids[0]}
    assert "skating" in second.text
    assert (memory.get(first.id).phase, memory.get(first.id).superseded_by) == ("superseded", second.id)
    assert {memory.get(one).superseded_by for one in second.members} == {second.id}
    assert memory.health().ok
    memory.undo(night.plan.id)
    assert memory.get(first.id).phase == "active"
    assert {memory.get(one).superseded_by for one in first.members} == {first.id}


def test_summaries_are_summarised_once_more_and_never_twice(world: "World") -> None:
    memory = world.open(consolidation_group_size=2, consolidation_max_group_size=2, core_session_threshold=99)
    names = ("Ann", "Bert", "Carl", "Dora")
    for round_ in range(4):
        _hikes(world, memory, tuple(f"User saw {name} in week {round_ * 4 + n}" for n, name in enumerate(names)))
        world.fade(memory)
        for _ in range(3):
            memory.sleep()
    depths = {fact.depth for fact in memory.get_all(kinds=["summary"], phases=["active", "cold", "superseded"])}
    assert depths == {1, 2}


def test_where_the_order_of_a_policy_changes_with_time_the_band_is_looked_through(world: "World", only: "Only") -> None:
    memory = world.open(retention_policy="relevance", consolidation_similarity_threshold=0.1)
    _hikes(world, memory)
    world.later(days=1000)
    memory.sleep()
    assert len(only(memory, kinds=["summary"]).members) == len(HIKES)


def test_protected_memories_are_in_no_cluster(world: "World", texts: "Texts") -> None:
    memory = world.open()
    _hikes(world, memory)
    memory.pin(memory.get_all()[0].id)
    for _ in range(400):
        world.later(days=1)
    memory.sleep()
    assert HIKES[0] in texts(memory)
    assert not memory.get_all(kinds=["summary"])


# ---- duplicates


def test_near_pairs_are_asked_about_once(world: "World", texts: "Texts", only: "Only") -> None:
    memory = world.open(dedup_similarity_threshold=0.9)
    memory.add("Matteo owns a red bicycle")
    world.later(seconds=1)
    memory.add("Matteo has a bicycle that is red")
    world.mind.asked.clear()
    world.mind.verdicts = lambda cases: [Verdict(fact=case.number, op="ADD") for case in cases]
    memory.sleep()
    (cases,) = world.mind.questions("decide")
    assert [(case.fact.text, case.candidates[0].memory.text) for case in cases] == [
        ("Matteo has a bicycle that is red", "Matteo owns a red bicycle")
    ]
    assert [link.kind for link in memory.links(only(memory, "Matteo owns").id)] == ["distinct"]
    memory.add("Something else entirely")
    memory.sleep()
    assert len(world.mind.questions("decide")) == 1
    memory.update(only(memory, "Matteo has").id, "Matteo has a red bicycle")
    memory.sleep()
    assert len(texts(memory)) == 3


def test_a_merge_at_night_keeps_the_fuller_words_and_all_uses(world: "World", only: "Only") -> None:
    memory = world.open(dedup_similarity_threshold=0.9)
    old = memory.add("Matteo owns a bicycle").ids[0]
    world.later(seconds=1)
    new = memory.add("Matteo owns a bicycle and a helmet").ids[0]
    memory.record_retrieval([memory.get(old)])
    world.mind.verdicts = [Verdict(fact=1, memory=1, op="UPDATE", relation="subsumes")]
    memory.sleep()
    fact = only(memory)
    assert (fact.id, fact.text, fact.accesses) == (new, "Matteo owns a bicycle and a helmet", 1)
    assert (memory.get(old).superseded_by, memory.get(old).reason) == (new, "duplicate")
    assert memory.get(old).text == "Matteo owns a bicycle", "the words a person stated stay as they are"


def test_a_merge_at_night_of_an_equal_fact_that_is_trusted_less_keeps_the_newer_one(
    world: "World", only: "Only"
) -> None:
    memory = world.open(dedup_similarity_threshold=0.9)
    old = memory.trusting("web").add("Matteo owns a bicycle").ids[0]
    world.later(seconds=1)
    new = memory.add("Matteo owns a bicycle and a helmet").ids[0]
    world.mind.verdicts = [Verdict(fact=1, memory=1, op="UPDATE", relation="subsumes")]
    memory.sleep()
    fact = only(memory)
    assert (fact.id, fact.trust, fact.text) == (new, "user", "Matteo owns a bicycle and a helmet")
    assert (memory.get(old).superseded_by, memory.get(old).reason) == (new, "duplicate")


def test_pairs_over_the_limit_of_a_night_are_asked_the_next(world: "World", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["slowwave.pipelines.sleep.duplicates"], "CASES", 2)
    memory = world.open(dedup_similarity_threshold=0.9)
    for n in range(5):
        name = f"Name{n}"
        memory.add(f"{name} owns a bicycle")
        world.later(seconds=1)
        memory.add(f"{name} has a bicycle")
    world.mind.asked.clear()
    nights = 0
    while memory.sleep().left and nights < 9:
        nights += 1
    asked = {case.fact.text for cases in world.mind.questions("decide") for case in cases}
    assert asked >= {f"Name{n} has a bicycle" for n in range(5)}
    assert nights < 9


def test_a_failing_model_leaves_the_pairs_due(world: "World") -> None:
    memory = world.open(dedup_similarity_threshold=0.9)
    memory.add("Matteo owns a red bicycle")
    world.later(seconds=1)
    memory.add("Matteo has a bicycle that is red")
    world.mind.verdicts = DOWN
    assert memory.sleep().left == {"duplicates": 1}
    assert memory.sleep(think=False).left == {"duplicates": 1}
    world.mind.verdicts = []
    memory.sleep()
    kinds = [link.kind for fact in memory.get_all() for link in memory.links(fact.id)]
    assert kinds == ["unsure", "unsure"], "what the mind does not say is left to a person"


def test_a_conflict_removes_a_fact_from_core_memory(world: "World", verdict: "Says", only: "Only") -> None:
    memory = world.open()
    memory.add("Matteo lives in Zurich")
    for _ in range(10):
        world.later(days=14)
        memory.record_retrieval(memory.get_all())
    memory.sleep()
    assert only(memory).phase == "core"
    world.mind.verdicts = [verdict("LINK", relation="conflict?")]
    memory.add("Matteo lives in Bern")
    memory.sleep()
    assert only(memory, "Matteo lives in Zurich").phase == "active"


def test_the_numbers_of_a_policy_are_those_of_the_handle(world: "World", texts: "Texts") -> None:
    memory = world.open()
    memory.add("Alice owns the deploy pipeline")
    world.later(days=50)
    stricter = world.open(config=Config(retention_policy="half_life", half_life_days=14.0))
    assert stricter.strength(stricter.get_all()[0].id) < 0.1
    assert memory.strength(memory.get_all()[0].id) > 0.1
    assert len(texts(memory)) == 1


class Alike:
    """An embedder in which all texts mean the same."""

    name, dim, is_local = "alike-4", 4, True

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (len(texts), 1))


def test_faded_facts_that_are_near_one_another_and_no_duplicates_are_summarised() -> None:
    clock = FrozenClock(datetime(2026, 3, 1, tzinfo=UTC))
    lines = [
        "User went hiking at Mount Rainier on March 12, 2024",
        "User went kayaking at Lake Washington on March 15, 2024",
        "User ran a 5K in Fremont on March 20, 2024",
        "User went rock climbing at Stone Gardens on March 25, 2024",
        "User joined a cycling club on March 28, 2024",
    ]
    with AgentMemory.open(":memory:", llm=None, embedder=Alike(), clock=clock) as memory:
        for line in lines:
            memory.add(line, kind="episodic", category="observation")
        while any(memory.strength(fact.id) >= 0.2 for fact in memory.get_all()):
            clock.advance(days=1)
        memory.sleep()
        (summary,) = memory.get_all(kinds=["summary"])
        assert len(summary.members) == 5
