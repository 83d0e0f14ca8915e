"""`wrap`: the clients of OpenAI and Anthropic with a memory. Neither package is imported: a client is used by its methods."""

from asyncio import to_thread
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock
from typing import Any, Final, Self, TypeVar, cast

from slowwave.agent_memory import AgentMemory
from slowwave.clients.dialects import CALLS, CallMessage, Dialect, begun_answer, new_messages, numbered, words
from slowwave.errors import InputError, SlowwaveError
from slowwave.log import Log
from slowwave.model.message import Message

C = TypeVar("C")

NO_CONVERSATION: Final = "wrap/none"
"""A name without messages: a context for it leaves out none."""
BUDGET_LEAST: Final = 64
QUESTION_LONGEST: Final = 2000
"""Characters of the user's latest message by which memory is searched."""
ANSWERS_KNOWN: Final = 1000
"""Answers whose conversation is known, for `previous_response_id`."""
ANSWERS_MOST: Final = 20
"""Answers to the same messages that are skipped when these are looked for in their conversation."""
COPIES: Final = frozenset({"copy", "with_options"})
"""Methods of a client that return another one."""
_log: Final = Log("clients")


def wrap(client: C, memory: AgentMemory, *, conversation: str | None = None, budget_tokens: int = 800) -> C:
    """Return a client of OpenAI or Anthropic that recalls before each call, and stores both sides of the turn after it.

        client = slowwave.wrap(OpenAI(), memory)

    `create`, `parse` and `stream` of `chat.completions` and `responses` (OpenAI), and of `messages` and `beta.messages`
    (Anthropic) have the memory, synchronous and async, with `stream=True` too. A call that is repeated stores no message
    twice, and another answer is stored beside the earlier one. All other methods are those of the client,
    which is not changed. Arguments are passed on as they are, except that the system prompt or the instructions get what is
    related to the user's latest message: facts and messages of fair relevance, fenced as data.

    A failure of the memory never fails a call: it is logged under `slowwave.clients`, and `client.slowwave.failures`
    counts it.

    Args:
        client: OpenAI, AsyncOpenAI, Anthropic, AsyncAnthropic, or a client with the same methods.
        memory: the memory of the user. A client that is wrapped for each user shares its connections.
        conversation: the conversation in which turns are stored. None: one for each first message of a user, because these
            interfaces send the whole conversation with each call.
        budget_tokens: the size of what is recalled, at least 64 tokens.

    Raises:
        InputError: the client has none of these methods or has a memory already, or another argument is invalid.
    """
    if not isinstance(memory, AgentMemory):
        raise InputError(f"memory is of type {type(memory).__name__}: pass an AgentMemory")
    if isinstance(client, type) or not any(hasattr(client, path.partition(".")[0]) for path in CALLS):
        raise InputError(f"client is of type {type(client).__name__}: pass a client of openai or anthropic")
    if type(client) is _Client:  # isinstance asks for the class of the client inside
        raise InputError("the client has a memory already: pass the client without one, such as OpenAI()")
    if not isinstance(budget_tokens, int) or budget_tokens < BUDGET_LEAST:
        raise InputError(f"budget_tokens={budget_tokens!r}: use an int of at least {BUDGET_LEAST}")
    if conversation is not None:
        _check_conversation(memory, conversation)
    turns = ClientMemory(memory, conversation, budget_tokens)
    return cast("C", _Client(client, "", turns, is_async=hasattr(client, "__aenter__")))


