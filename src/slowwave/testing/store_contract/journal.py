"""Tests of the journal of a Store, inherited by `slowwave.testing.store_contract.write`."""

# ruff: noqa: D102  # a test's name is its sentence, and expected numbers are the point of a test

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from slowwave.model.memory import UNRECONCILED, SourceRef
from slowwave.model.operations import RejectFact, Suppress
from slowwave.model.pass_record import ABANDONED, TRIES
from slowwave.model.plan import Cost
from slowwave.model.query import Query, Where
from slowwave.model.scope_state import StateQuery
from slowwave.ports import Store
from slowwave.testing.builders import NOW, SCOPE, add, advance, change, fact, group, link, message, plan, use

DAY = timedelta(days=1)
OTHER = "acme/bob"


def due(store: Store, now: datetime) -> list[str]:
    """The scopes that are due, after a check that the store says the same of each scope."""
    found = store.scopes_due(now, 10)
    assert {scope for scope in (SCOPE, OTHER, "unknown") if store.is_due(scope, now)} == set(found)
    return found


class JournalContract:
    """Tests of runs and histories. The `store` fixture of the inheriting class returns an empty, open store."""

    def test_a_run_lists_its_operations_in_the_order_performed(self, store: Store) -> None:
        hello, tea, rye = message("Hello", ref="a"), fact("Likes tea"), fact("Likes rye", pinned=True)
        first = plan(group([add(hello), add(tea)], "one"), group([add(rye)], "two"), cost=Cost(calls=2, money=0.5))
        receipt = store.apply(first)
        run = store.run(SCOPE, first.id)
        assert run is not None
        assert tuple(run.plan.operations) == receipt.applied
        assert [one.because for one in run.plan.groups] == ["one", "two"]
        assert (run.cause, run.at, run.cost, run.plan.id) == ("add", NOW, Cost(calls=2, money=0.5), first.id)
        second = plan(
            change(tea, text="Likes green tea"),
            use(rye, used_at=NOW + DAY, stability=0.5),
            link(tea.id, rye.id),
            advance(0, 1),
            Suppress(key="k", because="undone"),
            RejectFact(text="Owns a cat", quote="my cat", reason="not said", because="unsupported"),
            use(rye, used_at=NOW + 2 * DAY),
        )
        performed = store.apply(second).applied
        recorded = store.run(SCOPE, second.id)
        assert recorded is not None
        assert tuple(recorded.plan.operations)[:6] == performed[:6]
        again = tuple(recorded.plan.operations)[6]
        assert (again.used_version.accesses, again.after.accesses) == (0, 1)  # type: ignore[union-attr]  # a Use

    def test_refused_facts_are_listed_newest_first(self, store: Store) -> None:
        refused = [
            RejectFact(text=f"Owns {n} cats", quote="cats", reason="not said", because="unsupported") for n in "123"
        ]
        store.apply(plan(refused[0], refused[1]))
        store.apply(plan(add(fact("Likes tea")), refused[2]))
        assert store.refused(SCOPE) == refused[::-1]
        assert store.refused(SCOPE, 2) == refused[:0:-1]
        assert store.refused(OTHER) == []

    def test_a_change_is_described_with_the_state_of_the_memory_at_that_time(self, store: Store) -> None:
        tea = fact("Likes tea")
        first = change(tea, text="Likes green tea")
        store.apply(plan(add(tea)))
        store.apply(plan(first))
        fading = change(first.after, phase="cold", reason="faded")
        second = plan(fading)
        store.apply(second)
        store.apply(plan(change(fading.after, text="Likes rooibos")))
        run = store.run(SCOPE, second.id)
        assert run is not None
        assert run.plan.groups[0].operations == (fading,)
        events = store.history(SCOPE, tea.id)
        assert [type(event.operation).__name__ for event in events] == ["Add", "Change", "Change", "Change"]
        assert events[2].run_id == second.id
        assert store.history(OTHER, tea.id) == []

    def test_history_lists_a_link_for_both_memories(self, store: Store) -> None:
        tea, rye = fact("Likes tea"), fact("Likes rye")
        store.apply(plan(add(tea), add(rye)))
        store.apply(plan(link(tea.id, rye.id)))
        for one in (tea, rye):
            assert [type(event.operation).__name__ for event in store.history(SCOPE, one.id)] == ["Add", "Link"]

    def test_runs_come_newest_first_by_cause_and_since_an_instant(self, store: Store) -> None:
        causes = ("observe", "sleep/fade", "sleep/expire", "sleepy", "sleep", "use")
        for day, cause in enumerate(causes):
            store.apply(plan(add(fact(f"Fact {day}")), cause=cause, at=NOW + day * DAY))
        assert [run.cause for run in store.runs(SCOPE)] == list(reversed(causes))
        assert [run.cause for run in store.runs(SCOPE, 2)] == ["use", "sleep"]
        assert [run.cause for run in store.runs(SCOPE, cause="sleep")] == ["sleep", "sleep/expire", "sleep/fade"]
        assert [run.cause for run in store.runs(SCOPE, cause="observe")] == ["observe"]
        assert [run.cause for run in store.runs(SCOPE, since=NOW + 3 * DAY)] == ["use", "sleep"]
        assert store.runs(OTHER) == []

    def test_parts_belong_to_the_run_that_they_name(self, store: Store) -> None:
        parts = [plan(add(fact(f"Fact {n}")), cause=f"sleep/{n}", parent="whole") for n in range(2)]
        for part in parts:
            store.apply(part)
        whole = store.run(SCOPE, "whole")
        assert whole is not None
        assert (whole.cause, list(whole.plan.operations)) == ("sleep", [])
        assert [run.id for run in store.children(SCOPE, "whole")] == [part.id for part in parts]
        assert [run.id for run in store.runs(SCOPE)] == [parts[1].id, parts[0].id, "whole"]

    def test_later_runs_are_those_that_changed_memories_of_the_run(self, store: Store) -> None:
        tea, rye = fact("Likes tea"), fact("Likes rye")
        made = plan(add(tea))
        store.apply(made)
        store.apply(plan(add(rye)))
        store.apply(plan(use(tea), link(tea.id, rye.id), cause="use"))
        changed = plan(change(tea, phase="cold"))
        store.apply(changed)
        run = store.run(SCOPE, made.id)
        assert run is not None
        assert [one.id for one in store.later(SCOPE, run)] == [changed.id]
        assert store.later(SCOPE, run, known={changed.id}) == []

    def test_later_runs_include_those_whose_facts_derive_from_the_run(self, store: Store) -> None:
        said, other = message("I like tea"), message("I like rye")
        made = plan(add(said))
        store.apply(made)
        store.apply(plan(add(other)))
        resting = replace(fact("Likes tea"), sources=(SourceRef(memory=said.id, ref=said.id),))
        apart = replace(fact("Likes rye"), sources=(SourceRef(memory=other.id, ref=other.id),))
        both = plan(add(resting))
        store.apply(both)
        store.apply(plan(add(apart)))
        run = store.run(SCOPE, made.id)
        assert run is not None
        assert [one.id for one in store.later(SCOPE, run)] == [both.id]
        gone = plan(change(resting, phase="retracted"))
        store.apply(gone)
        assert store.later(SCOPE, run) == [], "what was taken back rests on nothing"

    def test_the_state_of_a_scope_is_what_the_single_reads_return(self, store: Store) -> None:
        tea, rye, said = fact("Likes tea", due_at=NOW), fact("Likes rye"), message("I like tea")
        store.apply(plan(add(tea), add(rye)))
        store.apply(plan(add(said), replace(advance(0, 1), conversation=""), cause="observe"))
        wanted = (Where(kinds=frozenset({"message"})), Where(due_before=NOW))
        query = StateQuery(selections=wanted, changed={"distil": 1, "other": 10}, unscheduled=(0, 1, 10), embedder="e")
        state = store.scope_state(SCOPE, query)
        assert (state.last_run, state.sequence) == (store.last_run(SCOPE), store.sequence(SCOPE))
        assert list(state.conversations) == store.conversations(SCOPE)
        assert state.cursors == {"distil": 1}
        assert state.unread == store.unread(SCOPE)
        assert [list(state.selected[where]) for where in wanted] == store.select_each(SCOPE, wanted)
        assert [list(state.selected[where]) for where in wanted] == [store.select([SCOPE], where) for where in wanted]
        for cursor, limit in query.changed.items():
            ids, reached = store.changed(SCOPE, state.cursors.get(cursor, 0), limit)
            assert ([one.id for one in state.changed[cursor].facts], state.changed[cursor].reached) == (ids, reached)
        facts, number = store.facts_without_schedule(SCOPE, 0, 1, 10)
        assert state.unscheduled == (tuple(facts), number)
        assert state.has_unembedded == bool(store.unembedded(SCOPE, "e"))

    def test_the_state_of_a_scope_without_rows_is_empty(self, store: Store) -> None:
        query = StateQuery(selections=(Where(),), changed={"distil": 1}, unscheduled=(0, 1, 10), embedder="e")
        state = store.scope_state("nobody's", query)
        assert (state.last_run, state.sequence, state.conversations, state.unscheduled) == (0, 0, (), ((), 0))
        assert state.selected == {Where(): ()}
        assert state.changed["distil"].facts == ()
        assert store.select_each("nobody's", [Where()]) == [[]]

    def test_speakers_are_the_same_with_and_without_a_search_index(self, store: Store) -> None:
        store.apply(
            plan(*(add(message("Hello", speaker=name)) for name in ("Ann", None, "Ben", "Ann")), cause="observe")
        )
        named = store.speakers(SCOPE)
        store.search([SCOPE], Query(text="hello", top_k=1, now=NOW))
        assert named == store.speakers(SCOPE) == {"Ann", "Ben"}

    def test_a_plan_is_applied_once(self, store: Store) -> None:
        once = plan(advance(0, 1))
        store.apply(once)
        again = plan(advance(1, 2), id=once.id)
        assert "was applied before" in store.apply(again).dropped[0].reason

    def test_scopes_are_due_for_sleep_by_due_memories_and_new_messages(self, store: Store) -> None:
        store.apply(plan(add(fact("Likes tea", due_at=NOW + DAY)), cause="edit"))
        store.apply(plan(add(message("Hello", scope=OTHER)), scope=OTHER, cause="observe"))
        assert due(store, NOW) == [OTHER]
        assert due(store, NOW + DAY) == [SCOPE, OTHER]
        assert store.scopes_due(NOW + DAY, 1) == [SCOPE]
        assert store.lease(OTHER, "me", 60, NOW) == 1
        assert due(store, NOW) == [OTHER]  # the process that sleeps it may be killed
        store.slept(OTHER, "me", store.last_run(OTHER), NOW)
        assert due(store, NOW) == []
        assert store.lease(SCOPE, "me", 60, NOW - DAY) == 1
        store.apply(plan(add(fact("Likes rye", scope=OTHER)), scope=OTHER))
        assert due(store, NOW + DAY) == [SCOPE, OTHER]

    def test_a_scope_where_a_fact_waits_for_a_mind_is_due_again_in_a_quarter_of_an_hour(self, store: Store) -> None:
        store.apply(plan(add(fact("Likes tea", flags=frozenset({UNRECONCILED})))))
        assert store.lease(SCOPE, "me", 60, NOW) == 1
        store.slept(SCOPE, "me", store.last_run(SCOPE), NOW)
        assert due(store, NOW + timedelta(minutes=14)) == []
        assert due(store, NOW + timedelta(minutes=15)) == [SCOPE]
        assert store.lease(SCOPE, "me", 60, NOW + timedelta(minutes=15)) is not None
        assert due(store, NOW + timedelta(minutes=16)) == []

    def test_a_scope_whose_passes_fail_is_left_out_for_pauses_that_grow(self, store: Store) -> None:
        for scope in (SCOPE, OTHER):
            store.apply(plan(add(message("Hello", scope=scope)), scope=scope, cause="observe"))
        at = NOW
        for failures, minutes in ((1, 15), (2, 60), (3, 360), (4, 1440), (5, 1440)):
            assert SCOPE in due(store, at)
            store.lease(SCOPE, "me", 60, at)
            again = store.slept(SCOPE, "me", None, at, error="CorruptError")
            assert again == at + timedelta(minutes=minutes)
            record = store.pass_record(SCOPE)
            assert (record.failures, record.next_try, record.ended, record.error) == (
                failures,
                again,
                at,
                "CorruptError",
            )
            assert record.dead is (failures >= TRIES)
            assert due(store, again - timedelta(seconds=1)) == [OTHER]
            assert store.scopes_due(again - timedelta(seconds=1), 1) == [OTHER], "it takes no place in the list"
            at = again
        assert [(scope, found.failures) for scope, found in store.failing_passes(5, 10)] == [(SCOPE, 5)]
        assert store.failing_passes(6, 10) == []
        assert store.retry_pass(SCOPE)
        assert not store.retry_pass(SCOPE)
        assert not store.retry_pass("nobody's")
        assert SCOPE in due(store, NOW)
        assert store.pass_record(SCOPE).failures == 0

    def test_a_pass_that_succeeds_ends_the_failures_and_is_the_last_pass(self, store: Store) -> None:
        store.apply(plan(add(message("Hello")), cause="observe"))
        store.lease(SCOPE, "me", 60, NOW)
        store.slept(SCOPE, "me", None, NOW, error="StoreError")
        store.lease(SCOPE, "me", 60, NOW)
        assert store.slept(SCOPE, "another", store.last_run(SCOPE), NOW) is None
        assert store.pass_record(SCOPE).failures == 1
        assert store.slept(SCOPE, "me", store.last_run(SCOPE), NOW + DAY) is None
        assert (store.pass_record(SCOPE).failures, store.pass_record(SCOPE).ended) == (0, NOW + DAY)
        assert (store.pass_record(OTHER).failures, store.pass_record(OTHER).ended) == (0, None)
        assert store.scopes_due(NOW + 9 * DAY, 10) == []

    def test_a_lease_that_was_not_released_counts_as_a_failed_pass(self, store: Store) -> None:
        store.apply(plan(add(message("Hello")), cause="observe"))
        store.lease(SCOPE, "killed", 60, NOW)
        store.lease(SCOPE, "next", 60, NOW + DAY)
        record = store.pass_record(SCOPE)
        assert (record.failures, record.error, record.next_try) == (1, ABANDONED, NOW + DAY + timedelta(minutes=15))
        store.lease(SCOPE, "next", 0, NOW + DAY)
        store.lease(SCOPE, "third", 60, NOW + DAY)
        assert store.pass_record(SCOPE).failures == 1, "a lease that was released is no failure"

    def test_a_scope_is_due_again_when_the_work_is_due_that_its_pass_left(self, store: Store) -> None:
        store.apply(plan(add(message("Hello")), cause="observe"))
        assert store.lease(SCOPE, "me", 60, NOW) == 1
        store.slept(SCOPE, "me", store.last_run(SCOPE), NOW, NOW + DAY)
        store.lease(SCOPE, "me", 0, NOW)
        assert store.scopes_due(NOW, 10) == []
        assert store.scopes_due(NOW + DAY, 10) == [SCOPE]
        assert store.lease(SCOPE, "you", 60, NOW + DAY)
        assert store.scopes_due(NOW + DAY, 10) == [SCOPE], "whoever sleeps it may be killed"
        store.slept(SCOPE, "you", store.last_run(SCOPE), NOW)
        assert store.scopes_due(NOW + DAY, 10) == []

    @pytest.mark.parametrize("failed", [True, False])
    def test_what_a_pass_at_a_wrong_time_put_off_is_due_at_the_right_one(self, store: Store, failed: bool) -> None:
        store.apply(plan(add(message("Hello")), cause="observe"))
        wrong = NOW + 400 * DAY
        assert store.lease(SCOPE, "me", 60, wrong) is not None
        seen = store.last_run(SCOPE)
        store.slept(
            SCOPE, "me", seen, wrong, None if failed else wrong + DAY / 24, error="StoreError" if failed else ""
        )
        if failed:
            store.apply(plan(add(message("Are you there?", seq=2)), cause="observe"))
        assert due(store, NOW) == [SCOPE]
        assert store.is_due(SCOPE, NOW)
        assert store.backlog(NOW).due == 1
        assert store.lease(SCOPE, "you", 60, NOW) is not None
        store.slept(SCOPE, "you", store.last_run(SCOPE), NOW)
        assert due(store, NOW) == []

    def test_a_fact_that_waits_for_a_mind_since_a_pass_at_a_wrong_time_is_due(self, store: Store) -> None:
        store.apply(plan(add(fact("Likes tea", flags=frozenset({UNRECONCILED})))))
        assert store.lease(SCOPE, "me", 60, NOW + 400 * DAY) is not None
        store.slept(SCOPE, "me", store.last_run(SCOPE), NOW + 400 * DAY)
        assert due(store, NOW) == [SCOPE]
        assert store.backlog(NOW).oldest == NOW

    def test_what_runs_wrote_is_read_on_from_a_sequence(self, store: Store) -> None:
        tea, rye = fact("Likes tea"), fact("Likes rye")
        first, second = (
            plan(group([add(tea)], "one"), group([add(rye)], "two")),
            plan(change(tea, phase="core"), use(rye)),
        )
        assert store.written(SCOPE, 0, 10) == ([], 0)
        store.apply(first)
        middle = store.sequence(SCOPE)
        store.apply(replace(second, parent="whole"))
        end = store.sequence(SCOPE)
        whole, reached = store.written(SCOPE, 0, 1000)
        assert [(one.run_id, one.sequence, one.totals) for one in whole] == [
            (first.id, middle, {"add": 2}),
            (second.id, end, {"change": 1, "use": 1}),
        ]
        assert (reached, whole[1].parent, whole[1].cause, whole[1].at) == (end, "whole", second.cause, second.at)
        assert store.written(SCOPE, middle, 1000) == (whole[1:], end)
        ((half,), reached) = store.written(SCOPE, 0, 1)
        assert (half.run_id, half.totals, reached) == (first.id, {"add": 1}, half.sequence)
        assert store.written(SCOPE, end, 10) == ([], end)
        assert store.written(OTHER, 0, 10) == ([], 0)

    def test_the_sequence_increases_with_every_operation_and_lists_changed_facts(self, store: Store) -> None:
        tea, rye = fact("Likes tea"), fact("Likes rye")
        assert store.sequence(SCOPE) == 0
        store.apply(plan(add(message("Hello")), add(tea), add(rye)))
        before = store.sequence(SCOPE)
        assert store.changed(SCOPE, 0, 10) == ([tea.id, rye.id], before)
        ids, reached = store.changed(SCOPE, 0, 1)
        assert ids == [tea.id]
        assert store.changed(SCOPE, reached, 10) == ([rye.id], before)
        store.apply(plan(change(tea, phase="core"), use(rye)))
        assert store.changed(SCOPE, before, 10) == ([tea.id], store.sequence(SCOPE))
        assert store.sequence(SCOPE) > before
        assert store.sequence(OTHER) == 0
