import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from slowwave.model.config import RETENTION_POLICIES, Config
from slowwave.model.memory import PHASES, Memory, SourceRef
from slowwave.policy.guard.trust import ORDER
from slowwave.policy.retention.categories import REGISTRY
from slowwave.policy.retention.policies import (
    RESTORED,
    associated,
    exemption_reason,
    expiry,
    explain_strength,
    fade_date,
    fingerprint,
    has_ended,
    initial_stability,
    is_expired,
    is_in_fading_band,
    next_due,
    policy_of,
    protection_reason,
    reinforced,
    should_fade,
    strength,
)

T = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
INSTANT = timedelta(microseconds=1)
EBBINGHAUS = Config()
HALF_LIFE = Config(retention_policy="half_life")
POWER = Config(retention_policy="power")
RELEVANCE = Config(retention_policy="relevance")
GRADUATED = Config(retention_policy="graduated")


def memory(**fields: object) -> Memory:
    return Memory(
        **({"id": "m", "scope": "s", "kind": "episodic", "text": "x", "recorded_at": T, "valid_from": T} | fields)
    )


configs = st.sampled_from([Config(retention_policy=policy) for policy in RETENTION_POLICIES])
shares = st.floats(min_value=0, max_value=1)
instants = st.timedeltas(min_value=-13_000 * DAY, max_value=60_000 * DAY).map(lambda span: T + span)
memories = st.builds(
    memory,
    kind=st.sampled_from(["episodic", "semantic", "procedural", "summary", "message"]),
    category=st.sampled_from([*REGISTRY, "weather"]),
    phase=st.sampled_from(PHASES),
    importance=shares,
    stability=shares,
    accesses=st.integers(min_value=0, max_value=12),
    used_at=st.none() | instants,
    recorded_at=instants,
    expires_at=st.none() | instants,
    pinned=st.booleans(),
    trust=st.sampled_from(["user", "tool"]),
    flags=st.sampled_from([frozenset(), frozenset({RESTORED}), frozenset({"unreconciled"})]),
)


@given(memories, configs, instants, instants)
def test_strength_is_between_zero_and_one_and_never_rises(
    one: Memory, config: Config, first: datetime, second: datetime
) -> None:
    sooner, later = sorted((first, second))
    assert 0.0 < strength(one, config, later) <= strength(one, config, sooner) <= 1.0


@given(memories, configs, instants)
def test_a_rule_applies_exactly_from_the_due_date(one: Memory, config: Config, after: datetime) -> None:
    def held(now: datetime) -> tuple[bool, bool, bool]:
        return (
            is_expired(one, config, now),
            is_in_fading_band(one, config, now),
            should_fade(one, config, now) is not None,
        )

    at = next_due(one, config, after)
    if at is None:
        assert held(after) == held(datetime.max.replace(tzinfo=UTC))
        return
    assert at > after
    assert held(after) == held(at - INSTANT) != held(at)


@given(memories, configs, instants)
def test_exempt_memories_do_not_fade(one: Memory, config: Config, now: datetime) -> None:
    if exemption_reason(one):
        assert should_fade(one, config, now) is None
        assert not is_in_fading_band(one, config, now)
    if protection_reason(one):
        assert next_due(one, config) is None
        assert not is_expired(one, config, now)


@given(memories, memories, configs, instants)
def test_in_one_class_the_order_of_fading_is_the_order_of_strength(
    one: Memory, other: Memory, config: Config, now: datetime
) -> None:
    other = replace(one, recorded_at=other.recorded_at, used_at=other.used_at)
    if not (kind := policy_of(config).time_constant(one, config)) or math.isinf(kind):
        return
    assert kind == policy_of(config).time_constant(other, config)
    sooner, later = sorted((one, other), key=lambda each: each.last_used_or_recorded)
    assert strength(sooner, config, now) <= strength(later, config, now)
    first, second = fade_date(sooner, config, 0.1), fade_date(later, config, 0.1)
    assert second is None or (first is not None and first <= second)


@given(memories, configs, instants)
def test_the_explanation_contains_the_strength(one: Memory, config: Config, now: datetime) -> None:
    explained = explain_strength(one, config, now)
    assert explained["strength"] == strength(one, config, now)


