"""What an import did, as values and in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from slowwave.model.counted import counted
from slowwave.model.exchange import SkippedItem
from slowwave.model.plan import FREE, Cost, reversible_run

TITLES_SHOWN: Final = 5
"""Titles that a report prints."""
UNPROVEN: Final = (
    "of an export without proof that this memory wrote it: believed like any imported file (trust 'import' at most; no "
    "pins, core memory, uses or flags); if the export is yours, import it again with "
    "`trust_export` to restore it fully"
)
VOUCHED_WORDS: Final = "trusted as the user's own words, because a person vouched for the file"
WITHHELD: Final = "read as instructions to a model: a person reviews them before they are used"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did, or would do.

    `titles` are the titles that were set, by name of the conversation. `skipped` counts the items that were not imported, by
    reason, and `examples` are the first of them. `known` counts the items that were stored before. `unproven` counts the
    records of an export that this store cannot prove to be its own. `withheld` counts the imported items that wait for
    review, because they read as instructions to a model. `vouched` counts the imported messages and facts that have the
    trust "user" because a person vouched for them, and `raised` the known messages that got it.
    `undated` counts the imported messages to which the file gives no time, by what they have theirs from.
    `broken` are files, or the rest of files, that could not be read. `undo` takes `run_id`, which is empty if nothing was
    written.
    """

    run_id: str = ""
    messages: int = 0
    facts: int = 0
    notes: int = 0
    links: int = 0
    conversations: int = 0
    titles: Mapping[str, str] = field(default_factory=dict)
    known: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[SkippedItem, ...] = ()
    broken: tuple[SkippedItem, ...] = ()
    unproven: int = 0
    waiting: int = 0
    withheld: int = 0
    vouched: int = 0
    raised: int = 0
    undated: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    dry_run: bool = False

    def __str__(self) -> str:
        done = "would import" if self.dry_run else "imported"
        messages = f"{counted(self.messages, 'message')} of {counted(self.conversations, 'conversation')}"
        notes = f", {counted(self.notes, 'note')}" if self.notes else ""
        counts = f"{messages}, {counted(self.facts, 'fact')}{notes}"
        lines = [f"{done} {counts}; {self.known:,} already known"]
        if self.titles:
            more = f" and {len(self.titles) - TITLES_SHOWN:,} more" if len(self.titles) > TITLES_SHOWN else ""
            lines.append(f"  titles: {', '.join([*self.titles.values()][:TITLES_SHOWN])}{more}")
        if self.unproven:
            lines.append(f"  {counted(self.unproven, 'record')} {UNPROVEN}")
        if self.vouched:
            lines.append(f"  {self.vouched:,} of them {VOUCHED_WORDS}")
        if self.raised:
            lines.append(f"  {self.raised:,} already known, now {VOUCHED_WORDS}")
        if self.withheld:
            lines.append(f"  {self.withheld:,} of them {WITHHELD}")
        for source, number in self.undated.items():
            lines.append(f"  {counted(number, 'message')} without a time: stored with that of {source}")
        lines += [f"  skipped {number:,}: {why}" for why, number in self.skipped.items()]
        lines += [f"  not read: {item.where}: {item.why}" for item in self.broken]
        lines += [f"  problem: {problem}" for problem in self.problems]
        if self.run_id:
            lines.append(f"  {reversible_run(self.run_id)}")
        return "\n".join(lines)
