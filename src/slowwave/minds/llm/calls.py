"""The one place where a foreign model is called: whatever it does comes back as an answer or as a ModelError."""

import asyncio
import contextvars
import inspect
import json
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from typing import Any, Final, Protocol, Self, TypeGuard

from slowwave import forks
from slowwave.errors import InputError, ModelError, PortError
from slowwave.model.message import tidy
from slowwave.ports import LLM

ASYNC_ONLY: Final = (
    "this model's complete() is async-only: use AsyncAgentMemory inside its event loop, "
    "or hand in an object with a plain complete(messages=...)"
)
Messages = Sequence[Mapping[str, str]]
Content = str | Mapping[str, Any] | Sequence[Any]

_LOOP_GONE: Final = "the event loop that the model belongs to is not running"
_FORKED: Final = (
    "the event loop that the model belongs to runs in the process that this one was forked from: open the memory again"
)
_GLANCE: Final = 0.5  # seconds between looks at whether the owner's loop still runs
_WORDS_LONGEST: Final = 500
_TOKENS_MOST: Final = 10_000_000  # of one call; no context window is as large
_TOKEN_NAMES: Final = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))


class LLMResponse(str):
    """A model's text, with the tokens its provider counted (None where it did not say)."""

    __slots__ = ("usage",)
    usage: Mapping[str, int | None]

    def __new__(cls, text: str, *, tokens_in: int | None = None, tokens_out: int | None = None) -> Self:
        """The text, with its counts."""
        made = super().__new__(cls, text)
        made.usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        return made


class Structured(Protocol):
    """A model that can be held to a JSON schema."""

    def complete_json(self, *, messages: Messages, schema: Mapping[str, Any]) -> str:
        """The model's answer, which follows the schema if the provider can enforce it."""
        ...


class Continues(Protocol):
    """A model that continues a text rather than answering in a chat."""

    def continued(self, *, prompt: str, stop: Sequence[str]) -> str:
        """What follows the prompt, up to and without the first of the stop texts."""
        ...


def is_structured(llm: object) -> TypeGuard[Structured]:
    """Whether the model's class says it can be held to a schema; of an object alone, mocks and proxies would say yes."""
    return callable(getattr(type(llm), "complete_json", None))


def is_continuing(llm: object) -> TypeGuard[Continues]:
    """Whether the model's class says it continues texts."""
    return callable(getattr(type(llm), "continued", None))


def checked_model(llm: object) -> LLM:
    """The model, or InputError if it cannot be called from here."""
    if not isinstance(llm, LLM):
        raise InputError(f"a {type(llm).__name__} is no model: hand in an object with complete(messages=...) -> str")
    if is_async(llm):
        raise InputError(ASYNC_ONLY)
    return llm


def is_async(llm: object) -> bool:
    """Whether the model's `complete` is a coroutine function."""
    complete = getattr(llm, "complete", None)
    return inspect.iscoroutinefunction(complete) or inspect.iscoroutinefunction(type(complete).__call__)


def call_model(call: Callable[[], object], seconds: float | None = None) -> object:
    """What a foreign call returns; whatever it raises, or a wait longer than `seconds`, becomes a ModelError.

    With `seconds` the call runs on a thread of its own, which is abandoned when the time is up.
    """
    try:
        answer = call() if seconds is None else _waited(call, seconds)
    except PortError:
        raise
    except Exception as error:  # the door to code that is not ours: its failure must not become ours
        raise ModelError(f"the model failed: {_words(error)}") from error
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise ModelError(ASYNC_ONLY)
    return answer


def run_on_owner_loop(llm: object, loop: asyncio.AbstractEventLoop, seconds: float | None = None) -> LLM:
    """An async-only model as a plain one: each call runs on its owner's loop while the calling thread waits.

    Args:
        llm: an object with `async def complete(*, messages)`.
        loop: the running loop the model belongs to.
        seconds: how long to wait for one answer; None leaves it to the model.
    """
    return _Lent(llm, loop, seconds)


