"""Finds the names and numbers of a text: what a fact drawn from it must not invent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from slowwave.policy.text.calendar import MONTH_NUMBERS, WEEKDAY_NUMBERS
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import CARDINALS, FUNCTION_WORDS, ORDINALS, table_words
from slowwave.policy.text.tokens import STOP_WORDS
from slowwave.policy.text.word_frequency import probabilities

_WORD: Final = lazy_regex(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBER: Final = lazy_regex(r"(?<![A-Za-z\d])[A-Za-z]*\d[A-Za-z\d]*(?:[.,:/][A-Za-z]*\d[A-Za-z\d]*)*")
_CAPITAL_PART: Final = lazy_regex(r"[A-Z][a-z]{2,}")
_UNIT: Final = lazy_regex(r"^(?:v)?(\d[\d.:]*)[a-z]{0,3}$")
_ORDINAL: Final = lazy_regex(r"^(\d+)(?:st|nd|rd|th)$")
_SCALES: Final = {"k": 1_000, "m": 1_000_000}
_BEFORE_START: Final = " \t\"'“”‘’([*-•>"
_SENTENCE_ENDS: Final = ".!?:;\n…。！？"
_TITLE_SHARE: Final = 0.7  # in a text with so many capitalised words (a title), capitals do not mark names
_TITLE_WORDS: Final = 4


def word_set(text: str) -> frozenset[str]:
    """The distinct words of a text, for short word tables in code."""
    return frozenset(text.split())


# The numbers whose words are compared; larger ones are written in digits.
_PLAIN_NUMBERS: Final = {*range(2, 16), 20, 30, 40, 50, 100, 1000}
_NUMBER_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {word: str(number) for word, number in CARDINALS.items() if number in _PLAIN_NUMBERS} | {"couple": "2"}
)
_ORDINAL_WORDS: Final = MappingProxyType({word: str(number) for word, number in ORDINALS.items()} | {"one": "1"})

# Words with a capital that are not names: whom facts are about, forms of address.
_CAPITALISED: Final = table_words("capitalised_words")
# Verbs in the singular: a capitalised word before one of them, at the start of a sentence, is a name.
_VERBS: Final = table_words("name_verbs")
_COMMON_OPENERS: Final = (
    STOP_WORDS | FUNCTION_WORDS | ORDINALS.keys() | CARDINALS.keys() | table_words("sentence_openers")
)
_SHORTEST_ADJECTIVE: Final = 4  # letters: "Shortly" is an adverb, "Emily" and "Carly" are names


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of a text: those `inside` a sentence are certain, those `opening` one are likely."""

    inside: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()


@lru_cache(maxsize=2048)
def names(text: str) -> Names:
    """The names in a text, as written, without months, weekdays and "User".

    Inside a sentence every capitalised word is a name; at its start only one that has a possessive ending, or that precedes
    another capitalised word or a verb in the singular, and that is no function word, adverb or word before a month or weekday. In a title, where most words have capitals, only the first is read.

    >>> names("Alice owns the deploy pipeline at Acme").inside
    ('Acme',)
    >>> names("Alice owns the deploy pipeline at Acme").opening
    ('Alice',)
    """
    tokens = list(_WORD.finditer(text))
    if len(tokens) >= _TITLE_WORDS and sum(t.group()[0].isupper() for t in tokens) >= _TITLE_SHARE * len(tokens):
        tokens = tokens[:1]
    inside, opening = [], []
    for number, token in enumerate(tokens):
        word = bare(token.group())
        if not word[0].isupper() or _is_no_name(word) or _touches_digit(text, token):
            continue
        if not _begins_sentence(text, token.start()):
            inside.append(word)
        elif _is_opening_name(token, tokens[number + 1] if number + 1 < len(tokens) else None, text):
            opening.append(word)
    return Names(inside=tuple(dict.fromkeys(inside)), opening=tuple(dict.fromkeys(opening)))


def _begins_sentence(text: str, place: int) -> bool:
    """Whether a sentence begins at a place."""
    while place and text[place - 1] in _BEFORE_START:
        place -= 1
    return not place or text[place - 1] in _SENTENCE_ENDS


def bare(word: str) -> str:
    """A word without its possessive ending.

    >>> bare("Anna's")
    'Anna'
    """
    return re.sub(r"(?:['’]s|['’])$", "", word)


