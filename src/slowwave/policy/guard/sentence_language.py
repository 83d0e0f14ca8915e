"""Tells the language of a sentence by its script and its function words."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from slowwave.policy.guard.lexicon import function_words, scored_codes
from slowwave.policy.text.lazy_regex import lazy_regex

FOREIGN: Final = "foreign"
"""A language without a table."""
LONGEST: Final = 500
"""Characters of the longest sentence."""
_KANA: Final = lazy_regex("[\u3040-\u30ff]")
_SCRIPT: Final = lazy_regex("([\u3040-\u30ff])|([\u4e00-\u9fff]{2})|[\u0370-\u1fff\uac00-\ud7af]{2}")
"""Letters of a script that tell the language of a sentence: Japanese, Chinese, others."""
_ANY_SCRIPT: Final = lazy_regex("[\u0370-\u1fff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")


def has_script(text: str) -> bool:
    """Whether a text has letters that tell a language by themselves."""
    return not text.isascii() and _ANY_SCRIPT.search(text) is not None


def languages(sentence: str, words: Sequence[str], *, scripts: bool = True) -> tuple[str, ...]:
    """The likeliest languages of a sentence; empty if nothing tells.

    Args:
        sentence: the sentence, of at most `LONGEST` characters.
        words: its words.
        scripts: whether it may have letters that tell a language (`has_script`).
    """
    if scripts and not sentence.isascii() and (script := _SCRIPT.search(sentence)):
        return ("ja",) if script[1] or _KANA.search(sentence) else ("zh",) if script[2] else (FOREIGN,)
    codes, by_word = _codes(), _by_word()
    counts = [0] * len(codes)
    for word in words:
        for number in by_word.get(word, ()):
            counts[number] += 1
    most = max(counts)
    if not most or (most == 1 and len(words) > 1):
        return ()
    return tuple(dict.fromkeys(code for code, count in zip(codes, counts, strict=True) if count == most))


def is_function_word(word: str) -> bool:
    """Whether a word is one of the function words of some language."""
    return word in _by_word()


@cache
def _codes() -> tuple[str, ...]:
    """The languages with spaces, in the order of the table."""
    known = scored_codes()
    return tuple(code if code in known else FOREIGN for code in function_words())


@cache
def _by_word() -> Mapping[str, tuple[int, ...]]:
    """Each function word -> the numbers of the languages in `_codes` that have it."""
    found: dict[str, tuple[int, ...]] = {}
    for number, words in enumerate(function_words().values()):
        for word in words:
            found[word] = (*found.get(word, ()), number)
    return found
