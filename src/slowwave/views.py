"""Views of a memory: its facts, as MemoryConsolidator takes them, and its latest conversation."""

from typing import TYPE_CHECKING

from slowwave.errors import InputError
from slowwave.model.message import Message
from slowwave.pipelines.conversations import messages
from slowwave.session import MemorySession

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory


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
        """Its messages in order, as `AgentMemory.messages` returns them."""
        return messages(self._session.ports, self._session.conversation_name(None))
