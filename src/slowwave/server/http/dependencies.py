"""What the routes share: the parts of a path, the memory that a request may use, and the repeatable route."""

import json
from collections.abc import Callable, Coroutine, Sequence
from hashlib import sha256
from typing import Annotated, Any, Final
from urllib.parse import unquote

from anyio import CapacityLimiter, from_thread, to_thread
from fastapi import Depends, Path, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator

from slowwave.agent_memory import AgentMemory
from slowwave.errors import InputError
from slowwave.model.access import Right
from slowwave.model.plan import Receipt
from slowwave.model.suggestions import instead_of, use
from slowwave.server.access.admission import caller_of, decoded
from slowwave.server.access.authentication import Caller
from slowwave.server.access.handlers import OWN, AdmittedRoute, needing, needs
from slowwave.server.http.requests import Moment
from slowwave.server.http.responses import Done
from slowwave.server.work.jobs import Jobs
from slowwave.server.work.plans import Plans
from slowwave.server.work.streams import Streams

PAGE_MOST: Final = 100
REPEATED_AT_ONCE: Final = 40
"""Requests with an Idempotency-Key that run at once. Each takes a thread besides the one of its route."""


def path_part(description: str, *, longest: int, example: str) -> Any:  # noqa: ANN401 - of Path
    """The annotation of a part of the path, which is decoded once."""
    return Path(description=description, min_length=1, max_length=longest, examples=[example])


ScopePath = Annotated[
    str,
    BeforeValidator(decoded),
    path_part("The scope, as one part of the path: acme%2Falice is acme/alice.", longest=2048, example="acme%2Falice"),
]
Id = Annotated[
    str,
    BeforeValidator(decoded),
    path_part("An id.", longest=64, example="6aks3s9359r2zc0aq2f7"),
]
Named = Annotated[str, BeforeValidator(decoded), path_part("A name.", longest=512, example="monday")]
After = Annotated[str | None, Query(description="`next` of the page before.", min_length=1, max_length=512)]
Limit = Annotated[int, Query(ge=1, le=PAGE_MOST)]
Time = Annotated[Moment | None, Query()]


def jobs_of(request: Request) -> Jobs:
    """The jobs of the server."""
    jobs: Jobs = request.state.jobs
    return jobs


def plans_of(request: Request) -> Plans:
    """The plans that wait to be applied."""
    plans: Plans = request.state.plans
    return plans


def streams_of(request: Request) -> Streams:
    """The event streams of the server."""
    streams: Streams = request.state.streams
    return streams


RequestCaller = Annotated[Caller, Depends(caller_of)]
JobsOf = Annotated[Jobs, Depends(jobs_of)]
PlansOf = Annotated[Plans, Depends(plans_of)]
StreamsOf = Annotated[Streams, Depends(streams_of)]


def opens(*rights: Right) -> Callable[..., AgentMemory]:
    """A dependency: the memory of the scope in the path, for a request that uses these rights."""

    def memory(caller: RequestCaller, scope: ScopePath) -> AgentMemory:
        return caller.memory(caller.own_scope if scope == OWN else scope, *rights)

    return needing(rights, memory)


Reading = Annotated[AgentMemory, Depends(opens("read"))]
Writing = Annotated[AgentMemory, Depends(opens("write"))]
Reviewing = Annotated[AgentMemory, Depends(opens("review"))]
Deciding = Annotated[AgentMemory, Depends(opens("review", "write"))]
Erasing = Annotated[AgentMemory, Depends(opens("erase"))]
Administering = Annotated[Caller, Depends(needs("admin"))]


def telling(caller: RequestCaller) -> Callable[[Receipt], Done]:
    """A dependency: how the receipt of a write is told to a request. Without the right to read it has no words."""
    return Done.of if caller.may("read") else Done.bare


Telling = Annotated[Callable[[Receipt], Done], Depends(telling)]
_KEPT_HEADERS: Final = ("location", "etag")
"""Headers that a repeated answer has again."""
_KEY_LONGEST: Final = 255


class StrictRoute(AdmittedRoute):
    """A route that refuses unknown query parameters: a misspelt one would be ignored otherwise."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, which first looks at the names of the query."""
        handle = super().get_route_handler()
        known = _query_names(self.dependant)

        async def strict(request: Request) -> Response:
            unknown = [name for name in dict.fromkeys(request.query_params.keys()) if name not in known]
            if unknown:
                raise RequestValidationError([_unknown_parameter(name, known) for name in unknown])
            return await handle(request)

        return strict


def _query_names(dependant: Dependant) -> list[str]:
    """The query parameters of a route and of what it depends on."""
    below = (name for other in dependant.dependencies for name in _query_names(other))
    return [*(field.alias for field in dependant.query_params), *below]


def _unknown_parameter(name: str, known: Sequence[str]) -> dict[str, object]:
    otherwise = f": this address takes {', '.join(known)}" if known else ": this address takes none"
    words = f"there is no query parameter of this name{use(instead_of(name, known), otherwise)}"
    return {"type": "extra_forbidden", "loc": ("query", name), "msg": words, "input": None}


class RepeatableRoute(StrictRoute):
    """A route that answers a repeated request with the answer of the first, if both have the same Idempotency-Key."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, in which a request with an Idempotency-Key is carried out once in 24 hours."""
        handle = super().get_route_handler()

        async def once(request: Request) -> Response:
            key = request.headers.get("idempotency-key")
            if key is None or request.method != "POST" or "scope" not in request.path_params:
                return await handle(request)
            self.admit(request)
            caller, scope = caller_of(request), unquote(request.path_params["scope"])
            path = caller.check_scope(caller.own_scope if scope == OWN else scope)
            caller.require("write")
            body = await request.body()
            asked = [request.method, request.url.path, request.url.query, sha256(body).hexdigest()]
            name = sha256(f"{caller.key.id}\n{_checked(key)}".encode()).hexdigest()
            memory = caller.memory(path)

            replayed = True

            def call() -> str:
                nonlocal replayed
                replayed = False
                return _stored(from_thread.run(handle, request))

            limiter: CapacityLimiter = request.state.repeatable
            answer = await to_thread.run_sync(memory.once, name, json.dumps(asked), call, limiter=limiter)
            return _restored(answer, replayed=replayed)

        return once


def _checked(key: str) -> str:
    if not key or len(key) > _KEY_LONGEST:
        raise InputError(f"the header Idempotency-Key has 0 or more than {_KEY_LONGEST} characters: use a UUID")
    return key


def _stored(response: Response) -> str:
    headers = {name: value for name, value in response.headers.items() if name in _KEPT_HEADERS}
    return json.dumps([response.status_code, headers, bytes(response.body).decode()])


def _restored(answer: str, *, replayed: bool) -> Response:
    status, headers, body = json.loads(answer)
    more = {"Idempotent-Replayed": "true"} if replayed else {}
    return Response(body, status, {**headers, **more}, "application/json")