def response_text(answer: object) -> Content:
    """The text of an answer (a str, a dict or object with content or text, a list of such parts), or JSON already parsed.

    An answer without any of these is empty text.
    """
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Mapping):
        spoken = answer.get("content", None if {"quote", "category"} & answer.keys() else answer.get("text"))
        return answer if spoken is None and "content" not in answer else _said(spoken)
    if isinstance(answer, list | tuple):
        return _joined(answer) or answer
    return _said(getattr(answer, "content", None) or getattr(answer, "text", None))


def raw_of(content: Content) -> str:
    """What was said, word for word, as text a store can hold; parsed JSON is written out again."""
    if isinstance(content, str):
        return content.encode("utf-8", "replace").decode()
    try:
        return json.dumps(content, ensure_ascii=True, default=str, skipkeys=True)
    except (TypeError, ValueError, RecursionError):
        return f"a {type(content).__name__} that cannot be written as JSON"


def tokens_of(answer: object) -> tuple[int | None, int | None]:
    """Tokens in and out as the provider counted them, in either of the two customary spellings.

    None stands for a count that is missing, negative, not a whole number or beyond any context window: booked, it
    would lift a cap on money or overflow.
    """
    tokens_in, tokens_out = (count if _is_count(count) else None for count in _counts(answer))
    return tokens_in, tokens_out


def miscounts(answer: object) -> bool:
    """Whether the provider gave a count that `tokens_of` does not accept."""
    return any(count is not None and not _is_count(count) for count in _counts(answer))


def _counts(answer: object) -> list[Any]:
    usage = _field(answer, "usage")
    return [next((n for name in names if (n := _field(usage, name)) is not None), None) for names in _TOKEN_NAMES]


def _is_count(count: object) -> bool:
    return type(count) is int and 0 <= count <= _TOKENS_MOST


class _Lent:
    def __init__(self, llm: Any, loop: asyncio.AbstractEventLoop, seconds: float | None) -> None:  # noqa: ANN401 - an LLM whose complete is a coroutine has no Protocol
        self._llm, self._loop, self._seconds = llm, loop, seconds
        self._forked = False
        self.model = str(getattr(llm, "model", type(llm).__name__))
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: the loop seems to run, but the thread that ran it exists in the parent only."""
        self._forked = True

    def complete(self, *, messages: Messages) -> Any:  # noqa: ANN401 - whatever the model answers is read later
        """The answer, awaited on the owner's loop."""
        if _running() is self._loop:
            raise ModelError(f"the event loop would wait for itself: {ASYNC_ONLY}")
        if self._forked:
            raise ModelError(_FORKED)
        if not self._loop.is_running():
            raise ModelError(_LOOP_GONE)
        waiting = asyncio.run_coroutine_threadsafe(self._awaited(messages), self._loop)
        seconds = math.inf if self._seconds is None else self._seconds
        end = time.monotonic() + seconds
        while not wait([waiting], timeout=min(_GLANCE, max(0.0, end - time.monotonic()))).done:
            if not self._loop.is_running():
                raise ModelError(_LOOP_GONE)
            if time.monotonic() >= end:
                waiting.cancel()
                raise ModelError(_late(seconds))
        return waiting.result()

    async def _awaited(self, messages: Messages) -> object:
        return await self._llm.complete(messages=messages)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _waited(call: Callable[[], object], seconds: float) -> object:
    done: queue.SimpleQueue[tuple[object, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            done.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - carried over to the thread that waits, and raised there
            done.put((None, error))

    threading.Thread(target=contextvars.copy_context().run, args=(work,), name="slowwave-model", daemon=True).start()
    try:
        answer, error = done.get(timeout=seconds)
    except queue.Empty:
        raise ModelError(_late(seconds)) from None
    if error is not None:
        raise error
    return answer


def _said(spoken: object) -> str:
    text = _joined(spoken) if isinstance(spoken, list | tuple) else spoken
    return text if isinstance(text, str) else ""


def _joined(parts: Sequence[Any]) -> str | None:
    """The text of a message in parts; parts without text, such as thoughts, are left out."""
    texts = [text for part in parts if isinstance(text := _field(part, "text"), str)]
    typed = parts and all(isinstance(_field(part, "type"), str) for part in parts)
    return "".join(texts) if typed and texts else None


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _words(error: Exception) -> str:
    words = tidy(str(error))[:_WORDS_LONGEST]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _late(seconds: float) -> str:
    return f"the model gave no answer within {seconds:g} seconds"
