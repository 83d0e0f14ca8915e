"""Readings of a text: normalised, without disguises of its letters, and with its encodings decoded.

Every step takes time linear in the length of the text.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from slowwave.policy.guard.ciphers import deciphered
from slowwave.policy.guard.encodings import ESCAPED, LONG, decoded
from slowwave.policy.text.lazy_regex import lazy_regex

LEVELS: Final = 2
"""How many encodings inside each other are decoded: base64 of base64, but no deeper."""

_LETTERS: Final = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "_": " "}  # no decomposition
    | dict.fromkeys("’‘ʼ`´", "'")
)
_SPECIAL: Final = lazy_regex(f"[{''.join(map(chr, _LETTERS))}]+")
_FOREIGN: Final = lazy_regex(r"[^\x00-\x7f]+")
_SYMBOLS: Final = lazy_regex("[\U0001f150-\U0001f1ff]")
# Small capitals, turned letters, and the letters of other scripts that look like Latin ones. Unicode's confusables.txt has
# thousands of pairs; these are the letters for which fonts of every system have a form.
_LOOKALIKE: Final = str.maketrans(
    "абвгеёзикмнорстухѕіјԁցԛԝꞓһԍѵαβγεικνορτυχωηςσⅼℓᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎɑɡօսոհցѡոԼ",
    "abbreezukmhopctyxsijdgqwchgvabyeiknoptuxwnscllabcdefghijklmnoprstuvwyzacefghijkmrtvwyagounhgwnl",
) | str.maketrans("⠀⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", " abcdefghijklmnopqrstuvwxyz")
_UPSIDE_DOWN: Final = str.maketrans("bdnpqu", "qpudbn")
"""The letters that are each other upside down."""
_CYRILLIC_LOOKALIKE: Final = str.maketrans("aceopxykmtbhi", "асеорхукмтвні")
_TWO_SCRIPTS: Final = lazy_regex(r"[а-яієґ][aceopxykmtbhi]|[aceopxykmtbhi][а-яієґ]")
_LATIN_LOOKING: Final = lazy_regex(f"[{''.join(map(chr, _LOOKALIKE))}]")
_INVISIBLE: Final = frozenset({"Cf", "Mn", "Me"})
_LEET_WORD: Final = lazy_regex(
    r"[013457@$!|](?:(?<=[a-z].)[a-z]|(?<!\w.)[a-z]{2}|(?<=[a-z].)(?<!\w[a-z].)[013457@$!|])"
)
_LEET: Final = str.maketrans("013457@$!|", "oieastasil")
_LEAST_SPACED: Final = 8  # different single letters in a text that may be a sentence with spaced letters
_LEAST_PAIRS: Final = 8
_BY_SPACES: Final = lazy_regex(r"(?<!\w)\w(?: \w){2,}(?!\w)")
_BY_LINES: Final = lazy_regex(r"(?<!\w)\w(?:\n\w){2,}(?!\w)")
_BY_MARKS: Final = lazy_regex(r"(?<!\w)\w(?:[.\-*·|/+]\w){2,}(?!\w)")
_SINGLE: Final = lazy_regex(r"(?<!\w)\w(?:[ .\-*·|/+\n]{1,3}\w(?!\w)){11,}+")
_DIGIT: Final = lazy_regex(r"[013457@$|]")
_MARKUP: Final = lazy_regex(r"(?<=\w)(?:<[^<>]{1,80}>|\*)++(?=\w)")
"""Marks inside a word that a page does not show: a tag, a comment, emphasis."""
_SQUASHED: Final = 24
"""Letters of the shortest word that may be a sentence without spaces."""
_NO_LETTERS: Final = lazy_regex(r"\W+")
_WORD: Final = lazy_regex(r"\w+")
_ASCII_WORD: Final = lazy_regex(r"[a-z0-9_]+")


class Reading:
    """A form in which a model may read a text.

    Args:
        text: folded (see `folded`), with its line breaks.
        sequence: its words, in their order.
        squashed: whether the words stand without spaces.
    """

    __slots__ = ("sequence", "squashed", "text", "words")

    def __init__(self, text: str, sequence: Sequence[str] = (), *, squashed: bool = False) -> None:
        self.text = text
        self.sequence = sequence
        self.words = frozenset(sequence)
        self.squashed = squashed


def folded(text: str) -> str:
    """The text in small letters, without accents, invisible characters and compatibility forms.

    >>> folded("Précédentes INSTRUCTIONS \uff49\u200b\u0336n \U0001d4f2\U0001f170")
    'precedentes instructions in ia'
    """
    if text.isascii():
        return text.lower().replace("_", " ").replace("`", "'")
    split = unicodedata.normalize("NFKD", _plain_symbols(text)).casefold()
    if not split.isascii():
        split = unicodedata.normalize("NFC", _FOREIGN.sub(_visible, split))
    return _SPECIAL.sub(_plain, split)


def _visible(letters: re.Match[str]) -> str:
    """Letters beside those of ASCII without marks and invisible ones."""
    return "".join([letter for letter in letters[0] if unicodedata.category(letter) not in _INVISIBLE])


def _plain(letter: re.Match[str]) -> str:
    """A letter that has no decomposition."""
    return letter[0].translate(_LETTERS)


def _plain_symbols(text: str) -> str:
    """Letters in black squares and circles, and the letters of flags, as plain letters: Unicode does not decompose them."""
    if not _SYMBOLS.search(text):
        return text
    ranges = ((0x1F150, 26), (0x1F170, 26), (0x1F1E6, 26))
    table = {first + place: chr(ord("a") + place) for first, count in ranges for place in range(count)}
    return text.translate(table)


def _in_cyrillic(word: re.Match[str]) -> str:
    """A word; one in which Latin letters stand beside Cyrillic ones has the Cyrillic letters that look like them instead."""
    return word[0].translate(_CYRILLIC_LOOKALIKE) if _TWO_SCRIPTS.search(word[0]) else word[0]


def readings(text: str) -> Iterator[Reading]:
    """The text as it stands, then without each disguise, then what its encodings hold."""
    yield from _of(text, LEVELS)


def _reading_of(folded_text: str) -> Reading:
    """The reading of a folded text."""
    return Reading(folded_text, words_of(folded_text))


def words_of(folded_text: str) -> list[str]:
    """The words of a folded text, in their order."""
    return (_ASCII_WORD if folded_text.isascii() else _WORD).findall(folded_text)


def _of(text: str, levels: int) -> Iterator[Reading]:
    plain = folded(text)
    reading = _reading_of(plain)
    yield reading
    if not plain.isascii() and _LATIN_LOOKING.search(plain):
        latin = plain.translate(_LOOKALIKE)
        yield _reading_of(latin)
        yield _reading_of(latin[::-1].translate(_UPSIDE_DOWN))
    if not plain.isascii() and _TWO_SCRIPTS.search(plain):
        yield _reading_of(_WORD.sub(_in_cyrillic, plain))
    if ("<" in plain or "*" in plain) and (unmarked := _MARKUP.sub("", plain)) != plain:
        yield _reading_of(unmarked)
    has_digits = _DIGIT.search(plain) is not None
    if has_digits and _LEET_WORD.search(plain):
        yield _reading_of(plain.translate(_LEET))
    lengths = list(map(len, reading.words))
    if lengths.count(1) >= _LEAST_SPACED and _letters_alone(reading) >= _LEAST_SPACED:
        yield from _joined(plain)
    longest = max(lengths, default=0)
    if longest >= _SQUASHED:
        yield from _squashed(reading)
    yield from map(_reading_of, deciphered(plain, reading.words))
    in_pairs = lengths.count(2) >= _LEAST_PAIRS
    if levels and (has_digits or longest >= LONG or in_pairs or ESCAPED.search(plain)):
        for inner in decoded(text, longest, in_pairs=in_pairs):
            yield from _of(inner, levels - 1)


def _squashed(reading: Reading) -> Iterator[Reading]:
    """The long words of a text that may be sentences without spaces."""
    for word in reading.words:
        if len(word) >= _SQUASHED and word.isascii() and word.isalpha():
            yield Reading(word, squashed=True)


def _letters_alone(reading: Reading) -> int:
    """How many different letters, not digits, are words of a text."""
    return sum(len(word) == 1 and not word.isdigit() for word in reading.words)


def _joined(plain: str) -> Iterator[Reading]:
    """The text with its spaced letters joined, and each long run of single letters without its gaps."""
    joined = plain
    for run in (_BY_MARKS, _BY_SPACES, _BY_LINES):
        joined = run.sub(lambda found: _NO_LETTERS.sub("", found[0]), joined)
    if joined != plain:
        yield _reading_of(joined)
    for found in _SINGLE.finditer(plain):
        yield Reading(_NO_LETTERS.sub("", found[0]), squashed=True)