def _is_no_name(word: str) -> bool:
    lower = word.lower()
    return (
        lower.split("'")[0].split("’")[0] in _CAPITALISED
        or lower in MONTH_NUMBERS
        or lower.rstrip("s") in WEEKDAY_NUMBERS
    )


def _touches_digit(text: str, token: re.Match[str]) -> bool:
    around = text[max(0, token.start() - 1) : token.start()] + text[token.end() : token.end() + 1]
    return any(c.isdigit() or c == "_" for c in around)


def _is_opening_name(token: re.Match[str], following: re.Match[str] | None, text: str) -> bool:
    """Whether a capitalised word that begins a sentence is a name."""
    word = token.group()
    if word.lower() in _COMMON_OPENERS or _is_adverb(word.lower()):
        return False
    if word != bare(word):
        return True
    if following is None:
        return False
    between = text[token.end() : following.start()]
    after = following.group()
    if between.strip() or not between or bare(after).lower() in MONTH_NUMBERS.keys() | WEEKDAY_NUMBERS.keys():
        return False
    return after[0].isupper() or after.lower() in _VERBS or after.lower() == "and"


def _is_adverb(word: str) -> bool:
    """Whether a lower-case word is an English adjective with -ly: "shortly", "previously"."""
    adjective = word.removesuffix("ly")
    return _SHORTEST_ADJECTIVE <= len(adjective) < len(word) and adjective in probabilities()


@lru_cache(maxsize=2048)
def words(text: str) -> frozenset[str]:
    """Every word of a text in lower case: as written, without its possessive ending, split at apostrophes and capitals."""
    forms = set()
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        forms |= {word, bare(word), *re.split(r"['’]", word), *_parts(bare(match.group()))}
    return frozenset(forms)


# Endings that derive one name from another: American from America, Chinese from China.
_SHORTEST_DERIVED: Final = 3  # letters of names too short to derive from (Ann)
_DERIVED: Final = ("s", "es", "n", "an", "ian", "ese", "ish", "ic")


def is_named_in(name: str, known: frozenset[str]) -> bool:
    """Whether a name is among these words: itself, by a derivation (America, American), or by its parts (DoorDash, Door Dash)."""
    lower = name.casefold()
    if (parts := _parts(name)) and known.issuperset(parts):
        return True
    return lower in known or any(
        (lower.endswith(e) and lower.removesuffix(e) in known) or lower + e in known
        for e in _DERIVED
        if len(lower) > _SHORTEST_DERIVED
    )


def _parts(name: str) -> tuple[str, ...]:
    """The words of a name with capitals inside, in lower case: door, dash of DoorDash; none of other names."""
    parts = tuple(part.casefold() for part in _CAPITAL_PART.findall(name))
    return parts if len(parts) > 1 and "".join(parts) == name.casefold() else ()


def numbers(text: str) -> Mapping[str, frozenset[str]]:
    """The numbers of a text as written -> every form that counts as the same number.

    Numbers are digits with the letters attached to them (12, 3.11, 10:30, Q3, Argon2, 5K), and number words from two on.

    >>> sorted(numbers("$1,200 for the 5th of three 10k runs").items())[0]
    ('1,200', frozenset({'1200'}))
    """
    forms = {m.group(): _forms(m.group()) for m in _NUMBER.finditer(text)}
    for match in _WORD.finditer(text):
        if digits := _NUMBER_WORDS.get(match.group().casefold()):
            forms[match.group()] = frozenset({digits})
    return forms


@lru_cache(maxsize=256)
def countable(text: str) -> frozenset[str]:
    """Every form of every number that a text supports. Unlike in `numbers`, "first" and "once" count as well."""
    forms = {form for each in numbers(text).values() for form in each}
    return frozenset(forms | {_ORDINAL_WORDS[w] for w in words(text) if w in _ORDINAL_WORDS})


def _forms(written: str) -> frozenset[str]:
    token = re.sub(r",(?=\d{3})", "", written.casefold())
    token = _ORDINAL.sub(r"\1", token)
    forms = {token}
    if unit := _UNIT.match(token):
        forms.add(unit[1])
        if token[-1] in _SCALES and unit[1].replace(".", "", 1).isdigit():
            forms.add(f"{float(unit[1]) * _SCALES[token[-1]]:.0f}")
    return frozenset(f.lstrip("0") or "0" for f in forms)
