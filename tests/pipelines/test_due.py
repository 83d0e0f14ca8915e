"""Sleeping every scope that is due, also those whose facts wait for a mind that was away."""

from typing import TYPE_CHECKING

from slowwave.errors import ModelError, StoreError
from slowwave.pipelines.sleep import all_scopes
from slowwave.pipelines.sleep.lease import SECONDS, Lease

if TYPE_CHECKING:
    import pytest
    from tests.conftest import World

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
    usual = all_scopes.sleep_scope

    def night(ports: "Ports", scope: str, *, think: bool) -> "SleepReport":
        if scope == "bad":
            raise StoreError("no space left")
        return usual(ports, scope, think=think)

    monkeypatch.setattr(all_scopes, "sleep_scope", night)
    with world.open(scope="bad") as bad, world.open(scope="good") as good:
        bad.add("Alice owns the deploy pipeline")
        good.add("Bob likes tea")
        told: list[str] = []
        reports = good.sleep_due(on_progress=lambda scope, _: told.append(scope))
    assert told == ["bad", "good"]
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
        assert alice.sleep_due()["acme/alice"].problems == ()
        assert alice.sleep_due() == {}
