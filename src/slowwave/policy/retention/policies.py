"""Retention: the present strength of a memory, when it next needs attention, and whether it may be archived.

A retention policy is an object of `POLICIES`: it chooses the curve, the decay class of a memory, and the rules by which a
memory is archived. Pins, protected categories and frequent use exempt a memory under every policy.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from math import inf, isinf, nextafter, pow as power, sqrt
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple

from slowwave.model.config import Config
from slowwave.model.memory import FACT_KINDS, MESSAGE, NOTE, SUMMARY, Memory, altered
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
from slowwave.policy.retention.lasting import durability, own_end

RESTORED: Final = "restored"
"""The flag of a memory that an undo restored: it is not changed until a person, a use or a new fact touches it."""
USES_THAT_KEEP: Final = 10
LASTS: Final = 10.0
"""How many times slower what lasts fades than other states (`lasting.durability`)."""
PROTECTED_TRUST: Final = "user"
"""A category protects only memories of this trust: else a tool could keep any text by giving it the category "identity"."""

_WEAKEST: Final = 0.01  # of stability and of the power curve's scale, so that no time constant is zero
_BOOST_DECIMALS: Final = 6  # so that ten boosts of 0.1 add up to 1
_NEXT: Final = timedelta(microseconds=1)
_END: Final = datetime.max.replace(tzinfo=UTC)
_NEAR: Final = 1e-9  # strengths closer than this are the same

_BUILT_IN: Final = repr((sorted(REGISTRY.items()), POWER_DECAY, PROTECTED_TRUST, LASTS))
# A stored decay class ("pace") is a number: the last digits of the fingerprint of the settings, then a step. The step counts
# quarter octaves of the time constant, from one day.
_FINGERPRINT_DIGITS: Final = 8
_STEPS: Final = 1 << 16
_ONE_DAY: Final = 1 << 15  # the step of a time constant of one day
_NEVER: Final = _ONE_DAY - 1  # the step of memories that never fade


class ArchiveRule(NamedTuple):
    """A rule by which a policy archives a memory.

    `at` is the first instant at which it holds, `text` the rule in words. `strength_below` is the threshold of a rule that
    compares the strength; None for the other rules.
    """

    at: datetime
    text: str
    strength_below: float | None = None


class RetentionPolicy(ABC):
    """How memories fade, and by which rules they are archived."""

    settings: ClassVar[tuple[str, ...]]
    """The settings on which the due dates of this policy depend, besides the time to live of every category."""
    archive_reason: ClassVar[str] = "faded"

    @abstractmethod
    def curve(self, memory: Memory, config: Config) -> Curve:
        """The forgetting curve of a memory, counted from its last use."""

    @abstractmethod
    def curve_numbers(self, memory: Memory, config: Config) -> dict[str, float]:
        """The numbers that determine the curve, for an explanation."""

    @abstractmethod
    def time_constant(self, memory: Memory, config: Config) -> float:
        """The number that all memories of one decay class share: within it, order by `fade_date` is order by strength.

        "half_life" and "ebbinghaus" give days (infinite if the memory never fades), "power" gives the scale. "relevance" and
        "graduated" give 0.0: the order of their scores changes with time, so that each score must be computed.
        """

    def step(self, time_constant: float) -> int:
        """The step of a time constant in a stored decay class; 0 if all memories are in one class."""
        return 0

    @abstractmethod
    def curve_of_step(self, step: int, config: Config) -> Curve | None:
        """The curve of all memories of a step; None if they differ."""

    def fading_from(self, memory: Memory, config: Config) -> datetime | None:
        """The first instant in the band of weak memories from which summaries are made."""
        return fade_date(memory, config, config.consolidation_retention_threshold)

    def is_in_fading_band(self, memory: Memory, config: Config, now: datetime) -> bool:
        """Whether the memory is in the band of weak memories, and not exempt."""
        return _is_below(memory, config, config.consolidation_retention_threshold, now)

    def archive_rules(self, memory: Memory, config: Config) -> list[ArchiveRule]:
        """Each rule that archives the memory, with the first instant at which it holds."""
        threshold = config.forgetting_threshold
        at = fade_date(memory, config, threshold)
        return [ArchiveRule(at, f"strength below {threshold}", threshold)] if at else []

    def archives(self, memory: Memory, config: Config, now: datetime) -> bool:
        """Whether a rule archives the memory now."""
        return _is_below(memory, config, config.forgetting_threshold, now)


class _HalfLifePolicy(RetentionPolicy):
    """S0's policy: strength halves after each half-life."""

    settings = ("half_life_days", "consolidation_retention_threshold", "forgetting_threshold")

    def curve(self, memory: Memory, config: Config) -> HalfLife:
        return HalfLife(config.half_life_days)

    def curve_numbers(self, memory: Memory, config: Config) -> dict[str, float]:
        return {"half_life_days": config.half_life_days}

    def time_constant(self, memory: Memory, config: Config) -> float:
        return config.half_life_days

    def curve_of_step(self, step: int, config: Config) -> Curve:
        return HalfLife(config.half_life_days)


