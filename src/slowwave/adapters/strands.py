"""AWS Strands: a memory store. Its manager injects what a search finds and hands over what was said."""

from hashlib import blake2b
from typing import Any, Final
from uuid import uuid4

from slowwave import AgentMemory, Hit
from slowwave.adapters import missing

try:
    from strands.memory import (
        AddMessagesContext,
        ExtractionConfig,
        InvocationTrigger,
        MemoryEntry,
        MemoryStore,
        SearchOptions,
    )
    from strands.types.content import ContentBlock, Message as StrandsMessage
except ImportError as error:
    raise missing(__name__, error) from error

DESCRIPTION: Final = "Facts and messages of earlier conversations with this user"
SEARCH_MOST: Final = 50
"""Entries that a search returns at most: a model may ask for any number."""
LONGEST: Final = 2000
"""Characters of an entry: a long message would fill the prompt into which entries are put."""
_MARKED: Final = ("image", "document", "video")
"""Blocks that become a marker in a message."""


class SlowwaveStore(MemoryStore):
    """A store of a memory manager: `Agent(memory_manager=MemoryManager(stores=[SlowwaveStore(memory)]))`.

    Errors are raised; the manager logs them and goes on. Make a store for each agent.

    Args:
        memory: the memory of one user. It stays open.
        conversation: where the agent's messages are stored, and found by later searches; None: a new conversation for
            each agent, whose messages its own searches leave out.
        name: the name of the store in the tools of the manager.
        description: what the model reads about the store.
        max_search_results: how many entries a search returns unless it says how many.
        min_relevance: only memories of at least this `Hit.relevance`, 0 to 1; None: also those that only fill the result.
        writable: False: nothing is stored.
        extraction: when messages are stored, as Strands defines it. True: after every turn; False: never.
    """

    def __init__(
        self,
        memory: AgentMemory,
        *,
        conversation: str | None = None,
        name: str = "slowwave",
        description: str | None = DESCRIPTION,
        max_search_results: int | None = 8,
        min_relevance: float | None = 0.01,
        writable: bool = True,
        extraction: ExtractionConfig | bool = True,
    ) -> None:
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = ExtractionConfig(trigger=InvocationTrigger()) if extraction is True else extraction
        if not writable:
            self.extraction = False
        self._memory = memory
        self._named = conversation
        self._min_relevance = min_relevance
        self._run = uuid4().hex

    @property
    def conversation(self) -> str:
        """The conversation in which messages are stored."""
        return f"strands/{self._run}" if self._named is None else self._named

    async def initialize(self) -> None:
        """Begin a new agent. The numbers of its messages begin with 0 again, so that they need a new name."""
        self._run = uuid4().hex

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """The memories that answer a query, best first. A query without words finds nothing.

        Raises:
            SlowwaveError: the memory failed.
        """
        if not query.strip():
            return []
        most = (options or {}).get("max_search_results") or self.max_search_results
        hits = await self._memory.aio.search(
            query,
            top_k=max(1, min(SEARCH_MOST, 8 if most is None else most)),
            except_conversation=self.conversation if self._named is None else None,
            min_relevance=self._min_relevance,
        )
        return [_entry(hit) for hit in hits]

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> str:
        """Store a fact with the trust of an assistant: models call this. Repeating it changes nothing.

        Args:
            content: the fact.
            metadata: JSON values, stored with it.

        Returns:
            The id of the run, for `undo`.

        Raises:
            SlowwaveError: an argument is invalid, or the memory failed.
        """
        receipt = await self._memory.aio.add(content, metadata=metadata, trust="assistant")
        return receipt.run_id

    async def add_messages(self, messages: list[StrandsMessage], context: AddMessagesContext | None = None) -> str:
        """Store the texts of messages. A batch that is repeated is stored once.

        Args:
            messages: in their order. Calls of tools, their results and reasoning are left out.
            context: the numbers of the messages; without them a repeated batch is stored again.

        Returns:
            The id of the run, for `undo`.

        Raises:
            SlowwaveError: an argument is invalid, or the memory failed.
        """
        numbers: list[int | None] = [None] * len(messages)
        if context is not None and context.sequence_numbers is not None:
            numbers = list(context.sequence_numbers)
        stored = [
            {"role": message["role"], "content": parts, "id": self._id(number, message["role"], parts)}
            for message, number in zip(messages, numbers, strict=True)
            if (parts := _parts(message["content"]))
        ]
        receipt = await self._memory.aio.add_messages(stored, self.conversation)
        return receipt.run_id

    def _id(self, number: int | None, role: str, parts: list[dict[str, str]]) -> str | None:
        """The id of a message. It contains a digest, because agents that share a store have equal numbers."""
        if number is None:
            return None
        words = repr((role, parts)).encode("utf-8", "surrogatepass")
        return f"{self._run}/{number}/{blake2b(words, digest_size=8).hexdigest()}"


def _parts(blocks: list[ContentBlock]) -> list[dict[str, str]]:
    """The texts of a message, and a marker for each picture, document and video."""
    parts: list[dict[str, str]] = []
    for block in blocks:
        if "text" in block:
            parts.append({"type": "text", "text": block["text"]})
        elif "citationsContent" in block:
            cited = block["citationsContent"].get("content") or []
            parts += [{"type": "text", "text": str(piece.get("text", ""))} for piece in cited]
        else:
            parts += [{"type": kind} for kind in _MARKED if kind in block]
    return parts


def _entry(hit: Hit) -> MemoryEntry:
    """A hit as an entry. Its text names the source that is trusted less than the user."""
    memory = hit.memory
    source = "" if memory.trust == "user" else f"[{memory.trust}] "
    mark = f" ({hit.because})" if hit.because else ""
    text = hit.text if len(hit.text) <= LONGEST else f"{hit.text[: LONGEST - 1]}…"
    return MemoryEntry(
        content=f"{source}{text}{mark}",
        metadata={
            "id": memory.id,
            "kind": memory.kind,
            "at": memory.at.isoformat(),
            "trust": memory.trust,
            "relevance": round(hit.relevance, 3),
            **({"metadata": dict(memory.metadata)} if memory.metadata else {}),
        },
    )
