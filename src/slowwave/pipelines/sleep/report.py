"""The report of a sleep pass."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import starmap
from typing import Final

from slowwave.model.counted import counted
from slowwave.model.memory import Memory
from slowwave.model.operations import (
    Add,
    Change,
    Erase,
    Link,
    MoveCursor,
    Operation,
    RejectFact,
    SetTitle,
    Suppress,
    Use,
)
from slowwave.model.plan import FREE, Cost, Group, Plan, Receipt, count_operations, merge_groups, reversible_run


def describe_operations(operation: Operation, texts: Mapping[str, str]) -> str | None:
    """What an operation does, in words; None for bookkeeping. `texts` are texts of memories by id."""
    match operation:
        case Add(memory=memory):
            line = f"+ [{memory.category}] {memory.text}"
        case Change(before=before, after=after) if not operation.only_reschedules:
            line = _changed(before, after)
        case Link(source=source, target=target, kind=kind, weight=weight):
            verb = "linked" if weight else "unlinked"
            line = f"{verb} ({kind}): {texts.get(source, source)} — {texts.get(target, target)}"
        case Use(used_version=memory):
            line = f"used: {memory.text}"
        case RejectFact(text=text):
            line = f"refused: {text}"
        case SetTitle(conversation=conversation, after=title):
            line = f"title of {conversation}: {title or 'removed'}"
        case Change() | MoveCursor() | Suppress() | Erase():
            return None
    return line


def _changed(before: Memory, after: Memory) -> str:
    words = f"{before.text} → {after.text}" if before.text != after.text else before.text
    if (before.phase, before.reason) != (after.phase, after.reason):
        reason = f" ({after.reason})" if after.reason else ""
        return f"{before.phase} → {after.phase}{reason}: {words}"
    if before.text == after.text and before.visible_text != after.visible_text:
        return f"fewer words: {before.visible_text} → {after.visible_text}"
    return f"changed: {words}"


def describe_link(operations: Iterable[Operation]) -> set[str]:
    """The ids of the memories that links of these operations name."""
    return {end for link in operations if isinstance(link, Link) for end in (link.source, link.target)}


SHOWN: Final = 3
"""Memories that are shown of each group of a stage; the others are counted."""
WIDTH: Final = 120
"""Characters of each that are shown."""
STEPS_SHOWN: Final = 20
STEP_WIDTH: Final = 240
"""Operations of a dry run that are shown, and characters of each."""


ELSEWHERE: Final = "asleep elsewhere"
"""The key in `SleepReport.left` while another process runs a sleep pass over the scope."""
_LEFT: Final[Mapping[str, tuple[str, str]]] = {
    "distil": ("conversation to read", "conversations to read"),
    "retry": ("fact that waits for a model", "facts that wait for a model"),
    "duplicates": ("comparison of facts", "comparisons of facts"),
    "compress": ("group of fading facts to summarise", "groups of fading facts to summarise"),
    "cascade": ("stretch of talk to summarise", "stretches of talk to summarise"),
    "due": ("fact that is due", "facts that are due"),
    "replan": ("fact to be dated again", "facts to be dated again"),
    "reembed": ("batch of memories without a vector", "batches of memories without a vector"),
}
"""Singular and plural of the remaining work, by the keys of `SleepReport.left`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepReport:
    """What a sleep pass planned and did.

    Attributes:
        plan: one part for each stage; after a dry run it can be applied.
        receipts: what was applied.
        left: how much each stage left for another pass.
        held: how many memories stay although a size target is missed with them, because an undo or `revive` restored them.
        unread_waiting: how many unread messages wait, because few are unread and their conversation goes on.
        again: when work that the pass left is due, such as these messages; None if it left none.
        problems: what failed, such as the error of a model.
        cost: what models cost.
        dry_run: whether nothing was applied.
        thought: whether models were to be called.
        out_of_time: whether no further step of a model or of the rules was begun, because `Config.work_seconds` were over.
        texts: the texts of the memories that a dry run would link, by id.
    """

    plan: Plan
    receipts: tuple[Receipt, ...] = ()
    left: Mapping[str, int] = field(default_factory=dict)
    held: int = 0
    unread_waiting: int = 0
    again: datetime | None = None
    problems: tuple[str, ...] = ()
    cost: Cost = FREE
    dry_run: bool = False
    thought: bool = True
    out_of_time: bool = False
    texts: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        return self.describe()

    def describe(self, most: int | None = STEPS_SHOWN) -> str:
        """The report in words; of a dry run, the first so many steps with their reasons, or all of them."""
        planned = self.dry_run and count_operations(self.plan.operations)
        lines = [str(self.plan), *self._planned(most)] if planned else list(self._done())
        if ELSEWHERE in self.left:
            done = (
                "this one did nothing" if not lines else "this one stopped, because it did not renew its lease in time"
            )
            return "\n".join([*lines, f"sleep: another process runs a sleep pass over this scope; {done}"])
        undone = self.left or self.problems
        lines = lines or [f"sleep: {'nothing was done' if undone else 'nothing due'}"]
        if self.left:
            lines.append(
                f"left for the next sleep pass{self._why()}: {', '.join(starmap(_counted, self.left.items()))}"
            )
        if self.unread_waiting and self.again:
            lines.append(
                f"not read yet: {self.unread_waiting:,} of the latest messages; sleep reads them from {self.again:%Y-%m-%d %H:%M} "
                "UTC, when their conversation is idle; `consolidate` with force reads them at once"
            )
        if self.held:
            lines.append(f"over a size target: {self.held:,} that an undo or `revive` restored; see `health`")
        return "\n".join([*lines, *(f"problem: {problem}" for problem in self.problems)])

    def _planned(self, most: int | None) -> Iterator[str]:
        """The operations of a dry run, each with its reason."""
        steps = [
            (words, operation)
            for operation in self.plan.operations
            if (words := describe_operations(operation, self.texts)) is not None
        ]
        for words, operation in steps[:most]:
            yield f"  {words if most is None else _cut(words, STEP_WIDTH)}"
            yield f"      because {operation.because}"
        if most is not None and len(steps) > most:
            yield f"  and {len(steps) - most:,} more"

    def _why(self) -> str:
        """Why work was left, if the reason is not a limit of one pass."""
        if self.problems:
            return f", because of the problem{'s' if len(self.problems) > 1 else ''} below"
        if self.out_of_time:
            return ", because the time limit (work_seconds) was reached"
        return "" if self.thought else ", because no model was to be asked"

    def _done(self) -> Iterator[str]:
        """What was applied, stage by stage, and how to undo it."""
        parts = {part.id: part for part in self.plan.parts}
        asked = {key for key, part in parts.items() if part.cost.calls}  # an empty answer of a model is told too
        reported = [one for one in self.receipts if count_operations(one.applied) or one.dropped or one.run_id in asked]
        if not reported:
            return
        applied = [operation for receipt in reported for operation in receipt.applied]
        yield f"sleep in {self.plan.scope}: {count_operations(applied) or 'nothing changed'}"
        for receipt in reported:
            dropped = [id(one.group) for one in receipt.dropped]
            groups = parts[receipt.run_id].groups if receipt.run_id in parts else ()
            for group in merge_groups(one for one in groups if id(one) not in dropped):
                if count_operations(group.operations) or receipt.run_id in asked:
                    yield from _group(receipt.cause.partition("/")[2], group)
            yield from (f"  {receipt.cause.partition('/')[2]}: not done: {one.reason}" for one in receipt.dropped)
        if count_operations(applied):
            yield f"  {reversible_run(self.plan.id)}"


