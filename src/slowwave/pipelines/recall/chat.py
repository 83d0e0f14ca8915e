"""Builds the messages of a context for a chat model."""

from collections.abc import Sequence
from itertools import groupby

from slowwave.model.memory import Memory
from slowwave.model.query import Item, Section
from slowwave.policy.guard.fence import remove_fenced_blocks, render
from slowwave.policy.guard.labels import short_name
from slowwave.policy.guard.trust import trusted


def chat_messages(
    sections: Sequence[Section], immediate: str, mark: str, latest: Sequence[Item]
) -> tuple[dict[str, str], ...]:
    """All memories in one fenced block, followed by the latest messages word for word.

    Only messages of the user and the assistant are bare messages. One of a tool, a system or an import is in a fenced
    block at its place among them: as a bare message, a model would take it for the user's. If people talk with each
    other, each message begins with the name of its speaker, because all have the same role.
    """
    people = not any(item.memory and item.memory.role == "assistant" and not item.memory.speaker for item in latest)
    fenced = [section for section in sections if section.name != immediate]
    said = [item for section in sections if section.name == immediate for item in section.items]
    messages: list[dict[str, str]] = []
    for role, items in groupby(said, key=_role):
        if role is None:
            fenced.append(Section(name=immediate, items=tuple(items)))
            continue
        if fenced:
            messages.append({"role": "user", "content": render(fenced, mark)})
            fenced = []
        messages += [{"role": role, "content": _bare(item, named=people)} for item in items]
    if fenced:
        messages.append({"role": "user", "content": render(fenced, mark)})
    return tuple(messages)


def is_bare(memory: Memory) -> bool:
    """Whether a message stands outside of a fenced block in a chat."""
    return memory.role in {"user", "assistant"} and trusted(memory.trust, memory.role)


def _role(item: Item) -> str | None:
    """The role of an item as a bare message, or None if it must be in a fenced block."""
    return item.memory.role if item.memory is not None and is_bare(item.memory) else None


def _bare(item: Item, *, named: bool) -> str:
    """The text of a message; if `named`, after the name of its speaker."""
    memory = item.memory
    if memory is None:
        return remove_fenced_blocks(item.text)
    words = remove_fenced_blocks(memory.visible_text.strip())
    return f"{short_name(memory.role, memory.speaker)}: {words}" if named and memory.speaker else words
