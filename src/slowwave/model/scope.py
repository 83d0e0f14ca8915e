"""A scope: the `/`-separated path that owns memories."""

import re

from slowwave.errors import InputError
from slowwave.model.message import storable

DEFAULT_SCOPE = "default"
_PART = re.compile(r"[^/\x00-\x20\x7f]{1,64}")
_LONGEST = 256


def checked_scope(path: str) -> str:
    """The path itself, or InputError saying what a scope looks like.

    >>> checked_scope("acme/alice")
    'acme/alice'
    """
    parts = path.split("/") if isinstance(path, str) else []
    if (
        not parts
        or len(path) > _LONGEST
        or any(not _PART.fullmatch(p) or p in {".", ".."} for p in parts)
        or not storable(path)
    ):
        raise InputError(
            f"{path!r} is not a scope: use 1 to 64 visible characters between slashes, such as 'acme/alice'"
        )
    return path


def ancestors(path: str) -> tuple[str, ...]:
    """The scopes above, nearest first.

    >>> ancestors("acme/team/alice")
    ('acme/team', 'acme')
    """
    parts = path.split("/")
    return tuple("/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))
