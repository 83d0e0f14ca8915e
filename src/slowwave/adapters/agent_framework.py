"""Microsoft Agent Framework: a context provider, which recalls before each run and stores what was said after it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from slowwave import AgentMemory, Context
from slowwave.adapters import missing, tolerated

try:
    from agent_framework import AgentSession, Content, ContextProvider, Message, SessionContext, SupportsAgentRun
except ImportError as error:
    raise missing(__name__, error) from error

SOURCE_ID: Final = "slowwave"
STORED: Final = "stored"
"""The key in the provider's state of a session that says that messages of the session are stored."""
_ROLES: Final = ("user", "assistant", "system", "tool")
_FILES: Final = ("data", "uri")
"""Contents that become a marker in a message."""
_NAME_LONGEST: Final = 200
_UNNAMED: Final = "UnnamedAgent"
"""The author that the framework writes into replies of an agent without a name. It would be text without meaning in contexts."""


class SlowwaveProvider(ContextProvider):
    """Memory of an agent: `Agent(client=client, context_providers=[SlowwaveProvider(memory)])`.

    Before a run it adds a context for the input as a message, fenced as data. After the run it stores the input and the
    reply in the conversation of the session's id. A failure of the store, the embedder or the model of the memory is
    logged, and the run goes on without memory.

    Args:
        memory: the memory of one user. It stays open.
        source_id: the name of this provider; each provider of an agent needs its own.
        budget_tokens: the size limit of the context in tokens, estimated; at least 64.
    """

    def __init__(self, memory: AgentMemory, *, source_id: str = SOURCE_ID, budget_tokens: int = 800) -> None:
        super().__init__(source_id)
        self._memory = memory
        self._budget_tokens = budget_tokens

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002 - the framework's signature
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the context for the input. Messages of the session are left out if its history has them.

        Raises:
            InputError: the id of the session is not a name of a conversation.
        """
        name = context.session_id or session.session_id
        question = "\n".join(message.text for message in context.input_messages if message.text)
        seen = bool(state.get(STORED))
        with tolerated("building a context"):
            found = await self._memory.aio.context(
                question,
                conversation=None if seen else name,
                except_conversation=name if seen else None,
                budget_tokens=self._budget_tokens,
            )
            if found.sections:
                message = Message("user", [str(found)])
                context.extend_messages(self, [message], origin_session_ids=_conversations(found, name))

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002 - the framework's signature
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Store the input and the reply. A run that raises stores nothing."""
        replies = context.response.messages if context.response else []
        rows = [*_rows(context.input_messages, "user"), *_rows(replies, "assistant")]
        with tolerated("storing a run", also_input=True):
            await self._memory.aio.add_messages(rows, context.session_id or session.session_id)
            state[STORED] = True


def _conversations(found: Context, present: str) -> list[str]:
    """The other conversations whose messages a context shows."""
    shown = (memory.conversation for memory in found.memories if memory.kind == "message")
    return sorted({name for name in shown if name is not None and name != present})


def _rows(messages: Sequence[Message], trusted: str) -> Iterator[dict[str, Any]]:
    """Messages as the memory takes them. A role that is neither `trusted` nor known becomes that of an assistant."""
    for message in messages:
        role = message.role if message.role in _ROLES and (message.role != "user" or trusted == "user") else "assistant"
        yield {"role": role, "content": _parts(message.contents), "speaker": _speaker(message.author_name)}


def _parts(contents: Sequence[Content]) -> list[dict[str, str]]:
    """The texts of a message, and a marker for each picture and file. Calls of tools and reasoning are left out."""
    return [
        {"type": "text", "text": content.text or ""}
        if content.type == "text"
        else {"type": content.media_type or "file"}
        for content in contents
        if content.type == "text" or content.type in _FILES
    ]


def _speaker(name: str | None) -> str | None:
    """The name of an author as the memory takes it; None if there is none."""
    if name is None or name == _UNNAMED:
        return None
    storable = name.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
    return storable[:_NAME_LONGEST] if storable.strip() else None
