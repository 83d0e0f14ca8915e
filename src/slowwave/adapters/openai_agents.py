"""OpenAI Agents SDK: a Session whose history is a conversation of a memory, and recall for the instructions of agents."""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import uuid4

from slowwave import AgentMemory, InputError, Memory, Message
from slowwave.adapters import missing, tolerated
from slowwave.model.content import by_source, without_reasoning

try:
    from agents.memory import SessionSettings
    from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
    from agents.run_config import CallModelData, ModelInputData
except ImportError as error:
    raise missing(__name__, error) from error

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from slowwave.model.memory import JsonValue

KEY: Final = "openai_agents"
"""The name in the metadata of a message under which its item is stored."""
BATCH: Final = 10_000
"""Messages that one call stores or retracts."""
PAGE: Final = 500
"""Messages that are read at once."""
ITEM_LONGEST: Final = 900_000
"""Characters of an item as JSON that the metadata of one message holds. A longer one is cut into parts."""
PART: Final = 400_000
"""Characters of a part of an item. Each quotation mark in it takes two characters of metadata."""
DEPTH_MOST: Final = 60
"""Levels of lists and objects of an item that metadata holds as JSON values. A deeper one is stored as JSON text."""
WORDS_LONGEST: Final = 1_000_000
"""Characters of an item that are searched and read for facts."""
QUESTION_LONGEST: Final = 2000
"""Characters of a user's message by which memory is searched."""
ROLES: Final = frozenset({"user", "assistant", "system", "developer"})
TEXT_FIELDS: Final = ("text", "refusal", "transcript", "stdout", "stderr")
"""Fields of a part of a content that are words."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """An item of the history, and the messages that hold it."""

    item: "TResponseInputItem"
    messages: tuple[str, ...]


class SlowwaveSession:
    """The history of one conversation, as the runner of the OpenAI Agents SDK reads and writes it (`agents.Session`).

    Every item comes back equal to what was added. Each is also a message of the conversation `session_id`, so that its words
    are searched and facts are extracted from them. Its trust is that of its role: an answer of the model is trusted as
    "assistant", the output of a tool as "tool".

    `pop_item` and `clear_session` retract messages, which `undo` restores. Facts that were extracted before stay.

    Args:
        session_id: the name of the conversation, 1 to 512 characters.
        memory: the memory of the user. Give each user a memory with a scope of its own (`Slowwave.within`).
        session_settings: `SessionSettings`, or a mapping with its fields; None: no limit.
        budget_tokens: the size of what `recall` adds, at least 64 tokens.

    Raises:
        InputError: the session id is not a text, or the memory is not an AgentMemory. A name that no conversation may have is refused
            by the first call.
    """

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        memory: AgentMemory,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        budget_tokens: int = 800,
    ) -> None:
        if not isinstance(session_id, str):
            raise InputError(f"session_id is of type {type(session_id).__name__}: pass text")
        if not isinstance(memory, AgentMemory):
            raise InputError(f"memory is of type {type(memory).__name__}: pass an AgentMemory")
        self.session_id = session_id
        self.session_settings = (
            SessionSettings() if session_settings is None else coerce_session_settings(session_settings)
        )
        self._memory = memory.aio
        waiting = ["quarantined"] if memory.ports.reviews else []
        self._phases = ["active", "cold", *waiting]
        self._budget = budget_tokens

    async def get_items(self, limit: int | None = None) -> "list[TResponseInputItem]":
        """Return the items in order, also those whose message waits for review: a tool call needs its output.

        Args:
            limit: only so many of the latest items; None: that of the settings, else all.
        """
        most = resolve_session_limit(limit, self.session_settings)
        found: list[TResponseInputItem] = []
        if most is not None and most <= 0:
            return found
        async for stored in self._newest(most):
            found.append(stored.item)
            if len(found) == most:
                break
        return found[::-1]

    async def add_items(self, items: "list[TResponseInputItem]") -> None:
        """Store items at the end of the history, up to 10,000 messages in one transaction.

        Raises:
            InputError: an item is not a JSON value; nothing is stored.
        """
        messages = [message for place, item in enumerate(items) for message in _messages(item, place)]
        for start in range(0, len(messages), BATCH):
            await self._memory.add_messages(messages[start : start + BATCH], self.session_id)

    async def pop_item(self) -> "TResponseInputItem | None":
        """Retract the latest item and return it; None if there is none. Of concurrent calls, each returns another item."""
        while True:
            newest = self._newest(1)
            stored = await anext(newest, None)
            await newest.aclose()
            if stored is None:
                return None
            receipt = await self._memory.delete(stored.messages)
            if any(outcome.operation == "DELETE" for outcome in receipt.outcomes):
                return stored.item

    async def clear_session(self) -> None:
        """Retract all items."""
        ids = [identity async for stored in self._newest(None) for identity in stored.messages]
        for start in range(0, len(ids), BATCH):
            await self._memory.delete(ids[start : start + BATCH])

    async def recall(self, data: CallModelData[Any]) -> ModelInputData:
        """Add what other conversations and facts say about the user's latest message to the instructions of one call.

        Pass it as `RunConfig(call_model_input_filter=session.recall)`. It adds only hits that reach
        a relevance of 0.01, fenced as data, and stores nothing. If the memory fails, the call goes on without it, and a
        warning is logged under `slowwave.adapters`.
        """
        given = data.model_data
        question = _latest_question(given.input)
        if not question:
            return given
        with tolerated("recall", also_input=True):
            context = await self._memory.context(
                question, conversation=self.session_id, budget_tokens=self._budget, related_only=True
            )
            texts = [text for text in (given.instructions, str(context)) if text]
            return ModelInputData(input=given.input, instructions="\n\n".join(texts) or None)
        return given

    async def _newest(self, limit: int | None) -> AsyncGenerator[_Stored]:
        """The items, the latest first. One that lacks a part, because a person erased it, is left out."""
        parts: dict[str, dict[int, tuple[str, str]]] = {}
        page, after = min(PAGE, limit or PAGE), None
        while True:
            memories = await self._memory.get_all(
                kinds=["message"],
                phases=self._phases,
                conversation=self.session_id,
                order="-recorded",
                after=after,
                limit=page,
            )
            for memory in memories:
                if (stored := _stored(memory, parts)) is not None:
                    yield stored
            if len(memories) < page:
                return
            after = memories[-1]


def _stored(memory: Memory, parts: dict[str, dict[int, tuple[str, str]]]) -> _Stored | None:
    """The item of a message; None if it has none, or if other parts of the item are yet to come.

    Args:
        memory: the message.
        parts: by item the parts seen so far: number, id of the message and text. It is changed.
    """
    kept = memory.metadata.get(KEY)
    if not isinstance(kept, Mapping):
        return None
    if "item" in kept:
        return _Stored(cast("TResponseInputItem", deepcopy(kept["item"])), (memory.id,))
    match kept:
        case {"of": str(name), "part": int(part), "parts": int(number), "json": str(text)}:
            seen = parts.setdefault(name, {})
            seen[part] = (memory.id, text)
            if len(seen) < number:
                return None
            ordered = [seen[place] for place in sorted(seen)]
            with suppress(ValueError, RecursionError):  # another writer may have stored any number of parts
                whole = json.loads("".join(text for _, text in ordered))
                return _Stored(whole, tuple(identity for identity, _ in ordered))
    return None


def _messages(item: object, place: int) -> Iterator[Message]:
    """The messages that store an item: one, or several if it is very long."""
    try:
        whole = json.dumps(item, ensure_ascii=False)
        exact = _is_exact(item, whole)
        whole = whole if exact else json.dumps(item)
    except (TypeError, ValueError, RecursionError) as failure:
        raise InputError(f"item {place} is not a JSON value: {failure}") from failure
    role, words = _role(item), _words(item)[:WORDS_LONGEST]
    if exact and len(whole) <= ITEM_LONGEST:
        yield Message(role, words, metadata={KEY: {"item": cast("JsonValue", item)}})
        return
    name, number = uuid4().hex, -(-len(whole) // PART)
    for part in range(number):
        text = whole[part * PART : (part + 1) * PART]
        kept: dict[str, JsonValue] = {"of": name, "part": part, "parts": number, "json": text}
        yield Message(role, words if part == 0 else f"[part {part + 1} of {number}]", metadata={KEY: kept})


def _is_exact(item: object, whole: str) -> bool:
    """Whether metadata returns an item, `whole` as JSON, as it is: no NUL, no lone surrogate, no NaN, not too deep."""
    try:
        whole.encode()
        json.dumps(item, allow_nan=False)
    except ValueError:
        return False
    return "\\u0000" not in whole and _depth(item) <= DEPTH_MOST


def _depth(value: object) -> int:
    """The levels of lists and objects inside each other."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list | tuple) else 0


