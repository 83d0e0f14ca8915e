"""Composes the HTTP interface `/v1`: its routes, its errors as problem details, and its description as OpenAPI."""

from typing import Any, Final

from anyio import CapacityLimiter
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from slowwave import __version__
from slowwave.errors import SlowwaveError
from slowwave.server.access.door import Door
from slowwave.server.access.problems import INVALID, UNEXPECTED, problem, problem_of, status_kind
from slowwave.server.http import memories, nights, notes, upkeep
from slowwave.server.http.common import PROBLEMS, REPEATED_AT_ONCE
from slowwave.server.http.paths import Admission
from slowwave.server.http.responses import Problem
from slowwave.server.work.jobs import Jobs
from slowwave.server.work.plans import Plans

ERRORS_SHOWN: Final = 5
"""Invalid fields that one problem names."""
DESCRIPTION: Final = (
    "Memory for agents. A scope owns memories and is one part of the path, encoded: `acme%2Falice`. A key that opens one "
    "scope may leave out `/scopes/{scope}`. Every write names its run, and `undo` of the run reverses it. POST requests "
    "under a scope take the header `Idempotency-Key`: within 24 hours an equal request gets the first answer again."
)


def build_http(door: Door, jobs: Jobs, plans: Plans) -> ASGIApp:
    """The application of `/v1`.

    Args:
        door: admits requests, and opens memories.
        jobs: the jobs of the process.
        plans: the plans that wait to be applied.
    """
    return Admission(build_routes(jobs, plans), door)


def build_routes(jobs: Jobs, plans: Plans) -> FastAPI:
    """The routes of `/v1`, behind the admission."""
    app = FastAPI(
        title="Slowwave",
        version=__version__,
        description=DESCRIPTION,
        responses=PROBLEMS,
        docs_url=None,  # their pages load scripts from other sites
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(HTTPBearer(auto_error=False, description="A key: `sw_…`."))],
        servers=[{"url": "/v1"}],
        root_path_in_servers=False,
    )
    app.state.jobs, app.state.plans, app.state.repeatable = jobs, plans, CapacityLimiter(REPEATED_AT_ONCE)
    for router in (memories.router, notes.router, nights.router, upkeep.router, upkeep.of_scope):
        app.include_router(router)
    add_handlers(app)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # as FastAPI documents it
    return app


def add_handlers(app: FastAPI) -> None:
    """Answer every error with problem details."""

    @app.exception_handler(SlowwaveError)
    def _(_: Request, error: SlowwaveError) -> Response:
        return problem_of(error)

    @app.exception_handler(RequestValidationError)
    def _(_: Request, error: RequestValidationError) -> Response:
        errors = [
            {"at": "/".join(map(str, one["loc"])), "says": str(one["msg"])} for one in error.errors()[:ERRORS_SHOWN]
        ]
        first = errors[0] if errors else {"at": "body", "says": "it cannot be read"}
        return problem(INVALID, f"{first['at']}: {first['says']}", errors=errors)

    @app.exception_handler(HTTPException)
    def _(_: Request, error: HTTPException) -> Response:
        answer = problem(status_kind(error.status_code, str(error.detail)), str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    def _(_: Request, __: Exception) -> Response:
        return problem(UNEXPECTED, "the log of the server has the error; what was acknowledged is kept")


def _described(app: FastAPI) -> dict[str, Any]:
    """The description as OpenAPI, made once. FastAPI describes its own form of error 422, which is not used here."""
    if app.openapi_schema is None:
        described: dict[str, Any] = FastAPI.openapi(app)
        schemas = described["components"]["schemas"]
        schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        app.openapi_schema = described
    return app.openapi_schema
