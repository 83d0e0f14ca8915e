"""The named statements of a backend, and the range of keys of a scope."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from slowwave.stores.rows import ENTRY_COLUMNS, MEMORY_COLUMNS, RUN_COLUMNS

SCOPE_BITS: Final = 40
UNNAMED: Final = " "
"""The paths of scopes that are not listed begin so; no name of a scope does (`path < '!'` in SQL).

They are being copied (COPYING), or nothing is stored in them (a hash of the path: `unnamed`).
"""
COPYING: Final = f"{UNNAMED}copying"
"""A temporary path of a partial copy. A complete scope gets its own path, so that no reader sees a part (`path < ' d'` in SQL)."""

_STORES: Final = Path(__file__).parent
_FRAGMENT: Final = re.compile(r"^-- fragment: (\w+)\n(.*?)\n\n", re.MULTILINE | re.DOTALL)
_HEADER: Final = re.compile(r"^-- name: (\w+)(?: \(([^)]*)\))?((?: \w+)*)$", re.MULTILINE)


class NamedStatement(NamedTuple):
    """A statement of a file of queries.

    Attributes:
        text: the statement, in the dialect of its backend.
        parameters: the names of its parameters in their order, if its header lists them.
        properties: the words after them.
    """

    text: str
    parameters: tuple[str, ...]
    properties: frozenset[str]


def unnamed(secret: bytes, path: str) -> str:
    """The path of a scope in which nothing is stored. Postgres has a function of this name."""
    return path if path.startswith(UNNAMED) else f" unnamed {sha256(secret + path.encode()).hexdigest()}"


def bounds(token: int) -> tuple[int, int]:
    """The least and greatest key of a scope."""
    return token << SCOPE_BITS, ((token + 1) << SCOPE_BITS) - 1


def named_statements(backend: str, file: str = "queries") -> dict[str, NamedStatement]:
    """The statements of a backend's file by name. Each begins with a line `-- name: the_name (parameters) properties`.

    `-- fragment: the_name` begins a text that ends at an empty line and replaces `{the_name}` in the statements.
    """
    text = (_STORES / backend / "sql" / f"{file}.sql").read_text("utf-8")
    fragments = {f"{{{name}}}": part for name, part in _FRAGMENT.findall(text)}
    text = _FRAGMENT.sub("", text)
    for placeholder, part in (fragments | _column_lists()).items():
        text = text.replace(placeholder, part)
    parts = _HEADER.split(text)[1:]
    return {
        name: _statement(body, tuple(parameters.split(", ")) if parameters else (), properties)
        for name, parameters, properties, body in zip(*[iter(parts)] * 4, strict=True)
    }


def _statement(body: str, parameters: tuple[str, ...], properties: str) -> NamedStatement:
    values = ", ".join(f"${place}" for place in range(1, len(parameters) + 1))
    return NamedStatement(
        text=body.strip().rstrip(";").replace("{values}", f"({values})"),
        parameters=parameters,
        properties=frozenset(properties.split()),
    )


def _column_lists() -> dict[str, str]:
    """The columns that replace `{…}` in a statement."""
    memory, entry = list(MEMORY_COLUMNS), list(ENTRY_COLUMNS)
    return {
        "{memory}": ", ".join(memory),
        "{m.memory}": ", ".join(f"m.{name}" for name in memory),
        "{?memory}": ", ".join("?" * len(memory)),
        "{entry}": ", ".join(entry),
        "{e.entry}": ", ".join(f"e.{name}" for name in entry),
        "{x.entry}": ", ".join(f"excluded.{name}" for name in entry),
        "{?entry}": ", ".join("?" * len(entry)),
        "{run}": ", ".join(RUN_COLUMNS),
        "{r.run}": ", ".join(f"r.{name}" for name in RUN_COLUMNS),
        "{?run}": ", ".join("?" * len(RUN_COLUMNS)),
    }