@dataclass(slots=True)
class ClientMemory:
    """The memory of a wrapped client: `client.slowwave`.

    Attributes:
        memory: where turns are stored.
        conversation: the conversation of all turns; None: one for each first message of a user.
        budget_tokens: the size of what is recalled.
        failures: how often the memory failed to recall or to store.
        last_failure: the class of the error of the latest failure; None: there was none.
    """

    memory: AgentMemory
    conversation: str | None
    budget_tokens: int
    failures: int = 0
    last_failure: str | None = None
    _names: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    @contextmanager
    def tolerated(self, action: str) -> Iterator[None]:
        """Count and log a failure of the memory, whatever it is."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a call of the program must not fail because its memory does
            with self._lock:
                self.failures += 1
                self.last_failure = type(error).__name__
            _log.warning("%s failed: %s", action, type(error).__name__)

    def begin(self, dialect: Dialect, arguments: Mapping[str, Any]) -> "Turn":
        """Recall what is related to a call, and return the call with it."""
        turn = Turn(self, dialect, dialect.materialised(arguments))
        with self.tolerated("recall"):
            history = dialect.history(turn.arguments)
            turn.new = new_messages(history)
            turn.begun = "".join(map(words, begun_answer(history)))
            turn.name, is_known = self._name(dialect, turn.arguments, history)
            has_history = len(turn.new) < len([one for one in history if one.role != "system"])
            self._number(turn, history[: len(history) - len(begun_answer(history))])
            is_seen = is_known and (has_history or bool(dialect.continued(turn.arguments)))
            question = next((text for one in reversed(history) if one.role == "user" and (text := words(one))), "")
            if question:
                text = self._recalled(question[:QUESTION_LONGEST], turn.name if is_seen else NO_CONVERSATION, history)
                turn.arguments = dialect.with_context(turn.arguments, text) if text else turn.arguments
        return turn

    def _name(self, dialect: Dialect, arguments: Mapping[str, Any], history: Sequence[CallMessage]) -> tuple[str, bool]:
        """The conversation of a call, and whether all that is stored in it was part of it before."""
        if self.conversation is not None:
            return self.conversation, True
        earlier = dialect.continued(arguments)
        if earlier in self._names:
            return self._names[earlier], True
        opening = earlier or next((words(one) for one in history if one.role == "user"), "")
        return f"wrap-{blake2b(opening.encode('utf-8', 'replace'), digest_size=8).hexdigest()}", bool(earlier)

    def _number(self, turn: "Turn", history: Sequence[CallMessage]) -> None:
        """Give the new messages of a call their ids, so that a call that is repeated stores none of them again."""
        before = turn.dialect.previous(turn.arguments)
        if before is None:
            return
        keyed = numbered(history, before)
        if self.conversation is not None and not before and len(keyed) == len(turn.new):
            keyed = self._after_stored(keyed, self.conversation)
        turn.new = new_messages(keyed)
        turn.key = keyed[-1].key if keyed else before

    def _after_stored(self, messages: Sequence[CallMessage], conversation: str) -> list[CallMessage]:
        """The messages of a call without history, with their ids: they follow what is stored in their conversation.

        If they are the last ones that are stored, and only answers follow them, they are the same messages.
        """
        stored = self.memory.messages(conversation, last=len(messages) + ANSWERS_MOST, withheld=True)
        end = len(stored)
        while end and stored[end - 1].role == "assistant":
            end -= 1
        start = end - len(messages)
        again = numbered(messages, _place(stored[:start]))
        if start >= 0 and [one.key for one in again] == [one.id for one in stored[start:end]]:
            return again
        return numbered(messages, _place(stored))

    def _recalled(self, question: str, conversation: str, history: Sequence[CallMessage]) -> str:
        """The context for a question; empty if it says nothing that the call does not contain."""
        context = self.memory.context(
            question, conversation=conversation, budget_tokens=self.budget_tokens, related_only=True
        )
        shown = {line.strip() for one in history for line in words(one).splitlines()}
        is_new = any(one.kind != "message" or not _lines(one.text) <= shown for one in context.memories)
        return str(context) if is_new else ""

    def store(self, turn: "Turn", answer: str, identity: str) -> None:
        """Store what is new of a turn: the messages of the call that are not stored yet, and the answer."""
        with self.tolerated("storing a turn"):
            new, turn.new = turn.new, []
            messages = [{"role": one.role, "content": one.content, "id": one.key or None} for one in new]
            if answer:
                said = CallMessage("assistant", answer)
                said = numbered([said], turn.key)[0] if turn.key else said
                messages.append({"role": said.role, "content": said.content, "id": said.key or None})
            if identity:
                with self._lock:
                    self._names[identity] = turn.name
                    for old in list(self._names)[:-ANSWERS_KNOWN]:
                        del self._names[old]
            if messages and turn.name:
                self.memory.add_messages(messages, turn.name)


@dataclass(slots=True)
class Turn:
    """One call: its arguments with what was recalled, and the messages that are not stored yet."""

    memory: ClientMemory
    dialect: Dialect
    arguments: dict[str, Any]
    new: list[CallMessage] = field(default_factory=list)
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    identity: str = ""
    begun: str = ""
    key: str = ""

    def end(self, result: object) -> None:
        """Store the turn with the answer of a result; None: with the pieces of the answer so far."""
        answer, identity = "", self.identity
        with self.memory.tolerated("reading an answer"):
            answer = "".join(self.pieces) if result is None else self.dialect.answer(result)
            identity = self.identity if result is None else self.dialect.identity(result)
        self.pieces = []
        self.memory.store(self, self.begun + answer if answer.strip() else "", identity)

    def collect(self, event: object) -> None:
        """Remember the piece of the answer in an event of a stream."""
        with self.memory.tolerated("reading an answer"):
            self.pieces.append(self.dialect.piece(event))
            self.identity = self.dialect.event_identity(event) or self.identity


class _Forwarding:
    """An object that passes on to another what it does not do itself. It is an instance of the other's class."""

    _target: Any

    def __init__(self, target: object) -> None:
        object.__setattr__(self, "_target", target)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as of the target
        return getattr(self._target, name)

    @property  # type: ignore[misc]  # mypy expects a setter
    def __class__(self) -> type:  # programs ask isinstance(client, OpenAI)
        return type(self._target)

    def __repr__(self) -> str:
        return f"wrap({object.__getattribute__(self, '_target')!r})"


