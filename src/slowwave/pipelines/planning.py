"""Builds plans: new ids, groups, schedule changes, and applying a plan again after a conflict."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from itertools import count

from slowwave import forks
from slowwave.errors import ConflictError, InputError
from slowwave.model import names
from slowwave.model.config import Config
from slowwave.model.memory import HOT, Memory, altered
from slowwave.model.message import clean
from slowwave.model.operations import Operation
from slowwave.model.plan import FREE, GROUP_MAX, Cost, Group, Plan, Receipt
from slowwave.policy.retention.core import promotes
from slowwave.policy.retention.phases import family, reason, step
from slowwave.policy.retention.policies import planned, reinforced
from slowwave.ports import Ports

TEXT_LONGEST = 100_000
"""Characters of a stated fact."""
NAME_LONGEST = 256
"""Characters of a category or subject."""
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


def single_group_plan(
    ports: Ports, cause: str, operations: Iterable[Operation], because: str, *, now: datetime, cost: Cost = FREE
) -> Plan:
    """A plan that stands or falls as a whole."""
    group = Group(operations=tuple(operations), because=because)
    return Plan(
        id=new_id(now), scope=ports.scope, cause=cause, at=now, groups=(group,) if len(group) else (), cost=cost
    )


def split_groups(
    operations: Sequence[Operation], because: str, *, counted: bool = True, conversations: tuple[str, ...] = ()
) -> tuple[Group, ...]:
    """The operations in as few groups as the limit allows; if `counted`, each reason begins with their number."""
    starts = range(0, len(operations), GROUP_MAX)
    parts = [tuple(operations[start : start + GROUP_MAX]) for start in starts]
    if not counted:
        return tuple(Group(operations=part, because=because, conversations=conversations) for part in parts)
    return tuple(
        Group(operations=part, because=f"{len(part)} {because}", conversations=conversations, count_of=because)
        for part in parts
    )


def apply_with_retry(ports: Ports, plan: Callable[[], Plan]) -> Receipt:
    """Plan and apply; where another writer was faster, plan again on what stands now.

    Raises:
        ConflictError: if the ground kept moving for several tries; nothing of the dropped part was stored.
    """
    spent = FREE
    for _ in range(TRIES):
        made = plan()
        made = replace(made, cost=spent + made.cost)
        if not made:
            record_unapplied_cost(ports, made, "nothing came of it")
            return Receipt(run_id=made.id, cause=made.cause, scope=made.scope)
        receipt = ports.store.apply(made)
        if not receipt.dropped:
            return receipt
        spent = made.cost
    record_unapplied_cost(ports, made, receipt.dropped[0].reason)
    raise ConflictError(
        f"other writers changed the same memories {TRIES} times in a row ({receipt.dropped[0].reason}); try again"
    )


def record_unapplied_cost(ports: Ports, plan: Plan, because: str, conversations: tuple[str, ...] = ()) -> None:
    """Journal what a plan cost of which nothing was applied: answers that come to nothing are paid for too."""
    if plan.cost != FREE:
        group = Group(operations=(), because=because, conversations=conversations)
        ports.store.apply(replace(plan, groups=(group,)))


def with_notes(
    receipt: Receipt, *, notes: Iterable[str] = (), problems: Iterable[str] = (), waiting: int = 0
) -> Receipt:
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


def transition(memory: Memory, event: str, config: Config, **fields: object) -> Memory:
    """The memory after the event, with its phase, its reason and the instant it next needs attention.

    Raises:
        PhaseError: if the law knows no such step.
    """
    phase = step(family(memory), memory.phase, event)
    put_away: dict[str, object] = {} if phase in HOT else {"due_at": None, "pace": None}
    after = altered(
        memory,
        phase=phase,
        reason=reason(event),
        version=memory.version + 1,
        **put_away,
        **fields,
    )
    return after if put_away else reschedule(after, config)


def reschedule(memory: Memory, config: Config) -> Memory:
    """The memory with the instant it needs attention, which may have passed; what is not hot needs none."""
    return planned(memory, config)


def postpone(memory: Memory, config: Config, now: datetime) -> Memory:
    """The memory, looked at and left as it is, with the next instant after now at which it needs attention."""
    return planned(memory, config, after=now)


def record_use(memory: Memory, config: Config, now: datetime, session: str | None) -> Memory:
    """The memory after one more use: anchor, stability and counters, no new version. One that earned core is due."""
    after = reinforced(memory, config, now, session)
    return replace(after, due_at=now) if after.phase == "active" and promotes(after, config) else after


def checked_text(text: str, what: str = "a memory") -> str:
    """The words of a fact, clean and stripped, or InputError."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{what} needs words: {text!r} has none")
    if len(text) > TEXT_LONGEST:
        raise InputError(
            f"{what} of {len(text):,} characters is more than {TEXT_LONGEST:,}: add it as messages and consolidate"
        )
    return clean(text).strip()


def checked_name(name: str, what: str) -> str:
    """The name of a category or subject, stripped, or InputError."""
    return names.checked_name(name, what, longest=NAME_LONGEST).strip()
