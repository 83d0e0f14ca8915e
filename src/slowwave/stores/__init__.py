"""Stores: where memory lives. `apply(plan)` is the only write."""

from typing import TYPE_CHECKING

from slowwave.errors import SettingsError
from slowwave.stores.address import SERVER, checked

if TYPE_CHECKING:
    from slowwave.stores.postgres.store import PostgresStore
    from slowwave.stores.sqlite.store import SqliteStore


def make(where: str, *, in_ram: int | None = None) -> "SqliteStore | PostgresStore":
    """The store at a place: a file, ":memory:", or the address of a Postgres database.

    `in_ram` is how many memories a scope may have to be searched in RAM; the server searches larger ones. A file has
    no server.

    Raises:
        SettingsError: for a kind of place that is not supported, an address that cannot be read, or an extra that is
            not installed.
        StoreError: if it cannot be opened.
    """
    if checked(where).startswith(SERVER):
        try:
            # only the store asked for is loaded
            from slowwave.stores.postgres.store import PostgresStore  # noqa: PLC0415
        except ImportError as error:
            raise SettingsError(
                f"a Postgres store needs an extra ({error}): pip install 'slowwave[postgres]'"
            ) from error
        return PostgresStore(where, in_ram=in_ram)
    if "://" in where:
        kind = where.partition(":")[0]
        raise SettingsError(f"no store for {kind!r} addresses: give a file name, ':memory:' or 'postgresql://…'")
    from slowwave.stores.sqlite.store import SqliteStore  # noqa: PLC0415 - only the store that is asked for is loaded

    return SqliteStore(where)
