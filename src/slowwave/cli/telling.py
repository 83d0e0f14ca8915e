"""What was done or is planned, in a person's words: receipts, and the operations of a plan before it is applied."""

from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch

from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operation import Add, Advance, Change, Erase, Hold, Link, Operation, Refuse, Use
from slowwave.model.plan import Receipt, tally


@singledispatch
def told(value: object) -> str:
    """A value in words, in lines."""
    return str(value)


@told.register
def _(value: Receipt) -> str:
    _, _, details = str(value).partition("\n")
    first = f"{', '.join(_done(value)) or 'nothing changed'} in {value.scope}"
    first += f", {len(value.dropped)} dropped as out of date" if value.dropped else ""
    first += f", {value.waiting} waiting" if value.waiting else ""
    return f"{first}\n{details}" if details else first


def counted(number: int, noun: str) -> str:
    """A number of things: "1 fact", "1,204 facts"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _done(receipt: Receipt) -> Iterator[str]:
    added = [one.memory.kind == MESSAGE for one in receipt.applied if isinstance(one, Add)]
    if said := sum(added):
        yield f"{counted(said, 'message')} stored"
    if facts := len(added) - said:
        yield f"{counted(facts, 'fact')} added"
    rest = [one for one in receipt.applied if not isinstance(one, Add)]
    if receipt.cause == "edit":  # by hand, one memory: its reason is what was done
        yield from dict.fromkeys(one.because for one in rest if isinstance(one, Change))
    elif number := tally(rest):
        yield f"taken back: {number}" if receipt.cause == "undo" else number


def intended(operation: Operation, texts: Mapping[str, str]) -> str | None:
    """What an operation would do, before and after; None for mere bookkeeping. `texts` are words of memories by id."""
    match operation:
        case Add(memory=memory):
            return f"+ [{memory.category}] {memory.text}"
        case Change(before=before, after=after) if not operation.redates:
            return _changed(before, after)
        case Link(source=source, target=target, kind=kind, weight=weight):
            verb = "linked" if weight else "unlinked"
            return f"{verb} ({kind}): {texts.get(source, source)} — {texts.get(target, target)}"
        case Use(seen=memory):
            return f"used: {memory.text}"
        case Refuse(text=text):
            return f"refused: {text}"
        case Change() | Advance() | Hold() | Erase():
            return None


def _changed(before: Memory, after: Memory) -> str:
    words = f"{before.text} → {after.text}" if before.text != after.text else before.text
    if (before.phase, before.reason) != (after.phase, after.reason):
        reason = f" ({after.reason})" if after.reason else ""
        return f"{before.phase} → {after.phase}{reason}: {words}"
    if before.text == after.text and before.wording != after.wording:
        return f"fewer words: {before.wording} → {after.wording}"
    return f"changed: {words}"


def linked(operations: Iterable[Operation]) -> set[str]:
    """The ids of the memories that links of these operations name."""
    return {end for one in operations if isinstance(one, Link) for end in (one.source, one.target)}
