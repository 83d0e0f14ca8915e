"""A program that forks with an open memory, and prints as JSON what its children report; started by the tests of forks."""

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

from slowwave import AgentMemory, AsyncAgentMemory, Config, Message, Slowwave, forks
from slowwave.errors import SlowwaveError
from slowwave.minds.llm.calls import run_on_owner_loop
from slowwave.minds.llm.ledger import Ledger
from slowwave.minds.llm.openai import Provider
from slowwave.pipelines.sleep.conversation_summary import _FLIGHTS
from slowwave.pipelines.sleep.lease import Lease
from slowwave.session import MemorySession
from slowwave.testing.openai_server import OpenAIServer, says

LONGEST = 60
"""Seconds that a child may take; its alarm ends a child that hangs."""
TENANTS = ("acme", "bolt", "crux", "dune")
Report = dict[str, Any]


class Child(NamedTuple):
    """A forked process, and the pipe that it reports through."""

    pid: int
    pipe: int

    def report(self) -> Report:
        """The result of the child; `hung` if its alarm ended it."""
        with os.fdopen(self.pipe) as pipe:
            outcome = pipe.read()
        os.waitpid(self.pid, 0)
        return json.loads(outcome) if outcome else {"hung": True}


def forked(work: Callable[[], Report], *, leave: Callable[[int], object] = os._exit) -> Child:
    """Run a function in a child. A SlowwaveError is reported as `refused`; any other error ends the child silently."""
    read, write = os.pipe()
    begun = time.monotonic()
    pid = os.fork()
    if pid:
        os.close(write)
        return Child(pid, read)
    try:
        os.close(read)
        signal.alarm(LONGEST)
        try:
            outcome = work()
        except SlowwaveError as error:
            outcome = {"refused": str(error)}
        with os.fdopen(write, "w") as pipe:
            json.dump(outcome | {"seconds": time.monotonic() - begun}, pipe)
    finally:
        leave(0)
    raise AssertionError


def opened(address: str, scope: str = TENANTS[0], **options: Any) -> AgentMemory:  # noqa: ANN401 - those of AgentMemory.open
    return AgentMemory.open(address, scope=scope, **({"llm": None, "embedder": "none"} | options))


def tenants(address: str) -> dict[str, AgentMemory]:
    """A memory for each tenant, all of one store."""
    store = Slowwave.open(address, llm=None, embedder="none")
    return {name: store.within(name) for name in TENANTS}


def said(memory: AgentMemory, *texts: str) -> list[str]:
    """Add messages. Returns their ids."""
    return list(memory.add_messages([Message(role="user", content=text) for text in texts], conversation="c").ids)


def right(memory: AgentMemory, name: str) -> bool:
    """Whether a search of a tenant finds its own memories and no other's."""
    found = memory.search("which tenant keeps the ledger?")
    return bool(found) and all(name in hit.text for hit in found)


def several(memories: dict[str, AgentMemory], searches: int, seed: int) -> Report:
    """Search the tenants in a random order."""
    chance, counts = Random(seed), {"right": 0, "foreign": 0, "errors": 0}
    for _ in range(searches):
        name = chance.choice(TENANTS)
        try:
            counts["right" if right(memories[name], name) else "foreign"] += 1
        except SlowwaveError:
            counts["errors"] += 1
    return counts


@contextmanager
def writing(memory: AgentMemory) -> Iterator[list[str]]:
    """A thread writes all the time. Gives the ids that were acknowledged."""
    acknowledged: list[str] = []
    stopped = threading.Event()

    def write() -> None:
        while not stopped.is_set():
            acknowledged.extend(said(memory, f"The parent's note number {len(acknowledged)}."))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        while not acknowledged:
            time.sleep(0.01)
        yield acknowledged
    finally:
        stopped.set()
        thread.join()


def preloaded(address: str, workers: str, searches: str) -> Report:
    """A parent searches each tenant once; its children search them many times, and then it again."""
    memories = tenants(address)
    for name, memory in memories.items():
        said(memory, *(f"The tenant {name} keeps the ledger in vault {number}." for number in range(3)))
        assert right(memory, name)
    children = [forked(lambda seed=seed: several(memories, int(searches), seed)) for seed in range(int(workers))]
    reports = [child.report() for child in children]
    return {"children": reports, "parent": several(memories, len(TENANTS) * 4, 99)}


