"""The settings that each transaction on Postgres begins with: the visible scopes, durability and locks."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from slowwave.stores.postgres.statements import Query

LOCK_CLASS: Final = 0x736C7777
""""slww": the class of our advisory locks; the number beside it is a scope's token, 0 for migrations."""

READING: Final = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITING: Final = b"BEGIN ISOLATION LEVEL READ COMMITTED"

Settings: TypeAlias = Mapping[str, str]

_SCOPES_MAX: Final = 1000
"""Scopes for which the settings of a write are kept."""


class TransactionSettings:
    """How the transactions of a store begin.

    Args:
        always: settings of every transaction, by name.
        durable: further settings of every writing transaction.
        patience: how long to wait for a connection, for a server that restarts and for other writers, seconds.
        knows: the newest schema that this program knows.

    Attributes:
        refusal: the statement by which a write fails if the schema was migrated to one that this program cannot use.
    """

    def __init__(self, *, always: Settings, durable: Settings, patience: float, knows: int) -> None:
        self.refusal: Final = Query(f"SELECT slowwave.refuse_newer({knows:d})".encode())
        self._reading = {"search_path": "slowwave, pg_catalog", **always}
        self._writing = {**self._reading, **durable}
        self.patience = patience
        self._alone: dict[tuple[int, float], Query] = {}

    def reading(self, visible: Settings) -> Query:
        """The settings of a read that sees these scopes."""
        settings = {**self._reading, **visible}
        return Query(_set_config(tuple(settings), lock=False), [*settings.values()])

    def writing(self, visible: Settings, lock: int | None, seconds: float) -> Query:
        """The settings of a write that sees these scopes, and a lock on one scope that ends with the transaction.

        It waits for locks for so many seconds.
        """
        milliseconds = max(1, int(seconds * 1000))  # 0 would wait without limit
        settings = {**self._writing, **visible, "lock_timeout": str(milliseconds)}
        values: Sequence[object] = [*settings.values()] if lock is None else [*settings.values(), str(lock)]
        return Query(_set_config(tuple(settings), lock=lock is not None), values)

    def alone(self, token: int, seconds: float) -> Query:
        """The settings of a write that sees one scope and locks it, as most writes do."""
        if seconds != self.patience:
            return self.writing({"slowwave.scopes": str(token)}, token, seconds)
        known = self._alone.get((token, self.patience))
        if known is None:
            if len(self._alone) >= _SCOPES_MAX:
                self._alone.clear()
            known = self._alone[token, self.patience] = self.writing({"slowwave.scopes": str(token)}, token, seconds)
        return known


@lru_cache(maxsize=256)
def _set_config(names: tuple[str, ...], *, lock: bool) -> bytes:
    calls = [f"set_config('{name}', ${place}, true)" for place, name in enumerate(names, 1)]
    if lock:
        calls.append(f"pg_advisory_xact_lock({LOCK_CLASS}, CAST(${len(names) + 1} AS integer))")
    return f"SELECT {', '.join(calls)}".encode()
