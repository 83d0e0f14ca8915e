"""Wording: over `hot_words_max`, messages lose their weakest clauses; the last one standing is the gist."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log1p

from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.operation import Change
from slowwave.model.query import Where
from slowwave.pipelines.entries import entries
from slowwave.pipelines.moves import moved
from slowwave.pipelines.sleep.stage import Night
from slowwave.pipelines.sleep.targets import USE_WEIGHT
from slowwave.policy.importance import Frequencies
from slowwave.policy.retention import RESTORED
from slowwave.policy.wording import JOINT, Piece, pieces, spoken_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """What a size target takes: changes, and an embedder's own words if it failed."""

    changes: tuple[Change, ...] = ()
    problems: tuple[str, ...] = ()


def words_over(night: Night) -> Trimmed:
    """The clauses of all hot messages compete for the room that facts and pinned messages leave."""
    limit = night.ports.config.hot_words_max
    if limit is None:
        return Trimmed()
    hot = [m for m in _hot(night, (MESSAGE, *FACT_KINDS)) if m.id not in night.taken]
    if sum(spoken_words(memory.wording) for memory in hot) <= limit:
        return Trimmed()
    free = [m for m in hot if m.kind == MESSAGE and not m.pinned and RESTORED not in m.flags]
    fixed = {memory.id for memory in hot} - {memory.id for memory in free}
    room = limit - sum(spoken_words(memory.wording) for memory in hot if memory.id in fixed)
    left = _strongest(night, free, room)
    whole = {memory.id for memory in free if not left[memory.id]}
    because = f"more than {limit} hot words; the weakest clauses go first"
    trimmed = [
        replace(memory, gist=JOINT.join(piece.text for piece in left[memory.id]), version=memory.version + 1)
        for memory in free
        if memory.id not in whole
    ]
    before = {memory.id: memory for memory in free}
    changed = [memory for memory in trimmed if memory.gist != before[memory.id].gist]
    made, problems = entries(night.ports, [memory.wording for memory in changed])
    changes = [
        Change(before=before[memory.id], after=memory, because=because, entry=entry)
        for memory, entry in zip(changed, made, strict=True)
    ]
    changes += [
        Change(before=memory, after=moved(memory, "trim", night.ports.config), because=because)
        for memory in free
        if memory.id in whole
    ]
    return Trimmed(changes=tuple(changes), problems=problems)


def _hot(night: Night, kinds: Sequence[str]) -> list[Memory]:
    where = Where(kinds=frozenset(kinds), phases=frozenset(HOT))
    return night.ports.store.select((night.ports.scope,), where)


def _strongest(night: Night, messages: Sequence[Memory], room: int) -> dict[str, list[Piece]]:
    """By message, the clauses that stay, in order: the strongest of all, while the room lasts."""
    store, scope = night.ports.store, night.ports.scope
    frequency, documents = store.frequencies(scope)
    common = Frequencies(documents=documents, frequency=frequency)
    speakers = store.speakers(scope)
    every = [
        (piece.value + USE_WEIGHT * log1p(memory.accesses), memory, place, piece)
        for memory in messages
        for place, piece in enumerate(
            pieces(
                memory.text,
                frequencies=common,
                speakers=speakers,
                from_assistant=memory.role == "assistant" and memory.speaker is None,
                left=memory.gist,
            )
        )
    ]
    every.sort(key=lambda one: (-one[0], -one[1].valid_from.timestamp(), one[1].id, one[2]))
    stays: dict[str, list[tuple[int, Piece]]] = {memory.id: [] for memory in messages}
    for _, memory, place, piece in every:
        if piece.words > room:
            break
        room -= piece.words
        stays[memory.id].append((place, piece))
    return {identity: [piece for _, piece in sorted(kept, key=lambda one: one[0])] for identity, kept in stays.items()}
