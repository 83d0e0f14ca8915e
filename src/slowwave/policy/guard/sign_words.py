"""Finds the words of orders to a model in a sentence: one pass over its words gives the signs that they are, with their places."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, zip_longest
from typing import Any, Final, NamedTuple, TypeAlias

from slowwave.policy.guard.lexicon import scored_entries

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
BITS: Final = {name: 1 << number for number, name in enumerate(SIGNS)}
"""The bit of each sign, with which `tools/write_lexicon.py` writes the entries."""
GAP: Final = ".."
"""What stands in an entry where other words may stand."""
_GAP: Final = 4
"""Words that may stand there."""
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


def bit(*names: str) -> int:
    """The bits of signs."""
    bits = 0
    for name in names:
        bits |= BITS[name]
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
    """The entries of a language whose words stand between spaces.

    Args:
        table: the entries (`lexicon.scored_entries`), each with its signs: whole words, beginnings (`stems`) and endings of
            words, and phrases by their first word or by the beginning of it.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._words: Mapping[str, int] = table["words"]
        self._stems: Mapping[str, int] = table["stems"]
        self._endings: Mapping[str, int] = table["endings"]
        self._phrases: Mapping[str, Mapping[str, int]] = table["phrases"]
        self._phrase_stems: Mapping[str, Mapping[str, int]] = table["phrase_stems"]
        self._lengths = sorted(set(map(len, (*self._stems, *self._phrase_stems))))
        self._ending_lengths = sorted(set(map(len, self._endings)))
        self._of = lru_cache(maxsize=20_000)(self._looked_up)

    def _looked_up(self, word: str) -> tuple[int, Mapping[str, Sequence[_Phrase]], Sequence[_Phrase]]:
        """The signs of a word; the phrases that begin with it and with a whole word directly behind it, by that; the others."""
        signs = self._words.get(word, 0)
        phrases = list(self._phrases.get(word, {}).items())
        for length in self._lengths:
            if len(word) - _ENDING <= length <= len(word):
                stem = word[:length]
                signs |= self._stems.get(stem, 0)
                phrases += self._phrase_stems.get(stem, {}).items()
        for length in self._ending_lengths:
            if length < len(word):
                signs |= self._endings.get(word[-length:], 0)
        by_second: dict[str, list[_Phrase]] = {}
        others: list[_Phrase] = []
        for rest, bits in phrases:
            parts = _parts(rest)
            is_plain = not parts[0].is_stem and not parts[0].is_loose
            (by_second.setdefault(parts[0].word, []) if is_plain else others).append((parts, bits))
        return signs, by_second, others

    def hits(self, words: Sequence[str]) -> list[Hit]:
        """The places of a sentence with words of lists."""
        found = []
        for place, (word, second) in enumerate(zip_longest(words, words[1:], fillvalue="")):
            signs, by_second, others = self._of(word)
            if signs:
                found.append(Hit(place, place, signs))
            for parts, sign in chain(by_second.get(second, ()), others):
                if last := _end(parts, words, place):
                    found.append(Hit(place, last, sign))
        return found


def _parts(rest: str) -> tuple[_Part, ...]:
    """The words of a phrase behind its first one. Two points stand where other words may stand."""
    words = rest.split(" ")
    return tuple(
        _Part(word.rstrip("*"), word.endswith("*"), place > 0 and words[place - 1] == GAP)
        for place, word in enumerate(words)
        if word != GAP
    )


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
    """The entries of a language whose words stand without spaces.

    Args:
        entries: by the first letters of each, its signs by the letters after a gap, which are "" if it has none.
    """

    def __init__(self, entries: Mapping[str, Mapping[str, int]]) -> None:
        self._entries = entries
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
                for rest, sign in self._entries[form].items():
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
    return SpacedWords(scored_entries(code))


@cache
def unspaced(code: str) -> UnspacedWords:
    """The entries of a language without spaces, read once for a process."""
    return UnspacedWords(scored_entries(code))


def all_signs(hits: Iterable[Hit]) -> int:
    """The signs of some places together."""
    found = 0
    for hit in hits:
        found |= hit.signs
    return found
