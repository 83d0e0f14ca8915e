"""Errors as problem details (RFC 9457): one type for each class of error, the same in all interfaces over HTTP."""

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from starlette.responses import Response

from slowwave.errors import (
    BusyError,
    ClosedError,
    ConflictError,
    DisconnectedError,
    DiskFullError,
    InputError,
    NotFoundError,
    PortError,
    ReadOnlyError,
    ReusedNameError,
    SlowwaveError,
    StoreError,
    TrustError,
    VersionError,
)
from slowwave.server.access.errors import ForbiddenError, OverloadedError, UnauthorizedError, UnsupportedError

MEDIA_TYPE: Final = "application/problem+json"
TYPE: Final = "urn:slowwave:problem:"
"""Problem types begin so; docs/http.md lists them."""
RETRY_SECONDS: Final = "1"


class Kind(NamedTuple):
    """A problem type: its name, its status code and its title."""

    name: str
    status: int
    title: str


KINDS: Final[Mapping[type[SlowwaveError], Kind]] = {
    VersionError: Kind("changed-since", 412, "The content has changed since it was read"),
    ConflictError: Kind("conflict", 409, "The request conflicts with what is stored"),
    NotFoundError: Kind("not-found", 404, "There is nothing of this name"),
    TrustError: Kind("not-trusted", 403, "The key may not change what is trusted more"),
    ReusedNameError: Kind("reused-idempotency-key", 422, "The Idempotency-Key was used for another request"),
    InputError: Kind("invalid-value", 400, "A value is invalid"),
    UnauthorizedError: Kind("no-key", 401, "A valid key is needed"),
    ForbiddenError: Kind("forbidden", 403, "The key does not allow this"),
    OverloadedError: Kind("overloaded", 503, "The server has too much work waiting"),
    UnsupportedError: Kind("not-served", 501, "This request is not served"),
    BusyError: Kind("busy", 503, "Another process kept the store locked"),
    DisconnectedError: Kind("store-away", 503, "The server of the store cannot be reached now"),
    DiskFullError: Kind("disk-full", 507, "No space is left"),
    ReadOnlyError: Kind("read-only-store", 403, "The store cannot be written"),
    StoreError: Kind("store", 500, "The store failed"),
    PortError: Kind("model", 502, "A model or embedder failed"),
    ClosedError: Kind("closing", 503, "The server is closing"),
    SlowwaveError: Kind("error", 500, "The request failed"),
}
INVALID: Final = Kind("invalid-request", 422, "The request does not have the documented form")
TOO_LARGE: Final = Kind("too-large", 413, "The body is too large")
AMBIGUOUS: Final = Kind("two-lengths", 400, "The length of the body is not clear")
MISDIRECTED: Final = Kind("wrong-host", 421, "The server does not have this name")
FOREIGN_ORIGIN: Final = Kind("foreign-origin", 403, "Pages of other sites may not send requests")
UNEXPECTED: Final = Kind("unexpected", 500, "The server failed unexpectedly")


def kind_of(error: SlowwaveError) -> Kind:
    """The problem type of an error: that of its class, else of the nearest class above it."""
    return next(KINDS[cls] for cls in type(error).__mro__ if cls in KINDS)


def problem(kind: Kind, detail: str, **more: object) -> Response:
    """An error as a response."""
    body = {"type": f"{TYPE}{kind.name}", "title": kind.title, "status": kind.status, "detail": detail, **more}
    text = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(text, kind.status, _headers(kind.status), MEDIA_TYPE)


def problem_of(error: SlowwaveError) -> Response:
    """An error of the library or of the server as a response."""
    return problem(kind_of(error), str(error))


def status_kind(status: int, title: str) -> Kind:
    """The problem type of an error of the framework that only has a status code."""
    return Kind({404: "no-such-page", 405: "wrong-method"}.get(status, "http"), status, title)


def _headers(status: int) -> dict[str, str]:
    if status == 401:  # noqa: PLR2004 - the code
        return {"WWW-Authenticate": "Bearer"}
    return {"Retry-After": RETRY_SECONDS} if status == 503 else {}  # noqa: PLR2004 - the code
