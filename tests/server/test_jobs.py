"""Jobs and plans of the server: their shares, and what becomes of them when memories of their scope are erased."""

import gc
import threading
from collections.abc import Callable, Iterator

import pytest
from tests.waiting import LONGEST, until

from slowwave import AgentMemory, Slowwave
from slowwave.errors import InputError, NotFoundError
from slowwave.server.access.errors import OverloadedError
from slowwave.server.work.jobs import AT_ONCE, WAITING_MOST, Jobs, Report
from slowwave.server.work.plans import KEPT_MOST, Plans
from slowwave.server.work.shares import FAMILY, SHARE, check_share

WORD = "zqkestrel"


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Slowwave]:
    """An empty store of each kind."""
    address = ":memory:"
    if request.param == "postgres":
        address = request.getfixturevalue("postgres").database(request.getfixturevalue("migrated"))
    with Slowwave.open(address, llm=None, embedder="none") as opened:
        yield opened


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    """Jobs that have ended when the test does."""
    made = Jobs()
    yield made
    made.close()


def _held(*words: str) -> list[str]:
    """The texts in this process that contain all of these words."""
    gc.collect()
    found = (one for owner in gc.get_objects() if isinstance(owner, dict | list | tuple) for one in _texts(owner))
    return [text for text in found if all(word in text for word in words)]


def _texts(owner: dict[object, object] | list[object] | tuple[object, ...]) -> Iterator[str]:
    yield from (one for one in (owner.values() if isinstance(owner, dict) else owner) if isinstance(one, str))


def test_the_result_of_a_job_is_in_the_store_until_an_erase(store: Slowwave, jobs: Jobs) -> None:
    ada, bob = store.within("acme", "ada"), store.within("acme", "bob")
    said = f"Ada bakes {WORD} bread"
    fact = ada.add(said).ids[0]
    job = jobs.start(ada, "consolidate", lambda _: {"text": f"result: {said}"}, "acme")
    failed = jobs.start(ada, "sleep", _failing(f"it cannot be {WORD}"), "acme")
    other = jobs.start(bob, "sleep", lambda _: {"text": "Bob rows"}, "acme")
    until(lambda: all(one.has_ended for one in (job, failed, other)))
    assert jobs.told(ada, jobs.get(ada, job.id)) == {"result": {"text": f"result: {said}"}}
    assert jobs.told(ada, jobs.get(ada, failed.id)) == {"detail": f"it cannot be {WORD}"}
    assert _held("result: ", WORD) == []
    store.within("acme", "ada").erase(id=fact)  # as another process does: nothing tells these jobs
    for gone in (job, failed):
        with pytest.raises(NotFoundError, match="erased"):
            jobs.get(ada, gone.id)
    assert jobs.present("acme/ada", 10) == jobs.list("acme/ada") == []
    assert jobs.told(bob, jobs.get(bob, other.id)) == {"result": {"text": "Bob rows"}}


def _failing(sentence: str) -> Callable[[Report], object]:
    def fail(_: Report) -> object:
        raise InputError(sentence)

    return fail


@pytest.mark.parametrize("fails", [False, True])
def test_a_job_that_runs_during_an_erase_says_nothing(store: Slowwave, jobs: Jobs, fails: bool) -> None:
    ada, begun, erased = store.within("acme", "ada"), threading.Event(), threading.Event()
    fact = ada.add(f"Ada bakes {WORD} bread").ids[0]

    def work(_: Report) -> object:
        begun.set()
        assert erased.wait(LONGEST)
        if fails:
            raise InputError(f"Ada bakes {WORD} bread")
        return f"Ada bakes {WORD} bread"

    job = jobs.start(ada, "sleep", work, "acme")
    assert begun.wait(LONGEST)
    ada.erase(id=fact)
    assert jobs.get(ada, job.id).state == "running"
    erased.set()
    until(lambda: job.has_ended)
    assert jobs.told(ada, job) == {}
    with pytest.raises(NotFoundError, match="erased"):
        jobs.get(ada, job.id)


