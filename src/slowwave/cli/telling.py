"""What was done, in a person's words: receipts."""

from collections.abc import Iterator
from functools import singledispatch

from slowwave.model.memory import MESSAGE
from slowwave.model.operation import Add, Change
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
