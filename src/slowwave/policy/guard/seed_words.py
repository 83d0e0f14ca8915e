"""Finds the seed words of wallets: words of the list of BIP 39 with the right checksum, or words after the name of a phrase.

A phrase has 12, 15, 18, 21 or 24 words. The list is `policy/data/seed_words.txt`, the English one of
https://github.com/trezor/python-mnemonic.
"""

import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pkgutil import get_data
from typing import Final, TypeAlias

from slowwave.policy.text.lazy_regex import lazy_regex

_LENGTHS: Final = (24, 21, 18, 15, 12)
_LEAST: Final = min(_LENGTHS)
_MOST: Final = max(_LENGTHS)
_WORD: Final = lazy_regex(r"[^\W\d_]{2,12}")
_GAP: Final = lazy_regex(r"[\s0-9.,;:|/()*#\"'•·_–—-]{1,12}")
_NUMBER: Final = (
    r"(?<!\w)(?:12|15|18|21|24|twelve|twenty-four|zwölf|douze|doce|dodici|doze|twaalf)\s(?:[^\W\d_]{1,12}\s)?"
    r"(?:words|wörter|mots|palabras|palavras|parole|woorden|ord|słów|slov|слов)(?!\w)"
)
_WALLET: Final = r"(?<!\w)(?:hardware-?)?(?:wallets?|ledger|trezor|metamask|coinbase|electrum|bitcoin|кошел[её]к\w{0,2}|кошелька)(?!\w)"
_NAME: Final = lazy_regex(
    rf"{_NUMBER}[^\n.!?:]{{0,30}}{_WALLET}|{_WALLET}[^\n.!?:]{{0,30}}{_NUMBER}|"
    r"(?:seed|recovery|mnemonic|backup|wallet|secret recovery)[ -](?:phrase|words?|seed)|seed[ -]?фраз\w{1,2}|"
    r"(?:wiederherstellungs|seed)-?(?:phrase|wörter)|phrase (?:de récupération|mnémonique|secrète)|助记词|シードフレーズ|시드 ?문구|"
    r"frase (?:semilla|de recuperación|mnemónica|de recuperação|mnemônica|di recupero|mnemonica)|мнемоническая фраза|\bmnemonic\b|"
    r"\bwords?\s[0-9]{1,2}\s?[–-]\s?[0-9]{2}",
    re.IGNORECASE,
)
_KEYWORDS: Final = (
    "seed",
    "phras",
    "frase",
    "mnemo",
    "words",
    "wörter",
    "фраз",
    "мнемо",
    "助记",
    "シード",
    "시드",
    "y word",
    "p word",
    "wallet",
    *("ledger", "trezor", "metamask", "coinbase", "electrum", "bitcoin", "кошел"),
)
"""What a text contains that has the name of a phrase."""
_AFTER_NAME, _AFTER_SEED_WORDS = 24, 12
"""Characters between the name of a phrase and its first word; less after "seed words", which gardeners say too."""
_COLON: Final = lazy_regex(r"[:=：—–\n-]")
_BEFORE: Final = 60
"""Characters before and after the first word in which the name of a phrase is looked for."""
_PHRASE: Final = 400
"""Characters of the longest phrase."""
_SHORTEST: Final = 3
_WORD_BITS: Final = 11
"""Bits that a word of the list has; a third of the number of words is the number of bits of the checksum."""
_ELECTRUM: Final = ("01", "100", "101", "102")
"""Beginnings of the digest of a phrase of Electrum."""
_Word: TypeAlias = tuple[int, int, str]


@cache
def _listed() -> Mapping[str, int]:
    """Word -> its place in the list."""
    data = get_data("slowwave.policy", "data/seed_words.txt")
    assert data is not None
    return {word: place for place, word in enumerate(data.decode().split())}


def found(text: str) -> Iterator[tuple[int, int, str]]:
    """The runs of seed words in a text. Takes time in proportion to its length.

    >>> [text[a:b] for text in ["zoo " * 11 + "wrong"] for a, b, _ in found(text)] == ["zoo " * 11 + "wrong"]
    True
    """
    places = _listed()
    listed = "".join("01"[word.lower() in places] for word in _WORD.findall(text))
    if "1" * _LEAST in listed:
        yield from _runs(text)
    lower = text.lower()
    if any(keyword in lower for keyword in _KEYWORDS):
        yield from _named(text)


def _runs(text: str) -> Iterator[tuple[int, int, str]]:
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


def _checked(text: str, run: Sequence[_Word]) -> Iterator[tuple[int, int, str]]:
    """The whole run if the name of a phrase is in it or before it, or else the phrase at its begin or end."""
    if len(run) < _LEAST:
        return
    begin, end = run[0][0], run[-1][1]
    if _NAME.search(text, max(0, begin - _BEFORE), begin + _BEFORE):
        yield begin, end, "seed words"
        return
    for length in _LENGTHS:
        for phrase in (run[:length], run[-length:]):
            if len(phrase) == length and _is_phrase([word for _, _, word in phrase]):
                yield phrase[0][0], phrase[-1][1], "seed words"
                return


def _is_phrase(words: Sequence[str]) -> bool:
    """Whether the checksum of BIP 39 is right, or that of an Electrum wallet.

    >>> _is_phrase(["zoo"] * 11 + ["wrong"]), _is_phrase(["zoo"] * 12)
    (True, False)
    """
    bits = 0
    for word in words:
        bits = bits << _WORD_BITS | _listed()[word]
    checked = len(words) // 3
    entropy = (bits >> checked).to_bytes(len(words) * 4 // 3, "big")
    if bits & ((1 << checked) - 1) == sha256(entropy).digest()[0] >> (8 - checked):
        return True
    return hmac.digest(b"Seed version", " ".join(words).encode(), "sha512").hex().startswith(_ELECTRUM)


def _named(text: str) -> Iterator[tuple[int, int, str]]:
    """The words of any language after the name of a phrase and a colon: as many as a phrase has, none of them short."""
    for name in _NAME.finditer(text):
        most = _AFTER_SEED_WORDS if name[0].lower().startswith("seed word") else _AFTER_NAME
        colon = _COLON.search(text, name.end(), name.end() + most)
        run: list[re.Match[str]] = []
        for match in _WORD.finditer(text, colon.end(), colon.end() + _PHRASE) if colon else ():
            if run and (len(run) == _MOST or not _GAP.fullmatch(text[run[-1].end() : match.start()])):
                break
            run.append(match)
        if len(run) in _LENGTHS and all(len(match[0]) >= _SHORTEST for match in run):
            yield run[0].start(), run[-1].end(), "seed words"
