"""Readings of a text: normalised, without disguises of its letters, and with its encodings decoded.

Every step takes time linear in the length of the text.
"""

import html
import re
import unicodedata
from base64 import b32decode, b64decode
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Final
from urllib.parse import unquote

from slowwave.policy.text.lazy_regex import lazy_regex

LEVELS: Final = 2
"""How many encodings inside each other are decoded: base64 of base64, but no deeper."""
KEY: Final = 4
"""Letters of the beginning of a word by which it is looked up."""

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
)
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
_ENCODED: Final = lazy_regex(r"[%&\\]")
_NO_LETTERS: Final = lazy_regex(r"\W+")
_WORD: Final = lazy_regex(r"\w+")
_ASCII_WORD: Final = lazy_regex(r"[a-z0-9_]+")

_LONG: Final = 16  # letters of the shortest encoded text that can be an order
_BASE64: Final = lazy_regex(rf"[A-Za-z0-9+/_-]{{{_LONG},}}+")
_BASE32: Final = lazy_regex(rf"[A-Z2-7]{{{_LONG},}}+")
_HEX: Final = lazy_regex(r"[0-9a-fA-F][0-9a-fA-F][ :]?(?:[0-9a-fA-F]{2}[ :]?){11,}+")
_BINARY: Final = lazy_regex(r"[01][01]{7} ?(?:[01]{8} ?){7,}+")
_HEX_ESCAPE: Final = lazy_regex(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\U0010([0-9a-fA-F]{4})")
_URL_SAFE: Final = str.maketrans("-_", "+/")


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
        yield _reading_of(latin[::-1])
    has_digits = _DIGIT.search(plain) is not None
    if has_digits and _LEET_WORD.search(plain):
        yield _reading_of(plain.translate(_LEET))
    lengths = list(map(len, reading.words))
    if lengths.count(1) >= _LEAST_SPACED and _letters_alone(reading) >= _LEAST_SPACED:
        yield from _joined(plain)
    turned = _TURNED.of(reading.words)
    if turned & _BY_13:
        yield _reading_of(plain.translate(_ROT13))
    if turned & _BY_END:
        yield _reading_of(plain[::-1])
    longest = max(lengths, default=0)
    in_pairs = lengths.count(2) >= _LEAST_PAIRS
    if levels and (has_digits or longest >= _LONG or in_pairs or _ENCODED.search(plain)):
        for inner in _decoded(text, longest, in_pairs=in_pairs):
            yield from _of(inner, levels - 1)


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


_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_ROT13: Final = str.maketrans(_ALPHABET, _ALPHABET[13:] + _ALPHABET[:13])
# The beginnings of words of orders: a text is read in rot13 or backwards only if it has one of them in that form.
_TELLING: Final = (
    "inst prom dire rule guid anwe rege vorg cons regl regu orde pass conv chat hist user util usua uten nutz benu assi mode "
    "prev prio earl inde ante prec vorh tidl tidi oper awar memo rest"
)
_ROTATED: Final = frozenset(_TELLING.translate(_ROT13).split())
_BACKWARDS: Final = frozenset(_TELLING[::-1].split())
_BY_13: Final = 1
_BY_END: Final = 2
_MOST_KNOWN: Final = 20_000
"""Words that a `WordCache` keeps. If there are more, all of them are removed."""
_LONGEST_KNOWN: Final = 40
"""Letters of the longest word that a `WordCache` keeps."""


class WordCache(dict[str, int]):
    """A number for each word, such as bits that say what it is; computed once, as most words of a text were in others.

    Args:
        compute: the number of a word.
    """

    def __init__(self, compute: Callable[[str], int]) -> None:
        super().__init__()
        self._compute = compute
        self._zero: set[str] = set()

    def __missing__(self, word: str) -> int:
        found = self._compute(word)
        if len(word) <= _LONGEST_KNOWN:
            if len(self) >= _MOST_KNOWN:
                self.clear()
                self._zero.clear()
            self[word] = found
            if not found:
                self._zero.add(word)
        return found

    def telling(self, words: frozenset[str]) -> frozenset[str]:
        """The words whose number is not known to be 0. That of most words is 0."""
        return words - self._zero

    def of(self, words: frozenset[str]) -> int:
        """The bits of all these words together."""
        return reduce(or_, map(self.__getitem__, self.telling(words)), 0)


_TURNED: Final = WordCache(
    lambda word: (_BY_13 if word[:KEY] in _ROTATED else 0) | (_BY_END if word[-KEY:] in _BACKWARDS else 0)
)


def _decoded(text: str, longest: int, *, in_pairs: bool) -> Iterator[str]:
    """The texts that the encodings in a text hold.

    Args:
        text: the text.
        longest: letters of its longest word.
        in_pairs: whether it has so many different words of two letters that they may be the bytes of a text.
    """
    plain = unquote(text) if "%" in text else text
    plain = html.unescape(plain) if "&" in plain else plain
    plain = _HEX_ESCAPE.sub(lambda code: chr(int(code[1] or code[2] or code[3], 16)), plain) if "\\" in plain else plain
    if plain != text:  # one text for all escapes: a text for each took seconds for 60,000 random signs
        yield plain
    if longest >= _LONG:
        tokens = " ".join([token for token in text.split() if len(token) >= _LONG])
        for run in _BASE64.findall(tokens):
            letters = run.translate(_URL_SAFE)
            yield from _readable(b64decode(letters[: len(letters) // 4 * 4]))
        for run in _BASE32.findall(tokens):
            yield from _readable(b32decode(run[: len(run) // 8 * 8]))
    yield from _octets(text, hexadecimal=longest >= _LONG or in_pairs)


def _octets(text: str, *, hexadecimal: bool) -> Iterator[str]:
    """The texts whose bytes are written in digits: hexadecimal or binary."""
    for run in _HEX.findall(text) if hexadecimal else ():
        yield from _readable(bytes.fromhex("".join(run.split()).replace(":", "")))
    if "01" in text:
        for run in _BINARY.findall(text):
            yield from _readable(bytes(int(octet, 2) for octet in run.split()))


def _readable(data: bytes) -> Iterator[str]:
    """Bytes as text, if they are UTF-8 but for the end, which may be cut off."""
    text = data.decode("utf-8", "ignore")
    if text and len(text.encode()) >= len(data) - 3 and text.isprintable():
        yield text
