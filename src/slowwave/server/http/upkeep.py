"""Routes of scopes, status, health, cost, charts, review, erase and keys."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from slowwave.model.access import RIGHTS
from slowwave.model.scope import checked_scope
from slowwave.policy.guard.trust import least
from slowwave.server.access.errors import ForbiddenError
from slowwave.server.http import requests as ask, responses as view
from slowwave.server.http.dependencies import (
    Administering,
    After,
    Deciding,
    Erasing,
    Id,
    Limit,
    Reading,
    RepeatableRoute,
    RequestCaller,
    Reviewing,
    Telling,
    Time,
)

router = APIRouter(route_class=RepeatableRoute)
of_scope = APIRouter(prefix="/scopes/{scope}", route_class=RepeatableRoute)
_SVG = "image/svg+xml"


@router.get("/scopes", tags=["scopes"])
def scopes(
    caller: RequestCaller,
    prefix: Annotated[str | None, Query(max_length=2048)] = None,
    after: After = None,
    limit: Limit = 50,
) -> view.Scopes:
    """List the scopes that the key opens, in order of path."""
    caller.require("read")
    wanted = caller.check_scope(prefix) if prefix else caller.key.prefix
    found = caller.store.scopes(wanted, after=after, limit=limit + 1)
    page = found[:limit]
    return view.Scopes(
        items=[view.ScopeView.model_validate(scope) for scope in page],
        next=page[-1].path if len(found) > limit else None,
    )


@of_scope.get("/status", tags=["upkeep"])
def status(memory: Reading) -> view.StatusView:
    """Count what a scope contains, and what is due."""
    found = memory.status()
    counts: dict[str, dict[str, int]] = {}
    for (kind, phase), number in found.counts.items():
        counts.setdefault(kind, {})[phase] = number
    return view.StatusView(
        scope=found.scope,
        counts=counts,
        conversations=found.conversations,
        unread=found.unread,
        waiting=found.waiting,
        due=found.due,
        unembedded=found.unembedded,
        embedder=found.embedder,
        mind=found.mind,
        last_sleep=found.last_sleep,
        cost=view.CostView.model_validate(found.cost),
        problems=list(found.problems),
    )


@of_scope.get("/health", tags=["upkeep"])
def health(memory: Reading) -> view.HealthView:
    """List what needs a person: contradictions, facts that wait, damage, growth."""
    return view.HealthView.model_validate(memory.health())


@of_scope.get("/cost", tags=["upkeep"])
def cost(memory: Reading, since: Time = None) -> view.CostReportView:
    """Sum what models have cost, in all and by cause."""
    return view.CostReportView.model_validate(memory.cost(since))


@of_scope.get(
    "/plots/{kind}.svg",
    tags=["upkeep"],
    response_class=Response,
    responses={200: {"content": {_SVG: {"schema": {"type": "string"}}}}},
)
def plot(memory: Reading, kind: Literal["forgetting", "growth", "sleep"]) -> Response:
    """Draw a chart: `forgetting`, `growth` or `sleep`."""
    headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return Response(memory.plot(kind), media_type=_SVG, headers=headers)


# ---- review and erase


@of_scope.get("/review", tags=["review"])
def review(memory: Reviewing) -> view.ReviewView:
    """List the memories that read as an instruction to a model and do not come from the user."""
    return view.ReviewView(items=[view.MemoryView.model_validate(found) for found in memory.review()])


@of_scope.post("/review/{memory_id}:release", tags=["review"])
def release(memory: Deciding, tell: Telling, memory_id: Id) -> view.Done:
    """Accept a memory under review: it is used like any other from now on."""
    return tell(memory.release(memory_id))


@of_scope.post("/review/{memory_id}:reject", tags=["review"])
def reject(memory: Deciding, tell: Telling, memory_id: Id) -> view.Done:
    """Retract a memory under review. The same text is not stored again."""
    return tell(memory.reject(memory_id))


@of_scope.post("/erase", tags=["erase"])
def erase(memory: Erasing, asked: ask.Erasure) -> view.ErasureView:
    """Destroy memories and everything derived from them, and verify it. It cannot be undone."""
    return view.ErasureView.model_validate(memory.erase(**asked.model_dump()))


# ---- keys


@router.get("/keys", tags=["keys"])
def keys(caller: Administering) -> view.AccessKeys:
    """List the keys within the scopes of the present key, without their secrets."""
    found = [key for key in caller.store.list_keys() if caller.key.reaches(key.prefix)]
    return view.AccessKeys(items=[view.AccessKeyView.model_validate(key) for key in found])


@router.post("/keys", status_code=201, tags=["keys"])
def add_key(caller: Administering, asked: ask.NewAccessKey) -> view.NewAccessKeyView:
    """Make a key, which does not outlive the present one. Its secret is in this response only."""
    if not caller.key.reaches(asked.prefix and checked_scope(asked.prefix)):
        raise ForbiddenError(f"this key opens {caller.key.prefix!r} and below: a new key cannot open more")
    found = caller.store.add_key(
        asked.label,
        prefix=asked.prefix,
        rights=[right for right in RIGHTS if right in asked.rights],
        trust=least((asked.trust, caller.key.trust)),
        expires_at=asked.expires_at,
        made_by=caller.key_id,
    )
    return view.NewAccessKeyView(key=view.AccessKeyView.model_validate(found.key), secret=found.secret)


@router.delete("/keys/{key_id}", tags=["keys"])
def revoke_key(
    caller: Administering,
    key_id: Id,
    cascade: Annotated[bool, Query(description="Also the keys that were made with it, and with these.")] = False,
) -> view.AccessKeyView:
    """Revoke a key: from now on it opens nothing."""
    caller.check_key(key_id)
    return view.AccessKeyView.model_validate(caller.store.revoke_key(key_id, cascade=cascade))
