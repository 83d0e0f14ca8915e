"""Selects the memories that a search with filters, or a search of the past, may find."""

from collections.abc import Iterable
from datetime import datetime

from slowwave.model.memory import HOT, KINDS, NOTE, Memory
from slowwave.model.note import is_below, passes_filter
from slowwave.model.operations import Add, Change
from slowwave.model.query import Where
from slowwave.pipelines.recall.asked import Search
from slowwave.ports import Ports


def selectable(ports: Ports, request: Search) -> tuple[frozenset[str] | None, dict[str, Memory] | None]:
    """The ids of the memories that a request may find, None for all; and the memories known at its time, None for now."""
    known = _known_at(ports, request.known_at) if request.known_at else None
    allowed: frozenset[str] | None = None
    if known is not None:
        allowed = frozenset(memory.id for memory in known.values() if memory.is_searchable or request.deep)
    if request.as_of is not None:
        true_then = frozenset(memory.id for memory in _true_at(ports, request.as_of, known))
        allowed = true_then if allowed is None else allowed & true_then
    if request.passes is not None or request.folder is not None:
        passing = frozenset(memory.id for memory in _filtered(ports, request, known))
        allowed = passing if allowed is None else allowed & passing
    return allowed, known


def filter_selection(request: Search) -> Where:
    """What a request with filters selects from the store."""
    kinds = frozenset(request.kinds) if request.kinds is not None else frozenset(KINDS)
    return Where(
        kinds=kinds & {NOTE} if request.folder is not None else kinds,
        phases=None if request.deep or request.as_of is not None else frozenset(HOT),
        cascade=None,
        below=request.folder,
        with_metadata=request.passes is not None and not request.passes.passes_without_metadata,
        passes=request.passes,
    )


def was_true(memory: Memory, at: datetime) -> bool:
    """Whether it was true then. Duplicates and members of summaries are excluded: another memory has their content."""
    is_replaced = memory.reason in {"duplicate", "consolidated"} or (memory.is_cascade and not memory.is_searchable)
    begun = memory.valid_from <= at and (memory.valid_to is None or at < memory.valid_to)
    return begun and not memory.is_withheld and not is_replaced


def passes(memory: Memory, request: Search) -> bool:
    """Whether a memory passes the filters on metadata and on folders."""
    if request.folder is not None and not is_below(memory, request.folder):
        return False
    return request.passes is None or passes_filter(request.passes, memory)


def _filtered(ports: Ports, request: Search, known: dict[str, Memory] | None) -> Iterable[Memory]:
    """The memories of the kinds and phases that may be found, that pass the filters on metadata and on folders."""
    if known is not None:
        return (memory for memory in known.values() if passes(memory, request))
    return ports.store.select(ports.scopes, filter_selection(request))


def _true_at(ports: Ports, at: datetime, known: dict[str, Memory] | None) -> list[Memory]:
    """The messages until this time, and the facts that were true at it, also if they were archived or superseded later."""
    if known is None:
        every = ports.store.select(ports.scopes, Where(kinds=frozenset(KINDS), cascade=None))
    else:
        every = list(known.values())
    return [memory for memory in every if was_true(memory, at)]


def _known_at(ports: Ports, at: datetime) -> dict[str, Memory]:
    """Every memory as it was at an instant: the changes journaled since are reverted."""
    every = ports.store.select(ports.scopes, Where(kinds=frozenset(KINDS), cascade=None))
    known = {memory.id: memory for memory in every}
    for scope in ports.scopes:
        for run in ports.store.runs(scope, since=at):
            for operation in reversed(list(run.plan.operations)):
                if isinstance(operation, Change):
                    known[operation.before.id] = operation.before
                elif isinstance(operation, Add):
                    known.pop(operation.memory.id, None)
    return known
