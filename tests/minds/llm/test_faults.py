"""A process killed between any two steps, a model that hangs, models of an event loop, and many threads at once."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import LONGEST

from slowwave import AgentMemory, AsyncAgentMemory, Message
from slowwave.testing import ScriptedLLM

Open = Callable[..., AgentMemory]
HERE = Path(__file__).parent
STEPS = [
    *((f"distil.{step}", at) for step in ("asked", "answered") for at in (1, 2)),
    *((f"reconcile.{step}", 1) for step in ("asked", "answered")),  # nothing is known when the first chunk is read
    *(("apply.before_commit", at) for at in (1, 2)),
    *(("apply.committed", at) for at in (1, 2)),
]
FACT = {"text": "Alice owns the deploy pipeline", "message": 1, "quote": "Alice owns the deploy pipeline"}


def test_a_consolidation_killed_at_any_step_takes_effect_once_when_it_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    import killed  # noqa: PLC0415 - a script beside this file, not a package

    started = {
        (point, at): subprocess.Popen(
            [sys.executable, str(HERE / "killed.py"), str(tmp_path / f"{point}-{at}.db"), point, str(at)],
            stderr=subprocess.PIPE,
        )
        for point, at in STEPS
    }
    for (point, at), process in started.items():
        _, said = process.communicate()
        assert process.returncode == -9, (point, at, said.decode())
        path = str(tmp_path / f"{point}-{at}.db")
        killed.run(path)
        with AgentMemory.open(path, llm=None, embedder="none") as memory:
            assert sorted(fact.text for fact in memory.get_all()) == list(killed.OWNERS), (point, at)
            assert all(len(fact.sources) == 1 and not fact.accesses for fact in memory.get_all())
            chunks = [
                run for run in memory.runs(None, parts="all") if run.cause == "consolidate" and any(run.plan.groups)
            ]
            assert len(chunks) == 2, "each chunk took effect once; a run without groups only stands for its chunks"
            assert memory.status().unread == 0
            assert memory.doctor(deep=True) == []


def test_writers_do_not_wait_for_a_model_that_hangs(
    opened: Open, talk: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, released, written = threading.Event(), threading.Event(), []

    class Hanging:
        def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
            assert messages
            asked.set()
            released.wait(2 * LONGEST)
            return "{}"

    monkeypatch.setenv("SLOWWAVE_LLM_SECONDS", str(2 * LONGEST))
    memory = opened(llm=Hanging())
    talk(memory, *(f"line {n}" for n in range(8)))
    results: list[Any] = []
    reader = threading.Thread(target=lambda: results.append(memory.consolidate()))
    reader.start()
    assert asked.wait(LONGEST)

    def write(name: int) -> None:
        for place in range(5):
            memory.add_message(Message(role="user", content=f"{name} writes {place}"), conversation=f"w{name}")
            memory.search(f"{name} writes")
            written.append(name)

    writers = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join(LONGEST)
    assert len(written) == 40, "all was written"
    assert reader.is_alive(), "while the model still hung"
    released.set()
    reader.join(LONGEST)
    assert results[0].skipped_reason


def test_a_hanging_model_is_abandoned_at_the_time_out(
    opened: Open, talk: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()

    class Hanging:
        def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
            assert messages
            released.wait(60)
            return "{}"

    monkeypatch.setenv("SLOWWAVE_LLM_SECONDS", "0.1")
    memory = opened(llm=Hanging())
    talk(memory, *(f"line {n}" for n in range(8)))
    result = memory.consolidate()
    assert "no answer within 0.1 seconds" in str(result.skipped_reason)
    assert memory.status().unread == 8
    released.set()


def test_an_async_memory_uses_a_model_of_its_event_loop(tmp_path: Path) -> None:
    class Async:
        async def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
            await asyncio.sleep(0)
            return json.dumps({"facts": [FACT]} if "Task: distil" in messages[0]["content"] else {"verdicts": []})

    async def talk() -> list[str]:
        memory = await AsyncAgentMemory.open(tmp_path / "memory.db", llm=Async())
        async with memory:
            lines = ["Alice owns the deploy pipeline.", "Noted.", "Thanks.", "Sure.", "Bye.", "Bye!"]
            await memory.add_messages([Message(role="user", content=line) for line in lines])
            result = await memory.consolidate()
            assert result.skipped_reason is None
            assert (await memory.cost()).total.calls == 1
            return [fact.text for fact in await memory.get_all()]

    assert asyncio.run(talk()) == [FACT["text"]]


def test_the_same_fact_from_32_threads_and_two_handles_is_one_memory(opened: Open) -> None:
    llm = ScriptedLLM(reconcile={"verdicts": [{"fact": 1, "op": "NOOP", "memory": 1, "relation": "subsumed"}]})
    handles = [opened(llm=llm), opened(llm=llm)]
    problems: list[str] = []

    def state(number: int) -> None:
        receipt = handles[number % 2].add(
            "Alice owns the deploy pipeline" if number % 3 else "ALICE owns the deploy  pipeline"
        )
        problems.extend(receipt.problems)

    threads = [threading.Thread(target=state, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (fact,) = handles[0].get_all()
    assert fact.accesses == 31
    assert not problems


def test_two_readers_of_one_conversation_distil_it_once(opened: Open, talk: Callable[..., None]) -> None:
    both = threading.Barrier(2, timeout=LONGEST)

    def distil(_: str) -> object:
        if llm.count("distil") <= 2:
            both.wait()
        return {"facts": [FACT]}

    llm = ScriptedLLM(distil=distil, reconcile={"verdicts": []})
    handles = [opened(llm=llm), opened(llm=llm)]
    talk(handles[0], "Alice owns the deploy pipeline.", *(f"line {n}" for n in range(7)))
    results: list[Any] = []
    threads = [threading.Thread(target=lambda one=one: results.append(one.consolidate("c1"))) for one in handles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (fact,) = handles[0].get_all()
    assert fact.accesses == 0
    assert sum(len(result.facts) for result in results) == 1
    assert llm.count("distil") == 2
    assert handles[0].cost().total.calls == len(llm.asked), "all calls were paid for"