def test_the_explanation_names_the_numbers_of_its_curve() -> None:
    assert explain_strength(memory(), EBBINGHAUS, T)["decay_days"] == 45.0
    assert explain_strength(memory(), HALF_LIFE, T)["half_life_days"] == 14.0
    assert explain_strength(memory(accesses=3), POWER, T)["accesses"] == 3.0
    assert explain_strength(memory(), RELEVANCE, T + 7 * DAY)["freshness"] == 0.1


def test_stability_begins_by_importance() -> None:
    assert initial_stability(0.5) == 0.25


@pytest.mark.parametrize(
    ("kind", "days"), [("episodic", 45), ("semantic", 240), ("summary", 240), ("procedural", math.inf)]
)
def test_every_kind_has_its_own_decay(kind: str, days: float) -> None:
    expected = days if math.isinf(days) else 2 ** (round(4 * math.log2(days * 0.25 * 2)) / 4)
    assert policy_of(EBBINGHAUS).time_constant(memory(kind=kind), EBBINGHAUS) == expected


def test_a_configured_half_life_is_exact() -> None:
    config = Config(retention_policy="half_life", half_life_days=13.7)
    assert policy_of(config).time_constant(memory(), config) == 13.7


def test_importance_raises_the_time_constant_at_most_threefold() -> None:
    assert policy_of(EBBINGHAUS).time_constant(memory(importance=1.0, stability=1.0), EBBINGHAUS) == 2 ** (
        round(4 * math.log2(135)) / 4
    )


def test_use_and_importance_scale_the_power_curve_up_to_one() -> None:
    assert strength(memory(importance=0.25), POWER, T) == pytest.approx(0.25, rel=0.01)
    assert strength(memory(importance=0.25, accesses=3), POWER, T) == pytest.approx(0.5, rel=0.01)
    assert strength(memory(importance=1.0, accesses=99), POWER, T) == 1.0
    assert strength(memory(importance=0.0), POWER, T) == pytest.approx(0.01, rel=0.02)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"kind": "message"}, "conversation"),
        ({"kind": "summary", "span": (1, 65)}, "conversation"),
        ({"pinned": True, "phase": "core"}, "pinned"),
        ({"phase": "core"}, "core"),
        ({"category": "identity"}, "identity is protected"),
        ({"category": "active_decision"}, "active_decision is protected"),
        ({"flags": frozenset({RESTORED})}, "undo"),
        ({"accesses": 10}, "used 10 times"),
    ],
)
def test_every_exemption_has_a_reason(fields: dict[str, object], why: str) -> None:
    one = memory(**fields)
    assert why in exemption_reason(one)
    assert next_due(one, EBBINGHAUS) is None
    assert should_fade(one, EBBINGHAUS, T + 9999 * DAY) is None


@pytest.mark.parametrize("trust", ORDER[1:])
@pytest.mark.parametrize("category", ["identity", "active_decision"])
def test_a_category_protects_only_what_the_user_said(category: str, trust: str) -> None:
    one = memory(category=category, trust=trust)
    assert protection_reason(one) is None
    assert next_due(one, EBBINGHAUS) is not None
    assert protection_reason(replace(one, pinned=True)) == "it is pinned"


def test_nine_uses_do_not_keep_a_fact() -> None:
    assert exemption_reason(memory(accesses=9)) is None


def test_use_prevents_fading_but_not_expiry() -> None:
    often = memory(category="session_state", accesses=10)
    assert next_due(often, EBBINGHAUS) == T + DAY + INSTANT
    assert is_expired(often, EBBINGHAUS, T + 2 * DAY)


def test_procedures_never_fade_under_ebbinghaus() -> None:
    assert next_due(memory(kind="procedural"), EBBINGHAUS) is None
    assert next_due(memory(kind="procedural"), HALF_LIFE) is not None


def test_a_memory_is_due_to_fade_and_then_to_be_archived() -> None:
    one = memory()
    first = next_due(one, EBBINGHAUS)
    second = next_due(one, EBBINGHAUS, after=first)
    assert ((first - T).days, (second - T).days) == (36, 52)
    assert next_due(one, EBBINGHAUS, after=second) is None
    assert not is_in_fading_band(one, EBBINGHAUS, first - INSTANT)
    assert is_in_fading_band(one, EBBINGHAUS, first)
    assert should_fade(one, EBBINGHAUS, second - INSTANT) is None
    assert should_fade(one, EBBINGHAUS, second) == "faded"


