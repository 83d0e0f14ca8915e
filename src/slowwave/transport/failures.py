"""Errors of the transport. Minds and embedders translate them into ModelError and EmbedderError."""

from slowwave.errors import PortError


class TransportError(PortError):
    """A call failed, and a retry would fail too.

    Args:
        message: the sentence for the caller; it may quote the server.
        sent: False if no request was sent.
        limited: seconds for which the server is not to be called, because it limits calls; None for any other failure.
    """

    def __init__(self, message: str, *, sent: bool = True, limited: float | None = None) -> None:
        super().__init__(message)
        self.sent = sent
        self.limited = limited


class TransientError(TransportError):
    """A call failed, and a retry may succeed.

    Args:
        message: the sentence for the caller; it may quote the server.
        after: the server asks to wait this number of seconds before a retry.
        sent: False if no request was sent.
        cause: the address and the kind of failure, for logs: it never quotes the server, which may repeat a prompt.
        limited: as of `TransportError`.
    """

    def __init__(
        self,
        message: str,
        after: float | None = None,
        *,
        sent: bool = True,
        cause: str = "a request",
        limited: float | None = None,
    ) -> None:
        super().__init__(message, sent=sent, limited=limited)
        self.after = after
        self.cause = cause


class RejectedError(TransportError):
    """The server refuses this request as invalid or too large (status 400, 413 or 422)."""
