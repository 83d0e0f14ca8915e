"""Vectors of half precision, as pgvector takes them."""

from typing import TYPE_CHECKING, Self

from psycopg.adapt import Dumper
from psycopg.pq import Format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Half(bytes):
    """A vector as it is sent: its length, a word of zeros, and its numbers, the most significant bytes first."""

    __slots__ = ()

    @classmethod
    def of(cls, vector: "NDArray[np.float32]") -> Self:
        """Of a unit vector, shape (dim,)."""
        return cls(len(vector).to_bytes(2) + bytes(2) + vector.astype(">f2").tobytes())


class HalfDumper(Dumper):
    """Sends them without saying what they are: the server knows what belongs in each place."""

    format = Format.BINARY

    def dump(self, obj: Half) -> bytes:
        """As it is."""
        return obj
