"""Replaces or creates a file completely or not at all, also if the process or the machine stops meanwhile."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TextIO, cast


@contextmanager
def replacing(path: Path, *, mode: int = 0o600, new: bool = False) -> Iterator[TextIO]:
    """A new text file in UTF-8 that takes the place of a path when the block ends.

    After an exception in the block the path is as it was.

    Args:
        path: the file; it need not exist. A link itself is replaced, so resolve it before.
        mode: the permissions of the new file; by default only its owner can read it.
        new: refuse a path that exists, also one that another process creates meanwhile: an empty file has the name until
            the block ends.

    Raises:
        OSError: the file cannot be written, or it exists and must be new.
    """
    with ExitStack() as unfinished:
        if new:
            path.touch(mode=mode, exist_ok=False)
            unfinished.callback(path.unlink, missing_ok=True)
        with NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            unfinished.callback(temporary.unlink, missing_ok=True)
            yield cast("TextIO", file)
            file.flush()
            os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(path)
            unfinished.pop_all()
