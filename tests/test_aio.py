"""AsyncAgentMemory and AsyncSlowwave: the methods of AgentMemory and Slowwave as coroutines."""

import asyncio
import contextvars
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from tests.waiting import LONGEST, until

from slowwave import AgentMemory, AsyncAgentMemory, AsyncSlowwave, Config, Slowwave, session
from slowwave.aio import VIEWS, verbs
from slowwave.errors import ClosedError, InputError

if TYPE_CHECKING:
    from tests.conftest import Talk, World

CLASS_METHODS = {"open", "in_memory", "default"}


FACES = ((AgentMemory, AsyncAgentMemory), (Slowwave, AsyncSlowwave))


@pytest.mark.parametrize(("facade", "other"), FACES)
def test_every_method_is_a_coroutine_with_the_same_signature(
    facade: type[AgentMemory | Slowwave], other: type[AsyncAgentMemory | AsyncSlowwave]
) -> None:
    public = {name for name, _ in inspect.getmembers(facade, inspect.isfunction) if not name.startswith("_")}
    assert public - VIEWS == set(verbs(facade))
    for name in public:
        same, method = getattr(other, name), getattr(facade, name)
        assert inspect.iscoroutinefunction(same) == (name not in VIEWS), name
        assert inspect.signature(same) == inspect.signature(method), name
        assert same.__doc__ == method.__doc__, name


@pytest.mark.parametrize(("facade", "other"), FACES)
def test_open_has_the_same_signature(
    facade: type[AgentMemory | Slowwave], other: type[AsyncAgentMemory | AsyncSlowwave]
) -> None:
    for name in CLASS_METHODS & set(dir(other)):
        assert inspect.signature(getattr(other, name)) == inspect.signature(getattr(facade, name)), name


async def _open(world: "World", **options: object) -> AsyncAgentMemory:
    settings = {"llm": world.mind, "embedder": world.embedder, "clock": world.clock, "scope": "t"}
    return await AsyncAgentMemory.open(world.path, **(settings | options))


def test_methods_can_be_awaited(world: "World", talk: "Talk", facts: tuple[object, ...]) -> None:
    async def program() -> None:
        async with await _open(world) as memory:
            world.mind.facts = facts
            await memory.add_messages(talk(), conversation="c")
            result = await memory.consolidate("c")
            assert len(result.facts) == 4
            hits = await memory.search("who owns deploys?")
            assert await memory.record_retrieval(hits) >= 1
            assert "Alice" in str(await memory.context("who owns deploys?"))
            await memory.sleep()
            await memory.tick()
            receipt = await memory.add("Bob likes tea")
            await memory.undo(receipt.run_id)
            assert memory.memory.get_all()

    asyncio.run(program())


def test_concurrent_calls_lose_no_write(world: "World") -> None:
    async def program() -> int:
        async with await _open(world) as memory:
            await asyncio.gather(*(memory.add(f"Name{n} owns room {n}") for n in range(40)))
            await asyncio.gather(*(memory.add("Alice owns the deploy pipeline") for _ in range(10)))
            return len(await memory.get_all())

    assert asyncio.run(program()) == 41


