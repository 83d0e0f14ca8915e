"""Ways to break a file: its bytes, and the JSON values in it. Each is named, and breaks a file the same way every time."""

import codecs
import copy
import gzip
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

Json = Any
Path = tuple[str | int, ...]

VALUES: Final[dict[str, Json]] = {
    "null": None,
    "true": True,
    "zero": 0,
    "minus one": -1,
    "a huge number": 10**40,
    "a number that no float holds": 10**400,
    "a huge fraction": 1e308,
    "infinity": float("inf"),
    "not a number": float("nan"),
    "an empty text": "",
    "spaces": " \n\t ",
    "NUL": "a\x00b",
    "half a pair": "\ud800 x",
    "a long text": "x" * 30_000,
    "a name of 600 characters": "n" * 600,
    "a date that does not exist": "2025-02-31T25:00:00Z",
    "the last year": "9999-12-31T23:59:59+23:59",
    "an empty list": [],
    "a list of nulls": [None, None],
    "a list of lists": [[[]]],
    "an empty object": {},
    "an object of odd names": {"": None, "\x00": [1], "constructor": {"a": 1}},
    "deep lists": json.loads("[" * 80 + "]" * 80),
    "a path": "../../etc/passwd",
    "lines": "one\ntwo\r\nthree\u2028four",
}
REMOVED: Final = "removed"
DOUBLED: Final = "doubled"


def broken_bytes(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The bytes of a file, broken in some 45 ways."""
    chance = Random(5)
    middle = len(data) // 2
    yield "empty", b""
    yield "white space", b" \n\t\n "
    yield "a byte order mark", codecs.BOM_UTF8 + data
    yield "two byte order marks", codecs.BOM_UTF8 * 2 + data
    yield "only a byte order mark", codecs.BOM_UTF8
    yield "UTF-16", data.decode("utf-8", "replace").encode("utf-16")
    yield "UTF-16 without a mark", data.decode("utf-8", "replace").encode("utf-16-be")
    yield "UTF-32", data.decode("utf-8", "replace").encode("utf-32")
    yield "Latin-1", data[:middle] + "ü".encode("latin-1") + data[middle:]
    yield "a torn character", data[:middle] + "€".encode()[:2] + data[middle:]
    yield "NUL in it", data[:middle] + b"\x00" + data[middle:]
    yield "NUL at its end", data + b"\x00" * 512
    yield "NUL only", b"\x00" * 2000
    yield "a zeroed block", data[:middle] + b"\x00" * 64 + data[middle + 64 :]
    yield "control characters", data.replace(b" ", b"\x1b[2J\x07", 3)
    yield "packed", gzip.compress(data)
    yield "the beginning of an archive", b"PK\x03\x04" + data
    yield "the end of an archive", data + b"PK\x05\x06" + b"\x00" * 18
    yield "something before it", b"x" + data
    yield "something after it", data + b"]}"
    yield "twice", data + data
    yield "twice, on lines", data + b"\n" + data
    yield "Windows lines", data.replace(b"\n", b"\r\n")
    yield "deep brackets", b"[" * 60_000
    yield "deep brackets before it", b"[" * 60_000 + data
    yield "a number of 5,000 digits", b"[" + b"9" * 5000 + b"]"
    yield "a text without an end", data + b'\n{"role": "' + b"x" * 50_000
    yield "a page of HTML", b"<!DOCTYPE html><html><body>Sign in</body></html>"
    yield "a scalar", b"42"
    yield "an empty list", b"[]"
    yield "an empty object", b"{}"
    yield "lines of nothing", b'null\n[]\n{}\n"x"\n'
    for tenths in range(1, 10):
        yield f"cut at {tenths} tenths", data[: len(data) * tenths // 10]
    yield "without its last byte", data[:-1]
    for count in range(10):
        at = chance.randrange(max(1, len(data)))
        yield f"byte {at} changed ({count})", data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def broken_values(value: Json) -> Iterator[tuple[str, Json]]:
    """A JSON value with one part removed, doubled or replaced: each part in three ways, and each way somewhere."""
    chance, names = Random(9), list(VALUES)
    for number, path in enumerate(_paths(value)):
        place = "/".join(map(str, path))
        yield f"{place} {REMOVED}", _changed(value, path, lambda parent, key: parent.pop(key))
        chosen = dict.fromkeys((names[number % len(names)], chance.choice(names), chance.choice(names)))
        for name in chosen:
            yield f"{place} is {name}", _changed(value, path, _setter(VALUES[name]))
        if path and isinstance(path[-1], int):
            yield f"{place} {DOUBLED}", _changed(value, path, lambda parent, key: parent.insert(key, parent[key]))
    for name, other in VALUES.items():
        yield f"all is {name}", other


def _setter(value: Json) -> Callable[[Json, str | int], None]:
    def put(parent: Json, key: str | int) -> None:
        parent[key] = copy.deepcopy(value)

    return put


def _changed(value: Json, path: Path, change: Callable[[Json, Any], object]) -> Json:
    root = copy.deepcopy(value)
    parent = root
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return root


def _paths(value: Json, path: Path = ()) -> Iterator[Path]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in entries:
        yield (*path, key)
        yield from _paths(part, (*path, key))
