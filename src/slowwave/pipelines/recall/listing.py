"""Lists memories in pages: in an order, from a cursor on, and of one conversation."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from slowwave.errors import InputError, NotFoundError, shown
from slowwave.model.filters import Condition, checked_filter
from slowwave.model.memory import FACT_KINDS, HOT, KINDS, MESSAGE, PHASES, Memory
from slowwave.model.names import checked_id, optional_conversation, optional_count, optional_names
from slowwave.model.query import Order, Where
from slowwave.pipelines.planning import check_reviews
from slowwave.policy.retention.policies import strength
from slowwave.ports import Ports

ORDERS: Final = ("recorded", "-recorded", "at", "-at", "strength", "-strength")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A request; `AgentMemory.get_all` explains each field."""

    kinds: Collection[str] | None = None
    categories: Collection[str] | None = None
    phases: Collection[str] | None = None
    conversation: str | int | None = None
    order: str = "recorded"
    after: Memory | str | None = None
    limit: int | None = None
    where: Mapping[str, object] | Condition | None = None


def listed(ports: Ports, request: Listing) -> list[Memory]:
    """The memories that match, in the requested order.

    Raises:
        InputError: a kind, a phase or the order is unknown, or an argument is invalid.
        NotFoundError: the memory of the cursor does not exist, such as after an erase.
        TrustError: it asks for what waits for review, and the reader of these ports may not review.
    """
    kinds, phases = optional_names(request.kinds, "kinds"), optional_names(request.phases, "phases")
    for what, values, known in (("kinds", kinds, KINDS), ("phases", phases, PHASES)):
        if unknown := set(values or ()) - set(known):
            raise InputError(f"unknown {what} {', '.join(sorted(unknown))}: use {', '.join(known)}")
    check_reviews(ports, "this lists what waits for review", needed="quarantined" in (phases or ()))
    if request.order not in ORDERS:
        raise InputError(f"unknown order {shown(request.order)}: use {', '.join(ORDERS)}")
    limit, cursor = optional_count(request.limit, "limit"), _cursor(ports, request.after)
    by_strength = request.order.endswith("strength")
    where = Where(
        kinds=frozenset(FACT_KINDS if kinds is None else kinds),
        categories=optional_names(request.categories, "categories"),
        phases=frozenset(HOT if phases is None else phases),
        order="recorded" if by_strength else cast("Order", request.order),
        after=cursor.id if cursor is not None and not by_strength else None,
        limit=None if by_strength else limit,
    )
    name, passes = optional_conversation(request.conversation), checked_filter(request.where)
    if passes is not None:
        where = replace(where, passes=passes, with_metadata=not passes.passes_without_metadata)
    found = ports.store.select((ports.scope,), where) if name is None else _of_conversation(ports, where, name)
    return _by_strength(ports, found, cursor, request.order, limit) if by_strength else found


def _cursor(ports: Ports, after: Memory | str | None) -> Memory | None:
    """The memory after which the page begins."""
    if after is None:
        return None
    identity = checked_id(after.id if isinstance(after, Memory) else after, "after")
    found = ports.store.get((ports.scope,), [identity])
    if not found:
        raise NotFoundError(
            f"after={identity!r} is not a memory of scope {ports.scope}, it may have been erased: begin with the first page"
        )
    return found[0]


def _of_conversation(ports: Ports, where: Where, name: str) -> list[Memory]:
    """The messages of a conversation, and the facts of which a source is one of its messages."""
    own = frozenset({MESSAGE})
    if where.kinds == own:
        return ports.store.select((ports.scope,), replace(where, conversation=name))
    ids = {memory.id for memory in ports.store.select((ports.scope,), Where(kinds=own, conversation=name))}
    found: list[Memory] = []
    for memories in ports.store.pages(ports.scope, where):
        found += [one for one in memories if one.id in ids or any(source.memory in ids for source in one.sources)]
        if where.limit is not None and len(found) >= where.limit:
            break
    return found[: where.limit]


def _by_strength(
    ports: Ports, memories: list[Memory], cursor: Memory | None, order: str, limit: int | None
) -> list[Memory]:
    """The memories by their strength now; of equal strength, in the order of their ids."""
    now, sign = ports.now(), -1.0 if order.startswith("-") else 1.0

    def place(memory: Memory) -> tuple[float, str]:
        return sign * strength(memory, ports.config, now), memory.id

    ordered = sorted(memories, key=place)
    if cursor is not None:
        begin = place(cursor)
        ordered = [memory for memory in ordered if place(memory) > begin]
    return ordered[:limit]
