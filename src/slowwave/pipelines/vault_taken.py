"""What came of a vault's edits, or would: the report of a dry run, an import or a sync."""

from dataclasses import dataclass
from typing import Final

SHOWN: Final = 3
"""Vanished lines that are named; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a vault's edits would be in a dry run, else what really came of them.

    Attributes:
        updated: id, words before and words after of each fact that got new ones, or category and words where it moved.
        added: the words of each fact that was added.
        known: how many changed or new lines say what is known already; they change nothing.
        conflicts: why a line was not taken.
        gone: id and words of each fact whose line vanished; it stays in memory: a vanished line never means erase.
        notes: what else came of it, such as which fact a new line replaced, and which pages were kept or left alone.
        run_id: what undo takes to take all of it back; None if nothing changed.
        waiting: new facts that wait for a mind.
        pages: pages that were written anew after it, where they were.
        confirm: what a dry run found that only `force` does; empty if nothing.
    """

    updated: tuple[tuple[str, str, str], ...] = ()
    added: tuple[str, ...] = ()
    known: int = 0
    conflicts: tuple[str, ...] = ()
    gone: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    run_id: str | None = None
    waiting: int = 0
    problems: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    dry_run: bool = True
    confirm: str = ""

    def __str__(self) -> str:
        lines = [f"vault: {self._counts()}"]
        lines += [f"  {before!r} becomes {after!r}" for _, before, after in self.updated]
        lines += [f"  new: {text!r}" for text in self.added]
        lines += [f"  {note}" for note in self.notes]
        lines += [f"  not taken: {words}" for words in self.conflicts]
        lines += [f"  problem: {problem}" for problem in self.problems]
        lines += [f"  {self.confirm}"] if self.confirm else []
        lines += [
            f"  stays in memory: {words!r}; to take it back: slowwave delete {i}" for i, words in self.gone[:SHOWN]
        ]
        if self.gone[SHOWN:]:
            lines.append(f"  and {len(self.gone) - SHOWN} more whose lines are gone stay in memory")
        if self.run_id:
            lines.append(f"  run {self.run_id}, undo all of it with `slowwave undo {self.run_id}`")
        return "\n".join(lines)

    def _counts(self) -> str:
        change, add = ("would change", "would add") if self.dry_run else ("changed", "added")
        counts = [f"{change} {counted(len(self.updated), 'fact')}"] if self.updated else []
        counts += [f"{add} {len(self.added)}"] if self.added else []
        if not counts:
            counts = ["taken in" if self.run_id else "nothing new" if self.known or self.conflicts else "no edits"]
        counts += [f"{counted(self.known, 'line')} already known"] if self.known else []
        counts += [f"{self.waiting} waiting for a model"] if self.waiting else []
        return ", ".join(counts)


def counted(number: int, noun: str) -> str:
    """A number of things: "1 line", "2 lines"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
