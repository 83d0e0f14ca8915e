"""AsyncAgentMemory and AsyncSlowwave: the methods of AgentMemory and Slowwave as coroutines, each run on a thread.

`aio.pyi` has their types.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial, wraps
from types import TracebackType
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from slowwave.agent_memory import AgentMemory
from slowwave.minds.llm.calls import is_async, run_on_owner_loop
from slowwave.model.suggestions import suggests_names
from slowwave.session import StoreSession
from slowwave.whole_store import Slowwave

P = ParamSpec("P")
R = TypeVar("R")
Facade = TypeVar("Facade", AgentMemory, Slowwave)
View = TypeVar("View", bound="_AsyncFacade[Any]")

VIEWS = frozenset({"trusting", "within"})
"""Methods that only return another memory. They do not wait, so they are not coroutines."""
OPENERS = frozenset({"open", "in_memory"})
"""Class methods that open a store. They return an `Opening`."""
_WITHIN_CALL: Final = contextvars.ContextVar("slowwave_within_call", default=False)
"""Whether this code runs within an awaited call, as a model does."""


class Opening(Coroutine[Any, Any, View]):
    """A store that is being opened: await it, or use it in `async with`, which closes it at the end."""

    def __init__(self, open_it: Callable[[], Coroutine[Any, Any, View]]) -> None:
        self._open = open_it
        self._opened: View | None = None

    @cached_property
    def _coroutine(self) -> Coroutine[Any, Any, View]:
        return self._open()

    def __await__(self) -> Generator[Any, None, View]:
        return self._coroutine.__await__()

    def send(self, value: Any, /) -> Any:  # noqa: ANN401 - as every coroutine; `asyncio.run` calls it
        """Run to the next wait."""
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:  # noqa: ANN401 - as every coroutine
        """Raise an error where it waits."""
        return self._coroutine.throw(*error)

    def close(self) -> None:
        """Stop waiting."""
        self._coroutine.close()

    async def __aenter__(self) -> View:
        self._opened = await self._coroutine
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)


class _AsyncFacade(Generic[Facade]):
    """What both classes share: a synchronous object whose methods run on the threads of its store."""

    def __init__(self, facade: Facade, store: StoreSession) -> None:
        self._facade = facade
        self._store = store

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._run(self._facade.close, own_thread=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{repr(self._facade).removeprefix(type(self._facade).__name__)}"

    async def _run(self, call: Callable[[], R], *, own_thread: bool = False) -> R:
        """Call on a thread of the store, with the context variables of the caller.

        `close`, and a call within a call as of a model that searches the memory, have a thread of their own: the threads
        of the store may all be waiting for models.
        """
        context = contextvars.copy_context()
        own_thread = own_thread or context.run(_WITHIN_CALL.get)
        context.run(_WITHIN_CALL.set, True)
        return await self._submitted(partial(context.run, call), own_thread=own_thread)

    def _submitted(self, call: Callable[[], R], *, own_thread: bool) -> Awaitable[R]:
        loop = asyncio.get_running_loop()
        if own_thread:
            executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="slowwave-own")
            try:
                return loop.run_in_executor(executor, call)
            finally:
                executor.shutdown(wait=False)
        try:
            if not self._store.closed:
                return loop.run_in_executor(self._store.threads.executor, call)
        except RuntimeError:  # another thread has closed the store, which ended its threads
            if not self._store.closed:
                raise
        return loop.run_in_executor(None, call)  # it raises ClosedError, or does nothing


@suggests_names
class AsyncAgentMemory(_AsyncFacade[AgentMemory]):
    """AgentMemory for async programs: the same methods with the same arguments, to be awaited.

    `open` and `in_memory` are awaited too, or used in `async with`, which closes the memory at the end. `within` and
    `trusting` do not wait. Cancelling an awaited call stops the wait, not the call: a write is one transaction, which
    happens completely or not at all. A model or embedder that is async-only runs on the event loop that opened this memory.

        async with AsyncAgentMemory.open("agent.db", llm=my_async_model) as memory:
            await memory.add("Alice owns the deploy pipeline")

    `memory.aio` of an AgentMemory is one, too.

    Args:
        memory: an open memory. Use `await AsyncAgentMemory.open(...)` to open one without blocking the event loop.
    """

    def __init__(self, memory: AgentMemory) -> None:
        super().__init__(memory, memory._session.store)  # noqa: SLF001 - the async face of the same object

    @property
    def memory(self) -> AgentMemory:
        """The same memory, for synchronous code."""
        return self._facade

    @property
    def scope(self) -> str:
        """The path of the scope, such as "acme/alice"."""
        return self._facade.scope


@suggests_names
class AsyncSlowwave(_AsyncFacade[Slowwave]):
    """Slowwave for async programs: the same methods with the same arguments, to be awaited.

    `open` and `in_memory` are awaited too, or used in `async with`, which closes the store at the end. `within` does not
    wait.

        async with AsyncSlowwave.open("agent.db") as store:
            await store.within("acme", "alice").add("Alice owns the deploy pipeline")

    Args:
        store: an open store. Use `await AsyncSlowwave.open(...)` to open one without blocking the event loop.
    """

    def __init__(self, store: Slowwave) -> None:
        super().__init__(store, store._session)  # noqa: SLF001 - the async face of the same object

    @property
    def store(self) -> Slowwave:
        """The same store, for synchronous code."""
        return self._facade


def _as_coroutine(
    method: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate["_AsyncFacade[Any]", P], Coroutine[Any, Any, R]]:
    @wraps(method)
    async def run_on_thread(self: "_AsyncFacade[Any]", /, *args: P.args, **options: P.kwargs) -> R:
        return await self._run(partial(method, self._facade, *args, **options), own_thread=method.__name__ == "close")

    return run_on_thread


def _as_view(method: Callable[Concatenate[Any, P], Any]) -> Callable[Concatenate["_AsyncFacade[Any]", P], Any]:
    @wraps(method)
    def view(self: "_AsyncFacade[Any]", /, *args: P.args, **options: P.kwargs) -> Any:  # noqa: ANN401 - an async facade
        return method(self._facade, *args, **options).aio

    return view


def _as_opening(open_it: Any) -> Any:  # noqa: ANN401 - class methods, which have no common type
    @wraps(open_it.__func__)
    def opening(cls: Callable[[Any], View], /, *args: Any, **options: Any) -> Opening[View]:  # noqa: ANN401 - those of `open_it`
        async def opened() -> View:
            llm = options.get("llm")
            if llm is not None and is_async(llm):
                options["llm"] = run_on_owner_loop(llm, asyncio.get_running_loop())
            return cls(await asyncio.to_thread(open_it, *args, **options))

        return Opening(opened)

    return classmethod(opening)


def verbs(facade: type[AgentMemory | Slowwave] = AgentMemory) -> dict[str, Callable[..., Awaitable[Any]]]:
    """The public methods of AgentMemory or Slowwave by name, without properties, class methods and `VIEWS`."""
    functions = inspect.getmembers(facade, inspect.isfunction)
    return {name: function for name, function in functions if not name.startswith("_") and name not in VIEWS}


for _async, _sync in ((AsyncAgentMemory, AgentMemory), (AsyncSlowwave, Slowwave)):
    for _name, _method in verbs(_sync).items():
        setattr(_async, _name, _as_coroutine(_method))
    for _name in VIEWS & set(dir(_sync)):
        setattr(_async, _name, _as_view(getattr(_sync, _name)))
    for _name in OPENERS:
        setattr(_async, _name, _as_opening(getattr(_sync, _name)))
