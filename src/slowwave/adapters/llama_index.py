"""LlamaIndex: a memory block. It stores what leaves the short-term memory, and recalls for the latest user message."""

from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, Final

from slowwave import AgentMemory
from slowwave.adapters import missing, tolerated

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock, Memory
    from llama_index.core.storage.chat_store.base_db import MessageStatus
    from llama_index.core.utils import get_tokenizer
except ImportError as error:
    raise missing(__name__, error) from error

DEFAULT_SESSION: Final = "default"
"""The conversation of messages that come without a session."""
_MARKED: Final = ("image", "audio", "video", "document")
"""Blocks of a message that become a marker."""


class SlowwaveBlock(BaseMemoryBlock[str]):
    """A memory block: `Memory.from_defaults(memory_blocks=[SlowwaveBlock(memory)])`.

    Before each request it recalls a context for the latest user message, fenced as data: of other chats, and of the
    messages of this one that left the short-term memory. A failure of the store, the
    embedder or the model of the memory is logged, and the agent goes on without memory.

    Args:
        memory: the memory of one user. It stays open.
        budget_tokens: the size limit of the context in tokens, estimated; at least 64.
        tokenizer_fn: splits a text into tokens, to shorten the context if the chat gets too long; the tokenizer of the
            `Memory`, if that has one of its own. Default: that of LlamaIndex.
        fields: those of every block: `name` ("slowwave"), `priority` (1), `accept_short_term_memory` (True), `description`.
    """

    name: str = "slowwave"
    priority: int = 1
    budget_tokens: int = 800
    tokenizer_fn: Callable[[str], Sequence[Any]] = Field(default_factory=get_tokenizer, exclude=True)
    _memory: AgentMemory = PrivateAttr()
    _passed: dict[str, Counter[str]] = PrivateAttr(default_factory=dict)
    """How often each message left the short-term memory, by session."""

    def __init__(self, memory: AgentMemory, **fields: Any) -> None:  # noqa: ANN401 - those of the block
        super().__init__(**fields)
        self._memory = memory

    async def asave(self, chat: Memory) -> None:
        """Store all messages of a chat that are not stored yet, also those that are still in the short-term memory.

        Call it after a turn or at the end of a chat: LlamaIndex passes only messages for which there is no room to its
        blocks. It may be repeated.

        Raises:
            SlowwaveError: the session's name is invalid, or the memory failed; the next call stores what is missing.
        """
        passed = await chat.aget_all(status=MessageStatus.ARCHIVED)
        self._passed[chat.session_id] = Counter(map(_digest, passed))
        await self._store(await chat.aget_all(), chat.session_id, Counter())

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """The context with fewer lines, the least relevant removed first; None if none would be left.

        The inherited method removes a block as soon as it is one token too long.
        """
        lines = content.split("\n") if content else []
        frame, items = lines[:2], lines[2:-1]
        most = len(self.tokenizer_fn(content)) - tokens_to_truncate if content else 0
        while items:
            shortened = "\n".join([*frame, *items, lines[-1]])
            if len(self.tokenizer_fn(shortened)) <= most:
                return shortened
            items.pop()
            while items and items[-1].startswith("## "):
                items.pop()
        return None

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        session_id: str | None = None,
        **_: Any,  # noqa: ANN401 - other arguments of the framework
    ) -> str:
        said = (message.content for message in reversed(messages or []) if message.role == MessageRole.USER)
        question = next((text for text in said if text), "")
        session = DEFAULT_SESSION if session_id is None else session_id
        with tolerated("building a context"):
            is_all_seen = not await self._passed_of(session)
            context = await self._memory.aio.context(
                question,
                conversation=None if is_all_seen else session,
                except_conversation=session if is_all_seen else None,
                budget_tokens=self.budget_tokens,
            )
            return str(context)
        return ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        by_session: dict[str, list[ChatMessage]] = {}
        for message in messages:
            session = str(message.additional_kwargs.get("session_id", DEFAULT_SESSION))
            by_session.setdefault(session, []).append(message)
        for session, said in by_session.items():
            with tolerated("storing messages", also_input=True):
                await self._store(said, session, await self._passed_of(session))

    async def _passed_of(self, session: str) -> Counter[str]:
        """How often each message of a session left the short-term memory. Those stored by another process count, too."""
        if session not in self._passed:
            known = await self._memory.aio.messages(session, withheld=True)
            stored = Counter((message.id or "").rpartition("/")[0] for message in known)
            return self._passed.setdefault(session, stored)
        return self._passed[session]

    async def _store(self, messages: Sequence[ChatMessage], session: str, seen: Counter[str]) -> None:
        """Store messages under ids that name their words and how many equal ones came before them in the session."""
        rows: list[dict[str, Any]] = []
        for message in messages:
            digest = _digest(message)
            rows.append({"role": message.role.value, "content": _parts(message), "id": f"{digest}/{seen[digest]}"})
            seen[digest] += 1
        await self._memory.aio.add_messages(rows, session)


def _parts(message: ChatMessage) -> list[dict[str, str]]:
    """The texts of a message, and a marker for each picture, recording and document."""
    return [
        {"type": "text", "text": block.text} if isinstance(block, TextBlock) else {"type": block.block_type}
        for block in message.blocks
        if isinstance(block, TextBlock) or block.block_type in _MARKED
    ]


def _digest(message: ChatMessage) -> str:
    words = repr((message.role.value, _parts(message))).encode("utf-8", "surrogatepass")
    return blake2b(words, digest_size=12).hexdigest()
