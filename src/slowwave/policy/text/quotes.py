"""Where a quote stands in a message: its own words, whatever became of white space, case and typography on the way."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

NEAR: Final = 90.0
"""A quote a model retyped still counts if this share (0..100) of its letters stands in the message in one piece."""
_SHORTEST_NEAR: Final = 12  # shorter quotes must be exact: one letter changes their meaning
_FIRST_UNSPACED: Final = 0x0E00
"""From Thai on, most scripts write no spaces between words, or glue particles to them: no word boundary is asked for."""
_TYPOGRAPHY: Final = str.maketrans("‘’‚‛`´“”„‟«»‐‑‒–—―−", "''''''\"\"\"\"\"\"-------")
_MARKUP: Final = "*`"
_EDGES: Final = " .,;:!?\"'…。，！？()[]-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A quote found at [start, end) of a message; `exact` up to white space, case, typography and emphasis marks."""

    start: int
    end: int
    exact: bool


@dataclass(frozen=True, slots=True)
class _Folded:
    text: str
    places: tuple[int, ...]


def locate(quote: str, text: str) -> Found | None:
    """Find a quote in a text, exactly or nearly, from word to word.

    >>> found = locate("it's  argon2", "Now it’s Argon2, with a salt")
    >>> found and "Now it’s Argon2, with a salt"[found.start : found.end]
    'it’s Argon2'
    """
    wanted = _folded(quote).text.strip(_EDGES)
    if not wanted:
        return None
    if (start := text.find(quote)) >= 0 and _bounded(text, start, start + len(quote)):
        return Found(start=start, end=start + len(quote), exact=True)
    within = _folded(text)
    place = within.text.find(wanted)
    while place >= 0:
        if _bounded(within.text, place, place + len(wanted)):
            return _found(within, place, place + len(wanted), exact=True)
        place = within.text.find(wanted, place + 1)
    if len(wanted) < _SHORTEST_NEAR or len(wanted) > len(within.text):
        return None
    near = fuzz.partial_ratio_alignment(wanted, within.text, score_cutoff=NEAR)
    if near is None:
        return None
    start, end = _to_words(within.text, near.dest_start, near.dest_end)
    return _found(within, start, end, exact=False)


def _folded(text: str) -> _Folded:
    """The text as it is compared, and the place in the original of each of its characters."""
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
    return not (_joined(text, start) or _joined(text, end))


def _joined(text: str, place: int) -> bool:
    """Whether the characters on both sides of a place belong to one word."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    return before.isalnum() and after.isalnum() and ord(before) < _FIRST_UNSPACED and ord(after) < _FIRST_UNSPACED


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Complete the words that an alignment cut into, and drop spaces at its edges."""
    while _joined(text, start):
        start -= 1
    while _joined(text, end):
        end += 1
    cut = text[start:end]
    return start + len(cut) - len(cut.lstrip()), end - len(cut) + len(cut.rstrip())


def _found(within: _Folded, start: int, end: int, *, exact: bool) -> Found:
    return Found(start=within.places[start], end=within.places[end - 1] + 1, exact=exact)
