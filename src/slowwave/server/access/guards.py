"""ASGI layers around every interface: the names of the server, the origin of pages, and the size of bodies."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slowwave.server.access.problems import AMBIGUOUS, FOREIGN_ORIGIN, MISDIRECTED, TOO_LARGE, problem

BODY_MOST: Final = 4 * 1024 * 1024
"""Bytes of a request body."""
IMPORT_MOST: Final = 1024 * 1024 * 1024
"""Bytes of a file to import, which is written to disk and not kept in memory."""
CALL_MOST: Final = 64 * 1024 * 1024
"""Bytes of a call to a model through the proxy, which may contain pictures."""
_LIMIT: Final = "slowwave.body_limit"
"""Where the scope of a request has its `BodyLimit`; copies of the scope share it."""
_SAFE: Final = (("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"))


class HostGuard:
    """Refuses requests for names that the server does not have, and requests of pages of other sites.

    A page of another site may point a name of its own at this machine (DNS rebinding) and then read what the server
    returns. Its requests carry that name. An IP address cannot be rebound, so every address is accepted.

    Args:
        app: the application behind it.
        names: the names of the server besides "localhost", without a port, in any case.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str] = ()) -> None:
        self._app = app
        self._names: Collection[str] = frozenset({"localhost", *(name.lower().rstrip(".") for name in names)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 421 or 403."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_ours(host):
            answer = problem(
                MISDIRECTED, f"the server does not have the name {host[:80]!r}: add it to the names of the server"
            )
            await answer(scope, receive, send)
        elif origin is not None and not self._is_same(origin, host):
            answer = problem(FOREIGN_ORIGIN, f"a page of {origin[:80]!r} may not send requests to {host[:80]!r}")
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        name = _name(host)
        if name is None:
            return False
        try:
            ip_address(name)
        except ValueError:
            return name in self._names
        return True

    def _is_same(self, origin: str, host: str) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()


def _name(host: str) -> str | None:
    """The name of a header Host, without its port; None if it is no name."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    if parts.username is not None or parts.path or parts.query or parts.fragment:
        return None
    return (parts.hostname or "").rstrip(".") or None


@dataclass(slots=True)
class BodyLimit:
    """The most bytes of the body of one request, and what to do with a larger one."""

    most: int = BODY_MOST
    instead: str = "send it in parts, or import a file without an Idempotency-Key"


def allow_body(scope: Scope, most: int, instead: str) -> None:
    """Let the route of a request read a larger body. It calls this when it has checked the rights, and before it reads.

    The route decides, and not the text of the path: a note can be named like any route.
    """
    limit: BodyLimit = scope[_LIMIT]
    limit.most, limit.instead = most, instead


class TooLargeError(Exception):
    """More bytes came than the limit allows. It ends the reading of the body, and the guard answers."""


class BodyGuard:
    """Refuses bodies over a limit, and requests with two lengths; and adds headers for browsers.

    A body is refused when the route begins to read it, if its length is known, else when more has come than the limit.

    Args:
        app: the application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 413 or 400."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, limit = Headers(scope=scope), BodyLimit()
        length = headers.get("content-length", "")
        if length and "transfer-encoding" in headers:
            # a server before this one may believe the other length, and take a part of the body for a request
            answer = problem(AMBIGUOUS, "the request has both Content-Length and Transfer-Encoding: send one of them")
            answer.headers["connection"] = "close"
            await answer(scope, receive, send)
            return
        declared = int(length[:20]) if length.isdecimal() else 0
        seen, begun, too_large = 0, False, False

        async def counted() -> Message:
            nonlocal seen, too_large
            message = await receive() if declared <= limit.most else None
            seen += 0 if message is None else len(message.get("body", b""))
            if message is None or seen > limit.most:
                too_large = True
                raise TooLargeError
            return message

        async def safe(message: Message) -> None:
            nonlocal begun
            if too_large and not begun:  # an application may answer the error itself; the refusal follows
                return
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in _SAFE:
                    headers.setdefault(name, value)
            await send(message)

        with suppress(TooLargeError, ClientDisconnect):  # no client waits for an answer to half a body
            await self._app({**scope, _LIMIT: limit}, counted, safe)
        if too_large and not begun:
            refusal = problem(TOO_LARGE, f"the body has more than {limit.most:,} bytes: {limit.instead}")
            await refusal(scope, receive, send)
