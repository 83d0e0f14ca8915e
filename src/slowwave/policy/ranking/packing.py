"""Estimates the tokens of a text, and fills a context with lines until its room is used."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from slowwave.model.query import Item

# Characters per token, by how many bytes UTF-8 needs for the character: Latin · Greek, Cyrillic, Hebrew, Arabic, letters
# with marks · Chinese, Japanese, Korean, Thai, Indic · emoji and rare scripts.
_CHARACTERS_A_TOKEN: Final = (4.0, 2.5, 1.2, 0.5)
SHORTEST: Final = 6.0
"""Tokens below which no further line is tried."""
_NOT_LEADING: Final = tuple(
    bytes(byte for byte in range(256) if not first <= byte <= last)
    for first, last in ((0xC0, 0xDF), (0xE0, 0xEF), (0xF0, 0xF7))
)


def weight(text: str) -> float:
    """The tokens of a text, unrounded: the weight of two texts together is the sum of theirs. It needs no tokenizer.

    >>> weight("Ann"), weight("爱")
    (0.75, 0.8333333333333334)
    """
    if text.isascii():
        return len(text) / _CHARACTERS_A_TOKEN[0]
    encoded = text.encode("utf-8", "surrogatepass")
    wide = [len(encoded.translate(None, others)) for others in _NOT_LEADING]
    counts = (len(text) - sum(wide), *wide)
    return sum(count / per for count, per in zip(counts, _CHARACTERS_A_TOKEN, strict=True))


def estimate(text: str) -> int:
    """An estimate of the tokens of a text: 0 for an empty text, at least 1 for others.

    >>> estimate("Alice owns the deploy pipeline"), estimate("爱丽丝负责部署流水线")
    (8, 9)
    """
    return ceil(weight(text))


@dataclass(frozen=True, slots=True)
class Line:
    """An item of a context with its unrounded cost in tokens."""

    item: Item
    cost: float


@dataclass(slots=True)
class Room:
    """What is left of a budget, and the items that were taken, by part.

    Args:
        left: tokens that are left.
        headings: the cost of the heading of each part, charged with its first item. Parts with one heading are charged once.
    """

    left: float
    headings: dict[str, tuple[str, float]]
    taken: dict[str, list[Item]] = field(default_factory=dict)
    charged: set[str] = field(default_factory=set)
    omitted: int = 0

    def fill(self, part: str, lines: Iterable[Line], most: float) -> float:
        """Take the lines that fit into so many tokens, in their order; a line that is too long is skipped. Return the cost."""
        spent = 0.0
        most = min(most, self.left)
        name, heading = self.headings[part]
        for line in lines:
            cost = line.cost + (0.0 if name in self.charged else heading)
            if spent + cost > most:
                self.omitted += 1
                continue
            self.charged.add(name)
            self.taken.setdefault(part, []).append(line.item)
            spent += cost
        self.left -= spent
        return spent
