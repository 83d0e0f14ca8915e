"""Whether a Postgres store is sound, and getting rid of what was erased."""

import threading
from collections.abc import Sequence
from typing import Any

from slowwave.errors import BusyError, CorruptError, InputError, ReadOnlyError
from slowwave.stores.byte_scan import BytePatterns
from slowwave.stores.postgres.base import PostgresBase
from slowwave.stores.postgres.byte_scan import REWRITTEN_MAX, TOUCHED, WAITED, found, older, rewritten, tables
from slowwave.stores.postgres.doctor import check_server
from slowwave.stores.postgres.pool import RawConnection, connected
from slowwave.stores.repair import Repairer
from slowwave.stores.replay import COUNT_CHECKS
from slowwave.stores.sql import SQL


class _Erased(threading.local):
    """What one thread has erased and rewritten: another may have rewritten tables before this one erased."""

    def __init__(self) -> None:
        self.waiting: set[str] = set()  # tables that wait for `scrub`
        self.rewritten: set[str] = set()  # tables that it has rewritten last


class PostgresCheck(Repairer, PostgresBase):
    """What keeps a database in order."""

    unreached: tuple[str, ...] = ("the server's write-ahead log and replicas, until they are recycled",)

    def __init__(self, url: str, **options: Any) -> None:  # noqa: ANN401  # those of PostgresBase
        super().__init__(url, **options)
        self._erased = _Erased()

    def after_fork(self) -> None:
        """In a forked child: nothing was erased by it yet."""
        super().after_fork()
        self._erased = _Erased()

    def _after_erase(self) -> None:
        self._erased.waiting |= {name for (name,) in self._all(TOUCHED, ())}

    def check(self, *, deep: bool = False) -> list[str]:
        """What is wrong with the store, in sentences; empty when all is well.

        Rows are counted against index entries. Deep also reads every row against its checksum, and replays the journal
        of every scope from nothing: the outcome must be what the tables hold. The pages themselves are the server's
        to check (`pg_amcheck`, `data_checksums`).
        """
        found: list[str] = []
        with self._guard, self._one_state():
            self._see_every_scope()
            try:
                for query, words in COUNT_CHECKS:
                    if number := self._one(SQL[query], ())[0]:
                        found.append(words.format(number))
                if deep:
                    for token, path in self._all(SQL["scopes"], ()):
                        found += self._differences(token, path)
            except CorruptError as error:
                found.append(str(error))
        return found

    def about(self) -> list[tuple[str, bool, str]]:
        """How the server suits this store: its version, roles, row-level security, migrations and durability."""
        with self._guard, self._owner() as db:
            return list(check_server(db, self._most))

    def backup(self, path: str) -> None:  # noqa: ARG002  # of Store
        """Raise InputError: the server's own tools make backups."""
        raise InputError("a store in Postgres is backed up with pg_dump, or with `slowwave copy` into a file")

    def rewrite_erased(self, *, rewrite: bool | None = None, again: bool = False) -> tuple[str, ...]:
        """Rewrite the tables from which something was erased, so that no page of them keeps it. The server's log keeps its own.

        Nobody reads or writes a table while it is rewritten, and for no lock is waited longer than two seconds. A plain
        VACUUM would lock nobody out, but leaves bytes in the free space of pages.

        Args:
            rewrite: True: however large they are. False: never. None: up to 64 MB in all.
            again: all tables, not only those from which this thread erased something.

        Returns:
            Their names, and for how long each was locked.

        Raises:
            BusyError: they are not rewritten, or not all of them, or somebody can still see the rows of before, which
                are then kept. It says which statement to run.
            ReadOnlyError: this login may not rewrite them, which their owner may.
        """
        with self._guard, self._owner() as db:
            waiting = self._erased.waiting
            chosen = [one for one in tables(db) if again or not waiting or one.name in waiting]
            kept = f"what was erased is gone from the rows of {self.name}, but free space in pages may hold bytes of it"
            full = f"VACUUM FULL {', '.join(one.name for one in chosen)}"
            if not all(one.ours for one in chosen):
                raise ReadOnlyError(f"{kept}: their owner has to run `{full}` when the store may stand still")
            large = sum(one.size for one in chosen) > REWRITTEN_MAX
            if chosen and (rewrite is False or (rewrite is None and large)):
                raise BusyError(
                    f"{kept}: run `{full}` when the store may stand still, or erase again with `--rewrite` (rewrite=True)"
                )
            seeing = older(db)
            done, busy = rewritten(db, chosen)
            told = f" (rewritten: {', '.join(done)})" if done else ""
            if busy:
                raise BusyError(
                    f"{kept}: others were using it, and are not waited for longer than {WAITED} s: "
                    f"run `VACUUM FULL {', '.join(busy)}` when the store may stand still, or erase again{told}"
                )
            if seeing:
                # Pages would show it, but not to every login, nor once it is not known any more what to look for.
                raise BusyError(
                    f"{kept}: {', '.join(seeing)} could still see it when they were rewritten, as a dump or an open "
                    f"transaction does. Repeat the erase when that has ended{told}"
                )
            self._erased.rewritten = {one.name for one in chosen}
            waiting.clear()
            return tuple(done)

    def find_traces(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        """Where erased words and ids still stand: in a table, a queue of workers included, or in a file that may be read.

        Every column of every table is looked through, and with the rights of a superuser the pages of the files below,
        of the tables that were rewritten and of all up to 64 MB: for others `unreached` says that these were not read.
        Words that some memory still holds are no trace.
        """
        with self._guard:
            self._see_every_scope()
            needles = self._needles(texts)
        with self._guard, self._owner() as db:
            ours = BytePatterns([identity.encode() for identity in ids])
            return list(found(db, needles, ours, self._erased.rewritten))

    def _owner(self) -> RawConnection:
        return connected(self._url, self._patience)
