"""Sleeping every scope that is due, also those whose facts wait for a mind that was away."""

from datetime import timedelta
from typing import TYPE_CHECKING

from slowwave.errors import ModelError, StoreError
from slowwave.model.pass_record import UNDONE
from slowwave.pipelines.sleep import all_scopes
from slowwave.pipelines.sleep.lease import SECONDS, Lease

if TYPE_CHECKING:
    import pytest
    from tests.conftest import Talk, World

    from slowwave.pipelines.sleep.report import SleepReport
    from slowwave.ports import Ports


def test_waiting_facts_are_decided_when_the_mind_works_again(world: "World") -> None:
    with world.open(scope="keeper") as keeper, world.open(scope="acme/alice") as alice:
        alice.add("Alice owns the deploy pipeline")
        keeper.sleep_due()
        world.mind.verdicts = ModelError("down")
        assert alice.add("Alice owns the deploy pipeline and the releases").waiting == 1
        world.later(seconds=1200)
        assert "down" in keeper.sleep_due()["acme/alice"].problems[0]
        assert keeper.sleep_due() == {}, "a model that is down is not asked again at once"
        world.mind.verdicts = None
        world.later(seconds=1200)
        assert keeper.sleep_due()["acme/alice"].problems == ()
        assert alice.status().waiting == 0
        world.later(seconds=1200)
        assert keeper.sleep_due() == {}


def test_a_failing_scope_is_reported_and_the_other_scopes_are_processed(
    world: "World", monkeypatch: "pytest.MonkeyPatch"
) -> None:
    usual = all_scopes.sleep_due_scope

    def night(ports: "Ports", scope: str, *, think: bool) -> "SleepReport | None":
        if scope == "bad":
            raise StoreError("no space left")
        return usual(ports, scope, think=think)

    monkeypatch.setattr(all_scopes, "sleep_due_scope", night)
    with world.open(scope="bad") as bad, world.open(scope="good") as good:
        bad.add("Alice owns the deploy pipeline")
        good.add("Bob likes tea")
        seen_scopes: list[str] = []
        reports = good.sleep_due(on_progress=lambda scope, _: seen_scopes.append(scope))
    assert seen_scopes == ["bad", "good"]
    assert reports["bad"].problems == ("no space left",)
    assert reports["good"].problems == ()


def test_a_night_that_never_ended_is_due_until_one_has(world: "World", monkeypatch: "pytest.MonkeyPatch") -> None:
    with world.open(scope="acme/alice") as alice:
        alice.add("Alice owns the deploy pipeline")
        assert Lease.taken(alice.ports) is not None  # and whoever took it is never heard of again
        world.later(seconds=SECONDS + 1)
        assert alice.ports.store.scopes_due(world.clock(), 10) == ["acme/alice"]

        def full(*_: object, **__: object) -> None:
            raise StoreError("no space left")

        with monkeypatch.context() as patched:
            patched.setattr("slowwave.pipelines.sleep.sleep_pass._run_stages", full)
            assert alice.sleep_due()["acme/alice"].problems == ("no space left",)
        assert alice.sleep_due() == {}, "it failed, and is due after a pause"
        world.later(seconds=24 * 3600)
        assert alice.sleep_due()["acme/alice"].problems == ()
        assert alice.sleep_due() == {}


def test_messages_that_a_model_refused_are_due_after_pauses_that_grow(world: "World", talk: "Talk") -> None:
    with world.open(scope="acme/alice") as alice:
        alice.add_messages(talk(), "c")
        world.mind.facts = ModelError("429")
        begun = world.clock()
        nights = []
        for _ in range(6 * 24):
            if alice.sleep_due():
                nights.append((world.clock() - begun) / timedelta(minutes=15))
            world.later(seconds=900)
        assert nights == [0, 1, 5, 29, 125], "15 minutes, 1 hour, 6 hours, 24 hours"
        night = alice.status().passes
        assert (night.failures, night.error, night.dead) == (5, UNDONE, False)
        assert [found.count for found in alice.health().findings if found.kind == "sleep"] == [5]
        world.mind.facts = ()
        world.later(seconds=24 * 3600)
        assert set(alice.sleep_due()) == {"acme/alice"}
        assert (alice.status().unread, alice.status().passes.failures) == (0, 0)
        assert alice.sleep_due() == {}


def test_what_a_night_leaves_is_read_by_the_next_ones(
    world: "World", talk: "Talk", monkeypatch: "pytest.MonkeyPatch"
) -> None:
    monkeypatch.setattr("slowwave.pipelines.sleep.unread.CHUNKS_MAX", 2)
    with world.open(scope="acme/alice") as alice:
        alice.add_messages(talk(*[f"Alice owns pipeline {number}" for number in range(150)]), "c")
        left = []
        while alice.sleep_due():
            left.append(alice.status().unread)
        assert left == [90, 30, 0]


def test_status_says_when_a_night_was_that_found_nothing(world: "World") -> None:
    with world.open(scope="acme/alice") as alice:
        assert alice.status().last_sleep is None
        alice.sleep()
        assert alice.status().last_sleep == alice.health().slept == world.clock()


def test_a_round_sleeps_more_scopes_than_one_query_returns(world: "World", monkeypatch: "pytest.MonkeyPatch") -> None:
    monkeypatch.setattr(all_scopes, "SCOPES_AT_ONCE", 2)
    for name in "abcde":
        with world.open(scope=name) as one:
            one.add("Alice owns the deploy pipeline")
    with world.open(scope="keeper") as keeper:
        assert list(keeper.sleep_due(limit=3)) == ["a", "b", "c"]
        assert list(keeper.sleep_due()) == ["d", "e"]


def test_a_scope_that_another_process_slept_meanwhile_is_left_alone(world: "World") -> None:
    with world.open(scope="a") as one, world.open(scope="b") as other:
        one.add("Alice owns the deploy pipeline")
        other.add("Alice owns the deploy pipeline")
        slept = []
        for scope, _ in all_scopes.sleep_due(one.ports):
            slept.append(scope)
            other.sleep()
        assert slept == ["a"]
