"""The cascade: spans tile a conversation without gap or overlap, whatever fails, waits or runs at once."""

import contextlib
import logging
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.waiting import LONGEST

from slowwave import AgentMemory, Message
from slowwave.errors import ClosedError, ModelError
from slowwave.model.memory import SUMMARY, Memory
from slowwave.model.query import Where
from slowwave.pipelines.sleep import compact_now
from slowwave.pipelines.sleep.compact_now import Background, Compaction, compact_conversation
from slowwave.policy.summaries.spans import ERA_SIZE

if TYPE_CHECKING:
    from tests.conftest import World

SMALL = {"immediate_window": 4, "recent_window": 4}
Brief = Any


def _say(memory: AgentMemory, number: int, conversation: str = "life") -> None:
    known = memory.ports.store.conversation(memory.ports.scope, conversation)
    start = known.last_seq if known else 0
    memory.add_messages(
        [Message(role="user", content=f"I watered the roses of bed {start + n}") for n in range(1, number + 1)],
        conversation=conversation,
    )


def _short(_: Brief) -> str:
    return "The roses were watered"


def _long(brief: Brief) -> str:
    """A summary of a stretch that does not fit into an era as it is, or a short one of an era."""
    return _short(brief) if brief.memories[0].depth else f"{_short(brief)}. " * 100


def _spans(memory: AgentMemory, depth: int = 1, conversation: str = "life") -> list[tuple[int, int]]:
    return [one.span for one in memory.summaries(conversation) if one.span and one.depth == depth]


def _cursor(memory: AgentMemory, conversation: str = "life") -> int:
    found = memory.ports.store.conversation(memory.ports.scope, conversation)
    return found.cursor("cascade") if found else 0


def _tiles(memory: AgentMemory, conversation: str = "life") -> None:
    """The law of the cascade."""
    spans = _spans(memory, 1, conversation)
    assert [first for first, _ in spans] == [1, *(last + 1 for _, last in spans)][: len(spans)]
    assert all(first <= last for first, last in spans)
    assert _cursor(memory, conversation) == (spans[-1][1] if spans else 0)
    everything = memory.summaries(conversation)
    parts = {one.id: one for one in everything if one.depth == 1}
    eras = [one for one in everything if one.depth == 2]
    assert {one.depth for one in everything} <= {1, 2}
    spans_of_eras = [parts[member].span for era in eras for member in era.members]
    assert spans_of_eras == spans[: len(spans_of_eras)]
    for era in eras:
        assert len(era.members) <= ERA_SIZE
        assert era.span == (parts[era.members[0]].span[0], parts[era.members[-1]].span[1])


def test_a_first_summary_at_129_and_one_more_every_64(world: "World", caplog: pytest.LogCaptureFixture) -> None:
    world.mind.summary = _short
    memory = world.open()
    said = []
    with caplog.at_level(logging.INFO, logger="slowwave"):
        for total in (64, 128, 129, 192, 193, 256, 257, 320, 321):
            _say(memory, total - len(memory.get_conversation_messages("life")))
            caplog.clear()
            memory.sleep()
            said.append(
                (
                    total,
                    len(_spans(memory)),
                    [
                        re.sub(r"^(\[Memory\]) [0-9a-f]{8}:", r"\1 life:", record.getMessage())
                        for record in caplog.records
                        if record.getMessage().startswith("[Memory]")
                    ],
                )
            )
    assert {total: spans for total, spans, _ in said} == {
        64: 0, 128: 0, 129: 1, 192: 1, 193: 2, 256: 2, 257: 3, 320: 3, 321: 4,
    }  # fmt: skip
    assert _spans(memory) == [(1, 65), (66, 129), (130, 193), (194, 257)]
    assert _spans(memory, 2) == [(1, 193)]
    lines = {total: spans_of_eras for total, _, spans_of_eras in said}
    chars = len(_short(None))
    assert lines[128] == []
    assert lines[129] == [
        "[Memory] life: Starting compaction (129 memories, 64 immediate, 64 recent)",
        f"[Memory] life: Short-term summary updated ({chars} chars)",
        "[Memory] life: Compaction complete (first summary)",
    ]
    assert lines[193] == [
        "[Memory] life: Starting compaction (193 memories, 64 immediate, 64 recent)",
        f"[Memory] life: Long-term summary updated ({chars} chars)",
        f"[Memory] life: Short-term summary updated ({chars} chars)",
        "[Memory] life: Compaction complete (waterfall)",
    ]
    _tiles(memory)