class _EbbinghausPolicy(RetentionPolicy):
    """S1's policy: exp(-days / tau), with tau = stability * boost by importance * days of the memory's kind."""

    settings = (
        "episodic_decay_days",
        "semantic_decay_days",
        "summary_decay_days",
        "consolidation_retention_threshold",
        "forgetting_threshold",
    )

    def curve(self, memory: Memory, config: Config) -> Ebbinghaus:
        tau_days = max(memory.stability, _WEAKEST) * self._boost(memory) * self._decay_days(memory, config)
        return Ebbinghaus(bucket_days(tau_days))

    def curve_numbers(self, memory: Memory, config: Config) -> dict[str, float]:
        return {
            "tau_days": self.curve(memory, config).tau_days,
            "stability": memory.stability,
            "boost": self._boost(memory),
            "decay_days": self._decay_days(memory, config),
        }

    def time_constant(self, memory: Memory, config: Config) -> float:
        return self.curve(memory, config).tau_days

    def step(self, time_constant: float) -> int:
        return _NEVER if isinf(time_constant) else bucket_index(time_constant)

    def curve_of_step(self, step: int, config: Config) -> Curve:
        return Ebbinghaus(inf if step == _NEVER else octaves(step))

    @staticmethod
    def _boost(memory: Memory) -> float:
        return min(3.0, 1.0 + 2.0 * memory.importance)

    @staticmethod
    def _decay_days(memory: Memory, config: Config) -> float:
        """S1's beta of the memory's kind, ten times that of a state for what lasts; procedures never fade."""
        if memory.kind == "procedural":
            return inf
        if memory.kind == SUMMARY:
            return config.summary_decay_days
        days = config.semantic_decay_days if memory.kind == "semantic" else config.episodic_decay_days
        match durability(memory):
            case "lasting":
                return LASTS * max(days, config.semantic_decay_days)
            case "passing":
                return min(days, config.episodic_decay_days)
            case "ordinary":
                return days


class _PowerPolicy(RetentionPolicy):
    """A power law, scaled by importance * sqrt(1 + accesses), at most 1."""

    settings = ("consolidation_retention_threshold", "forgetting_threshold")

    def curve(self, memory: Memory, config: Config) -> Power:
        scale = max(memory.importance, _WEAKEST) * sqrt(1.0 + memory.accesses)
        # In steps of a quarter octave of the time constant that the scale corresponds to.
        return Power(min(1.0, power(bucket_days(power(scale, 1.0 / POWER_DECAY)), POWER_DECAY)))

    def curve_numbers(self, memory: Memory, config: Config) -> dict[str, float]:
        return {
            "scale": self.curve(memory, config).scale,
            "importance": memory.importance,
            "accesses": float(memory.accesses),
        }

    def time_constant(self, memory: Memory, config: Config) -> float:
        return self.curve(memory, config).scale

    def step(self, time_constant: float) -> int:
        return bucket_index(power(time_constant, 1.0 / POWER_DECAY))

    def curve_of_step(self, step: int, config: Config) -> Curve:
        return Power(min(1.0, power(octaves(step), POWER_DECAY)))


