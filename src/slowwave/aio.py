"""AsyncAgentMemory: the same verbs, on a lent thread. One code path, no twins."""

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from slowwave import forks
from slowwave.agent_memory import AgentMemory
from slowwave.minds.llm.calls import is_async, run_on_owner_loop

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 64
"""Calls that may be under way at once; the others queue. Most of a call's time is waiting for a model."""


class AsyncAgentMemory:
    """An AgentMemory whose verbs are awaited. Names and signatures are those of AgentMemory.

    A cancelled await abandons the wait, not the write: a write is one transaction, so all of it happens or nothing.
    An async-only model or embedder is lent back to the loop that opened this memory.

        memory = await AsyncAgentMemory.open("agent.db", llm=my_async_model)
        async with memory:
            await memory.add("Alice owns the deploy pipeline")
    """

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory
        self._threads = _Threads()

    @classmethod
    async def open(cls, *args: Any, **options: Any) -> Self:  # noqa: ANN401 - the signature is AgentMemory.open's, set below
        """Open a memory as `AgentMemory.open` does."""
        loop = asyncio.get_running_loop()
        llm = options.get("llm")
        if llm is not None and is_async(llm):
            options["llm"] = run_on_owner_loop(llm, loop)
        return cls(await asyncio.to_thread(AgentMemory.open, *args, **options))

    @property
    def memory(self) -> AgentMemory:
        """The same memory for synchronous code."""
        return self._memory

    if TYPE_CHECKING:  # the verbs are set below

        def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._lend(self._memory.close)
        self._threads.executor.shutdown(wait=False)

    async def _lend(self, call: Callable[[], R]) -> R:
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._threads.executor, context.run, call)


class _Threads:
    """The threads of one memory. A forked child makes its own: the parent's do not exist there."""

    def __init__(self) -> None:
        self._begin()
        forks.watch(self)

    def after_fork(self) -> None:
        forks.abandon(self.executor)
        self._begin()

    def _begin(self) -> None:
        self.executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="slowwave")


def _awaited(
    verb: Callable[Concatenate[AgentMemory, P], R],
) -> Callable[Concatenate[AsyncAgentMemory, P], Coroutine[Any, Any, R]]:
    @wraps(verb)
    async def on_a_thread(self: AsyncAgentMemory, /, *args: P.args, **options: P.kwargs) -> R:
        return await self._lend(partial(verb, self._memory, *args, **options))

    return on_a_thread


def verbs() -> dict[str, Callable[..., Awaitable[Any]]]:
    """The public methods of AgentMemory that work on a memory, by name."""
    functions = inspect.getmembers(AgentMemory, inspect.isfunction)
    return {name: verb for name, verb in functions if not name.startswith("_")}


for _name, _verb in verbs().items():
    setattr(AsyncAgentMemory, _name, _awaited(_verb))
AsyncAgentMemory.open.__func__.__signature__ = inspect.signature(AgentMemory.open.__func__)  # type: ignore[attr-defined]  # for readers and tools