def test_summaries_come_by_conversation_eras_first_each_in_the_order_of_its_spans(world: "World") -> None:
    world.mind.summary = _short
    memory = world.open(immediate_window=1, recent_window=1)
    for name in ("b", "a"):
        _say(memory, 40, name)
    while memory.sleep().left:
        pass
    spans_of_eras = [(one.conversation, one.depth, one.span) for one in memory.summaries()]
    assert spans_of_eras == sorted(spans_of_eras, key=lambda one: (one[0], -one[1], one[2]))
    assert [(name, depth) for name, depth, _ in spans_of_eras[:3]] == [("a", 2), ("a", 2), ("a", 1)]
    assert [one.conversation for one in memory.summaries("b")] == ["b"] * (len(spans_of_eras) // 2)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(1, 30)),
        st.tuples(st.just("sleep"), st.just(0)),
        st.tuples(st.just("force"), st.just(0)),
        st.tuples(st.just("crash"), st.integers(1, 4)),
        st.tuples(st.just("fail"), st.integers(1, 4)),
        st.tuples(st.just("restart"), st.just(0)),
        st.tuples(st.just("immediate"), st.integers(1, 9)),
        st.tuples(st.just("recent"), st.integers(1, 6)),
    ),
    min_size=1,
    max_size=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, latency=st.integers(0, 9))
def test_spans_tile_under_any_course_of_events(world: "World", steps: Sequence[tuple[str, int]], latency: int) -> None:
    scope = f"t/{len(world.handles)}"
    windows = dict(SMALL)
    memory = world.open(scope=scope, embedder="none", **windows)
    calls = {"left": 10**9, "error": KeyboardInterrupt()}

    def slow(brief: Brief) -> str:
        """A mind during whose thought so many messages arrive, and that fails after some calls."""
        if brief.memories[0].depth == 0 and latency:
            _say(memory, latency)
        calls["left"] -= 1
        if calls["left"] < 0:
            raise calls["error"]  # type: ignore[misc]
        return _short(brief)

    world.mind.summary = slow
    for what, number in steps:
        calls.update(left=10**9)
        if what == "say":
            _say(memory, number)
        elif what in {"immediate", "recent", "restart"}:
            windows |= {f"{what}_window": number} if number else {}
            memory.close()
            memory = world.open(scope=scope, embedder="none", **windows)
        else:
            if what in {"crash", "fail"}:
                calls.update(left=number - 1, error=KeyboardInterrupt() if what == "crash" else ModelError("down"))
            with contextlib.suppress(KeyboardInterrupt):
                memory.command("@compact-memories") if what == "force" else memory.sleep()
        _tiles(memory)
    calls.update(left=10**9)
    latency = 0
    _say(memory, 1)
    while memory.sleep().receipts:
        _tiles(memory)
    memory.command("@compact-memories")
    assert _cursor(memory) == max(
        _cursor(memory), len(memory.get_conversation_messages("life")) - windows["immediate_window"]
    )
    covered = [era.span[1] for era in memory.summaries("life") if era.depth == 2]
    spans = _spans(memory)
    assert covered[-1:] == ([spans[-2][1]] if len(spans) > 1 else [])
    _tiles(memory)


def test_of_many_threads_one_calls_the_mind(world: "World") -> None:
    memory = world.open(**SMALL)
    _say(memory, 40)
    asked = threading.Semaphore(0)

    def slow(brief: Brief) -> str:
        asked.release()
        time.sleep(0.01)
        return _long(brief)

    world.mind.summary = slow
    others = [world.open(**SMALL) for _ in range(4)]
    said: list[str] = []
    threads = [
        threading.Thread(target=lambda m=m: said.append(m.command("@compact-memories"))) for m in (memory, *others)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("compacted already" in words for words in said) + sum("nothing" in words for words in said) == 4
    spans = _spans(memory)
    assert (len(spans), _cursor(memory)) == (9, 36)
    assert len(world.mind.questions("summarise")) == 9 + 1  # one a stretch, one for the era
    _tiles(memory)


WORKER = """
import sys
from slowwave import AgentMemory, Config
with AgentMemory.open(sys.argv[1], scope="t", llm=None, embedder="none", config=Config(immediate_window=4, recent_window=4)) as memory:
    for n in range(20):
        memory.command("@compact-memories") if n % 2 else memory.sleep()
"""


def test_processes_that_run_at_once_leave_no_gap_and_nothing_twice(world: "World") -> None:
    memory = world.open(**SMALL, embedder="none")
    _say(memory, 90)
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(world.path)]) for _ in range(3)]
    for _ in range(30):  # not until they end: each message is work for them, and on a busy machine they never would
        _say(memory, 2)
        time.sleep(0.05)
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    memory.sleep()
    memory.sleep()
    assert len(_spans(memory)) > 20
    _tiles(memory)


