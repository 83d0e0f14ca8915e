"""AsyncAgentMemory: the methods of AgentMemory as coroutines, each run on a thread. `aio.pyi` has their types."""

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from slowwave import forks
from slowwave.agent_memory import AgentMemory
from slowwave.minds.llm.calls import is_async, run_on_owner_loop

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 64
"""Calls of one memory that may run at once; more are queued. A call spends most of its time waiting for a model."""


class AsyncAgentMemory:
    """AgentMemory for async programs: the same methods with the same arguments, to be awaited.

    Cancelling an awaited call stops the wait, not the call: a write is one transaction, which happens completely or not
    at all. A model or embedder that is async-only runs on the event loop that opened this memory.

        memory = await AsyncAgentMemory.open("agent.db", llm=my_async_model)
        async with memory:
            await memory.add("Alice owns the deploy pipeline")

    Args:
        memory: an open memory. Use `await AsyncAgentMemory.open(...)` to open one without blocking the event loop.
    """

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory
        self._threads = _Threads()

    @classmethod
    async def open(cls, *args: Any, **options: Any) -> Self:  # noqa: ANN401 - the signature is AgentMemory.open's, set below
        """Open a memory. The arguments and errors are those of `AgentMemory.open`."""
        loop = asyncio.get_running_loop()
        llm = options.get("llm")
        if llm is not None and is_async(llm):
            options["llm"] = run_on_owner_loop(llm, loop)
        return cls(await asyncio.to_thread(AgentMemory.open, *args, **options))

    @property
    def memory(self) -> AgentMemory:
        """The same memory, for synchronous code."""
        return self._memory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._run(self._memory.close)
        self._threads.executor.shutdown(wait=False)

    async def _run(self, call: Callable[[], R]) -> R:
        """Call on a thread, with the context variables of the caller."""
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._threads.executor, context.run, call)


class _Threads:
    """The thread pool of one memory. A forked child creates a new pool: the threads of its parent do not exist there."""

    def __init__(self) -> None:
        self._create()
        forks.watch(self)

    def after_fork(self) -> None:
        forks.abandon(self.executor)
        self._create()

    def _create(self) -> None:
        self.executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="slowwave")


def _as_coroutine(
    method: Callable[Concatenate[AgentMemory, P], R],
) -> Callable[Concatenate[AsyncAgentMemory, P], Coroutine[Any, Any, R]]:
    @wraps(method)
    async def run_on_thread(self: AsyncAgentMemory, /, *args: P.args, **options: P.kwargs) -> R:
        return await self._run(partial(method, self._memory, *args, **options))

    return run_on_thread


def verbs() -> dict[str, Callable[..., Awaitable[Any]]]:
    """The public methods of AgentMemory by name, without properties and class methods."""
    functions = inspect.getmembers(AgentMemory, inspect.isfunction)
    return {name: function for name, function in functions if not name.startswith("_")}


for _name, _method in verbs().items():
    setattr(AsyncAgentMemory, _name, _as_coroutine(_method))
AsyncAgentMemory.open.__func__.__signature__ = inspect.signature(AgentMemory.open.__func__)  # type: ignore[attr-defined]  # for editors and documentation tools
