"""Seal: the code at the end of an export by which a store recognises its own, unchanged exports.

HMAC-SHA256 over the bytes of every line and the number of records, with the secret of the store. A line that is
changed, moved, added or removed changes the code, and so does a line after the last one.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from typing import BinaryIO, Final

from slowwave.formats.json_stream import LINE_MOST, UNREADABLE, json_object

_PURPOSE: Final = b"slowwave export\n"
"""The prefix of every code, because the secret is used for other codes too."""


class Seal:
    """Computes the code of an export line by line.

    >>> seal = Seal(b"secret")
    >>> seal.add(b"a line")
    >>> seal.code(1) == seal.code(2)
    False
    """

    def __init__(self, secret: bytes) -> None:
        self._mac = hmac.new(secret, _PURPOSE, sha256)

    def add(self, data: bytes) -> None:
        """Add the next bytes of the file."""
        self._mac.update(data)

    def code(self, records: int) -> str:
        """The code of all added bytes, for an export of so many records."""
        whole = self._mac.copy()
        whole.update(str(records).encode())
        return whole.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What an export must match to count as proven: the secret of the store, and its possible scopes."""

    secret: bytes
    scopes: tuple[str, ...]

    def holds(self, stream: BinaryIO) -> bool:
        """Whether a file is a complete, unchanged export of this store and of one of these scopes.

        Only a file that begins like an export is read to its end. The stream is then at its beginning, so that the
        checked bytes are the ones that are read next.
        """
        if not stream.seekable():
            return False
        try:
            return self._holds(stream)
        except UNREADABLE:
            return False
        finally:
            stream.seek(0)

    def _holds(self, stream: BinaryIO) -> bool:
        last = stream.readline(LINE_MOST + 1)
        header = json_object(last)
        if header.get("slowwave") != "export" or header.get("scope") not in self.scopes:
            return False
        seal = Seal(self.secret)
        while data := stream.readline(LINE_MOST + 1):
            seal.add(last)
            last = data
        end = json_object(last)
        records, code = end.get("records"), end.get("mac")
        if end.get("type") != "end" or not isinstance(records, int) or not isinstance(code, str):
            return False
        return hmac.compare_digest(code.encode("utf-8", "surrogatepass"), seal.code(records).encode())
