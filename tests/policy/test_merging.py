"""What a merged fact keeps of both, so that it does not expire as the plan that one of them was."""

from datetime import UTC, datetime, timedelta

import pytest

from slowwave.model.config import Config
from slowwave.model.memory import Kind, Memory, SourceRef
from slowwave.policy.retention.lasting import category_of, is_plan
from slowwave.policy.retention.merging import merged_fact
from slowwave.policy.retention.policies import expiry

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
MAY = datetime(2026, 5, 1, tzinfo=UTC)
SAID = (SourceRef(memory="m", ref="m"),)


def fact(text: str, category: str, kind: Kind = "semantic", at: datetime = MARCH, **values: object) -> Memory:
    return Memory(id=text, scope="s", kind=kind, text=text, category=category, recorded_at=at, valid_from=at, **values)


@pytest.mark.parametrize(
    ("known", "new", "category"),
    [
        ("project_status", "person", "person"),
        ("person", "project_status", "person"),
        ("goal", "preference", "preference"),
        ("observation", "identity", "identity"),
        ("identity", "person", "identity"),
        ("goal", "observation", "observation"),
        ("session_state", "decision", "decision"),
        ("preference", "person", "person"),
    ],
)
def test_the_category_that_lasts_longest_stays_and_of_equal_ones_that_of_the_words(
    known: str, new: str, category: str
) -> None:
    one = merged_fact(fact("Ann rows", known), fact("Ann rows an eight", new, at=MAY), "Ann rows an eight")
    assert (one.category, one.text, one.valid_from, one.id) == (category, "Ann rows an eight", MAY, "Ann rows")


def test_a_merged_fact_has_no_end_that_only_one_of_them_had() -> None:
    plan = fact("Ann paints the boat", "project_status", expires_at=MAY, sources=SAID)
    lasting = fact("Ann paints the boat with her son Joost", "person", at=MAY + timedelta(days=3), sources=SAID)
    one = merged_fact(plan, lasting, lasting.text)
    assert (one.expires_at, expiry(one, Config())) == (None, None)
    ends = merged_fact(plan, fact("Ann paints it", "person", expires_at=MAY + timedelta(days=9), sources=SAID), "x")
    assert ends.expires_at == MAY + timedelta(days=9)


def test_an_end_that_a_person_stated_stays() -> None:
    stated = fact("The guest flat is free", "other", expires_at=MAY)
    assert merged_fact(stated, fact("The guest flat is free on Sundays", "other", sources=SAID), "x").expires_at == MAY


@pytest.mark.parametrize(
    ("known", "new", "own", "kind"),
    [
        ("episodic", "semantic", True, "semantic"),
        ("semantic", "episodic", True, "semantic"),
        ("procedural", "semantic", True, "procedural"),
        ("semantic", "procedural", True, "procedural"),
        ("semantic", "procedural", False, "semantic"),
    ],
)
def test_a_state_stays_a_state_and_an_instruction_needs_its_own_words(
    known: Kind, new: Kind, own: bool, kind: Kind
) -> None:
    old, young = fact("Ann answers letters", "person", known), fact("Ann answers letters by hand", "person", new)
    assert merged_fact(old, young, young.text if own else old.text).kind == kind


@pytest.mark.parametrize(
    ("text", "category", "plan"),
    [
        ("Ann is going to sail to Texel on 9 May 2026", "observation", True),
        ("Ann wants to open a bakery", "goal", True),
        ("Ann has a meeting with the harbour board in the week of 9 March 2026", "observation", True),
        ("Ann plans another course in May 2026", "goal", True),
        ("Ann is working as a nurse", "person", False),
        ("Ann opened a bakery on 1 May 2026", "goal", False),
    ],
)
def test_which_facts_are_plans(text: str, category: str, plan: bool) -> None:
    assert is_plan(fact(text, category, "episodic")) is plan


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Ann finished the hull in the week of 9 February 2026", "observation"),
        ("Ann finished the hull in 2025", "observation"),
        ("Ann is painting the hull since 9 February 2026", "project_status"),
        ("Ann hires the crane until 28 February 2026", "project_status"),
        ("Ann launches the boat on 9 May 2026", "project_status"),
        ("Ann's boat has no mast yet", "project_status"),
    ],
)
def test_a_past_event_is_no_state_of_work(text: str, category: str) -> None:
    assert category_of("project_status", text, MARCH) == category
    assert category_of("finding", text, MARCH) == "finding"


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Ann will be at the opening on 20 March 2026", "goal"),
        ("Ann will go to a fair in March 2026", "goal"),
        ("Ann will eat no meat", "active_decision"),
        ("Ann will write all reports in German from 20 March 2026", "active_decision"),
        ("The service will stay on version 2 until 20 March 2026", "active_decision"),
    ],
)
def test_an_appointment_is_no_decision_that_every_answer_respects(text: str, category: str) -> None:
    assert category_of("active_decision", text, MARCH) == category
