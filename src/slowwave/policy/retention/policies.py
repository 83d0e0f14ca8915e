"""Retention: how strong a memory is now, when it next needs attention, and whether it may go."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from math import inf, isinf, nextafter, pow as power, sqrt
from typing import Final, NamedTuple

from slowwave.model.config import Config
from slowwave.model.memory import FACT_KINDS, MESSAGE, SUMMARY, Memory, altered
from slowwave.policy.guard.trust import trusted
from slowwave.policy.retention.categories import DETAIL_DAYS, LASTING_DAYS, REGISTRY, category, expires_at, later
from slowwave.policy.retention.curves import (
    POWER_DECAY,
    Curve,
    Ebbinghaus,
    HalfLife,
    Hyperbolic,
    Power,
    bucket_days,
    bucket_index,
    days_between,
    first_below,
    octaves,
    strength_at,
)

RESTORED: Final = "restored"
"""The flag of what an undo brought back: left alone until a person, a use or a new fact touches it."""
USES_THAT_KEEP: Final = 10
PROTECTED_TRUST: Final = "user"
"""A category protects only what is trusted so far: else a tool could keep any text by calling it an identity."""

_WEAKEST: Final = 0.01  # of stability and of the power curve's scale: nothing has a time constant of zero
_BOOST_DECIMALS: Final = 6  # so that ten boosts of a tenth are one
_NEXT: Final = timedelta(microseconds=1)
_END: Final = datetime.max.replace(tzinfo=UTC)
_NEAR: Final = 1e-9  # strengths closer than this are the same
_SCORED: Final = ("relevance", "graduated")

_BUILT_IN: Final = repr((sorted(REGISTRY.items()), POWER_DECAY, PROTECTED_TRUST))
_TAG_DIGITS: Final = 8  # of the fingerprint: what a pace begins with
_CLASSES: Final = 1 << 16  # paces of one fingerprint, of which
_AT_ONE: Final = 1 << 15  # is a time constant of one day
_NEVER: Final = _AT_ONE - 1  # and the last one never fades

# Which settings the instants of a policy depend on, besides the time to live of every category.
_SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "half_life": ("half_life_days", "consolidation_retention_threshold", "forgetting_threshold"),
    "ebbinghaus": (
        "episodic_decay_days",
        "semantic_decay_days",
        "summary_decay_days",
        "consolidation_retention_threshold",
        "forgetting_threshold",
    ),
    "power": ("consolidation_retention_threshold", "forgetting_threshold"),
    "relevance": (
        "consolidation_retention_threshold",
        "relevance_archive_threshold",
        "archive_max_idle_days",
        "archive_exempt_score",
    ),
    "graduated": ("archive_max_idle_days", "archive_exempt_score"),
}


def initial_stability(importance: float) -> float:
    """Stability of a new memory: 0.1 + 0.3 * importance."""
    return 0.1 + 0.3 * importance


def curve(memory: Memory, config: Config) -> Curve:
    """The curve this memory forgets along, counted from its anchor."""
    match config.retention_policy:
        case "half_life":
            return HalfLife(config.half_life_days)
        case "ebbinghaus":
            return Ebbinghaus(_tau_days(memory, config))
        case "power":
            return Power(_scale(memory))
        case _:
            head_days = days_between(memory.recorded_at, memory.last_used_or_recorded)
            return Hyperbolic(category(memory.category).weight, memory.accesses, head_days)


def strength(memory: Memory, config: Config, now: datetime) -> float:
    """How strong it is now, in (0, 1]: a function of its anchor, never a stored number."""
    return strength_at(curve(memory, config), memory.last_used_or_recorded, now)


def explain_strength(memory: Memory, config: Config, now: datetime) -> dict[str, float]:
    """The numbers behind `strength`, by name, for an explanation."""
    law = curve(memory, config)
    days = days_between(memory.last_used_or_recorded, now)
    shown = {"strength": law.strength(days), "idle_days": days}
    match law:
        case Ebbinghaus():
            shown |= {
                "tau_days": law.tau_days,
                "stability": memory.stability,
                "boost": _boost(memory),
                "decay_days": _decay_days(memory, config),
            }
        case Power():
            shown |= {"scale": law.scale, "importance": memory.importance, "accesses": float(memory.accesses)}
        case Hyperbolic():
            shown |= law.parts(days)
        case _:
            shown |= {"half_life_days": config.half_life_days}
    return shown


def decay_class(memory: Memory, config: Config) -> float:
    """The number that memories which fade alike share: inside a class, order by `fades_at` is order by strength.

    Days for "half_life" and "ebbinghaus" (infinite if it never fades), the scale for "power". 0.0 for the scores of
    "relevance" and "graduated", whose order changes with time: those are compared by computing them.
    """
    match curve(memory, config):
        case HalfLife(half_life_days=number) | Ebbinghaus(tau_days=number) | Power(scale=number):
            return number
        case _:
            return 0.0


def fade_date(memory: Memory, config: Config, threshold: float) -> datetime | None:
    """The first instant at which its strength is below the threshold, whether or not it may fade; None if never."""
    return first_below(curve(memory, config), memory.last_used_or_recorded, threshold)


def protection_reason(memory: Memory) -> str | None:
    """Why nothing automatic may expire, merge, compress or archive it; None if something may.

    The most protective rule comes first.
    """
    if memory.kind == MESSAGE or memory.is_cascade:
        return "it belongs to a conversation, and only a size target archives that"
    if memory.pinned:
        return "it is pinned"
    if memory.phase == "core":
        return "it is core"
    if category(memory.category).protected and trusted(memory.trust, PROTECTED_TRUST):
        return f"the category {memory.category} is protected"
    if RESTORED in memory.flags:
        return "an undo brought it back, and nothing has touched it since"
    return None


def exemption_reason(memory: Memory) -> str | None:
    """Why it never fades: it is protected, or was used ten times or more. It may still expire in the latter case."""
    if why := protection_reason(memory):
        return why
    return f"it was used {memory.accesses} times" if memory.accesses >= USES_THAT_KEEP else None


def expiry(memory: Memory, config: Config) -> datetime | None:
    """The last instant it is alive: as said of this memory, else by its category; None if it never expires."""
    if protection_reason(memory):
        return None
    if memory.expires_at:
        return memory.expires_at
    return expires_at(memory.category, memory.recorded_at, memory.used_at, config.category_ttl_days)


def is_expired(memory: Memory, config: Config, now: datetime) -> bool:
    """Whether its time to live is over (strictly)."""
    last = expiry(memory, config)
    return memory.phase == "active" and last is not None and now > last


def is_in_fading_band(memory: Memory, config: Config, now: datetime) -> bool:
    """Whether it lies in the band from which summaries are made: weak, and nothing exempts it."""
    if config.retention_policy == "graduated":
        return _held_since(memory, _fading_from(memory, config), now)
    return _below(memory, config, config.consolidation_retention_threshold, now)


def should_fade(memory: Memory, config: Config, now: datetime) -> str | None:
    """The reason to archive it now, "faded" or "stage"; None to leave it where it is."""
    if config.retention_policy not in _SCORED:
        return "faded" if _below(memory, config, config.forgetting_threshold, now) else None
    if not _held_since(memory, _leaves_at(memory, config), now):
        return None
    return "stage" if config.retention_policy == "graduated" else "faded"


def next_due(memory: Memory, config: Config, after: datetime | None = None) -> datetime | None:
    """When it next needs attention: it expires, begins to fade, or is to be archived; None if never.

    Each is the first instant at which the rule holds. With `after`, only what comes later counts: a memory that was
    looked at then, and left where it was, is due at the next threshold.
    """
    return min((at for at in _instants(memory, config) if after is None or at > after), default=None)


def reinforced(memory: Memory, config: Config, now: datetime, session: str | None = None) -> Memory:
    """The memory after one use: its anchor moves, and the longer it lay idle, the more stable it gets.

    A clock that was set back never moves the anchor back; a use on the day of the last one boosts next to nothing.
    """
    fresh = session is not None and session != memory.last_session
    used = replace(
        memory,
        accesses=memory.accesses + 1,
        sessions=memory.sessions + fresh,
        last_session=session if session is not None else memory.last_session,
        used_at=max(memory.used_at, now) if memory.used_at else now,
        stability=_boosted(memory, config, now, config.direct_boost),
        flags=memory.flags - {RESTORED},
    )
    return planned(used, config)


def associated(memory: Memory, config: Config, now: datetime) -> Memory:
    """The memory after a use of one it is linked to: a little more stable, not used."""
    stable = replace(memory, stability=_boosted(memory, config, now, config.associative_boost))
    pending = memory.due_at is not None and memory.due_at <= now
    return planned(stable, config, after=None if pending else now)


def planned(memory: Memory, config: Config, after: datetime | None = None) -> Memory:
    """The memory with `due_at` and `pace` by these numbers; with `after`, only what comes later makes it due."""
    at = next_due(memory, config, after)
    new = decay_class_of(memory, config)
    return memory if (at, new) == (memory.due_at, memory.pace) else altered(memory, due_at=at, pace=new)


def decay_class_of(memory: Memory, config: Config) -> int | None:
    """The class of its time constant under these numbers; None for what is not hot, and for messages and cascades.

    Facts of one pace fade alike: among those used equally often, the order by anchor is the order by strength, and by
    the ranking of core memory, at every instant. A pace also names the numbers it was planned with: it lies within
    `paces(config)`, and the paces of no other numbers do.
    """
    if not memory.is_searchable or memory.kind not in FACT_KINDS or memory.is_cascade:
        return None
    number = decay_class(memory, config)
    if config.retention_policy == "power":
        number = power(number, 1.0 / POWER_DECAY)
    varies = config.retention_policy in ("ebbinghaus", "power")
    return paces(config)[0] + _AT_ONE + (0 if not varies else _NEVER if isinf(number) else bucket_index(number))


def paces(config: Config) -> tuple[int, int]:
    """The least and greatest pace that these numbers can give."""
    low = int(fingerprint(config)[-_TAG_DIGITS:], 16) * _CLASSES
    return low, low + _CLASSES - 1


def curve_of(pace: int, config: Config) -> Curve | None:
    """The curve that all facts of a pace forget along; None if it was planned with other numbers, or they vary."""
    low, high = paces(config)
    if not low <= pace <= high or config.retention_policy in _SCORED:
        return None
    step = pace - low - _AT_ONE
    match config.retention_policy:
        case "half_life":
            return HalfLife(config.half_life_days)
        case "ebbinghaus":
            return Ebbinghaus(inf if step == _NEVER else octaves(step))
        case _:
            return Power(min(1.0, power(octaves(step), POWER_DECAY)))


def fingerprint(config: Config) -> str:
    """A name for the numbers that `due_at` depends on: "ebbinghaus-5f0c…"; another name means planning it again."""
    policy = config.retention_policy
    numbers = tuple((name, getattr(config, name)) for name in _SETTINGS[policy])
    return _fingerprint(policy, numbers, tuple(sorted(config.category_ttl_days.items())))


@lru_cache(maxsize=64)  # every planned memory carries it
def _fingerprint(policy: str, *numbers: object) -> str:
    return f"{policy}-{blake2b(repr((numbers, _BUILT_IN)).encode(), digest_size=8).hexdigest()}"


def _instants(memory: Memory, config: Config) -> Iterator[datetime]:
    if memory.phase != "active" or protection_reason(memory):
        return
    if (last := expiry(memory, config)) and last < _END:
        yield last + _NEXT
    if not exemption_reason(memory):
        yield from filter(None, (_fading_from(memory, config), _leaves_at(memory, config)))


def _held_since(memory: Memory, since: datetime | None, now: datetime) -> bool:
    return memory.phase == "active" and not exemption_reason(memory) and since is not None and now >= since


def _below(memory: Memory, config: Config, threshold: float, now: datetime) -> bool:
    """Whether it has been below a threshold since `fades_at`, which is asked only where the strength is too near to tell."""
    if memory.phase != "active" or now < memory.last_used_or_recorded or exemption_reason(memory):
        return False
    above = strength(memory, config, now) - threshold
    if abs(above) > _NEAR:
        return above < 0.0
    return _held_since(memory, fade_date(memory, config, threshold), now)


def _fading_from(memory: Memory, config: Config) -> datetime | None:
    if config.retention_policy == "graduated":
        lasting = category(memory.category).stage_days == LASTING_DAYS
        return _past(memory.last_used_or_recorded, DETAIL_DAYS) if lasting else None
    return fade_date(memory, config, config.consolidation_retention_threshold)


class ArchiveRule(NamedTuple):
    """A rule by which a policy archives a memory.

    `at` is the first instant at which it holds, `text` the rule in words. `strength_below` is the threshold of a rule that
    compares the strength; None for the other rules.
    """

    at: datetime
    text: str
    strength_below: float | None = None


def archive_rules(memory: Memory, config: Config) -> list[ArchiveRule]:
    """Each rule by which the policy would archive it, exemptions aside."""
    if config.retention_policy not in _SCORED:
        threshold = config.forgetting_threshold
        at = fade_date(memory, config, threshold)
        return [ArchiveRule(at, f"strength below {threshold}", threshold)] if at else []
    at_most_exempt = fade_date(memory, config, nextafter(config.archive_exempt_score, inf))
    days: float | None = config.archive_max_idle_days
    last = ""
    if config.retention_policy == "graduated":
        stage = category(memory.category).stage_days
        days = days if stage == LASTING_DAYS else stage
        last = f", the last stage of category {memory.category}"
    idle = _both(_past(memory.last_used_or_recorded, days), at_most_exempt) if days is not None else None
    rules = [
        (idle, f"unused for more than {days or 0:g} days{last}, at relevance {config.archive_exempt_score} or less")
    ]
    if config.retention_policy == "relevance":
        threshold = config.relevance_archive_threshold
        rules.append((fade_date(memory, config, threshold), f"relevance below {threshold}"))
    return [ArchiveRule(at, text) for at, text in rules if at is not None]


def _leaves_at(memory: Memory, config: Config) -> datetime | None:
    """The first instant at which the policy would archive it, exemptions aside."""
    return min((rule.at for rule in archive_rules(memory, config)), default=None)


def _past(anchor: datetime, days: float) -> datetime | None:
    """The first instant that lies strictly more than so many days after."""
    last = later(anchor, days)
    return last + _NEXT if last and last < _END else None


def _both(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else None


def _tau_days(memory: Memory, config: Config) -> float:
    return bucket_days(max(memory.stability, _WEAKEST) * _boost(memory) * _decay_days(memory, config))


def _boost(memory: Memory) -> float:
    return min(3.0, 1.0 + 2.0 * memory.importance)


def _decay_days(memory: Memory, config: Config) -> float:
    """S1's beta of its kind; procedures never fade."""
    if memory.kind == "procedural":
        return inf
    if memory.kind == SUMMARY:
        return config.summary_decay_days
    return config.semantic_decay_days if memory.kind == "semantic" else config.episodic_decay_days


def _scale(memory: Memory) -> float:
    """Importance * sqrt(1 + accesses), at most 1, in steps of a quarter octave of the time constant it stands for."""
    used = max(memory.importance, _WEAKEST) * sqrt(1.0 + memory.accesses)
    return min(1.0, power(bucket_days(power(used, 1.0 / POWER_DECAY)), POWER_DECAY))


def _boosted(memory: Memory, config: Config, now: datetime, boost: float) -> float:
    intervals = days_between(memory.last_used_or_recorded, now) / config.spaced_rep_interval_days
    factor = min(config.max_spaced_rep_multiplier, intervals)
    return min(1.0, round(memory.stability + boost * factor, _BOOST_DECIMALS))
