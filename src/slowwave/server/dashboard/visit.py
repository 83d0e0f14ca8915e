"""One request of a browser: its scope, its memory, its form token, and the page that it gets."""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Protocol
from urllib.parse import quote, urlencode

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment

from slowwave.agent_memory import AgentMemory
from slowwave.errors import InputError
from slowwave.model.scope import checked_scope, names_of
from slowwave.server.dashboard.passes import Passes
from slowwave.server.dashboard.templating import create_environment
from slowwave.whole_store import Slowwave

COOKIE: Final = "slowwave-session"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of every page: nothing from another origin, and no script or style inside a page."""
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
NAVIGATION: Final = (
    ("/", "Today"),
    ("/memories", "Memories"),
    ("/nights", "Nights"),
    ("/context", "Context"),
    ("/conversations", "Conversations"),
    ("/pages", "Topic pages"),
    ("/review", "Review"),
    ("/scopes", "Scopes"),
)


class Gate(Protocol):
    """What a browser may do. `None` in place of a gate means: everything, as for a person on the same machine."""

    def may(self, session: str, right: str, scope: str) -> bool:
        """Whether the session of a browser has a right ("read", "write", "review", "erase", "admin") in a scope."""

    def sign_in(self, session: str, key: str) -> bool:
        """Join a key to the session of a browser. Returns whether the key is valid."""

    def sign_out(self, session: str) -> None:
        """End the session of a browser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What all requests share: the store, the default scope, the plans that wait, the secret of the form tokens."""

    store: Slowwave
    scope: str
    read_only: bool = False
    gate: Gate | None = None
    passes: Passes = field(default_factory=Passes)
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    templates: Environment = field(default_factory=create_environment, repr=False)


class Visit:
    """One request. It opens the memory of its scope, checks rights and tokens, and prints templates."""

    def __init__(self, desk: Desk, request: Request) -> None:
        self.desk = desk
        self.request = request
        self.scope = checked_scope(request.query_params.get("scope") or desk.scope)
        known = request.cookies.get(COOKIE, "")
        self.session = known if len(known) == 43 and known.isascii() else secrets.token_urlsafe(32)  # noqa: PLR2004 - 32 bytes
        self.is_new = self.session != known

    @property
    def memory(self) -> AgentMemory:
        """The memory of the scope. Nothing is read until a method of it is called."""
        return self.desk.store.within(*names_of(self.scope))

    @property
    def token(self) -> str:
        """The form token of this browser: no page of another origin can know it."""
        return hmac.new(self.desk.secret, self.session.encode(), sha256).hexdigest()

    def may(self, right: str, scope: str | None = None) -> bool:
        """Whether this browser has a right in a scope; None: its own."""
        if self.desk.read_only and right != "read":
            return False
        gate = self.desk.gate
        return gate is None or gate.may(self.session, right, self.scope if scope is None else scope)

    def need(self, right: str) -> None:
        """Check a right.

        Raises:
            HTTPException: 401 if the browser is not signed in, 403 if its key lacks the right.
        """
        if self.may(right):
            return
        signed_in = self.may("read")
        if self.desk.gate is not None and not signed_in:
            raise HTTPException(401, "sign in with a key for this scope")
        raise HTTPException(403, f"this needs the right {right!r}, which is not given here")

    def check_form(self, token: str, right: str) -> None:
        """Check the token of a form, then the right.

        Raises:
            HTTPException: 403 if the form is not of this browser's page.
        """
        if self.is_new or not hmac.compare_digest(token.encode(), self.token.encode()):
            raise HTTPException(403, "the form is out of date: load its page again and repeat the action")
        self.need(right)

    def link(self, path: str, **query: object) -> str:
        """The address of a page in this scope. A query without a value is left out."""
        given = {name: str(value) for name, value in query.items() if value not in (None, "", False)}
        if self.scope != self.desk.scope:
            given["scope"] = self.scope
        return f"{quote(path)}?{urlencode(given)}" if given else quote(path)

    def render(self, template: str, /, *, code: int = 200, **values: object) -> HTMLResponse:
        """A page from a template."""
        page = self.desk.templates.get_template(template).render(
            visit=self,
            here=self.request.url.path,
            navigation=NAVIGATION,
            now=self.memory.ports.now(),
            **values,
        )
        response = HTMLResponse(page, code, headers=HEADERS)
        if self.is_new:
            self._set_cookie(response)
        return response

    def go(self, path: str, **query: object) -> RedirectResponse:
        """An answer that sends the browser to a page by GET, so that loading it again repeats nothing."""
        response = RedirectResponse(self.link(path, **query), 303, headers=HEADERS)
        if self.is_new:
            self._set_cookie(response)
        return response

    def _set_cookie(self, response: HTMLResponse | RedirectResponse) -> None:
        secure = self.request.url.scheme == "https"
        response.set_cookie(COOKIE, self.session, httponly=True, samesite="strict", secure=secure, path="/")


def checked_number(value: str, name: str, least: int, most: int, default: int) -> int:
    """A number of a query.

    Raises:
        InputError: it is not an integer within the bounds.
    """
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or not least <= int(value[:9]) <= most:
        raise InputError(f"{name} must be a whole number from {least} to {most}")
    return int(value)


def counts_by_phase(counts: Mapping[tuple[str, str], int], kinds: tuple[str, ...], *phases: str) -> int:
    """How many memories of these kinds are in these phases."""
    return sum(counts.get((kind, phase), 0) for kind in kinds for phase in phases)
