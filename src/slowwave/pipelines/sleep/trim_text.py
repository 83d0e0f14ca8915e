"""Shortens hot messages over `hot_words_max`: the weakest clauses go cold, the remaining ones are stored as `gist`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import log1p
from typing import Final

from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.operations import Change
from slowwave.model.query import Where
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.planning import transition
from slowwave.pipelines.sleep.size_limits import USE_WEIGHT, remaining_allowance
from slowwave.pipelines.sleep.stage import SleepContext
from slowwave.policy.retention.importance import Frequencies
from slowwave.policy.summaries.trimming import JOINT, ScoredNote, scored_notes, spoken_words

GOES_ON: Final = timedelta(days=1)
"""How long after its last message a conversation counts as going on: its latest messages are then not shortened."""
NEWEST: Final = 0.05
"""The share of the free words that these messages may take. Measured on LoCoMo, in % of what the full store finds: 91.1
without them, 90.4 with a twentieth, 89.5 with half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimResult:
    """The changes that shorten or archive messages, and the error of the embedder if it failed."""

    changes: tuple[Change, ...] = ()
    problems: tuple[str, ...] = ()


def trim_excess_words(context: SleepContext) -> TrimResult:
    """Keep the strongest clauses of all hot messages that fit beside facts, pinned messages and the newest ones."""
    limit = context.ports.config.hot_words_max
    if limit is None:
        return TrimResult()
    every = [m for m in _hot(context, (MESSAGE, *FACT_KINDS)) if m.id not in context.taken]
    hot = remaining_allowance(context, every, _spoken, limit)
    if _spoken(hot) <= limit:
        return TrimResult()
    free = [memory for memory in hot if memory.kind == MESSAGE and not memory.pinned]
    fixed = {memory.id for memory in hot} - {memory.id for memory in free}
    room = limit - _spoken(memory for memory in hot if memory.id in fixed)
    newest = _going_on(context, free, room * NEWEST)
    room -= _spoken(memory for memory in free if memory.id in newest)
    free = [memory for memory in free if memory.id not in newest]
    left = _strongest(context, free, room)
    whole = {memory.id for memory in free if not left[memory.id]}
    because = f"more than {limit:,} hot words"
    trimmed = [
        replace(memory, gist=JOINT.join(piece.text for piece in left[memory.id]), version=memory.version + 1)
        for memory in free
        if memory.id not in whole
    ]
    before = {memory.id: memory for memory in free}
    changed = [memory for memory in trimmed if memory.gist != before[memory.id].gist]
    made, problems = entries(context.ports, [memory.visible_text for memory in changed])
    changes = [
        Change(
            before=before[memory.id],
            after=memory,
            because=f"{because}: {_shortening(before[memory.id], memory)}",
            entry=entry,
            unless_used=True,
        )
        for memory, entry in zip(changed, made, strict=True)
    ]
    changes += [
        Change(
            before=memory,
            after=transition(memory, "trim", context.ports.config),
            because=f"{because}: its words tell least",
            unless_used=True,
        )
        for memory in free
        if memory.id in whole
    ]
    return TrimResult(changes=tuple(changes), problems=problems)


def _spoken(memories: Iterable[Memory]) -> int:
    return sum(spoken_words(memory.visible_text) for memory in memories)


def _shortening(before: Memory, after: Memory) -> str:
    return f"shortened to {spoken_words(after.visible_text)} of its {spoken_words(before.visible_text)} words"


def _hot(context: SleepContext, kinds: Sequence[str]) -> list[Memory]:
    where = Where(kinds=frozenset(kinds), phases=frozenset(HOT))
    return context.standing(where)


def _going_on(context: SleepContext, messages: Sequence[Memory], room: float) -> set[str]:
    """The newest messages of active conversations: within the immediate window, as many as fit."""
    last: dict[str, Memory] = {}
    for memory in messages:
        name = str(memory.conversation)
        if name not in last or memory.seq > last[name].seq:
            last[name] = memory
    going_on = {name: message.seq for name, message in last.items() if abs(context.now - message.at) < GOES_ON}
    window = context.ports.config.immediate_window
    recent = [
        message
        for message in messages
        if message.seq > going_on.get(str(message.conversation), message.seq + window) - window
    ]
    kept: set[str] = set()
    for memory in sorted(recent, key=lambda message: (message.at, message.seq, message.id), reverse=True):
        room -= spoken_words(memory.visible_text)
        if room < 0:
            break
        kept.add(memory.id)
    return kept


def _strongest(context: SleepContext, messages: Sequence[Memory], room: int) -> dict[str, list[ScoredNote]]:
    """The clauses that stay of each message, in order: the strongest of all that fit."""
    store, scope = context.ports.store, context.ports.scope
    frequency, documents = store.frequencies(scope)
    common = Frequencies(documents=documents, frequency=frequency)
    speakers = store.speakers(scope)
    every = [
        (piece.value + USE_WEIGHT * log1p(memory.accesses), memory, place, piece)
        for memory in messages
        for place, piece in enumerate(
            scored_notes(
                memory.text,
                frequencies=common,
                speakers=speakers,
                from_assistant=memory.role == "assistant" and memory.speaker is None,
                left=memory.gist,
            )
        )
    ]
    every.sort(key=lambda one: (-one[0], -one[1].valid_from.timestamp(), one[1].id, one[2]))
    stays: dict[str, list[tuple[int, ScoredNote]]] = {memory.id: [] for memory in messages}
    for _, memory, place, piece in every:
        if piece.words > room:
            break
        room -= piece.words
        stays[memory.id].append((place, piece))
    return {identity: [piece for _, piece in sorted(kept, key=lambda one: one[0])] for identity, kept in stays.items()}
