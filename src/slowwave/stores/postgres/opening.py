"""What each transaction on Postgres begins with: whose rows it sees, and how it writes."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from slowwave.stores.postgres.wire import Statement

LOCK_CLASS: Final = 0x736C7777
""""slww": the class of our advisory locks; the number beside it is a scope's token, 0 for migrations."""

READING: Final = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITING: Final = b"BEGIN ISOLATION LEVEL READ COMMITTED"

Settings: TypeAlias = Mapping[str, str]

_SCOPES: Final = 1000
"""Of so many scopes it is remembered how a write to them begins."""


class TransactionSettings:
    """How the transactions of a store begin.

    Args:
        always: settings of every transaction, by name.
        durable: settings of every writing transaction.
        patience: how long to wait for a connection, for a server that restarts and for other writers, seconds.
    """

    def __init__(self, *, always: Settings, durable: Settings, patience: float) -> None:
        self._reading = {"search_path": "slowwave, pg_catalog", **always}
        self._writing = {**self._reading, **durable}
        self.patience = patience
        self._alone: dict[tuple[int, float], Statement] = {}

    def reading(self, seen: Settings) -> Statement:
        """Settings of a read, these for whose rows it sees."""
        settings = {**self._reading, **seen}
        return _called(tuple(settings), lock=False), [*settings.values()]

    def writing(self, seen: Settings, lock: int | None) -> Statement:
        """Settings of a write, these for whose rows it sees, and a lock on a scope that ends with it."""
        settings = {**self._writing, **seen, "lock_timeout": str(int(self.patience * 1000))}
        values: Sequence[object] = [*settings.values()] if lock is None else [*settings.values(), str(lock)]
        return _called(tuple(settings), lock=lock is not None), values

    def alone(self, token: int) -> Statement:
        """Settings of a write to one scope, which is all that it sees, and a lock on it: what most writes begin with."""
        known = self._alone.get((token, self.patience))
        if known is None:
            if len(self._alone) >= _SCOPES:
                self._alone.clear()
            known = self._alone[token, self.patience] = self.writing({"slowwave.scopes": str(token)}, token)
        return known


@lru_cache(maxsize=256)
def _called(names: tuple[str, ...], *, lock: bool) -> bytes:
    calls = [f"set_config('{name}', ${place}, true)" for place, name in enumerate(names, 1)]
    if lock:
        calls.append(f"pg_advisory_xact_lock({LOCK_CLASS}, CAST(${len(names) + 1} AS integer))")
    return f"SELECT {', '.join(calls)}".encode()
