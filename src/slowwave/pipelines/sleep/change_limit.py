"""The budget of a night: how much of what is known minds may change, so that one that errs does so slowly."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from slowwave.model.memory import FACT_KINDS, Memory
from slowwave.model.operations import Add, Change, Link
from slowwave.model.plan import Group
from slowwave.pipelines.ingest.change_set import WAITS
from slowwave.ports import Ports

if TYPE_CHECKING:
    from slowwave.pipelines.sleep.stage import StagePlan

MIN_CHANGES: Final = 50
ENDS: Final = 10
MOSTLY: Final = 0.5
"""How many facts minds may end as wrong or replaced in one stage where that is more than this share of its decisions."""
SHARE: Final = 0.02
"""The share of all facts that minds may change in one night, where that is more than LEAST."""


@dataclass(slots=True, kw_only=True)
class Budget:
    """Changes that minds may still propose tonight. What follows from time and settings alone does not count.

    Args:
        left: how many may still be made, as far as is known.
        ports: whose facts are counted once LEAST does not do; None when they have been.
    """

    left: int = MIN_CHANGES
    ports: Ports | None = None

    def can_afford(self, number: int) -> bool:
        """Whether minds may make so many changes more. Counting facts costs what is stored, so it waits for a need."""
        if number > self.left and self.ports is not None:
            counts = self.ports.store.count(self.ports.scope)
            facts = sum(many for (kind, _), many in counts.items() if kind in FACT_KINDS)
            self.left += max(0, int(SHARE * facts) - MIN_CHANGES)
            self.ports = None
        return number <= self.left

    def apply_limit(self, staged: "StagePlan") -> "StagePlan":
        """What a stage may do of what it planned; a group that asks for too much waits, and is told.

        Where most of what a mind decided ends what is known, it may have misread its task: then all of the stage waits.
        """
        if (strange := _anomaly(staged.groups)) is not None:
            left = staged.left + len(staged.groups)
            return replace(staged, groups=(), left=left, problems=(*staged.problems, strange))
        kept: list[Group] = []
        refused: list[str] = []
        for group in staged.groups:
            number = count_changes(group)
            if not self.can_afford(number):
                refused.append(f"{group.because}: {number} changes, and minds may make {self.left} more tonight")
                continue
            self.left -= number
            kept.append(group)
        left = staged.left + len(refused)
        return replace(staged, groups=tuple(kept), left=left, problems=(*staged.problems, *refused))


def _anomaly(groups: Sequence[Group]) -> str | None:
    """What is strange about these decisions as a whole, or None."""
    operations = [operation for group in groups for operation in group.operations]
    decided = sum(
        isinstance(one, Add | Link) or (isinstance(one, Change) and not one.only_reschedules) for one in operations
    )
    ends = sum(isinstance(one, Change) and one.after.outdated and not one.before.outdated for one in operations)
    if ends < ENDS or ends <= MOSTLY * decided:
        return None
    return (
        f"{ends} of {decided} decisions of the model would end what is known, which is strange: "
        "none was carried out, and the work stays due; another model may see it otherwise"
    )


def count_changes(group: Group) -> int:
    """How many known memories a group rewords, moves or ends; the first verdict on a waiting fact does not count."""
    return sum(
        isinstance(operation, Change) and _counts(operation.before, operation.after) for operation in group.operations
    )


def _counts(before: Memory, after: Memory) -> bool:
    moved = (before.text, before.phase) != (after.text, after.phase)
    return moved and (WAITS not in before.flags or after.outdated)
