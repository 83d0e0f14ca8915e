"""Readings of a text: in small plain letters, without look-alike letters, and with one level of its encodings decoded.

Every step takes time linear in the length of the text.
"""

import html
import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from slowwave.policy.text.lazy_regex import lazy_regex

_INVISIBLE: Final = frozenset({"Cf", "Mn", "Me"})
_FOREIGN: Final = lazy_regex(r"[^\x00-\x7f]+")
_PLAIN: Final = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "_": " "} | dict.fromkeys("’‘ʼ`´", "'")
)  # letters without a decomposition in Unicode
# Letters of other scripts, and small capitals, that look like Latin ones in the fonts of every system.
_LOOKALIKE: Final = str.maketrans(
    "абвгеёзикмнорстухѕіјԁցԛԝһԍѵαβγεικνορτυχωηςσⅼℓᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎɑɡ",
    "abbreezukmhopctyxsijdgqwhgvabyeiknoptuxwnscllabcdefghijklmnoprstuvwyzacefghijkmrtvwyag",
)
_LATIN_LOOKING: Final = lazy_regex(f"[{''.join(map(chr, _LOOKALIKE))}]")
_BASE64: Final = lazy_regex(r"[A-Za-z0-9+/_-]{16,}+")
_URL_SAFE: Final = str.maketrans("-_", "+/")


def folded(text: str) -> str:
    """The text in small letters, without accents, invisible characters and compatibility forms (NFKC).

    >>> folded("Précédentes INSTRUCTIONS \uff49\u200b\u0336n")
    'precedentes instructions in'
    """
    if text.isascii():
        return text.lower().translate(_PLAIN)
    split = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", _FOREIGN.sub(_visible, split)).translate(_PLAIN)


def _visible(letters: re.Match[str]) -> str:
    """Letters beside those of ASCII without marks and invisible ones."""
    return "".join([letter for letter in letters[0] if unicodedata.category(letter) not in _INVISIBLE])


def readings(text: str) -> Iterator[str]:
    """The folded text, then with look-alike letters as the Latin ones, then what its encodings hold."""
    yield from _plain_readings(text)
    plain = html.unescape(unquote(text)) if "%" in text or "&" in text else text
    if plain != text:
        yield from _plain_readings(plain)
    for run in _BASE64.findall(text):
        data = b64decode(run[: len(run) // 4 * 4].translate(_URL_SAFE))
        inner = data.decode("utf-8", "ignore")
        if inner.isprintable() and len(inner.encode()) >= len(data) - 3:  # its end may be cut off
            yield from _plain_readings(inner)


def _plain_readings(text: str) -> Iterator[str]:
    plain = folded(text)
    yield plain
    if not plain.isascii() and _LATIN_LOOKING.search(plain):
        yield plain.translate(_LOOKALIKE)
