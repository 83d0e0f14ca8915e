"""Errors of an interface over HTTP as problem details, and their description in OpenAPI."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from slowwave import __version__
from slowwave.errors import SlowwaveError
from slowwave.model.access import Right
from slowwave.server.access.admission import caller_of, decoded
from slowwave.server.access.authentication import Caller
from slowwave.server.access.problems import INVALID, MEDIA_TYPE, UNEXPECTED, problem, problem_of, status_kind

_Dependency = TypeVar("_Dependency", bound=Callable[..., Any])
OWN: Final = "%own"
"""In the path of a route, in place of a scope: that of the key. No encoded scope begins so, because %ow is no byte."""
ERRORS_SHOWN: Final = 5
"""Invalid fields that one problem names."""
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    code: {"description": words, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    for code, words in {
        400: "A value is invalid.",
        401: "The request has no valid key.",
        403: "The key does not allow this.",
        404: "There is nothing of this name.",
        409: "The request conflicts with what is stored, or an equal one is still being carried out.",
        412: "The note has changed since it was read.",
        413: "The body is too large.",
        422: "The request does not have the documented form.",
        501: "The request is not served.",
        502: "A model or embedder failed.",
        503: "The store is busy or away, or too much work waits.",
    }.items()
}
"""The errors of every route, for its description."""


class Problem(BaseModel):
    """An error, as RFC 9457 defines it. `type` names the class of the error; `detail` says what to do."""

    type: str = Field(examples=["urn:slowwave:problem:not-found"])
    title: str
    status: int
    detail: str = ""


def needs(*rights: Right) -> Callable[[Request], Caller]:
    """A dependency: the caller of a request that uses these rights."""

    def caller(request: Request) -> Caller:
        found = caller_of(request)
        found.require(*rights)
        return found

    return needing(rights, caller)


def needing(rights: tuple[Right, ...], dependency: _Dependency) -> _Dependency:
    """A dependency, marked with the rights that it checks, so that an `AdmittedRoute` checks them before a body is read."""
    dependency.rights = rights  # type: ignore[attr-defined]  # functions take attributes
    return dependency


class AdmittedRoute(APIRoute):
    """A route that checks the rights of a request before it reads the body.

    The framework reads a body before it calls the dependencies of a route. Whoever may not use the route could otherwise
    have it keep megabytes in RAM.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, after `admit`."""
        handle = super().get_route_handler()

        async def admitted(request: Request) -> Response:
            self.admit(request)
            return await handle(request)

        return admitted

    def admit(self, request: Request) -> None:
        """Raise ForbiddenError unless the key of the request has the rights of the route, and opens the scope of its path."""
        caller = caller_of(request)
        caller.require(*_rights_of(self.dependant))
        with suppress(UnicodeDecodeError):  # the check of the path names it
            scope = decoded(request.path_params.get("scope"))
            if isinstance(scope, str) and scope != OWN:
                caller.check_scope(scope)


def _rights_of(dependant: Dependant) -> list[Right]:
    """The rights that the dependencies of a route check."""
    below = (right for other in dependant.dependencies for right in _rights_of(other))
    return [*getattr(dependant.call, "rights", ()), *below]


def described_app(root: str, title: str, key: str, routers: Iterable[APIRouter], description: str = "") -> FastAPI:
    """The application of an interface with these routes, whose errors are problem details, described as OpenAPI.

    Args:
        root: the path of the interface, such as "/v1".
        title: its title.
        key: what the description says about a key.
        routers: its routes.
        description: its description.
    """
    app = FastAPI(
        title=title,
        version=__version__,
        description=description,
        responses=PROBLEMS,
        docs_url=None,  # their pages load scripts from other sites
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(HTTPBearer(auto_error=False, description=key))],
        servers=[{"url": root}],
        root_path_in_servers=False,
    )
    for router in routers:
        app.include_router(router)
    _add_handlers(app)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # as FastAPI documents it
    return app


def _add_handlers(app: FastAPI) -> None:
    """Answer every error with problem details."""

    @app.exception_handler(SlowwaveError)
    def _(_: Request, error: SlowwaveError) -> Response:
        return problem_of(error)

    @app.exception_handler(RequestValidationError)
    def _(_: Request, error: RequestValidationError) -> Response:
        errors = [_told(one) for one in error.errors()[:ERRORS_SHOWN]]
        first = errors[0] if errors else {"at": "body", "says": "it cannot be read"}
        return problem(INVALID, f"{first['at']}: {first['says']}", errors=errors)

    @app.exception_handler(HTTPException)
    def _(request: Request, error: HTTPException) -> Response:
        detail, headers = str(error.detail), dict(error.headers or {})
        if error.status_code == HTTPStatus.NOT_FOUND:
            detail = f"there is no such address: {request.scope.get('root_path', '')}/openapi.json lists all"
        elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["allow"] = ", ".join(sorted(_allowed(app, request))) or headers.get("allow", "")
            detail = f"this address takes {headers['allow']}"
        answer = problem(status_kind(error.status_code, str(error.detail)), detail)
        answer.headers.update(headers)
        return answer

    @app.exception_handler(Exception)
    def _(_: Request, __: Exception) -> Response:
        return problem(UNEXPECTED, "the log of the server has the error; what was acknowledged is kept")


def _told(error: Mapping[str, Any]) -> dict[str, str]:
    """One thing that is wrong with a request: where it is, and what is wrong."""
    place = error["loc"]
    if error["type"] == "json_invalid":
        return {"at": str(place[0]), "says": f"it is not valid JSON: {error['ctx']['error']}, at character {place[1]}"}
    return {"at": "/".join(map(str, place)), "says": str(error["msg"])}


def _allowed(app: FastAPI, request: Request) -> set[str]:
    """The methods of all described routes of a path. The framework names only those of the first."""
    path = request.url.path.removeprefix(request.scope.get("root_path", ""))
    found = [methods for known, methods in app.openapi()["paths"].items() if compile_path(known)[0].match(path)]
    return {method.upper() for methods in found for method in methods}


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
