"""A time that is not in the calendar, in a row that has no checksum, is reported as damage by every read of it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

import pytest

from slowwave.errors import CorruptError
from slowwave.model.access import AccessKey, StoredAnswer
from slowwave.model.budget import StoreBudget
from slowwave.model.scope_state import StateQuery
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing.builders import NOW, SCOPE, add, message, plan

CLAIM: Final = StoredAnswer("abc", "process-1", NOW, None)
KEY: Final = AccessKey(
    id="k", label="", prefix="", rights=frozenset({"read"}), trust="user", created_at=NOW, expires_at=NOW
)
NEVER: Final = 2**61
READS: Final[dict[tuple[str, str], Callable[[SqliteStore], object]]] = {
    ("leases", "ended"): lambda store: store.pass_record(SCOPE),
    ("leases", "next_try"): lambda store: store.failing_passes(1, 9),
    ("access_keys", "created_at"): lambda store: store.access_key("aa"),
    ("access_keys", "expires_at"): lambda store: store.access_keys(),
    ("answers", "at"): lambda store: store.claim_answer(SCOPE, "n", CLAIM, NOW - timedelta(days=1)),
    ("model_pauses", "until"): lambda store: store.admit_model_call("m", StoreBudget(), NOW),
    ("runs", "at"): lambda store: store.written(SCOPE, 0, 9),
    ("memories", "valid_from"): lambda store: store.scope_state(SCOPE, StateQuery()),
}


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:")
    opened.apply(plan(add(message("Hello"))))
    opened.lease(SCOPE, "h", 60, NOW)
    opened.slept(SCOPE, "h", None, NOW, error="CorruptError")
    opened.add_access_key(KEY, "aa")
    opened.claim_answer(SCOPE, "n", CLAIM, NOW)
    opened.admit_model_call("m", StoreBudget(calls_per_day=9), NOW)
    opened.pause_model("m", NOW)
    yield opened
    opened.close()


@pytest.mark.parametrize(("table", "column"), READS)
def test_a_time_outside_of_the_calendar_is_damage(store: SqliteStore, table: str, column: str) -> None:
    read = READS[table, column]
    read(store)
    store._db.execute(f"UPDATE {table} SET {column} = {NEVER}")
    with pytest.raises(CorruptError, match="damaged"):
        read(store)
