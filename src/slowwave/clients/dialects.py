"""How the calls of OpenAI and Anthropic contain messages, a system prompt and an answer. Values are read, never changed."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from slowwave.model.content import by_source, item_by_source

TURNS: Final = frozenset({"user", "tool"})
"""Roles of the messages of a call that are stored. The system prompt is the program's, and is sent with each call."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """A message of a call: a role of `slowwave.Message`, the content as the call has it, and the id given by `numbered`."""

    role: str
    content: Any
    key: str = field(default="", repr=False)


def words(said: CallMessage) -> str:
    """The texts of a message, without pictures, files and calls."""
    if isinstance(said.content, str):
        return said.content.strip()
    parts = said.content if isinstance(said.content, list | tuple) else ()
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def begun_answer(history: Sequence[CallMessage]) -> Sequence[CallMessage]:
    """The messages of the assistant at the end: the beginning of the answer, given by the caller."""
    end = len(history)
    while end and history[end - 1].role == "assistant":
        end -= 1
    return history[end:]


def numbered(history: Sequence[CallMessage], before: str = "") -> list[CallMessage]:
    """The messages of a call without system prompts, each with an id.

    An id is a hash of the message and of all before it. So a call with the same history has the same ids, and the same
    words at another place have another id.

    Args:
        history: what the call contains, in order.
        before: what the first message follows; "": it begins the conversation.
    """
    found, key = list[CallMessage](), before
    for one in history:
        if one.role != "system":
            content = json.dumps(one.content, sort_keys=True, ensure_ascii=False, default=str)
            key = blake2b(f"{key}\n{one.role}\n{content}".encode("utf-8", "replace"), digest_size=16).hexdigest()
            found.append(replace(one, key=key))
    return found


def new_messages(history: Sequence[CallMessage]) -> list[CallMessage]:
    """The messages after the last answer: those before it were new in an earlier call.

    >>> said = [CallMessage("user", "Hi"), CallMessage("assistant", "Hello"), CallMessage("user", "Who am I?"), CallMessage("assistant", "You are")]
    >>> new_messages(said)
    [CallMessage(role='user', content='Who am I?')]
    """
    end = len(history) - len(begun_answer(history))
    start = end
    while start and history[start - 1].role != "assistant":
        start -= 1
    return [said for said in history[start:end] if said.role in TURNS]


