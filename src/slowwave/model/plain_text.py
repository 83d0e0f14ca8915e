"""Text that every store can hold: without NUL and lone surrogates."""

from collections.abc import Iterable
from typing import Final

from slowwave.errors import InputError

PLACE_BYTES: Final = 2600
"""Bytes of two names together as UTF-8: a row of an index of Postgres has at most 2,704, with its header and lengths."""
_ERROR_LONGEST: Final = 500
_QUOTE: Final = 16
"""Characters that an error has in common with a text that it quotes."""
_CONTROL: Final = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


def clean(text: str) -> str:
    r"""The text with U+FFFD for NUL and lone surrogates, which no store can hold.

    >>> clean("K\x00f" + chr(0xD83D))
    'K\ufffdf\ufffd'
    """
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def tidy(text: str) -> str:
    r"""The cleaned text on one line, without control characters.

    >>> tidy("one\ttwo\n")
    'one two'
    """
    return " ".join(clean(text).translate(_CONTROL).split())


def without_quotes(error: BaseException, texts: Iterable[str]) -> str:
    """The class and the first 500 characters of an error of foreign code; only the class if it quotes one of the texts.

    >>> without_quotes(RuntimeError("no room"), ["My PIN is 4821 and 9377"])
    'RuntimeError: no room'
    >>> without_quotes(RuntimeError("bad: My PIN is 4821 and 9377"), ["My PIN is 4821 and 9377"])
    'RuntimeError'
    """
    said = tidy(str(error))[:_ERROR_LONGEST]
    known = tidy("\n".join(texts))
    least = min(_QUOTE, len(known))
    quotes = known and any(said[place : place + least] in known for place in range(len(said) - least + 1))
    return type(error).__name__ if quotes or not said else f"{type(error).__name__}: {said}"


def storable(text: str) -> bool:
    r"""Whether every store returns this text as it was written: no NUL, no lone surrogate.

    >>> storable("Zoë"), storable("a\x00"), storable(chr(0xD800))
    (True, False, False)
    """
    return clean(text) == text


def check_place(first: str, second: str, what: str) -> None:
    """Check two names that form one key, such as the folder and the name of a note.

    Raises:
        InputError: together they are too long for the index of a store. The error begins with `what`.
    """
    if (size := len((first + second).encode("utf-8", "surrogatepass"))) > PLACE_BYTES:
        raise InputError(f"{what} have {size:,} bytes as UTF-8, more than {PLACE_BYTES:,}: use shorter ones")