class _RelevancePolicy(RetentionPolicy):
    """S3's relevance score. A memory is archived when it is idle for long, or when its score is low."""

    settings: ClassVar[tuple[str, ...]] = (
        "consolidation_retention_threshold",
        "relevance_archive_threshold",
        "archive_max_idle_days",
        "archive_exempt_score",
    )

    def curve(self, memory: Memory, config: Config) -> Hyperbolic:
        head_days = days_between(memory.recorded_at, memory.last_used_or_recorded)
        return Hyperbolic(category(memory.category).weight, memory.accesses, head_days)

    def curve_numbers(self, memory: Memory, config: Config) -> dict[str, float]:
        return {}

    def time_constant(self, memory: Memory, config: Config) -> float:
        return 0.0

    def curve_of_step(self, step: int, config: Config) -> None:
        return None

    def archive_rules(self, memory: Memory, config: Config) -> list[ArchiveRule]:
        rules = self._idle_rule(memory, config, config.archive_max_idle_days, "")
        threshold = config.relevance_archive_threshold
        at = fade_date(memory, config, threshold)
        return [*rules, ArchiveRule(at, f"relevance below {threshold}")] if at else rules

    def archives(self, memory: Memory, config: Config, now: datetime) -> bool:
        return _holds_since(memory, _archived_from(memory, config), now)

    @staticmethod
    def _idle_rule(memory: Memory, config: Config, days: float | None, stage: str) -> list[ArchiveRule]:
        """Archive a memory that is idle for so many days and whose score is not high enough to exempt it."""
        if days is None:
            return []
        idle = _after(memory.last_used_or_recorded, days)
        not_exempt = fade_date(memory, config, nextafter(config.archive_exempt_score, inf))
        if not idle or not not_exempt:
            return []
        rule = f"unused for more than {days:g} days{stage}, at relevance {config.archive_exempt_score} or less"
        return [ArchiveRule(max(idle, not_exempt), rule)]


class _GraduatedPolicy(_RelevancePolicy):
    """S3's stages: a memory is archived when it is idle for longer than the last stage of its category."""

    settings = ("archive_max_idle_days", "archive_exempt_score")
    archive_reason = "stage"

    def fading_from(self, memory: Memory, config: Config) -> datetime | None:
        is_lasting = category(memory.category).stage_days == LASTING_DAYS
        return _after(memory.last_used_or_recorded, DETAIL_DAYS) if is_lasting else None

    def is_in_fading_band(self, memory: Memory, config: Config, now: datetime) -> bool:
        return _holds_since(memory, self.fading_from(memory, config), now)

    def archive_rules(self, memory: Memory, config: Config) -> list[ArchiveRule]:
        stage_days = category(memory.category).stage_days
        days = config.archive_max_idle_days if stage_days == LASTING_DAYS else stage_days
        return self._idle_rule(memory, config, days, f", the last stage of category {memory.category}")


POLICIES: Final[Mapping[str, RetentionPolicy]] = MappingProxyType(
    {
        "half_life": _HalfLifePolicy(),
        "ebbinghaus": _EbbinghausPolicy(),
        "power": _PowerPolicy(),
        "relevance": _RelevancePolicy(),
        "graduated": _GraduatedPolicy(),
    }
)
"""The policies by the values of `Config.retention_policy`."""


def policy_of(config: Config) -> RetentionPolicy:
    """The retention policy that is configured."""
    return POLICIES[config.retention_policy]


def initial_stability(importance: float) -> float:
    """The stability of a new memory: 0.1 + 0.3 * importance."""
    return 0.1 + 0.3 * importance


def curve(memory: Memory, config: Config) -> Curve:
    """The forgetting curve of a memory, counted from its last use."""
    return policy_of(config).curve(memory, config)


def strength(memory: Memory, config: Config, now: datetime) -> float:
    """The present strength in (0, 1]. It is computed from the last use and never stored. A note does not fade."""
    if memory.kind == NOTE:
        return 1.0
    return strength_at(curve(memory, config), memory.last_used_or_recorded, now)


def explain_strength(memory: Memory, config: Config, now: datetime) -> dict[str, float]:
    """The numbers behind `strength`, by name, for an explanation."""
    law = curve(memory, config)
    days = days_between(memory.last_used_or_recorded, now)
    numbers = law.parts(days) if isinstance(law, Hyperbolic) else policy_of(config).curve_numbers(memory, config)
    return {"strength": law.strength(days), "idle_days": days, **numbers}


