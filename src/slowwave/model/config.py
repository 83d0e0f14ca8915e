"""The settings of a memory: one flat frozen Config, which reports every invalid value at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from slowwave.errors import InputError, shown
from slowwave.model.suggestions import suggests_arguments, suggests_names
from slowwave.model.zone import zone_of

RETENTION_POLICIES = ("ebbinghaus", "half_life", "power", "relevance", "graduated")
RANKING_PROFILES = ("evidence", "generative_agents", "retention")
CONTEXT_PARTS = ("instructions", "core", "facts", "said", "older", "recent", "related", "latest")
"""The parts of a context, in the order in which they are shown."""
CONTEXT_SHARES = ("instructions", "core", "facts", "summaries", "latest")
"""What has a share of a context; messages take the rest."""
_MAPPINGS = ("category_ttl_days", "category_tokens_max", "context_shares", "context_headings")
INDEX_CACHE_MB = 256
"""The default limit of the search indexes in RAM: 100,000 to 170,000 memories, or 2,000 scopes of 50 messages."""


@suggests_names
@suggests_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings of a memory. `docs/tuning.md` explains each name and default.

    Raises:
        InputError: naming every setting that is out of range, not only the first.
    """

    # the time zone of times without one; None: UTC
    zone: str | None = None
    # distilling
    max_facts_per_pass: int = 8
    min_messages: int = 6
    confidence_threshold: float = 0.5
    consolidate_every_turns: int | None = None
    extraction_cooldown_seconds: float | None = None
    sleep_every_ingests: int | None = None
    work_seconds: float | None = 3600.0
    # forgetting
    retention_policy: str = "ebbinghaus"
    half_life_days: float = 14.0
    episodic_decay_days: float = 45.0
    semantic_decay_days: float = 240.0
    summary_decay_days: float = 240.0
    forgetting_threshold: float = 0.1
    relevance_archive_threshold: float = 0.2
    archive_max_idle_days: float = 90.0
    archive_exempt_score: float = 0.5
    hot_messages_max: int | None = None
    hot_words_max: int | None = None
    hot_facts_max: int | None = None
    # compressing and merging
    consolidation_retention_threshold: float = 0.20
    consolidation_group_size: int = 5
    consolidation_max_group_size: int = 12
    consolidation_similarity_threshold: float = 0.70
    dedup_similarity_threshold: float = 0.92
    # reinforcement and core
    direct_boost: float = 0.1
    associative_boost: float = 0.03
    max_spaced_rep_multiplier: float = 2.0
    spaced_rep_interval_days: float = 7.0
    core_top_k: int = 5
    core_access_threshold: int = 10
    core_stability_threshold: float = 0.85
    core_session_threshold: int = 3
    # recall and context
    ranking_profile: str = "evidence"
    deep_recall_penalty: float = 0.5
    injection_top_k: int = 12
    search_in_ram: int | None = 200_000
    index_cache_mb: int = INDEX_CACHE_MB
    # connections to Postgres
    connections: int = 16
    connect_seconds: float = 30.0
    lock_seconds: float = 30.0
    statement_seconds: float | None = None
    idle_transaction_seconds: float | None = 60.0
    application_name: str = "slowwave"
    prepared_statements: bool | None = None
    context_shares: Mapping[str, float] = field(default_factory=dict)
    context_headings: Mapping[str, str] = field(default_factory=dict)
    # the cascade
    immediate_window: int = 64
    recent_window: int = 64
    summary_profile: str = "summarizer"
    cascade_in_background: bool = False
    # secrets
    redact_to_model: bool = True
    # per category: days to live, overriding the registry; None means never
    category_ttl_days: Mapping[str, float | None] = field(default_factory=dict)
    category_tokens_max: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        violations = [
            f"{name}={shown(value)}: {advice}"
            for name, (holds, advice) in _RULES.items()
            if not holds(value := getattr(self, name))
        ]
        mappings = [name for name in _MAPPINGS if not isinstance(getattr(self, name), Mapping)]
        violations += [f"{name}={shown(getattr(self, name))}: use a mapping" for name in mappings]
        if mappings:
            raise InputError("invalid settings: " + "; ".join(violations))
        violations += [
            f"category_ttl_days[{shown(c)}]={shown(d)}: {_DAYS[1]}"
            for c, d in self.category_ttl_days.items()
            if not isinstance(c, str) or (d is not None and not _DAYS[0](d))
        ]
        violations += [
            f"category_tokens_max[{shown(c)}]={shown(n)}: {_COUNT[1]}"
            for c, n in self.category_tokens_max.items()
            if not isinstance(c, str) or not _COUNT[0](n)
        ]
        violations += [
            f"{name}[{shown(part)}]={shown(value)}: {parts[1] if not parts[0](part) else rule[1]}"
            for name, parts, rule in (
                ("context_shares", _one_of(CONTEXT_SHARES), _SHARE),
                ("context_headings", _one_of(CONTEXT_PARTS), _LINE),
            )
            for part, value in getattr(self, name).items()
            if not parts[0](part) or not rule[0](value)
        ]
        if not violations and self.consolidation_max_group_size < self.consolidation_group_size:
            violations.append("consolidation_max_group_size is smaller than consolidation_group_size, the minimum")
        if not violations and self.forgetting_threshold >= self.consolidation_retention_threshold:
            violations.append(
                "forgetting_threshold must be lower than consolidation_retention_threshold: what fades is compressed first"
            )
        try:
            zone_of(self.zone)
        except InputError as error:
            violations.append(str(error))
        if violations:
            raise InputError("invalid settings: " + "; ".join(violations))
        for name in (one.name for one in fields(self)):
            value = getattr(self, name)
            if isinstance(value, int) and not isinstance(value, bool):
                object.__setattr__(self, name, int(value))  # a member of an enumeration formats itself by its name
        for name in _MAPPINGS:
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Callable[[dict[str, object]], "Config"], tuple[dict[str, object]]]:
        """Pickle and copy the values, because read-only mappings can be neither pickled nor copied."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self).from_mapping, (values | {name: dict(values[name]) for name in _MAPPINGS},)

    @classmethod
    def from_mapping(cls, settings: Mapping[str, object]) -> "Config":
        """A Config from a TOML table or the like; unknown names are an error that lists the known ones."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(settings) - known):
            raise InputError(f"unknown settings {', '.join(unknown)}; known are {', '.join(sorted(known))}")
        return cls(**settings)  # type: ignore[arg-type]  # each value is checked by its rule


