"""Composes the HTTP interface `/v1`: its routes, its errors as problem details, and its description as OpenAPI."""

from functools import cache
from typing import Final

from anyio import CapacityLimiter
from fastapi import FastAPI
from starlette.types import ASGIApp

from slowwave.server.access.admission import Admission
from slowwave.server.access.authentication import Authenticator
from slowwave.server.access.handlers import described_app
from slowwave.server.http import changes, memories, notes, sleep, upkeep
from slowwave.server.http.dependencies import REPEATED_AT_ONCE
from slowwave.server.http.paths import whole_path
from slowwave.server.work.jobs import Jobs
from slowwave.server.work.plans import Plans
from slowwave.server.work.streams import Streams

DESCRIPTION: Final = (
    "Memory for agents. A scope owns memories and is one part of the path, encoded: `acme%2Falice`. A key that opens one "
    "scope may leave out `/scopes/{scope}`. Every write names its run, and `undo` of the run reverses it. POST requests "
    "under a scope take the header `Idempotency-Key`: within 24 hours an equal request gets the first answer again."
)


def build_http(authenticator: Authenticator, jobs: Jobs, plans: Plans, streams: Streams) -> ASGIApp:
    """The application of `/v1`.

    Args:
        authenticator: admits requests, and opens memories.
        jobs: the jobs of the process.
        plans: the plans that wait to be applied.
        streams: the open event streams.
    """
    shared = {"jobs": jobs, "plans": plans, "streams": streams, "repeatable": CapacityLimiter(REPEATED_AT_ONCE)}
    return Admission(routes(), authenticator, whole_path, shared)


@cache
def routes() -> FastAPI:
    """The routes of `/v1`, behind the admission. They hold no state, and building them takes most of a second."""
    routers = (memories.router, notes.router, sleep.router, changes.router, upkeep.router, upkeep.of_scope)
    return described_app("/v1", "Slowwave", "A key: `sw_…`.", routers, DESCRIPTION)
