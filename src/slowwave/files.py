"""Checks of files before they are read or written."""

import stat
from pathlib import Path


def check_regular(path: Path) -> None:
    """Raise OSError if a path is a pipe or a device: opening a pipe may wait without limit, and a device may never end.

    A folder is not refused here, because opening it fails.

    Raises:
        OSError: it is a pipe or a device, does not exist, or cannot be looked up.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError("it is not a regular file: save its content into one")


def has_other_names(path: Path) -> bool:
    """Whether a regular file has a second name (a hard link), under which another program may know it.

    Raises:
        OSError: the file cannot be looked up.
    """
    return path.is_file() and path.stat().st_nlink > 1
