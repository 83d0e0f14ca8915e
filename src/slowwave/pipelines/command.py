"""Commands: what an agent may type, `@memory-status` and `@compact-memories`, answered in words."""

from collections.abc import Callable

from slowwave.errors import InputError
from slowwave.model.memory import HOT, SUMMARY, Memory
from slowwave.model.plan import Plan
from slowwave.model.query import Where
from slowwave.pipelines.making import new_id
from slowwave.pipelines.sleep.cascade import cascade
from slowwave.pipelines.sleep.stage import Night
from slowwave.pipelines.status import status
from slowwave.ports import Ports


def command(ports: Ports, text: str) -> str:
    """The answer to a command.

    Raises:
        InputError: for a command nobody knows, listing those there are.
    """
    verb = _COMMANDS.get(text.strip().lower())
    if verb is None:
        raise InputError(f"no command {text!r}: there are {', '.join(sorted(_COMMANDS))}")
    return verb(ports)


def _status(ports: Ports) -> str:
    lines = [str(status(ports))]
    for summary in _summaries(ports, _name(ports)):
        first, last = summary.span or (0, 0)
        lines.append(f"  messages {first}-{last} (depth {summary.depth}): {summary.text}")
    return "\n".join(lines)


def _compact(ports: Ports) -> str:
    """Summarise whatever lies outside the immediate window, regardless of the threshold. Idempotent by the cursor."""
    name = _name(ports)
    if name is None:
        return "nothing to compact: there is no conversation yet"
    now = ports.now()
    staged = cascade(Night(ports=ports, now=now, due=(), think=True), force=True, only=name)
    if not staged.groups:
        return "; ".join(staged.problems) or f"nothing to compact in {name}"
    plan = Plan(
        id=new_id(now), scope=ports.scope, cause="sleep/cascade", at=now, groups=staged.groups, cost=staged.cost
    )
    return str(ports.store.apply(plan))


def _name(ports: Ports) -> str | None:
    return next((found.name for found in ports.store.conversations(ports.scope) if found.name), None)


def _summaries(ports: Ports, name: str | None) -> list[Memory]:
    if name is None:
        return []
    where = Where(kinds=frozenset({SUMMARY}), phases=frozenset(HOT), conversation=name, cascade=True, order="seq")
    return ports.store.select((ports.scope,), where)


_COMMANDS: dict[str, Callable[[Ports], str]] = {"@memory-status": _status, "@compact-memories": _compact}
