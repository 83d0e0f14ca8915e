"""The dashboard as one application: its pages, its actions, its files, and the answers to errors."""

from importlib.resources import files
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from slowwave.errors import SlowwaveError
from slowwave.server.access.authentication import Authenticator
from slowwave.server.access.errors import UnauthorizedError
from slowwave.server.access.problems import kind_of, problem, status_kind
from slowwave.server.dashboard import actions, pages
from slowwave.server.dashboard.pages import bare_visit
from slowwave.server.dashboard.visit import HEADERS, DashboardState
from slowwave.server.work.jobs import Jobs
from slowwave.server.work.plans import Plans

INVALID: Final = "a value of this address or form is too long or invalid: go back and correct it"


def build_dashboard(authenticator: Authenticator, jobs: Jobs, plans: Plans, *, scope: str | None = None) -> FastAPI:
    """The dashboard of a store, as an application that `slowwave serve` mounts at `/`.

    Args:
        authenticator: finds the key of a request, and opens memories.
        jobs: the jobs of the process.
        plans: the plans that wait to be applied.
        scope: the scope that is shown first; None: the prefix of the key, else "default".
    """
    application = FastAPI(title="Slowwave dashboard", openapi_url=None, docs_url=None, redoc_url=None)
    application.state.dashboard = DashboardState(authenticator=authenticator, jobs=jobs, plans=plans, scope=scope)
    application.include_router(pages.router)
    application.include_router(actions.router)
    application.add_api_route("/sign-in", _sign_in_page, methods=["GET"], include_in_schema=False)
    application.mount("/static", StaticFiles(directory=str(files(__package__).joinpath("static"))), name="static")
    application.add_exception_handler(SlowwaveError, _library_error)
    application.add_exception_handler(HTTPException, _http_error)
    application.add_exception_handler(RequestValidationError, _invalid_request)
    return application


def _sign_in_page(request: Request) -> HTMLResponse:
    return bare_visit(request).render("sign_in.html", problem="")


async def _library_error(request: Request, error: Exception) -> HTMLResponse:
    """The page of an error of the library: its sentence, which says what to do. Without a key: the page to sign in."""
    if isinstance(error, UnauthorizedError):
        return bare_visit(request).render("sign_in.html", code=401, problem="")
    if not isinstance(error, SlowwaveError):
        raise error
    kind = kind_of(error)
    return _error_page(request, kind.status, kind.title, str(error))


async def _http_error(request: Request, error: Exception) -> Response:
    """The page of a refused request, such as one for an unknown address; problem details for a program."""
    if not isinstance(error, HTTPException):
        raise error
    if "text/html" not in request.headers.get("accept", ""):
        return problem(status_kind(error.status_code, error.detail), error.detail)
    return _error_page(request, error.status_code, str(error.detail), "check the address, or begin at Today")


async def _invalid_request(request: Request, error: Exception) -> HTMLResponse:
    del error
    return _error_page(request, 400, "A value is invalid", INVALID)


def _error_page(request: Request, code: int, title: str, sentence: str) -> HTMLResponse:
    """A page that needs no scope and no key, because either may be what is wrong."""
    template = bare_visit(request).state.templates.get_template("error.html")
    return HTMLResponse(template.render(title=title, sentence=sentence), code, headers=HEADERS)
