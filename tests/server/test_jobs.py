"""Jobs of the server: what becomes of those of a scope in which memories are erased."""

import threading

import pytest
from tests.waiting import LONGEST, until

from slowwave.errors import InputError, NotFoundError
from slowwave.server.work.jobs import Jobs, Report


@pytest.mark.parametrize("fails", [False, True])
def test_a_job_that_runs_during_an_erase_is_dropped_with_its_plans_when_it_ends(fails: bool) -> None:
    begun, erased, plans = threading.Event(), threading.Event(), ["before"]
    jobs = Jobs()

    def work(_: Report) -> str:
        begun.set()
        assert erased.wait(LONGEST)
        plans.append("made meanwhile")
        if fails:
            raise InputError("Ada bakes rye bread")
        return "Ada bakes rye bread"

    def forget_plans(scope: str) -> None:
        assert scope == "acme/ada"
        plans.clear()

    job = jobs.start("acme/ada", "sleep", work)
    other = jobs.start("acme/bob", "sleep", lambda _: "Bob rows")
    assert begun.wait(LONGEST)
    until(lambda: other.has_ended)
    jobs.forget("acme/ada", forget_plans)
    assert plans == []
    assert jobs.get("acme/ada", job.id).state == "running"
    erased.set()
    jobs.close()
    assert plans == []
    assert jobs.list("acme/ada") == []
    with pytest.raises(NotFoundError, match="erased"):
        jobs.get("acme/ada", job.id)
    assert jobs.get("acme/bob", other.id).result == "Bob rows"
