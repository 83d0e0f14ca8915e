"""The log of a worker on the error stream: one line an event, with names and numbers, never the words of a memory."""

import json
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from slowwave.pipelines.sleep.report import SleepReport

if TYPE_CHECKING:
    from slowwave.model.pass_record import PassRecord
    from slowwave.worker import QueueStatus, Worker


class WorkerLog:
    """Writes `time level worker event name=value …`, or with `as_json` the same as one JSON object a line.

    Args:
        worker: the name of the worker: its machine and process.
        as_json: whether to write JSON.
        stream: where to write; None: the error stream.
    """

    def __init__(self, worker: str, *, as_json: bool, stream: TextIO | None = None) -> None:
        self._worker, self._json = worker, as_json
        self._stream = stream
        self._turn = threading.Lock()
        self._passes = self._failed = 0
        self._dead: set[str] = set()

    def write(self, level: str, event: str, **fields: object) -> None:
        """Write one line. The values are names of scopes and of classes, numbers and times."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        known = {name: value for name, value in fields.items() if value is not None}
        if self._json:
            line = json.dumps(
                {"time": now, "level": level, "worker": self._worker, "event": event, **known}, default=_shown
            )
        else:
            values = "".join(f" {name}={_shown(value)}" for name, value in known.items())
            line = f"{now} {level} {self._worker} {event}{values}"
        with self._turn:
            stream = self._stream or sys.stderr
            stream.write(f"{line}\n")
            stream.flush()

    def passed(self, scope: str, result: SleepReport | Exception, seconds: float, record: "PassRecord | None") -> None:
        """Write the end of a pass: counts of its report, or the class of its error; and once that a scope is a dead letter.

        Once means until a pass of the scope succeeds. The number of failures does not tell it: a pass that left its work
        counts as a failure too, and makes no dead letter.
        """
        self._passes += 1
        took = round(seconds, 3)
        if isinstance(result, Exception):
            self._failed += 1
            kind, level = type(result).__name__, "error"
            self.write(level, "pass-failed", scope=scope, seconds=took, error=kind, failures=record and record.failures)
            if record and record.dead and scope not in self._dead:
                self._dead.add(scope)
                self.write(level, "dead-letter", scope=scope, error=kind, next_try=record.next_try)
            return
        self._dead.discard(scope)
        applied = sum(len(receipt.applied) for receipt in result.receipts)
        self._failed += bool(result.problems)
        self.write(
            "warning" if result.problems else "info",
            "pass",
            scope=scope,
            seconds=took,
            applied=applied,
            left=sum(result.left.values()),
            problems=len(result.problems),
            calls=result.cost.calls,
            again=result.again,
        )

    def summed_up(self, worker: "Worker", status: "QueueStatus | None") -> None:
        """Write what happened since the last such line, and the state of the queue; None: the server was not reached."""
        passes, self._passes = self._passes, 0
        failed, self._failed = self._failed, 0
        waiting, running, workers = (
            (None, None, None) if status is None else map(len, (status.waiting, status.running, status.workers))
        )
        at_once = worker.limits.at_once
        self.write(
            "info",
            "minute",
            passes=passes,
            failed=failed,
            waiting=waiting,
            running=running,
            workers=workers,
            at_once=at_once,
        )


def _shown(value: object) -> str:
    text = value.isoformat(timespec="seconds") if isinstance(value, datetime) else str(value)
    return json.dumps(text) if " " in text or not text.isprintable() else text
