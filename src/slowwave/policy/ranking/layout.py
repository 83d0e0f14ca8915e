"""Layouts: which parts a context has, in which order, under which headings, and what share of its tokens each gets."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

FOCUSED: Final[Mapping[str, float]] = MappingProxyType(
    {"core": 0.06, "older": 0.02, "recent": 0.02, "relevant": 0.84, "related": 0.02, "immediate": 0.04}
)
"""What each part gets of the first 800 tokens, where all have much to show.

Measured on LoCoMo at 800 tokens: of the turns a question needs, contexts hold as many as plain recall does at the same
tokens once four fifths go to what is relevant; at two fifths they hold 4 points fewer.
"""
BEYOND: Final[Mapping[str, float]] = MappingProxyType(
    {"core": 0.05, "older": 0.1, "recent": 0.1, "relevant": 0.5, "related": 0.1, "immediate": 0.15}
)
"""The same of the tokens beyond them.

Measured on LoCoMo at 1,500 tokens: contexts hold 90 % of the turns that questions need, as plain recall does, and 86 % of
the words of answers; 88 % and 88 % where what is relevant gets three tenths of these.
"""
TALKING: Final[Mapping[str, float]] = MappingProxyType(
    {"core": 0.1, "older": 0.1, "recent": 0.1, "relevant": 0.3, "related": 0.05, "immediate": 0.35}
)
"""The same where the context is everything the model sees of a conversation."""
FIRST: Final = 800

CHAT: Final = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A way to show a context.

    Attributes:
        headings: the heading of each part, in the order in which they are shown. Parts of one heading stand under it
            together. What changes from turn to turn comes last where prompts are cached.
        focused: whether the first 800 tokens are for what is asked.
        placed: whether the agent, and where it is, are told around the memories (`model.scene`).
    """

    headings: Mapping[str, str]
    focused: bool = True
    placed: bool = False

    def shares(self, tokens: int, chosen: Mapping[str, float]) -> dict[str, float]:
        """The part of so many tokens that each part gets, summing to 1; `chosen` ones take the place of ours."""
        first = min(tokens, FIRST) / max(1, tokens)
        ours = {part: first * FOCUSED[part] + (1 - first) * BEYOND[part] for part in self.headings}
        mixed = {**(ours if self.focused else {part: TALKING[part] for part in self.headings}), **chosen}
        total = sum(mixed.values()) or 1.0
        return {part: share / total for part, share in mixed.items()}


_PLAIN: Final = Layout(
    headings=MappingProxyType(
        {
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
    """A text of at most so many characters, cut where a clause or sentence ends in its second half, else at a word.

    >>> shortened("Alice: ran a race; adopted a dog; moved", 30)
    'Alice: ran a race …'
    """
    if len(text) <= characters:
        return text
    room = text[: max(0, characters - 2)]
    ends = (max(room.rfind(mark) for mark in ("; ", ". ", "\n")), room.rfind(" "))
    cut = next((end for end in ends if end > len(room) // 2), len(room))  # a script without spaces is cut anywhere
    return f"{room[:cut].rstrip(' .;')} …"
