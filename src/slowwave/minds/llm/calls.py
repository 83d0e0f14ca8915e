"""Calls the model of a user: the result is an answer or a ModelError, whatever the model raises or returns."""

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
from datetime import UTC, datetime
from typing import Any, Final, Protocol, Self, TypeGuard, cast

from slowwave import forks
from slowwave.errors import InputError, ModelError, PortError, shown
from slowwave.model.plain_text import without_quotes
from slowwave.ports import LLM
from slowwave.telemetry import child
from slowwave.transport.patience import retry_delay
from slowwave.transport.server import LIMITED

ASYNC_ONLY: Final = (
    "this model's complete() is async-only: use AsyncAgentMemory inside its event loop, "
    "or pass an object with a synchronous complete(messages=...)"
)
Messages = Sequence[Mapping[str, str]]
Content = str | Mapping[str, Any] | Sequence[Any]

_LOOP_GONE: Final = "the event loop that the model belongs to is not running"
_FORKED: Final = (
    "the event loop that the model belongs to runs in the process that this one was forked from: open the memory again"
)
_POLL: Final = 0.5  # seconds between checks that the event loop of the model still runs
_TOKENS_MAX: Final = 10_000_000  # of one call; no context window is as large
_TOO_MANY: Final = 429
_REFUSALS: Final = frozenset({400, 413, 422})
"""Statuses of a request that is invalid, filtered or too large, which will be refused again."""
_SPOKEN: Final = frozenset({"text", "output_text"})
"""The types of the parts that are the answer; others with a text may be reasoning."""
_LENGTH: Final = ("length", "max_tokens")
_TOKEN_NAMES: Final = (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))


class LLMResponse(str):
    """The text of a model with the token counts of its provider and the reason why it ends; None for what is not sent."""

    __slots__ = ("finish_reason", "usage")
    usage: Mapping[str, int | None]
    finish_reason: str | None

    def __new__(
        cls, text: str, *, tokens_in: int | None = None, tokens_out: int | None = None, finish_reason: str | None = None
    ) -> Self:
        """The text with its counts and the reason why it ends, such as "stop" or "length"."""
        response = super().__new__(cls, text)
        response.usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        response.finish_reason = finish_reason
        return response


class Structured(Protocol):
    """A model that can follow a JSON schema."""

    def complete_json(self, *, messages: Messages, schema: Mapping[str, Any]) -> str:
        """The model's answer, which follows the schema if the provider can enforce it."""
        ...


class Continues(Protocol):
    """A base model, which continues a text."""

    def continued(self, *, prompt: str, stop: Sequence[str]) -> str:
        """The continuation of the prompt, without the first stop text and what follows it."""
        ...


def is_structured(llm: object) -> TypeGuard[Structured]:
    """Whether the model has `complete_json`. The class is checked, because mocks and proxies have every attribute."""
    return callable(getattr(type(llm), "complete_json", None))


def is_continuing(llm: object) -> TypeGuard[Continues]:
    """Whether the class of the model has `continued`."""
    return callable(getattr(type(llm), "continued", None))


def checked_model(llm: object) -> LLM:
    """The model; InputError if it has no synchronous `complete`."""
    if not isinstance(llm, LLM):
        raise InputError(f"a {type(llm).__name__} is not a model: pass an object with complete(messages=...) -> str")
    if is_async(llm):
        raise InputError(ASYNC_ONLY)
    return llm


def is_async(llm: object) -> bool:
    """Whether the model's `complete` is a coroutine function."""
    complete = getattr(llm, "complete", None)
    return inspect.iscoroutinefunction(complete) or inspect.iscoroutinefunction(type(complete).__call__)


@child("slowwave.model")
def call_model(call: Callable[[], object], seconds: float | None = None, *, asked: str = "") -> object:
    """The result of a call of user code. Any exception, and a time-out after `seconds`, becomes a ModelError.

    With `seconds` the call runs on its own thread, which is abandoned at the time-out. The message of an exception that
    quotes `asked`, the text of the question, is left out.
    """
    try:
        answer = call() if seconds is None else _call_in_thread(call, seconds)
    except PortError:
        raise
    except Exception as error:  # code of the user may raise anything
        failure = ModelError(f"the model failed: {without_quotes(error, [asked])}")
        failure.retry_after = _retry_after(error)
        failure.refused = _status(error) in _REFUSALS
        raise failure from error
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise ModelError(ASYNC_ONLY)
    return answer


def run_on_owner_loop(llm: object, loop: asyncio.AbstractEventLoop, seconds: float | None = None) -> LLM:
    """A synchronous model for an async one: each call runs on the given event loop while the calling thread waits.

    Args:
        llm: an object with `async def complete(*, messages)`.
        loop: the running event loop that the model belongs to.
        seconds: the limit of one answer; None means no limit.
    """
    return _LoopModel(llm, loop, seconds)


def response_text(answer: object) -> Content:
    """The text of an answer (a str, a dict or object with content or text, a list of such parts), or JSON already parsed.

    An answer without any of these is empty text. Objects inside parsed JSON become text, so that no later reader calls their code.
    """
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Mapping):
        content = answer.get("content", None if {"quote", "category"} & answer.keys() else answer.get("text"))
        return _plain(answer) if content is None and "content" not in answer else _content_text(content)
    if isinstance(answer, list | tuple):
        return _joined(answer) or _plain(answer)
    return _content_text(getattr(answer, "content", None) or getattr(answer, "text", None))


