"""What a memory has stored, as tests of adapters compare it."""

from slowwave import AgentMemory


def said(memory: AgentMemory, conversation: str | None = None) -> list[tuple[str, str]]:
    """Role and text of each message of a conversation, or of all messages in the order in which they were stored."""
    if conversation is None:
        return [(one.role or "", one.text) for one in memory.get_all(kinds=["message"])]
    return [(one.role, str(one.content)) for one in memory.messages(conversation)]
