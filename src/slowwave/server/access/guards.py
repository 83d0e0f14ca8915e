"""ASGI layers around every interface: the names of the server, the origin of pages, and the size of bodies."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from slowwave.server.access.problems import FOREIGN_ORIGIN, MISDIRECTED, TOO_LARGE, problem

BODY_MOST: Final = 4 * 1024 * 1024
"""Bytes of a request body."""
IMPORT_MOST: Final = 1024 * 1024 * 1024
"""Bytes of a file to import, which is written to disk and not kept in memory."""
CALL_MOST: Final = 64 * 1024 * 1024
"""Bytes of a call to a model through the proxy, which may contain pictures."""
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


def _limit(path: str) -> tuple[int, str]:
    """The most bytes of a body that is sent to a path, and what to do with a larger one."""
    if path.startswith("/proxy/"):
        return CALL_MOST, "send fewer messages, pictures or files in one call"
    if path.endswith("/imports"):
        return IMPORT_MOST, "import it in several files"
    return BODY_MOST, "send it in parts, or import a file"


class TooLargeError(Exception):
    """More bytes came than the limit allows. It ends the reading of the body, and the guard answers."""


class BodyGuard:
    """Refuses bodies over a limit, before they are read if their length is known; and adds headers for browsers.

    Args:
        app: the application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, instead = _limit(scope["path"])
        refusal = problem(TOO_LARGE, f"the body has more than {most:,} bytes: {instead}")
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length[:20]) > most:
            await refusal(scope, receive, send)
            return
        seen, begun, too_large = 0, False, False

        async def counted() -> Message:
            nonlocal seen, too_large
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
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
            await self._app(scope, counted, safe)
        if too_large and not begun:
            await refusal(scope, receive, send)