def test_a_job_with_a_defect_has_failed_and_others_go_on(store: Slowwave, jobs: Jobs) -> None:
    ada = store.within("ada")
    made = [jobs.start(ada, "sleep", lambda _: {}[0], "ada") for _ in range(AT_ONCE)]  # type: ignore[var-annotated]
    last = jobs.start(ada, "sleep", lambda _: "done", "ada")
    until(lambda: all(job.has_ended for job in (*made, last)))
    assert {jobs.get(ada, job.id).state for job in made} == {"failed"}
    assert jobs.told(ada, jobs.get(ada, last.id)) == {"result": "done"}


def test_a_job_of_another_scope_is_not_found(store: Slowwave, jobs: Jobs) -> None:
    ada, bob, ends = store.within("ada"), store.within("bob"), threading.Event()
    job = jobs.start(ada, "sleep", lambda _: ends.wait(LONGEST), "ada")
    for _ in ("while it runs", "when it has ended"):
        assert jobs.get(ada, job.id) is job
        with pytest.raises(NotFoundError, match="in scope bob"):
            jobs.get(bob, job.id)
        ends.set()
        until(lambda: job.has_ended)
    assert jobs.list("bob") == []


def test_one_tenant_takes_neither_all_places_nor_all_threads(store: Slowwave, jobs: Jobs) -> None:
    mine, other, ends = store.within("acme"), store.within("beta"), threading.Event()
    try:
        for _ in range(WAITING_MOST // SHARE):
            jobs.start(mine, "sleep", lambda _: ends.wait(LONGEST), "acme")
        with pytest.raises(OverloadedError, match="its share"):
            jobs.start(mine, "sleep", lambda _: None, "acme")
        job = jobs.start(other, "sleep", lambda _: "slept", "beta")
        until(lambda: job.has_ended)
        assert jobs.told(other, job) == {"result": "slept"}
    finally:
        ends.set()
    until(lambda: all(one.has_ended for one in jobs.list("acme")))


def test_keys_below_one_prefix_have_a_share_together() -> None:
    held = [f"acme/{number}" for number in range(100 // FAMILY)]
    with pytest.raises(OverloadedError, match="its share"):
        check_share("jobs run", held, "acme/new", 100)
    check_share("jobs run", held, "acmes", 100)
    with pytest.raises(OverloadedError, match="100 jobs run:"):
        check_share("jobs run", [str(number) for number in range(100)], "acme", 100)


def _planned(memory: AgentMemory, plans: Plans, tenant: str) -> str:
    return plans.make(memory, lambda: memory.sleep(dry_run=True), tenant).plan.id


def test_a_plan_is_applied_as_it_was_made_and_gone_after_an_erase(store: Slowwave) -> None:
    ada, plans = store.within("ada"), Plans()
    ada.add_message({"role": "user", "content": f"My name is Ada {WORD}.", "at": "2026-01-02T03:04:05Z"}, "talk")
    plan = _planned(ada, plans, "ada")
    ada.apply(plans.get(ada, plan))
    assert [fact.text for fact in ada.get_all()] != []
    ada.add_message({"role": "user", "content": f"My dog is called {WORD}.", "at": "2026-01-02T03:04:05Z"}, "more")
    later = _planned(ada, plans, "ada")
    ada.erase(text=WORD)
    with pytest.raises(NotFoundError, match="erased"):
        plans.get(ada, later)


def test_a_plan_of_another_scope_is_not_found(store: Slowwave) -> None:
    ada, bob, plans = store.within("ada"), store.within("bob"), Plans()
    plan = _planned(ada, plans, "ada")
    assert plans.get(ada, plan).id == plan
    with pytest.raises(NotFoundError, match="in scope bob"):
        plans.get(bob, plan)
    plans.drop(plan)
    with pytest.raises(NotFoundError, match="discarded"):
        plans.get(ada, plan)


def test_a_tenant_with_many_plans_loses_its_own_oldest_one() -> None:
    plans = Plans()
    with Slowwave.open(":memory:", llm=None, embedder="none") as store:
        ada, bob = store.within("ada"), store.within("bob")
        kept, first = _planned(bob, plans, "bob"), _planned(ada, plans, "ada")
        for _ in range(KEPT_MOST // SHARE):
            last = _planned(ada, plans, "ada")
        assert (plans.get(bob, kept).id, plans.get(ada, last).id) == (kept, last)
        with pytest.raises(NotFoundError):
            plans.get(ada, first)
