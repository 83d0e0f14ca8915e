"""Limits how many known memories minds may change in one sleep pass, so that a failing mind does little harm."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from slowwave.model.memory import FACT_KINDS, UNRECONCILED, Memory
from slowwave.model.operations import Add, Change, Link
from slowwave.model.plan import Group
from slowwave.ports import Ports

MIN_CHANGES: Final = 50
"""How many known memories minds may change in one pass of a small scope."""
ENDS: Final = 10
MOSTLY: Final = 0.5
"""A stage in which minds end at least `ENDS` facts, and these are more than this share of its decisions, is refused."""
SHARE: Final = 0.02
"""The share of all facts that minds may change in one pass, where that is more than `MIN_CHANGES`."""


@dataclass(slots=True, kw_only=True)
class Budget:
    """The changes that minds may still make in a pass. Changes that follow from time and settings do not count.

    Attributes:
        left: how many more changes are allowed, as far as is known.
        ports: for counting the facts of the scope once `MIN_CHANGES` is used up; None after that.
    """

    left: int = MIN_CHANGES
    ports: Ports | None = None

    def can_afford(self, number: int) -> bool:
        """Whether minds may make so many more changes. Counts the facts only if needed: that takes time in a large scope."""
        if number > self.left and self.ports is not None:
            counts = self.ports.store.count(self.ports.scope)
            facts = sum(many for (kind, _), many in counts.items() if kind in FACT_KINDS)
            self.left += max(0, int(SHARE * facts) - MIN_CHANGES)
            self.ports = None
        return number <= self.left

    def apply_limit(self, groups: Sequence[Group]) -> tuple[tuple[Group, ...], tuple[str, ...]]:
        """The groups of a stage that the budget allows, and why the others stay due.

        If most decisions of a mind end known facts, it may have misread its task: then all groups stay due.
        """
        if (anomaly := _anomaly(groups)) is not None:
            return (), (anomaly,)
        kept: list[Group] = []
        refused: list[str] = []
        for group in groups:
            number = count_changes(group)
            if not self.can_afford(number):
                refused.append(f"{group.because}: {number} changes, and minds may make {self.left} more in this pass")
                continue
            self.left -= number
            kept.append(group)
        return tuple(kept), tuple(refused)


def _anomaly(groups: Sequence[Group]) -> str | None:
    """Why these decisions as a whole are implausible, or None."""
    operations = [operation for group in groups for operation in group.operations]
    changes = [operation for operation in operations if isinstance(operation, Change)]
    decided = sum(isinstance(operation, Add | Link) for operation in operations)
    decided += sum(not change.only_reschedules for change in changes)
    ends = sum(change.after.outdated and not change.before.outdated for change in changes)
    if ends < ENDS or ends <= MOSTLY * decided:
        return None
    return (
        f"{ends} of {decided} decisions of the model would end what is known, which is strange: "
        "none was carried out, and the work stays due; another model may see it otherwise"
    )


def count_changes(group: Group) -> int:
    """How many known memories a group rewords, moves or ends; the first decision about a waiting fact does not count."""
    return sum(
        isinstance(operation, Change) and _counts(operation.before, operation.after) for operation in group.operations
    )


def _counts(before: Memory, after: Memory) -> bool:
    moved = (before.text, before.phase) != (after.text, after.phase)
    return moved and (UNRECONCILED not in before.flags or after.outdated)
