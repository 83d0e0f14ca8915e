"""Commands that an agent may write into a conversation: `@memory-status` and `@compact-memories`."""

from collections.abc import Callable

from slowwave.errors import InputError, shown
from slowwave.pipelines.conversations import conversation_summaries, latest_conversation, unknown_conversation
from slowwave.pipelines.sleep.conversation_summary import unsummarised_spans
from slowwave.ports import Ports

SHOWN = 8
"""Summaries that a status shows, the newest; `memory.summaries()` has all."""


def handle_agent_command(ports: Ports, text: str) -> str:
    """Run a command and return its answer as text.

    The name of a conversation may follow the command; without one it is the conversation written to last.

    Raises:
        InputError: for an unknown command, listing the known ones, and for a value that is not text.
    """
    if not isinstance(text, str):
        raise InputError(f"a command is text, not {type(text).__name__}: use one of {', '.join(sorted(_COMMANDS))}")
    name, _, argument = text.strip().partition(" ")
    command = _COMMANDS.get(name.lower())
    if command is None:
        raise InputError(f"no command {shown(text)}: use one of {', '.join(sorted(_COMMANDS))}")
    return command(ports, argument.strip() or latest_conversation(ports))


def _status(ports: Ports, name: str | None) -> str:
    from slowwave.pipelines.admin.status import status  # noqa: PLC0415 - it imports reconciliation

    lines = [str(status(ports))]
    return "\n".join([*lines, *summary_coverage(ports, name)])


def summary_coverage(ports: Ports, name: str | None) -> list[str]:
    """Lines about a conversation: its number of messages, what is summarised, what is not, and the newest summaries."""
    found = ports.store.conversation(ports.scope, name) if name is not None else None
    if found is None:
        return [] if name is None else [f"  {unknown_conversation(ports, name)}"]
    lines = [
        f"  {found.name}: {found.last_seq} messages, {min(found.last_seq, ports.config.immediate_window)} immediate, "
        f"summarised up to {found.cursor('cascade')}"
    ]
    if missing := ", ".join(f"{first}-{last}" for first, last in unsummarised_spans(ports, found)):
        lines.append(f"  in no summary, because it was retracted: {missing}; a compaction writes it again")
    for summary in conversation_summaries(ports, found.name, SHOWN):
        first, last = summary.span or (0, 0)
        sort = "long-term" if summary.depth > 1 else "short-term"
        lines.append(f"  {sort} (memories {first}-{last}): {summary.text}")
    return lines


def _compact(ports: Ports, name: str | None) -> str:
    """Summarise all messages outside the immediate window, whatever the threshold. Repeating it changes nothing."""
    from slowwave.pipelines.sleep.compact_now import compact_conversation  # noqa: PLC0415 - it imports all of sleep

    return str(compact_conversation(ports, name))


_COMMANDS: dict[str, Callable[[Ports, str | None], str]] = {"@memory-status": _status, "@compact-memories": _compact}
