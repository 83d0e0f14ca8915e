"""Removes secrets from replies of servers and from the log records of the HTTP libraries."""

import logging
import weakref
from collections.abc import Iterable
from typing import Final

_MARK: Final = "…"
_LONG: Final = 16
"""Shorter secrets ("ollama", "none") are ordinary words: they are removed from errors and logs, not from answers."""


class Secrets:
    """The key and password of one server."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted({secret for secret in secrets if secret}, key=len, reverse=True)
        _FILTER.known.add(self)

    def removed(self, text: str) -> str:
        """The text without the secrets."""
        for secret in self._secrets:
            text = text.replace(secret, _MARK)
        return text

    def removed_from_body(self, body: bytes) -> bytes:
        """The body without the long secrets, which cannot occur in it by chance."""
        for secret in self._secrets:
            if len(secret) >= _LONG:
                body = body.replace(secret.encode(), _MARK.encode())
        return body


class _Filter(logging.Filter):
    """Rewrites log records that contain a known secret. At DEBUG, httpcore logs the headers of replies."""

    def __init__(self) -> None:
        super().__init__()
        self.known: weakref.WeakSet[Secrets] = weakref.WeakSet()

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record, without secrets."""
        message = clear = record.getMessage()
        for secrets in list(self.known):
            clear = secrets.removed(clear)
        if clear != message:
            record.msg, record.args = clear, ()
        return True


_FILTER: Final = _Filter()


def protect_logs() -> None:
    """Add the filter to the loggers that write replies of servers. Does nothing the second time."""
    for name in ("httpx2", "httpcore2.connection", "httpcore2.proxy", "httpcore2.http11"):
        logging.getLogger(name).addFilter(_FILTER)
