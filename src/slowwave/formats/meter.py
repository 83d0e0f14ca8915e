"""Measures how much of an import was read, in bytes."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import BinaryIO


class Meter:
    """How many bytes were read, and of how many.

    Attributes:
        total: the bytes of all files; None until they are known.
    """

    def __init__(self) -> None:
        self.total: int | None = None
        self._before = 0
        self._stream: BinaryIO | None = None

    @property
    def done(self) -> int:
        """The bytes read so far."""
        return self._before + (self._stream.tell() if self._stream is not None else 0)

    @contextmanager
    def reading(self, opened: Callable[[], AbstractContextManager[BinaryIO]], size: int) -> Iterator[BinaryIO]:
        """Open a stream of so many bytes, and count what is read of it until it is closed."""
        with opened() as stream:
            self._stream = stream
            try:
                yield stream
            finally:
                self._stream = None
                self.count(size)

    def count(self, size: int) -> None:
        """Count a file that was read whole."""
        self._before += size
