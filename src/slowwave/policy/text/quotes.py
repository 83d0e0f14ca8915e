"""Finds a quote in a message, also where white space, case, typography or single letters differ."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

NEAR: Final = 90.0
"""The least similarity (0 to 100) of a quote to a passage of the message, for quotes that a model retyped inexactly."""
_SHORTEST_NEAR: Final = 12  # shorter quotes must be exact: one letter changes their meaning
_LONGEST_NEAR: Final = 400  # the time grows with the cube of the length: 4 s for a quote of 4,000 in a text of 20,000
_FIRST_UNSPACED: Final = 0x0E00
"""From Thai on, most scripts write no spaces between words or attach particles to them: word boundaries are not checked."""
_TYPOGRAPHY: Final = str.maketrans("‘’‚‛`´“”„‟«»‐‑‒–—―−", "''''''\"\"\"\"\"\"-------")
_MARKUP: Final = "*`"
_EDGES: Final = " .,;:!?\"'…。，！？()[]-"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteSpan:
    """The place [start, end) of a quote in a message; `exact` up to white space, case, typography and emphasis marks."""

    start: int
    end: int
    exact: bool


@dataclass(frozen=True, slots=True)
class _Folded:
    text: str
    places: tuple[int, ...]


def locate(quote: str, text: str) -> QuoteSpan | None:
    """Find a quote in a text, exactly or with a similarity of at least `NEAR`. The span begins and ends between words.

    A quote of more than 400 characters is found only exactly, but for white space, case, typography and emphasis marks.

    >>> span = locate("it's  argon2", "Now it’s Argon2, with a salt")
    >>> span and "Now it’s Argon2, with a salt"[span.start : span.end]
    'it’s Argon2'
    """
    wanted = _folded(quote).text.strip(_EDGES)
    if not wanted:
        return None
    if (start := text.find(quote)) >= 0 and _bounded(text, start, start + len(quote)):
        return QuoteSpan(start=start, end=start + len(quote), exact=True)
    within = _folded(text)
    place = within.text.find(wanted)
    while place >= 0:
        if _bounded(within.text, place, place + len(wanted)):
            return _span(within, place, place + len(wanted), exact=True)
        place = within.text.find(wanted, place + 1)
    if not _SHORTEST_NEAR <= len(wanted) <= min(_LONGEST_NEAR, len(within.text)):
        return None
    near = fuzz.partial_ratio_alignment(wanted, within.text, score_cutoff=NEAR)
    if near is None:
        return None
    start, end = _to_words(within.text, near.dest_start, near.dest_end)
    return _span(within, start, end, exact=False)


def _folded(text: str) -> _Folded:
    """The text in the form in which it is compared, and the place of each of its characters in the original."""
    pairs = list(_characters(text))
    return _Folded("".join(c for c, _ in pairs), tuple(place for _, place in pairs))


def _characters(text: str) -> Iterator[tuple[str, int]]:
    space = True
    for place, character in enumerate(text):
        if character in _MARKUP:
            continue
        if character.isspace():
            if not space:
                yield " ", place
            space = True
            continue
        space = False
        for folded in unicodedata.normalize("NFKC", character.translate(_TYPOGRAPHY)).casefold():
            yield folded, place


def _bounded(text: str, start: int, end: int) -> bool:
    return not (_is_inside_word(text, start) or _is_inside_word(text, end))


def _is_inside_word(text: str, place: int) -> bool:
    """Whether the characters on both sides of a place belong to one word."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    return before.isalnum() and after.isalnum() and ord(before) < _FIRST_UNSPACED and ord(after) < _FIRST_UNSPACED


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a span to whole words, and drop the spaces at its ends."""
    while _is_inside_word(text, start):
        start -= 1
    while _is_inside_word(text, end):
        end += 1
    passage = text[start:end]
    return start + len(passage) - len(passage.lstrip()), end - len(passage) + len(passage.rstrip())


def _span(within: _Folded, start: int, end: int, *, exact: bool) -> QuoteSpan:
    return QuoteSpan(start=within.places[start], end=within.places[end - 1] + 1, exact=exact)