def test_only_active_memories_are_due() -> None:
    assert next_due(memory(phase="cold", reason="faded"), EBBINGHAUS) is None
    assert should_fade(memory(phase="superseded"), EBBINGHAUS, T + 999 * DAY) is None


def test_expiry_is_strict() -> None:
    one = memory(category="tool_output")
    assert not is_expired(one, EBBINGHAUS, T + 7 * DAY)
    assert is_expired(one, EBBINGHAUS, T + 7 * DAY + INSTANT)


def test_an_expiry_date_of_a_memory_overrides_its_category() -> None:
    assert expiry(memory(category="tool_output", expires_at=T + DAY), EBBINGHAUS) == T + DAY
    assert expiry(memory(category="identity", expires_at=T + DAY), EBBINGHAUS) == T + DAY


def test_a_date_that_a_mind_proposed_does_not_end_a_protected_fact() -> None:
    distilled = memory(category="identity", expires_at=T + DAY, sources=(SourceRef(memory="m1", ref="a", quote="x"),))
    assert expiry(distilled, EBBINGHAUS) is None
    assert not has_ended(distilled, T + 2 * DAY)


@pytest.mark.parametrize(
    ("fields", "ended"),
    [
        ({}, True),
        ({"category": "identity"}, True),
        ({"phase": "core"}, True),
        ({"pinned": True}, False),
        ({"flags": frozenset({RESTORED})}, False),
    ],
)
def test_a_fact_ends_after_its_date_unless_a_person_keeps_it(fields: dict[str, Any], ended: bool) -> None:
    one = memory(expires_at=T + DAY, **fields)
    assert not has_ended(one, T + DAY)
    assert has_ended(one, T + DAY + INSTANT) is ended


def test_decay_is_never_compounded() -> None:
    one = memory()
    assert [strength(one, HALF_LIFE, T + 14 * DAY) for _ in range(3)] == [0.5] * 3


@pytest.mark.parametrize(
    ("category", "day"), [("gotcha", 90), ("finding", 90), ("decision", 90), ("observation", 77), ("tool_output", 48)]
)
def test_relevance_archives_low_scores_and_idle_memories(category: str, day: int) -> None:
    config = Config(retention_policy="relevance", category_ttl_days={category: None})
    at = next_due(memory(category=category), config)
    while should_fade(memory(category=category), config, at) is None:
        at = next_due(memory(category=category), config, after=at)
    assert (at - T).days == day


def test_relevance_keeps_an_idle_memory_while_its_score_exempts_it() -> None:
    lively = memory(category="decision", accesses=9)
    assert should_fade(lively, RELEVANCE, T + 90 * DAY + INSTANT) is None
    assert should_fade(lively, RELEVANCE, T + 400 * DAY) == "faded"
    never = memory(category="decision", accesses=9, recorded_at=T - 9999 * DAY, used_at=T)
    assert should_fade(never, Config(retention_policy="relevance", archive_exempt_score=0.1), T + 999 * DAY) is None


@pytest.mark.parametrize(
    ("category", "band", "leaves"),
    [
        ("tool_output", None, 7),
        ("observation", None, 30),
        ("finding", 30, 90),
        ("gotcha", 30, 90),
        ("weather", 30, 90),
        ("decision", None, None),
        ("preference", None, None),
        ("identity", None, None),
    ],
)
def test_graduated_retention_follows_the_stages(category: str, band: int | None, leaves: int | None) -> None:
    one = memory(category=category)
    for day in range(1, 365):
        assert is_in_fading_band(one, GRADUATED, T + day * DAY) == (band is not None and day > band), day
        assert should_fade(one, GRADUATED, T + day * DAY) == (
            "stage" if leaves is not None and day > leaves else None
        ), day


def test_the_last_stage_can_be_configured() -> None:
    config = Config(retention_policy="graduated", archive_max_idle_days=120)
    assert should_fade(memory(), config, T + 120 * DAY) is None
    assert should_fade(memory(), config, T + 121 * DAY) == "stage"


def test_instants_after_the_year_9999_are_never() -> None:
    late = memory(recorded_at=datetime(9999, 12, 20, tzinfo=UTC))
    assert all(next_due(late, Config(retention_policy=policy)) is None for policy in RETENTION_POLICIES)


