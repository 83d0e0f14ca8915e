"""Layouts of a context: its parts, their order and headings, and what each part may take of the room."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

SHARES: Final[Mapping[str, float]] = MappingProxyType(
    {"instructions": 0.25, "core": 0.1, "facts": 0.5, "summaries": 0.2, "latest": 0.2}
)
"""The most that a part may take of the room; messages take the rest. In blind answers half facts and half messages was best."""
TALKING: Final[Mapping[str, float]] = MappingProxyType({**SHARES, "summaries": 0.25, "latest": 0.35})
"""The same if the model sees nothing of the conversation but the context: the latest messages are taken first."""
CHAT: Final = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A layout of a context.

    Attributes:
        headings: the heading of each part, in the order of the context. Parts with the same heading are put under one. Parts
            that change with every turn come last, so that a prompt cache can reuse the beginning.
        shares: the most that each part may take.
        placed: whether the context also describes the agent and its situation (`model.scene`).
    """

    headings: Mapping[str, str]
    shares: Mapping[str, float]
    placed: bool = False


_PLAIN: Final = MappingProxyType(
    {
        "instructions": "How to answer",
        "core": "Known about the user",
        "facts": "Facts",
        "said": "Said",
        "older": "Summaries",
        "recent": "Summaries",
        "related": "Summaries",
        "latest": "Latest messages",
    }
)
LAYOUTS: Final[Mapping[str, Layout]] = MappingProxyType(
    {
        "plain": Layout(headings=_PLAIN, shares=SHARES),
        CHAT: Layout(headings=_PLAIN, shares=TALKING),
        "agent": Layout(
            headings=MappingProxyType(
                {
                    "instructions": "How to Answer",
                    "core": "Relevant Private Notes",
                    "facts": "Relevant Private Notes",
                    "said": "Relevant Private Notes",
                    "related": "Related Past Experiences",
                    "older": "Older Memories (Summary)",
                    "recent": "Recent Past (Summary)",
                    "latest": "Most Recent Memories",
                }
            ),
            shares=TALKING,
            placed=True,
        ),
    }
)


def shortened(text: str, characters: int) -> str:
    """A text of at most this many characters. It is cut at the last clause or sentence in its second half, else at a word.

    >>> shortened("Alice: ran a race; adopted a dog; moved", 30)
    'Alice: ran a race …'
    """
    if len(text) <= characters:
        return text
    available = text[: max(0, characters - 2)]
    ends = (max(available.rfind(mark) for mark in ("; ", ". ", "\n")), available.rfind(" "))
    cut = next(
        (end for end in ends if end > len(available) // 2), len(available)
    )  # text without spaces is cut anywhere
    return f"{available[:cut].rstrip(' .;')} …"
