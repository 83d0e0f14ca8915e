"""Reads JSON and JSONL files as a stream, within limits."""

import codecs
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final, TypeAlias

try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without it cannot read such archives
    LZMAError = zlib.error  # type: ignore[assignment, misc]

CHUNK = 1 << 20
"""Bytes read at a time."""

LINE_MOST = 64 << 20
"""Bytes of one line of JSON lines; one message of 20 million characters fits."""

ELEMENT_MOST = 128 << 20
"""Characters of one element of a JSON array, which is one conversation with all its branches."""

MEMBER_MOST = 200 << 20
"""Bytes of one unpacked member of an archive; larger ones are imported unpacked."""

RATIO_MOST = 100
"""Limit of the compression ratio of a member: text reaches 5 to 20, a zip bomb 1,000."""

MEMBERS_MOST = 10_000
"""Members of one archive."""

Json: TypeAlias = Any
"""Any JSON value; the readers check the parts that they use."""

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = " \t\r\n"
_NEAR: Final = 16
"""Characters: an error this close to the end of the buffer may be an incomplete token."""
UNREADABLE: Final = (
    *(OSError, EOFError, NotImplementedError, RuntimeError, ValueError),
    *(zipfile.BadZipFile, zlib.error, LZMAError, struct.error),
)
"""The exceptions of reading a damaged file or archive."""
_MEGA: Final = 1 << 20


class BrokenError(Exception):
    """The rest of the file cannot be read; the message says where and why. `formats` turns it into a SkippedItem."""


def lines(stream: BinaryIO) -> Iterator[tuple[int, Json]]:
    """The values of JSON lines with their numbers from 1; the value of an invalid line is a `ValueError`.

    Raises:
        BrokenError: the stream cannot be read further, or the last line is incomplete.
    """
    number = 0
    while line := _line(stream):
        number += 1
        body = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if len(line) > LINE_MOST:
            while line and not line.endswith(b"\n"):
                line = _line(stream)
            yield number, ValueError(f"a line of more than {LINE_MOST // _MEGA} MB")
        elif body.strip():
            value = _value(body)
            if isinstance(value, ValueError) and not body.endswith(b"\n"):
                raise BrokenError(f"{value}: the file breaks off in line {number}")
            yield number, value


def _line(stream: BinaryIO) -> bytes:
    try:
        return stream.readline(LINE_MOST + 1)
    except UNREADABLE as error:
        raise BrokenError(f"it cannot be read further: {error}") from error


def _value(line: bytes) -> Json:
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return ValueError("not UTF-8")
    except RecursionError:
        return ValueError("nested too deeply")
    except ValueError:
        return ValueError("not JSON")


def json_object(text: str | bytes) -> Mapping[str, Json]:
    """The JSON object that a text consists of; empty if it is anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def breaks_off(text: str) -> bool:
    """Whether a text is the beginning of a JSON value, and the value goes on where the text ends."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except (ValueError, RecursionError):
        return False
    return False


def elements(stream: BinaryIO) -> Iterator[Json]:
    """The elements of a JSON array one at a time, or the single value of the file.

    Raises:
        BrokenError: the text ends before the array does, or is not JSON.
    """
    text = _Buffer(stream)
    first = text.peek()
    if first == "[":
        text.drop()
        yield from _array(text)
    elif first:
        yield text.value()
    else:
        raise BrokenError("it is empty")
    if text.peek():
        raise BrokenError(f"something follows the end of the JSON at character {text.place:,}")


def _array(text: "_Buffer") -> Iterator[Json]:
    if text.peek() == "]":
        text.drop()
        return
    while True:
        yield text.value()
        after = text.peek()
        text.drop()
        if after == "]":
            return
        if after != ",":
            reason = "no comma or end of the list" if after else "the file breaks off"
            raise BrokenError(f"{reason} at character {text.place:,}")


class _Buffer:
    """The part of a text that is in memory; it grows until it contains one value."""

    def __init__(self, stream: BinaryIO) -> None:
        self._chunks = _decoded(stream)
        self._text = ""
        self._at = 0
        self._before = 0
        self._ended = False

    @property
    def place(self) -> int:
        """Characters read so far."""
        return self._before + self._at

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or not self._more(1):
                return self._text[self._at : self._at + 1]

    def drop(self) -> None:
        """Skip the next character."""
        self._at += 1

    def value(self) -> Json:
        """The next value. The buffer doubles each time, so that repeated decoding costs at most twice."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise BrokenError(f"nested too deeply at character {self.place:,}") from None
            except ValueError as error:
                self._grow(error)
            else:
                if end < len(self._text) or not self._more(1):  # a number may continue
                    self._at = end
                    return value

    def _grow(self, error: ValueError) -> None:
        at = getattr(error, "pos", len(self._text))
        incomplete = at >= len(self._text) - _NEAR or str(error).startswith("Unterminated string")
        if not incomplete:
            raise BrokenError(f"not JSON at character {self._before + at:,}") from error
        if len(self._text) - self._at > ELEMENT_MOST:
            raise BrokenError(f"one element is longer than {ELEMENT_MOST // _MEGA} MB") from error
        if not self._more(max(CHUNK, len(self._text) - self._at)):
            raise BrokenError(f"the file breaks off at character {self._before + len(self._text):,}") from error

    def _more(self, minimum: int) -> bool:
        if self._ended:
            return False
        chunks = [self._text[self._at :]]
        self._before += self._at
        self._at = 0
        size = 0
        while size < minimum:
            chunk = next(self._chunks, None)
            if chunk is None:
                self._ended = True
                break
            chunks.append(chunk)
            size += len(chunk)
        self._text = "".join(chunks)
        return size > 0


def _decoded(stream: BinaryIO) -> Iterator[str]:
    first = read_bytes(stream)
    utf16 = first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    decoder = codecs.getincrementaldecoder("utf-16" if utf16 else "utf-8-sig")()
    done, chunk = 0, first
    while True:
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            raise BrokenError(f"not UTF-8 near byte {done + error.start:,}: save the file as UTF-8") from error
        if text:
            yield text
        if not chunk:
            return
        done += len(chunk)
        chunk = read_bytes(stream)


def read_bytes(stream: BinaryIO, most: int = CHUNK) -> bytes:
    """The next bytes of a file or of a member of an archive.

    Raises:
        BrokenError: it is damaged.
    """
    try:
        return stream.read(most)
    except UNREADABLE as error:
        raise BrokenError(f"it cannot be read further: {error}") from error
