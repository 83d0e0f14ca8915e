"""Seal: the code at the end of an export by which a store recognises what it exported itself, unchanged.

HMAC-SHA256 over the bytes of every line and the number of records, with the secret of the store. A line that was
changed, moved, added or left out changes the code, and so does a line behind the last one.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import BinaryIO, Final

from slowwave.formats.json_stream import LINE_MOST, UNREADABLE, Json

_PURPOSE: Final = b"slowwave export\n"
"""Begins every code, because the secret is used for other codes too."""


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
        """Take in the next bytes of the file."""
        self._mac.update(data)

    def code(self, records: int) -> str:
        """The code of what was taken in, an export of so many records."""
        whole = self._mac.copy()
        whole.update(str(records).encode())
        return whole.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What an export must match to count as proven: the secret of the store, and the scopes it may come from."""

    secret: bytes
    scopes: tuple[str, ...]

    def holds(self, stream: BinaryIO) -> bool:
        """Whether a file is an export of this store and of one of these scopes, whole and unchanged.

        Only a file that begins as an export is read to its end. The stream is left at its beginning, so that the
        bytes that were checked are the ones that are read next.
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
        header = _object(last)
        if header.get("slowwave") != "export" or header.get("scope") not in self.scopes:
            return False
        seal = Seal(self.secret)
        while data := stream.readline(LINE_MOST + 1):
            seal.add(last)
            last = data
        end = _object(last)
        records, code = end.get("records"), end.get("mac")
        if end.get("type") != "end" or not isinstance(records, int) or not isinstance(code, str):
            return False
        return hmac.compare_digest(code.encode("utf-8", "surrogatepass"), seal.code(records).encode())


def _object(line: bytes) -> Mapping[str, Json]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}
