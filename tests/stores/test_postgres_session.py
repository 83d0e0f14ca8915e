"""A write that relies on the hints of the last one: two round trips, and the same outcome if another session wrote."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import psycopg
import pytest

from slowwave.errors import ConflictError, InputError, StoreError
from slowwave.model.memory import Memory
from slowwave.model.operations import Erase
from slowwave.model.query import Where
from slowwave.stores import group_writer
from slowwave.stores.postgres import session, store as postgres
from slowwave.stores.postgres.pool import RawConnection
from slowwave.stores.postgres.session import RetryTransaction
from slowwave.stores.postgres.statements import Query
from slowwave.stores.postgres.store import PostgresStore
from slowwave.stores.postgres.wire import Replies, Stream
from slowwave.testing.builders import NOW, SCOPE, add, advance, change, fact, message, plan, use


@pytest.fixture
def other(in_postgres: PostgresStore, address: str) -> Iterator[PostgresStore]:
    """Another process with the same database."""
    del in_postgres  # which has emptied it
    opened = PostgresStore(address, connections=2)
    yield opened
    opened.close()


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many statements each round trip carried."""
    seen: list[int] = []
    pipelined = session._pipelined

    def counted(raw: RawConnection, queries: Sequence[Query]) -> object:
        seen.append(len(queries))
        return pipelined(raw, queries)

    class Counted(Stream):
        def end(self) -> Replies:
            replies = super().end()
            seen.append(len(replies))
            return replies

    monkeypatch.setattr(session, "_pipelined", counted)
    monkeypatch.setattr(session, "Stream", Counted)
    return seen


def said(store: PostgresStore) -> list[tuple[str, int]]:
    return [(one.text, one.seq) for one in store.select([SCOPE], Where(kinds=frozenset({"message"}), order="recorded"))]


def wrong(store: PostgresStore) -> list[Memory]:
    """Let it remember, and give what it remembers."""
    store.apply(plan(add(message("One", ref="1"))))
    assert store._left
    return store.select([SCOPE], Where())


def test_a_message_after_another_takes_two_round_trips(in_postgres: PostgresStore, trips: list[int]) -> None:
    in_postgres.apply(plan(add(message("One", ref="1"))))
    for number in range(2, 5):
        trips.clear()
        assert in_postgres.apply(plan(add(message(f"Note {number}", ref=str(number))))).applied
        assert len(trips) == 2
    trips.clear()
    in_postgres.apply(plan(add(message("A question", ref="q")), add(message("An answer", ref="a"))))
    in_postgres.apply(plan(add(fact("Likes tea"))))
    assert len(trips) == 4
    assert [seq for _, seq in said(in_postgres)] == [1, 2, 3, 4, 5, 6]
    assert in_postgres.check(deep=True) == []


def test_a_database_with_another_isolation_level_is_refused_with_the_required_one(
    in_postgres: PostgresStore, address: str, trips: list[int]
) -> None:
    with psycopg.connect(f"{address}&options=-cdefault_transaction_isolation%3Dserializable") as db:
        assert db.execute("SHOW default_transaction_isolation").fetchone() == ("serializable",)
    opened = PostgresStore(f"{address}&options=-cdefault_transaction_isolation%3Dserializable", connections=1)
    opened.apply(plan(add(message("One", ref="1"))))
    trips.clear()
    opened.apply(plan(add(message("Two", ref="2"))))
    assert len(trips) == 2
    opened.close()
    assert said(in_postgres) == [("One", 1), ("Two", 2)]


