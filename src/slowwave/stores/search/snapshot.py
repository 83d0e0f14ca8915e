"""The state of a search index, and its conversion to JSON and bytes that restore it bit for bit."""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from slowwave.model.codec import dumps, loads
from slowwave.policy.text.features import name_tokens
from slowwave.stores.search.columns import Columns
from slowwave.stores.search.postings import Postings
from slowwave.stores.search.vectors import ContextVectors

if TYPE_CHECKING:
    from slowwave.policy.ranking.score import Corpus

LAYOUT: Final = 3
"""The version of the layout. Raise it when the same entries give other numbers or another form."""

ROOM: Final = 64
"""A stored index has room for the vectors of one more row for each 64, after which it is stored again (`service.BEHIND`):
otherwise the first message that is added would copy all vectors."""
_ALIGNED: Final = 64
_PRIME: Final = (1 << 61) - 1
Arrays = dict[str, NDArray[Any]]


class IndexState:
    """Columns with one row for each memory, postings, conversations, speakers and vectors."""

    def __init__(self) -> None:
        self.columns = Columns()
        self.ids: list[str] = []
        self.row: dict[str, int] = {}
        self.postings = Postings()
        self._gists: dict[int, int] = {}  # by row of a trimmed message: the row of its trimmed text
        self.conversations: dict[str, int] = {}
        self._last: list[tuple[int, int]] = []  # by conversation: the seq and row of its last message
        self._named: list[bool] = []  # by conversation: whether a speaker has a name
        self._assisted: list[bool] = []  # by conversation: whether an assistant without a name speaks
        self.speakers: dict[str, int] = {}
        self.names: dict[str, frozenset[int]] = {}
        self.categories: dict[str, int] = {}
        self._days: dict[int, int] = {}
        self._day_terms: defaultdict[int, list[int]] = defaultdict(list)
        self._origins: dict[int, list[object]] = {}  # by fact: its sources, members, span, conversation and subject
        self._subjects: dict[int, list[str]] = {}  # by fact without a source message: the words of its subject
        self._lenders, self._borrowers = array("q"), array("q")
        self._awaited: defaultdict[str, list[int]] = defaultdict(
            list
        )  # by message that is not in the index yet: the facts on it
        self._vectors: dict[str, ContextVectors] = {}
        self._prepared: dict[str | None, Corpus] = {}

    def packed(self) -> tuple[str, bytearray]:
        """The state as JSON and bytes. The same entries in the same order give the same result."""
        size = self.columns.size
        arrays: Arrays = {
            "row": np.fromiter(self.row.values(), dtype=np.int64),
            "lenders": np.array(self._lenders, dtype=np.int64),
            "borrowers": np.array(self._borrowers, dtype=np.int64),
            **{f"column {name}": column[:size] for name, column in self.columns.items()},
            **self.postings.arrays(),
        }
        room: dict[str, int] = {}
        for number, vectors in enumerate(self._vectors.values()):
            arrays |= {f"{number} {name}": value for name, value in vectors.packed(size).items()}
            room[f"{number} sums"] = size // ROOM
        head = {
            "size": size,
            "ids": self.ids,
            "gists": list(self._gists.items()),
            "conversations": list(self.conversations),
            "last": self._last,
            "named": self._named,
            "assisted": self._assisted,
            "speakers": list(self.speakers),
            "categories": list(self.categories),
            "days": list(self._days),
            "day_terms": list(self._day_terms.items()),
            "origins": list(self._origins.items()),
            "subjects": list(self._subjects.items()),
            "awaited": [pair for pair in self._awaited.items() if pair[1]],
            "embedders": [(name, vectors.dim) for name, vectors in self._vectors.items()],
        }
        places, data = _pack_arrays(arrays, room)
        return dumps({**head, "arrays": places}), data

    def unpack(self, head: str, data: NDArray[np.uint8]) -> None:
        """Fill an empty index from the result of `packed`. Its arrays are views of `data`: do not write to it afterwards."""
        state = loads(head)
        arrays = _unpack_arrays(state["arrays"], data)
        self.columns.take({name: arrays[f"column {name}"] for name in self.columns}, state["size"])
        self.postings.take(arrays)
        self.ids = state["ids"]
        rows = arrays["row"].tolist()
        self.row = dict(zip(map(self.ids.__getitem__, rows), rows, strict=True))
        self._gists = dict(state["gists"])
        self._last, self._named, self._assisted = state["last"], state["named"], state["assisted"]
        self.conversations, self.speakers, self.categories, self._days = (
            _enumerated(state[name]) for name in ("conversations", "speakers", "categories", "days")
        )
        for name, number in self.speakers.items():
            self._index_name(name, number)
        self._day_terms.update(state["day_terms"])
        self._origins, self._subjects = dict(state["origins"]), dict(state["subjects"])
        self._awaited.update(state["awaited"])
        self._lenders.frombytes(arrays["lenders"].tobytes())
        self._borrowers.frombytes(arrays["borrowers"].tobytes())
        for number, (name, dim) in enumerate(state["embedders"]):
            values = {key.partition(" ")[2]: value for key, value in arrays.items() if key.startswith(f"{number} ")}
            self._vectors[name] = ContextVectors(dim)
            self._vectors[name].take(values)

    def _index_name(self, name: str, number: int) -> None:
        """Index a speaker under each word of the name."""
        for word in name_tokens(name):
            self.names[word] = self.names.get(word, frozenset()) | {number}


def checksum(head: str, data: "bytearray | NDArray[np.uint8]") -> int:
    """A checksum that a flipped bit changes: the CRC-32 of the head, and the sum of the data in words of eight bytes."""
    words = np.frombuffer(data, dtype="<u8", count=len(data) // 8)
    return int(words.sum(dtype=np.uint64)) % _PRIME ^ crc32(head.encode())


def _enumerated(names: Sequence[Any]) -> dict[Any, int]:
    return {name: number for number, name in enumerate(names)}


def _pack_arrays(
    arrays: Mapping[str, NDArray[Any]], room: Mapping[str, int]
) -> tuple[list[tuple[str, str, tuple[int, ...], int]], bytearray]:
    """The name, type, shape and offset of each array, and the bytes of all. `room` is the number of rows of zeros after some."""
    places, end = [], 0
    for name, values in arrays.items():
        shape = (len(values) + room.get(name, 0), *values.shape[1:])
        places.append((name, values.dtype.str, shape, end))
        end += -(-prod(shape) * values.itemsize // _ALIGNED) * _ALIGNED
    data = bytearray(end)
    for (_, _, _, start), values in zip(places, arrays.values(), strict=True):
        np.frombuffer(data, dtype=values.dtype, count=values.size, offset=start).reshape(values.shape)[...] = values
    return places, data


def _unpack_arrays(places: Sequence[tuple[str, str, Sequence[int], int]], data: NDArray[np.uint8]) -> Arrays:
    arrays: Arrays = {}
    for name, kind, shape, start in places:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(data, kind, count, start).reshape(shape) if count else np.zeros(shape, kind)
    return arrays
