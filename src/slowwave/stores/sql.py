"""The statements of a store by name, and the keys of a scope."""

from typing import Final

from slowwave.stores.migrations import queries
from slowwave.stores.rows import ENTRY_COLUMNS, MEMORY_COLUMNS, RUN_COLUMNS

SCOPE_BITS: Final = 40
UNNAMED: Final = " "
"""How the path of a scope begins that is not anybody's yet: no name of a scope begins so (`path < '!'` in SQL)."""


def bounds(token: int) -> tuple[int, int]:
    """The least and greatest key of a scope."""
    return token << SCOPE_BITS, ((token + 1) << SCOPE_BITS) - 1


def _lists() -> dict[str, str]:
    """What `{…}` in a statement stands for: the columns as the code knows them."""
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


def filled(backend: str, file: str = "queries") -> dict[str, str]:
    """The named statements of a backend, with the columns where they stand for them."""
    statements = queries(backend, file)
    for placeholder, columns in _lists().items():
        statements = {name: text.replace(placeholder, columns) for name, text in statements.items()}
    return statements


SQL: Final = filled("sqlite")
"""The statements that all stores share, as SQLite takes them: `?` and `:name` stand for values."""
