"""The registry of categories: time to live, weight, protection, and stage of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

RECORDED: Final = "recorded"
USED: Final = "used"

RAW_DAYS: Final = 7.0
DETAIL_DAYS: Final = 30.0
LASTING_DAYS: Final = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """The settings of one category.

    Attributes:
        name: its name.
        ttl_days: time to live in days (S3's table); None if it never expires.
        anchor: whether these days count from when the memory was "recorded", or from when it was last "used".
        weight: its part of the relevance score, 0 to 1 (S3's type weights).
        protected: whether no automatic stage may expire, merge, compress or archive such a memory of the user
            (`policies.protection_reason`).
        stage_days: idle days after which the policy "graduated" archives it (S3: raw outputs after 7, details after
            30, others after 90); None if never.
    """

    name: str
    ttl_days: float | None = None
    anchor: str = RECORDED
    weight: float = 0.5
    protected: bool = False
    stage_days: float | None = LASTING_DAYS


DEFAULT: Final = Category(name="other")
"""The settings of unknown categories."""

# Times to live are those that S3 lists. For temporary states they count from recording, for lasting ones from the last use.
# Preferences (two years) and decisions (one year) have no stage, because a stage would archive them earlier.
REGISTRY: Final[Mapping[str, Category]] = MappingProxyType(
    {
        category.name: category
        for category in (
            Category(name="identity", protected=True, stage_days=None),
            Category(name="active_decision", weight=1.0, protected=True, stage_days=None),
            Category(name="decision", ttl_days=365.0, anchor=USED, weight=1.0, stage_days=None),
            Category(name="preference", ttl_days=730.0, anchor=USED, weight=0.8, stage_days=None),
            Category(name="gotcha", weight=0.9),
            Category(name="finding", weight=0.7),
            Category(name="project"),
            Category(name="goal"),
            Category(name="person"),
            Category(name="observation", stage_days=DETAIL_DAYS),
            Category(name="project_status", ttl_days=30.0, stage_days=DETAIL_DAYS),
            Category(name="tool_output", ttl_days=7.0, weight=0.3, stage_days=RAW_DAYS),
            Category(name="session_state", ttl_days=1.0, stage_days=RAW_DAYS),
            DEFAULT,
        )
    }
)

TEMPORARY: Final = frozenset(
    entry.name for entry in REGISTRY.values() if entry.ttl_days is not None and entry.anchor == RECORDED
)
"""Categories of states whose time to live counts from recording, however often they are used."""
_UNPROTECTED: Final = {"identity": "person", "active_decision": "decision"}


def is_known(name: str) -> bool:
    """Whether the registry has this category."""
    return name in REGISTRY


def category(name: str) -> Category:
    """The settings of a category; `DEFAULT` for an unknown one.

    >>> category("tool_output").ttl_days
    7.0
    >>> category("weather") is DEFAULT
    True
    """
    return REGISTRY.get(name, DEFAULT)


def unprotected(name: str) -> str:
    """The category for a claim whose source is not trusted enough to protect it; unprotected categories stay unchanged.

    >>> unprotected("identity"), unprotected("goal")
    ('person', 'goal')
    """
    return _UNPROTECTED.get(name, DEFAULT.name) if category(name).protected else name


def expires_at(
    name: str, recorded_at: datetime, used_at: datetime | None, overrides: Mapping[str, float | None]
) -> datetime | None:
    """The last instant before a memory of this category expires; None if it never expires.

    A memory is expired when now is strictly later. `overrides` is `Config.category_ttl_days`; it does not affect protected
    categories, which never expire.
    """
    entry = category(name)
    days = overrides.get(name, entry.ttl_days)
    if entry.protected or days is None:
        return None
    anchor = max(recorded_at, used_at) if entry.anchor == USED and used_at is not None else recorded_at
    return later(anchor, days)


def later(at: datetime, days: float) -> datetime | None:
    """The time this many days later; None after the year 9999."""
    try:
        return at + timedelta(days=days)
    except OverflowError:
        return None
