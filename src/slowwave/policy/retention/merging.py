"""What a fact keeps when another one is merged into it: the later date of a state, and the kind and category that last longest."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from slowwave.model.memory import Memory
from slowwave.policy.retention.categories import category
from slowwave.policy.retention.lasting import SELDOM_CHANGES

_KINDS: Final = ("episodic", "semantic", "procedural")
"""The kinds of facts, the one that fades first before the others."""
_SHORT: Final = 90.0
"""Days to live below which a category is that of a temporary state."""


def merged_fact(known: Memory, new: Memory, text: str) -> Memory:
    """The known fact with the text of both facts, and with what keeps it longest: date, kind, category, importance and end.

    A merged fact does not expire as the plan or the state of work that one of the two was. It is an instruction only if the
    known one is, or if the text is the instruction. Sources, metadata and flags stay those of the known fact.

    >>> from datetime import UTC, datetime
    >>> march, may = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
    >>> known = Memory(
    ...     id="a", scope="s", kind="episodic", category="project_status", text="Ann paints", recorded_at=march, valid_from=march
    ... )
    >>> new = replace(known, id="b", kind="semantic", category="person", text="Ann paints doors", valid_from=may)
    >>> one = merged_fact(known, new, new.text)
    >>> one.id, one.category, one.kind, one.valid_from.month, one.text
    ('a', 'person', 'semantic', 5, 'Ann paints doors')
    """
    worded, other = (known, new) if text == known.text else (new, known)
    kind = max(worded.kind, other.kind, key=_KINDS.index)
    if kind == "procedural" and kind not in {worded.kind, known.kind}:
        kind = worded.kind
    return replace(
        known,
        text=text,
        kind=kind,
        category=max(worded.category, other.category, key=_lasts),  # of equal ones the first
        valid_from=newer_date(known, new, kind),
        importance=max(known.importance, new.importance),
        pinned=known.pinned or new.pinned,
        expires_at=merged_end(known, new),
    )


def newer_date(known: Memory, new: Memory, kind: str) -> datetime:
    """When a fact that was said again was said last, so that an older message does not replace it. An event keeps its day."""
    return known.valid_from if kind == "episodic" else max(known.valid_from, new.valid_from)


def merged_end(known: Memory, new: Memory) -> datetime | None:
    """When a merged fact expires: at the end that a person stated last, else at the later one; never if one has no end.

    A stated fact has no source message. What is said again after its end has the end of the later statement, if any.
    """
    earlier, later = sorted((known, new), key=lambda fact: fact.valid_from)
    if earlier.expires_at is not None and earlier.expires_at <= later.valid_from:
        return later.expires_at
    for fact in (new, known):
        if fact.expires_at is not None and not fact.sources:
            return fact.expires_at
    if known.expires_at is None or new.expires_at is None:
        return None
    return max(known.expires_at, new.expires_at)


def _lasts(name: str) -> tuple[bool, bool, bool]:
    """How long facts of a category last: whether they are protected, more than temporary, and seldom change."""
    entry = category(name)
    return entry.protected, entry.ttl_days is None or entry.ttl_days >= _SHORT, name in SELDOM_CHANGES
