"""Errors of a server that are not errors of the library: a missing key, a missing right, work that is not accepted."""

from slowwave.errors import SlowwaveError


class UnauthorizedError(SlowwaveError):
    """The request has no valid key."""


class ForbiddenError(SlowwaveError):
    """The key of the request does not have the right, or does not open the scope."""


class OverloadedError(SlowwaveError):
    """The server has more work waiting than it accepts."""


class UnsupportedError(SlowwaveError):
    """The interface of another program has this request, and Slowwave does not serve it."""
