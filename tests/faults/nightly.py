"""A worker process with a clock that the test sets; started by test_workers."""

import sys
import time
from datetime import UTC, datetime

from slowwave import AgentMemory
from slowwave.testing import FrozenClock
from slowwave.worker import Worker


def main(address: str, at: str) -> None:
    clock = FrozenClock(datetime.fromtimestamp(float(at), UTC))
    with AgentMemory.open(address, scope="keeper", llm=None, embedder="none", clock=clock) as memory:

        def on_scope(scope: str, *_: object) -> None:
            sys.stdout.write(f"{scope}\n")
            sys.stdout.flush()

        with Worker(memory, address, at_once=16, on_progress=on_scope) as worker:
            while True:
                worker.look()
                time.sleep(0.5)


if __name__ == "__main__":
    main(*sys.argv[1:])
