"""Archives the weakest memories over the size targets: a number of facts, of tokens of a category, or of messages.

A memory that an undo or a person restored does not count against a target, so that it displaces no other memory.
"""

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, NOTE, Memory
from slowwave.model.operations import Add, Change
from slowwave.model.query import Where
from slowwave.pipelines.planning import transition
from slowwave.pipelines.sleep.stage import SleepContext
from slowwave.policy.ranking.packing import estimate
from slowwave.policy.retention.importance import Frequencies, text_score
from slowwave.policy.retention.policies import RESTORED, exemption_reason, strength

USE_WEIGHT = 0.5
"""The weight of ln(1 + uses) in a message's score (measured: at 1, questions that are new find less)."""

REPEATS = 2.3
"""What a fact loses of its score while a message that it rests on is hot."""

JUST_USED = timedelta(days=1)
"""For how long after its use a message is archived last, whatever its score; up to a twentieth of the limit."""
JUST_USED_MAX = 0.05

NEAR = 4
"""Numbers of a conversation this close are read in one query: another query costs more than the few between."""


def excess_facts(context: SleepContext) -> list[Change]:
    """Archive facts over `hot_facts_max` and over the tokens of a category. Exempt ones stay, so a target may be missed."""
    changes = _categories_over(context)
    limit = context.ports.config.hot_facts_max
    if limit is None:
        return changes
    gone = {change.before.id for change in changes}
    hot = remaining_allowance(
        context, [memory for memory in _hot(context, FACT_KINDS) if memory.id not in gone], len, limit
    )
    crowding = _weakest(context, hot)[: max(0, len(hot) - limit)]
    return changes + [_trimmed(context, memory, f"more than {limit} facts") for memory in crowding]


def _categories_over(context: SleepContext) -> list[Change]:
    changes = []
    for name, limit in sorted(context.ports.config.category_tokens_max.items()):
        hot = remaining_allowance(context, _hot(context, FACT_KINDS, frozenset({name})), _tokens, limit)
        spent = _tokens(hot)
        for memory in _weakest(context, hot):
            if spent <= limit:
                break
            spent -= estimate(memory.text)
            changes.append(_trimmed(context, memory, f"more than {limit} tokens of category {name}"))
    return changes


def _tokens(memories: Iterable[Memory]) -> int:
    return sum(estimate(memory.text) for memory in memories)


def remaining_allowance(
    context: SleepContext, hot: Sequence[Memory], size: Callable[[Sequence[Memory]], int], limit: int, *, more: int = 0
) -> list[Memory]:
    """The memories that count against a target, besides `more`; if the others exceed it, they are noted as held."""
    counting = [memory for memory in hot if RESTORED not in memory.flags]
    held = [memory for memory in hot if RESTORED in memory.flags]
    if held and min(size(counting) + more, limit) + size(held) > limit:
        context.held.update(memory.id for memory in held)
    return counting


def excess_messages(context: SleepContext, *, gone: int) -> list[Change]:
    """Archive whole messages and facts over `hot_messages_max`, those with the least informative text and few uses first.

    A fact whose source message is hot says what is said already: it goes before a message that tells as much.
    """
    ports = context.ports
    limit = ports.config.hot_messages_max
    if limit is None:
        return []
    counts = ports.store.count(ports.scope)
    hot = sum(number for (kind, phase), number in counts.items() if phase in HOT and kind not in {"cascade", NOTE})
    hot += _more(context) - gone
    if hot <= limit:
        return []
    every = _hot(context, [MESSAGE, *FACT_KINDS])
    counting = remaining_allowance(context, every, len, limit, more=hot - len(every))
    hot -= len(every) - len(counting)
    free = [memory for memory in counting if (memory.kind == MESSAGE or memory.sources) and not _stays(memory)]
    worth, wanted = _worth(context, free), recently_used(context, free, limit)
    return [
        _trimmed(context, memory, f"more than {limit} hot; its words tell little ({_spelled(worth[memory.id])})")
        for memory in _least(free, counting, worth, wanted, max(0, hot - limit))
    ]


def _stays(memory: Memory) -> bool:
    return memory.pinned or (memory.kind != MESSAGE and exemption_reason(memory) is not None)


