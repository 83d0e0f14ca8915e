"""Writes the lines of a context: one memory each, with its date and with who said it."""

from collections.abc import Collection
from math import ceil
from typing import Final

from slowwave.model.memory import MESSAGE, NOTE, Memory
from slowwave.model.query import Hit, Item
from slowwave.policy.guard.fence import escape
from slowwave.policy.guard.labels import label, said_by
from slowwave.policy.ranking.packing import Line, weight

PERHAPS: Final = "perhaps outdated"


def context_line(
    words: str,
    memory: Memory,
    because: str,
    *,
    dated: bool = False,
    mark: str = "",
    users: Collection[str] = (),
    always: bool = False,
) -> Line:
    """A line of a context with its cost. Every line is built here, so that each has its label.

    Args:
        words: the text of the line; blanks at its ends are left out.
        memory: its source.
        because: why it is shown.
        dated: whether the line begins with the date of `memory`.
        mark: what is added at the end, such as that it is outdated.
        users: the names of users whose messages are shown too.
        always: whether every context of its scope has it.
    """
    is_message = memory.kind == MESSAGE
    author = said_by(memory.trust, memory.role, memory.speaker, users) if is_message else label(memory.trust)
    date = f"[{memory.at:%Y-%m-%d}] " if dated else ""
    text = f"{date}{author}{words.strip()}{mark}"
    cost = weight(escape(text)) + LINE
    item = Item(text=text, tokens=ceil(cost), memory=memory, because=because, outdated=bool(mark), always=always)
    return Line(item, cost)


LINE: Final = weight("- \n")
"""What a line costs besides its text."""


def hit_line(hit: Hit, words: str | None = None, users: Collection[str] = ()) -> Line:
    """A hit as a line: its text or a part of it, and the mark of an outdated one."""
    mark = f" ({PERHAPS if hit.perhaps else 'outdated'})" if hit.stale else ""
    because = f"{origin(hit.memory)}, {hit.because or f'score {hit.score:.2f}'}"
    return context_line(hit.text if words is None else words, hit.memory, because, dated=True, mark=mark, users=users)


def origin(memory: Memory) -> str:
    """The source of an item, in words."""
    if memory.kind == MESSAGE:
        return f"message {memory.seq} of {memory.conversation}"
    if memory.span is not None:
        first, last = memory.span
        return f"{'era' if memory.depth > 1 else 'summary'} {memory.id} of messages {first}-{last} of {memory.conversation}"
    return f"{'note' if memory.kind == NOTE else f'{memory.category} fact'} {memory.id}"