def test_a_process_that_was_overtaken_stops_before_it_calls_the_mind_again(world: "World") -> None:
    memory, other = world.open(**SMALL), world.open(**SMALL)
    _say(memory, 40)
    asked = []

    def overtaken(brief: Brief) -> str:
        asked.append(brief.memories[0].seq)
        if len(asked) == 1:  # another process, which this one's lock does not hold back
            world.mind.summary = _short
            with pytest.MonkeyPatch.context() as patch:
                module = sys.modules["slowwave.pipelines.sleep.conversation_summary"]
                patch.setattr(module, "_FLIGHTS", type(module._FLIGHTS)())
                other.command("@compact-memories")
            world.mind.summary = overtaken
        return _short(brief)

    world.mind.summary = overtaken
    memory.sleep()
    assert asked == [1]
    assert _cursor(memory) == 36
    _tiles(memory)


def test_forcing_twice_finds_nothing_the_second_time(world: "World") -> None:
    world.mind.summary = _short
    memory = world.open()
    assert "no conversation yet" in memory.command("@compact-memories")
    _say(memory, 64)
    assert "nothing to compact" in memory.command("@compact-memories")
    _say(memory, 36)
    assert "compacted life: 1 short-term" in memory.command("@compact-memories")
    assert "nothing to compact" in memory.command("@compact-memories")
    assert _spans(memory) == [(1, 36)]
    memory.close()
    memory = world.open()
    assert "nothing to compact" in memory.command("@compact-memories life")
    assert "(memories 1-36): The roses were watered" in memory.command("@memory-status")


def test_eras_hold_32_summaries_and_are_frozen_when_full(world: "World") -> None:
    world.mind.summary = _short
    memory = world.open(immediate_window=2, recent_window=2, embedder="none")
    versions = []
    for _ in range(75):
        _say(memory, 2)
        memory.sleep()
        eras = [one for one in memory.summaries("life") if one.depth == 2]
        versions.append([(one.id, len(one.members)) for one in eras])
        _tiles(memory)
    sizes = [[size for _, size in spans_of_eras] for spans_of_eras in versions]
    assert sizes[-1] == [32, 32, 8]
    assert {spans_of_eras[0] for spans_of_eras in versions if spans_of_eras and spans_of_eras[0][1] == 32} == {
        versions[-1][0]
    }
    everything = Where(kinds=frozenset({SUMMARY}), conversation="life", cascade=True)
    old = [one for one in memory.ports.store.select(("t",), everything) if one.phase == "superseded"]
    assert len(old) == 31 + 31 + 7
    assert all(one.reason == "replaced" and one.superseded_by for one in old)


def test_a_backlog_is_worked_off_without_writing_every_version_of_an_era(world: "World") -> None:
    world.mind.summary = _long
    memory = world.open(immediate_window=2, recent_window=2, embedder="none")
    _say(memory, 140)
    nights = 0
    while memory.sleep().left.get("cascade"):
        nights += 1
    assert nights == 2
    assert _spans(memory)[-1] == (136, 137)
    asked = world.mind.questions("summarise")
    # One at the end of each night, and one for each era that became full within a night.
    assert len([one for one in asked if one.memories[0].depth]) == 3 + 2
    _tiles(memory)


