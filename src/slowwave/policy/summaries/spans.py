"""The cascade's arithmetic: which spans of a conversation are due for a summary, and which eras those make."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

Span = tuple[int, int]
"""First and last seq, 1-based, both inclusive; absolute, so they never shift."""

ERA_SIZE: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """Up to 32 summaries of depth 1, in order, that one summary of depth 2 stands for.

    A full one is frozen: nothing is ever added to it.
    """

    parts: tuple[Span, ...]
    frozen: bool

    @property
    def span(self) -> Span:
        """From the first seq of its first part to the last of its last."""
        return self.parts[0][0], self.parts[-1][1]


def due_spans(
    last_seq: int, cursor: int, *, immediate_window: int, recent_window: int, force: bool = False
) -> tuple[Span, ...]:
    """The spans to summarise now, in order; they continue at the cursor and leave the immediate window out.

    The first is due at immediate + recent + 1 messages and one longer than the others (S4: 129, with 1 to 65); after
    that one at every recent_window. `force` also takes the shorter rest. Applying them and asking again gives none.

    >>> due_spans(193, 0, immediate_window=64, recent_window=64)
    ((1, 65), (66, 129))
    """
    end = last_seq - immediate_window
    spans = []
    while (last := cursor + recent_window + (cursor == 0)) <= end:
        spans.append((cursor + 1, last))
        cursor = last
    if force and cursor < end:
        spans.append((cursor + 1, end))
    return tuple(spans)


def eras(parts: Sequence[Span]) -> tuple[Era, ...]:
    """The eras of a conversation, oldest first: all its summaries of depth 1 but the newest, by 32.

    The newest is what a context shows as the recent past; it joins an era when the next one is written.

    Args:
        parts: the spans of the summaries of depth 1, in order.
    """
    older = parts[:-1]
    return tuple(
        Era(parts=tuple(older[start : start + ERA_SIZE]), frozen=start + ERA_SIZE <= len(older))
        for start in range(0, len(older), ERA_SIZE)
    )


def due_eras(parts: Sequence[Span], written: Collection[Span]) -> tuple[Era, ...]:
    """The eras to write or to write again: those whose span no summary of depth 2 has yet."""
    known = frozenset(written)
    return tuple(era for era in eras(parts) if era.span not in known)
