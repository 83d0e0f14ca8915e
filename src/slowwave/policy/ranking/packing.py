"""Estimates the tokens of a text, and selects the items of sections that fit into a token budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, Protocol

from slowwave.model.query import Item, Section

# Characters per token, by how many bytes UTF-8 needs for the character: Latin · Greek, Cyrillic, Hebrew, Arabic, letters
# with marks · Chinese, Japanese, Korean, Thai, Indic · emoji and rare scripts.
_CHARACTERS_A_TOKEN: Final = (4.0, 2.5, 1.2, 0.5)
IN_FULL: Final = 0.5
"""The share of the tokens that the best memories may take in full before the others are shown in their short form."""
LONG: Final = 1 / 6
"""The share of the tokens above which a text is long: later ones are still shown in full if it does not fit."""
WIDE: Final = 0.5
"""The share of the tokens above which a short form is replaced by an excerpt."""
SHORTEST: Final = 8
"""Tokens below which no further line is tried."""
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


class Forms(Protocol):
    """A memory that can be shown in five forms. Each is made when it is first read."""

    @property
    def excerpt(self) -> Item:
        """A form for the question alone, which may lack what else is said."""

    @property
    def least(self) -> Item:
        """Its shortest form, which may lack details."""

    @property
    def short(self) -> Item:
        """Its shortest form that says most of it."""

    @property
    def full(self) -> Item:
        """Its whole text."""

    @property
    def detailed(self) -> Item:
        """Its whole text, with the details that only its facts name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A section that can be put into a context.

    Attributes:
        section: its items in the order of the context.
        forms: instead of items, memories with two forms, best first.
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
    forms: Sequence[Forms] = ()


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
    sections = tuple(section for part in chosen if (section := part.section).items)
    left = sum(part.left for part in chosen)
    return Packed(sections=sections, tokens=overhead + available - spare if sections else 0, omitted=left)


class _Chosen:
    """The items of one section that are selected so far, by their places."""

    def __init__(self, offer: Offer) -> None:
        self.offer = offer
        self.places: set[int] = set()
        self.shown: dict[int, Item] = {}

    @property
    def section(self) -> Section:
        items = self.offer.section.items
        shown = [self.shown[place] for place in sorted(self.shown)] or [items[place] for place in sorted(self.places)]
        return Section(name=self.offer.section.name, items=tuple(shown))

    @property
    def left(self) -> int:
        """How many memories are not shown."""
        return max(len(self.offer.section.items), len(self.offer.forms)) - max(len(self.places), len(self.shown))

    def fill(self, tokens: int, most: int | None = None) -> int:
        """Select the items that fit into so many tokens, of the `most` items that matter most; return the tokens spent.

        If the items have forms, they are selected again within the tokens spent before and these.
        """
        if self.offer.forms:
            return self._choose(tokens) if most is None else 0
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

    def _choose(self, tokens: int) -> int:
        before = sum(map(_cost, self.shown.values())) + (self.offer.heading if self.shown else 0)
        self.shown = selected_forms(self.offer.forms, before + tokens - self.offer.heading)
        return sum(map(_cost, self.shown.values())) + (self.offer.heading if self.shown else 0) - before


def selected_forms(forms: Sequence[Forms], tokens: int) -> dict[int, Item]:
    """The forms that fit into a number of tokens, by the place of their memory, best memory first.

    The best memories are shown in full, until these take `IN_FULL` of the tokens, with the details of their facts if they are not
    long with them; the others in their short form. A short form that takes more than `WIDE` of the tokens is replaced by an excerpt,
    and what does not fit by the shortest form. If room is left, forms are replaced by longer ones, best memory first.
    """
    shown: dict[int, Item] = {}
    left, for_full = tokens, int(IN_FULL * tokens)
    for place, each in enumerate(forms):
        if left < SHORTEST:
            break
        item = each.short
        if for_full > 0:
            item = each.detailed if _cost(each.detailed) <= LONG * tokens else each.full
        if _cost(item) > for_full > 0:
            for_full = for_full if _cost(item) > LONG * tokens else 0
            item = each.short
        if _cost(item) > max(for_full, WIDE * tokens):
            item = each.excerpt
        if _cost(item) > left:
            item = each.least
        if _cost(item) <= left:
            shown[place] = item
            left, for_full = left - _cost(item), for_full - _cost(item)
    return _lengthened(shown, forms, left)


def _lengthened(shown: Mapping[int, Item], forms: Sequence[Forms], left: int) -> dict[int, Item]:
    """The shown forms, of which longer ones replace as many as the tokens that are left allow, best memory first."""
    longest = dict(shown)
    for place, item in shown.items():
        for longer in (forms[place].detailed, forms[place].full, forms[place].short):
            if left >= SHORTEST and 0 < (more := _cost(longer) - _cost(item)) <= left:
                longest[place], left = longer, left - more
                break
    return longest


def _cost(item: Item) -> int:
    return max(0, item.tokens)
