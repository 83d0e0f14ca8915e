"""The budget of a night: how much of what is known minds may change, so that one that errs does so slowly."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from slowwave.model.memory import FACT_KINDS, Memory
from slowwave.model.operation import Change
from slowwave.model.plan import Group
from slowwave.pipelines.verdicts import WAITS
from slowwave.ports import Ports

if TYPE_CHECKING:
    from slowwave.pipelines.sleep.stage import Staged

LEAST: Final = 50
SHARE: Final = 0.02
"""The share of all facts that minds may change in one night, where that is more than LEAST."""


@dataclass(slots=True, kw_only=True)
class Budget:
    """Changes that minds may still propose tonight. What follows from time and settings alone does not count."""

    left: int = LEAST

    @classmethod
    def of(cls, ports: Ports) -> "Budget":
        """The budget of one night of a scope."""
        facts = sum(number for (kind, _), number in ports.store.count(ports.scope).items() if kind in FACT_KINDS)
        return cls(left=max(LEAST, int(SHARE * facts)))

    def within(self, staged: "Staged") -> "Staged":
        """What a stage may do of what it planned; a group that asks for too much waits, and is told."""
        kept: list[Group] = []
        refused: list[str] = []
        for group in staged.groups:
            number = changes(group)
            if number > self.left:
                refused.append(f"{group.because}: {number} changes, and minds may make {self.left} more tonight")
                continue
            self.left -= number
            kept.append(group)
        left = staged.left + len(refused)
        return replace(staged, groups=tuple(kept), left=left, problems=(*staged.problems, *refused))


def changes(group: Group) -> int:
    """How many known memories a group rewords, moves or ends; the first verdict on a waiting fact does not count."""
    return sum(
        isinstance(operation, Change) and _counts(operation.before, operation.after) for operation in group.operations
    )


def _counts(before: Memory, after: Memory) -> bool:
    moved = (before.text, before.phase) != (after.text, after.phase)
    return moved and (WAITS not in before.flags or after.outdated)