class _Client(_Forwarding):
    """A client, or a part of it such as `client.chat`, whose calls have a memory."""

    _place: tuple[str, ClientMemory, bool]

    def __init__(self, target: object, path: str, memory: ClientMemory, *, is_async: bool) -> None:
        super().__init__(target)
        object.__setattr__(self, "_place", (path, memory, is_async))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as of the target
        path, memory, is_async = self._place
        if name == "slowwave" and not path:
            return memory
        value = super().__getattr__(name)
        whole = f"{path}.{name}" if path else name
        if whole in COPIES:
            return lambda *args, **options: _Client(value(*args, **options), "", memory, is_async=is_async)
        if (dialect := CALLS.get(whole)) is not None:
            if name == "stream":
                return _managed(value, dialect, memory, _AsyncManager if is_async else _Manager)
            return (_awaited if is_async else _called)(value, dialect, memory)
        if any(known.startswith(f"{whole}.") for known in CALLS):
            return _Client(value, whole, memory, is_async=is_async)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._target, name, value)

    def __enter__(self) -> Self:
        self._target.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:  # noqa: ANN401 - as of the target
        return self._target.__exit__(*error)

    async def __aenter__(self) -> Self:
        await self._target.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:  # noqa: ANN401 - as of the target
        return await self._target.__aexit__(*error)


def _place(stored: Sequence[Message]) -> str:
    """What follows these messages has this in its id; "" if there are none."""
    return f"{stored[-1].id} {stored[-1].at} {stored[-1].content}" if stored else ""


def _lines(text: str) -> set[str]:
    """The lines of a message, without the markers of its pictures and files."""
    lines = (line.strip() for line in text.splitlines())
    return {line for line in lines if not (line.startswith("[") and line.endswith("]"))}


def _check_conversation(memory: AgentMemory, name: str) -> None:
    """Raise InputError if no conversation may have this name. A memory that fails is left to the calls."""
    try:
        memory.messages(name, last=1)
    except InputError:
        raise
    except SlowwaveError as error:
        _log.warning("the name of a conversation was not checked: %s", type(error).__name__)