def fade_date(memory: Memory, config: Config, threshold: float) -> datetime | None:
    """The first instant at which the strength is below the threshold, exemptions ignored; None if it never is."""
    return first_below(curve(memory, config), memory.last_used_or_recorded, threshold)


_OF_A_CONVERSATION: Final = "it belongs to a conversation, and only a size target archives that"
_OF_A_NOTE: Final = "it is a note, which only its own end archives"


def _kept_apart(memory: Memory) -> str | None:
    """Why a memory of this kind is not subject to forgetting; None for facts and summaries of facts."""
    if memory.kind in {NOTE, MESSAGE} or memory.is_cascade:
        return _OF_A_NOTE if memory.kind == NOTE else _OF_A_CONVERSATION
    return None


def protection_reason(memory: Memory) -> str | None:
    """The reason why no automatic stage may expire, merge, compress or archive the memory; None if one may."""
    if (kept_apart := _kept_apart(memory)) is not None:
        return kept_apart
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
    """The reason why the memory never fades: it is protected, or was used ten times or more (then it may still expire)."""
    if why := protection_reason(memory):
        return why
    return f"it was used {memory.accesses} times" if memory.accesses >= USES_THAT_KEEP else None


def expiry(memory: Memory, config: Config) -> datetime | None:
    """The last instant before the memory expires: its own date, else by its words or its category; None if never.

    A date that was stated also ends a fact of a protected category, and so do its own words ("is pregnant", "until 3 May
    2026"); a date that a mind proposed does not.
    """
    if memory.kind == NOTE or (memory.expires_at and not protection_reason(_without_category(memory))):
        return memory.expires_at
    end = None if memory.expires_at else own_end(memory)
    if end and not protection_reason(altered(memory, category="other")):
        return end
    if protection_reason(memory):
        return None
    return expires_at(memory.category, memory.recorded_at, memory.used_at, config.category_ttl_days)


def is_expired(memory: Memory, config: Config, now: datetime) -> bool:
    """Whether the time to live of an active memory is over (strictly)."""
    last = expiry(memory, config)
    return memory.phase == "active" and last is not None and now > last


def has_ended(memory: Memory, now: datetime) -> bool:
    """Whether a fact is past its end, also before a sleep pass archives it, and also if it is core.

    Its end is its own date, or what its words say.
    """
    end = memory.expires_at or own_end(memory)
    if end is None or now <= end:
        return False
    free = _without_category(memory) if memory.expires_at else altered(memory, category="other")
    return not protection_reason(altered(free, phase="active"))


def _without_category(memory: Memory) -> Memory:
    """The memory, without the protection of its category if its date was stated. A stated fact has no source message."""
    return memory if memory.sources else altered(memory, category="other")


def is_in_fading_band(memory: Memory, config: Config, now: datetime) -> bool:
    """Whether the memory is in the band from which summaries are made: weak, and not exempt."""
    return policy_of(config).is_in_fading_band(memory, config, now)


def should_fade(memory: Memory, config: Config, now: datetime) -> str | None:
    """The reason to archive the memory now, "faded" or "stage"; None to keep it hot."""
    policy = policy_of(config)
    return policy.archive_reason if policy.archives(memory, config, now) else None


def next_due(memory: Memory, config: Config, after: datetime | None = None) -> datetime | None:
    """When the memory next expires, begins to fade, or is to be archived; None if never.

    With `after`, only later instants count: a memory that was examined then and not changed is due at its next threshold.
    """
    return min((at for at in _instants(memory, config) if after is None or at > after), default=None)


