"""Vectors of half precision in the binary format of pgvector."""

from typing import TYPE_CHECKING, Self

from psycopg.adapt import Dumper
from psycopg.pq import Format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Half(bytes):
    """A vector in the format of `halfvec`: its length, two zero bytes, and its numbers, big-endian."""

    __slots__ = ()

    @classmethod
    def of(cls, vector: "NDArray[np.float32]") -> Self:
        """Encode a unit vector of shape (dim,)."""
        return cls(len(vector).to_bytes(2) + bytes(2) + vector.astype(">f2").tobytes())


class HalfDumper(Dumper):
    """Sends them without a type, because the OID of `halfvec` differs between databases; the server infers it."""

    format = Format.BINARY

    def dump(self, obj: Half) -> bytes:
        """The bytes as they are."""
        return obj