class AsyncOnly:
    """A model that lives on its owner's loop."""

    model = "async"

    def __init__(self) -> None:
        self.loops: set[int] = set()

    async def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
        assert messages
        self.loops.add(id(asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return '{"facts": []}'


def test_an_async_only_model_runs_on_the_loop_of_its_owner(world: "World", talk: "Talk") -> None:
    async def program() -> tuple[set[int], int]:
        llm = AsyncOnly()
        async with await _open(world, llm=llm) as memory:
            await memory.add_messages(talk(), conversation="c")
            result = await memory.consolidate("c")
            assert result.skipped_reason is None, result.skipped_reason
        return llm.loops, id(asyncio.get_running_loop())

    loops, owner = asyncio.run(program())
    assert loops == {owner}


def test_agent_memory_refuses_an_async_only_model(world: "World") -> None:
    async def program() -> None:
        AgentMemory.open(world.path, llm=AsyncOnly())

    with pytest.raises(InputError, match="async-only: use AsyncAgentMemory"):
        asyncio.run(program())


def test_errors_are_raised_unchanged(world: "World") -> None:
    async def program() -> None:
        memory = await _open(world)
        with pytest.raises(InputError):
            await memory.add("")
        await memory.close()
        with pytest.raises(ClosedError):
            await memory.add("too late")

    asyncio.run(program())


def test_a_cancelled_call_completes_its_write(world: "World") -> None:
    async def program() -> list[str]:
        async with await _open(world) as memory:
            waiting = asyncio.create_task(memory.add("Alice owns the deploy pipeline"))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await memory.add("Bob likes tea")
            await asyncio.to_thread(until, lambda: len(memory.memory.get_all()) == 2)
            return sorted(fact.text for fact in await memory.get_all())

    assert asyncio.run(program()) == ["Alice owns the deploy pipeline", "Bob likes tea"]


def test_context_variables_of_the_caller_are_set_in_the_model_call(world: "World", talk: "Talk") -> None:
    request = contextvars.ContextVar("request", default="none")
    seen: list[str] = []
    world.mind.facts = lambda _: seen.append(request.get()) or ()

    async def program() -> None:
        async with await _open(world) as memory:
            request.set("r-1")
            await memory.add_messages(talk(), conversation="c")
            await memory.consolidate("c")

    asyncio.run(program())
    assert seen == ["r-1"]


def test_a_memory_is_opened_by_await_by_async_with_and_as_a_task(world: "World") -> None:
    options = {"llm": None, "embedder": "none", "scope": "t"}

    async def program() -> list[int]:
        memory = await AsyncAgentMemory.open(world.path, **options)
        await memory.add("Alice owns the deploy pipeline")
        await memory.close()
        async with AsyncAgentMemory.open(world.path, **options) as memory:
            counts = [len(await memory.get_all())]
        with pytest.raises(ClosedError):
            await memory.get_all()
        (memory,) = await asyncio.gather(asyncio.create_task(AsyncAgentMemory.open(world.path, **options)))
        async with memory:
            return [*counts, len(await memory.get_all())]

    assert asyncio.run(program()) == [1, 1]


def test_a_store_in_ram_is_opened_like_another_and_calls_an_async_model_on_its_loop(talk: "Talk") -> None:
    async def program() -> tuple[set[int], int]:
        llm = AsyncOnly()
        async with (
            AsyncAgentMemory.in_memory(embedder=None) as memory,
            AsyncSlowwave.in_memory(llm=llm, embedder=None, config=Config(min_messages=1)) as store,
        ):
            await memory.add("Alice owns the deploy pipeline")
            assert len(await memory.get_all()) == 1
            await store.within("acme").add_messages(talk(), conversation="c")
            await store.within("acme").consolidate("c")
        return llm.loops, id(asyncio.get_running_loop())

    loops, owner = asyncio.run(program())
    assert loops == {owner}


def test_an_error_of_open_is_raised_by_async_with() -> None:
    async def program() -> None:
        async with AsyncAgentMemory.open("", embedder="none"):
            raise AssertionError

    with pytest.raises(InputError, match="names no file"):
        asyncio.run(program())


def test_scopes_of_an_async_store_share_it_and_close_with_it(world: "World") -> None:
    async def program() -> None:
        async with AsyncSlowwave.open(world.path, llm=None, embedder="none") as store:
            alice, bob = store.within("acme", "alice"), store.within("acme", "bob")
            await asyncio.gather(*(memory.add(f"{memory.scope} likes tea") for memory in (alice, bob)))
            await alice.within("notes").add("Tea is in the kitchen")
            scopes = await store.scopes("acme", limit=10)
            assert [(scope.path, scope.facts) for scope in scopes] == [
                ("acme/alice", 1),
                ("acme/alice/notes", 1),
                ("acme/bob", 1),
            ]
            (fact,) = await bob.get_all()
            assert await store.find(fact.id, prefix="acme") == fact
            assert repr(store) == f"AsyncSlowwave({str(world.path)!r})"
            assert repr(alice) == f"AsyncAgentMemory({str(world.path)!r}, scope='acme/alice')"
            await alice.close()
            with pytest.raises(ClosedError):
                await alice.get_all()
            assert len(await bob.get_all()) == 1
        with pytest.raises(ClosedError):
            await bob.get_all()
        await store.close()

    asyncio.run(program())


def test_a_memory_has_one_async_view(world: "World") -> None:
    memory = world.open()
    assert memory.aio is memory.aio
    assert memory.aio.memory is memory
    asyncio.run(memory.aio.add("Alice owns the deploy pipeline"))
    assert len(memory.get_all()) == 1
    with Slowwave.open(":memory:", embedder="none") as store:
        assert store.aio is store.aio
        assert store.aio.store is store


class Searching:
    """An async model that searches the memory which asks it."""

    model = "searching"

    def __init__(self) -> None:
        self.memory: AsyncAgentMemory | None = None
        self.found: list[str] = []

    async def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
        assert messages
        if self.memory is not None:
            hits = await asyncio.wait_for(self.memory.search("who owns the pipeline?"), LONGEST)
            self.found += [hit.text for hit in hits]
        return '{"facts": []}'


def test_an_async_model_searches_the_memory_while_all_threads_wait_for_it(
    world: "World", talk: "Talk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "THREADS", 1)

    async def program() -> list[str]:
        llm = Searching()
        async with await _open(world, llm=llm) as memory:
            await memory.add("Alice owns the deploy pipeline")
            llm.memory = memory
            await memory.add_messages(talk(), conversation="c")
            await memory.consolidate("c")
        return llm.found

    assert "Alice owns the deploy pipeline" in asyncio.run(program())


class Waiting:
    """An async model that answers when it is told to."""

    model = "waiting"

    def __init__(self) -> None:
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
        assert messages
        self.asked.set()
        await self.may_answer.wait()
        return '{"facts": []}'


def test_a_memory_is_closed_while_all_threads_wait_for_a_model(
    world: "World", talk: "Talk", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "THREADS", 1)

    async def program() -> None:
        llm = Waiting()
        memory = await _open(world, llm=llm)
        await memory.add_messages(talk(), conversation="c")
        consolidating = asyncio.create_task(memory.consolidate("c"))
        try:
            await asyncio.wait_for(llm.asked.wait(), 20)
            await asyncio.wait_for(memory.close(), 10)
        finally:
            llm.may_answer.set()
        with pytest.raises(ClosedError):
            await consolidating

    asyncio.run(program())


def test_a_call_whose_threads_end_before_it_begins_finds_the_store_closed(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    async def program() -> None:
        memory = await _open(world)
        executor = memory._store.threads.executor
        submit = executor.submit

        def close_and_submit(*arguments: Any) -> Any:  # noqa: ANN401 - as of an executor
            memory.memory.close()
            return submit(*arguments)

        monkeypatch.setattr(executor, "submit", close_and_submit)
        await memory.search("who owns the pipeline?")

    with pytest.raises(ClosedError):
        asyncio.run(program())
