"""Size targets: what a number of facts, tokens of a category or messages leaves no room for, weakest first."""

import math
from collections.abc import Iterable, Sequence

from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.operation import Change
from slowwave.model.query import Where
from slowwave.pipelines.moves import moved
from slowwave.pipelines.sleep.stage import Night
from slowwave.policy.importance import Frequencies, score
from slowwave.policy.packing import estimate
from slowwave.policy.retention import RESTORED, exempt, strength

USE_WEIGHT = 0.5
"""What ln(1 + uses) adds to a message's score (measured: 1 starts to cost questions nobody asked before)."""


def facts_over(night: Night) -> list[Change]:
    """Over `hot_facts_max`, and over the tokens a category may take; nothing exempt goes, so a target may stay missed."""
    changes = _categories_over(night)
    limit = night.ports.config.hot_facts_max
    if limit is None:
        return changes
    gone = {change.before.id for change in changes}
    hot = [memory for memory in _hot(night, FACT_KINDS) if memory.id not in gone]
    crowding = _weakest(night, hot)[: max(0, len(hot) - limit)]
    return changes + [_trimmed(night, memory, f"more than {limit} facts") for memory in crowding]


def _categories_over(night: Night) -> list[Change]:
    changes = []
    for name, limit in sorted(night.ports.config.category_tokens_max.items()):
        hot = _hot(night, FACT_KINDS, frozenset({name}))
        spent = sum(estimate(memory.text) for memory in hot)
        for memory in _weakest(night, hot):
            if spent <= limit:
                break
            spent -= estimate(memory.text)
            changes.append(_trimmed(night, memory, f"more than {limit} tokens of category {name}"))
    return changes


def messages_over(night: Night, *, gone: int) -> list[Change]:
    """Whole messages, weakest by the information of their words and the use they had; facts count against the limit."""
    ports = night.ports
    limit = ports.config.hot_messages_max
    if limit is None:
        return []
    counts = ports.store.count(ports.scope)
    hot = sum(number for (kind, phase), number in counts.items() if phase in HOT and kind != "cascade") - gone
    if hot <= limit:
        return []
    messages = [m for m in _hot(night, [MESSAGE]) if not m.pinned and RESTORED not in m.flags]
    worth = _worth(night, messages)
    messages.sort(key=lambda m: (worth[m.id], m.valid_from, m.seq, m.id))
    return [
        _trimmed(night, memory, f"more than {limit} hot; its words tell little ({worth[memory.id]:.2f})")
        for memory in messages[: hot - limit]
    ]


def _worth(night: Night, messages: Iterable[Memory]) -> dict[str, float]:
    store, scope = night.ports.store, night.ports.scope
    frequency, documents = store.frequencies(scope)
    common = Frequencies(documents=documents, frequency=frequency)
    speakers = store.speakers(scope)
    return {
        memory.id: score(
            memory.text,
            frequencies=common,
            speakers=speakers,
            from_assistant=memory.role == "assistant" and memory.speaker is None,
        )
        + USE_WEIGHT * math.log1p(memory.accesses)
        for memory in messages
    }


def _hot(night: Night, kinds: Sequence[str], categories: frozenset[str] | None = None) -> list[Memory]:
    where = Where(kinds=frozenset(kinds), phases=frozenset(HOT), categories=categories)
    return [m for m in night.ports.store.select((night.ports.scope,), where) if m.id not in night.taken]


def _weakest(night: Night, facts: Iterable[Memory]) -> list[Memory]:
    """Those that may go, weakest first."""
    free = [memory for memory in facts if not exempt(memory)]
    return sorted(free, key=lambda m: (strength(m, night.ports.config, night.now), m.recorded_at, m.id))


def _trimmed(night: Night, memory: Memory, because: str) -> Change:
    return Change(before=memory, after=moved(memory, "trim", night.ports.config), because=because)
