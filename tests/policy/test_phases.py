from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from slowwave.errors import InputError
from slowwave.model.memory import MESSAGE, NOTE, PHASES, Memory
from slowwave.policy.retention.phases import (
    CASCADE,
    FACT,
    REASONS,
    PhaseError,
    family,
    possible,
    reason,
    step,
)

T = datetime(2026, 1, 1, tzinfo=UTC)


def memory(**fields: object) -> Memory:
    return Memory(
        **({"id": "m", "scope": "s", "kind": "semantic", "text": "x", "recorded_at": T, "valid_from": T} | fields)
    )


@pytest.mark.parametrize(
    ("phase", "event", "after"),
    [
        ("active", "promote", "core"),
        ("active", "expire", "cold"),
        ("active", "fade", "cold"),
        ("active", "stage", "cold"),
        ("active", "trim", "cold"),
        ("active", "consolidate", "superseded"),
        ("active", "merge", "superseded"),
        ("active", "replace", "superseded"),
        ("active", "retract", "retracted"),
        ("active", "quarantine", "quarantined"),
        ("core", "demote", "active"),
        ("core", "replace", "superseded"),
        ("core", "retract", "retracted"),
        ("core", "quarantine", "quarantined"),
        ("cold", "revive", "active"),
        ("cold", "consolidate", "superseded"),
        ("cold", "merge", "superseded"),
        ("cold", "replace", "superseded"),
        ("cold", "retract", "retracted"),
        ("cold", "quarantine", "quarantined"),
        ("superseded", "restore", "active"),
        ("superseded", "retract", "retracted"),
        ("retracted", "restore", "active"),
        ("quarantined", "release", "active"),
        ("quarantined", "reject", "retracted"),
        ("quarantined", "retract", "retracted"),
    ],
)
def test_the_transitions_of_facts(phase: str, event: str, after: str) -> None:
    assert step(FACT, phase, event) == after


def test_facts_have_no_other_transitions() -> None:
    assert sum(len(possible(FACT, phase)) for phase in PHASES) == 26


def test_messages_are_archived_only_by_a_size_limit_or_a_person() -> None:
    assert possible("message", "active") == ("quarantine", "retract", "trim")
    assert possible("message", "cold") == ("quarantine", "retract", "revive")


def test_a_cascade_summary_is_replaced_but_never_fades() -> None:
    assert possible(CASCADE, "active") == ("quarantine", "replace", "retract")
    assert possible(CASCADE, "cold") == ()


def test_automation_removes_facts_from_core_only_by_demotion() -> None:
    assert possible(FACT, "core") == ("demote", "quarantine", "replace", "retract")


def test_an_impossible_event_lists_the_possible_ones() -> None:
    with pytest.raises(
        PhaseError, match="a fact that is core cannot fade: possible is demote, quarantine, replace, retract"
    ):
        step(FACT, "core", "fade")
    with pytest.raises(InputError, match="possible is nothing"):
        step(CASCADE, "cold", "revive")


@given(st.sampled_from([MESSAGE, FACT, CASCADE, NOTE]), st.lists(st.sampled_from(sorted(REASONS))))
def test_every_phase_is_known_and_has_a_transition_out(law: str, events: list[str]) -> None:
    phase = "active"
    for event in events:
        if event in possible(law, phase):
            phase = step(law, phase, event)
        else:
            with pytest.raises(PhaseError):
                step(law, phase, event)
    assert phase in PHASES
    assert phase == "active" or {"demote", "revive", "restore", "release"} & set(possible(law, phase))


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ("expire", "expired"),
        ("fade", "faded"),
        ("stage", "stage"),
        ("trim", "budget"),
        ("consolidate", "consolidated"),
        ("merge", "duplicate"),
        ("replace", "replaced"),
        ("revive", None),
        ("retract", None),
    ],
)
def test_every_event_sets_its_reason(event: str, why: str | None) -> None:
    assert reason(event) == why


@given(st.sampled_from(sorted(REASONS)))
def test_only_superseded_and_retracted_memories_are_outdated(event: str) -> None:
    for phase in PHASES:
        if event in possible(FACT, phase):
            after = memory(phase=step(FACT, phase, event), reason=reason(event))
            assert after.outdated == (event in {"replace", "retract", "reject"})


def test_every_memory_has_a_family() -> None:
    assert family(memory(kind="message")) == "message"
    assert family(memory(kind="summary", span=(1, 65))) == CASCADE
    assert family(memory(kind="summary", members=("a",))) == FACT