def test_an_era_whose_parts_fit_is_made_of_their_texts_without_a_call(world: "World") -> None:
    memory = world.open(**SMALL)
    world.mind.summary = lambda brief: f"I watered the roses; {brief.memories[0].text}"
    _say(memory, 20)
    assert memory.sleep().problems == ()
    (era,) = (one for one in memory.summaries("life") if one.depth == 2)
    assert (
        era.text
        == "I watered the roses; I watered the roses of bed 1\nI watered the roses; I watered the roses of bed 6"
    )
    assert [len(one.memories) for one in world.mind.questions("summarise")] == [5, 4, 4]
    world.mind.summary = _long
    _say(memory, 4)
    memory.sleep()
    _say(memory, 4)
    memory.sleep()
    assert [one.text for one in memory.summaries("life") if one.depth == 2] == [_short(era)]


def test_a_context_does_not_repeat_the_parts_whose_whole_text_an_era_has(world: "World") -> None:
    memory = world.open(**SMALL)
    world.mind.summary = lambda brief: f"I watered the roses; {brief.memories[0].text}"
    _say(memory, 20)
    memory.sleep()
    shown = str(memory.context("Which roses did I water?", conversation="life", budget_tokens=4000))
    assert len(re.findall(r"; I watered the roses of bed 1\b", shown)) == 1


def test_a_stretch_at_which_a_mind_fails_is_summarised_by_the_next_pass(world: "World") -> None:
    memory = world.open(**SMALL)
    _say(memory, 20)
    world.mind.summary = ModelError("the model is down")
    report = memory.sleep()
    assert (report.problems, report.left) == (("the model is down",), {"cascade": 3})
    assert (_spans(memory), _cursor(memory)) == ([], 0)
    assert "the model is down" in memory.command("@compact-memories")
    world.mind.summary = lambda brief: "Paris was visited" if brief.memories[0].depth == 0 else _short(brief)
    assert "it invents 'Paris'" in memory.sleep().problems[0]
    world.mind.summary = lambda brief: ModelError("too long") if brief.memories[0].depth else _short(brief)
    world.mind.summary = _failing_at_eras
    report = memory.sleep()
    assert (report.left, _spans(memory), _spans(memory, 2)) == ({"cascade": 1}, [(1, 5), (6, 9), (10, 13)], [])
    world.mind.summary = _short
    assert memory.sleep().left == {}
    assert _spans(memory, 2) == [(1, 9)]
    assert memory.sleep().receipts == ()
    _tiles(memory)


def _failing_at_eras(brief: Brief) -> str:
    if brief.memories[0].depth:
        raise ModelError("too long")
    return _long(brief)


def test_the_cost_and_the_problem_of_a_failure_are_reported(world: "World") -> None:
    memory = world.open(**SMALL)
    _say(memory, 9)
    world.mind.summary = ModelError("down")
    memory.command("@compact-memories")
    world.mind.summary = _short
    memory.sleep()
    calls = {cause: cost.calls for cause, cost in memory.cost().causes.items()}
    assert calls == {"cascade/summary": 1, "sleep/cascade": 1, "sleep/distil": 1}


def test_a_dry_run_thinks_and_plans_and_its_plan_can_be_applied(world: "World") -> None:
    world.mind.summary = _short
    memory = world.open(**SMALL)
    _say(memory, 20)
    report = memory.sleep(dry_run=True)
    assert (_spans(memory), _cursor(memory)) == ([], 0)
    memory.apply(report.plan)
    assert _spans(memory) == [(1, 5), (6, 9), (10, 13)]
    assert _spans(memory, 2) == [(1, 9)]
    assert memory.sleep(think=False).left == {}
    _say(memory, 3)
    assert memory.sleep(think=False).left == {"cascade": 1}
    _tiles(memory)


def test_retracted_messages_are_not_summarised(world: "World") -> None:
    memory = world.open(**SMALL, embedder="none")
    _say(memory, 9)
    said = memory.get_all(kinds=["message"])
    for one in said[:5]:
        memory.delete(one.id)
    memory.sleep()
    assert (_spans(memory), _cursor(memory)) == ([], 5)
    _say(memory, 4)
    memory.sleep()
    assert _spans(memory) == [(6, 9)]


