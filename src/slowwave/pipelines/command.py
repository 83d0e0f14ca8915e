"""Commands: what an agent may type, `@memory-status` and `@compact-memories`, answered in words."""

from collections.abc import Callable

from slowwave.errors import InputError
from slowwave.model.memory import HOT, MESSAGE, SUMMARY, Memory
from slowwave.model.query import Where
from slowwave.ports import Ports

SHOWN = 8
"""Summaries that a status shows, the newest; `memory.summaries()` has all."""
NAMED = 5
"""Conversations that are named, those written to last, where one is asked for that is not there."""


def command(ports: Ports, text: str) -> str:
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
    return verb(ports, rest.strip() or latest(ports))


def latest(ports: Ports) -> str | None:
    """The conversation written to last; one index read."""
    found = ports.store.select((ports.scope,), Where(kinds=frozenset({MESSAGE}), order="newest", limit=1))
    return found[0].conversation if found else None


def _status(ports: Ports, name: str | None) -> str:
    from slowwave.pipelines.status import status  # noqa: PLC0415 - it loads what reconciles, and a context does without

    lines = [str(status(ports))]
    return "\n".join([*lines, *windows(ports, name)])


def windows(ports: Ports, name: str | None) -> list[str]:
    """How a conversation is held in view: its messages, what is summarised, what is not, and the newest summaries."""
    found = ports.store.conversation(ports.scope, name) if name is not None else None
    if found is None:
        return [] if name is None else [f"  {unknown(ports, name)}"]
    from slowwave.pipelines.sleep.cascade import holes  # noqa: PLC0415 - it loads all of sleep

    lines = [
        f"  {found.name}: {found.last_seq} messages, {min(found.last_seq, ports.config.immediate_window)} immediate, "
        f"summarised up to {found.cursor('cascade')}"
    ]
    if missing := ", ".join(f"{first}-{last}" for first, last in holes(ports, found)):
        lines.append(f"  in no summary, as it was taken back: {missing}; `slowwave compact` writes it anew")
    for summary in _summaries(ports, found.name):
        first, last = summary.span or (0, 0)
        sort = "long-term" if summary.depth > 1 else "short-term"
        lines.append(f"  {sort} (memories {first}-{last}): {summary.text}")
    return lines


def unknown(ports: Ports, name: str) -> str:
    """That there is no conversation of a name, and which there are."""
    names = [found.name for found in ports.store.conversations(ports.scope) if found.name]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    there = f"there are {', '.join(names[:NAMED])}{more}" if names else "there is none yet"
    return f"no conversation {name!r}: {there}"


def _compact(ports: Ports, name: str | None) -> str:
    """Summarise whatever lies outside the immediate window, regardless of the threshold. Idempotent by the cursor."""
    from slowwave.pipelines.compaction import compacted  # noqa: PLC0415 - it loads all of sleep

    return str(compacted(ports, name))


def _summaries(ports: Ports, name: str) -> list[Memory]:
    where = Where(
        kinds=frozenset({SUMMARY}),
        phases=frozenset(HOT),
        conversation=name,
        cascade=True,
        order="newest",
        limit=SHOWN,
    )
    return ports.store.select((ports.scope,), where)[::-1]


_COMMANDS: dict[str, Callable[[Ports, str | None], str]] = {"@memory-status": _status, "@compact-memories": _compact}
