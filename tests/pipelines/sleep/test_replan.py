from collections.abc import Callable
from itertools import pairwise

import pytest

from slowwave import AgentMemory, Config
from slowwave.pipelines.sleep import sleep_pass as sleep
from slowwave.policy.retention.policies import decay_class_range
from slowwave.testing import FrozenClock

Opened = Callable[..., AgentMemory]


def test_a_changed_time_to_live_applies_to_stored_memories(
    opened: Opened, clock: FrozenClock, tmp_path: object
) -> None:
    path = f"{tmp_path}/memory.db"
    memory = opened(path)
    (one,) = memory.add("The build is red", category="project_status").ids
    assert memory.get(one).expires_at is None
    memory.close()
    shorter = opened(path, category_ttl_days={"project_status": 2.0})
    clock.advance(days=3)
    shorter.sleep()
    assert (shorter.get(one).phase, shorter.get(one).reason) == ("cold", "expired")


def test_changed_settings_are_replanned_in_journaled_steps_that_count_the_rest(
    opened: Opened, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sleep, "REPLANNED_MAX", 10)
    path = f"{tmp_path}/memory.db"
    memory = opened(path)
    ids = [memory.add(f"Server {name} lives in rack {name * 2}").ids[0] for name in map(chr, range(97, 122))]
    before = [memory.get(one) for one in ids]
    memory.close()
    other = opened(path, retention_policy="half_life", half_life_days=3.0)
    nights = [other.sleep() for _ in range(3)]
    assert [night.left for night in nights] == [{"replan": 15}, {"replan": 5}, {}]
    low, high = decay_class_range(other.ports.config)
    after = [other.get(one) for one in ids]
    assert all(low <= one.pace <= high for one in after)
    assert all(one.due_at != was.due_at for one, was in zip(after, before, strict=True))
    assert other.history(ids[0])[-1].cause == "sleep/refresh"
    assert str(other.sleep()) == "sleep: nothing due"
    assert [one.id for one in other.core(3)] == [one.id for one in sorted(after, key=lambda m: m.id)[:3]]


def test_opening_with_the_same_numbers_plans_nothing(opened: Opened, tmp_path: object) -> None:
    path = f"{tmp_path}/memory.db"
    memory = opened(path)
    memory.add("Alice owns deploys")
    memory.sleep()
    memory.close()
    again = opened(path)
    assert not again.sleep().plan


def test_paces_of_two_sets_of_numbers_never_meet() -> None:
    spans = sorted(
        decay_class_range(Config(half_life_days=days, retention_policy="half_life")) for days in range(1, 50)
    )
    assert all(first[1] < second[0] for first, second in pairwise(spans))
