"""Whether a Postgres store is sound, and getting rid of what was erased."""

from collections.abc import Sequence

from slowwave.errors import BusyError, CorruptError, ReadOnlyError
from slowwave.stores.checking import COUNTS, Checking
from slowwave.stores.postgres_base import PostgresBase
from slowwave.stores.postgres_doctor import examined
from slowwave.stores.postgres_pool import Raw, connected
from slowwave.stores.postgres_remains import REWRITTEN_MAX, found, older, rewritable
from slowwave.stores.remains import Needles
from slowwave.stores.statements import SQL


class PostgresCheck(Checking, PostgresBase):
    """What keeps a database in order."""

    unreached: tuple[str, ...] = ("the server's write-ahead log and replicas, until they are recycled",)

    def check(self, *, deep: bool = False) -> list[str]:
        """What is wrong with the store, in sentences; empty when all is well.

        Rows are counted against index entries. Deep also reads every row against its checksum, and replays the journal
        of every scope from nothing: the outcome must be what the tables hold. The pages themselves are the server's
        to check (`pg_amcheck`, `data_checksums`).
        """
        found: list[str] = []
        with self._guard, self._one_state():
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
            BusyError: they are larger than 256 MB, and rewriting locks all scopes out: that is the operator's to time. Or
                somebody can still see the rows of before, which are then kept.
            ReadOnlyError: this login may not rewrite them, which their owner may.
        """
        with self._guard, self._owner() as db:
            tables, size, may = rewritable(db)
            full = f"VACUUM FULL {', '.join(tables)}"
            kept = f"what was erased is gone from the tables of {self.name}, but free space in their pages may hold bytes of it"
            if not may:
                raise ReadOnlyError(f"{kept}: their owner has to run `{full}` when the store may stand still")
            if size > REWRITTEN_MAX:
                db.execute(f"VACUUM {', '.join(tables)}".encode())
                raise BusyError(f"{kept}: run `{full}` when the store may stand still")
            seeing = older(db)
            db.execute(full.encode())
            if (
                seeing
            ):  # pages would show it, but not to every login, nor once it is not known any more what to look for
                raise BusyError(
                    f"{kept}: {', '.join(seeing)} could still see it when they were rewritten, as a dump or an open "
                    "transaction does. Repeat the erase when that has ended"
                )

    def traces(self, texts: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
        """Where erased words and ids still stand: in a table, a queue of workers included, or in a file that may be read.

        Every column of every table is looked through, and with the rights of a superuser the pages of the files below,
        up to 256 MB: for others `unreached` says that these were not read. Words that some memory still holds are no trace.
        """
        with self._guard:
            self._see_all()
            needles = self._needles(texts)
        with self._guard, self._owner() as db:
            return list(found(db, needles, Needles([identity.encode() for identity in ids])))

    def _owner(self) -> Raw:
        return connected(self._url, self._patience)