def reinforced(memory: Memory, config: Config, now: datetime, session: str | None = None) -> Memory:
    """The memory after one use: used now, and more stable, by the number of days since the last use.

    If the clock was set back, the time of the last use stays. A second use on the same day adds almost no stability.
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
    return with_due_date(used, config)


def associated(memory: Memory, config: Config, now: datetime) -> Memory:
    """The memory after a use of an associated one: a little more stable, but not used itself."""
    stable = replace(memory, stability=_boosted(memory, config, now, config.associative_boost))
    pending = memory.due_at is not None and memory.due_at <= now
    return with_due_date(stable, config, after=None if pending else now)


def with_due_date(memory: Memory, config: Config, after: datetime | None = None) -> Memory:
    """The memory with `due_at` and `pace` computed by these settings; for `after` see `next_due`."""
    at = next_due(memory, config, after)
    new = decay_class_of(memory, config)
    return memory if (at, new) == (memory.due_at, memory.pace) else altered(memory, due_at=at, pace=new)


def decay_class_of(memory: Memory, config: Config) -> int | None:
    """The stored decay class of a searchable fact under these settings; None for other memories.

    Among facts of one class that were used equally often, the order by last use is the order by strength, and by the
    ranking of core memory, at every instant. The class also identifies the settings: it lies within `paces(config)`, which
    no other settings share.
    """
    if not memory.is_searchable or memory.kind not in FACT_KINDS or memory.is_cascade:
        return None
    policy = policy_of(config)
    return decay_class_range(config)[0] + _ONE_DAY + policy.step(policy.time_constant(memory, config))


def decay_class_range(config: Config) -> tuple[int, int]:
    """The least and the greatest decay class of these settings."""
    low = int(fingerprint(config)[-_FINGERPRINT_DIGITS:], 16) * _STEPS
    return low, low + _STEPS - 1


def curve_of(pace: int, config: Config) -> Curve | None:
    """The curve of all facts of a decay class; None if it belongs to other settings, or their curves differ."""
    low, high = decay_class_range(config)
    return policy_of(config).curve_of_step(pace - low - _ONE_DAY, config) if low <= pace <= high else None


def fingerprint(config: Config) -> str:
    """A name of the settings on which `due_at` depends ("ebbinghaus-5f0c…"). If it changes, due dates are computed again."""
    policy = config.retention_policy
    numbers = tuple((name, getattr(config, name)) for name in policy_of(config).settings)
    return _fingerprint(policy, numbers, tuple(sorted(config.category_ttl_days.items())))


@lru_cache(maxsize=64)  # computed for every memory that is written
def _fingerprint(policy: str, *numbers: object) -> str:
    return f"{policy}-{blake2b(repr((numbers, _BUILT_IN)).encode(), digest_size=8).hexdigest()}"


def _instants(memory: Memory, config: Config) -> Iterator[datetime]:
    if memory.phase != "active":
        return
    if (last := expiry(memory, config)) and last < _END:
        yield last.astimezone(UTC) + _NEXT  # in an offset to the east it may be the last instant of the calendar
    if not exemption_reason(memory):
        yield from filter(None, (policy_of(config).fading_from(memory, config), _archived_from(memory, config)))


def _holds_since(memory: Memory, since: datetime | None, now: datetime) -> bool:
    return memory.phase == "active" and not exemption_reason(memory) and since is not None and now >= since


def _is_below(memory: Memory, config: Config, threshold: float, now: datetime) -> bool:
    """Whether the strength is below a threshold and nothing exempts the memory.

    `fade_date` decides only where the strength is too near to the threshold for floating point.
    """
    if memory.phase != "active" or now < memory.last_used_or_recorded or exemption_reason(memory):
        return False
    above = strength(memory, config, now) - threshold
    if abs(above) > _NEAR:
        return above < 0.0
    return _holds_since(memory, fade_date(memory, config, threshold), now)


def archive_rules(memory: Memory, config: Config) -> list[ArchiveRule]:
    """Each rule by which the policy archives the memory, with the first instant at which it holds, exemptions ignored."""
    return policy_of(config).archive_rules(memory, config)


def _archived_from(memory: Memory, config: Config) -> datetime | None:
    """The first instant at which the policy archives the memory, exemptions ignored."""
    return min((rule.at for rule in archive_rules(memory, config)), default=None)


def _after(anchor: datetime, days: float) -> datetime | None:
    """The first instant that is more than this many days after the anchor; None after the year 9999."""
    last = later(anchor, days)
    return last + _NEXT if last and last < _END else None


def _boosted(memory: Memory, config: Config, now: datetime, boost: float) -> float:
    intervals = days_between(memory.last_used_or_recorded, now) / config.spaced_rep_interval_days
    factor = min(config.max_spaced_rep_multiplier, intervals)
    return min(1.0, round(memory.stability + boost * factor, _BOOST_DECIMALS))