def _called(call: Callable[..., Any], dialect: Dialect, memory: ClientMemory) -> Callable[..., Any]:
    def with_memory(*args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as of the call
        turn = memory.begin(dialect, arguments)
        result = call(*args, **turn.arguments)
        turn.end(result if not hasattr(result, "__next__") else None)
        return _Stream(result, turn) if hasattr(result, "__next__") else result

    return with_memory


def _awaited(call: Callable[..., Any], dialect: Dialect, memory: ClientMemory) -> Callable[..., Any]:
    async def with_memory(*args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as of the call
        turn = await to_thread(memory.begin, dialect, arguments)
        result = await call(*args, **turn.arguments)
        await to_thread(turn.end, result if not hasattr(result, "__anext__") else None)
        return _AsyncStream(result, turn) if hasattr(result, "__anext__") else result

    return with_memory


def _managed(
    call: Callable[..., Any], dialect: Dialect, memory: ClientMemory, manager: "type[_Manager | _AsyncManager]"
) -> Callable[..., Any]:
    def with_memory(*args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as of the call
        if not dialect.has_messages(arguments):
            return call(*args, **arguments)
        return manager(call, args, arguments, dialect, memory)

    return with_memory


class _Stream(_Forwarding):
    """The events of an answer. The messages of the call are stored already; the answer is stored when it ends or is closed."""

    def __init__(self, target: object, turn: Turn) -> None:
        super().__init__(target)
        self._turn = turn

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:  # noqa: ANN401 - as of the target
        is_over = True
        try:
            event = next(self._target)
            is_over = False
        finally:
            if is_over:
                self._turn.end(None)
        self._turn.collect(event)
        return event

    def __enter__(self) -> Self:
        self._target.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:  # noqa: ANN401 - as of the target
        self._turn.end(None)
        return self._target.__exit__(*error)

    def close(self) -> None:
        """Close the stream, and store the answer so far."""
        self._turn.end(None)
        self._target.close()


class _AsyncStream(_Forwarding):
    """`_Stream` for async programs."""

    def __init__(self, target: object, turn: Turn) -> None:
        super().__init__(target)
        self._turn = turn

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:  # noqa: ANN401 - as of the target
        is_over = True
        try:
            event = await anext(self._target)
            is_over = False
        finally:
            if is_over:
                await to_thread(self._turn.end, None)
        self._turn.collect(event)
        return event

    async def __aenter__(self) -> Self:
        await self._target.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:  # noqa: ANN401 - as of the target
        await to_thread(self._turn.end, None)
        return await self._target.__aexit__(*error)

    async def close(self) -> None:
        """Close the stream, and store the answer so far."""
        await to_thread(self._turn.end, None)
        await self._target.close()


class _HelperStream(_Stream):
    """`_Stream` with the methods of the helper of OpenAI's `responses.stream`, which read its events to the end."""

    def until_done(self) -> Self:
        """Read the stream to its end."""
        for _ in self:
            pass
        return self

    def get_final_response(self) -> Any:  # noqa: ANN401 - as of the target
        """Read the stream to its end, and return the answer."""
        self.until_done()
        return self._target.get_final_response()


class _AsyncHelperStream(_AsyncStream):
    """`_HelperStream` for async programs."""

    async def until_done(self) -> Self:
        """Read the stream to its end."""
        async for _ in self:
            pass
        return self

    async def get_final_response(self) -> Any:  # noqa: ANN401 - as of the target
        """Read the stream to its end, and return the answer."""
        await self.until_done()
        return await self._target.get_final_response()


class _Manager:
    """What the method `stream` returns: the call is made when it is entered, and the answer is stored when it is left."""

    def __init__(
        self,
        call: Callable[..., Any],
        args: tuple[Any, ...],
        arguments: dict[str, Any],
        dialect: Dialect,
        memory: ClientMemory,
    ) -> None:
        self._call, self._args, self._arguments = call, args, arguments
        self._dialect, self._memory = dialect, memory

    def __enter__(self) -> Any:  # noqa: ANN401 - the stream of the client
        self._turn = self._memory.begin(self._dialect, self._arguments)
        self._manager = self._call(*self._args, **self._turn.arguments)
        self._stream = self._manager.__enter__()
        self._turn.end(None)
        return self._stream if self._dialect.snapshot else _HelperStream(self._stream, self._turn)

    def __exit__(self, *error: object) -> Any:  # noqa: ANN401 - as of the manager
        self._turn.end(_snapshot(self._stream, self._dialect))
        return self._manager.__exit__(*error)


class _AsyncManager(_Manager):
    """`_Manager` for async programs."""

    async def __aenter__(self) -> Any:  # noqa: ANN401 - the stream of the client
        self._turn = await to_thread(self._memory.begin, self._dialect, self._arguments)
        self._manager = self._call(*self._args, **self._turn.arguments)
        self._stream = await self._manager.__aenter__()
        await to_thread(self._turn.end, None)
        return self._stream if self._dialect.snapshot else _AsyncHelperStream(self._stream, self._turn)

    async def __aexit__(self, *error: object) -> Any:  # noqa: ANN401 - as of the manager
        await to_thread(self._turn.end, _snapshot(self._stream, self._dialect))
        return await self._manager.__aexit__(*error)


def _snapshot(stream: object, dialect: Dialect) -> object:
    """The answer that a stream has received so far; None if nothing was read of it, or its events were collected."""
    with suppress(AssertionError, AttributeError):
        return cast("object", getattr(stream, dialect.snapshot))
    return None
