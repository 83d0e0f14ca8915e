"""Finds the words of orders to a model in a sentence: one pass over its words gives the signs that they are, with their places."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import pairwise, repeat
from operator import or_
from typing import Final, NamedTuple, TypeAlias

from slowwave.policy.guard.disguises import OfWords, folded
from slowwave.policy.guard.lexicon import scored_lists
from slowwave.policy.text.lazy_regex import lazy_regex

SIGNS: Final[Mapping[str, tuple[str, ...]]] = {
    "model": ("ai", "machine", "robot", "model_names"),
    "assistant": ("helper", "agent_names"),
    "reads this": ("reads",),
    "note to": ("note",),
    "any": ("any",),
    "you are": ("being",),
    "user": ("served", "user", "served_people"),
    "other person": ("person",),
    "must": ("duty",),
    "always": ("always",),
    "when asked": ("when_asked",),
    "not": ("deny",),
    "every": ("each", "every"),
    "only": ("only",),
    "set aside": ("drop", "aside"),
    "instructions": ("law", "orders", "rules"),
    "all that was said": ("told", "said"),
    "earlier": ("earlier",),
    "given by": ("giver",),
    "no longer in force": ("gone", "void", "lifted", "off"),
    "obey": ("obey_verbs",),
    "this text": ("this_text",),
    "tell": ("tell",),
    "learn": ("learn",),
    "conceal": ("hide", "quiet", "secret", "conceal"),
    "leave out": ("omit",),
    "answer": ("task",),
    "say": ("say",),
    "remember": ("remember", "store"),
    "memory": ("lasting", "memory"),
    "approval": ("approval",),
    "send": ("send_verbs",),
    "private data": ("private_data",),
    "show": ("show_words",),
    "own prompt": ("prior", "innards", "own"),
    "run": ("run",),
    "tool": ("tool", "device"),
    "pay": ("pay",),
    "change": ("change",),
    "without asking": ("unasked", "without_asking"),
    "urgent": ("urgent",),
    "conversation": ("conversation",),
    "processes": ("reading",),
    "paper": ("paper",),
    "become": ("become", "now"),
    "no longer be": ("renounce",),
    "without limits": ("limitless",),
    "limits": ("limits", "policy"),
    "full rights": ("admin", "full_rights", "authority"),
    "claims authority": ("claims_authority",),
    "favour": ("favour", "promote"),
    "encoded": ("cipher", "decode"),
    "in the user's name": ("behalf",),
    "role of staff": ("staff_roles",),
    "machine at work": ("at_work",),
    "shape of a reply": ("reply_shape",),
    "standing leave": ("leave",),
    "request": ("request",),
    "other order": ("order",),
    "people": ("people",),
    "pupils": ("pupils",),
    "own things": ("own_things", "mine"),
    "team": ("crew",),
    "polite": ("polite",),
    "games": ("games",),
    "reports": ("reports",),
    "somebody": ("pronouns",),
    "joins": ("and",),
    "goes before": ("particles",),
}
"""Each sign with the lists of `policy/data` whose words are signs of it."""
_NAMES: Final = tuple(SIGNS)
_BITS: Final = {name: 1 << number for number, name in enumerate(SIGNS)}
_WIDTH: Final = len(SIGNS)
_ALL: Final = (1 << _WIDTH) - 1
_WORD: Final = lazy_regex(r"[^\W_]+")
_GAP: Final = 4
"""Words that may stand where an entry has two points."""
_GAP_LETTERS: Final = 24
"""Letters that may stand there in scripts without spaces."""
_ENDING: Final = 12
"""Letters of an ending in place of *."""
_LATIN_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


class Hit(NamedTuple):
    """A place in a sentence with words of lists.

    Attributes:
        first: the number of its first word; in scripts without spaces, of its first letter.
        last: the number of its last word; in scripts without spaces, where it ends.
        signs: a bit for each sign.
    """

    first: int
    last: int
    signs: int


class _Part(NamedTuple):
    """A word of an entry, whether it is only the beginning of words, and whether other words may stand before it."""

    word: str
    is_stem: bool
    is_loose: bool

    def matches(self, word: str) -> bool:
        if not self.is_stem:
            return word == self.word
        return word.startswith(self.word) and len(word) <= len(self.word) + _ENDING


_Phrase: TypeAlias = tuple[tuple[_Part, ...], int]
_Phrases: TypeAlias = dict[str, list[_Phrase]]
_Seconds: TypeAlias = tuple[_Phrases, tuple[tuple[int, _Phrases], ...]]


def bit(*names: str) -> int:
    """The bits of signs."""
    bits = 0
    for name in names:
        bits |= _BITS[name]
    return bits


@lru_cache(maxsize=5_000)
def names_of(bits: int) -> tuple[str, ...]:
    """The names of the signs of some bits."""
    names = []
    while bits:
        lowest = bits & -bits
        names.append(_NAMES[lowest.bit_length() - 1])
        bits ^= lowest
    return tuple(names)


class SpacedWords:
    """The entries of a language whose words stand between spaces."""

    def __init__(self, lists: Mapping[str, Sequence[str]]) -> None:
        self._whole: dict[str, int] = {}
        self._stems: dict[str, int] = {}
        self._endings: dict[str, int] = {}
        self._pairs: dict[str, dict[str, list[_Phrase]]] = {}
        self._two: dict[tuple[str, str], int] = {}
        self._second_words: dict[str, int] = {}
        self._second_stems: dict[str, int] = {}
        self._phrases: dict[str, list[_Phrase]] = {}
        self._phrase_stems: dict[str, list[_Phrase]] = {}
        for name, sources in SIGNS.items():
            for entry in {entry for source in sources for entry in lists.get(source, ())}:
                self._add(entry, _BITS[name])
        lengths = {len(stem) for stem in (*self._stems, *self._phrase_stems)}
        self._lengths = tuple(sorted(lengths))
        self._second_lengths = tuple({len(stem) for stem in self._second_stems})
        self._ending_lengths = tuple(sorted({len(ending) for ending in self._endings}))
        self.of = lru_cache(maxsize=20_000)(self._of)
        self._signs = OfWords(self._beginning)
        self._by_second = lru_cache(maxsize=5_000)(self._seconds)

    def _add(self, entry: str, sign: int) -> None:
        written = folded(entry)
        if written.startswith("*"):
            ending = written[1:]
            self._endings[ending] = self._endings.get(ending, 0) | sign
            return
        parts = []
        for number, segment in enumerate(written.split(" .. ")):
            for place, word in enumerate(re.findall(r"[^\W_]+\*?", segment)):
                parts.append(_Part(word.rstrip("*"), word.endswith("*"), bool(number) and not place))
        if not parts:
            return
        first, rest = parts[0], tuple(parts[1:])
        if len(parts) == 2 and not (first.is_stem or rest[0].is_stem or rest[0].is_loose):  # noqa: PLR2004 - two words
            self._two[first.word, rest[0].word] = self._two.get((first.word, rest[0].word), 0) | sign
        elif rest:
            seconds = self._second_stems if rest[0].is_stem else self._second_words
            seconds[rest[0].word] = seconds.get(rest[0].word, 0) | sign
        if rest and not (first.is_stem or rest[0].is_stem or rest[0].is_loose):
            self._pairs.setdefault(first.word, {}).setdefault(rest[0].word, []).append((rest, sign))
        elif rest:
            (self._phrase_stems if first.is_stem else self._phrases).setdefault(first.word, []).append((rest, sign))
        else:
            known = self._stems if first.is_stem else self._whole
            known[first.word] = known.get(first.word, 0) | sign

    def _of(self, word: str) -> tuple[int, tuple[_Phrase, ...]]:
        """The signs of a word, and the phrases that begin with it."""
        signs = self._whole.get(word, 0)
        phrases = list(self._phrases.get(word, ()))
        size = len(word)
        for length in self._lengths:
            if length > size:
                break
            if size - length <= _ENDING:
                stem = word[:length]
                signs |= self._stems.get(stem, 0)
                phrases += self._phrase_stems.get(stem, ())
        for length in self._ending_lengths:
            if length < size:
                signs |= self._endings.get(word[-length:], 0)
        return signs, tuple(phrases)

    def _beginning(self, word: str) -> int:
        """The signs of a word; in higher bits those of the phrases of which it may be the second word, and the first word."""
        signs, phrases = self.of(word)
        second = self._second_words.get(word, 0)
        for length in self._second_lengths:
            second |= self._second_stems.get(word[:length], 0)
        begun = 0
        for _, sign in phrases:
            begun |= sign
        for found in self._pairs.get(word, {}).values():
            for parts, sign in found:
                if len(parts) > 1:
                    begun |= sign
        return signs | second << _WIDTH | begun << 2 * _WIDTH

    def signs(self, words: Sequence[str], needed: int) -> int:
        """The signs of a sentence together; 0 if it has none of those needed, or no second one."""
        beginnings = list(map(self._signs.__getitem__, words))
        several = reduce(or_, beginnings, 0)
        found = several & _ALL | reduce(or_, map(self._two.get, pairwise(words), repeat(0)), 0)
        more = (several >> _WIDTH) & (several >> 2 * _WIDTH) & ~found & _ALL
        possible = found | more
        if not possible & needed or not possible & (possible - 1):
            return 0
        if more:
            more <<= 2 * _WIDTH
            for place, beginning in enumerate(beginnings):
                if beginning & more:
                    found |= self._begun(words, place, found)
        return found if found & needed and found & (found - 1) else 0

    def _begun(self, words: Sequence[str], place: int, known: int) -> int:
        """The signs of the phrases that begin at a place, but for those known already."""
        word = words[place]
        found = 0
        if word in self._pairs and place + 1 < len(words):
            for parts, sign in self._pairs[word].get(words[place + 1], ()):
                if sign & ~known and _end(parts, words, place):
                    found |= sign
        for parts, sign in self._following(word, words[place + 1 : place + _GAP + 2]):
            if sign & ~known and _end(parts, words, place):
                found |= sign
        return found

    def _following(self, word: str, after: Sequence[str]) -> Iterator[_Phrase]:
        """The phrases that begin with a word and whose second word is among those after it."""
        whole, stems = self._by_second(word)
        for second in after:
            if second in whole:
                yield from whole[second]
            for length, known in stems:
                if (stem := second[:length]) in known:
                    yield from known[stem]

    def _seconds(self, word: str) -> _Seconds:
        """The phrases that begin with a word by their second word, and by the length of its beginning and by that."""
        whole: _Phrases = {}
        stems: dict[int, _Phrases] = {}
        for parts, sign in self.of(word)[1]:
            second = parts[0]
            known = stems.setdefault(len(second.word), {}) if second.is_stem else whole
            known.setdefault(second.word, []).append((parts, sign))
        return whole, tuple(stems.items())

    def hits(self, words: Sequence[str]) -> list[Hit]:
        """The places of a sentence with words of lists."""
        found = []
        pairs, size = self._pairs, len(words)
        for place, word in enumerate(words):
            signs, phrases = self.of(word)
            if signs:
                found.append(Hit(place, place, signs))
            if word in pairs and place + 1 < size:
                phrases += tuple(pairs[word].get(words[place + 1], ()))
            for parts, sign in phrases:
                last = _end(parts, words, place)
                if last:
                    found.append(Hit(place, last, sign))
        return found


def _end(parts: tuple[_Part, ...], words: Sequence[str], place: int) -> int:
    """The number of the last word of a phrase whose first word is at a place; 0 if the phrase does not stand there."""
    for part in parts:
        place += 1
        reach = _GAP + 1 if part.is_loose else 1
        for word in words[place : place + reach]:
            if part.matches(word):
                break
            place += 1
        else:
            return 0
    return place


class UnspacedWords:
    """The entries of a language whose words stand without spaces."""

    def __init__(self, lists: Mapping[str, Sequence[str]]) -> None:
        self._entries: dict[str, list[tuple[str, int]]] = {}
        for name, sources in SIGNS.items():
            for entry in {entry for source in sources for entry in lists.get(source, ())}:
                first, _, rest = folded(entry).replace("*", "").partition(" .. ")
                if first:
                    self._entries.setdefault(first, []).append((rest, _BITS[name]))
        lengths: dict[str, dict[int, None]] = {}
        for form in sorted(self._entries, key=len, reverse=True):
            lengths.setdefault(form[0], {})[len(form)] = None
        self._lengths = {first: tuple(found) for first, found in lengths.items()}

    def hits(self, sentence: str) -> list[Hit]:
        """The places of a sentence with words of lists."""
        found = []
        for place, letter in enumerate(sentence):
            if letter not in self._lengths:
                continue
            longest = self._longest(sentence, place, letter)
            for end in range(place + len(longest), place, -1):
                form = sentence[place:end]
                if form not in self._entries:
                    continue
                for rest, sign in self._entries[form]:
                    if not rest:
                        found.append(Hit(place, end, sign))
                    elif (later := sentence.find(rest, end, end + _GAP_LETTERS + len(rest))) >= 0:
                        found.append(Hit(place, later + len(rest), sign))
        return found

    def _longest(self, sentence: str, place: int, letter: str) -> str:
        """The longest entry that begins at a place; "" if there is none. Latin letters among others must be a word."""
        for length in self._lengths[letter]:
            form = sentence[place : place + length]
            if form in self._entries and not (form.isascii() and _is_part(sentence, place, place + length)):
                return form
        return ""


def _is_part(sentence: str, start: int, end: int) -> bool:
    """Whether Latin letters or digits stand directly beside some letters."""
    return sentence[start - 1 : start] in _LATIN_LETTERS or sentence[end : end + 1] in _LATIN_LETTERS


@cache
def spaced(code: str) -> SpacedWords:
    """The entries of a language with spaces, read once for a process."""
    return SpacedWords(scored_lists(code))


@cache
def unspaced(code: str) -> UnspacedWords:
    """The entries of a language without spaces, read once for a process."""
    return UnspacedWords(scored_lists(code))


def all_signs(hits: Iterable[Hit]) -> int:
    """The signs of some places together."""
    found = 0
    for hit in hits:
        found |= hit.signs
    return found
