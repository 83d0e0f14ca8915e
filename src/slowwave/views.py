"""Views of a memory: its facts, as MemoryConsolidator takes them, and its latest conversation."""

from typing import TYPE_CHECKING, Final

from slowwave.errors import InputError
from slowwave.model.memory import MESSAGE
from slowwave.model.message import Message
from slowwave.model.query import Where
from slowwave.session import MemorySession

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory

READABLE: Final = frozenset({"active", "cold"})
"""Phases of messages that a conversation shows: not those taken back or under review."""


class Knowledge:
    """The facts of a memory, as `MemoryConsolidator` takes them. `AgentMemory.knowledge` is one."""

    def __init__(self) -> None:
        self._memory: AgentMemory | None = None

    @property
    def memory(self) -> "AgentMemory":
        """The memory these facts belong to.

        Raises:
            InputError: the object was not passed to a memory yet.
        """
        if self._memory is None:
            raise InputError("this knowledge belongs to no memory yet: pass it to AgentMemory(knowledge=...)")
        return self._memory

    def attach(self, memory: "AgentMemory") -> None:
        """Belong to this memory. AgentMemory calls it."""
        self._memory = memory


class ConversationView:
    """The conversation written to last, whichever that is at each call."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    def get_messages(self) -> list[Message]:
        """Its messages in order, as `AgentMemory.get_conversation_messages` returns them."""
        return conversation_messages(self._session, None)


def conversation_messages(session: MemorySession, name: str | None) -> list[Message]:
    """The messages of a conversation in order, without those taken back or under review; None: written to last."""
    ports, name = session.ports, session.conversation_name(name)
    where = Where(kinds=frozenset({MESSAGE}), phases=READABLE, conversation=name, order="seq")
    return [
        Message(
            role=memory.role or "user",
            content=memory.text,
            speaker=memory.speaker,
            at=memory.at,
            id=memory.ref or memory.id,
            metadata=memory.metadata,
        )
        for memory in ports.store.select((ports.scope,), where)
    ]
