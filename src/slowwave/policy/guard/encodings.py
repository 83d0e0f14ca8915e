"""Decodes what the encodings in a text hold: escapes, base64, base32, and bytes as digits.

Every step takes time linear in the length of the text.
"""

import html
import quopri
import re
from base64 import b32decode, b64decode
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from slowwave.policy.text.lazy_regex import lazy_regex

LONG: Final = 16
"""Letters of the shortest encoded text that can be an order."""
ESCAPED: Final = lazy_regex(r"[%&\\=+]")
"""A character of each kind of escape."""
_BASE64: Final = lazy_regex(rf"[A-Za-z0-9+/_-]{{{LONG},}}+")
_BASE32: Final = lazy_regex(rf"[A-Z2-7]{{{LONG},}}+")
_WRAPPED: Final = lazy_regex(rf"(?<=[A-Za-z0-9+/_-]{{{LONG}}})[ \t]{{0,3}}\r?\n[ \t>]{{0,8}}(?=[A-Za-z0-9+/_=-]{{4}})")
"""The end of a line of base64 that the next line goes on with."""
_HEX: Final = lazy_regex(r"[0-9a-fA-F][0-9a-fA-F][ :]?(?:[0-9a-fA-F]{2}[ :]?){11,}+")
_BINARY: Final = lazy_regex(r"[01][01]{7} ?(?:[01]{8} ?){7,}+")
_DECIMAL: Final = lazy_regex(r"(?<!\d)\d{2,3}(?:[ ,;]{1,2}\d{2,3}(?!\d)){15,}+")
_ESCAPE: Final = lazy_regex(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\U0010([0-9a-fA-F]{4})|\\([01][0-7]{2})")
_CODE_POINTS: Final = lazy_regex(r"(?:[Uu]\+[0-9a-fA-F]{4,5}(?![0-9a-fA-F])[ ,]{0,2}){8,}")
_CODE_POINT: Final = lazy_regex(r"[Uu]\+([0-9a-fA-F]{4,5})[ ,]{0,2}")
_QUOTED: Final = lazy_regex(r"=[0-9A-F]{2}")
_URL_SAFE: Final = str.maketrans("-_", "+/")


def decoded(text: str, longest: int, *, in_pairs: bool) -> Iterator[str]:
    """The texts that the encodings in a text hold.

    Args:
        text: the text.
        longest: letters of its longest word.
        in_pairs: whether it has so many different words of two letters that they may be the bytes of a text.
    """
    plain = _unescaped(text)
    if plain != text:  # one text for all escapes: a text for each took seconds for 60,000 random signs
        yield plain
    if longest >= LONG:
        joined = _WRAPPED.sub("", text)
        for form in (text,) if joined == text else (joined, text):
            tokens = " ".join([token for token in form.split() if len(token) >= LONG])
            for run in _BASE64.findall(tokens):
                letters = run.translate(_URL_SAFE)
                yield from _readable(b64decode(letters[: len(letters) // 4 * 4]))
            for run in _BASE32.findall(tokens):
                yield from _readable(b32decode(run[: len(run) // 8 * 8]))
    yield from _octets(text, hexadecimal=longest >= LONG or in_pairs)


def _unescaped(text: str) -> str:
    """The text with its escapes as the letters that they stand for."""
    plain = unquote(text) if "%" in text else text
    plain = html.unescape(plain) if "&" in plain else plain
    plain = _ESCAPE.sub(_letter, plain) if "\\" in plain else plain
    if "+" in plain:
        plain = _CODE_POINTS.sub(lambda run: _CODE_POINT.sub(lambda code: chr(int(code[1], 16)), run[0]), plain)
    if "=" in plain and _QUOTED.search(plain):
        plain = quopri.decodestring(plain.encode("utf-8", "replace")).decode("utf-8", "replace")
    return plain


def _letter(code: re.Match[str]) -> str:
    """The letter of an escape with a backslash, whose digits are octal in the fourth form."""
    return chr(int(code[4], 8) if code[4] else int(code[1] or code[2] or code[3], 16))


def _octets(text: str, *, hexadecimal: bool) -> Iterator[str]:
    """The texts whose bytes are written in digits: hexadecimal, binary or decimal."""
    for run in _HEX.findall(text) if hexadecimal else ():
        yield from _readable(bytes.fromhex("".join(run.split()).replace(":", "")))
    if "01" in text:
        for run in _BINARY.findall(text):
            yield from _readable(bytes(int(octet, 2) for octet in run.split()))
    for run in _DECIMAL.findall(text):
        octets = [int(octet) for octet in re.split("[ ,;]+", run)]
        if max(octets) < 256:  # noqa: PLR2004 - a byte
            yield from _readable(bytes(octets))


def _readable(data: bytes) -> Iterator[str]:
    """Bytes as text, if they are UTF-8 but for the end, which may be cut off, or UTF-16 with mostly Latin letters."""
    if 3 * data.count(0) > len(data):
        data = data[: len(data) // 2 * 2].decode("utf-16-le", "ignore").encode()
    text = data.decode("utf-8", "ignore")
    if text and len(text.encode()) >= len(data) - 3 and text.isprintable():
        yield text