def test_a_use_moves_the_anchor_and_counts() -> None:
    used = reinforced(memory(), EBBINGHAUS, T + 7 * DAY, "monday")
    assert (used.accesses, used.sessions, used.last_session, used.used_at) == (1, 1, "monday", T + 7 * DAY)
    assert used.stability == 0.35
    assert used.due_at == next_due(used, EBBINGHAUS) > T + 7 * DAY
    again = reinforced(used, EBBINGHAUS, T + 7 * DAY, "monday")
    assert (again.accesses, again.sessions, again.stability) == (2, 1, 0.35)
    silent = reinforced(again, EBBINGHAUS, T + 7 * DAY)
    assert (silent.accesses, silent.sessions, silent.last_session) == (3, 1, "monday")


def test_a_boost_is_at_most_twofold_and_stability_at_most_one() -> None:
    assert reinforced(memory(), EBBINGHAUS, T + 365 * DAY).stability == 0.45
    assert reinforced(memory(stability=0.95), EBBINGHAUS, T + 365 * DAY).stability == 1.0


def test_a_clock_set_back_never_moves_the_anchor_back() -> None:
    used = reinforced(memory(), EBBINGHAUS, T + 7 * DAY)
    assert reinforced(used, EBBINGHAUS, T).used_at == T + 7 * DAY


def test_use_clears_the_restored_flag() -> None:
    restored = memory(flags=frozenset({RESTORED}))
    assert reinforced(restored, EBBINGHAUS, T).flags == frozenset()


def test_use_extends_the_life_by_category_but_not_an_explicit_date() -> None:
    used = reinforced(memory(category="decision"), EBBINGHAUS, T + 9 * DAY)
    assert (used.expires_at, expiry(used, EBBINGHAUS)) == (None, T + 374 * DAY)
    assert expiry(reinforced(used, EBBINGHAUS, T + 5 * DAY), EBBINGHAUS) == T + 374 * DAY
    assert expiry(used, Config(category_ttl_days={"decision": 10.0})) == T + 19 * DAY
    said = memory(category="decision", expires_at=T + 5 * DAY)
    assert expiry(reinforced(said, EBBINGHAUS, T + 4 * DAY), EBBINGHAUS) == T + 5 * DAY


@pytest.mark.parametrize(("every", "uses"), [(7, 7), (1, 43)])
def test_stability_reaches_core_after_as_many_uses_as_the_source_measured(every: int, uses: int) -> None:
    one, now, counted = memory(), T, 0
    while one.stability < EBBINGHAUS.core_stability_threshold:
        one, now, counted = reinforced(one, EBBINGHAUS, now), now + every * DAY, counted + 1
    assert counted == uses


def test_an_association_makes_a_little_more_stable_without_a_use() -> None:
    one = replace(memory(), due_at=next_due(memory(), EBBINGHAUS))
    linked = associated(one, EBBINGHAUS, T + 7 * DAY)
    assert (linked.stability, linked.accesses, linked.used_at) == (0.28, 0, None)
    assert linked.due_at > one.due_at


def test_an_association_keeps_a_pending_due_date() -> None:
    one = memory(stability=0.01)
    now = T + 2 * DAY
    pending = replace(one, due_at=T + DAY)
    assert associated(pending, EBBINGHAUS, now).due_at == next_due(associated(pending, EBBINGHAUS, now), EBBINGHAUS)
    looked_at = replace(one, due_at=None)
    assert (associated(looked_at, EBBINGHAUS, now).due_at or now + DAY) > now


@given(configs, st.sampled_from(["half_life_days", "episodic_decay_days", "archive_max_idle_days"]))
def test_the_fingerprint_changes_with_the_settings_of_its_policy(config: Config, name: str) -> None:
    settings = {"retention_policy": config.retention_policy, name: 33.0}
    moves = next_due(memory(category="gotcha"), config) != next_due(memory(category="gotcha"), Config(**settings))
    renamed = fingerprint(Config(**settings)) != fingerprint(config)
    assert renamed or not moves
    assert fingerprint(config) == fingerprint(Config(retention_policy=config.retention_policy))
    assert fingerprint(config).startswith(f"{config.retention_policy}-")


def test_the_fingerprint_depends_on_times_to_live_and_on_no_unrelated_setting() -> None:
    assert fingerprint(Config(category_ttl_days={"gotcha": 9.0})) != fingerprint(EBBINGHAUS)
    assert fingerprint(Config(half_life_days=3.0, core_top_k=9)) == fingerprint(EBBINGHAUS)
