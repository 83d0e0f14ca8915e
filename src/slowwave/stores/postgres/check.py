"""Checks a Postgres store, and removes erased content from its pages."""

import threading
from collections.abc import Sequence
from typing import Any

from slowwave.errors import BusyError, CorruptError, InputError, ReadOnlyError
from slowwave.stores.byte_scan import BytePatterns
from slowwave.stores.postgres.base import PostgresBase
from slowwave.stores.postgres.byte_scan import REWRITTEN_MAX, TOUCHED, WAITED, found, older, rewritten, tables
from slowwave.stores.postgres.doctor import check_server
from slowwave.stores.postgres.pool import RawConnection
from slowwave.stores.repair import Repairer
from slowwave.stores.replay import COUNT_CHECKS


class _Erased(threading.local):
    """The tables from which one thread erased and those it rewrote; other threads have their own."""

    def __init__(self) -> None:
        self.waiting: set[str] = set()  # tables that are to be rewritten
        self.rewritten: set[str] = set()  # tables that it rewrote last


class PostgresCheck(Repairer, PostgresBase):
    """Checks, repair and rewriting of the tables."""

    unreached: tuple[str, ...] = ("the server's write-ahead log and replicas, until they are recycled",)

    def __init__(self, url: str, **options: Any) -> None:  # noqa: ANN401  # those of PostgresBase
        super().__init__(url, **options)
        self._erased = _Erased()

    def after_fork(self) -> None:
        """In a forked child: it has erased nothing yet."""
        super().after_fork()
        self._erased = _Erased()

    def _after_erase(self) -> None:
        self._erased.waiting |= {name for (name,) in self._db.execute(TOUCHED)}

    def check(self, *, deep: bool = False) -> list[str]:
        """The problems of the store, in sentences; empty if there are none.

        Rows are counted against index entries. Deep also reads every row against its checksum, and replays the journal
        of every scope, whose result must equal the tables. The pages themselves are the server's
        to check (`pg_amcheck`, `data_checksums`).
        """
        found: list[str] = []
        with self._guard, self._one_state():
            self._see_every_scope()
            try:
                for query, words in COUNT_CHECKS:
                    if number := self._one(query, ())[0]:
                        found.append(words.format(number))
                if deep:
                    for token, path in self._all("scopes", ()):
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
        """Rewrite the tables from which rows were erased, so that no page keeps their bytes. The write-ahead log still does.

        A table cannot be read or written while it is rewritten. Its lock is waited for two seconds at most. A plain VACUUM
        would lock nothing, but leaves bytes in the free space of pages.

        Args:
            rewrite: True: however large they are. False: never. None: up to 64 MB in all.
            again: all tables, not only those from which this thread erased rows.

        Returns:
            The names of the tables, and for how long each was locked.

        Raises:
            BusyError: some tables were not rewritten, or another transaction can still see the erased rows, which are
                then kept. The message names the statement to run.
            ReadOnlyError: only the owner may rewrite the tables, and this login is not the owner.
        """
        with self._guard, self._owner() as db:
            waiting = self._erased.waiting
            chosen = [table for table in tables(db) if again or not waiting or table.name in waiting]
            kept = f"what was erased is gone from the rows of {self.name}, but free space in pages may hold bytes of it"
            full = f"VACUUM FULL {', '.join(table.name for table in chosen)}"
            if not all(table.ours for table in chosen):
                raise ReadOnlyError(f"{kept}: their owner has to run `{full}` when the store may stand still")
            large = sum(table.size for table in chosen) > REWRITTEN_MAX
            if chosen and (rewrite is False or (rewrite is None and large)):
                raise BusyError(
                    f"{kept}: run `{full}` when the store may stand still, or erase again with `--rewrite` (rewrite=True)"
                )
            seeing = older(db)
            done, busy = rewritten(db, chosen)
            report = f" (rewritten: {', '.join(done)})" if done else ""
            if busy:
                raise BusyError(
                    f"{kept}: others were using it, and are not waited for longer than {WAITED} s: "
                    f"run `VACUUM FULL {', '.join(busy)}` when the store may stand still, or erase again{report}"
                )
            if seeing:
                # A scan of the pages needs a superuser, and later the erased words are no longer known.
                raise BusyError(
                    f"{kept}: {', '.join(seeing)} could still see it when they were rewritten, as a dump or an open "
                    f"transaction does. Repeat the erase when that has ended{report}"
                )
            self._erased.rewritten = {table.name for table in chosen}
            waiting.clear()
            return tuple(done)

    def find_traces(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        """The places that still hold erased words and ids: tables, the queue of the workers included, and files.

        Every column of every table is searched. A superuser also reads the pages of the files: of the rewritten tables and
        of all tables up to 64 MB; for other logins `unreached` says that they were not read. Words that a memory still
        holds do not count.
        """
        with self._guard:
            self._see_every_scope()
            needles = self._needles(texts)
        with self._guard, self._owner() as db:
            ours = BytePatterns([identity.encode() for identity in ids])
            return list(found(db, needles, ours, self._erased.rewritten))

    def _owner(self) -> RawConnection:
        return self._connect(self._patience)