class Dialect(ABC):
    """One way to call a model."""

    argument: str
    """The argument with the messages."""
    snapshot: str = ""
    """The attribute with the answer so far of what `stream` returns; "": it has none, and its events are read."""

    def materialised(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, with a list in place of an iterator of messages, which can be read only once."""
        given = arguments.get(self.argument)
        if not isinstance(given, Iterator):
            return dict(arguments)
        return {**arguments, self.argument: list(given)}

    def messages(self, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The messages of a call as mappings."""
        given = arguments.get(self.argument)
        return [_mapping(one) for one in given] if isinstance(given, list | tuple) else []

    @abstractmethod
    def history(self, arguments: Mapping[str, Any]) -> list[CallMessage]:
        """What a call contains, in order."""

    @abstractmethod
    def with_context(self, arguments: Mapping[str, Any], text: str) -> dict[str, Any]:
        """The arguments with a text at the end of the system prompt."""

    @abstractmethod
    def answer(self, result: Any) -> str:  # noqa: ANN401 - an object of the client's package
        """The text of an answer; empty if it only calls tools."""

    @abstractmethod
    def piece(self, event: Any) -> str:  # noqa: ANN401 - an object of the client's package
        """The text that an event of a stream adds to the answer."""

    def has_messages(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call sends messages, and does not read on in an earlier answer."""
        return arguments.get(self.argument) is not None

    def previous(self, arguments: Mapping[str, Any]) -> str | None:
        """What the first message of a call follows: the id of an earlier answer, "" if nothing; None if that is not known."""
        del arguments
        return ""

    def continued(self, arguments: Mapping[str, Any]) -> str:
        """The id of the earlier answer, or of the conversation on the server, that a call continues; empty if there is none."""
        del arguments
        return ""

    def identity(self, result: object) -> str:
        """The id by which a later call continues this answer; empty if none can."""
        del result
        return ""

    def event_identity(self, event: object) -> str:
        """The id as in `identity`, if an event has it."""
        del event
        return ""


class Chat(Dialect):
    """`chat.completions` of OpenAI."""

    argument = "messages"
    snapshot = "current_completion_snapshot"

    def history(self, arguments: Mapping[str, Any]) -> list[CallMessage]:
        """What a call contains, in order."""
        return [said for one in self.messages(arguments) for said in _said(one)]

    def with_context(self, arguments: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Extend the first system message, because some models accept only one; without one, add it."""
        first, *rest = arguments["messages"]
        found = _mapping(first)
        if _role(found.get("role")) == "system":
            extended = {**found, "content": _extended(found.get("content"), text)}
            return {**arguments, "messages": [extended, *rest]}
        return {**arguments, "messages": [{"role": "system", "content": text}, first, *rest]}

    def answer(self, result: Any) -> str:  # noqa: ANN401 - a ChatCompletion
        """The text of the first choice."""
        choices = getattr(result, "choices", None)
        return _text_of(choices[0].message, "content", "refusal") if choices else ""

    def piece(self, event: Any) -> str:  # noqa: ANN401 - a ChatCompletionChunk
        """The text of the first choice."""
        first = [choice for choice in getattr(event, "choices", ()) if getattr(choice, "index", 0) == 0]
        return _text_of(first[0].delta, "content", "refusal") if first else ""


class Responses(Dialect):
    """`responses` of OpenAI."""

    argument = "input"

    def history(self, arguments: Mapping[str, Any]) -> list[CallMessage]:
        """What a call contains, in order; not what the server knows of `previous_response_id`."""
        if isinstance(arguments.get("input"), str):
            return [CallMessage("user", arguments["input"])]
        return [said for item in self.messages(arguments) for said in _said(item)]

    def with_context(self, arguments: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Extend the instructions."""
        return {**arguments, "instructions": _extended(arguments.get("instructions"), text)}

    def answer(self, result: Any) -> str:  # noqa: ANN401 - a Response
        """The texts of its messages."""
        return _text_of(result, "output_text")

    def piece(self, event: Any) -> str:  # noqa: ANN401 - a ResponseStreamEvent
        """The text of a delta of a message."""
        is_text = getattr(event, "type", "") in {"response.output_text.delta", "response.refusal.delta"}
        return _text_of(event, "delta") if is_text else ""

    def previous(self, arguments: Mapping[str, Any]) -> str | None:
        """The id of the answer before. A conversation on the server has messages that the call does not contain."""
        return None if arguments.get("conversation") else self.continued(arguments)

    def continued(self, arguments: Mapping[str, Any]) -> str:
        """The id of the conversation on the server, or of the answer before."""
        conversation = arguments.get("conversation")
        if isinstance(conversation, Mapping):
            conversation = conversation.get("id")
        found = conversation if isinstance(conversation, str) else arguments.get("previous_response_id")
        return found if isinstance(found, str) else ""

    def identity(self, result: object) -> str:
        """The id of the answer."""
        return _text_of(result, "id")

    def event_identity(self, event: object) -> str:
        """The id of the answer, which the first event has."""
        return self.identity(getattr(event, "response", None))


class Messages(Dialect):
    """`messages` of Anthropic."""

    argument = "messages"
    snapshot = "current_message_snapshot"

    def history(self, arguments: Mapping[str, Any]) -> list[CallMessage]:
        """What a call contains, in order. Results of tools, which are in messages of the user, are those of a tool."""
        return [said for one in self.messages(arguments) for said in _said(one)]

    def with_context(self, arguments: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Extend the system prompt at its end, so that the text before it stays in the cache."""
        return {**arguments, "system": _extended(arguments.get("system"), text)}

    def answer(self, result: Any) -> str:  # noqa: ANN401 - a Message
        """The texts of its blocks."""
        blocks = getattr(result, "content", None) or ()
        return "".join(_text_of(block, "text") for block in blocks if getattr(block, "type", "") == "text")

    def piece(self, event: Any) -> str:  # noqa: ANN401 - a RawMessageStreamEvent
        """The text of a delta of a block."""
        delta = getattr(event, "delta", None)
        return _text_of(delta, "text") if getattr(delta, "type", "") == "text_delta" else ""


_CHAT, _RESPONSES, _MESSAGES = Chat(), Responses(), Messages()
CALLS: Final[Mapping[str, Dialect]] = {
    "chat.completions.create": _CHAT,
    "chat.completions.parse": _CHAT,
    "chat.completions.stream": _CHAT,
    "responses.create": _RESPONSES,
    "responses.parse": _RESPONSES,
    "responses.stream": _RESPONSES,
    "messages.create": _MESSAGES,
    "messages.parse": _MESSAGES,
    "messages.stream": _MESSAGES,
    "beta.messages.create": _MESSAGES,
    "beta.messages.parse": _MESSAGES,
    "beta.messages.stream": _MESSAGES,
}
"""The calls that have a memory, by the path of the method in the client."""


def _mapping(value: object) -> dict[str, Any]:
    """A message or a block as a mapping. Programs also pass back the objects of earlier answers."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    return dict(dump(mode="json")) if dump is not None else {}


def _role(role: object) -> str:
    """The role of `slowwave.Message`; that of an unknown one is a tool, which is trusted least."""
    known = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
    return known.get(role, "tool") if isinstance(role, str) else "tool"


def _said(item: Mapping[str, Any]) -> list[CallMessage]:
    """The messages in a message or an item of a call. An item without a role is the output of a tool, or has no words."""
    if "role" not in item:
        found = item_by_source(item)
        return [CallMessage("tool", content) for _, content in found] or [CallMessage("assistant", None)]
    content = item.get("content")
    if isinstance(content, list | tuple):
        content = [part if isinstance(part, str) else _mapping(part) for part in content]
    role = _role(item["role"])
    return [CallMessage(str(source), said) for source, said in by_source(role, content)]


def _extended(prompt: object, text: str) -> Any:  # noqa: ANN401 - of the type of the prompt
    """A prompt, which is a text, a list of parts, or not given, with a text at its end."""
    if isinstance(prompt, list | tuple):
        return [*prompt, {"type": "text", "text": text}]
    return f"{prompt}\n\n{text}" if isinstance(prompt, str) and prompt else text


def _text_of(value: object, *names: str) -> str:
    """The first attribute of these names that is a text with content; else an empty text."""
    found = (getattr(value, name, None) for name in names)
    return next((text for text in found if isinstance(text, str) and text), "")
