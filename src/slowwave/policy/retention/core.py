"""Core memory: which facts are part of every context, and which are promoted to it or demoted from it."""

from collections.abc import Iterable
from datetime import datetime
from math import log1p
from typing import Final

from slowwave.model.config import Config
from slowwave.model.memory import FACT_KINDS, Memory, altered
from slowwave.policy.guard.trust import trusted
from slowwave.policy.retention.lasting import PERSONAL, durability, own_end
from slowwave.policy.retention.policies import strength

RETRIEVAL_WEIGHT: Final = 0.1
KNOWN: Final = 0.7
"""The confidence from which a fact of messages is known, not only heard: it may become core memory by use."""


def score(memory: Memory, config: Config, now: datetime) -> float:
    """S0's ranking of core facts: strength + 0.1 * ln(1 + retrievals)."""
    return strength(memory, config, now) + bonus(memory.accesses)


def bonus(accesses: int) -> float:
    """What this number of retrievals adds to the strength."""
    return RETRIEVAL_WEIGHT * log1p(accesses)


def rank(
    memories: Iterable[Memory], config: Config, now: datetime, *, top_k: int | None = None, min_retrievals: int = 0
) -> list[Memory]:
    """The memories with the highest `score`. Ties are broken by last use, then confidence, then id.

    Args:
        memories: in any order; read once.
        config: for the retention policy, and `core_top_k`.
        now: aware UTC.
        top_k: how many; None means `config.core_top_k`.
        min_retrievals: memories with fewer retrievals are left out.
    """
    known = (memory for memory in memories if memory.accesses >= min_retrievals)
    best = sorted(
        known,
        key=lambda memory: (
            -score(memory, config, now),
            -memory.last_used_or_recorded.timestamp(),
            -memory.confidence,
            memory.id,
        ),
    )
    return best[: config.core_top_k if top_k is None else top_k]


def promotes(memory: Memory, config: Config, *, contradicted: bool = False) -> str | None:
    """The reason to promote an active fact to core: it was used often, in several sessions, and is stable (S1); else None.

    A fact that is contradicted, not yet reconciled, or less trusted than the assistant is never promoted automatically, nor
    is a single event, what passes, or what was heard once only (`KNOWN`): contexts that show it often would put it into every
    context. A person can pin it.
    """
    fact = memory.kind in FACT_KINDS and not memory.is_cascade
    if (
        not fact
        or _is_brief(memory)
        or memory.phase != "active"
        or "unreconciled" in memory.flags
        or (memory.sources and memory.trust == "user" and memory.confidence < KNOWN)
        or not _meets_thresholds(memory, config)
    ):
        return None
    if contradicted or not trusted(memory.trust, "assistant"):
        return None
    return f"used {memory.accesses} times in {memory.sessions} sessions, stability {memory.stability:.2f}"


def _is_brief(memory: Memory) -> bool:
    """Whether a fact tells of a single event, of what passes, or of work with a date, which never expires by its words."""
    lasts = durability(memory)
    if memory.category not in PERSONAL and own_end(altered(memory, category="other")) is not None:
        return True
    return lasts == "passing" or (lasts == "ordinary" and memory.kind == "episodic")


def heard_again(known: Memory, new: Memory) -> Memory:
    """A fact that a second conversation says too: it was heard by chance less likely, and what a person is, is known.

    >>> at = datetime(2026, 1, 1)
    >>> once = Memory(id="a", scope="s", kind="semantic", text="t", category="person", confidence=0.6, recorded_at=at, valid_from=at)
    >>> twice = heard_again(once, once)
    >>> round(twice.confidence, 2), twice.category
    (0.84, 'identity')
    """
    confidence = 1 - (1 - known.confidence) * (1 - new.confidence)
    lasts = known.category == "person" and known.kind == "semantic" and confidence >= KNOWN
    return altered(known, confidence=confidence, category="identity" if lasts else known.category)


def demotes(memory: Memory, config: Config, *, contradicted: bool = False) -> str | None:
    """The reason to demote a core fact: it is contradicted, or no longer meets the thresholds of core; else None."""
    if memory.phase != "core" or memory.pinned:
        return None
    if contradicted:
        return "something contradicts it"
    return None if _meets_thresholds(memory, config) else "it falls short of what core asks for"


def _meets_thresholds(memory: Memory, config: Config) -> bool:
    return (
        memory.accesses >= config.core_access_threshold
        and memory.stability >= config.core_stability_threshold
        and memory.sessions >= config.core_session_threshold
    )
