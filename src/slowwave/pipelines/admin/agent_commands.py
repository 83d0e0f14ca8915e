"""Commands: what an agent may type, `@memory-status` and `@compact-memories`, answered in words."""

from collections.abc import Callable

from slowwave.errors import InputError
from slowwave.pipelines.conversations import conversation_summaries, latest_conversation, unknown_conversation
from slowwave.pipelines.sleep.conversation_summary import unsummarised_spans
from slowwave.ports import Ports

SHOWN = 8
"""Summaries that a status shows, the newest; `memory.summaries()` has all."""


def handle_agent_command(ports: Ports, text: str) -> str:
    """The answer to a command; the name of a conversation may follow it, else it is the one written to last.

    Raises:
        InputError: for a command nobody knows, listing those there are, and for what is no text.
    """
    if not isinstance(text, str):
        raise InputError(f"a command is text, not {type(text).__name__}: there are {', '.join(sorted(_COMMANDS))}")
    said, _, rest = text.strip().partition(" ")
    verb = _COMMANDS.get(said.lower())
    if verb is None:
        raise InputError(f"no command {text!r}: there are {', '.join(sorted(_COMMANDS))}")
    return verb(ports, rest.strip() or latest_conversation(ports))


def _status(ports: Ports, name: str | None) -> str:
    # it loads what reconciles, and a context does without
    from slowwave.pipelines.admin.status import status  # noqa: PLC0415

    lines = [str(status(ports))]
    return "\n".join([*lines, *summary_coverage(ports, name)])


def summary_coverage(ports: Ports, name: str | None) -> list[str]:
    """How a conversation is held in view: its messages, what is summarised, what is not, and the newest summaries."""
    found = ports.store.conversation(ports.scope, name) if name is not None else None
    if found is None:
        return [] if name is None else [f"  {unknown_conversation(ports, name)}"]
    lines = [
        f"  {found.name}: {found.last_seq} messages, {min(found.last_seq, ports.config.immediate_window)} immediate, "
        f"summarised up to {found.cursor('cascade')}"
    ]
    if missing := ", ".join(f"{first}-{last}" for first, last in unsummarised_spans(ports, found)):
        lines.append(f"  in no summary, as it was taken back: {missing}; `slowwave compact` writes it anew")
    for summary in conversation_summaries(ports, found.name, SHOWN):
        first, last = summary.span or (0, 0)
        sort = "long-term" if summary.depth > 1 else "short-term"
        lines.append(f"  {sort} (memories {first}-{last}): {summary.text}")
    return lines


def _compact(ports: Ports, name: str | None) -> str:
    """Summarise whatever lies outside the immediate window, regardless of the threshold. Idempotent by the cursor."""
    from slowwave.pipelines.sleep.compact_now import compact_conversation  # noqa: PLC0415 - it loads all of sleep

    return str(compact_conversation(ports, name))


_COMMANDS: dict[str, Callable[[Ports, str | None], str]] = {"@memory-status": _status, "@compact-memories": _compact}
