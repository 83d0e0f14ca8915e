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
from slowwave.policy.guard.trust import outranks
from slowwave.policy.retention.lasting import own_end
from slowwave.policy.retention.policies import archive_rules, expiry, is_expired, should_fade, strength
from slowwave.ports import Ports


def expire(context: SleepContext) -> StagePlan:
    """Archive facts that are past their end or their time to live, unless something protects them."""
    changes = []
    for memory in context.open():
        if not is_expired(memory, context.ports.config, context.now):
            continue
        until = expiry(memory, context.ports.config)
        ends = until == own_end(memory)
        valid_to = until if ends else memory.valid_to
        after = transition(memory, "expire", context.ports.config, valid_to=valid_to)
        because = f"{memory.category}: kept until {until:%d %b %Y}"
        if ends:
            because = f"its words end by {until:%d %b %Y}"
        changes.append(Change(before=memory, after=after, because=because, unless_used=True))
    context.taken.update(change.before.id for change in changes)
    return StagePlan(groups=split_groups(changes, "past their time"))


def refresh(context: SleepContext) -> StagePlan:
    """Move the due memories that no stage changed to their next instant of attention."""
    unchanged = [memory for memory in context.open() if memory.id not in context.waiting]
    changes = [change for memory in unchanged if (change := context.later(memory)) is not None]
    context.taken.update(change.before.id for change in changes)
    return StagePlan(groups=split_groups(changes, "looked at and left as they are"))


def fade(context: SleepContext) -> StagePlan:
    """Archive what has faded by its curve, then what exceeds the size targets; shorten messages over `hot_words_max`."""
    faded = _faded(context)
    context.taken.update(change.before.id for change in faded)
    over = excess_facts(context)
    over += excess_messages(context, gone=len(faded) + len(over))
    context.taken.update(change.before.id for change in over)
    trimmed = trim_excess_words(context)
    context.taken.update(change.before.id for change in trimmed.changes)
    return StagePlan(
        groups=split_groups(faded, "faded")
        + split_groups(over, "over a size target, weakest first")
        + split_groups([change for change in trimmed.changes if change.after.is_searchable], "in fewer words")
        + split_groups(
            [change for change in trimmed.changes if not change.after.is_searchable],
            "over a number of hot words, weakest first",
        ),
        problems=trimmed.problems,
    )


def forget(ports: Ports) -> int:
    """Archive every fact below the forgetting threshold, whatever its `due_at`. Returns how many.

    The caller chooses the threshold and the policy, so that ports with a ceiling archive no fact that is trusted more.
    """
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT))
    facts = tuple(fact for fact in ports.store.select((ports.scope,), where) if not outranks(fact.trust, ports.ceiling))
    now = ports.now()
    changes = _faded(SleepContext(ports=ports, now=now, due=facts, think=False))
    groups = split_groups(changes, "faded")
    plan = Plan(id=new_id(now), scope=ports.scope, cause="sleep/fade", at=now, groups=groups)
    return sum(isinstance(operation, Change) for _, receipt in applied(ports, plan) for operation in receipt.applied)


def _faded(context: SleepContext) -> list[Change]:
    changes = []
    for memory in context.open():
        reason = should_fade(memory, context.ports.config, context.now)
        if reason is None:
            continue
        after = transition(memory, "stage" if reason == "stage" else "fade", context.ports.config)
        changes.append(Change(before=memory, after=after, because=_reason(context, memory), unless_used=True))
    return changes


def _reason(context: SleepContext, memory: Memory) -> str:
    config = context.ports.config
    idle = (context.now - memory.last_used_or_recorded).days
    unused = f"unused for {idle:,} days" if memory.used_at else f"never used in {idle:,} days"
    now_at = math.floor(1000 * strength(memory, config, context.now)) / 1000  # not rounded up, so that it stays below
    rule = min(archive_rules(memory, config))  # the one that held first
    if rule.strength_below is not None:
        return f"strength {now_at:.3f}, below {rule.strength_below}: {unused}"
    return f"relevance {now_at:.3f}, {unused}; the rule: {rule.text}"
