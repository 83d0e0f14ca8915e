"""The HTTP port of a worker for the probes of an orchestrator."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory

LOOKS_MISSED: Final = 5
"""Looks that a worker may miss before `/healthz` says that it has stopped."""
SHORTEST: Final = 60.0
"""Seconds that pass at least before it says so: a look may wait for a server that restarts."""


@contextmanager
def answering_probes(port: int | None, memory: "AgentMemory", pause: float) -> Iterator[Callable[[], None]]:
    """Answer `/healthz` and `/readyz` during the block; without a port nothing is opened.

    Args:
        port: the port, or None.
        memory: an open memory of the store that `/readyz` looks at.
        pause: seconds between two looks of the worker.

    Yields:
        A function to call at each look, to show that the worker is alive.
    """
    if port is None:
        yield lambda: None
        return
    from slowwave.pipelines.admin.fleet import ready  # noqa: PLC0415 - only with the option
    from slowwave.probes import Heartbeat, serve  # noqa: PLC0415 - as above

    heart = Heartbeat(max(SHORTEST, LOOKS_MISSED * pause))
    with serve(port, heart.healthy, lambda: ready(memory.ports)):
        yield heart.beat
