"""Handles one event of a coding agent: recalls before a prompt, and stores what the user and the agent said."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from slowwave.errors import ConflictError
from slowwave.hooks.events import HookEvent, added_context
from slowwave.hooks.place import is_off, project_memory

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from slowwave.agent_memory import AgentMemory

PROMPT_TOKENS: Final = 400
"""Tokens that a prompt gets at most."""
START_TOKENS: Final = 400
"""Tokens that a session gets at its start at most."""
QUESTION_LONGEST: Final = 2000
"""Characters of a prompt by which memory is searched: a longer one is mostly pasted text."""
SESSION_START: Final = "SessionStart"
SESSION_END: Final = "SessionEnd"
RESUMED: Final = "resume"
"""The source of a session that continues with all that was said before."""


def respond(
    event: HookEvent, opened: "Callable[[], AbstractContextManager[AgentMemory]]", options: Mapping[str, str]
) -> str:
    """Carry out an event in the memory of its project, and start the extraction of facts if it is due.

    Args:
        event: the event.
        opened: opens the memory of the user; not called in a folder where a person has switched the hooks off.
        options: those of the hook, for the process that extracts facts.

    Returns:
        What the agent reads; empty for nothing.
    """
    if is_off(event.folder):
        return ""
    with opened() as of_user:
        memory = project_memory(of_user, event.folder)
        answer = handle(event, memory)
        unread = unread_conversations(event, memory)
    if unread:
        from slowwave.hooks.processes import start_consolidation  # noqa: PLC0415 - few events start a process

        which = ("--all",) if event.name == SESSION_START else ("--conversation", *unread)
        start_consolidation(options, memory.scope, which)
    return answer


def handle(event: HookEvent, memory: "AgentMemory") -> str:
    """Carry out what an event asks for, and return what the agent reads; empty for nothing.

    A repeated event whose turn has an id stores nothing again. Messages are stored without the blocks that recall put into them, and without the
    values of secrets.

    Args:
        event: the event.
        memory: the memory of its project.
    """
    action = _ACTIONS.get(event.name)
    return "" if action is None else action(event, memory)


def unread_conversations(event: HookEvent, memory: "AgentMemory") -> list[str]:
    """The conversations of which facts are to be extracted after an event.

    The start of a session names all with unread messages: Codex has no event for the end of a session, and a session may be
    killed before its end is handled. The end of a session, and of its context, names its own.
    """
    if event.name not in _READ_AFTER:
        return []
    unread = memory.ports.store.unread(memory.scope)
    names = unread if event.name == SESSION_START else (event.conversation,)
    return [name for name in names if unread.get(name)]


def _recall(event: HookEvent, memory: "AgentMemory") -> str:
    """Recall what is related to a prompt, without what this session said, and store the prompt."""
    question = event.prompt[:QUESTION_LONGEST].strip()
    if not question:
        return ""
    context = memory.context(question, conversation=event.conversation, budget_tokens=PROMPT_TOKENS, related_only=True)
    _store(event, memory, "user", event.prompt)
    return added_context(event, str(context)) if context.sections else ""


def _store_reply(event: HookEvent, memory: "AgentMemory") -> str:
    _store(event, memory, "assistant", event.reply)
    return ""


def _begin(event: HookEvent, memory: "AgentMemory") -> str:
    """What is known about the user, for a session that does not have it yet."""
    if event.source == RESUMED:
        return ""
    context = memory.context(conversation=event.conversation, budget_tokens=START_TOKENS)
    return added_context(event, str(context)) if context.sections else ""


_ACTIONS: Final[Mapping[str, Callable[[HookEvent, "AgentMemory"], str]]] = {
    "UserPromptSubmit": _recall,
    "Stop": _store_reply,
    SESSION_START: _begin,
}
_READ_AFTER: Final = frozenset({SESSION_START, "PreCompact", SESSION_END})


def _store(event: HookEvent, memory: "AgentMemory", role: str, text: str) -> None:
    """Store one side of a turn. A turn may have several replies: each that differs is a message of its own."""
    from slowwave.policy.guard.fence import remove_fenced_blocks  # noqa: PLC0415 - few events store a message
    from slowwave.policy.guard.redaction import redact  # noqa: PLC0415 - as above

    content = redact(remove_fenced_blocks(text)).text
    if not content.strip():
        return
    message: dict[str, object] = {"role": role, "content": content}
    if event.turn is None:
        memory.add_message(message, event.conversation)
        return
    message["id"] = f"{event.turn}/{role}"
    try:
        memory.add_message(message, event.conversation)
    except ConflictError:
        digest = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        memory.add_message({**message, "id": f"{event.turn}/{role}/{digest}"}, event.conversation)
