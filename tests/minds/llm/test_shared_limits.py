"""All processes of a store share a budget of model calls, and the pause that a provider asks for."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from slowwave import Message, Slowwave
from slowwave.errors import InputError, ModelError
from slowwave.minds.llm.shared_limits import WAITED, SharedLimits
from slowwave.model.budget import ModelUse, StoreBudget
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing import FrozenClock, OpenAIServer, ScriptedLLM
from slowwave.testing.openai_server import fails, says

NOTHING = {"facts": []}
USERS = ("ann", "ben", "cyd")
LONG = 3600


class TooManyRequestsError(Exception):
    """The error of a client of a provider."""

    def __init__(self, **headers: str) -> None:
        super().__init__("rate limit reached")
        self.status_code = 429
        self.response = type("Response", (), {"status_code": 429, "headers": headers})()


@pytest.fixture(params=["file", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "memory.db") if request.param == "file" else request.getfixturevalue("own")


@pytest.fixture
def started(address: str, clock: FrozenClock) -> Callable[..., Slowwave]:
    """Opens the store, as a process that starts does."""

    def start(llm: object) -> Slowwave:
        return Slowwave.open(address, llm=llm, embedder="none", clock=clock)  # type: ignore[arg-type]

    return start


def write(store: Slowwave, clock: FrozenClock) -> None:
    """Messages of each user in a conversation that has ended."""
    at = clock() - timedelta(hours=5)
    for user in USERS:
        said = [Message(role="user", content=f"I am {user}, and this is sentence {n}", at=at) for n in range(6)]
        store.within(user).add_messages(said, "chat")


def due(store: Slowwave) -> list[str]:
    ports = store.within("ann").ports
    return sorted(ports.store.scopes_due(ports.now(), -1))


def test_after_a_429_no_process_calls_the_model_until_the_provider_admits_it_and_all_work_is_done_then(
    started: Callable[..., Slowwave], clock: FrozenClock
) -> None:
    with OpenAIServer(fails(429, retry_after=str(LONG)), says(json.dumps(NOTHING))) as server:
        llm = f"{server.url}#gpt"
        with started(llm) as first, started(llm) as second:
            write(first, clock)
            reports = first.sleep_due()
            assert len(server.received) == 1
            assert {report.again for report in reports.values()} == {clock() + timedelta(seconds=LONG)}
            clock.advance(seconds=LONG - 1)
            assert second.within("ben").consolidate("chat", force=True).facts == ()
            assert (len(server.received), due(second), second.failing()) == (1, [], {})
            clock.advance(seconds=2)
            assert due(second) == sorted(USERS)
            second.sleep_due()
            assert len(server.received) == 1 + len(USERS)
            assert done(second) == set(USERS)


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (TooManyRequestsError(**{"retry-after": "700"}), 700),
        (TooManyRequestsError(), 60),
        (TooManyRequestsError(**{"retry-after": "soon"}), 60),
    ],
)
def test_the_error_of_a_client_with_status_429_pauses_the_model(
    tmp_path: Path, clock: FrozenClock, error: Exception, seconds: int
) -> None:
    llm = ScriptedLLM(error, distil=NOTHING)
    with Slowwave.open(tmp_path / "m.db", llm=llm, embedder="none", clock=clock) as store:
        write(store, clock)
        store.sleep_due()
        assert len(llm.asked) == 1
        assert store.fleet().paused_models == {"scripted": clock() + timedelta(seconds=seconds)}


def test_an_account_without_credit_pauses_the_model_for_a_quarter_of_an_hour(
    tmp_path: Path, clock: FrozenClock
) -> None:
    with (
        OpenAIServer(fails(429, code="insufficient_quota")) as server,
        Slowwave.open(tmp_path / "m.db", llm=f"{server.url}#gpt", embedder="none", clock=clock) as store,
    ):
        write(store, clock)
        store.sleep_due()
        assert len(server.received) == 1
        assert set(store.fleet().paused_models.values()) == {clock() + timedelta(minutes=15)}


def test_other_errors_of_a_model_pause_nothing(tmp_path: Path, clock: FrozenClock) -> None:
    llm = ScriptedLLM(distil=RuntimeError("down"))
    with Slowwave.open(tmp_path / "m.db", llm=llm, embedder="none", clock=clock) as store:
        write(store, clock)
        store.sleep_due()
        assert llm.count("distil") == 2 * len(USERS), "once about the messages, once whether it answers at all"
        assert store.fleet().paused_models == {}


def test_the_budget_of_the_store_survives_a_restart_and_the_rest_is_done_in_the_next_hour(
    started: Callable[..., Slowwave], clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM_STORE_CALLS_PER_HOUR", "2")
    llm = ScriptedLLM(distil=NOTHING)
    with started(llm) as store:
        write(store, clock)
        store.sleep_due()
        assert llm.count("distil") == 2
    with started(llm) as store:
        (left,) = set(USERS) - done(store)
        refused = store.within(left).consolidate("chat", force=True)
        assert "llm_store_calls_per_hour" in str(refused.skipped_reason)
        assert llm.count("distil") == 2
        assert store.fleet().model_hour.calls == 2
        clock.advance(hours=1)
        store.sleep_due()
        assert llm.count("distil") == 3
        assert done(store) == set(USERS)


def done(store: Slowwave) -> set[str]:
    return {user for user in USERS if store.within(user).runs(cause="sleep/distil")}


def test_tokens_of_all_scopes_count_against_the_budget(
    tmp_path: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM_STORE_TOKENS_PER_DAY", "1000")
    with (
        OpenAIServer(says(json.dumps(NOTHING) + " " * 1200)) as server,
        Slowwave.open(tmp_path / "m.db", llm=f"{server.url}#gpt", embedder="none", clock=clock) as store,
    ):
        write(store, clock)
        store.sleep_due()
        assert len(server.received) == 1
        assert store.fleet().model_day == ModelUse(1, 11 + len(json.dumps(NOTHING)) + 1200)


def test_a_clock_that_was_ahead_for_one_call_neither_stops_a_scope_nor_its_model(
    started: Callable[..., Slowwave], clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM_STORE_CALLS_PER_DAY", "3")
    monkeypatch.setenv("SLOWWAVE_LLM_CALLS_PER_DAY", "2")
    right, llm = clock(), ScriptedLLM(distil=NOTHING)
    with started(llm) as store:
        memory = store.within("ann")

        def called(calls: int) -> int:
            """How many of so many calls are made."""
            before = llm.count("distil")
            for _ in range(calls):
                memory.add_messages([Message("user", "I am here")], "chat")
                memory.consolidate("chat", force=True)
            return llm.count("distil") - before

        clock.now = right + timedelta(days=400)
        assert called(2) == 2
        clock.now = right
        assert called(3) == 2, "of the scope"
        assert store.fleet().model_day.calls == 2
        clock.now = right + timedelta(days=1)
        assert called(1) == 1


def test_a_pause_is_never_longer_than_a_day(tmp_path: Path, clock: FrozenClock) -> None:
    llm = ScriptedLLM(distil=TooManyRequestsError(**{"retry-after": "9" * 400}))
    with Slowwave.open(tmp_path / "m.db", llm=llm, embedder="none", clock=clock) as store:
        write(store, clock)
        store.sleep_due()
        assert store.fleet().paused_models == {"scripted": clock() + timedelta(days=1)}


def test_a_short_pause_is_waited_for_and_a_long_one_is_refused(clock: FrozenClock) -> None:
    store, waited = SqliteStore(":memory:"), list[float]()

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        clock.advance(seconds=seconds)

    shared = SharedLimits(store, model="m", budget=StoreBudget(), now=clock, sleep=sleep)
    shared.pause(WAITED)
    shared.admit()
    assert (waited, shared.resumes) == ([WAITED], None)
    shared.refused(WAITED + 1)
    with pytest.raises(ModelError, match="pause"):
        shared.admit()
    assert (waited, shared.resumes) == ([WAITED], clock() + timedelta(seconds=WAITED + 1))


def test_a_pause_that_is_waited_for_inside_the_client_holds_for_other_processes(
    tmp_path: Path, clock: FrozenClock
) -> None:
    paused = []
    with (
        Slowwave.open(tmp_path / "m.db", llm=None, embedder="none", clock=clock) as other,
        OpenAIServer(
            fails(429, retry_after="0.2"),
            lambda _: paused.append(other.fleet().paused_models) or says(json.dumps(NOTHING)),
        ) as server,
        Slowwave.open(tmp_path / "m.db", llm=f"{server.url}#gpt", embedder="none", clock=clock) as store,
    ):
        write(store, clock)
        store.within("ann").consolidate("chat", force=True)
    assert [set(one.values()) for one in paused] == [{clock() + timedelta(seconds=0.2)}]


def test_a_limit_below_zero_is_refused() -> None:
    with pytest.raises(InputError, match="calls_per_hour=-1"):
        StoreBudget(calls_per_hour=-1)