def _least(
    free: Sequence[Memory],
    hot: Iterable[Memory],
    worth: Mapping[str, Mapping[str, float]],
    wanted: Collection[str],
    number: int,
) -> list[Memory]:
    """The memories that tell least, so many of them. A fact tells less as long as a source message of it is hot."""
    messages = {memory.id for memory in hot if memory.kind == MESSAGE}

    def place(memory: Memory) -> tuple[bool, float, datetime, int, str]:
        repeats = any(source.memory in messages for source in memory.sources)
        value = sum(worth[memory.id].values()) - (REPEATS if repeats else 0.0)
        return memory.id in wanted, value, memory.valid_from, memory.seq, memory.id

    by_id = {memory.id: memory for memory in free}
    places = [place(memory) for memory in free]
    heapq.heapify(places)
    gone: list[Memory] = []
    while places and len(gone) < number:
        first = heapq.heappop(places)
        memory = by_id[first[-1]]
        if (now := place(memory)) != first:  # its source message went: it tells more than before
            heapq.heappush(places, now)
            continue
        messages.discard(memory.id)
        gone.append(memory)
    return gone


def recently_used(context: SleepContext, messages: Iterable[Memory], limit: int) -> set[str]:
    """The messages that were used last and within a day: up to a twentieth of the limit, at least one."""
    used = [
        (memory.used_at, memory.id)
        for memory in messages
        if memory.used_at and context.now - memory.used_at < JUST_USED
    ]
    return {identity for _, identity in sorted(used, reverse=True)[: max(1, int(limit * JUST_USED_MAX))]}


def _more(context: SleepContext) -> int:
    """By how much the planned operations change the number of hot memories."""
    states = (
        (operation.memory, 0) if isinstance(operation, Add) else (operation.after, int(operation.before.is_searchable))
        for operation in context.planned
        if isinstance(operation, Add | Change)
    )
    return sum(int(memory.is_searchable) - before for memory, before in states if not memory.is_cascade)


def _worth(context: SleepContext, messages: Sequence[Memory]) -> dict[str, dict[str, float]]:
    """The parts of the score of each message, by id."""
    store, scope = context.ports.store, context.ports.scope
    frequency, documents = store.frequencies(scope)
    common = Frequencies(documents=documents, frequency=frequency)
    speakers = store.speakers(scope)
    answered = _answered(context, messages)
    worth: dict[str, dict[str, float]] = {}
    for memory in messages:
        weighed = text_score(
            memory.text,
            frequencies=common,
            speakers=speakers,
            from_assistant=memory.role == "assistant" and memory.speaker is None,
            answering=answered.get(memory.id, ""),
        )
        used = USE_WEIGHT * math.log1p(memory.accesses)
        worth[memory.id] = {**weighed.parts, **({"use": used} if used else {})}
    return worth


def _answered(context: SleepContext, messages: Iterable[Memory]) -> dict[str, str]:
    """The text before each message of a conversation between people, if another speaker said it, by id; it may be cold."""
    named = [memory for memory in messages if memory.speaker]
    said = {(memory.conversation, memory.seq): memory for memory in named}
    places: dict[str | None, list[int]] = {}
    for memory in named:
        if (memory.conversation, memory.seq - 1) not in said:
            places.setdefault(memory.conversation, []).append(memory.seq - 1)
    for conversation, wanted in places.items():
        for first, last in _stretches(wanted):
            where = Where(kinds=frozenset({MESSAGE}), conversation=conversation, after_seq=first - 1, until_seq=last)
            for memory in context.ports.store.select((context.ports.scope,), where):
                said[conversation, memory.seq] = memory
    return {
        memory.id: other.text
        for memory in named
        if (other := said.get((memory.conversation, memory.seq - 1))) and other.speaker not in {None, memory.speaker}
    }


def _stretches(places: Iterable[int]) -> list[tuple[int, int]]:
    """The numbers in few stretches (first, last), so that few queries read them and little else."""
    found: list[tuple[int, int]] = []
    for place in sorted(places):
        if found and place - found[-1][1] <= NEAR:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found


def _spelled(parts: Mapping[str, float]) -> str:
    return f"{sum(parts.values()):.2f}: " + ", ".join(f"{name} {value:+.2f}" for name, value in parts.items())


def _hot(context: SleepContext, kinds: Sequence[str], categories: frozenset[str] | None = None) -> list[Memory]:
    where = Where(kinds=frozenset(kinds), phases=frozenset(HOT), categories=categories)
    return [memory for memory in context.standing(where) if memory.id not in context.taken]


def _weakest(context: SleepContext, facts: Iterable[Memory]) -> list[Memory]:
    """The facts that may be archived, weakest first."""
    free = [memory for memory in facts if not exemption_reason(memory)]
    return sorted(free, key=lambda m: (strength(m, context.ports.config, context.now), m.recorded_at, m.id))


def _trimmed(context: SleepContext, memory: Memory, because: str) -> Change:
    return Change(
        before=memory, after=transition(memory, "trim", context.ports.config), because=because, unless_used=True
    )
