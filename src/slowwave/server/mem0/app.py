"""The routes of `/mem0`, which mem0's own Python and npm clients call."""

from collections.abc import Mapping
from datetime import datetime, time
from functools import cache
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator
from starlette.types import ASGIApp

from slowwave.errors import InputError, NotFoundError
from slowwave.model.memory import FACT_KINDS, MESSAGE, Memory
from slowwave.model.message import as_messages, role_of
from slowwave.model.operations import Add, Change
from slowwave.model.plan import Event
from slowwave.policy.guard.trust import trust_of_role
from slowwave.server.access.admission import Admission, caller_of, decoded
from slowwave.server.access.authentication import Authenticator, Caller
from slowwave.server.access.errors import UnsupportedError
from slowwave.server.access.handlers import AdmittedRoute, described_app, needs
from slowwave.server.access.values import VISIBLE, only_number, without_nulls
from slowwave.server.mem0.entities import Place, facts, find, matches, opened, place_of, places, shown
from slowwave.server.mem0.filters import ENTITIES
from slowwave.server.mem0.ids import from_uuid, to_uuid

router = APIRouter(route_class=AdmittedRoute)
CONVERSATION: Final = "mem0"
"""The conversation of messages whose entities name no run."""
PAGE_MOST: Final = 1000
BATCH_MOST: Final = 1000
DELETED_AT_ONCE: Final = 10_000
_PROJECTS: Final = "/api/v1/orgs/organizations/{org}/projects/"
_DAY: Final = time(23, 59, 59)

RequestCaller = Annotated[Caller, Depends(caller_of)]
READS: Final = Depends(needs("read"))
Reader = Annotated[Caller, READS]
Writer = Annotated[Caller, Depends(needs("write"))]
MemoryId = Annotated[str, BeforeValidator(decoded)]
Object = dict[str, Any]


class Asked(BaseModel):
    """A request of mem0's clients. Fields that Slowwave does not use are ignored, as mem0's own server does."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _takes_null_as_absent(cls, value: object) -> object:
        return without_nulls(cls, value)


class Entities(Asked):
    """The entities that own memories."""

    user_id: str | None = Field(default=None, max_length=256)
    agent_id: str | None = Field(default=None, max_length=256)
    app_id: str | None = Field(default=None, max_length=256)
    run_id: str | None = Field(default=None, max_length=256)


class Adding(Entities):
    """Messages, or with `infer` false texts that are stored as they are."""

    messages: Annotated[list[dict[str, JsonValue]], Field(min_length=1, max_length=1000)]
    filters: dict[str, JsonValue] | None = None
    metadata: dict[str, JsonValue] | None = None
    infer: Annotated[bool, Field(strict=True)] = True
    timestamp: Annotated[int, Field(ge=0, le=32_503_680_000), BeforeValidator(only_number)] | None = None
    expiration_date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [{"messages": [{"role": "user", "content": "I like tea."}], "user_id": "alice"}]
        },
    )


class Listing(Asked):
    """Which memories to list."""

    filters: dict[str, JsonValue] | None = None
    categories: list[str] | None = None


class Searching(Listing):
    """A question, and which memories may answer it."""

    query: Annotated[str, Field(min_length=1, max_length=20_000, pattern=VISIBLE)]
    top_k: Annotated[int, Field(ge=1, le=1000), BeforeValidator(only_number)] | None = None
    limit: Annotated[int, Field(ge=1, le=1000), BeforeValidator(only_number)] | None = None
    threshold: Annotated[float, Field(strict=True, ge=0, le=1)] | None = None


class Changing(Asked):
    """The new content of a memory."""

    text: Annotated[str, Field(min_length=1, max_length=1_000_000, pattern=VISIBLE)] | None = None
    metadata: dict[str, JsonValue] | None = None
    timestamp: JsonValue = None
    expiration_date: JsonValue = None


class ChangingOne(Changing):
    """The new content of one memory of a batch."""

    memory_id: str


class ChangingAll(Asked):
    """New contents of memories."""

    memories: Annotated[list[ChangingOne], Field(min_length=1, max_length=BATCH_MOST)]


class One(Asked):
    """One memory of a batch."""

    memory_id: str


class All(Asked):
    """The memories of a batch."""

    memories: Annotated[list[One], Field(min_length=1, max_length=BATCH_MOST)]


class Feedback(Asked):
    """A person's rating of a memory."""

    memory_id: str
    feedback: Annotated[str, Field(pattern="^(POSITIVE|NEGATIVE|VERY_NEGATIVE)$")] | None = None
    feedback_reason: Annotated[str, Field(max_length=10_000)] | None = None


