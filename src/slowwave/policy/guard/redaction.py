"""Removes the values of secrets, which are recognised by their form (keys, tokens, numbers) or by what a text names."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from slowwave.policy.guard import (
    account_pairs,
    lock_codes,
    secret_columns,
    secret_numbers,
    secret_shapes,
    secret_statements,
    seed_words,
)
from slowwave.policy.guard.placeholders import is_placeholder
from slowwave.policy.guard.secret_words import words_about_secrets
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

_KEY_MOST: Final = 10_000
"""Characters before and after a place in which private keys are looked for."""
_SECRET_MOST: Final = 4_000
"""The same for other secrets, such as web tokens."""
_NAME_MOST: Final = 240
"""Characters between the name of a secret and its end."""
_KEY_MARK: Final = lazy_regex(r"(?i)-----BEGIN|PuTTY")
_REMOVED: Final = lazy_regex(r"\[[^\[\]]* removed\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text without the values of its secrets, and the kinds of the removed secrets in order."""

    text: str
    kinds: tuple[str, ...]


def redact(text: str) -> Redacted:
    """Replace the value of each secret by "[kind removed]"; a text without secrets stays unchanged.

    >>> redact("The staging password is hunter2x, Alice knows it").text
    'The staging password is [secret removed], Alice knows it'
    >>> redact("No Firebase API key in the build").kinds
    ()
    """
    done, pieces, kinds = 0, [], []
    for start, end, kind in sorted(_secrets(text)):
        if start >= done:
            pieces += [text[done:start], f"[{kind} removed]"]
            kinds.append(kind)
        done = max(done, end)  # of two that overlap all is removed
    return Redacted(text="".join((*pieces, text[done:])), kinds=tuple(kinds))


def secret_around(text: str, place: int) -> tuple[int, int] | None:
    """Begin and end of the secrets in which a text may not be cut at a place, with the name in the same line; None if it may.

    A part of a private key, or a password without its name, is not recognised.

    >>> text = "Hello. My PIN is 4821."
    >>> secret_around(text, 15), secret_around(text, 21)
    ((0, 21), None)
    """
    reach = _KEY_MOST if _KEY_MARK.search(text, max(0, place - _KEY_MOST), place) else _SECRET_MOST
    low = max(0, place - reach)
    begin = end = place
    for first, last, _ in _secrets(text[low : place + reach]):
        named = max(text.rfind("\n", 0, low + first) + 1, low + first - _NAME_MOST, 0)
        if named < place < low + last:
            begin, end = min(begin, named), max(end, low + last)
    return (begin, end) if begin < end else None


def hollow(text: str) -> bool:
    """Whether a text with secrets has no content besides them: it only says that somebody has a password.

    >>> hollow("The user's password is hunter2x"), hollow("The staging password is hunter2x")
    (True, False)
    """
    done = redact(text)
    kinds = {stem(word) for kind in done.kinds for word in words(kind)}
    remaining = {
        stem(word.removesuffix("'s")) for word in words(_REMOVED.sub(" ", done.text)) if word not in STOP_WORDS
    }
    return bool(done.kinds) and remaining <= kinds | _label_stems()


@cache
def _label_stems() -> frozenset[str]:
    return frozenset(map(stem, table_words("secret_labels") | words_about_secrets()))


def _secrets(text: str) -> Iterator[tuple[int, int, str]]:
    return (found for found in _candidates(text) if not is_placeholder(text, *found[:2]))


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    yield from secret_shapes.found(text)
    yield from secret_numbers.found(text)
    yield from seed_words.found(text)
    yield from secret_statements.found(text)
    yield from lock_codes.found(text)
    yield from account_pairs.found(text)
    yield from secret_columns.found(text)