def _role(item: object) -> str:
    """The role of an item. What is neither a message nor a request of the model counts as the output of a tool.

    An item is one message, so one that contains what a tool returned is a tool's.
    """
    if not isinstance(item, Mapping):
        return "tool"
    role = item.get("role")
    if role in ROLES:
        return "tool" if any(source == "tool" for source, _ in by_source(role, item.get("content"))) else str(role)
    return "tool" if "output" in item or role is not None else "assistant"


def _words(item: object) -> str:
    """The words of an item; of one without words its type in brackets, such as "[function_call get_weather]"."""
    if not isinstance(item, Mapping):
        return item if isinstance(item, str) and item.strip() else "[item]"
    words = "\n".join(text for text in _texts(item.get("content", item.get("output"))) if text.strip())
    if words and item.get("role") == "assistant" and not without_reasoning(words)[0]:
        return "[reasoning]"
    if words:
        return words
    names = (item.get("type"), item.get("name"))
    return f"[{' '.join(name for name in names if isinstance(name, str) and name.strip()) or 'item'}]"


def _texts(content: object) -> Iterator[str]:
    """The texts of a content. A picture, a recording or a file becomes a marker."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        found = [text for name in TEXT_FIELDS if isinstance(text := content.get(name), str)]
        kind = content.get("type")
        yield from found or ([f"[{kind.removeprefix('input_')}]"] if isinstance(kind, str) else ())
    elif isinstance(content, list | tuple):
        for part in content:
            yield from _texts(part)


def _latest_question(items: Iterable[object]) -> str:
    """The words of the latest message of the user, by which memory is searched."""
    said: Sequence[object] = [item for item in items if isinstance(item, Mapping) and item.get("role") == "user"]
    return _words(said[-1])[:QUESTION_LONGEST] if said else ""
