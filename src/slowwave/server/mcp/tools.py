"""The eight tools about the memory of one scope. Each calls one method of the facade and translates its result."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from hashlib import blake2b
from inspect import getdoc
from typing import Annotated, Final, Protocol, TypeAlias, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from slowwave.agent_memory import AgentMemory
from slowwave.errors import NotFoundError
from slowwave.model.message import as_messages
from slowwave.model.operations import Add
from slowwave.policy.ranking.relevance import FAIR
from slowwave.server.access.values import VISIBLE
from slowwave.server.mcp import answers
from slowwave.server.mcp.problems import as_tool_errors

_Answer = TypeVar("_Answer")
ASSISTANT: Final = "assistant"
"""How far the statements of a model are trusted."""
HITS_MOST: Final = 50
MESSAGES_MOST: Final = 200
"""Messages of one `keep`."""
BUDGET_MOST: Final = 20_000
"""Tokens of one `context`: a larger one would fill the window of the model that asks."""
SHORTEST_BUDGET: Final = 64
QUESTION_LONGEST: Final = 4000
"""Characters of a question."""
FACT_LONGEST: Final = 4000
"""Characters of a fact; longer texts are messages."""
CONTENT_LONGEST: Final = 1_000_000
"""Characters of a message."""
ID_LONGEST: Final = 64
NAME_LONGEST: Final = 256

READ: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
DESTROY: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)

Question: TypeAlias = Annotated[
    str, Field(description="What to look for, in words", min_length=1, max_length=QUESTION_LONGEST, pattern=VISIBLE)
]
MemoryId: TypeAlias = Annotated[
    str, Field(description="The id of a memory, as recall gives it", min_length=1, max_length=ID_LONGEST)
]
Time: TypeAlias = Annotated[str | None, Field(description="A date such as 2026-03-14, or 2026-03-14T09:30+01:00")]


class ChatMessage(BaseModel):
    """A message of a conversation, as chat APIs write it."""

    role: Annotated[str | None, Field(description="user, assistant, system or tool")] = None
    content: Annotated[
        Annotated[str, Field(max_length=CONTENT_LONGEST)] | list[JsonValue] | dict[str, JsonValue] | None,
        Field(description="The words, as they were said, or a list of parts"),
    ] = None
    id: Annotated[
        str | None,
        Field(description="The caller's own id of the message: the same id is stored once", max_length=NAME_LONGEST),
    ] = None

    model_config = ConfigDict(extra="allow")


class OpenMemory(Protocol):
    """Gives the memory of the present request, with the ceiling `assistant`."""

    def __call__(self) -> AgentMemory:
        """The memory."""
        ...


def add_read_tools(server: MCPServer, memory: OpenMemory) -> None:
    """Register `recall`, `context` and `explain`."""

    def recall(
        question: Question,
        top_k: Annotated[int, Field(description="How many hits at most", ge=1, le=HITS_MOST)] = 8,
        since: Time = None,
        until: Time = None,
        deep: Annotated[bool, Field(description="Also what is archived, superseded or forgotten")] = False,
    ) -> answers.Recalled:
        """Search memory of earlier conversations: facts and past messages about a question, best first, with their ids.

        Use it before answering anything that depends on what the user said or decided before.
        """
        opened = memory()
        hits = opened.search(
            question,
            top_k=top_k,
            since=_time(since, "since"),
            until=_time(until, "until"),
            deep=deep,
            min_relevance=FAIR,
        )
        return answers.Recalled(hits=[answers.found(hit) for hit in hits])

    def context(
        question: Question,
        budget_tokens: Annotated[
            int, Field(description="Its size at most, in tokens", ge=SHORTEST_BUDGET, le=BUDGET_MOST)
        ] = 800,
    ) -> answers.ContextText:
        """Memory as prompt text: what is known for a question, within a budget of tokens, fenced as data.

        Use it to give what is known to another model or agent. For your own look-ups use recall.
        """
        return answers.context_text(memory().context(question, budget_tokens=budget_tokens))

    def explain(id: MemoryId) -> answers.Explained:  # noqa: A002 - the name of the argument in the protocol
        """Why memory holds something: its strength, the messages it rests on with quotes, and every change of it."""
        return answers.explained(_known(lambda: memory().explain(id)))

    _register(server, {"Recall": recall, "Context": context, "Explain": explain}, READ)


def add_write_tools(server: MCPServer, memory: OpenMemory) -> None:
    """Register `remember`, `keep`, `correct`, `forget` and `undo`."""

    def remember(
        fact: Annotated[str, Field(description="One sentence", min_length=1, max_length=FACT_LONGEST, pattern=VISIBLE)],
        category: Annotated[
            str,
            Field(description="person, preference, project, decision, instruction, other …", max_length=NAME_LONGEST),
        ] = "other",
        subject: Annotated[str | None, Field(description="Whom or what it is about", max_length=NAME_LONGEST)] = None,
        importance: Annotated[float | None, Field(description="From 0 to 1", ge=0, le=1)] = None,
    ) -> answers.Remembered:
        """Store one lasting fact in memory. It may update or replace a known one; storing it again changes nothing.

        For what stays true beyond this conversation: preferences, decisions, names, how things are done here.
        """
        receipt = memory().add(fact, category=category, subject=subject, importance=importance, trust=ASSISTANT)
        return answers.remembered(receipt)

    def keep(
        messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MESSAGES_MOST)],
        conversation: Annotated[
            str,
            Field(description="Its name, the same for the whole conversation", min_length=1, max_length=NAME_LONGEST),
        ],
    ) -> answers.StoredMessages:
        """Store messages of this conversation word for word, in order. The same call again changes nothing.

        Only for programs that do not store conversations by themselves. Messages without an id are known by their words.
        """
        return _kept(memory(), messages, conversation)

    def correct(
        id: MemoryId,  # noqa: A002 - the name of the argument in the protocol
        text: Annotated[
            str, Field(description="The whole new text", min_length=1, max_length=FACT_LONGEST, pattern=VISIBLE)
        ],
    ) -> answers.Changed:
        """Replace the text of a fact in memory. The old words stay in its history, and undo brings them back."""
        receipt = _known(lambda: memory().update(id, text))
        return answers.changed(receipt, receipt.outcomes[0], id)

    def undo(
        run: Annotated[str, Field(description="The run that an answer named", min_length=1, max_length=ID_LONGEST)],
    ) -> answers.Undone:
        """Reverse one change of memory that remember, keep, correct or forget made, by the run in its answer."""
        return answers.undone(_known(lambda: memory().undo(run), "run"))

    _register(server, {"Remember": remember, "Keep": keep, "Correct": correct, "Undo": undo}, WRITE)

    def forget(id: MemoryId) -> answers.Changed:  # noqa: A002 - the name of the argument in the protocol
        """Retract a memory: recall does not find it any more, and the same words are not learnt again. Undo brings it back."""
        receipt = _known(lambda: memory().delete(id))
        return answers.changed(receipt, receipt.outcomes[0], id)

    _register(server, {"Forget": forget}, DESTROY)


def _register(
    server: MCPServer, functions: "dict[str, Callable[..., BaseModel]]", annotations: ToolAnnotations
) -> None:
    for title, function in functions.items():
        marked = annotations.model_copy(update={"title": title})
        server.tool(title=title, description=getdoc(function), annotations=marked, structured_output=True)(
            as_tool_errors(function)
        )


def _known(read: Callable[[], _Answer], what: str = "memory") -> _Answer:
    """The result of a call about a memory or a run that is named by its id.

    Raises:
        ToolError: there is none of this id.
    """
    try:
        return read()
    except NotFoundError as error:
        source = "`recall` gives the ids" if what == "memory" else "answers that changed something name their run"
        raise ToolError(f"there is no {what} of this id: {source}") from error


def _time(text: str | None, name: str) -> datetime | None:
    """A time in ISO 8601; without an offset the memory reads it in its zone."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise ToolError(f"{name} is not a date: write 2026-03-14, or 2026-03-14T09:30+01:00") from error


