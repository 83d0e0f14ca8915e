"""Fade: facts below the forgetting threshold, and what is over a size target, go cold, weakest first."""

import math
from collections.abc import Sequence

from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.operation import Change
from slowwave.model.plan import Plan
from slowwave.model.query import Where
from slowwave.pipelines.making import chunked, new_id
from slowwave.pipelines.moves import moved
from slowwave.pipelines.sleep.stage import Night, Staged
from slowwave.policy.importance import Frequencies, score
from slowwave.policy.retention import exempt, should_fade, strength
from slowwave.ports import Ports

USE_WEIGHT = 0.5
"""What ln(1 + uses) adds to a message's score (measured: 1 starts to cost questions nobody asked before)."""


def fade(night: Night) -> Staged:
    """What has faded by its curve, then what the size targets leave no room for."""
    faded = _faded(night)
    night.taken.update(change.before.id for change in faded)
    crowded = _facts_over(night)
    over = crowded + _messages_over(night, gone=len(faded) + len(crowded))
    night.taken.update(change.before.id for change in over)
    return Staged(
        groups=chunked(faded, f"{len(faded)} faded") + chunked(over, f"{len(over)} over a size target, weakest first")
    )


def forget(ports: Ports) -> int:
    """Put every fact below the forgetting threshold into cold storage, whatever its `due_at`. Returns how many."""
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT))
    facts = tuple(ports.store.select((ports.scope,), where))
    now = ports.now()
    changes = _faded(Night(ports=ports, now=now, due=facts, think=False))
    groups = chunked(changes, f"{len(changes)} faded")
    receipt = ports.store.apply(Plan(id=new_id(now), scope=ports.scope, cause="sleep/fade", at=now, groups=groups))
    return sum(isinstance(operation, Change) for operation in receipt.applied)


def _faded(night: Night) -> list[Change]:
    changes = []
    for memory in night.open():
        reason = should_fade(memory, night.ports.config, night.now)
        if reason is None:
            continue
        after = moved(memory, "stage" if reason == "stage" else "fade", night.ports.config)
        now_at = strength(memory, night.ports.config, night.now)
        changes.append(Change(before=memory, after=after, because=f"strength {now_at:.2f}: {reason}"))
    return changes


def _hot(night: Night, kinds: Sequence[str]) -> list[Memory]:
    where = Where(kinds=frozenset(kinds), phases=frozenset(HOT))
    return [m for m in night.ports.store.select((night.ports.scope,), where) if m.id not in night.taken]


def _facts_over(night: Night) -> list[Change]:
    limit = night.ports.config.hot_facts_max
    if limit is None:
        return []
    hot = _hot(night, FACT_KINDS)
    free = [memory for memory in hot if not exempt(memory)]
    ranked = sorted(free, key=lambda m: (strength(m, night.ports.config, night.now), m.recorded_at, m.id))
    return [_trimmed(night, memory, f"more than {limit} facts") for memory in ranked[: max(0, len(hot) - limit)]]


def _messages_over(night: Night, *, gone: int) -> list[Change]:
    """Whole messages, weakest by the information of their words and the use they had; facts count against the limit."""
    ports = night.ports
    limit = ports.config.hot_messages_max
    if limit is None:
        return []
    counts = ports.store.count(ports.scope)
    hot = sum(number for (kind, phase), number in counts.items() if phase in HOT and kind != "cascade") - gone
    if hot <= limit:
        return []
    messages = [memory for memory in _hot(night, [MESSAGE]) if not memory.pinned]
    frequency, documents = ports.store.frequencies(ports.scope)
    common = Frequencies(documents=documents, frequency=frequency)
    speakers = ports.store.speakers(ports.scope)
    worth = {
        memory.id: score(
            memory.text,
            frequencies=common,
            speakers=speakers,
            from_assistant=memory.role == "assistant" and memory.speaker is None,
        )
        + USE_WEIGHT * math.log1p(memory.accesses)
        for memory in messages
    }
    messages.sort(key=lambda m: (worth[m.id], m.valid_from, m.seq, m.id))
    return [
        _trimmed(night, memory, f"more than {limit} hot; its words tell little ({worth[memory.id]:.2f})")
        for memory in messages[: hot - limit]
    ]


def _trimmed(night: Night, memory: Memory, because: str) -> Change:
    return Change(before=memory, after=moved(memory, "trim", night.ports.config), because=because)
