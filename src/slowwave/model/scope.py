"""A scope: the `/`-separated path that owns memories, and the encoding of names of any text as its parts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias
from urllib.parse import unquote_to_bytes
from uuid import UUID

from slowwave.errors import InputError, shown
from slowwave.model.names import checked_name
from slowwave.model.plain_text import storable

DEFAULT_SCOPE: Final = "default"
PATH_BYTES: Final = 2048
"""The limit of a path in bytes of UTF-8. The index of scopes in Postgres holds keys of up to 2,704 bytes."""

_PART: Final = re.compile(r"[^/\x00-\x20\x7f]+")
_ENCODED: Final = re.compile(r"[/\x00-\x20\x7f]|%(?=[0-9A-Fa-f]{2})")
"""What a part cannot contain, and a % that would be read as the start of an escape."""
_WHOLE: Final = {"": "%FF", ".": "%2E", "..": "%2E%2E"}
"""Names that are encoded as a whole. FF is no byte of UTF-8, so that no other name gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A scope of a store and its content, as `Slowwave.scopes` lists it.

    Args:
        path: the scope as it is stored, such as "acme/alice".
        names: its decoded names, such as ("acme", "alice"). `Slowwave.within(*names)` opens it.
        messages: how many messages it contains, archived and retracted ones included.
        facts: how many facts are in use: active or core, without summaries.
        last_written: when the latest run wrote to it, in the zone of the store; None: its runs were erased, or none was stored.
    """

    path: str
    names: tuple[str, ...]
    messages: int
    facts: int
    last_written: datetime | None

    def __str__(self) -> str:
        return self.path


ScopeName: TypeAlias = str | Scope | Sequence[str | int | UUID]
"""A path such as "acme/alice", a Scope of `scopes`, or the names in a list or tuple as `within` takes them."""


def is_path(value: object) -> bool:
    """Whether a value has the form of a scope; its length is not checked."""
    parts = value.split("/") if isinstance(value, str) else []
    sound = all(_PART.fullmatch(part) and part not in {".", ".."} for part in parts)
    return bool(parts) and sound and storable(str(value))


def checked_scope(path: str) -> str:
    """The path itself, or InputError with the form of a scope.

    >>> checked_scope("acme/alice")
    'acme/alice'
    """
    if not is_path(path):
        raise InputError(
            f"{shown(path)} is not a scope: use visible characters between slashes, such as 'acme/alice'; a space is "
            "written %20, as `within` does"
        )
    if (size := len(path.encode())) > PATH_BYTES:
        raise InputError(
            f"the scope {path[:40]!r}… has {size} bytes: use a path of at most {PATH_BYTES} bytes of UTF-8"
        )
    return path


def path_of(scope: object) -> str:
    """The path of a scope that is given as a path, as a Scope, or as names in a list or tuple.

    >>> path_of("acme/alice"), path_of(("acme", 42)), path_of(["Ann Lee"])
    ('acme/alice', 'acme/42', 'Ann%20Lee')

    Raises:
        InputError: it is none of them.
    """
    if isinstance(scope, list | tuple):
        return scope_of(scope)
    return checked_scope(scope.path if isinstance(scope, Scope) else scope)  # type: ignore[arg-type]  # it checks the type


def scope_of(names: Sequence[object], below: str = "") -> str:
    """The path of these names, below another path if one is given. Different names give different paths.

    A name that is a valid part stays as it is. In any other name, a slash, a space, a control character and a % before
    two hexadecimal digits become % and the two hexadecimal digits of their byte, and "", "." and ".." become "%FF",
    "%2E" and "%2E%2E". An int becomes its decimal digits, so that 42 and "42" are the same name, and a UUID its text.

    >>> scope_of(["acme", "Alice O'Neil / Köln"])
    "acme/Alice%20O'Neil%20%2F%20Köln"
    >>> scope_of(["a/b"]), scope_of(["a%2Fb"]), scope_of(["100%"])
    ('a%2Fb', 'a%252Fb', '100%')

    Raises:
        InputError: there is no name, one is neither text nor an int, or the path is longer than 2,048 bytes.
    """
    if not names:
        raise InputError('within() without a name: pass the names of the scope, such as within("acme", "alice")')
    parts = [_encoded(name) for name in names]
    return checked_scope("/".join([below, *parts] if below else parts))


def names_of(path: str) -> tuple[str, ...]:
    """The names that `scope_of` made a path of. A part that it cannot have made stays as it is.

    >>> names_of("acme/Alice%20O'Neil%20%2F%20Köln")
    ('acme', "Alice O'Neil / Köln")
    """
    return tuple(map(_decoded, path.split("/")))


def ancestors(path: str) -> tuple[str, ...]:
    """The scopes above, nearest first.

    >>> ancestors("acme/team/alice")
    ('acme/team', 'acme')
    """
    parts = path.split("/")
    return tuple("/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))


def _encoded(name: object) -> str:
    if isinstance(name, UUID):
        return str(name)
    if not isinstance(name, str):
        return checked_name(name, "a name of a scope", numbers=True)
    if not storable(name.replace("\x00", "")):  # a NUL is encoded
        raise InputError(f"the name {name[:40]!r} of a scope holds a lone surrogate: pass text that encodes to UTF-8")
    return _WHOLE.get(name) or _ENCODED.sub(lambda found: f"%{ord(found[0]):02X}", name)


def _decoded(part: str) -> str:
    if "%" not in part:
        return part
    whole = {encoded: name for name, encoded in _WHOLE.items()}
    if part in whole:
        return whole[part]
    try:
        name = unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        return part
    return name if _encoded(name) == part else part
