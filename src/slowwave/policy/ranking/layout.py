"""Layouts of a context: its parts, their order and headings, and the share of the tokens of each part."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

FOCUSED: Final[Mapping[str, float]] = MappingProxyType(
    {
        "instructions": 0.0,
        "core": 0.06,
        "older": 0.02,
        "recent": 0.02,
        "relevant": 0.84,
        "related": 0.02,
        "immediate": 0.04,
    }
)
"""The share of each part in the first 800 tokens, if all parts have enough content.

Measured on LoCoMo at 800 tokens: with four fifths for relevant memories a context holds as many of the turns that a question
needs as a plain search result of the same size; with two fifths it holds 4 points fewer.
"""
BEYOND: Final[Mapping[str, float]] = MappingProxyType(
    {
        "instructions": 0.0,
        "core": 0.05,
        "older": 0.1,
        "recent": 0.1,
        "relevant": 0.5,
        "related": 0.1,
        "immediate": 0.15,
    }
)
"""The share of each part in the tokens beyond the first 800.

Measured on LoCoMo at 1,500 tokens: a context holds 90 % of the turns that questions need, as a plain search result does, and
86 % of the words of the answers; 88 % and 88 % if relevant memories get three tenths.
"""
TALKING: Final[Mapping[str, float]] = MappingProxyType(
    {
        "instructions": 0.0,
        "core": 0.1,
        "older": 0.1,
        "recent": 0.1,
        "relevant": 0.3,
        "related": 0.05,
        "immediate": 0.35,
    }
)
"""The share of each part if the model sees nothing of the conversation but the context."""
FIRST: Final = 800

CHAT: Final = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A layout of a context.

    Attributes:
        headings: the heading of each part, in the order of the context. Parts with the same heading are put under one. Parts
            that change with every turn come last, so that a prompt cache can reuse the beginning.
        focused: whether the first 800 tokens are mostly for memories that are relevant to the question.
        placed: whether the context also describes the agent and its situation (`model.scene`).
    """

    headings: Mapping[str, str]
    focused: bool = True
    placed: bool = False

    def shares(self, tokens: int, chosen: Mapping[str, float]) -> dict[str, float]:
        """The share of each part in this number of tokens, summing to 1; shares in `chosen` replace the default ones."""
        first = min(tokens, FIRST) / max(1, tokens)
        focused = {part: first * FOCUSED[part] + (1 - first) * BEYOND[part] for part in self.headings}
        mixed = {**(focused if self.focused else {part: TALKING[part] for part in self.headings}), **chosen}
        total = sum(mixed.values()) or 1.0
        return {part: share / total for part, share in mixed.items()}


_PLAIN: Final = Layout(
    headings=MappingProxyType(
        {
            "instructions": "How to answer",
            "core": "Known about the user",
            "older": "Older memories (summary)",
            "recent": "Recent past (summary)",
            "relevant": "Relevant memories",
            "related": "Related past experiences",
            "immediate": "Most recent messages",
        }
    ),
)
LAYOUTS: Final[Mapping[str, Layout]] = MappingProxyType(
    {
        "plain": _PLAIN,
        CHAT: Layout(headings=_PLAIN.headings, focused=False),
        "s4": Layout(
            headings=MappingProxyType(
                {
                    "instructions": "How to Answer",
                    "core": "Relevant Private Notes",
                    "relevant": "Relevant Private Notes",
                    "related": "Related Past Experiences",
                    "older": "Older Memories (Summary)",
                    "recent": "Recent Past (Summary)",
                    "immediate": "Most Recent Memories",
                }
            ),
            focused=False,
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
