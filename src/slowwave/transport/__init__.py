"""The HTTP client of models and embedders: one deadline a call, no redirects, a size limit, no secrets in errors."""

from slowwave.transport.failures import RejectedError, TransientError, TransportError
from slowwave.transport.patience import RetryPolicy
from slowwave.transport.server import Server

__all__ = ["RejectedError", "RetryPolicy", "Server", "TransientError", "TransportError"]
