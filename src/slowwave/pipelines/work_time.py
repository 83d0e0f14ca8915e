"""The time limit of one consolidation, sleep pass or compaction (`Config.work_seconds`)."""

from time import monotonic


class WorkTime:
    """How long steps of work may still begin. The first always may, so that repeated calls finish any work.

    Args:
        seconds: counted from now; None: without limit.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = seconds
        self._ends = None if seconds is None else monotonic() + seconds
        self._has_begun = False

    @property
    def is_over(self) -> bool:
        """Whether no further step may begin. A step that has begun goes on to its end."""
        return self._has_begun and self._ends is not None and monotonic() >= self._ends

    def begin_step(self) -> bool:
        """Begin a step. Returns False, and begins none, if the time is over."""
        if self.is_over:
            return False
        self._has_begun = True
        return True

    def __str__(self) -> str:
        return f"the time limit (work_seconds={self._seconds:g}) was reached: the rest stays due"
