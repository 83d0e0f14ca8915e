"""Groups facts into topic pages, one for each person and topic. Pages are computed when they are read, and never stored."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from slowwave.model.memory import STATEMENT_KINDS, Memory
from slowwave.policy.comparison.subjects import key
from slowwave.policy.retention.policies import has_ended

THE_USER: Final = "The user"
"""The subject of pages about the user, and of facts without a subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is known of one person or thing under one topic.

    Args:
        subject: the person or thing, as its newest fact names it.
        topic: the category of the facts, such as "work" or "preference".
        facts: the facts, oldest first.
    """

    subject: str
    topic: str
    facts: tuple[Memory, ...]

    def __str__(self) -> str:
        lines = (f"- {fact.at:%Y-%m-%d}: {' '.join(fact.text.split())}" for fact in self.facts)
        return "\n".join((f"{self.subject}: {self.topic}", *lines))


def pages(facts: Iterable[Memory], now: datetime) -> list[Page]:
    """The pages of these facts, by subject and then by topic; what has ended is on none.

    >>> from datetime import UTC
    >>> at = datetime(2026, 3, 1, tzinfo=UTC)
    >>> fact = Memory(
    ...     id="a", scope="s", kind="semantic", category="work", subject="Ann", text="Ann is a baker", recorded_at=at, valid_from=at
    ... )
    >>> print(*pages([fact], at))
    Ann: work
    - 2026-03-01: Ann is a baker
    """
    found: dict[tuple[str, str], list[Memory]] = {}
    names: dict[str, str] = {}
    for fact in sorted(facts, key=lambda fact: (fact.at, fact.id)):
        if fact.kind in STATEMENT_KINDS and not has_ended(fact, now):
            subject = fact.subject or THE_USER
            names[key(subject)] = subject
            found.setdefault((key(subject), fact.category), []).append(fact)
    listed = [
        Page(subject=names[subject], topic=topic.replace("_", " "), facts=tuple(group))
        for (subject, topic), group in found.items()
    ]
    return sorted(listed, key=lambda page: (page.subject, page.topic))
