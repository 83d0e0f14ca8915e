"""Splits texts of any script into words, and gives the stems and index numbers of words."""

import re
import sys
import unicodedata
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import IRREGULAR, simplified, table_words

STOP_WORDS: Final = table_words("stop_words")
"""English words that carry grammar rather than content. They are left out of questions, but stay in stored texts."""

# Scripts that write no spaces between words, or (Hangul) attach particles to them.
_UNSPACED: Final = (
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han, kana
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff"  # Thai, Lao, Burmese, Khmer
)
_HAN: Final = lazy_regex("[\u3400-\u4dbf\u4e00-\u9fff]")
_UNSPACED_WORD: Final = lazy_regex(rf"[{_UNSPACED}]+")
# Python's \w does not count the vowel signs of Indic scripts as letters, but they belong to the word.
_LETTER: Final = rf"(?:(?![{_UNSPACED}])[^\W_]|[\u0900-\u0963\u0966-\u0dff\u0f71-\u0fbc])"
_ASCII_TOKEN: Final = lazy_regex(
    r"[a-z]\+\+|[a-z]#"  # C++, C#
    r"|[a-z]{1,4}/(?:s|sec|min|h|hr|day)(?![a-z0-9])"  # GB/s
    r"|v?[0-9]+(?:[.,][0-9]+)+"  # 3.11, 1,000
    r"|[a-z0-9]+(?:'[a-z]+)*"  # don't
)
_TOKEN: Final = lazy_regex(
    rf"(?P<run>[{_UNSPACED}]+)|[a-z]\+\+|[a-z]#|[a-z]{{1,4}}/(?:s|sec|min|h|hr|day)(?!{_LETTER})"
    rf"|v?[0-9]+(?:[.,][0-9]+)+|{_LETTER}+(?:'{_LETTER}+)*"
)
# Identifiers such as getUserById and max_retry_count: indexed as a whole and by their parts.
# Its runs are possessive or bounded: in a long run of letters the time would otherwise grow with the square of the length.
_IDENTIFIER: Final = lazy_regex(r"\b[a-z]{2,}+[a-z0-9]*+(?:[A-Z][a-z0-9]++)++|[A-Za-z0-9]{1,64}(?:_[A-Za-z0-9]++)++")
_JOINED: Final = lazy_regex(r"_|[a-z0-9][A-Z]")
# In most texts every word is a run of letters and digits. `bytes.translate` splits these five times faster than a pattern.
_MORE_THAN_RUNS: Final = lazy_regex(r"[+#/'_.,A-Z](?:(?<=[+#/'_])|(?<=[a-z0-9][A-Z])|(?<=[0-9][.,])(?=[0-9]))")
_RUNS: Final = bytes(ord(chr(n).lower()) if chr(n).isascii() and chr(n).isalnum() else ord(" ") for n in range(256))
_PART: Final = lazy_regex(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_THOUSANDS: Final = lazy_regex(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_ELISION: Final = lazy_regex(r"(?:[cdjlmnst]|qu)'(?=\w{3})")  # l'homme, qu'elle
# Marks that a writer may leave out: accents, and the vowel points of Hebrew and Arabic.
_MARKS: Final = lazy_regex(r"[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]")
_PLAIN: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "’": "'", "‘": "'", "ʼ": "'"}
)


def words(text: str) -> list[str]:
    """The words of a text, lower-cased, without diacritics, in order.

    Runs of a script without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) become overlapping pairs
    of characters; a single character is a word. Traditional characters of Chinese become simplified ones. Identifiers of
    code yield the whole identifier and its parts.

    >>> words("Café at 10 GB/s, don't!")
    ['cafe', 'at', '10', 'gb/s', "don't"]
    >>> words("東京都 max_retries in C++")
    ['东京', '京都', 'maxretries', 'max', 'retries', 'in', 'c++']
    """
    if text.isascii() and _MORE_THAN_RUNS.search(text) is None:
        return text.encode("ascii").translate(_RUNS).decode("ascii").split()
    if _JOINED.search(text):
        text = _IDENTIFIER.sub(_whole_and_parts, text)
    tokens = _ASCII_TOKEN.findall(text.lower()) if text.isascii() else list(_tokens_of_any_script(text))
    if any("'" in token or "," in token for token in tokens):
        return [part for token in tokens for part in _without_affixes(token)]
    return tokens


def fold(text: str) -> str:
    """The text lower-cased, without diacritics and in simplified characters of Chinese, in one normal form."""
    if text.isascii():
        return text.lower()
    lowered = unicodedata.normalize("NFKC", text).casefold()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", lowered))
    plain = unicodedata.normalize("NFC", bare).translate(_PLAIN)
    return plain.translate(simplified()) if _HAN.search(plain) else plain


def _whole_and_parts(match: re.Match[str]) -> str:
    name = match.group()
    return f"{name.replace('_', '')} {' '.join(_PART.findall(name))}"


@lru_cache(maxsize=4)  # a search and a context split their question ten times
def _tokens_of_any_script(text: str) -> tuple[str, ...]:
    tokens: list[str] = []
    for match in _TOKEN.finditer(fold(text)):
        run = match.group()
        if match.lastgroup and len(run) > 1:
            tokens += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            tokens.append(run)
    return tuple(tokens)


def _without_affixes(word: str) -> list[str]:
    """A word without its possessive ending or thousands commas; an elided article (l'homme) becomes a separate word."""
    if "'" in word:
        if word.endswith("'s") and word not in STOP_WORDS:
            return [word[:-2]]
        if elided := _ELISION.match(word):
            return [elided.group()[:-1], word[elided.end() :]]
    elif _THOUSANDS.fullmatch(word):
        return [word.replace(",", "")]
    return [word]


def is_unspaced(word: str) -> bool:
    """Whether a word, as `words` returns it, is one or two characters of a script without spaces.

    >>> is_unspaced("東京"), is_unspaced("tokyo")
    (True, False)
    """
    return not word.isascii() and _UNSPACED_WORD.fullmatch(word) is not None


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The Porter stem of a lower-case Latin word, irregular forms included; any other word unchanged.

    >>> stem("painting"), stem("painted"), stem("went"), stem("c++")
    ('paint', 'paint', 'go', 'c++')
    """
    word = IRREGULAR.get(word, word)
    if len(word) > 2 and word.isascii() and word.isalpha():  # noqa: PLR2004 — two letters have no ending
        return str(_stemmer()().stemWord(word))
    return word


@cache
def _stemmer() -> Any:  # noqa: ANN401 - it ships no types
    """Snowball's Porter stemmer class, imported without the package itself, which would load thirty other languages.

    The class is returned instead of an instance, because an instance keeps the current word as state, which two threads
    would overwrite.
    """
    package = ModuleType("slowwave_stems")
    package.__path__ = list(find_spec("snowballstemmer").submodule_search_locations)  # type: ignore[union-attr,arg-type]
    sys.modules[package.__name__] = package
    return import_module(f"{package.__name__}.porter_stemmer").PorterStemmer


def terms(text: str) -> list[str]:
    """The stems of a text, in order, stop words included."""
    return [stem(word) for word in words(text)]


def content_terms(text: str) -> frozenset[str]:
    """The stems of a text without stop words."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


@lru_cache(maxsize=1 << 16)
def term_id(term: str) -> int:
    """The index number of a term: the first 8 bytes of its BLAKE2b hash as an unsigned integer. Stores depend on it."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@lru_cache(maxsize=1 << 16)
def word_id(word: str) -> int:
    """The number of a word's stem."""
    return term_id(stem(word))
