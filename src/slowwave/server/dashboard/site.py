"""The dashboard as one application: its pages, its actions, its files, and the answers to errors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException

from slowwave.errors import BusyError, ConflictError, InputError, NotFoundError, SlowwaveError
from slowwave.model.scope import DEFAULT_SCOPE, checked_scope
from slowwave.server.dashboard import actions, pages
from slowwave.server.dashboard.pages import bare_visit
from slowwave.server.dashboard.visit import Desk, Gate
from slowwave.whole_store import Slowwave

STATUS: Final = ((NotFoundError, 404), (ConflictError, 409), (InputError, 400), (BusyError, 503))
"""The HTTP status of each class of error, the first that fits."""


def create_dashboard(
    store: Slowwave, *, scope: str = DEFAULT_SCOPE, read_only: bool = False, gate: Gate | None = None
) -> FastAPI:
    """The dashboard of a store, as an application that `slowwave serve` mounts.

    Args:
        store: the open store. The caller closes it.
        scope: the scope that is shown first.
        read_only: refuse every action.
        gate: what a browser may do; None: everything, for a server that only this machine reaches.

    Raises:
        InputError: the scope is invalid.
    """
    desk = Desk(store=store, scope=checked_scope(scope), read_only=read_only, gate=gate)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.passes.close()

    application = FastAPI(
        title="Slowwave dashboard", openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    application.state.desk = desk
    application.include_router(pages.router)
    application.include_router(actions.router)
    application.mount("/static", StaticFiles(directory=str(files(__package__).joinpath("static"))), name="static")
    application.add_api_route("/sign-in", _sign_in_page, methods=["GET"], include_in_schema=False)
    application.add_exception_handler(SlowwaveError, _library_error)
    application.add_exception_handler(StarletteHTTPException, _http_error)
    application.add_exception_handler(RequestValidationError, _invalid_request)
    return application


def _sign_in_page(request: Request) -> HTMLResponse:
    return bare_visit(request).render("sign_in.html", problem="")


async def _library_error(request: Request, error: Exception) -> HTMLResponse:
    """The page of an error of the library: its sentence, which says what to do."""
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    return _error_page(request, status, str(error))


async def _http_error(request: Request, error: Exception) -> HTMLResponse:
    """The page of a refused request; without a session, the page to sign in."""
    if not isinstance(error, StarletteHTTPException):
        raise error
    if error.status_code == 401:  # noqa: PLR2004 - the status itself
        return _visit_or_default(request, "sign_in.html", 401, problem="")
    return _error_page(request, error.status_code, str(error.detail))


async def _invalid_request(request: Request, error: Exception) -> HTMLResponse:
    del error
    return _error_page(request, 400, "a value of this address or form is too long or invalid: go back and correct it")


def _error_page(request: Request, status: int, sentence: str) -> HTMLResponse:
    return _visit_or_default(request, "error.html", status, sentence=sentence, number=status)


def _visit_or_default(request: Request, template: str, code: int, **values: object) -> HTMLResponse:
    """A page in the scope of the request, or in the default scope if that of the request is invalid."""
    try:
        found = bare_visit(request)
    except InputError:
        scope = dict(request.scope, query_string=b"")
        found = bare_visit(Request(scope))
    return found.render(template, code=code, **values)


__all__ = ["create_dashboard"]
