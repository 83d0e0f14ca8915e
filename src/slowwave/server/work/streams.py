"""Streams of server-sent events: how many are open, and that they end when the server stops."""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from slowwave.server.work.shares import check_share

STREAMS_MOST: Final = 200
"""Streams of a process; more are refused. Each keeps a connection and looks at the store twice a second."""
ALIVE: Final = 15.0
"""Seconds without an event after which a comment keeps the connection open."""
COMMENT: Final = ": alive\n\n"
STREAM_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""No proxy stores a stream, or holds events back until it has more of them."""
STOPPED: Final = "the server stops: connect again"
"""Why a stream ends when the server does."""


class Streams:
    """The open streams of a process."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._ended = False  # no Event: `end` is called by a signal handler, which may not wait for a lock

    @property
    def have_ended(self) -> bool:
        """Whether the server stops, so that every stream ends."""
        return self._ended

    def end(self) -> None:
        """End all streams, so that the server does not wait for clients that stay connected."""
        self._ended = True

    def check_room(self, tenant: str) -> None:
        """Raise OverloadedError if too many streams are open, or too many of a tenant."""
        with self._lock:
            check_share("event streams are open", self._open.elements(), tenant, STREAMS_MOST)

    @contextmanager
    def one(self, tenant: str) -> Iterator[None]:
        """Count a stream while it is open."""
        with self._lock:
            self._open[tenant] += 1
        try:
            yield
        finally:
            with self._lock:
                self._open[tenant] -= 1
                self._open += Counter()  # without those that have none


def event_text(name: str, values: Mapping[str, object], number: int | None = None) -> str:
    """An event as it is sent. A client that connects again sends the last number that it has seen."""
    first = "" if number is None else f"id: {number}\n"
    return f"{first}event: {name}\ndata: {json.dumps(values, ensure_ascii=False)}\n\n"
