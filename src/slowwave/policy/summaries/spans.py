"""Computes which spans of a conversation are due for a summary, and which summaries form an era."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

Span = tuple[int, int]
"""First and last sequence number of messages, from 1, both inclusive. They are absolute, so that they never change."""

ERA_SIZE: Final = 32
SPANS_MAX: Final = 100_000
"""The most spans that are listed at once. A damaged number of the last message would otherwise fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """Up to 32 summaries of depth 1, in order, that one summary of depth 2 summarises.

    A full era is frozen: no summary is added to it.
    """

    parts: tuple[Span, ...]
    frozen: bool

    @property
    def span(self) -> Span:
        """From the first message of its first part to the last message of its last part."""
        return self.parts[0][0], self.parts[-1][1]


def due_spans(
    last_seq: int, cursor: int, *, immediate_window: int, recent_window: int, force: bool = False
) -> tuple[Span, ...]:
    """The spans to summarise now, in order, from the cursor up to the immediate window.

    The first span is due at immediate + recent + 1 messages and is one message longer than the others (S4: at 129 messages, span
    1 to 65); each further one is due after `recent_window` messages. `force` also returns the shorter rest. After these spans
    are summarised, the result is empty. More than `SPANS_MAX` spans are due in parts of that many.

    >>> due_spans(193, 0, immediate_window=64, recent_window=64)
    ((1, 65), (66, 129))
    """
    end = last_seq - immediate_window
    spans: list[Span] = []
    while (last := cursor + recent_window + (cursor == 0)) <= end and len(spans) < SPANS_MAX:
        spans.append((cursor + 1, last))
        cursor = last
    if force and cursor < end and len(spans) < SPANS_MAX:
        spans.append((cursor + 1, end))
    return tuple(spans)


def eras(parts: Sequence[Span]) -> tuple[Era, ...]:
    """The eras of a conversation, oldest first: its summaries of depth 1 without the newest, in groups of 32.

    A context shows the newest summary as the recent past. It becomes part of an era when the next one is written.

    Args:
        parts: the spans of the summaries of depth 1, in order.
    """
    older = parts[:-1]
    return tuple(
        Era(parts=tuple(older[start : start + ERA_SIZE]), frozen=start + ERA_SIZE <= len(older))
        for start in range(0, len(older), ERA_SIZE)
    )


def due_eras(parts: Sequence[Span], written: Collection[Span]) -> tuple[Era, ...]:
    """The eras to write: those whose span no summary of depth 2 has yet."""
    known = frozenset(written)
    return tuple(era for era in eras(parts) if era.span not in known)
