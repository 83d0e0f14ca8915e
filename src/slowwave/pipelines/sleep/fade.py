"""Sleep stages that expire, archive and reschedule memories."""

import math

from slowwave.model.memory import FACT_KINDS, HOT, Memory
from slowwave.model.operations import Change
from slowwave.model.plan import Plan
from slowwave.model.query import Where
from slowwave.pipelines.planning import new_id, split_groups, transition
from slowwave.pipelines.sleep.apply import applied
from slowwave.pipelines.sleep.size_limits import excess_facts, excess_messages
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan
from slowwave.pipelines.sleep.trim_text import trim_excess_words
from slowwave.policy.retention.policies import archive_rules, expiry, is_expired, should_fade, strength
from slowwave.ports import Ports


def expire(night: SleepContext) -> StagePlan:
    """Facts strictly past their time to live, unless something protects them."""
    changes = []
    for memory in night.open():
        if not is_expired(memory, night.ports.config, night.now):
            continue
        after = transition(memory, "expire", night.ports.config)
        until = expiry(memory, night.ports.config)
        because = f"{memory.category}: kept until {until:%d %b %Y}"
        changes.append(Change(before=memory, after=after, because=because, unless_used=True))
    night.taken.update(change.before.id for change in changes)
    return StagePlan(groups=split_groups(changes, "past their time"))


def refresh(night: SleepContext) -> StagePlan:
    """Move the due memories that no stage wanted to the instant they next need attention."""
    unwanted = [memory for memory in night.open() if memory.id not in night.waiting]
    changes = [change for memory in unwanted if (change := night.later(memory)) is not None]
    night.taken.update(change.before.id for change in changes)
    return StagePlan(groups=split_groups(changes, "looked at and left as they are"))


def fade(night: SleepContext) -> StagePlan:
    """What has faded by its curve, then what the size targets leave no room for."""
    faded = _faded(night)
    night.taken.update(change.before.id for change in faded)
    over = excess_facts(night)
    over += excess_messages(night, gone=len(faded) + len(over))
    night.taken.update(change.before.id for change in over)
    worded = trim_excess_words(night)
    night.taken.update(change.before.id for change in worded.changes)
    return StagePlan(
        groups=split_groups(faded, "faded")
        + split_groups(over, "over a size target, weakest first")
        + split_groups([one for one in worded.changes if one.after.is_searchable], "in fewer words")
        + split_groups(
            [one for one in worded.changes if not one.after.is_searchable], "over a number of hot words, weakest first"
        ),
        problems=worded.problems,
    )


def forget(ports: Ports) -> int:
    """Put every fact below the forgetting threshold into cold storage, whatever its `due_at`. Returns how many."""
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT))
    facts = tuple(ports.store.select((ports.scope,), where))
    now = ports.now()
    changes = _faded(SleepContext(ports=ports, now=now, due=facts, think=False))
    groups = split_groups(changes, "faded")
    plan = Plan(id=new_id(now), scope=ports.scope, cause="sleep/fade", at=now, groups=groups)
    return sum(isinstance(operation, Change) for _, receipt in applied(ports, plan) for operation in receipt.applied)


def _faded(night: SleepContext) -> list[Change]:
    changes = []
    for memory in night.open():
        reason = should_fade(memory, night.ports.config, night.now)
        if reason is None:
            continue
        after = transition(memory, "stage" if reason == "stage" else "fade", night.ports.config)
        changes.append(Change(before=memory, after=after, because=_told(night, memory), unless_used=True))
    return changes


def _told(night: SleepContext, memory: Memory) -> str:
    config = night.ports.config
    idle = (night.now - memory.last_used_or_recorded).days
    unused = f"unused for {idle:,} days" if memory.used_at else f"never used in {idle:,} days"
    now_at = math.floor(1000 * strength(memory, config, night.now)) / 1000  # rounded up, it would not lie below
    rule = min(archive_rules(memory, config))  # the one that held first
    if rule.strength_below is not None:
        return f"strength {now_at:.3f}, below {rule.strength_below}: {unused}"
    return f"relevance {now_at:.3f}, {unused}; the rule: {rule.text}"