def busy(address: str, number: str) -> Report:
    """Children search and write while a thread of their parent writes all the time; each fork waits for its turn."""
    forks.PAUSE_SECONDS = LONGEST  # type: ignore[misc]
    memory = opened(address)
    reports = []
    with writing(memory) as acknowledged:
        for place in range(int(number)):

            def work(place: int = place) -> Report:
                ids = said(memory, f"A child's note number {place}.")
                return {"ids": ids, "found": len(memory.search("the parent's note number"))}

            reports.append(forked(work).report())
    seen = {
        hit.id for hit in memory.ports.store.get((memory.ports.scope,), [i for r in reports for i in r.get("ids", ())])
    }
    memory.close()
    return {"children": reports, "acknowledged": acknowledged, "seen": len(seen)}


def stuck(address: str) -> Report:
    """A thread of the parent stays in the middle of a write for longer than a fork waits."""
    memory = opened(address)
    said(memory, "The parent's first note.")
    inside, go_on = threading.Event(), threading.Event()

    def reached(point: str) -> None:
        if point == "apply.before_commit":
            inside.set()
            go_on.wait(LONGEST)

    memory.ports.store._reached = reached
    acknowledged: list[str] = []
    thread = threading.Thread(target=lambda: acknowledged.extend(said(memory, "The parent's second note.")))
    thread.start()
    inside.wait(LONGEST)
    used = forked(lambda: {"found": len(memory.search("note"))}).report()
    anew = forked(lambda: {"found": len(opened(address).search("note"))}).report()
    ended = forked(dict, leave=sys.exit).report()  # the child exits in the normal way
    go_on.set()
    thread.join()
    memory.ports.store._reached = None
    found = len(memory.search("note"))
    return {
        "children": [used, anew, ended],
        "acknowledged": acknowledged,
        "found": found,
        "doctor": memory.doctor(deep=True),
    }


def parent_closes(address: str) -> Report:
    """A child continues to write after its parent, the last other process with the file open, has closed it."""
    memory = opened(address)
    said(memory, "The parent's note.")
    hears, tell = os.pipe()
    outcome, say = os.pipe()

    def work() -> Report:
        ids = said(memory, "The child's first note.")
        os.write(say, b"x")
        os.read(hears, 1)
        return {"ids": ids + said(memory, "The child's second note.")}

    child = forked(work)
    os.read(outcome, 1)
    memory.close()
    os.write(tell, b"x")
    return {"children": [child.report()]}


def child_closes(address: str) -> Report:
    """A child closes its handle and ends as a program does, without os._exit; so does one that never used it."""
    memory = opened(address)
    said(memory, "The parent's note.")

    def work() -> Report:
        ids = said(memory, "The child's note.")
        memory.close()
        return {"ids": ids}

    with writing(memory) as acknowledged:
        reports = [forked(work, leave=sys.exit).report(), forked(dict, leave=sys.exit).report()]
        least = len(acknowledged) + 3
        while len(acknowledged) < least:
            time.sleep(0.01)
    return {"children": reports, "acknowledged": acknowledged, "doctor": memory.doctor(deep=True)}


def session(address: str) -> Report:
    """Children close their handles, or only exit as programs do: the session of their parent at the server goes on."""
    memory = opened(address)
    store = memory.ports.store

    def number() -> int:
        with store._guard:
            return int(store._db.execute("SELECT pg_backend_pid()").get)

    def work() -> Report:
        outcome = {"session": number()}
        memory.close()
        return outcome

    before = number()
    children = [forked(work, leave=sys.exit).report(), forked(dict, leave=sys.exit).report()]
    return {"children": children, "before": before, "after": number()}


