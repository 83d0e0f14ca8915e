"""What is used or changed while a night plans stays, and the rest of its group is archived all the same."""

from collections.abc import Callable

import pytest

from slowwave import AgentMemory
from slowwave.model.plan import Plan
from slowwave.pipelines.sleep.fade import forget
from slowwave.testing import FrozenClock

Opened = Callable[..., AgentMemory]
SAID = ("Rome has trams", "Oslo has ferries", "Kyiv has domes", "Lima has fog")


def faint(opened: Opened, clock: FrozenClock, **settings: object) -> tuple[AgentMemory, list[str]]:
    memory = opened(**settings)
    ids = [memory.add(text, category="observation").ids[0] for text in SAID]
    while max(memory.strength(one) for one in ids) >= 0.1:
        clock.advance(days=30)
    return memory, ids


def before_fading(memory: AgentMemory, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Somebody does something once, after the fading was planned and before it is applied."""
    store, todo = memory.ports.store, [act]
    apply = store.apply

    def applied(plan: Plan) -> object:
        if plan.cause == "sleep/fade" and todo:
            todo.pop()()
        return apply(plan)

    monkeypatch.setattr(store, "apply", applied)


def test_a_fact_used_after_the_plan_stays_active_and_the_others_are_archived(
    opened: Opened, clock: FrozenClock
) -> None:
    memory, (used, *others) = faint(opened, clock)
    plan = memory.sleep(dry_run=True).plan
    memory.record_retrieval([memory.get(used)])
    receipts = memory.apply(plan)
    assert memory.get(used).is_searchable
    assert not any(memory.get(one).is_searchable for one in others)
    assert "1 were used or changed since this was planned" in str(receipts[-1])
    memory.undo(plan.id)
    assert all(memory.get(one).is_searchable for one in others)


def test_a_pin_during_the_pass_keeps_one_fact_and_the_others_are_archived(
    opened: Opened, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, (pinned, *others) = faint(opened, clock)
    before_fading(memory, monkeypatch, lambda: memory.pin(pinned))
    night = memory.sleep()
    assert memory.get(pinned).is_searchable
    assert not any(memory.get(one).is_searchable for one in others)
    assert "faded, less 1 used or changed meanwhile" in str(night)
    assert "version" not in str(night)
    assert not night.left
    memory.undo(night.plan.id)
    assert all(memory.get(one).is_searchable for one in others)


def test_where_all_of_a_group_was_touched_it_is_dropped_in_words(opened: Opened, clock: FrozenClock) -> None:
    memory, ids = faint(opened, clock)
    plan = memory.sleep(dry_run=True).plan
    memory.record_retrieval([memory.get(one) for one in ids])
    receipt = memory.apply(plan)[-1]
    assert all(memory.get(one).is_searchable for one in ids)
    assert receipt.dropped[0].reason == f"{ids[0]} was used since this was planned"


def test_a_use_also_keeps_messages_and_expiring_facts(opened: Opened, clock: FrozenClock) -> None:
    memory = opened()
    gone, kept = (memory.add(f"{name} is on duty", category="session_state").ids[0] for name in ("Ann", "Bob"))
    clock.advance(days=60)
    plan = memory.sleep(dry_run=True).plan
    assert any(part.cause == "sleep/expire" for part in plan.parts)
    memory.record_retrieval([memory.get(kept)])
    memory.apply(plan)
    assert (memory.get(kept).is_searchable, memory.get(gone).is_searchable) == (True, False)


def test_a_manual_archive_skips_memories_used_meanwhile(
    opened: Opened, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, (used, *others) = faint(opened, clock)
    before_fading(memory, monkeypatch, lambda: memory.record_retrieval([memory.get(used)]))
    assert forget(memory.ports) == len(others)
    assert memory.get(used).is_searchable
