"""Checks a Postgres store and its server."""

from collections.abc import Collection

from slowwave.errors import CorruptError, InputError
from slowwave.model.fleet import ALIVE, RunningWorker
from slowwave.model.schema import SchemaState
from slowwave.model.scope import ScopeName
from slowwave.stores.migrations import migrations
from slowwave.stores.postgres.doctor import check_server
from slowwave.stores.postgres.erasure import PostgresErasure
from slowwave.stores.postgres.migrate import state
from slowwave.stores.replay import COUNT_CHECKS


class PostgresCheck(PostgresErasure):
    """Checks, repair and rewriting of the tables."""

    def check(self, *, deep: bool = False, scopes: Collection[ScopeName] | int | None = None) -> list[str]:
        """The problems of the store, or of some scopes, in sentences; empty if there are none. See `Store.check`.

        Rows are counted against index entries. Deep also reads every row against its checksum, and replays the journal
        of every scope, whose result must equal the tables. The pages themselves are the server's
        to check (`pg_amcheck`, `data_checksums`).
        """
        found: list[str] = []
        with self._guard, self._one_state():
            self._refuse_newer()
            self._see_every_scope()
            try:
                if scopes is not None:
                    for token, path in self._chosen_scopes(scopes):
                        found += self._problems_of(token, path, deep=deep)
                    return found
                for query, words in COUNT_CHECKS:
                    if number := self._one(query, ())[0]:
                        found.append(words.format(number))
                if deep:
                    for token, path in self._all("scopes", ()):
                        found += self._differences(token, path)
            except CorruptError as error:
                found.append(str(error))
        return found

    def schema_state(self) -> SchemaState:
        """The schema that the database has now."""
        with self._guard, self._owner() as db:
            return state(db, self.name, migrations("postgres"))

    def running_workers(self) -> list[RunningWorker]:
        """The workers that renewed their rows lately."""
        with self._guard:
            rows = self._all("running_workers", (ALIVE,))
        return [RunningWorker(name=str(name), version=str(version), silent=silent) for name, version, silent in rows]

    def about(self) -> list[tuple[str, bool, str]]:
        """How the server suits this store: its version, roles, row-level security, migrations and durability."""
        with self._guard, self._owner() as db:
            return [*check_server(db, self._most), *self._proofs()]

    def backup(self, path: str) -> None:  # noqa: ARG002  # of Store
        """Raise InputError: the server's own tools make backups."""
        raise InputError("a store in Postgres is backed up with pg_dump, or with `slowwave copy` into a file")
