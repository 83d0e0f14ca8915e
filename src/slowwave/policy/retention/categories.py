"""The registry of categories: how long each lives, how much it weighs, whether it is protected, when it leaves."""

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
    """What the policies know of one category.

    Attributes:
        name: how it is called.
        ttl_days: days to live (S3's table); None means it never expires.
        anchor: whether those days count from when it was "recorded", or from when it was last "used".
        weight: its share of the relevance score, 0 to 1 (S3's type weights).
        protected: whether nothing automatic may expire, merge, compress or archive it, if the user said it
            (`policy.retention.protected`).
        stage_days: idle days after which the policy "graduated" archives it (S3: raw outputs after 7, details after
            30, the rest after 90); None means never.
    """

    name: str
    ttl_days: float | None = None
    anchor: str = RECORDED
    weight: float = 0.5
    protected: bool = False
    stage_days: float | None = LASTING_DAYS


DEFAULT: Final = Category(name="other")
"""What an unknown category is treated as."""

# S3's TTLs stand only where S3 lists them. What is true for a time is counted from when it was recorded; what holds
# until further notice, from its last use. A preference lives two years and a decision one, so no stage ends them
# earlier: where two rules disagree, the more protective wins.
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

_UNPROTECTED: Final = {"identity": "person", "active_decision": "decision"}


def is_known(name: str) -> bool:
    """Whether the registry has it; an unknown one deserves a warning, once."""
    return name in REGISTRY


def category(name: str) -> Category:
    """The entry of a category; the default for an unknown one.

    >>> category("tool_output").ttl_days
    7.0
    >>> category("weather") is DEFAULT
    True
    """
    return REGISTRY.get(name, DEFAULT)


def unprotected(name: str) -> str:
    """The category in which a claim is stored whose source may not protect it: never one that nothing may touch.

    >>> unprotected("identity"), unprotected("goal")
    ('person', 'goal')
    """
    return _UNPROTECTED.get(name, DEFAULT.name) if category(name).protected else name


def expires_at(
    name: str, recorded_at: datetime, used_at: datetime | None, overrides: Mapping[str, float | None]
) -> datetime | None:
    """The last instant at which a memory of this category is alive, or None if it never expires.

    A memory is expired when now lies strictly after. `overrides` is `Config.category_ttl_days`; a protected category
    never expires, whatever they say.
    """
    entry = category(name)
    days = overrides.get(name, entry.ttl_days)
    if entry.protected or days is None:
        return None
    anchor = max(recorded_at, used_at) if entry.anchor == USED and used_at is not None else recorded_at
    return later(anchor, days)


def later(at: datetime, days: float) -> datetime | None:
    """So many days after, or None where the calendar ends."""
    try:
        return at + timedelta(days=days)
    except OverflowError:
        return None
