"""Stores: where memory lives. `apply(plan)` is the only write."""

from typing import TYPE_CHECKING

from slowwave.errors import SettingsError

if TYPE_CHECKING:
    from slowwave.ports import Store


def make(where: str) -> "Store":
    """The store at a place: a file, or ":memory:".

    Raises:
        SettingsError: for a kind of place that is not supported.
        StoreError: if it cannot be opened.
    """
    if "://" in where:
        raise SettingsError(f"no store for {where.partition('://')[0]!r} addresses: give a file name or ':memory:'")
    from slowwave.stores.sqlite import SqliteStore  # noqa: PLC0415 - only the store that is asked for is loaded

    return SqliteStore(where)
