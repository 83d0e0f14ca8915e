"""Tombstones: hashes by which erased words are known again and kept out."""

from collections.abc import Iterable
from datetime import datetime

from slowwave.model.codec import content_key
from slowwave.model.memory import MESSAGE, Memory
from slowwave.ports import Ports

SOME = "erased"
"""The key that is held once anything was erased: without it nobody has to look for tombstones."""

TELLING = 40
"""Characters from which a message is known again by its words alone; anybody may say "Yes, thank you" again."""


def tombstone(text: str) -> str:
    """The key under which erased words are held: a hash only."""
    return f"erased {content_key(text)}"


def said_tombstones(text: str, ref: str | None, at: datetime | None) -> tuple[str, ...]:
    """The keys of a message: its words if they tell, and its words with the caller's id, or with the time."""
    with_id = (tombstone(f"{ref}\n{text}"),) if ref is not None else ()
    with_time = (tombstone(f"{at.isoformat()}\n{text}"),) if at is not None else ()
    return (*((tombstone(text),) if len(text) >= TELLING else ()), *with_id, *with_time)


def buried(memory: Memory) -> tuple[str, ...]:
    """The keys to hold when this memory is erased."""
    if memory.kind == MESSAGE:
        return said_tombstones(memory.text, memory.ref, memory.at)
    return (tombstone(memory.text),)


def anything_erased(ports: Ports) -> bool:
    """Whether anything ever was: else nobody has to make keys."""
    return bool(ports.store.suppressed_keys(ports.scope, [SOME]))


def erased(ports: Ports, keys: Iterable[Iterable[str]]) -> list[bool]:
    """For each memory-to-be, given by its keys, whether it was erased."""
    every = [tuple(own) for own in keys]
    if not anything_erased(ports):
        return [False] * len(every)
    held = ports.store.suppressed_keys(ports.scope, [key for own in every for key in own])
    return [not held.isdisjoint(own) for own in every]
