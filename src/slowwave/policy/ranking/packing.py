"""Estimates the tokens of a text, and selects the items of sections that fit into a token budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from slowwave.model.query import Item, Section

# Characters per token, by how many bytes UTF-8 needs for the character: Latin · Greek, Cyrillic, Hebrew, Arabic, letters
# with marks · Chinese, Japanese, Korean, Thai, Indic · emoji and rare scripts.
_CHARACTERS_A_TOKEN: Final = (4.0, 2.5, 1.2, 0.5)
_NOT_LEADING: Final = tuple(
    bytes(byte for byte in range(256) if not first <= byte <= last)
    for first, last in ((0xC0, 0xDF), (0xE0, 0xEF), (0xF0, 0xF7))
)


def estimate(text: str) -> int:
    """An estimate of the tokens of a text: 0 for an empty text, at least 1 for others. It needs no tokenizer.

    >>> estimate("Alice owns the deploy pipeline"), estimate("爱丽丝负责部署流水线")
    (8, 9)
    """
    if text.isascii():
        return ceil(len(text) / _CHARACTERS_A_TOKEN[0])
    encoded = text.encode("utf-8", "surrogatepass")
    wide = [len(encoded.translate(None, others)) for others in _NOT_LEADING]
    counts = (len(text) - sum(wide), *wide)
    return ceil(sum(count / per for count, per in zip(counts, _CHARACTERS_A_TOKEN, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A section that can be put into a context.

    Attributes:
        section: its items in the order of the context.
        share: its share of the budget, relative to the shares of the others.
        heading: the cost of its heading in tokens, if any item is selected.
        ending: whether the last items matter most and must be consecutive, as in a conversation; else the first items matter
            most, and an item that is too long is skipped.
        kept: how many of the items that matter most are selected before any section gets its share.
    """

    section: Section
    share: float
    heading: int = 0
    ending: bool = False
    kept: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """The selected sections, their cost with headings and overhead (`tokens`), and how many items did not fit (`left`)."""

    sections: tuple[Section, ...]
    tokens: int
    omitted: int


def pack(offers: Sequence[Offer], budget: int, *, overhead: int = 0) -> Packed:
    """Select items of each section within a budget of tokens, and distribute unused shares to other sections.

    The order of sections and items does not change. First the `kept` items of each section are selected, at the cost of its
    share; then sections are filled in the order of their shares, and so is the unused rest. `overhead` is the cost of the text
    around the sections; if it exceeds the budget, nothing is selected and the cost is 0.
    """
    available = budget - overhead
    if available <= 0:
        return Packed(sections=(), tokens=0, omitted=sum(len(offer.section.items) for offer in offers))
    total = sum(offer.share for offer in offers)
    chosen = [_Chosen(offer) for offer in offers]
    filled = sorted(chosen, key=lambda part: -part.offer.share)
    spare = available
    kept = []
    for part in filled:
        kept.append(part.fill(spare, part.offer.kept))
        spare -= kept[-1]
    carried = 0.0
    for part, before in zip(filled, kept, strict=True):
        quota = (available * part.offer.share / total if total else 0.0) + carried - before
        spent = part.fill(min(int(quota), spare))
        spare, carried = spare - spent, quota - spent
    for part in filled:
        spare -= part.fill(spare)
    sections = tuple(part.section for part in chosen if part.places)
    left = sum(len(part.offer.section.items) - len(part.places) for part in chosen)
    return Packed(sections=sections, tokens=overhead + available - spare if sections else 0, omitted=left)


class _Chosen:
    """The items of one section that are selected so far, by their places."""

    def __init__(self, offer: Offer) -> None:
        self.offer = offer
        self.places: set[int] = set()

    @property
    def section(self) -> Section:
        items = self.offer.section.items
        return Section(name=self.offer.section.name, items=tuple(items[place] for place in sorted(self.places)))

    def fill(self, tokens: int, most: int | None = None) -> int:
        """Select the items that fit into so many tokens, of the `most` items that matter most; return the tokens spent."""
        items, spent = self.offer.section.items, 0
        for place in list(reversed(range(len(items))) if self.offer.ending else range(len(items)))[:most]:
            if place in self.places:
                continue
            cost = _cost(items[place]) + (0 if self.places else self.offer.heading)
            if spent + cost <= tokens:
                self.places.add(place)
                spent += cost
            elif self.offer.ending:
                break
        return spent


def _cost(item: Item) -> int:
    return max(0, item.tokens)