def _plain(parsed: Mapping[str, object] | Sequence[object]) -> Content:
    """Parsed JSON of plain values only, or a sentence if it cannot be written as JSON."""
    written = raw_of(parsed)
    try:
        return cast("Content", json.loads(written))
    except ValueError:
        return written


def raw_of(content: Content) -> str:
    """The answer verbatim, as text that a store accepts; parsed JSON is serialised."""
    if isinstance(content, str):
        return content.encode("utf-8", "replace").decode()
    try:
        return json.dumps(content, ensure_ascii=True, default=_json_value, skipkeys=True)
    except (TypeError, ValueError, RecursionError):
        return f"a {type(content).__name__} that cannot be written as JSON"


def _json_value(value: object) -> object:
    """What json writes for an object that is no JSON value."""
    return dict(value) if isinstance(value, Mapping) else shown(value)


def tokens_of(answer: object) -> tuple[int | None, int | None]:
    """Tokens in and out as the provider counted them, under OpenAI's or Anthropic's names.

    A count that is missing, negative, not a whole number or larger than any context window becomes None: it would
    disable a cap on money or overflow.
    """
    tokens_in, tokens_out = (count if _is_count(count) else None for count in _counts(answer))
    return tokens_in, tokens_out


def is_cut_off(answer: object) -> bool:
    """Whether the provider says that the answer reached the limit of its length, in the terms of OpenAI, Ollama or Anthropic."""
    return any(_field(answer, name) in _LENGTH for name in ("finish_reason", "done_reason", "stop_reason"))


def miscounts(answer: object) -> bool:
    """Whether the provider returned a count that `tokens_of` does not accept."""
    return any(count is not None and not _is_count(count) for count in _counts(answer))


def _counts(answer: object) -> list[Any]:
    usage = _field(answer, "usage")
    return [next((n for name in names if (n := _field(usage, name)) is not None), None) for names in _TOKEN_NAMES]


def _is_count(count: object) -> bool:
    return type(count) is int and 0 <= count <= _TOKENS_MAX


class _LoopModel:
    def __init__(self, llm: Any, loop: asyncio.AbstractEventLoop, seconds: float | None) -> None:  # noqa: ANN401 - an LLM whose complete is a coroutine has no Protocol
        self._llm, self._loop, self._seconds = llm, loop, seconds
        self._forked = False
        self.model = str(getattr(llm, "model", type(llm).__name__))
        forks.watch(self)

    def after_fork(self) -> None:
        """In a forked child: the loop reports that it is running, but its thread exists in the parent only."""
        self._forked = True

    def complete(self, *, messages: Messages) -> Any:  # noqa: ANN401 - `response_text` reads any answer
        """The answer, awaited on the loop of the model."""
        if _running() is self._loop:
            raise ModelError(f"the event loop would wait for itself: {ASYNC_ONLY}")
        if self._forked:
            raise ModelError(_FORKED)
        if not self._loop.is_running():
            raise ModelError(_LOOP_GONE)
        future = asyncio.run_coroutine_threadsafe(self._awaited(messages), self._loop)
        seconds = math.inf if self._seconds is None else self._seconds
        end = time.monotonic() + seconds
        while not wait([future], timeout=min(_POLL, max(0.0, end - time.monotonic()))).done:
            if not self._loop.is_running():
                raise ModelError(_LOOP_GONE)
            if time.monotonic() >= end:
                future.cancel()
                raise ModelError(_timed_out(seconds))
        return future.result()

    async def _awaited(self, messages: Messages) -> object:
        return await self._llm.complete(messages=messages)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _call_in_thread(call: Callable[[], object], seconds: float) -> object:
    done: queue.SimpleQueue[tuple[object, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            done.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            done.put((None, error))

    threading.Thread(target=contextvars.copy_context().run, args=(work,), name="slowwave-model", daemon=True).start()
    try:
        answer, error = done.get(timeout=seconds)
    except queue.Empty:
        raise ModelError(_timed_out(seconds)) from None
    if error is not None:
        raise error
    return answer


def _content_text(content: object) -> str:
    text = _joined(content) if isinstance(content, list | tuple) else content
    return text if isinstance(text, str) else ""


def _joined(parts: Sequence[Any]) -> str | None:
    """The text of a message in parts; reasoning and parts without text are ignored."""
    if not parts or not all(isinstance(_field(part, "type"), str) for part in parts):
        return None
    spoken = [part for part in parts if _field(part, "type") in _SPOKEN] or parts
    texts = [text for part in spoken if isinstance(text := _field(part, "text"), str)]
    return "".join(texts) if texts else None


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _retry_after(error: Exception) -> float | None:
    """The pause that a provider asks for with status 429; its client's error has the status, and perhaps the response."""
    if _status(error) != _TOO_MANY:
        return None
    headers = getattr(getattr(error, "response", None), "headers", None)
    header = headers.get("retry-after") if isinstance(headers, Mapping) else None
    after = retry_delay(header, datetime.now(UTC)) if isinstance(header, str) else None
    return LIMITED if after is None else after


def _status(error: Exception) -> object:
    """The HTTP status of an error of a provider's client, which the error or its response has."""
    status = getattr(error, "status_code", None)
    return getattr(getattr(error, "response", None), "status_code", None) if status is None else status


def _timed_out(seconds: float) -> str:
    return f"the model gave no answer within {seconds:g} seconds"
