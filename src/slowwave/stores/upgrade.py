"""Migrates the schema of a store, apart from opening it."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slowwave.errors import InputError, NotFoundError
from slowwave.model.schema import SchemaState
from slowwave.stores import make
from slowwave.stores.address import SERVER, checked
from slowwave.stores.migrations import migrations, refuse_newer

if TYPE_CHECKING:
    import psycopg


PARTITIONS_MIN: Final = 2
PARTITIONS_MAX: Final = 1024


def schema_state(where: str) -> SchemaState:
    """The schema of a store and the migrations that it lacks. Nothing is changed.

    Raises:
        NotFoundError: there is no store.
        NewerSchemaError: only a newer version can use it.
        StoreError: it cannot be opened.
    """
    if checked(where).startswith(SERVER):
        from slowwave.stores.postgres.migrate import state  # noqa: PLC0415 - needs the extra

        return _on_server(where, lambda db, name: state(db, name, migrations("postgres")))
    path = Path(where)
    if where == ":memory:" or not path.is_file():
        raise NotFoundError(f"no store at {where}: check the path")
    import apsw  # noqa: PLC0415 - Postgres users do not load it

    wanted = migrations("sqlite")[-1][0]
    from slowwave.stores.sqlite.file import translated  # noqa: PLC0415 - Postgres users do not load it

    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            version = int(db.pragma("user_version"))
    except apsw.Error as error:
        raise translated(error, where) from error
    refuse_newer(version, wanted, where)
    return SchemaState(
        store=where,
        version=version,
        wanted=wanted,
        steps=tuple(range(version + 1, wanted + 1)),
        size=path.stat().st_size,
    )


def init_store(where: str, *, partitions: int | None = None) -> SchemaState:
    """Create an empty store, perhaps with partitioned tables. Returns its schema.

    Args:
        where: a file or an address.
        partitions: into how many partitions the tables of a database are cut, by the hash of the scope, 2 to 1024; None:
            not at all.

    Raises:
        InputError: there is a store, or `partitions` is given for a file or out of range.
        StoreError: it cannot be created.
    """
    on_server = checked(where).startswith(SERVER)
    if partitions is not None and (not on_server or not PARTITIONS_MIN <= partitions <= PARTITIONS_MAX):
        raise InputError(
            f"partitions={partitions} is for Postgres stores, {PARTITIONS_MIN} to {PARTITIONS_MAX} of them"
        )
    there: SchemaState | None
    try:
        there = schema_state(where)
    except NotFoundError:
        there = None
    if there is not None and there.version:
        raise InputError(f"there is a store at {there.store} already: nothing was created")
    make(where).close()
    if partitions is not None:
        from slowwave.stores.postgres.migrate import partition, state  # noqa: PLC0415 - needs the extra

        def cut(db: "psycopg.Connection[Any]", name: str) -> SchemaState:
            partition(db, partitions)
            return state(db, name, migrations("postgres"))

        return _on_server(where, cut)
    return schema_state(where)


def migrate_store(where: str, *, patience: float, say: Callable[[str], None]) -> SchemaState:
    """Run the missing migrations of a store. Returns its schema afterwards.

    Args:
        where: a file or an address; the store must exist.
        patience: seconds to try for locks that other transactions hold.
        say: called with a sentence before each migration, and while one waits.

    Raises:
        InputError: the login does not own the schema.
        NotFoundError: there is no store.
        BusyError: other transactions kept their locks.
    """
    before = schema_state(where)
    if not before.version:
        raise NotFoundError(f"no store at {before.store}: check the address")
    if before.steps and not before.owned:
        raise InputError(f"this login does not own the schema of {before.store}: run `slowwave migrate` as its owner")
    if not checked(where).startswith(SERVER):
        make(where, create=False).close()
    elif before.steps:
        from slowwave.stores.postgres.migrate import migrate  # noqa: PLC0415 - needs the extra

        def run(db: "psycopg.Connection[Any]", name: str) -> SchemaState:
            migrate(db, name, migrations("postgres"), patience=patience, say=say)
            return before

        _on_server(where, run)
    return schema_state(where)


def _on_server(where: str, work: "Callable[[psycopg.Connection[Any], str], SchemaState]") -> SchemaState:
    import psycopg  # noqa: PLC0415 - needs the extra

    from slowwave.stores.postgres.base import shown  # noqa: PLC0415 - needs the extra
    from slowwave.stores.postgres.errors import translated  # noqa: PLC0415 - needs the extra
    from slowwave.stores.postgres.pool import connected  # noqa: PLC0415 - needs the extra

    name = shown(where)
    try:
        with connected(where) as db:
            return work(db, name)
    except psycopg.Error as error:
        raise translated(error, name) from error
