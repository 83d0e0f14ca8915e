"""Entities of mem0 (user, agent, app, run) as scopes, below the scope that the key opens."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from slowwave.agent_memory import AgentMemory
from slowwave.errors import InputError
from slowwave.model.access import Right
from slowwave.model.memory import FACT_KINDS, Memory
from slowwave.model.scope import names_of, scope_of
from slowwave.server.access.authentication import Caller
from slowwave.server.mem0.filters import ENTITIES, MISSING, holds, pinned
from slowwave.server.mem0.ids import to_uuid

FOLDER: Final = "mem0"
"""The part of the path that contains the scopes of mem0's entities."""
PAGE: Final = 500
SCOPES_MOST: Final = 1000
"""Scopes that one request reads; more need a narrower filter."""
FACTS_MOST: Final = 10_000
"""Memories of a scope that one request reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The scope of one set of entities.

    Attributes:
        path: the path of the scope.
        entities: by name, such as {"user_id": "alice"}.
    """

    path: str
    entities: Mapping[str, str]


def place_of(caller: Caller, values: Mapping[str, object]) -> Place:
    """The scope of the entities that a request names.

    Raises:
        InputError: it names none, or one is not a text.
    """
    entities: dict[str, str] = {}
    for name in ENTITIES:
        value = values.get(name)
        if value is None or value == "":
            continue
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise InputError(f"{name} is not a text: pass a text of 1 to 256 characters")
        entities[name] = str(value)
    if not entities:
        raise InputError(f"At least one of {', '.join(ENTITIES)} is required")
    parts = [f"{name.removesuffix('_id')}.{value}" for name, value in entities.items()]
    return Place(path=scope_of([FOLDER, *parts], below=caller.key.prefix), entities=entities)


def places(caller: Caller, filters: object) -> list[Place]:
    """The scopes of this key in which memories may match a filter.

    Raises:
        InputError: it is not a filter, or more than 1,000 scopes match.
    """
    found: list[Place] = []
    for place in _below(caller, _narrowed(caller, filters)):
        if holds(filters, lambda name, place=place: _entity(place, name)) is False:  # type: ignore[misc]
            continue
        found.append(place)
        if len(found) > SCOPES_MOST:
            raise InputError(f"the filter matches more than {SCOPES_MOST:,} sets of entities: name a user_id")
    return found


def matches(filters: object, place: Place, memory: Memory) -> bool:
    """Whether a memory of a place passes a filter."""
    return holds(filters, lambda name: _field(place, memory, name)) is True


def facts(caller: Caller, place: Place, right: Right = "read") -> list[Memory]:
    """The facts of a place that are in use, the latest first."""
    memory = caller.memory(place.path, right)
    return memory.get_all(kinds=[*FACT_KINDS], order="-recorded", limit=FACTS_MOST)


def find(caller: Caller, memory_id: str) -> tuple[Place, Memory]:
    """A memory by its id, in any scope of mem0's entities that the key opens.

    Raises:
        NotFoundError: there is none.
        TrustError: it waits for review or was rejected, and the key lacks the right to review.
    """
    found = caller.find(memory_id, _root(caller))
    place = _place(caller, found.scope)
    return place, found


def opened(caller: Caller, place: Place, *rights: Right) -> AgentMemory:
    """The memory of a place."""
    return caller.memory(place.path, *rights)


def shown(place: Place, memory: Memory, score: float | None = None) -> dict[str, object]:
    """A memory as mem0's clients read it."""
    expires = memory.expires_at
    values: dict[str, object] = {
        "id": to_uuid(memory.id),
        "memory": memory.text,
        **{name: place.entities.get(name) for name in ENTITIES},
        "metadata": dict(memory.metadata) or None,
        "categories": [memory.category],
        "created_at": memory.recorded_at.isoformat(),
        "updated_at": memory.last_used_or_recorded.isoformat(),
        "expiration_date": expires.date().isoformat() if expires else None,
    }
    return values if score is None else {**values, "score": score}


def _root(caller: Caller) -> str:
    return scope_of([FOLDER], below=caller.key.prefix)


def _narrowed(caller: Caller, filters: object) -> str:
    """The path above all scopes that can match: that of the user, if the filter names one."""
    user = pinned(filters, ENTITIES[0])
    return _root(caller) if user is None else place_of(caller, {ENTITIES[0]: user}).path


def _below(caller: Caller, prefix: str) -> Iterator[Place]:
    after = None
    while page := caller.store.scopes(prefix, after=after, limit=PAGE):
        yield from (_place(caller, scope.path) for scope in page)
        after = page[-1].path


def _place(caller: Caller, path: str) -> Place:
    """The place of a path below the root. Parts that no entity has made are ignored."""
    entities: dict[str, str] = {}
    for name in names_of(path.removeprefix(f"{_root(caller)}").removeprefix("/")):
        kind, dot, value = name.partition(".")
        if dot and f"{kind}_id" in ENTITIES:
            entities[f"{kind}_id"] = value
    return Place(path=path, entities=entities)


def _entity(place: Place, name: str) -> object:
    return place.entities.get(name) if name in ENTITIES else MISSING


def _field(place: Place, memory: Memory, name: str) -> object:
    """The value of a field of mem0's filters; unknown names are looked up in the metadata."""
    if name in ENTITIES:
        return place.entities.get(name)
    values: dict[str, object] = {
        "created_at": memory.recorded_at.isoformat(),
        "updated_at": memory.last_used_or_recorded.isoformat(),
        "timestamp": memory.at.isoformat(),
        "categories": [memory.category],
        "keywords": memory.text,
        "memory_ids": to_uuid(memory.id),
    }
    if name in values:
        return values[name]
    return memory.metadata.get(name.removeprefix("metadata."))