def build_mem0(authenticator: Authenticator) -> ASGIApp:
    """The application of `/mem0`.

    Args:
        authenticator: admits requests, and opens memories.
    """
    return Admission(_routes(), authenticator)


@cache
def _routes() -> FastAPI:
    """The routes, which hold no state."""
    return described_app("/mem0", "Slowwave for mem0's clients", "A key: `sw_…`, also as `Token sw_…`.", (router,))


@router.get("/v1/ping/")
def ping(caller: RequestCaller) -> Object:
    """Say that the key is valid. Clients ask this first."""
    return {"status": "ok", "org_id": "slowwave", "project_id": caller.key.prefix or "default", "user_email": None}


# ---- add, list and search


@router.post("/v3/memories/add/")
@router.post("/v1/memories/")
def add(caller: Writer, asked: Adding) -> Object:
    """Store messages and extract facts from them, or store texts as facts. It is done when this is answered."""
    given = asked.model_dump(include=set(ENTITIES), exclude_none=True)
    place = place_of(caller, {**(asked.filters or {}), **given})
    memory = opened(caller, place, "write")
    at = None if asked.timestamp is None else datetime.fromtimestamp(asked.timestamp, memory.ports.zone)
    if not asked.infer:
        expires = None if asked.expiration_date is None else datetime.combine(_date(asked.expiration_date), _DAY)
        stated = [
            {
                "text": one.content,
                "trust": trust_of_role(role_of(one.role) or "user"),
                "metadata": asked.metadata or {},
                "at": at,
                "expires_at": expires,
            }
            for message in asked.messages
            for one in as_messages(message, "a message")
        ]
        receipt = memory.add_all(stated)
        return _pending(receipt.run_id)
    if asked.expiration_date is not None:
        raise InputError("expiration_date needs infer=False: facts that are extracted fade by their category")
    said = [{**message, "at": at, "metadata": asked.metadata or {}} for message in asked.messages]
    name = place.entities.get("run_id", CONVERSATION)
    receipt = memory.add_messages(said, name)
    extracted = memory.consolidate(name, force=True)
    if asked.metadata:
        for fact in extracted.facts:
            memory.update(fact.id, metadata={**fact.metadata, **asked.metadata})
    return _pending(extracted.run_id or receipt.run_id)


@router.get("/v1/event/{event_id}/", dependencies=[READS])
def event(event_id: MemoryId) -> Object:
    """Say that an add is done, which it is when it was answered."""
    from_uuid(event_id)
    return {"event_id": event_id, "status": "SUCCEEDED"}


@router.post("/v3/memories/")
@router.post("/v2/memories/")
def list_memories(
    caller: Reader,
    request: Request,
    asked: Listing,
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
    page_size: Annotated[int, Query(ge=1, le=PAGE_MOST)] = 100,
) -> Object:
    """List the memories that match a filter, the latest first, page by page."""
    found = sorted(_matching(caller, asked), key=lambda pair: pair[1].id, reverse=True)
    cut = found[(page - 1) * page_size : page * page_size]
    more = page * page_size < len(found)
    return {
        "count": len(found),
        "next": str(request.url.include_query_params(page=page + 1)) if more else None,
        "previous": str(request.url.include_query_params(page=page - 1)) if page > 1 else None,
        "results": [shown(place, memory) for place, memory in cut],
    }


@router.get("/v1/memories/")
def list_by_entities(caller: Reader, asked: Annotated[Entities, Query()]) -> list[Object]:
    """List the memories of entities, as older clients ask."""
    place_of(caller, asked.model_dump())
    listing = Listing(filters=asked.model_dump(exclude_none=True))
    return [shown(place, memory) for place, memory in _matching(caller, listing)]


@router.post("/v3/memories/search/")
@router.post("/v2/memories/search/")
@router.post("/v1/memories/search/")
def search(caller: Reader, asked: Searching) -> Object:
    """Find the best memories for a question. `score` is the relevance, from 0 to 1."""
    top_k = asked.top_k or asked.limit or 10
    hits = [
        (hit.relevance, hit.score, place, hit.memory)
        for place in places(caller, asked.filters)
        for hit in opened(caller, place, "read").search(
            asked.query,
            top_k=PAGE_MOST if asked.filters else top_k,
            kinds=FACT_KINDS,
            categories=asked.categories or None,
            min_relevance=asked.threshold,
        )
        if matches(asked.filters, place, hit.memory)
    ]
    hits.sort(key=lambda hit: (-hit[0], -hit[1], hit[3].id))
    return {"results": [shown(place, memory, score) for score, _, place, memory in hits[:top_k]]}


