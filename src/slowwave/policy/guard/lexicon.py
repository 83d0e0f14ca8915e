"""The words of orders to a model, by language (`policy/data/orders.toml` and `directives.toml`), as patterns and as signs.

The signs of a text are one integer with a bit for each list of each language of which a word may be in the text. A rule that
needs words of several lists is ruled out by a few operations on this integer, before any pattern is tried.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pkgutil import get_data
from typing import Final, NamedTuple

from slowwave.policy.guard.disguises import KEY, Reading, folded

_WIDTH: Final = 32
"""Bits of a list in the signs of a text: one for each language whose words are separated by spaces."""
_AFTER_NOUN: Final = r"(?:\W{1,3}(?:above|below|given|printed|written))?\W{1,3}"


class Language:
    """The word lists of one language, compiled when they are first needed.

    Args:
        entries: the lists, as the tables have them.
        squashed: whether to read texts without spaces: the lists then match without them.
    """

    def __init__(self, entries: Mapping[str, object], *, squashed: bool = False) -> None:
        self.unspaced = squashed or entries.get("unspaced") is True
        self.squashed = squashed
        self.verb_last = self.unspaced or entries.get("verb_last") is True
        self.lists = {
            name: tuple(str(word) for word in found) for name, found in entries.items() if isinstance(found, list)
        }
        self._patterns: dict[tuple[str, ...], re.Pattern[str] | None] = {}
        self._about: re.Pattern[str] | None = None

    def letters(self, names: Iterable[str]) -> frozenset[str]:
        """The first letters of the words of some lists, for scripts without spaces."""
        words = (folded(word) for name in names for word in self.lists.get(name, ()))
        return frozenset(word[0] for word in words if not word[0].isascii())

    def pattern(self, *names: str) -> re.Pattern[str] | None:
        """The words of these lists as one pattern; None if there are none."""
        if names not in self._patterns:
            words = (word for name in names for word in self.lists.get(name, ()))
            forms = sorted({self._form(word) for word in words}, key=len, reverse=True)
            whole = "|".join(forms)
            bounded = whole if self.unspaced else rf"(?<!\w)(?:{whole})(?!\w)"
            self._patterns[names] = re.compile(bounded) if forms else None
        return self._patterns[names]

    def has(self, name: str, text: str) -> bool:
        """Whether a word of a list is in the text."""
        pattern = self.pattern(name)
        return pattern is not None and pattern.search(text) is not None

    def own_subject(self, after: str) -> re.Match[str] | None:
        """The words by which a noun is followed by a subject of its own, such as "for the dishwasher"."""
        if self.squashed or not self.lists.get("about"):
            return None
        if self._about is None:
            words = "|".join(self._form(word) for word in self.lists["about"])
            earlier = "|".join(self._form(word) for word in self.lists.get("earlier", ()))
            own = r"" if self.unspaced else r"(?!\w)"
            self._about = re.compile(rf"(?:\W{{1,3}}(?:{earlier}))?{_AFTER_NOUN}(?:{words}){own}")
        return self._about.match(after)

    def _form(self, word: str) -> str:
        plain = folded(word)
        if self.squashed:
            return ".{0,24}?".join(re.escape(part.replace(" ", "").rstrip("*")) for part in plain.split(" .. "))
        gap, space = (".{0,24}?", " ") if self.unspaced else (r"(?:\W{1,3}[\w']{1,20}){0,4}?\W{1,3}", r"\W{1,3}")
        return gap.join(
            space.join(re.escape(each).replace(r"\*", r"\w{0,12}") for each in part.split(" "))
            for part in plain.split(" .. ")
        )


class Lexicon(NamedTuple):
    """All languages.

    Attributes:
        spaced: those whose words are separated by spaces, in the order of their bits in the signs.
        unspaced: the others.
        squashed: those of `spaced`, for texts without spaces.
        mention: the words by which a text speaks about orders.
        places: the place of each list in the signs.
        words: the signs of whole words.
        stems: the signs of the first `KEY` letters of words.
    """

    spaced: tuple[Language, ...]
    unspaced: tuple[Language, ...]
    squashed: tuple[Language, ...]
    mention: Language
    places: dict[str, int]
    words: dict[str, int]
    stems: dict[str, int]


@cache
def lexicon() -> Lexicon:
    """The tables, read once for a process."""
    entries = _table("orders")
    mention = entries.pop("mention")
    for name, lists in _table("directives").items():
        entries[name] = {**entries.get(name, {}), **lists}
    spaced = [each for each in entries.values() if not each.get("unspaced")]
    assert len(spaced) <= _WIDTH, "each language has a bit of its own"
    languages = tuple(Language(each) for each in spaced)
    places: dict[str, int] = {}
    words: dict[str, int] = {}
    stems: dict[str, int] = {}
    for number, language in enumerate(languages):
        for name, found in language.lists.items():
            bit = 1 << (places.setdefault(name, _WIDTH * len(places)) + number)
            for sign, is_stem in map(sign_of, found):
                table = stems if is_stem else words
                table[sign] = table.get(sign, 0) | bit
    return Lexicon(
        spaced=languages,
        unspaced=tuple(Language(each) for each in entries.values() if each.get("unspaced")),
        squashed=tuple(Language(each, squashed=True) for each in spaced),
        mention=Language(mention),
        places=places,
        words=words,
        stems=stems,
    )


def signs(words: Iterable[str]) -> int:
    """The lists, by language, of which a word may be among these words.

    A phrase is counted as present with its longest word; so a bit that is not set rules a list out, and one that is set does
    not prove it.
    """
    known = lexicon()
    whole, stems = known.words, known.stems
    found = 0
    for word in words:
        if sign := whole.get(word):
            found |= sign
        if sign := stems.get(word[:KEY]):
            found |= sign
    return found


class Need:
    """Groups of lists of which a rule needs a word of each group, as a test of signs."""

    def __init__(self, groups: Iterable[Iterable[str]]) -> None:
        places = lexicon().places
        self._places = tuple(tuple(places[name] for name in group if name in places) for group in groups)

    def languages(self, found: int) -> int:
        """A bit for each language in which the signs have all groups."""
        mask = (1 << _WIDTH) - 1
        for group in self._places:
            some = 0
            for place in group:
                some |= found >> place
            mask &= some
            if not mask:
                return 0
        return mask


def reading_signs(reading: Reading) -> int:
    """The signs of a reading; 0 if its words stand without spaces."""
    return 0 if reading.squashed else signs(reading.words)


def _table(name: str) -> dict[str, dict[str, object]]:
    data = get_data("slowwave.policy", f"data/{name}.toml")
    assert data is not None, "the package is complete"
    return tomllib.loads(data.decode())


def sign_of(entry: str) -> tuple[str, bool]:
    """The word of an entry by which it is found, and whether only its beginning is known."""
    parts = re.findall(r"[\w*]+", folded(entry))
    if len(parts) == 1 and "*" in parts[0][:KEY]:
        raise ValueError(f"{entry!r} needs {KEY} letters before *")
    known = [(part.rstrip("*")[:KEY], True) if "*" in part else (part, False) for part in parts]
    return max((sign for sign in known if not sign[1] or len(sign[0]) == KEY), key=lambda sign: (len(sign[0]), sign))
