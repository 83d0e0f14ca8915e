"""What a search index holds, and the same as one text and one run of bytes: stored, and taken up again to the bit."""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
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

LAYOUT: Final = 1
"""To be raised whenever an index of the same entries holds other numbers, or is written down in another way."""

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
        self._gists: dict[int, int] = {}  # of each message of which only some words are hot: the row of these
        self.conversations: dict[str, int] = {}
        self._last: list[tuple[int, int]] = []  # of each conversation: the seq and row of its last message
        self._named: list[bool] = []  # of each conversation: somebody in it has a name
        self._assisted: list[bool] = []  # of each conversation: an assistant without a name speaks in it
        self.speakers: dict[str, int] = {}
        self.names: dict[str, frozenset[int]] = {}
        self.categories: dict[str, int] = {}
        self._days: dict[int, int] = {}
        self._day_terms: defaultdict[int, list[int]] = defaultdict(list)
        self._origins: dict[int, list[object]] = {}  # of each fact: what it rests on and belongs to
        self._subjects: dict[int, list[str]] = {}  # of each fact that rests on no message: who it is about
        self._lenders, self._borrowers = array("q"), array("q")
        self._awaited: defaultdict[str, list[int]] = defaultdict(list)  # messages not here yet: the facts on them
        self._vectors: dict[str, ContextVectors] = {}
        self._prepared: dict[str | None, Corpus] = {}

    def packed(self) -> tuple[str, bytearray]:
        """All of it as JSON and bytes. The same entries, taken up in the same order, give the same."""
        size = self.columns.size
        arrays: Arrays = {
            "row": np.fromiter(self.row.values(), dtype=np.int64),
            "lenders": np.array(self._lenders, dtype=np.int64),
            "borrowers": np.array(self._borrowers, dtype=np.int64),
            **{f"column {name}": column[:size] for name, column in self.columns.items()},
            **self.postings.arrays(),
        }
        for number, vectors in enumerate(self._vectors.values()):
            arrays |= {f"{number} {name}": value for name, value in vectors.packed(size).items()}
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
        places, data = _joined(arrays)
        return dumps({**head, "arrays": places}), data

    def unpack(self, head: str, data: NDArray[np.uint8]) -> None:
        """Take up in an empty index what `packed` gave. The bytes become its arrays; let nobody else write them."""
        told = loads(head)
        arrays = _parted(told["arrays"], data)
        self.columns.take({name: arrays[f"column {name}"] for name in self.columns}, told["size"])
        self.postings.take(arrays)
        self.ids = told["ids"]
        rows = arrays["row"].tolist()
        self.row = dict(zip(map(self.ids.__getitem__, rows), rows, strict=True))
        self._gists = dict(told["gists"])
        self._last, self._named, self._assisted = told["last"], told["named"], told["assisted"]
        self.conversations, self.speakers, self.categories, self._days = (
            _numbered(told[name]) for name in ("conversations", "speakers", "categories", "days")
        )
        for name, number in self.speakers.items():
            self._call(name, number)
        self._day_terms.update(told["day_terms"])
        self._origins, self._subjects = dict(told["origins"]), dict(told["subjects"])
        self._awaited.update(told["awaited"])
        self._lenders.frombytes(arrays["lenders"].tobytes())
        self._borrowers.frombytes(arrays["borrowers"].tobytes())
        for number, (name, dim) in enumerate(told["embedders"]):
            own = {key.partition(" ")[2]: value for key, value in arrays.items() if key.startswith(f"{number} ")}
            self._vectors[name] = ContextVectors(dim)
            self._vectors[name].take(own)

    def _call(self, name: str, number: int) -> None:
        """A speaker is found by each word of the name."""
        for word in name_tokens(name):
            self.names[word] = self.names.get(word, frozenset()) | {number}


def checksum(head: str, data: "bytearray | NDArray[np.uint8]") -> int:
    """A number that one flipped bit changes: the CRC-32 of the head and the sum of the bytes in words of eight."""
    words = np.frombuffer(data, dtype="<u8", count=len(data) // 8)
    return int(words.sum(dtype=np.uint64)) % _PRIME ^ crc32(head.encode())


def _numbered(names: Sequence[Any]) -> dict[Any, int]:
    return {name: number for number, name in enumerate(names)}


def _joined(arrays: Mapping[str, NDArray[Any]]) -> tuple[list[tuple[str, str, tuple[int, ...], int]], bytearray]:
    """Where each array begins, and all of them, one after the other."""
    places, end = [], 0
    for name, one in arrays.items():
        places.append((name, one.dtype.str, one.shape, end))
        end += -(-one.nbytes // _ALIGNED) * _ALIGNED
    data = bytearray(end)
    for (_, _, _, start), one in zip(places, arrays.values(), strict=True):
        np.frombuffer(data, dtype=one.dtype, count=one.size, offset=start).reshape(one.shape)[...] = one
    return places, data


def _parted(places: Sequence[tuple[str, str, Sequence[int], int]], data: NDArray[np.uint8]) -> Arrays:
    found: Arrays = {}
    for name, kind, shape, start in places:
        count = int(np.prod(shape))
        found[name] = np.frombuffer(data, kind, count, start).reshape(shape) if count else np.zeros(shape, kind)
    return found
