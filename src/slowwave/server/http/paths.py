"""Admits a request before anything of it is read, and keeps the parts of its path apart."""

from typing import Final
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from slowwave.errors import SlowwaveError
from slowwave.server.access.door import Door
from slowwave.server.access.problems import problem_of

OPEN: Final = frozenset({"/openapi.json"})
"""Paths that need no key: they contain nothing of the store."""
OWN: Final = "%own"
"""In place of a scope: that of the key. No encoded scope begins so, because %ow is no byte."""
WITH_SCOPE: Final = frozenset(
    {
        *(
            "messages",
            "conversations",
            "facts",
            "search",
            "context",
            "notes",
            "consolidate",
            "sleep",
            "jobs",
            "imports",
        ),
        *("runs", "plans", "review", "status", "health", "cost", "plots", "erase"),
    }
)
"""The first parts of paths that belong to a scope; without one they mean the scope of the key."""


class Admission:
    """Finds the visitor of a request, and lets routes see the path as it was sent.

    A server decodes the path, so that "acme%2Falice" and "acme/alice" become equal. Here a scope is one part of the path:
    routes see it undecoded, and decode each part once.

    Args:
        app: the application behind it, which finds the visitor in `request.state.visitor`.
        door: admits requests.
    """

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 401."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        root: str = scope.get("root_path", "")
        raw: bytes = scope.get("raw_path") or quote(scope["path"], safe="/%:@!$&'()*+,;=~-._").encode()
        path = raw.decode("ascii", "replace").partition("?")[0].removeprefix(root)
        state = dict(scope.get("state") or {})
        if path not in OPEN:
            try:
                header = Headers(scope=scope).get("authorization")
                state["visitor"] = await run_in_threadpool(self._door.visitor, header)
            except SlowwaveError as error:
                await problem_of(error)(scope, receive, send)
                return
        first = path.removeprefix("/").partition("/")[0].partition(":")[0]
        whole = f"/scopes/{OWN}{path}" if first in WITH_SCOPE else path
        await self._app({**scope, "path": f"{root}{whole}", "state": state}, receive, send)
