"""Finds the seed words of wallets: 12, 15, 18, 21 or 24 words of the list of BIP 39, or words after the name of such a phrase.

The list is `policy/data/seed_words.txt`, the English one of https://github.com/trezor/python-mnemonic.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pkgutil import get_data
from typing import Final, TypeAlias

from slowwave.policy.text.lazy_regex import lazy_regex

_LENGTHS: Final = frozenset({12, 15, 18, 21, 24})
_LEAST: Final = min(_LENGTHS)
_MOST: Final = max(_LENGTHS)
_WORD: Final = lazy_regex(r"[^\W\d_]{2,12}")
_GAP: Final = lazy_regex(r"[\s0-9.,;:|/()*#\"'•·_–—-]{1,12}")
_NAME: Final = lazy_regex(
    r"(?:seed|recovery|mnemonic|backup|wallet|secret recovery)[ -](?:phrase|words?|seed)|seed[ -]?фраз\w{1,2}|"
    r"(?:wiederherstellungs|seed)-?(?:phrase|wörter)|phrase (?:de récupération|mnémonique|secrète)|助记词|シードフレーズ|시드 ?문구|"
    r"frase (?:semilla|de recuperación|mnemónica|de recuperação|mnemônica|di recupero|mnemonica)|мнемоническая фраза|\bmnemonic\b",
    re.IGNORECASE,
)
_AFTER_NAME: Final = 24
"""Characters between the name of a phrase and its first word."""
_COLON: Final = lazy_regex(r"[:=：—–\n-]")
_BEFORE: Final = 60
"""Characters before and after the first word in which the name of a phrase is looked for."""
_PHRASE: Final = 400
"""Characters of the longest phrase."""
_SHORTEST: Final = 3
_Word: TypeAlias = tuple[int, int, str]


@cache
def _listed() -> frozenset[str]:
    data = get_data("slowwave.policy", "data/seed_words.txt")
    assert data is not None
    return frozenset(data.decode().split())


def found(text: str) -> Iterator[tuple[int, int, str]]:
    """The runs of seed words in a text. Takes time in proportion to its length.

    >>> [text[a:b] for text in [("zoo " * 12).strip()] for a, b, _ in found(text)] == [("zoo " * 12).strip()]
    True
    """
    run: list[_Word] = []
    for match in _WORD.finditer(text):
        gap = text[run[-1][1] : match.start()] if run else ""
        word = match[0].lower()
        joined = not run or _GAP.fullmatch(gap) is not None
        if word in _listed() and joined and not (":" in gap and len(run) < _LEAST):
            run.append((match.start(), match.end(), word))
            continue
        yield from _checked(text, run)
        run = [(match.start(), match.end(), word)] if word in _listed() else []
    yield from _checked(text, run)
    yield from _named(text)


def _checked(text: str, run: Sequence[_Word]) -> Iterator[tuple[int, int, str]]:
    """The run, if it is as long as a phrase, or longer and the name of a phrase is in it or before it."""
    if len(run) < _LEAST:
        return
    begin, end = run[0][0], run[-1][1]
    if len(run) in _LENGTHS or _NAME.search(text, max(0, begin - _BEFORE), begin + _BEFORE):
        yield begin, end, "seed words"


def _named(text: str) -> Iterator[tuple[int, int, str]]:
    """The words of any language after the name of a phrase and a colon: as many as a phrase has, none of them short."""
    for name in _NAME.finditer(text):
        colon = _COLON.search(text, name.end(), name.end() + _AFTER_NAME)
        run: list[re.Match[str]] = []
        for match in _WORD.finditer(text, colon.end(), colon.end() + _PHRASE) if colon else ():
            if run and (len(run) == _MOST or not _GAP.fullmatch(text[run[-1].end() : match.start()])):
                break
            run.append(match)
        if len(run) in _LENGTHS and all(len(match[0]) >= _SHORTEST for match in run):
            yield run[0].start(), run[-1].end(), "seed words"
