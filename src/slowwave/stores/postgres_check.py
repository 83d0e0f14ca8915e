"""Whether a Postgres store is sound, and getting rid of what was erased."""

from collections.abc import Sequence
from typing import Any, Final

import psycopg

from slowwave.errors import BusyError, CorruptError
from slowwave.stores.checking import COUNTS, Checking
from slowwave.stores.postgres_base import PostgresBase
from slowwave.stores.postgres_doctor import examined
from slowwave.stores.statements import SQL

_SMALL: Final = 256 * 1024 * 1024
_TABLES: Final = ("memories", "entries", "gists", "journal", "runs", "links", "conversations", "cursors")
_SIZE: Final = (
    "SELECT sum(pg_total_relation_size(CAST('slowwave.' || name AS regclass))) FROM unnest(CAST(%s AS text[])) AS name"
)


class PostgresCheck(Checking, PostgresBase):
    """What keeps a database in order."""

    def check(self, *, deep: bool = False) -> list[str]:
        """What is wrong with the store, in sentences; empty when all is well.

        Rows are counted against index entries. Deep also reads every row against its checksum, and replays the journal
        of every scope from nothing: the outcome must be what the tables hold. The pages themselves are the server's
        to check (`pg_amcheck`, `data_checksums`).
        """
        found: list[str] = []
        with self._guard:
            self._see_all()
            try:
                for query, words in COUNTS:
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
            return list(examined(db, self._most))

    def scrub(self) -> None:
        """Rewrite the tables, so that no page of them keeps what was erased. The server's log and backups keep theirs.

        Raises:
            BusyError: they are larger than 256 MB, and rewriting locks all scopes out: that is the operator's to time.
        """
        with self._guard, self._owner() as db:
            size = db.execute(_SIZE, (list(_TABLES),)).fetchone()
            if size is not None and int(size[0]) > _SMALL:
                db.execute(f"VACUUM {_listed()}".encode())
                raise BusyError(
                    f"what was erased is gone from {self.name}, but free space in its pages may hold bytes of it: run "
                    f"`VACUUM FULL {_listed()}` when the store may stand still"
                )
            db.execute(f"VACUUM FULL {_listed()}".encode())

    def traces(self, texts: Sequence[str]) -> list[str]:
        """None that can be looked for from here: what rows no longer hold lies, if at all, in the server's own files."""
        del texts
        return []

    def _owner(self) -> "psycopg.Connection[tuple[Any, ...]]":
        return psycopg.connect(self._url, autocommit=True)


def _listed() -> str:
    return ", ".join(f"slowwave.{name}" for name in _TABLES)