def test_writes_of_another_process_are_noticed(in_postgres: PostgresStore, other: PostgresStore) -> None:
    for number in range(6):
        for store in (in_postgres, other):
            assert store.apply(plan(add(message(f"{number}", ref=f"{number}{id(store)}")))).applied
    assert said(other) == [(str(number // 2), number + 1) for number in range(12)]
    assert in_postgres.check(deep=True) == []


def test_outdated_hints_leave_no_error_in_the_log_of_the_server(
    in_postgres: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    retried: list[str] = []
    back = PostgresStore._back

    def noted(store: PostgresStore, error: BaseException) -> None:
        retried.append(f"{type(error).__name__} from {error.__cause__!r}")
        back(store, error)

    monkeypatch.setattr(PostgresStore, "_back", noted)
    wrong(in_postgres)
    other.apply(plan(add(message("Two", ref="2"))))
    assert in_postgres.apply(plan(add(message("Three", ref="3")))).applied
    assert retried == ["RetryTransaction from None"]  # noticed by a row, not by an error of the server
    assert in_postgres.apply(plan(add(message("One", ref="1")))).applied == ()
    assert retried == ["RetryTransaction from None"] * 2


def test_on_a_new_connection_nothing_is_guessed(in_postgres: PostgresStore, address: str, trips: list[int]) -> None:
    wrong(in_postgres)
    with psycopg.connect(address, autocommit=True) as db:  # as if a standby had taken over that lacks the last writes
        db.execute(
            "TRUNCATE slowwave.journal, slowwave.runs, slowwave.memories, slowwave.entries, slowwave.conversations"
        )
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename <> ''"
        )
    trips.clear()
    in_postgres.apply(plan(add(message("Two", ref="2"))))
    assert len(trips) > 1
    assert said(in_postgres) == [("Two", 1)]
    assert in_postgres.check(deep=True) == []


def test_a_gap_erased_by_another_process_is_not_written_into(in_postgres: PostgresStore, other: PostgresStore) -> None:
    (known,) = wrong(in_postgres)
    changed = change(known, pinned=True)
    other.apply(plan(changed, Erase(memory=known.id, because="asked")))
    in_postgres.apply(plan(add(message("Two", ref="2"))))
    assert said(other) == [("Two", 2)]
    assert in_postgres.check(deep=True) == []


def test_a_scope_that_was_slept_meanwhile_is_due_again(in_postgres: PostgresStore, other: PostgresStore) -> None:
    wrong(in_postgres)
    in_postgres.apply(plan(add(message("Two", ref="2"))))
    for number in range(3, 6):
        assert other.scopes_due(NOW, 9) == [SCOPE]
        assert other.lease(SCOPE, f"sleeper {number}", 60, NOW) is not None
        other.slept(SCOPE, f"sleeper {number}", other.last_run(SCOPE), NOW)
        assert other.scopes_due(NOW, 9) == []
        in_postgres.apply(plan(add(message("More", ref=str(number)))))
    assert other.scopes_due(NOW, 9) == [SCOPE]


def test_a_known_message_is_skipped_and_one_with_other_content_is_refused(in_postgres: PostgresStore) -> None:
    wrong(in_postgres)
    assert in_postgres.apply(plan(add(message("One", ref="1")))).applied == ()
    assert not in_postgres._left  # it may come again and again: better ask than be told by an error
    in_postgres.apply(plan(add(message("Two", ref="2"))))
    assert in_postgres._left
    with pytest.raises(ConflictError, match="other content"):
        in_postgres.apply(plan(add(message("Another", ref="1"))))
    both = plan(add(message("One", ref="1")), add(message("Three", ref="3")))
    assert [one.memory.text for one in in_postgres.apply(both).applied] == ["Three"]  # type: ignore[union-attr]  # adds
    assert said(in_postgres) == [("One", 1), ("Two", 2), ("Three", 3)]


def test_a_fact_that_is_known_is_dropped_with_the_same_words(in_postgres: PostgresStore) -> None:
    tea = fact("Likes tea")
    in_postgres.apply(plan(add(tea)))
    assert in_postgres._left
    receipt = in_postgres.apply(plan(add(fact("Likes tea"))))
    assert [one.reason for one in receipt.dropped] == [f"the same fact is known already, as {tea.id}"]
    twice = plan(add(fact("Likes rye")))
    in_postgres.apply(twice)
    again = in_postgres.apply(replace(twice, groups=plan(add(fact("Likes oats"))).groups))
    assert [one.reason for one in again.dropped] == [f"the plan {twice.id} was applied before"]


CHANGES: list[Callable[[Memory], object]] = [
    use,
    lambda known: change(known, text="Other words"),
    lambda _: advance(0, 1),
]


@pytest.mark.parametrize("made", CHANGES)
def test_further_operations_may_follow_a_guessed_one(
    in_postgres: PostgresStore, made: Callable[[Memory], object]
) -> None:
    (known,) = wrong(in_postgres)
    receipt = in_postgres.apply(plan(add(message("Two", ref="2")), made(known)))  # type: ignore[arg-type]  # operations
    assert (len(receipt.applied), receipt.dropped) == (2, ())
    assert in_postgres.apply(plan(add(message("Three", ref="3")))).applied
    assert [seq for _, seq in said(in_postgres)] == [1, 2, 3]
    assert in_postgres.check(deep=True) == []


def test_of_many_conversations_and_scopes_only_the_latest_are_remembered(
    in_postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch, trips: list[int]
) -> None:
    monkeypatch.setattr(group_writer, "_CONVERSATIONS", 2)
    monkeypatch.setattr(postgres, "_SCOPES", 2)
    for number in range(4):
        for conversation in ("a", "b", "c"):
            words = message(f"{number}", ref=f"{number}", conversation=conversation)
            assert in_postgres.apply(plan(add(words))).applied
    for scope in ("x", "y", "z"):
        in_postgres.apply(plan(add(message("Hello", scope=scope)), scope=scope))
    assert len(in_postgres._left) == 2
    trips.clear()
    in_postgres.apply(plan(add(message("Hello again", scope="z")), scope="z"))
    assert len(trips) == 2
    seqs = [(one.conversation, one.seq) for one in in_postgres.select([SCOPE], Where(kinds=frozenset({"message"})))]
    assert sorted(seqs) == [(name, number) for name in "abc" for number in (1, 2, 3, 4)]


def test_a_connection_lost_repeatedly_raises_a_store_error(
    in_postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> None:
        raise RetryTransaction

    monkeypatch.setattr(PostgresStore, "_commit", lost)
    with pytest.raises(StoreError, match="again and again"):
        in_postgres.apply(plan(add(message("One", ref="1"))))
    monkeypatch.undo()
    assert said(in_postgres) == []


def test_a_conflict_error_names_the_stored_row_not_the_guessed_one(in_postgres: PostgresStore) -> None:
    in_postgres.apply(plan(add(message("One", id="stored", ref="1"))))
    both = plan(add(message("Two", id="guessed", ref="1")), add(message("Three", id="third", ref="1")))
    with pytest.raises(ConflictError, match="memory stored"):
        in_postgres.apply(both)
    assert said(in_postgres) == [("One", 1)]


def test_a_statement_that_the_server_dropped_is_prepared_again(in_postgres: PostgresStore) -> None:
    for number in range(4):
        in_postgres.apply(plan(add(message(f"Note {number}", ref=str(number)))))
    (raw,) = in_postgres._pool._idle
    raw.execute("DEALLOCATE ALL")
    for number in range(4, 8):
        assert in_postgres.apply(plan(add(message(f"Note {number}", ref=str(number))))).applied
    assert [seq for _, seq in said(in_postgres)] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_new_conversation_may_follow_a_guess(in_postgres: PostgresStore, trips: list[int]) -> None:
    wrong(in_postgres)
    trips.clear()
    in_postgres.apply(plan(add(message("Two", ref="2", conversation="another"))))
    assert len(trips) == 3  # it asks whether the conversation exists
    assert [one.name for one in in_postgres.conversations(SCOPE)] == ["another", "c1"]
    assert in_postgres.check(deep=True) == []


def test_a_value_that_the_server_refuses_leaves_no_row(in_postgres: PostgresStore) -> None:
    wrong(in_postgres)
    with pytest.raises(InputError, match="NUL"):
        in_postgres.apply(plan(add(message("Two\x00", ref="2"))))
    in_postgres.apply(plan(add(message("Three", ref="3"))))
    assert said(in_postgres) == [("One", 1), ("Three", 2)]
