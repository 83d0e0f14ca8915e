"""Tombstones: suppressed keys that recognise erased content, so that it is not stored again."""

from collections.abc import Iterable
from datetime import datetime

from slowwave.model.codec import content_key
from slowwave.model.memory import MESSAGE, NOTE, Memory
from slowwave.ports import Ports

SOME = "erased"
"""The key that is suppressed after the first erase of a scope. Without it the scope has no tombstones."""

TELLING = 40
"""The length from which the text alone identifies an erased message; a shorter one, such as "Yes", may occur again."""


def tombstone(text: str) -> str:
    """The key of an erased text: a hash only."""
    return f"erased {content_key(text)}"


def said_tombstones(text: str, ref: str | None, at: datetime | None) -> tuple[str, ...]:
    """The keys of a message: of its text if that is long enough, and of its text with the caller's id or with the time."""
    with_id = (tombstone(f"{ref}\n{text}"),) if ref is not None else ()
    with_time = (tombstone(f"{at.isoformat()}\n{text}"),) if at is not None else ()
    return (*((tombstone(text),) if len(text) >= TELLING else ()), *with_id, *with_time)


def title_tombstone(title: str) -> str:
    """The key of an erased title of a conversation, which no import sets again. A text with the same words is not blocked."""
    return tombstone(f"title\n{title}")


def buried(memory: Memory) -> tuple[str, ...]:
    """The keys to suppress when this memory is erased."""
    if memory.kind == MESSAGE:
        return said_tombstones(memory.text, memory.ref, memory.at)
    if memory.kind == NOTE:  # another note may have the same text
        return (tombstone(f"{memory.conversation}\n{memory.ref}\n{memory.text}"),)
    return (tombstone(memory.text),)


def anything_erased(ports: Ports) -> bool:
    """Whether anything was erased in the scope: if not, no keys need to be computed."""
    return bool(ports.store.suppressed_keys(ports.scope, [SOME]))


def erased(ports: Ports, keys: Iterable[Iterable[str]]) -> list[bool]:
    """Whether each memory was erased, by its keys."""
    key_sets = [tuple(each) for each in keys]
    if not anything_erased(ports):
        return [False] * len(key_sets)
    suppressed = ports.store.suppressed_keys(ports.scope, [key for each in key_sets for key in each])
    return [not suppressed.isdisjoint(each) for each in key_sets]
