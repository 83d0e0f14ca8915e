"""Errors of the transport. Minds and embedders translate them into ModelError and EmbedderError."""

from slowwave.errors import PortError


class TransportError(PortError):
    """A call failed for a reason that stays. `sent` is False if no request left this machine."""

    def __init__(self, sentence: str, *, sent: bool = True) -> None:
        super().__init__(sentence)
        self.sent = sent


class TransientError(TransportError):
    """A failure that may pass. `after` is the number of seconds after which the server asks for the next try."""

    def __init__(self, sentence: str, after: float | None = None, *, sent: bool = True) -> None:
        super().__init__(sentence, sent=sent)
        self.after = after


class RejectedError(TransportError):
    """The server understood the request and does not serve it as it is (400, 422)."""
