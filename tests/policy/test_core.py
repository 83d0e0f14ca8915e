from datetime import UTC, datetime, timedelta
from math import log1p, log2

import pytest
from hypothesis import given, strategies as st

from slowwave.model.config import Config
from slowwave.model.memory import Memory
from slowwave.policy.retention.core import demotes, promotes, rank, score

T = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
CONFIG = Config(retention_policy="half_life")
EARNED = {"accesses": 10, "stability": 0.85, "sessions": 3}


def memory(name: str = "m", **fields: object) -> Memory:
    return Memory(
        **({"id": name, "scope": "s", "kind": "semantic", "text": "x", "recorded_at": T, "valid_from": T} | fields)
    )


def ids(memories: list[Memory]) -> list[str]:
    return [one.id for one in memories]


def test_the_score_is_the_sources_formula() -> None:
    one = memory(accesses=7)
    assert score(one, CONFIG, T + 14 * DAY) == 0.5 + 0.1 * log1p(7)


def test_fifty_four_retrievals_equal_two_fifths_of_strength() -> None:
    now = T + timedelta(days=-14 * log2(0.6))
    assert score(memory(accesses=53), CONFIG, now) < 1.0 < score(memory(accesses=54), CONFIG, now)


def test_retrieved_facts_come_first_and_unretrieved_ones_can_be_left_out() -> None:
    often, never = memory("b", accesses=5), memory("a")
    assert ids(rank([never, often], CONFIG, T)) == ["b", "a"]
    assert ids(rank([never, often], CONFIG, T, min_retrievals=1)) == ["b"]


def test_ties_are_broken_by_last_use_then_confidence_then_id() -> None:
    sure, unsure = memory("z", confidence=0.9), memory("a", confidence=0.8)
    assert ids(rank([unsure, sure], CONFIG, T)) == ["z", "a"]
    later, sooner = memory("z", recorded_at=T + DAY), memory("a")
    assert ids(rank([sooner, later], CONFIG, T)) == ["z", "a"]
    assert ids(rank([memory("b"), memory("a")], CONFIG, T)) == ["a", "b"]


def test_the_number_of_facts_is_the_argument_or_the_setting() -> None:
    seven = [memory(str(number)) for number in range(7)]
    assert len(rank(seven, CONFIG, T)) == 5
    assert len(rank(seven, CONFIG, T, top_k=2)) == 2
    assert rank(seven, CONFIG, T, top_k=0) == []


@given(st.permutations([memory(str(number), accesses=number % 3) for number in range(6)]))
def test_the_input_order_does_not_matter(memories: list[Memory]) -> None:
    assert ids(rank(memories, CONFIG, T)) == ["2", "5", "1", "4", "0"]


def test_a_fact_used_often_in_several_sessions_is_promoted() -> None:
    assert promotes(memory(**EARNED), CONFIG) == "used 10 times in 3 sessions, stability 0.85"


@pytest.mark.parametrize(
    "short",
    [
        {"accesses": 9},
        {"stability": 0.84},
        {"sessions": 2},
        {"phase": "core"},
        {"phase": "cold"},
        {"kind": "message"},
        {"kind": "summary", "span": (1, 65)},
        {"flags": frozenset({"unreconciled"})},
        {"trust": "web"},
    ],
)
def test_a_fact_below_a_threshold_is_not_promoted(short: dict[str, object]) -> None:
    assert promotes(memory(**(EARNED | short)), CONFIG) is None


def test_a_contradicted_fact_is_not_promoted_and_is_demoted() -> None:
    assert promotes(memory(**EARNED), CONFIG, contradicted=True) is None
    assert demotes(memory(phase="core", **EARNED), CONFIG, contradicted=True) == "something contradicts it"


def test_a_core_fact_below_new_thresholds_is_demoted() -> None:
    core = memory(phase="core", **EARNED)
    assert demotes(core, CONFIG) is None
    assert demotes(core, Config(core_session_threshold=4)) == "it falls short of what core asks for"


def test_a_pinned_fact_stays_in_core_and_no_other_phase_can_be_demoted() -> None:
    assert demotes(memory(phase="core", pinned=True), CONFIG, contradicted=True) is None
    assert demotes(memory(), CONFIG, contradicted=True) is None


def test_a_single_event_or_a_mood_is_not_promoted_however_often_it_is_shown() -> None:
    shown = {**EARNED, "category": "observation"}
    assert promotes(memory(**shown, kind="semantic", text="Ann swims twice a week"), CONFIG)
    assert promotes(memory(**shown, kind="episodic", text="Ann married Paul on 3 May 2025"), CONFIG)
    assert promotes(memory(**shown, kind="episodic", text="Ann went to the zoo on 3 May 2025"), CONFIG) is None
    assert promotes(memory(**shown, kind="semantic", text="Ann is swamped with work"), CONFIG) is None


def test_work_that_ends_on_a_date_is_not_promoted() -> None:
    shown = {**EARNED, "category": "project"}
    assert promotes(memory(**shown, text="Ann uses Flask for the tracker"), CONFIG)
    assert promotes(memory(**shown, text="Ann is going to launch the tracker on 3 May 2026"), CONFIG) is None
