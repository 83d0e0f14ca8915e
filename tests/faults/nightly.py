"""A worker process with a clock that the test sets; started by test_workers."""

import sys
import threading
import time
from datetime import UTC, datetime
from itertools import count

from slowwave import AgentMemory
from slowwave.testing import FrozenClock
from slowwave.worker import Worker


def main(address: str, at: str, most: str = str(sys.maxsize)) -> None:
    """Work with a clock that stands at a time. After so many passes are told, further ones stay under way."""
    clock = FrozenClock(datetime.fromtimestamp(float(at), UTC))
    with AgentMemory.open(address, scope="keeper", llm=None, embedder="none", clock=clock) as memory:
        ended = count(1)

        def on_scope(scope: str, *_: object) -> None:
            if next(ended) > int(most):
                threading.Event().wait()
            sys.stdout.write(f"{scope}\n")
            sys.stdout.flush()

        with Worker(memory, address, at_once=16, on_progress=on_scope) as worker:
            while True:
                worker.look()
                time.sleep(0.5)


if __name__ == "__main__":
    main(*sys.argv[1:])