def test_summaries_of_an_erased_message_are_erased_and_written_again(world: "World") -> None:
    memory = world.open(**SMALL, embedder="none")
    _say(memory, 30)
    memory.sleep()
    before = _spans(memory)
    secret = memory.get_all(kinds=["message"])[6]
    memory.erase(id=secret.id)
    assert _spans(memory) == [(1, 5)]
    memory.sleep()
    assert _spans(memory) == before
    assert not any("bed 7" in one.text for one in memory.summaries("life"))
    _tiles(memory)


def test_undo_reverses_a_compaction_and_its_text_is_not_stored_again(world: "World") -> None:
    world.mind.summary = _short
    memory = world.open(**SMALL)
    _say(memory, 9)
    done = compact_conversation(memory.ports, "life")
    assert done.summaries == 1
    memory.undo(done.run_id)
    assert (_spans(memory), _cursor(memory)) == ([], 0)
    memory.sleep()
    assert _spans(memory) == []
    world.mind.summary = "Roses got water"
    memory.sleep()
    assert _spans(memory) == [(1, 5)]
    _tiles(memory)


def test_a_summary_reports_its_coverage(world: "World") -> None:
    memory = world.open(**SMALL, embedder="none")
    _say(memory, 9)
    memory.sleep()
    (whole,) = memory.summaries("life")
    assert whole.metadata == {"coverage": "1.000", "words": "35", "profile": "summarizer"}
    assert "contains 100% of the information" in memory.history(whole.id)[0].operation.because
    world.mind.summary = _short
    _say(memory, 4)
    memory.sleep()
    assert float(memory.summaries("life")[-1].metadata["coverage"]) < 0.5


def test_a_profile_sets_the_length(world: "World") -> None:
    lengths, spoken = {}, 0
    text = "On March 3 I moved to Lisbon and adopted a greyhound named Bruno for 250 euros"
    for profile in ("brief", "summarizer", "detailed", "qwen3"):
        memory = world.open(immediate_window=4, recent_window=59, summary_profile=profile, scope=profile)
        memory.add_messages([Message(role="user", content=text) for _ in range(64)], conversation="life")
        memory.sleep()
        brief = world.mind.questions("summarise")[-1]
        lengths[profile] = brief.words
        spoken = sum(len(one.text.split()) for one in brief.memories)
    assert lengths["detailed"] == round(0.2 * spoken)
    assert lengths["summarizer"] == lengths["qwen3"] == 2 * lengths["brief"]


def test_important_stretches_get_more_words_than_chatter(world: "World") -> None:
    memory = world.open(immediate_window=4, recent_window=19, embedder="none")
    chatter = "ok sure thanks that is nice to hear and how are you then"
    news = "On March 3 we moved to Lisbon and paid 2,500 euros to Bruno Costa; remember to renew by June 30"
    for name, text in (("a", chatter), ("b", news)):
        memory.add_messages([Message(role="user", content=text) for _ in range(24)], conversation=name)
        memory.command(f"@compact-memories {name}")
    lengths = [brief.words for brief in world.mind.questions("summarise")]
    assert lengths[0] < 120 < lengths[1]


def test_topics_are_summarised_one_by_one(world: "World") -> None:
    memory = world.open(immediate_window=2, recent_window=9, summary_profile="topics")
    texts = [f"{('roses', 'taxes')[n % 2]} number {n} done" for n in range(12)]
    memory.add_messages([Message(role="user", content=text) for text in texts], conversation="life")
    memory.sleep()
    first, second = world.mind.questions("summarise")
    assert {one.text.split()[0] for one in first.memories} == {"roses"}
    assert {one.text.split()[0] for one in second.memories} == {"taxes"}
    (summary,) = memory.summaries("life")
    assert (summary.span, len(summary.text.splitlines())) == ((1, 10), 2)
    world.embedder.fails = RuntimeError("the embedder is down")
    _say(memory, 9)
    assert any("without topics" in problem for problem in memory.sleep().problems)


def test_background_compaction_never_raises(world: "World") -> None:
    memory = world.open(**SMALL)  # whose own worker stays idle, so that this one is alone
    ports = replace(memory.ports, config=replace(memory.ports.config, cascade_in_background=True))
    worker = Background()
    world.mind.summary = ModelError("the model is down")
    _say(memory, 9)
    worker.after_messages(ports, "life")
    assert worker.wait(LONGEST)
    assert worker.problems("t") == ("the model is down",)
    assert worker.problems("another scope") == ()
    world.mind.summary = _short
    worker.after_messages(ports, "life")
    assert worker.wait(LONGEST)
    assert _spans(memory) == [(1, 5)]
    worker.after_messages(ports, "life")  # nothing is due
    worker.close()
    _say(memory, 9)
    worker.after_messages(ports, "life")
    assert worker.wait(LONGEST)
    assert _spans(memory) == [(1, 5)]