def _counted(name: str, number: int) -> str:
    one, many = _LEFT.get(name, (f"change of the stage {name}", f"changes of the stage {name}"))
    return counted(number, one, many)


def _group(stage: str, group: Group) -> Iterator[str]:
    yield f"  {stage}: {group.because}"
    texts = [text for operation in sorted(group.operations, key=_not_added) if (text := _text(operation)) is not None]
    refused = [
        f"! refused: {_cut(f'{one.text}: {one.reason}', WIDTH)}"
        for one in group.operations
        if isinstance(one, RejectFact)
    ]
    for shown in (texts, refused):
        yield from (f"    {text}" for text in shown[:SHOWN])
        if (more := len(shown) - SHOWN) > 0:
            yield f"    and {more:,} more"


def _not_added(operation: Operation) -> bool:
    """Sorts summaries before the memories that they replace."""
    return not isinstance(operation, Add)


def _text(operation: Operation) -> str | None:
    match operation:
        case Add(memory=memory):
            mark, text = "+", memory.text
        case Change(after=after) if not operation.only_reschedules:
            mark, text = (
                "-" if not after.is_searchable else "~",
                after.visible_text if after.is_searchable else after.text,
            )
        case _:
            return None
    return f"{mark} {_cut(text, WIDTH)}"


def _cut(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"