# ---- one memory


@router.get("/v1/memories/{memory_id}/")
def get(caller: Reader, memory_id: MemoryId) -> Object:
    """Read one memory."""
    return shown(*_present(caller, memory_id))


@router.put("/v1/memories/{memory_id}/")
def update(caller: Writer, memory_id: MemoryId, asked: Changing) -> Object:
    """Change the text or the metadata of a memory. Its former values stay in its history."""
    place, found = _present(caller, memory_id)
    changed = _updated(caller, place, found, asked)
    return shown(place, changed) if caller.may("read") else {"id": memory_id}


@router.delete("/v1/memories/{memory_id}/")
def delete(caller: Writer, memory_id: MemoryId) -> Object:
    """Retract a memory. It is not destroyed: `undo` of the run brings it back."""
    place, found = _present(caller, memory_id)
    opened(caller, place, "write").delete(found.id)
    return {"message": "Memory deleted successfully!"}


@router.get("/v1/memories/{memory_id}/history/")
def history(caller: Reader, memory_id: MemoryId) -> list[Mapping[str, object]]:
    """List what happened to a memory, oldest first."""
    place, found = find(caller, from_uuid(memory_id))
    events = opened(caller, place, "read").history(found.id)
    return [row for one in events if (row := _event(one, place, memory_id)) is not None]


# ---- several memories


@router.put("/v1/batch/")
def update_all(caller: Writer, asked: ChangingAll) -> Object:
    """Change several memories, after all of them were found."""
    present = [(*_present(caller, one.memory_id), one) for one in asked.memories]
    for place, found, change in present:
        _updated(caller, place, found, change)
    return {"message": f"Successfully updated {len(present)} memories"}


@router.delete("/v1/batch/")
def delete_all_of(caller: Writer, asked: All) -> Object:
    """Retract several memories, after all of them were found; one run in each scope."""
    present = [_present(caller, one.memory_id) for one in asked.memories]
    by_path: dict[str, tuple[Place, list[Memory]]] = {}
    for place, found in present:
        by_path.setdefault(place.path, (place, []))[1].append(found)
    for place, some in by_path.values():
        opened(caller, place, "write").delete(some)
    return {"message": f"Successfully deleted {len(present)} memories"}


@router.delete("/v1/memories/")
def delete_all(caller: Writer, asked: Annotated[Entities, Query()]) -> Object:
    """Retract all memories and messages of entities."""
    place_of(caller, asked.model_dump())  # refuses a request that names none
    for place in places(caller, asked.model_dump(exclude_none=True)):
        _empty(caller, place)
    return {"message": "Memories deleted successfully!"}


# ---- entities


@router.get("/v1/entities/")
def list_entities(caller: Reader) -> Object:
    """List the users, agents, apps and runs with memories."""
    totals: dict[tuple[str, str], int] = {}
    for place in places(caller, None):
        number = len(facts(caller, place))
        for name, value in place.entities.items() if number else ():
            kind = name.removesuffix("_id")
            totals[kind, value] = totals.get((kind, value), 0) + number
    results = [
        {"id": f"{kind}:{value}", "name": value, "type": kind, "total_memories": total}
        for (kind, value), total in sorted(totals.items())
    ]
    return {"count": len(results), "next": None, "previous": None, "results": results}


@router.delete("/v2/entities/{kind}/{name}/")
def delete_entity(
    caller: Writer,
    kind: Annotated[str, BeforeValidator(decoded)],
    name: Annotated[str, BeforeValidator(decoded)],
) -> Object:
    """Retract all memories and messages of one entity."""
    if f"{kind}_id" not in ENTITIES:
        raise InputError(f"there are no entities of the type {kind[:40]!r}: use user, agent, app or run")
    found = [place for place in places(caller, {f"{kind}_id": name}) if _empty(caller, place)]
    if not found:
        raise NotFoundError("Entity not found")
    return {"message": "Entity deleted successfully."}


@router.get(f"{_PROJECTS}{{project}}/", dependencies=[READS])
def project(org: str, project: str) -> Object:
    """Read the settings of the project. Slowwave has none of them."""
    return {"id": project, "org_id": org, "custom_instructions": None, "custom_categories": None}


