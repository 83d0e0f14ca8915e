"""Chat: the same context as messages for a chat model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from slowwave.model.query import Item, Section
from slowwave.policy.guard.fence import remove_fenced_blocks, render
from slowwave.policy.guard.labels import author, label, short_name
from slowwave.policy.guard.trust import trusted


def chat_messages(
    sections: Sequence[Section], immediate: str, mark: str, latest: Sequence[Item]
) -> tuple[Mapping[str, str], ...]:
    """What is remembered as data in one fenced block, then the latest messages as they were said.

    Only the user and the assistant speak in messages of their own. What a tool, a system or an import said stands in a
    fenced block at its place among them: as a bare message it would be taken for words of the user. Where people talk
    with each other, each message begins with the name of who said it, as no role tells them apart.
    """
    people = not any(item.memory and item.memory.role == "assistant" and not item.memory.speaker for item in latest)
    fenced = [section for section in sections if section.name != immediate]
    said = [item for section in sections if section.name == immediate for item in section.items]
    messages: list[Mapping[str, str]] = []
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


def with_blocks(items: Sequence[Item], tokens: int) -> list[Item]:
    """The items with the cost of their fenced blocks, so that messages stay within the budget.

    The last item of each block bears it: packing leaves out the first ones.
    """
    roles = [*map(_role, items), "end"]
    ends = [role is None and after is not None for role, after in pairwise(roles)]
    return [replace(one, tokens=one.tokens + tokens) if end else one for one, end in zip(items, ends, strict=True)]


def _role(item: Item) -> str | None:
    """The role of an item as a message of its own, or None if it may only stand in a fenced block."""
    memory = item.memory
    if memory is None or memory.role not in {"user", "assistant"}:
        return None
    return memory.role if trusted(memory.trust, memory.role) else None


def _bare(item: Item, *, named: bool) -> str:
    """The words of a message without its label, behind the name of who said it if it is to be named."""
    memory = item.memory
    if memory is None:
        return remove_fenced_blocks(item.text)
    words = remove_fenced_blocks(item.text.removeprefix(label(memory.trust, author(memory.role, memory.speaker))))
    return f"{short_name(memory.role, memory.speaker)}: {words}" if named and memory.speaker else words
