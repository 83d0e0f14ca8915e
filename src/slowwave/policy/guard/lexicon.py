"""The words of orders to a model, by language: as patterns, and as marks that say in which lists of which language a word is.

The tables are `orders.toml` and `signs.toml` in `policy/data`. `tools/write_lexicon.py` writes them to `lexicon.json` and
`order_signs.json`, which are read here: reading TOML takes thirty times as long, and a hook of a coding agent is a new process
for each reply that it stores. Most texts need no signs, so `order_signs.json` is read when the first text does.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pkgutil import get_data
from typing import Any, Final, NamedTuple, TypeAlias

from slowwave.policy.guard.disguises import folded
from slowwave.policy.guard.word_cache import KEY, WordCache

WIDTH: Final = 32
"""Bits of a list in the marks of a word: one for each language whose words are separated by spaces."""
_Rows: TypeAlias = Mapping[str, Mapping[str, Sequence[int]]]
_AFTER_NOUN: Final = r"(?:\W{1,3}(?:above|below|given|printed|written))?\W{1,3}"


class Language:
    """The word lists of one language, compiled when they are first needed.

    Args:
        entries: the lists, as the tables have them.
        squashed: whether to read texts without spaces: the lists then match without them.
        is_scored: whether `signs.toml` has a table of the language.
    """

    def __init__(self, entries: Mapping[str, object], *, squashed: bool = False, is_scored: bool = False) -> None:
        self.is_scored = is_scored
        self.unspaced = squashed or entries.get("unspaced") is True
        self.squashed = squashed
        self.verb_last = self.unspaced or entries.get("verb_last") is True
        self.lists: dict[str, tuple[str, ...]] = {
            name: tuple(found) for name, found in entries.items() if isinstance(found, list)
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
            forms = sorted({self._bounded(word) for word in words}, key=len, reverse=True)
            whole = "|".join(forms)
            bounded = whole if self.unspaced or names == ("unspaced",) else rf"(?<!\w)(?:{whole})(?!\w)"
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

    def _bounded(self, word: str) -> str:
        """A word as a pattern; Latin letters among letters of another script are a word of their own ("ai", not "email")."""
        form = self._form(word)
        return rf"(?<![a-z0-9]){form}(?![a-z0-9])" if self.unspaced and not self.squashed and word.isascii() else form


class Lexicon(NamedTuple):
    """All languages.

    Attributes:
        spaced: those whose words are separated by spaces, in the order of their bits in the marks.
        unspaced: the others.
        squashed: those of `spaced`, for texts without spaces.
        mention: the words by which a text speaks about orders.
        places: the place of each list in the marks of a word.
        marks: the marks of each word, and of words together (`WordCache.of`): `WIDTH` bits for each list, one for each language
            in which the word is the rarest one of an entry of the list. A list without a bit has no entry in a text.
        entries: by the rarest word of each: its marks, and the other words that a text with it has.
    """

    spaced: tuple[Language, ...]
    unspaced: tuple[Language, ...]
    squashed: tuple[Language, ...]
    mention: Language
    places: Mapping[str, int]
    marks: WordCache
    entries: "_Entries"

    def marks_met(self, words: frozenset[str]) -> int:
        """The marks of the entries of which a text with these words has every whole word."""
        found = 0
        for word in self.marks.telling(words):
            if self.marks[word]:
                alone, phrases = self.entries.of(word)
                found |= alone
                for second in phrases.keys() & words:
                    for bits, others in phrases[second]:
                        if others <= words:
                            found |= bits
        return found


class _Entries:
    """The entries of lists by their rarest word.

    Args:
        words: by that word, their bits by the other words.
        stems: the same by the beginning of that word, by its first `KEY` letters.
    """

    def __init__(self, words: _Rows, stems: Mapping[str, _Rows]) -> None:
        self._words = words
        self._stems = stems
        self.of = lru_cache(maxsize=5_000)(self._of)

    def _of(self, word: str) -> tuple[int, Mapping[str, Sequence[tuple[int, frozenset[str]]]]]:
        """The marks of a word alone; and by a second word the marks of phrases, with all other words that they need."""
        rows = [self._words.get(word, {})]
        rows += [row for stem, row in self._stems.get(word[:KEY], {}).items() if word.startswith(stem)]
        alone = 0
        phrases: dict[str, list[tuple[int, frozenset[str]]]] = {}
        for row in rows:
            for others, numbers in row.items():
                bits = sum(1 << number for number in numbers)
                if others:
                    needed = frozenset(others.split())
                    phrases.setdefault(max(needed, key=len), []).append((bits, needed))
                else:
                    alone |= bits
        return alone, phrases

    def marks(self, word: str) -> int:
        """The marks of a word, whatever else is in its text."""
        if word not in self._words and word[:KEY] not in self._stems:
            return 0
        found, phrases = self.of(word)
        for bits, _ in (each for found_phrases in phrases.values() for each in found_phrases):
            found |= bits
        return found


@cache
def lexicon() -> Lexicon:
    """The tables, read once for a process."""
    tables = _read("lexicon")
    languages = tables["languages"]
    spaced = {code: each for code, each in languages.items() if not each.get("unspaced")}
    scored = tables["scored"]
    entries = _Entries(tables["words"], tables["stems"])
    return Lexicon(
        spaced=tuple(Language(each, is_scored=code in scored) for code, each in spaced.items()),
        unspaced=tuple(
            Language(each, is_scored=code in scored) for code, each in languages.items() if each.get("unspaced")
        ),
        squashed=tuple(Language(each, squashed=True) for each in spaced.values()),
        mention=Language(tables["mention"]),
        places=tables["places"],
        marks=WordCache(entries.marks),
        entries=entries,
    )


def scored_codes() -> tuple[str, ...]:
    """The languages of `signs.toml`."""
    return tuple(_signs()["scored"])


def scored_entries(code: str) -> Mapping[str, Any]:
    """The entries of a language of `signs.toml` with those of `orders.toml`, as `sign_words` reads them."""
    entries: Mapping[str, Any] = _signs()["scored"][code]
    return entries


def function_words() -> Mapping[str, Sequence[str]]:
    """The function words of each language whose words stand between spaces, those without a table in `signs.toml` as well."""
    words: Mapping[str, Sequence[str]] = _signs()["function_words"]
    return words


def weights_of_signs() -> tuple[float, Mapping[str, float]]:
    """The constant of the score of orders, and the weight of each sign (`order_weights.toml`)."""
    found = _signs()["weights"]
    return found["constant"], found["weights"]


@cache
def _signs() -> Mapping[str, Any]:
    return _read("order_signs")


def _read(name: str) -> Mapping[str, Any]:
    data = get_data("slowwave.policy", f"data/{name}.json")
    assert data is not None, "the package is complete"
    tables: Mapping[str, Any] = json.loads(data)
    return tables
