"""Checks of files that stores and vaults share."""

from pathlib import Path


def has_other_names(path: Path) -> bool:
    """Whether a regular file has a second name (a hard link), under which another program may know it.

    Raises:
        OSError: the file cannot be looked up.
    """
    return path.is_file() and path.stat().st_nlink > 1
