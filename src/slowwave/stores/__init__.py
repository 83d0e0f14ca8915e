"""Stores keep memories in SQLite or Postgres. `apply(plan)` is the only write of memories."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slowwave.errors import TOO_MANY_FILES, NotFoundError, SettingsError, StoreError
from slowwave.log import Log
from slowwave.model.config import INDEX_CACHE_MB
from slowwave.stores.address import SERVER, checked
from slowwave.telemetry import watch

if TYPE_CHECKING:
    from slowwave.stores.postgres.store import PostgresStore
    from slowwave.stores.sqlite.store import SqliteStore

_log: Final = Log("store")


def make(
    where: str,
    *,
    in_ram: int | None = None,
    index_cache_mb: int = INDEX_CACHE_MB,
    busy_seconds: float = 30.0,
    create: bool = True,
    **postgres: Any,  # noqa: ANN401  # of several types
) -> "SqliteStore | PostgresStore":
    """Open the store at an address: a file name, ":memory:", or the URL of a Postgres database.

    Scopes of up to `in_ram` memories are searched in RAM, larger ones by the Postgres server. SQLite ignores `in_ram`. The search
    indexes in RAM take up to `index_cache_mb` megabytes. A
    write waits up to `busy_seconds` for other writers. Without `create` the store must exist. `postgres` are further
    arguments of `PostgresStore`, which SQLite ignores too.

    Raises:
        SettingsError: the kind of address is not supported, the address is malformed, or the package extra for Postgres
            is not installed.
        NotFoundError: there is no store, and `create` is False.
        StoreError: the store cannot be opened.
    """
    try:
        store = _open(where, in_ram, index_cache_mb, busy_seconds, create=create, **postgres)
    except (OSError, StoreError) as error:
        if _may_open_files():
            raise
        raise StoreError(f"{where.rpartition('@')[2]} cannot be opened: {TOO_MANY_FILES}") from error
    _log.info("store opened: %s", store.name)
    watch(store)
    return store


def _may_open_files() -> bool:
    """Whether this process may open six more files; SQLite reports only that it cannot open one of its three."""
    held: list[int] = []
    try:
        for _ in range(3):
            held += os.pipe()
    except OSError:
        return False
    finally:
        for descriptor in held:
            os.close(descriptor)
    return True


def _open(
    where: str,
    in_ram: int | None,
    index_cache_mb: int,
    busy_seconds: float,
    *,
    create: bool,
    **postgres: Any,  # noqa: ANN401  # as in `make`
) -> "SqliteStore | PostgresStore":
    if checked(where).startswith(SERVER):
        try:
            # Imported here so that SQLite users need no Postgres driver.
            from slowwave.stores.postgres.store import PostgresStore  # noqa: PLC0415
        except ImportError as error:
            raise SettingsError(
                f"a Postgres store needs an extra ({error}): pip install 'slowwave[postgres]'"
            ) from error
        return PostgresStore(
            where, in_ram=in_ram, index_cache_mb=index_cache_mb, busy_seconds=busy_seconds, create=create, **postgres
        )
    if "://" in where:
        kind = where.partition(":")[0]
        raise SettingsError(f"no store for {kind!r} addresses: give a file name, ':memory:' or 'postgresql://…'")
    from slowwave.stores.sqlite.file import MEMORY  # noqa: PLC0415 - as below
    from slowwave.stores.sqlite.store import SqliteStore  # noqa: PLC0415 - Postgres users do not load it

    if not create and where != MEMORY and not Path(where).exists():
        raise NotFoundError(f"no store at {where}: check the path; the first memory that is added creates a store")
    if not create and where != MEMORY and Path(where).is_file() and not Path(where).stat().st_size:
        raise NotFoundError(f"{where} is an empty file, not a store: check the path, or restore a backup")
    return SqliteStore(where, index_cache_mb=index_cache_mb, busy_seconds=busy_seconds)