def unused(address: str) -> Report:
    """A handle is opened before the fork, and first used in the children; one was closed before."""
    memory, closed = opened(address), opened(address)
    closed.close()

    def work() -> Report:
        return {"ids": said(memory, "A child's note."), "found": len(memory.search("note"))}

    return {
        "children": [
            forked(work).report(),
            forked(work).report(),
            forked(lambda: {"found": len(closed.search("note"))}).report(),
        ]
    }


def asynchronous(address: str) -> Report:
    """The async face is used, its loop ends, and a child uses it in a loop of its own."""

    async def begun() -> AsyncAgentMemory:
        memory = await AsyncAgentMemory.open(address, scope=TENANTS[0], llm=None, embedder="none")
        await memory.add_messages([Message(role="user", content="The parent's note.")], conversation="c")
        return memory

    async def searched(memory: AsyncAgentMemory) -> Report:
        await memory.add_messages([Message(role="user", content="A child's note.")], conversation="c")
        return {"found": len(await memory.search("note"))}

    memory = asyncio.run(begun())
    return {
        "children": [forked(lambda: asyncio.run(searched(memory))).report()],
        "parent": asyncio.run(searched(memory)),
    }


def sleeping(address: str) -> Report:
    """The parent holds the lease of a scope, and has a thread that sleeps it."""
    memory = opened(address, sleep_every="1h")
    said(memory, "The parent's note.")
    lease = Lease.taken(memory.ports)
    assert lease is not None

    def work() -> Report:
        lease.slept()
        lease.given_back()
        assert memory._session.sleeper is not None
        return {
            "renewed": lease.renewed(),
            "taken": Lease.taken(memory.ports) is not None,
            "woken": memory._session.sleeper.wake(),
            "trouble": memory._session.sleeper.problem,
        }

    held = forked(work).report()
    held |= {"still": lease.renewed(), "other": Lease.taken(memory.ports) is not None}
    lease.given_back()

    def orphaned() -> Report:
        """As if the parent had ended and its number had gone to a process that started at another time."""
        memory._session.sleeper._process = memory._session.sleeper._process.rpartition(":")[0] + ":0"  # type: ignore[union-attr]
        return {"trouble": memory._session.sleeper.problem}  # type: ignore[union-attr]

    return {"children": [held, forked(orphaned).report()]}


def locked(_: str) -> Report:
    """A thread of the parent holds the locks of everything that is not a store, and a model's connections are open."""
    memory = opened(":memory:", config=Config(cascade_in_background=True))
    with OpenAIServer(says("hello")) as server:
        provider = Provider(base_url=server.url, api_key=None, seconds=5.0)
        provider.post("/chat/completions", {})
        parents, ledger = provider._server._client, Ledger()
        inside, go_on = threading.Event(), threading.Event()

        def hold() -> None:
            with (
                provider._server._lock,
                ledger._lock,
                memory._session.background._guard,
                _FLIGHTS._lock,
                getattr(MemorySession.sleep_state, "lock", threading.Lock()),
            ):
                inside.set()
                go_on.wait(LONGEST)

        def work() -> Report:
            unconnected = provider._server._client is None
            provider.post("/chat/completions", {})
            with _FLIGHTS.claim((b"", "", "")) as alone:
                memory.close()
            return {
                "unconnected": unconnected,
                "calls": ledger.spent.calls,
                "alone": alone,
                "rest": opened(":memory:")._session.sleep_state.sequence,
            }

        thread = threading.Thread(target=hold)
        thread.start()
        inside.wait(LONGEST)
        child = forked(work).report()
        go_on.set()
        thread.join()
        assert provider._server._client is parents
        provider.post("/chat/completions", {})
        return {"children": [child], "requests": len(server.received)}


def lent_model(address: str) -> Report:
    """A model that runs on an event loop of the parent's."""

    class Model:
        async def complete(self, *, messages: object) -> str:
            return str(messages)

    async def run() -> Report:
        llm = run_on_owner_loop(Model(), asyncio.get_running_loop())
        return await asyncio.to_thread(lambda: forked(lambda: {"said": llm.complete(messages=[])}).report())

    return {"children": [asyncio.run(run())], "address": address}


def main(name: str, *arguments: str) -> None:
    json.dump(globals()[name](*arguments), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