Rule = tuple[Callable[[object], bool], str]


def _number(low: float, high: float, advice: str, *, whole: bool = False, optional: bool = False) -> Rule:
    def holds(value: object) -> bool:
        if value is None:
            return optional
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            return False
        return low <= value <= high

    return holds, advice


def _one_of(names: tuple[str, ...]) -> Rule:
    return (lambda value: isinstance(value, str) and value in names), "use one of " + ", ".join(names)


_DAYS = _number(1e-6, 1e6, "use a number of days above 0")
_SHARE = _number(0.0, 1.0, "use a number from 0 to 1")
_SIMILAR = _number(-1.0, 1.0, "use a cosine from -1 to 1")
_SECONDS = _number(0.001, 1e6, "use a number of seconds above 0")
_COUNT = _number(1, 10**9, "use a whole number from 1", whole=True)
_LIMIT = _number(0, 10**9, "use a whole number from 0, or None for no limit", whole=True, optional=True)
_LINE: Rule = (
    lambda value: isinstance(value, str) and bool(value.strip()) and "\n" not in value,
    "use one line of text",
)
_BOOL: Rule = (lambda value: isinstance(value, bool), "use true or false")
_EVERY = _number(1, 10**9, "use a whole number from 1, or None for never", whole=True, optional=True)

_RULES: dict[str, Rule] = {
    "max_facts_per_pass": _COUNT,
    "min_messages": _COUNT,
    "confidence_threshold": _SHARE,
    "consolidate_every_turns": _EVERY,
    "extraction_cooldown_seconds": _number(0, 1e9, "use seconds from 0, or None for none", optional=True),
    "sleep_every_ingests": _EVERY,
    "retention_policy": _one_of(RETENTION_POLICIES),
    "half_life_days": _DAYS,
    "episodic_decay_days": _DAYS,
    "semantic_decay_days": _DAYS,
    "summary_decay_days": _DAYS,
    "forgetting_threshold": _number(1e-6, 0.999, "use a number above 0 and below 1"),
    "relevance_archive_threshold": _number(1e-6, 0.999, "use a number above 0 and below 1"),
    "archive_max_idle_days": _DAYS,
    "archive_exempt_score": _SHARE,
    "hot_messages_max": _LIMIT,
    "hot_words_max": _LIMIT,
    "hot_facts_max": _LIMIT,
    "consolidation_retention_threshold": _number(1e-6, 0.999, "use a number above 0 and below 1"),
    "consolidation_group_size": _number(2, 1000, "use a whole number from 2", whole=True),
    "consolidation_max_group_size": _number(2, 100, "use a whole number from 2 to 100", whole=True),
    "consolidation_similarity_threshold": _SIMILAR,
    "dedup_similarity_threshold": _SIMILAR,
    "direct_boost": _SHARE,
    "associative_boost": _SHARE,
    "max_spaced_rep_multiplier": _number(0, 100, "use a number from 0 to 100"),
    "spaced_rep_interval_days": _DAYS,
    "core_top_k": _LIMIT,
    "core_access_threshold": _COUNT,
    "core_stability_threshold": _SHARE,
    "core_session_threshold": _COUNT,
    "ranking_profile": _one_of(RANKING_PROFILES),
    "deep_recall_penalty": _SHARE,
    "injection_top_k": _COUNT,
    "search_in_ram": _LIMIT,
    "index_cache_mb": _number(1, 10**6, "use a whole number of megabytes from 1", whole=True),
    "connections": _number(1, 10_000, "use a whole number from 1 to 10,000", whole=True),
    "work_seconds": _number(0.001, 1e9, "use seconds above 0, or None for no limit", optional=True),
    "connect_seconds": _SECONDS,
    "lock_seconds": _SECONDS,
    "statement_seconds": _number(0.001, 1e6, "use seconds above 0, or None for no limit", optional=True),
    "idle_transaction_seconds": _number(0.001, 1e6, "use seconds above 0, or None for no limit", optional=True),
    "application_name": _LINE,
    "prepared_statements": (
        lambda value: value is None or isinstance(value, bool),
        "use true or false, or None for yes unless the server is behind a pooler",
    ),
    "immediate_window": _COUNT,
    "recent_window": _COUNT,
    "summary_profile": (lambda value: isinstance(value, str) and bool(value.strip()), "use a name"),
    "cascade_in_background": _BOOL,
    "redact_to_model": _BOOL,
}
