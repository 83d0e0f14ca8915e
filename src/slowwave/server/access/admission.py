"""Admits a request before anything of it is read, and keeps the parts of its path apart."""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from slowwave.errors import SlowwaveError
from slowwave.server.access.authentication import Authenticator, Caller
from slowwave.server.access.problems import problem_of

OPEN: Final = frozenset({"/openapi.json"})
"""Paths that need no key: they contain nothing of the store."""


class RawPaths:
    """Lets routes see the path as it was sent.

    A server decodes the path, so that "acme%2Falice" and "acme/alice" become equal. Here a name is one part of the path:
    routes see the path undecoded, and decode each part once.

    Args:
        app: the application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "http":
            raw: bytes = scope.get("raw_path") or quote(scope["path"], safe="/%:@!$&'()*+,;=~-._").encode()
            scope = {**scope, "path": raw.decode("ascii", "replace").partition("?")[0]}
        await self._app(scope, receive, send)


class DecodedPaths:
    """Lets the routes of an application behind `RawPaths` see the decoded path, as they would without it.

    The paths of the dashboard end with the name of a conversation, which may contain a slash: its parts need not stay apart.

    Args:
        app: the application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "http":
            scope = {**scope, "path": unquote(scope["path"])}
        await self._app(scope, receive, send)


class Admission:
    """Finds the caller of a request before anything of it is read.

    Args:
        app: the application behind it, which finds the caller in `request.state.caller`.
        authenticator: admits requests.
        whole: called with a path that may be a short form; returns the path of a route.
        shared: what routes find in `request.state` besides the caller.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator,
        whole: Callable[[str], str] = str,
        shared: Mapping[str, object] | None = None,
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._whole = whole
        self._shared = dict(shared or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 401."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        root: str = scope.get("root_path", "")
        path = str(scope["path"]).removeprefix(root)
        state = {**(scope.get("state") or {}), **self._shared}
        if path not in OPEN:
            try:
                header = Headers(scope=scope).get("authorization")
                state["caller"] = await run_in_threadpool(self._authenticator.caller, header)
            except SlowwaveError as error:
                await problem_of(error)(scope, receive, send)
                return
        await self._app({**scope, "path": f"{root}{self._whole(path)}", "state": state}, receive, send)


def caller_of(request: Request) -> Caller:
    """Who sends the request, as the admission found."""
    caller: Caller = request.state.caller
    return caller


def decoded(part: object) -> object:
    """A part of a path as it was meant; routes see it as it was sent."""
    return unquote(part, errors="strict") if isinstance(part, str) else part
