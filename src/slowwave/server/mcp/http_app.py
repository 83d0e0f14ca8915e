"""MCP over HTTP (Streamable HTTP): the application that `slowwave serve` has under `/mcp`."""

from collections.abc import Callable
from typing import Any, Final

from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from slowwave.errors import SlowwaveError
from slowwave.server.mcp.server import Opened, Profile, build_server

SCOPE_NAME: Final = "scope"
"""The parameter of the address that names a scope: `/mcp?scope=acme/alice`."""
_OPENED: Final = "slowwave.opened"

Admit = Callable[[str | None, str | None], Opened]
"""Finds what a request may use, of its header Authorization and of the scope in its address, each None if there is none.

It raises a SlowwaveError for a key that is missing or wrong, and for a scope that the key does not open.
"""
Refuse = Callable[[SlowwaveError], Response]
"""The answer to a request that is not admitted."""


def build_http_app(
    admit: Admit, refuse: Refuse, *, path: str = "/mcp", read_only: bool = False, profile: Profile = "memory"
) -> Starlette:
    """The application. Each request is admitted by itself: no state is kept between requests.

    The caller checks the header Host before, and runs this application's lifespan:
    `async with app.router.lifespan_context(app): ...`.

    Args:
        admit: finds what a request may use. It runs on a thread.
        refuse: makes the answer of an error that `admit` raises.
        path: the path of the application.
        read_only: leave out the tools that write.
        profile: which tools are served.
    """
    server = build_server(_opened, read_only=read_only, profile=profile)
    app = server.streamable_http_app(
        streamable_http_path=path,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.add_middleware(_Admission, admit=admit, refuse=refuse)
    return app


class _Admission:
    """Admits each request before the protocol sees it."""

    def __init__(self, app: ASGIApp, *, admit: Admit, refuse: Refuse) -> None:
        self._app = app
        self._admit = admit
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an admitted request on with what it may use."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        authorization = Headers(scope=scope).get("authorization")
        wanted = QueryParams(scope["query_string"]).get(SCOPE_NAME)
        try:
            opened = await to_thread.run_sync(self._admit, authorization, wanted)
        except SlowwaveError as error:
            await self._refuse(error)(scope, receive, send)
            return
        await self._app({**scope, _OPENED: opened}, receive, send)


def _opened(context: ServerRequestContext[Any, Any]) -> Opened:
    """What the HTTP request of a message may use."""
    opened = context.request.scope[_OPENED] if context.request is not None else None
    assert isinstance(opened, Opened)
    return opened
