"""Reads texts in which each letter is replaced by another one, or in which the order of the letters is changed.

The alphabet is moved by some places (rot13 and others) or read from its end, the text or each word is written backwards, the
letters inside words are mixed, or each letter is written in Morse code. Every step takes time linear in the length of the text.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from slowwave.policy.guard.word_cache import KEY, WordCache
from slowwave.policy.text.lazy_regex import lazy_regex

_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_TABLES: Final = tuple(
    str.maketrans(letters, _ALPHABET)
    for letters in (*(_ALPHABET[by:] + _ALPHABET[:by] for by in range(1, 26)), _ALPHABET[::-1])
)
"""How to read each alphabet: moved by one place, by two and so on, and from its end."""
_ROT13: Final = 1 << 12
"""The bit of the alphabet that is moved by 13 places."""
_BACKWARDS: Final = 1 << len(_TABLES)
"""The bit of a text that is written backwards."""
_FORMS: Final = len(_TABLES) + 1
"""How many bits there are."""
# The beginnings of words of orders: a text is read in another alphabet or backwards only if it has some of them in that form.
_TELLING: Final = [
    "inst",
    "prom",
    "dire",
    "rule",
    "guid",
    "anwe",
    "rege",
    "vorg",
    "cons",
    "regl",
    "regu",
    "orde",
    "pass",
    "conv",
    "chat",
    "hist",
    "user",
    "util",
    "usua",
    "uten",
    "nutz",
    "benu",
    "assi",
    "mode",
    "prev",
    "prio",
    "earl",
    "inde",
    "ante",
    "prec",
    "vorh",
    "tidl",
    "tidi",
    "oper",
    "awar",
    "memo",
    "rest",
]
_WORDS: Final = [
    "ignore",
    "disregard",
    "forget",
    "override",
    "bypass",
    "previous",
    "earlier",
    "above",
    "instructions",
    "instruction",
    "directives",
    "guidelines",
    "rules",
    "reveal",
    "print",
    "system",
    "prompt",
    "message",
    "password",
    "passwords",
    "conversation",
    "everything",
    "assistant",
    "developer",
    "secret",
    "confirm",
    "confirmation",
    "ignoriere",
    "vergiss",
    "anweisungen",
    "bisherigen",
    "vorherigen",
    "instrucciones",
    "anteriores",
    "consignes",
    "precedentes",
    "istruzioni",
    "precedenti",
]
"""Words of orders that are recognised with mixed letters."""
_LEAST_MIXED: Final = 2
"""Different words with mixed letters of a text that is read with them in order."""
_SURE: Final = _ROT13 | _BACKWARDS
"""The bits for which one word is enough: these forms are common."""
_ALL: Final = (1 << _FORMS) - 1
_ANY_WORD: Final = lazy_regex(r"\w+")
_MORSE: Final = lazy_regex(r"(?:[.-]{1,4}(?:[ /|\n]{1,4}|$)){12,}")
_MORSE_SIGNS: Final = str.maketrans("·•–—−", "..---")
_LEAST_MORSE: Final = 12
_MORSE_LETTERS: Final = dict(
    zip(
        [
            ".-",
            "-...",
            "-.-.",
            "-..",
            ".",
            "..-.",
            "--.",
            "....",
            "..",
            ".---",
            "-.-",
            ".-..",
            "--",
            "-.",
            "---",
            ".--.",
            "--.-",
            ".-.",
            "...",
            "-",
            "..-",
            "...-",
            ".--",
            "-..-",
            "-.--",
            "--..",
        ],
        _ALPHABET,
        strict=True,
    )
)


def _bits() -> dict[str, int]:
    """The forms of the beginnings and ends of words, each with the bits of the alphabets in which it is one of them."""
    found: dict[str, int] = {}
    for number, table in enumerate(_TABLES):
        written = {read: letter for letter, read in table.items()}
        for start in _TELLING:
            form = "".join(chr(written[ord(letter)]) for letter in start)
            found[form] = found.get(form, 0) | 1 << number
    return found


_STARTS: Final = _bits()
_ENDS: Final = frozenset(start[::-1] for start in _TELLING)


def _mixed_key(word: str) -> str:
    """What a word has in common with those of the same letters, the first and the last of them in their places."""
    return f"{word[0]}{''.join(sorted(word[1:-1]))}{word[-1]}"


_MIXED: Final = {_mixed_key(word): number << _FORMS for number, word in enumerate(_WORDS, 1)}


def _forms(word: str) -> int:
    """The bits of the forms in which a word may be one of orders, and above them the number of its word with mixed letters."""
    turned = _STARTS.get(word[:KEY], 0) | (_BACKWARDS if word[-KEY:] in _ENDS else 0)
    return turned | (_MIXED.get(_mixed_key(word), 0) if len(word) > KEY and word not in _WORDS else 0)


_CACHE: Final = WordCache(_forms)


def deciphered(plain: str, words: frozenset[str]) -> Iterator[str]:
    """The forms in which a folded text may be read.

    Args:
        plain: the folded text.
        words: its words.
    """
    forms = {word: _CACHE[word] for word in _CACHE.telling(words)}
    turned = _turned(forms.values())
    if turned:
        for number, table in enumerate(_TABLES):
            if turned >> number & 1:
                yield plain.translate(table)
    if turned & _BACKWARDS:
        yield plain[::-1]
        yield _ANY_WORD.sub(lambda word: word[0][::-1], plain)
    mixed = {word: _WORDS[(form >> _FORMS) - 1] for word, form in forms.items() if form >> _FORMS}
    if len(mixed) >= _LEAST_MIXED:
        yield _ANY_WORD.sub(lambda word: mixed.get(word[0], word[0]), plain)
    yield from _morse(plain)


def _turned(forms: Iterable[int]) -> int:
    """The bits of the forms in which a text with such words may be: a common one of one word, another one of two."""
    once = twice = 0
    for bits in forms:
        twice |= once & bits
        once |= bits
    return (twice | once & _SURE) & _ALL


def _morse(plain: str) -> Iterator[str]:
    """The text in Morse code, if it has some: letters between spaces, words between slashes or wider gaps."""
    signs = plain if plain.isascii() else plain.translate(_MORSE_SIGNS)
    if signs.count("-") < _LEAST_MORSE:
        return
    for run in _MORSE.finditer(signs):
        words = (
            _letters(word.split()) for word in run[0].replace("|", "/").replace("  ", "/").replace("\n", "/").split("/")
        )
        yield " ".join(words)


def _letters(codes: Collection[str]) -> str:
    """The letters of a word in Morse code."""
    return "".join(_MORSE_LETTERS.get(code, "") for code in codes)