def test_a_model_that_is_asked_in_the_background_may_close_the_memory(world: "World") -> None:
    closed = threading.Event()
    memory = world.open(**SMALL, cascade_in_background=True)

    def close(brief: Brief) -> str:
        memory.close()
        closed.set()
        return _short(brief)

    world.mind.summary = close
    _say(memory, 9)
    assert closed.wait(20)
    with pytest.raises(ClosedError):
        memory.search("roses")


def test_background_compaction_goes_on_after_an_error_in_the_program(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open(**SMALL)
    ports = replace(memory.ports, config=replace(memory.ports.config, cascade_in_background=True))
    worker, seen = Background(), list[type[BaseException] | None]()
    monkeypatch.setattr(threading, "excepthook", lambda error: seen.append(error.exc_type))
    world.mind.summary = _short
    _say(memory, 9)
    with monkeypatch.context() as broken:
        broken.setattr(compact_now, "compact_conversation", lambda *_, **__: 1 // 0)
        worker.after_messages(ports, "life")
        assert worker.wait(20)
    worker.after_messages(ports, "life")
    assert worker.wait(20)
    assert (seen, _spans(memory)) == ([ZeroDivisionError], [(1, 5)])


def test_closing_waits_for_a_compaction_whose_thread_is_only_starting(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = world.open(**SMALL)
    ports = replace(memory.ports, config=replace(memory.ports.config, cascade_in_background=True))
    worker, begun, may_start = Background(), threading.Event(), threading.Event()
    world.mind.summary = _short
    _say(memory, 9)
    start = threading.Thread.start

    def late(thread: threading.Thread) -> None:
        if thread.name == "slowwave-cascade":
            begun.set()
            assert may_start.wait(20)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", late)
    with ThreadPoolExecutor(2) as threads:
        said = threads.submit(worker.after_messages, ports, "life")
        assert begun.wait(20)
        waiting = threads.submit(worker.wait, 20)
        wait([waiting], 0.2)
        may_start.set()
        assert (said.result(20), waiting.result(20)) == (None, True)
    assert _spans(memory) == [(1, 5)]


def test_a_message_can_set_it_off_and_closing_waits_for_it(world: "World", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slowwave.pipelines.sleep.compact_now.PATIENCE", LONGEST)
    gate = threading.Event()

    def slow(brief: Brief) -> str:
        assert gate.wait(LONGEST), "the messages waited for the summary"
        return _short(brief)

    world.mind.summary = slow
    memory = world.open(**SMALL, cascade_in_background=True)
    _say(memory, 9)
    gate.set()
    memory.close()
    memory = world.open(**SMALL)
    assert _spans(memory) == [(1, 5)]
    memory.close()


def test_no_background_work_runs_by_default(world: "World") -> None:
    memory = world.open(**SMALL)
    _say(memory, 9)
    assert memory.status().problems == ()
    assert "background" not in vars(memory._session.store)  # neither the thread nor the modules of summaries are loaded
    assert _spans(memory) == []


def test_a_compaction_prints_what_it_did() -> None:
    assert str(Compaction(conversation="c", busy=True)) == "c is being compacted already"
    spans_of_eras = str(Compaction(conversation="c", run_id="r", summaries=2, eras=1, left=3, problems=("down",)))
    assert "2 short-term, 1 long-term summaries written, 3 left for next time" in spans_of_eras
    assert "problem: down" in spans_of_eras


def test_the_members_of_an_era_are_the_summaries_it_is_built_from(world: "World") -> None:
    memory = world.open(**SMALL)
    world.mind.summary = _short
    _say(memory, 20)
    memory.sleep()
    era = next(one for one in memory.summaries("life") if one.depth == 2)
    parts: list[Memory] = memory.ports.store.get(("t",), era.members)
    assert [(one.span, one.depth) for one in parts] == [((1, 5), 1), ((6, 9), 1)]
