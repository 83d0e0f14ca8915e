from collections.abc import Callable

from slowwave import AgentMemory
from slowwave.model.memory import Memory
from slowwave.model.operations import Link
from slowwave.pipelines.planning import single_group_plan
from slowwave.testing import FrozenClock

Opened = Callable[..., AgentMemory]
EASY = {"core_access_threshold": 2, "core_session_threshold": 1, "core_stability_threshold": 0.0}


def used_often(memory: AgentMemory, clock: FrozenClock, text: str, times: int = 2) -> Memory:
    (one,) = memory.add(text).ids
    for day in range(times):
        clock.advance(days=1)
        memory.record_retrieval([memory.get(one)], session=f"day {day}")
    return memory.get(one)


def contradict(memory: AgentMemory, one: Memory, other: Memory) -> None:
    ports = memory.ports
    link = Link(
        source=one.id, target=other.id, kind="conflict?", weight=1.0, before=0.0, because="a test", at=ports.now()
    )
    memory.apply(single_group_plan(ports, "edit", [link], "a test", now=ports.now()))


def test_a_fact_that_was_used_often_enough_joins_core_memory(opened: Opened, clock: FrozenClock) -> None:
    memory = opened(**EASY)
    often, once = used_often(memory, clock, "Alice owns deploys"), used_often(memory, clock, "Bob likes rye", times=1)
    report = memory.sleep()
    assert [memory.get(one.id).phase for one in (often, once)] == ["core", "active"]
    assert any("used 2 times" in operation.because for operation in report.plan.operations)


def test_a_contradicted_core_memory_becomes_active_and_is_not_promoted_again(
    opened: Opened, clock: FrozenClock
) -> None:
    memory = opened(**EASY)
    often = used_often(memory, clock, "Alice owns deploys")
    memory.sleep()
    (other,) = memory.add("Nobody minds the releases").ids
    contradict(memory, memory.get(other), often)
    memory.sleep()
    assert memory.get(often.id).phase == "active"
    clock.advance(days=1)
    memory.record_retrieval([memory.get(often.id)], session="again")
    memory.sleep()
    assert memory.get(often.id).phase == "active", "the contradiction stands"
    memory.delete(other)
    clock.advance(days=1)
    memory.record_retrieval([memory.get(often.id)], session="and again")
    memory.sleep()
    assert memory.get(often.id).phase == "core", "what contradicted it was taken back"


def test_stricter_settings_demote_core_memories_unless_pinned(
    opened: Opened, clock: FrozenClock, tmp_path: object
) -> None:
    path = f"{tmp_path}/memory.db"
    memory = opened(path, **EASY)
    often, pinned = used_often(memory, clock, "Alice owns deploys"), used_often(memory, clock, "Bob likes rye")
    memory.sleep()
    memory.pin(pinned.id)
    memory.close()
    stricter = opened(path, **EASY | {"core_access_threshold": 5})
    stricter.sleep()
    assert [stricter.get(one.id).phase for one in (often, pinned)] == ["active", "core"]


def test_an_unknown_category_is_reported_once(opened: Opened) -> None:
    memory = opened()
    assert "'weather'" in str(memory.add("It rains in Bergen", category="weather"))
    assert "'weather'" not in str(memory.add("It snows in Tromsø", category="weather"))
    assert "category" not in str(memory.add("Alice owns deploys", category="person"))
