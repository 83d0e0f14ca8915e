"""How many round trips a search, a context and a write take, counted on the wire."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import pytest

from slowwave import Message, Slowwave
from slowwave.agent_memory import AgentMemory
from slowwave.model.operations import Link
from slowwave.pipelines.planning import new_id
from slowwave.pipelines.sleep.all_scopes import sleep_due_scope
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.testing import FrozenClock
from slowwave.testing.builders import NOW, change, plan
from slowwave.testing.postgres import PostgresServer
from slowwave.testing.postgres_proxy import Proxy, proxied

FRUITS = ("apples", "pears", "plums", "figs", "dates", "limes")


@pytest.fixture(scope="module")
def proxy(shared_postgres: PostgresServer) -> Iterator[Proxy]:
    with proxied(shared_postgres.database()) as opened:
        yield opened


@pytest.fixture(scope="module")
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture(scope="module")
def store(proxy: Proxy, clock: FrozenClock) -> Iterator[Slowwave]:
    with Slowwave.open(proxy.url, llm=None, embedder="none", clock=clock) as opened:
        yield opened


@pytest.fixture(scope="module")
def memory(store: Slowwave) -> AgentMemory:
    """A memory with messages and facts, used once."""
    opened = store.within("acme", "alice")
    for number, fruit in enumerate(FRUITS):
        opened.add_messages([Message(role="user", content=f"Today I bought {fruit}")], conversation=f"c{number % 2}")
        opened.add(f"The user likes {fruit}")
    opened.search("Which fruit?")
    opened.context("Which fruit?", conversation="c0")
    return opened


def add_small_talk(memory: AgentMemory) -> None:
    """Add a message that says nothing to remember."""
    memory.add_messages([Message(role="user", content="ok, thank you")], conversation="c")


def trips(proxy: Proxy, call: Callable[[], object]) -> int:
    before = proxy.trips
    call()
    return proxy.trips - before


@pytest.mark.parametrize(
    "question",
    ["Who bought plums?", "Where do I live?", "Which fruits do I like?", "¿Qué frutas compró?", "What is my name?"],
)
def test_a_warm_search_takes_two_round_trips(proxy: Proxy, memory: AgentMemory, question: str) -> None:
    memory.search(question)
    assert trips(proxy, lambda: memory.search(question)) <= 2


def test_a_search_after_a_write_takes_two_round_trips(proxy: Proxy, memory: AgentMemory) -> None:
    memory.add_messages([Message(role="user", content="Today I bought quinces")], conversation="c0")
    found: list[str] = []
    assert trips(proxy, lambda: found.extend(hit.text for hit in memory.search("quinces"))) == 2
    assert found[0] == "Today I bought quinces"


def test_links_and_replaced_facts_take_no_further_round_trip(proxy: Proxy, memory: AgentMemory) -> None:
    facts = [fact for fact in memory.get_all() if fact.kind != "message"]
    now = NOW
    links = [
        Link(source=a.id, target=b.id, kind=kind, before=0.0, weight=1.0, at=now, because="test")
        for (a, b), kind in zip(pairwise(facts), ("conflict?", "association", "value changed?"), strict=False)
    ]
    memory.ports.store.apply(replace(plan(*links), id=new_id(now), scope=memory.ports.scope))
    memory.update(facts[0].id, "The user likes apples and nuts")
    memory.search("Who likes apples?")
    assert trips(proxy, lambda: memory.search("Who likes apples?")) == 2


def test_a_filtered_search_takes_two_round_trips(proxy: Proxy, memory: AgentMemory) -> None:
    memory.add("The user likes nuts", metadata={"kind": "food"})
    search = lambda: memory.search("nuts", where={"kind": "food"})  # noqa: E731
    assert [hit.text for hit in search()] == ["The user likes nuts"]
    assert trips(proxy, search) == 2


@pytest.mark.parametrize("conversation", ["c0", None])
@pytest.mark.parametrize("question", ["Who bought plums?", "Which fruits do I like?", "Where do I live?", ""])
def test_a_context_takes_at_most_four_round_trips(
    proxy: Proxy, memory: AgentMemory, conversation: str | None, question: str
) -> None:
    memory.consolidate(force=True)
    ask = lambda: memory.context(question, conversation=conversation)  # noqa: E731
    ask()
    assert trips(proxy, ask) <= 4


def test_an_add_takes_two_round_trips_and_the_first_of_a_scope_three(
    proxy: Proxy, store: Slowwave, memory: AgentMemory
) -> None:
    message = [Message(role="user", content="Hello again")]
    memory.add_messages(message, conversation="c0")
    assert trips(proxy, lambda: memory.add_messages(message, conversation="c0")) == 2
    assert trips(proxy, lambda: store.within("acme", "bob").add_messages(message, conversation="c0")) == 3


def test_a_search_reads_one_committed_state_while_others_write(memory: AgentMemory) -> None:
    def write() -> None:
        for number in range(30):
            memory.add_messages([Message(role="user", content=f"plums {number}")], conversation="c1")

    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(write)
        while not writing.done():
            assert len(memory.search("plums", top_k=5)) >= 1
        writing.result()
    assert len(memory.search("plums", top_k=40)) >= 31


def night(proxy: Proxy, memory: AgentMemory) -> tuple[int, SleepReport]:
    """The round trips of the sleep pass of a worker, and its report."""
    reports: list[SleepReport] = []
    counted = trips(proxy, lambda: reports.append(sleep_due_scope(memory.ports, memory.scope)))
    return counted, reports[0]


def test_a_sleep_pass_with_nothing_to_do_yet_takes_six_round_trips(proxy: Proxy, store: Slowwave) -> None:
    memory = store.within("nights", "nothing")
    add_small_talk(memory)
    counted, report = night(proxy, memory)
    assert (report.receipts, report.left, report.unread_waiting) == ((), {}, 1)
    assert counted <= 6


def test_a_sleep_pass_with_a_fact_that_ends_takes_at_most_fifteen_round_trips(
    proxy: Proxy, store: Slowwave, clock: FrozenClock
) -> None:
    memory = store.within("nights", "fact")
    memory.add("The cursor stands in line 7", category="session_state")
    clock.advance(days=2)
    counted, report = night(proxy, memory)
    assert [receipt.cause for receipt in report.receipts] == ["sleep/expire", "sleep/duplicates"]
    assert counted <= 15


def test_a_sleep_pass_with_a_message_takes_at_most_fifteen_round_trips(
    proxy: Proxy, store: Slowwave, clock: FrozenClock
) -> None:
    memory = store.within("nights", "message")
    add_small_talk(memory)
    clock.advance(days=2)
    counted, report = night(proxy, memory)
    assert [receipt.cause for receipt in report.receipts] == ["sleep/distil"]
    assert counted <= 15


def test_a_run_with_many_changes_takes_as_many_round_trips_as_one_with_a_few(proxy: Proxy, store: Slowwave) -> None:
    memory = store.within("acme", "carol")
    counted = []
    for number in (1, 8):
        for each in range(number):
            memory.add(f"Carol has {number} times {each} of {FRUITS[each % len(FRUITS)]}")
        facts = [fact for fact in memory.get_all() if fact.phase == "active"]
        archived = [change(fact, phase="cold", reason="faded") for fact in facts]
        made = replace(plan(*archived), id=new_id(NOW), scope=memory.scope)
        counted.append(trips(proxy, lambda made=made: memory.ports.store.apply(made)))  # type: ignore[misc]
        assert [fact.phase for fact in memory.get_all()] == []
    assert counted[0] == counted[1] <= 4


def test_small_talk_builds_no_search_index_in_a_sleep_pass(store: Slowwave, clock: FrozenClock) -> None:
    memory = store.within("nights", "small talk")
    add_small_talk(memory)
    clock.advance(days=2)
    before = memory.ports.store.gauges()["index.builds"]
    report = sleep_due_scope(memory.ports, memory.scope)
    assert report is not None
    assert report.receipts
    assert memory.ports.store.gauges()["index.builds"] == before
