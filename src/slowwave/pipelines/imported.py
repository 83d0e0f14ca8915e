"""Imported: what an import did, in words and counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from slowwave.model.plan import FREE, Cost
from slowwave.model.transfer import Skipped

UNPROVEN: Final = (
    "of an export without proof that this memory wrote it: believed like any imported file (trust 'import' at most; no "
    "pins, core memory, uses or flags); if the export is yours, import it again with --trust-export "
    "(trust_export=True) to restore it fully"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did, or would do.

    `skipped` counts what was not taken in by reason, `examples` are the first of them with their places. `known` is
    what was there before. `unproven` counts the records of an export that this memory cannot prove to be its own. `broken` are files, or the rest of files, that could not be read. Undo takes `run_id`, which is
    empty where nothing was written.
    """

    run_id: str = ""
    messages: int = 0
    facts: int = 0
    links: int = 0
    conversations: int = 0
    known: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[Skipped, ...] = ()
    broken: tuple[Skipped, ...] = ()
    unproven: int = 0
    waiting: int = 0
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    dry_run: bool = False

    def __str__(self) -> str:
        done = "would import" if self.dry_run else "imported"
        said = f"{_many(self.messages, 'message')} of {_many(self.conversations, 'conversation')}"
        counts = f"{said}, {_many(self.facts, 'fact')}"
        lines = [f"{done} {counts}; {self.known:,} already known"]
        if self.unproven:
            lines.append(f"  {_many(self.unproven, 'record')} {UNPROVEN}")
        lines += [f"  skipped {number:,}: {why}" for why, number in self.skipped.items()]
        lines += [f"  not read: {one.where}: {one.why}" for one in self.broken]
        lines += [f"  problem: {problem}" for problem in self.problems]
        if self.run_id:
            lines.append(f"  run {self.run_id}, undo with `slowwave undo {self.run_id}`")
        return "\n".join(lines)


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
