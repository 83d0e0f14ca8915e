"""One request of a browser: its key, its scope, its form token, and the page that it gets."""

import hmac
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_bytes, token_urlsafe
from threading import Lock
from time import monotonic
from typing import Final
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment

from slowwave.agent_memory import AgentMemory
from slowwave.errors import InputError
from slowwave.model.access import Right
from slowwave.server.access.authentication import Authenticator, Caller
from slowwave.server.access.errors import ForbiddenError
from slowwave.server.dashboard.templating import create_environment
from slowwave.server.work.jobs import Jobs
from slowwave.server.work.plans import Plans

COOKIE: Final = "slowwave-session"
SESSION_LENGTH: Final = 43
"""Characters of 32 random bytes in base 64."""
SIGNED_IN: Final = 12 * 3600.0
"""Seconds until a browser has to sign in again."""
SESSIONS_MOST: Final = 1000
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
    ("/passes", "Sleep passes"),
    ("/context", "Context"),
    ("/conversations", "Conversations"),
    ("/pages", "Topic pages"),
    ("/review", "Review"),
    ("/scopes", "Scopes"),
)


class Sessions:
    """The keys of the browsers that signed in, by session. They are kept in RAM: a restart signs everybody out.

    The key is looked up in the store at each request, so that a revoked key ends its sessions. Threads may share one object.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._secrets: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def sign_in(self, session: str, secret: str) -> None:
        """Join the secret of a key to a session, for 12 hours. If there are too many, the key with the most loses its oldest."""
        with self._lock:
            self._secrets[session] = (secret, monotonic() + SIGNED_IN)
            if len(self._secrets) > SESSIONS_MOST:
                counts = Counter(held for held, _ in self._secrets.values())
                most = max(counts, key=lambda held: counts[held])
                del self._secrets[next(one for one, (held, _) in self._secrets.items() if held == most)]

    def sign_out(self, session: str) -> None:
        """End a session."""
        with self._lock:
            self._secrets.pop(session, None)

    def secret(self, session: str) -> str | None:
        """The secret that was joined to a session; None if there is none, or if it was too long ago."""
        with self._lock:
            secret, until = self._secrets.get(session, ("", 0.0))
        return secret if until > monotonic() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DashboardState:
    """What all requests share.

    Attributes:
        authenticator: finds the key of a request, and opens memories.
        jobs: the sleep passes that run on threads.
        plans: the plans that wait to be applied.
        scope: the scope that is shown first; None: the prefix of the key, else "default".
        sessions: the keys of the browsers that signed in.
        key: of the form tokens; made when the server starts.
        templates: the templates of the pages.
    """

    authenticator: Authenticator
    jobs: Jobs
    plans: Plans
    scope: str | None = None
    sessions: Sessions = field(default_factory=Sessions)
    key: bytes = field(default_factory=lambda: token_bytes(32), repr=False)
    templates: Environment = field(default_factory=create_environment, repr=False)


class Visit:
    """One request of a browser. It opens the memory of its scope, checks rights and form tokens, and prints templates."""

    def __init__(self, state: DashboardState, request: Request) -> None:
        self.state = state
        self.request = request
        known = request.cookies.get(COOKIE, "")
        self.is_new = not (len(known) == SESSION_LENGTH and known.isascii())
        self.session = token_urlsafe(32) if self.is_new else known
        self._caller: Caller | None = None

    def renew(self) -> None:
        """Begin a new session, so that knowing the old one does not give the rights of the key that signs in now."""
        self.state.sessions.sign_out(self.session)
        self.session, self.is_new, self._caller = token_urlsafe(32), True, None

    @property
    def caller(self) -> Caller:
        """The holder of the key of this browser.

        Raises:
            UnauthorizedError: it did not sign in, and a key is needed.
        """
        if self._caller is None:
            secret = self.state.sessions.secret(self.session)
            self._caller = (
                self.state.authenticator.caller(None) if secret is None else self.state.authenticator.holder(secret)
            )
        return self._caller

    @property
    def home(self) -> str:
        """The scope that is shown if an address names none."""
        return self.state.scope or self.caller.own_scope

    @property
    def scope(self) -> str:
        """The scope of this request."""
        return self.caller.check_scope(self.request.query_params.get("scope") or self.home)

    @property
    def is_signed_in(self) -> bool:
        """Whether this browser uses a key."""
        return self.state.sessions.secret(self.session) is not None

    def memory(self, *rights: Right) -> AgentMemory:
        """The memory of the scope, for a request that uses these rights.

        Raises:
            UnauthorizedError: the browser did not sign in, and a key is needed.
            ForbiddenError: the key does not have a right, or does not open the scope.
            InputError: the scope is not a path.
        """
        return self.caller.memory(self.scope, *rights)

    @property
    def zone(self) -> str:
        """The name of the zone in which times of changes are shown."""
        return self.memory().ports.config.zone or "UTC"

    def may(self, right: Right) -> bool:
        """Whether this browser may use a right; templates leave out what it may not."""
        return self.caller.may(right)

    @property
    def token(self) -> str:
        """The form token of this browser, which no page of another site can know."""
        return hmac.new(self.state.key, self.session.encode(), sha256).hexdigest()

    def act(self, token: str, *rights: Right) -> AgentMemory:
        """Check the token of a form. Returns the memory of the scope, for an action that uses these rights.

        Raises:
            ForbiddenError: the form is not from a page of this browser, or the key lacks a right.
        """
        self.check_token(token)
        return self.memory(*rights)

    def check_token(self, token: str) -> None:
        """Raise ForbiddenError unless the form is from a page of this browser."""
        if self.is_new or not hmac.compare_digest(token.encode(), self.token.encode()):
            raise ForbiddenError("the form is out of date: load its page again and repeat the action")

    def link(self, path: str, **query: object) -> str:
        """The address of a page in this scope. A query without a value is left out."""
        given = {name: str(value) for name, value in query.items() if value not in (None, "", False)}
        asked = self.request.query_params.get("scope")
        if asked:
            given["scope"] = asked
        return f"{quote(path)}?{urlencode(given)}" if given else quote(path)

    def render(self, template: str, /, *, code: int = 200, **values: object) -> HTMLResponse:
        """A page from a template."""
        page = self.state.templates.get_template(template).render(
            visit=self,
            here=self.request.url.path,
            navigation=NAVIGATION,
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
