"""How the sleep passes of a scope end, and when a scope may be slept again after a failure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

from slowwave.model.counted import counted

PAUSES: Final = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=6), timedelta(days=1))
"""The pause after the first failure in a row, such as a failed sleep pass of a scope, after the second one, and so on."""
LONGEST_WAIT: Final = timedelta(days=1)
"""The longest pause of anything. A stored end that lies further ahead was written while the clock was wrong, and is past."""
TRIES: Final = 3
"""Failed sleep passes in a row after which a scope is a dead letter, which `status`, `doctor` and workers name."""
UNDONE: Final = "work left"
"""The kind of failure of a pass that ended, but stored nothing of the work that was due, such as while a model is down."""
ABANDONED: Final = "its process ended"
"""The kind of failure of a pass whose process was killed, or did not renew its lease."""


def pause_after(failures: int) -> timedelta:
    """The pause after so many failures in a row, at least one; the last one of `PAUSES` repeats."""
    return PAUSES[min(failures, len(PAUSES)) - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRecord:
    """How the last sleep passes of a scope ended.

    Attributes:
        ended: when the last pass ended, also one that found nothing to do; None if there was none.
        failures: how many passes failed since the last one that did not.
        next_try: no pass is due before this time; None if none failed.
        error: the kind of the last failure: the class of an error, `UNDONE` or `ABANDONED`, never the text of an error.
    """

    ended: datetime | None = None
    failures: int = 0
    next_try: datetime | None = None
    error: str = ""

    @property
    def dead(self) -> bool:
        """Whether the scope is a dead letter: its passes raised errors or ended their process again and again."""
        return self.failures >= TRIES and self.error != UNDONE

    def failed(self, at: datetime, error: str) -> Self:
        """The state after a further failure at this time."""
        failures = self.failures + 1
        return type(self)(ended=at, failures=failures, next_try=at + pause_after(failures), error=error)

    def __str__(self) -> str:
        if not self.failures or self.next_try is None:
            return "no sleep pass failed"
        passes = counted(self.failures, "sleep pass", "sleep passes")
        return f"{passes} failed, the last with {self.error}; next try {self.next_try.isoformat(timespec='minutes')}"
