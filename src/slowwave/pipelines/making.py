"""Making plans: fresh ids, and planning again when someone else was faster."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from itertools import count

from slowwave import forks
from slowwave.errors import ConflictError
from slowwave.model.operation import Operation
from slowwave.model.plan import FREE, GROUP_MAX, Cost, Group, Plan, Receipt
from slowwave.ports import Ports

TRIES = 8
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no letter that reads like a digit
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]
_OWN = re.compile(r"[0-9a-hjkmnp-tv-z]{20}")
_EPOCH_MS = 1_577_836_800_000  # 2020: 40 bits of milliseconds from there last until 2054


class _Serial:
    """Letters for 60 bits that begin at random in each process and go up by one.

    So names made one after the other are neighbours in every index, where random ones would each touch a page.
    """

    def __init__(self) -> None:
        self.after_fork()
        forks.watch(self)

    def after_fork(self) -> None:
        """Begin at random, in a forked child once more."""
        number = int.from_bytes(os.urandom(8), "big")
        self.process = "".join(_PAIRS[number >> shift & 1023] for shift in (20, 10, 0))
        self.count = count(number >> 34)


_serial = _Serial()


def new_id(now: datetime) -> str:
    """A name of 20 characters for a memory or run: sorts by time, unique by 60 bits drawn for each process."""
    at, number = int(now.timestamp() * 1000) - _EPOCH_MS, next(_serial.count)
    return (
        f"{_PAIRS[at >> 30 & 1023]}{_PAIRS[at >> 20 & 1023]}{_PAIRS[at >> 10 & 1023]}{_PAIRS[at & 1023]}"
        f"{_serial.process}{_PAIRS[number >> 20 & 1023]}{_PAIRS[number >> 10 & 1023]}{_PAIRS[number & 1023]}"
    )


def own_id(name: str) -> str:
    """The id itself if `new_id` could have made it; otherwise an id of that shape, the same one for the same name.

    An imported id may hold line breaks or be as long as a page, which would break what prints it.

    >>> own_id("0ada6q00h7z9gd4kt3mn"), len(own_id("x1"))
    ('0ada6q00h7z9gd4kt3mn', 20)
    """
    if _OWN.fullmatch(name):
        return name
    number = int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")
    return "".join(_PAIRS[number >> shift & 1023] for shift in range(90, -1, -10))


def one_group(
    ports: Ports, cause: str, operations: Iterable[Operation], because: str, *, now: datetime, cost: Cost = FREE
) -> Plan:
    """A plan that stands or falls as a whole."""
    group = Group(operations=tuple(operations), because=because)
    return Plan(
        id=new_id(now), scope=ports.scope, cause=cause, at=now, groups=(group,) if len(group) else (), cost=cost
    )


def chunked(operations: Sequence[Operation], because: str, *, counted: bool = True) -> tuple[Group, ...]:
    """The operations in as few groups as the limit allows; each begins its reason with how many they are, if wanted."""
    starts = range(0, len(operations), GROUP_MAX)
    parts = [tuple(operations[start : start + GROUP_MAX]) for start in starts]
    return tuple(Group(operations=part, because=f"{len(part)} {because}" if counted else because) for part in parts)


def settle(ports: Ports, plan: Callable[[], Plan]) -> Receipt:
    """Plan and apply; where another writer was faster, plan again on what stands now.

    Raises:
        ConflictError: if the ground kept moving for several tries; nothing of the dropped part was stored.
    """
    spent = FREE
    for _ in range(TRIES):
        made = plan()
        made = replace(made, cost=spent + made.cost)
        if not made:
            paid(ports, made, "nothing came of it")
            return Receipt(run_id=made.id, cause=made.cause, scope=made.scope)
        receipt = ports.store.apply(made)
        if not receipt.dropped:
            return receipt
        spent = made.cost
    paid(ports, made, receipt.dropped[0].reason)
    raise ConflictError(
        f"other writers changed the same memories {TRIES} times in a row ({receipt.dropped[0].reason}); try again"
    )


def paid(ports: Ports, plan: Plan, because: str) -> None:
    """Journal what a plan cost of which nothing was applied: answers that come to nothing are paid for too."""
    if plan.cost != FREE:
        ports.store.apply(replace(plan, groups=(Group(operations=(), because=because),)))


def noted(receipt: Receipt, *, notes: Iterable[str] = (), problems: Iterable[str] = (), waiting: int = 0) -> Receipt:
    """The receipt with what the pipeline has to say."""
    said, wrong = tuple(notes), tuple(problems)
    if not (said or wrong or waiting):
        return receipt
    return replace(
        receipt,
        notes=(*receipt.notes, *said),
        problems=(*receipt.problems, *wrong),
        waiting=receipt.waiting + waiting,
    )
