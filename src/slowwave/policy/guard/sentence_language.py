"""Tells the language of a sentence by its script and its function words."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import repeat
from typing import Final

from slowwave.policy.guard.lexicon import function_words, scored_codes
from slowwave.policy.text.lazy_regex import lazy_regex

FOREIGN: Final = "foreign"
"""A language without a table."""
LONGEST: Final = 500
"""Characters of the longest sentence: it has fewer words than a byte can count."""
_KANA: Final = lazy_regex("[\u3040-\u30ff]")
_SCRIPT: Final = lazy_regex("([\u3040-\u30ff])|([\u4e00-\u9fff]{2})|[\u0370-\u1fff\uac00-\ud7af]{2}")
"""Letters of a script that tell the language of a sentence: Japanese, Chinese, others."""
_ANY_SCRIPT: Final = lazy_regex("[\u0370-\u1fff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_VOTE: Final = 8
"""Bits of the number of function words of a language in a sum of all."""


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
    codes, votes = _votes()
    total = sum(map(votes.get, words, repeat(0)))
    if not total:
        return ()
    counts = total.to_bytes(len(codes), "little")
    most = max(counts)
    if most == 1 and len(words) > 1:
        return ()
    if counts.count(most) == 1:
        return (codes[counts.index(most)],)
    return tuple(dict.fromkeys(code for code, count in zip(codes, counts, strict=True) if count == most))


def is_function_word(word: str) -> bool:
    """Whether a word is one of the function words of some language."""
    return word in _votes()[1]


@cache
def _votes() -> tuple[tuple[str, ...], Mapping[str, int]]:
    """The languages with spaces, and for each function word a number that counts one for each of its languages."""
    known = scored_codes()
    codes: list[str] = []
    votes: dict[str, int] = {}
    for code, words in function_words().items():
        for word in words:
            votes[word] = votes.get(word, 0) + (1 << _VOTE * len(codes))
        codes.append(code if code in known else FOREIGN)
    return tuple(codes), votes
