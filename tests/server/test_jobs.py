"""Jobs of the server: what becomes of those of a scope in which memories are erased."""

import threading
from datetime import UTC, datetime

import pytest
from tests.waiting import LONGEST, until

from slowwave import AgentMemory
from slowwave.errors import InputError, NotFoundError
from slowwave.model.plan import Plan
from slowwave.server.work.jobs import Jobs, Report
from slowwave.server.work.plans import Plans


@pytest.mark.parametrize("fails", [False, True])
def test_a_job_that_runs_during_an_erase_is_dropped_with_its_plans_when_it_ends(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, erased = threading.Event(), threading.Event()
    results: list[object] = []
    plans = Plans()
    jobs = Jobs()

    def work(_: Report) -> str:
        begun.set()
        assert erased.wait(LONGEST)
        if fails:
            raise InputError("Ada bakes rye bread")
        return "Ada bakes rye bread"

    monkeypatch.setattr(plans, "drop_of", results.append)
    job = jobs.start("acme/ada", "sleep", work)
    other = jobs.start("acme/bob", "sleep", lambda _: "Bob rows")
    assert begun.wait(LONGEST)
    until(lambda: other.has_ended)
    jobs.forget("acme/ada", plans)
    assert results == []
    assert jobs.get("acme/ada", job.id).state == "running"
    erased.set()
    jobs.close()
    assert results == [None if fails else "Ada bakes rye bread"]
    assert jobs.list("acme/ada") == []
    with pytest.raises(NotFoundError, match="erased"):
        jobs.get("acme/ada", job.id)
    assert jobs.get("acme/bob", other.id).result == "Bob rows"


def test_of_the_plans_of_a_scope_only_that_of_the_job_is_dropped_later() -> None:
    plans, now = Plans(), datetime.now(UTC)
    with AgentMemory.open(":memory:", scope="ada", llm=None, embedder="none") as memory:
        made, later = (Plan(id=name, scope="ada", cause="sleep", at=now) for name in ("made", "later"))
        plans.keep(made)
        plans.keep(later)
        plans.drop_of({"plan": {"id": "made"}, "run_id": None})
        plans.drop_of({"run_id": "later"})
        plans.drop_of(None)
        assert plans.get(memory, "later") == later
        with pytest.raises(NotFoundError):
            plans.get(memory, "made")
