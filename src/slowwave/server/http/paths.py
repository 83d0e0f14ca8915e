"""Paths of `/v1` that leave out the scope."""

from typing import Final

from slowwave.server.access.handlers import OWN

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
            "events",
            "imports",
        ),
        *("runs", "plans", "review", "status", "health", "cost", "plots", "erase"),
    }
)
"""The first parts of paths that belong to a scope; without one they mean the scope of the key."""


def whole_path(path: str) -> str:
    """The path of a route, for a path that may leave out the scope.

    >>> whole_path("/facts/a1"), whole_path("/scopes/acme/facts")
    ('/scopes/%own/facts/a1', '/scopes/acme/facts')
    """
    first = path.removeprefix("/").partition("/")[0].partition(":")[0]
    return f"/scopes/{OWN}{path}" if first in WITH_SCOPE else path
