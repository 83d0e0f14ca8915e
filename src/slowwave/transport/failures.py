"""Errors of the transport. Minds and embedders translate them into ModelError and EmbedderError."""

from slowwave.errors import PortError


class TransportError(PortError):
    """A call failed, and a retry would fail too. `sent` is False if no request was sent."""

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class TransientError(TransportError):
    """A call failed, and a retry may succeed. `after`: the server asks to wait this number of seconds before it."""

    def __init__(self, message: str, after: float | None = None, *, sent: bool = True) -> None:
        super().__init__(message, sent=sent)
        self.after = after


class RejectedError(TransportError):
    """The server refuses the request as invalid (status 400 or 422)."""
