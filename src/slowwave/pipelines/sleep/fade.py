"""Fade: facts below the forgetting threshold, and what is over a size target, go cold, weakest first."""

import math

from slowwave.model.memory import FACT_KINDS, HOT, Memory
from slowwave.model.operation import Change
from slowwave.model.plan import Plan
from slowwave.model.query import Where
from slowwave.pipelines.making import chunked, new_id
from slowwave.pipelines.moves import moved
from slowwave.pipelines.sleep.apart import applied
from slowwave.pipelines.sleep.stage import Night, Staged
from slowwave.pipelines.sleep.targets import facts_over, messages_over
from slowwave.pipelines.sleep.wording import words_over
from slowwave.policy.retention import leaving, should_fade, strength
from slowwave.ports import Ports


def fade(night: Night) -> Staged:
    """What has faded by its curve, then what the size targets leave no room for."""
    faded = _faded(night)
    night.taken.update(change.before.id for change in faded)
    over = facts_over(night)
    over += messages_over(night, gone=len(faded) + len(over))
    night.taken.update(change.before.id for change in over)
    worded = words_over(night)
    night.taken.update(change.before.id for change in worded.changes)
    return Staged(
        groups=chunked(faded, "faded")
        + chunked(over, "over a size target, weakest first")
        + chunked([one for one in worded.changes if one.after.hot], "in fewer words")
        + chunked([one for one in worded.changes if not one.after.hot], "over a number of hot words, weakest first"),
        problems=worded.problems,
    )


def forget(ports: Ports) -> int:
    """Put every fact below the forgetting threshold into cold storage, whatever its `due_at`. Returns how many."""
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT))
    facts = tuple(ports.store.select((ports.scope,), where))
    now = ports.now()
    changes = _faded(Night(ports=ports, now=now, due=facts, think=False))
    groups = chunked(changes, "faded")
    plan = Plan(id=new_id(now), scope=ports.scope, cause="sleep/fade", at=now, groups=groups)
    return sum(isinstance(operation, Change) for _, receipt in applied(ports, plan) for operation in receipt.applied)


def _faded(night: Night) -> list[Change]:
    changes = []
    for memory in night.open():
        reason = should_fade(memory, night.ports.config, night.now)
        if reason is None:
            continue
        after = moved(memory, "stage" if reason == "stage" else "fade", night.ports.config)
        changes.append(Change(before=memory, after=after, because=_told(night, memory), unless_used=True))
    return changes


def _told(night: Night, memory: Memory) -> str:
    config = night.ports.config
    idle = (night.now - memory.anchor).days
    unused = f"unused for {idle:,} days" if memory.used_at else f"never used in {idle:,} days"
    now_at = math.floor(1000 * strength(memory, config, night.now)) / 1000  # rounded up, it would not lie below
    rule = min(leaving(memory, config))[1]  # that which held first
    if rule.startswith("strength "):
        return f"{rule.replace(' ', f' {now_at:.3f}, ', 1)}: {unused}"
    return f"relevance {now_at:.3f}, {unused}; the rule: {rule}"
