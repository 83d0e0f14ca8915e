"""Values that a careless or hostile program passes where the library expects something else."""

import enum
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import MagicMock
from uuid import UUID

import numpy as np
from hypothesis import strategies as st

NUL, LONE, PAIR = "a\x00b", "a\ud800b", "\ud83d\ude00"
LONG = 50_000


class Role(enum.StrEnum):
    """A text that is also a member of an enumeration, as callers define them."""

    USER = "user"


class Kind(enum.Enum):
    """A member that looks like a text and is none."""

    SEMANTIC = "semantic"


class Text(str):  # noqa: SLOT000 - as a caller would write it
    """A text of a class of the caller."""


class Number(int):
    """A number of a class of the caller."""


class Grade(int, enum.Enum):
    """A number that is also a member of an enumeration, which formats itself by its name."""

    FIVE = 5


class Zone(tzinfo):
    """A time zone whose offset is longer than a day."""

    def utcoffset(self, _: datetime | None, /) -> timedelta:
        return timedelta(hours=25)


class Moment(datetime):
    """A time that calculates differently, as those of other libraries do."""

    def __sub__(self, other: Any) -> Any:  # noqa: ANN401 - as a caller would write it
        raise AttributeError("no such calculation")


class Hostile:
    """Every comparison and its representation raise an exception."""

    def __repr__(self) -> str:
        raise RuntimeError("no representation")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    def __hash__(self) -> int:
        raise RuntimeError("no hash")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    def __len__(self) -> int:
        raise RuntimeError("no length")


def _ideographs() -> str:
    """Characters of 4 bytes each that do not repeat, so that an index of Postgres needs room for all of them."""
    chance = Random(7)
    return "".join(chr(chance.randrange(0x20000, 0x2A6D0)) for _ in range(512))


def _endless() -> Any:  # noqa: ANN401 - a generator
    yield from range(3)


def _inside_itself() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


def _mapping_inside_itself() -> dict[str, Any]:
    values: dict[str, Any] = {}
    values["a"] = values
    return values


MAKERS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "zero": lambda: 0,
    "minus one": lambda: -1,
    "int": lambda: 42,
    "2**63": lambda: 2**63,
    "-2**63": lambda: -(2**63) - 1,
    "int of 5000 digits": lambda: 10**5000,
    "float": lambda: 1.5,
    "float of a whole number": lambda: 3.0,
    "NaN": lambda: math.nan,
    "infinity": lambda: math.inf,
    "minus infinity": lambda: -math.inf,
    "tiny": lambda: 5e-324,
    "largest float": lambda: 1.7976931348623157e308,
    "complex": lambda: 1j,
    "Decimal": lambda: Decimal("NaN"),
    "Fraction": lambda: Fraction(1, 3),
    "numpy int": lambda: np.int64(3),
    "numpy float": lambda: np.float64("nan"),
    "numpy text": lambda: np.str_("chat"),
    "numpy bool": lambda: np.bool_(True),
    "numpy array": lambda: np.array([1.0, 2.0]),
    "numpy array of rows": lambda: np.zeros((2, 2)),
    "numpy array without a dimension": lambda: np.array("chat"),
    "bytes": lambda: b"chat",
    "bytearray": lambda: bytearray(b"\xff\x00"),
    "memoryview": lambda: memoryview(b"chat"),
    "empty": lambda: "",
    "blank": lambda: " \t\n",
    "NUL": lambda: NUL,
    "lone surrogate": lambda: LONE,
    "surrogate pair": lambda: PAIR,
    "latin-1 bytes of a file name": lambda: b"Z\xeb".decode(errors="surrogateescape"),
    "control characters": lambda: "\x1b[31m\x07\x9b\u202e\u2028\ufeff",
    "combining characters": lambda: "e" + "\u0301" * 300,
    "noncharacters": lambda: "\uffff\U0010ffff\ufdd0",
    "SQL": lambda: "'; DROP TABLE memories; --%s%d{}",
    "option": lambda: "--help",
    "path upwards": lambda: "../../x",
    "512 characters": lambda: "x" * 512,
    "512 characters that do not compress": _ideographs,
    "513 characters": lambda: "x" * 513,
    "50,000 characters": lambda: "x" * LONG,
    "50,000 characters in 4 bytes each": lambda: "\U0001f600" * LONG,
    "100,000 brackets": lambda: "[" * 100_000,
    "text of a class": lambda: Text("chat"),
    "number of a class": lambda: Number(3),
    "StrEnum": lambda: Role.USER,
    "Enum": lambda: Kind.SEMANTIC,
    "Enum of a number": lambda: Grade.FIVE,
    "Path": lambda: Path("chat"),
    "UUID": lambda: UUID(int=7),
    "naive datetime": lambda: datetime(2026, 3, 1),  # noqa: DTZ001 - what is tried
    "year 1": lambda: datetime.min.replace(tzinfo=UTC),
    "year 9999": lambda: datetime.max.replace(tzinfo=UTC),
    "before year 1 in UTC": lambda: datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    "after year 9999 in UTC": lambda: datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    "time in an impossible zone": lambda: datetime(2026, 3, 1, tzinfo=Zone()),
    "time of a class": lambda: Moment(2026, 3, 1, tzinfo=UTC),
    "date": lambda: date(2026, 3, 1),
    "longest timedelta": lambda: timedelta.max,
    "empty list": list,
    "list of a text": lambda: ["chat"],
    "list of a surrogate": lambda: [LONE],
    "list of None": lambda: [None],
    "list of numbers": lambda: [1, 2.5],
    "list of lists": lambda: [["chat"]],
    "list inside itself": _inside_itself,
    "list of a hostile object": lambda: [Hostile()],
    "tuple": lambda: ("chat", 1),
    "set": lambda: {"chat", "x"},
    "generator": _endless,
    "empty dict": dict,
    "dict": lambda: {"chat": 1},
    "dict of numbers": lambda: {1: "chat"},
    "dict of a surrogate": lambda: {LONE: LONE},
    "dict inside itself": _mapping_inside_itself,
    "operator": lambda: {"a": {"$in": [[], math.nan]}},
    "deep list": lambda: eval("[" * 90 + "]" * 90),
    "object": object,
    "class": lambda: str,
    "function": lambda: _endless,
    "exception": lambda: ValueError(LONE),
    "ellipsis": lambda: ...,
    "mock": MagicMock,
    "hostile object": Hostile,
}
"""Functions, because a generator or a mutable value serves one call only."""

names = st.sampled_from(sorted(MAKERS))
texts = st.text(st.characters(), max_size=600)
"""Characters of every category, lone surrogates included."""
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
times = st.datetimes(timezones=st.none() | st.timezones())
values = (
    names.map(lambda name: MAKERS[name]())
    | texts
    | st.integers()
    | st.floats()
    | st.binary(max_size=20)
    | times
    | json_values
)