def _kept(memory: AgentMemory, said: Sequence[ChatMessage], conversation: str) -> answers.StoredMessages:
    messages = [
        message
        for number, one in enumerate(said)
        for message in as_messages(
            {**one.model_dump(exclude_unset=True), "id": one.id or id_of_words(said[: number + 1])}, f"message {number}"
        )
    ]
    if not messages:
        return answers.StoredMessages(conversation=conversation, stored=0, known=len(said), withheld=0, run=None)
    receipt = memory.add_messages(messages, conversation)
    added = [operation.memory for operation in receipt.applied if isinstance(operation, Add)]
    return answers.StoredMessages(
        conversation=conversation,
        stored=len(added),
        known=len(messages) - len(added),
        withheld=sum(one.phase == "quarantined" for one in added),
        run=answers.changed_run(receipt),
    )


def id_of_words(said: Sequence[ChatMessage]) -> str:
    """The id of the last of these messages, made of the words of all of them, so that a repeated call stores nothing."""
    digest = blake2b(digest_size=12)
    for one in said:
        given = one.model_dump(exclude={"id", "role", "content"})  # of an item without a role
        content = one.content if isinstance(one.content, str) else json.dumps([one.content, given], sort_keys=True)
        digest.update(f"{one.role}\x00{len(content)}\x00{content}".encode("utf-8", "surrogatepass"))
    return f"words-{digest.hexdigest()}"
