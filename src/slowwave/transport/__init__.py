"""The HTTP transport that models and embedders share: one deadline, no redirects, bounded replies, no secret in any message."""

from slowwave.transport.failures import RejectedError, TransientError, TransportError
from slowwave.transport.patience import Patience
from slowwave.transport.server import Server

__all__ = ["Patience", "RejectedError", "Server", "TransientError", "TransportError"]