@router.post("/v1/feedback/")
def feedback(caller: Writer, asked: Feedback) -> Object:
    """Keep feedback in the metadata of a memory. POSITIVE also counts as a use, so that the memory fades more slowly."""
    place, found = _present(caller, asked.memory_id)
    memory = opened(caller, place, "write")
    kept = {"feedback": asked.feedback, "feedback_reason": asked.feedback_reason}
    metadata = {
        name: value for name, value in {**found.metadata, **kept}.items() if value is not None or name not in kept
    }
    memory.update(found.id, metadata=metadata)
    if asked.feedback == "POSITIVE":
        memory.record_retrieval(found.id)
    return {"id": asked.memory_id, "feedback": asked.feedback, "feedback_reason": asked.feedback_reason}


@router.patch(f"{_PROJECTS}{{project}}/", dependencies=[READS])
def change_project(org: str, project: str) -> Object:  # noqa: ARG001 - the names in the path
    """Change the settings of the project. It is not served: they would have no effect."""
    _not_served()
    return {}


def _not_served() -> None:
    """Refuse what Slowwave does not serve, instead of accepting it without effect."""
    raise UnsupportedError("Slowwave does not serve this request of mem0: see docs/mem0-server.md")


for _methods, _path in (
    (["POST"], "/v1/exports/"),
    (["POST"], "/v1/exports/get/"),
    (["POST"], "/v1/summary/"),
    (["GET", "POST"], "/api/v1/webhooks/projects/{project}/"),
    (["PUT", "DELETE"], "/api/v1/webhooks/{webhook}/"),
    (["GET"], "/v2/entities/user/{name}/profile/"),
    (["GET", "POST"], "/v1/profiles/{rest:path}"),
):
    router.add_api_route(_path, _not_served, methods=_methods, dependencies=[READS], include_in_schema=False)


def _pending(run_id: str) -> Object:
    """The answer to an add, in the words that mem0's clients expect of a request that is carried out later."""
    return {"message": "Memory processing has been queued", "status": "PENDING", "event_id": to_uuid(run_id)}


def _date(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"expiration_date {text!r} is not a date: write it as 2026-12-31") from None


def _matching(caller: Caller, asked: Listing) -> list[tuple[Place, Memory]]:
    """The facts that match a filter, with their places."""
    return [
        (place, memory)
        for place in places(caller, asked.filters)
        for memory in facts(caller, place)
        if matches(asked.filters, place, memory) and (not asked.categories or memory.category in asked.categories)
    ]


def _present(caller: Caller, memory_id: str) -> tuple[Place, Memory]:
    """A memory that was not deleted."""
    place, found = find(caller, from_uuid(memory_id))
    if found.phase == "retracted" or found.kind not in FACT_KINDS:
        raise NotFoundError("Memory not found!")
    return place, found


def _updated(caller: Caller, place: Place, found: Memory, asked: Changing) -> Memory:
    if (
        asked.timestamp is not None
        or asked.expiration_date is not None
        or ("expiration_date" in asked.model_fields_set and found.expires_at is not None)
    ):
        raise InputError("timestamp and expiration_date cannot be changed: add the memory again with infer=False")
    memory = opened(caller, place, "write")
    if asked.text is not None or asked.metadata is not None:
        memory.update(found.id, asked.text, metadata=asked.metadata)
    return memory.get(found.id)


def _empty(caller: Caller, place: Place) -> bool:
    """Retract the facts and messages of a place, the latest first; whether there were any.

    What others add meanwhile stays: else it would not end while they go on.
    """
    memory, kinds = opened(caller, place, "write"), [*FACT_KINDS, MESSAGE]
    some = memory.get_all(kinds=kinds, order="-recorded", limit=DELETED_AT_ONCE)
    deleted = bool(some)
    while some:
        memory.delete(some)
        some = memory.get_all(kinds=kinds, order="-recorded", after=some[-1], limit=DELETED_AT_ONCE)
    return deleted


def _event(one: Event, place: Place, memory_id: str) -> Mapping[str, object] | None:
    """One event of a history; None for what mem0 does not have, such as a use."""
    operation = one.operation
    if isinstance(operation, Add):
        name, old, new = "ADD", None, operation.memory.text
    elif isinstance(operation, Change) and operation.after.phase == "retracted":
        name, old, new = "DELETE", operation.before.text, None
    elif isinstance(operation, Change) and not operation.only_reschedules:
        name, old, new = "UPDATE", operation.before.text, operation.after.text
    else:
        return None
    at = one.at.isoformat()
    return {
        "id": to_uuid(one.run_id),
        "memory_id": memory_id,
        "event": name,
        "old_memory": old,
        "new_memory": new,
        "input": None,
        "created_at": at,
        "updated_at": at,
        **{entity: place.entities.get(entity) for entity in ENTITIES},
    }
