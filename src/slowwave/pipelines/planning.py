"""Builds plans: new ids, groups, schedule changes, and applying a plan again after a conflict."""

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from itertools import count
from typing import TypeVar

from slowwave import forks
from slowwave.errors import ConflictError, InputError, SuppressedError, TrustError, shown
from slowwave.model.config import Config
from slowwave.model.memory import HOT, Memory, altered
from slowwave.model.names import FACT_LONGEST
from slowwave.model.operations import Operation
from slowwave.model.plain_text import clean
from slowwave.model.plan import FREE, GROUP_MAX, Cost, Group, Plan, Receipt
from slowwave.policy.guard.trust import outranks
from slowwave.policy.retention.core import promotes
from slowwave.policy.retention.phases import family, reason, step
from slowwave.policy.retention.policies import reinforced, with_due_date
from slowwave.ports import Ports

T = TypeVar("T")
TRIES = 8
PAUSE = 0.002
"""Seconds before the second try at most; doubled before each further one."""
ID_LENGTH = 20
"""Characters of an id that `new_id` makes."""
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no letter that reads like a digit
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]
_OWN = re.compile(r"[0-9a-hjkmnp-tv-z]{20}")
_EPOCH_MS = 1_577_836_800_000  # 2020: 40 bits of milliseconds from there last until 2054


class _Serial:
    """The last 60 bits of ids: they begin at random in each process and count up.

    Consecutive ids are therefore neighbours in every index; random ones would each touch another page.
    """

    def __init__(self) -> None:
        self.after_fork()
        forks.watch(self)

    def after_fork(self) -> None:
        """Begin at another random number, so that a forked child issues other ids than its parent."""
        number = int.from_bytes(os.urandom(8), "big")
        self.process = "".join(_PAIRS[number >> shift & 1023] for shift in (20, 10, 0))
        self.count = count(number >> 34)


_serial = _Serial()


def new_id(now: datetime) -> str:
    """An id of 20 characters for a memory or a run: it sorts by time, and 60 bits make it unique."""
    at, number = int(now.timestamp() * 1000) - _EPOCH_MS, next(_serial.count)
    return (
        f"{_PAIRS[at >> 30 & 1023]}{_PAIRS[at >> 20 & 1023]}{_PAIRS[at >> 10 & 1023]}{_PAIRS[at & 1023]}"
        f"{_serial.process}{_PAIRS[number >> 20 & 1023]}{_PAIRS[number >> 10 & 1023]}{_PAIRS[number & 1023]}"
    )


def own_id(name: str) -> str:
    """The id itself if it has the form of `new_id`; otherwise an id of that form, always the same for the same name.

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
    """A plan of one group: it is applied as a whole or not at all."""
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
    """Plan and apply; if another writer changed the same memories meanwhile, plan again on the present state.

    The pauses between tries are drawn at random: writers that try again at once meet again.

    Raises:
        ConflictError: other writers were faster in every try; nothing of the dropped part was stored.
    """
    spent = FREE
    for tried in range(TRIES):
        if tried:
            time.sleep(PAUSE * 2 ** (tried - 1) * os.urandom(1)[0] / 255)
        attempt = plan()
        attempt = replace(attempt, cost=spent + attempt.cost)
        if not attempt:
            record_unapplied_cost(ports, attempt, "nothing came of it")
            return Receipt(run_id=attempt.id, cause=attempt.cause, scope=attempt.scope)
        spent = attempt.cost
        try:
            receipt = ports.store.apply(attempt)
        except SuppressedError as error:
            why = str(error)
            continue
        if not receipt.dropped:
            return receipt
        why = receipt.dropped[0].reason
    record_unapplied_cost(ports, attempt, why)
    raise ConflictError(f"other writers changed the same memories {TRIES} times in a row ({why}); try again")


def in_parts(
    ports: Ports,
    cause: str,
    items: Sequence[T],
    most: int,
    apply: Callable[[Sequence[T], str | None], Receipt],
) -> Receipt:
    """Apply items as one run: up to `most` of them in one transaction, more in child runs of one run.

    Args:
        ports: for the id and the scope of the run.
        cause: of the run.
        items: in order; at least one, or nothing is applied.
        most: how many items one transaction takes.
        apply: applies a part; its second argument is the id of the run it belongs to, None if it is the run itself.
    """
    if len(items) <= most:
        nothing = Receipt(run_id=new_id(ports.now()), cause=cause, scope=ports.scope, notes=("nothing was passed",))
        return apply(items, None) if items else nothing
    parent = new_id(ports.now())
    receipts = [apply(items[start : start + most], parent) for start in range(0, len(items), most)]
    return Receipt(
        run_id=parent,
        cause=cause,
        scope=ports.scope,
        applied=tuple(operation for receipt in receipts for operation in receipt.applied),
        waiting=sum(receipt.waiting for receipt in receipts),
        problems=tuple(dict.fromkeys(problem for receipt in receipts for problem in receipt.problems)),
        notes=tuple(dict.fromkeys(note for receipt in receipts for note in receipt.notes)),
        outcomes=tuple(outcome for receipt in receipts for outcome in receipt.outcomes),
    )


def record_unapplied_cost(ports: Ports, plan: Plan, because: str, conversations: tuple[str, ...] = ()) -> None:
    """Journal the cost of a plan of which nothing was applied: its model calls were paid for."""
    if plan.cost != FREE:
        group = Group(operations=(), because=because, conversations=conversations)
        ports.store.apply(replace(plan, groups=(group,)))


def with_notes(
    receipt: Receipt, *, notes: Iterable[str] = (), problems: Iterable[str] = (), waiting: int = 0
) -> Receipt:
    """The receipt with more notes, problems and waiting facts."""
    notes, problems = tuple(notes), tuple(problems)
    if not (notes or problems or waiting):
        return receipt
    return replace(
        receipt,
        notes=(*receipt.notes, *notes),
        problems=(*receipt.problems, *problems),
        waiting=receipt.waiting + waiting,
    )


def check_reviews(ports: Ports, what: str, *, needed: bool = True) -> None:
    """Raise TrustError if something needs a reader who may review, and that of these ports may not."""
    if needed and not ports.reviews:
        raise TrustError(f"{what}: it needs a person's review, and this handle or key may not review")


def check_may_change(ports: Ports, memory: Memory) -> None:
    """Raise TrustError if a memory is trusted more than what is written through these ports, or a person judges it."""
    if memory.is_withheld:
        check_reviews(ports, f"{memory.id} waits for review or was rejected")
        check_full_trust(ports, "change what needs a person's review")
    if outranks(memory.trust, ports.ceiling):
        raise TrustError(
            f"{memory.id} is trusted as {memory.trust!r}, and this handle as {ports.ceiling!r}: state the change with "
            "`add`, which stores it beside the memory"
        )


def check_full_trust(ports: Ports, action: str) -> None:
    """Raise TrustError if these ports have a ceiling below the user: then a person decides on this action."""
    if outranks("user", ports.ceiling):
        raise TrustError(
            f"a handle trusted as {ports.ceiling!r} may not {action}: use the memory that `trusting` was called on"
        )


def transition(memory: Memory, event: str, config: Config, **fields: object) -> Memory:
    """The memory after the event, with its phase, its reason and the instant it next needs attention.

    Raises:
        PhaseError: the event does not exist in this phase.
    """
    phase = step(family(memory), memory.phase, event)
    unscheduled: dict[str, object] = {} if phase in HOT else {"due_at": None, "pace": None}
    after = altered(
        memory,
        phase=phase,
        reason=reason(event, memory.phase),
        version=memory.version + 1,
        **unscheduled,
        **fields,
    )
    return after if unscheduled else reschedule(after, config)


def reschedule(memory: Memory, config: Config) -> Memory:
    """The memory with the instant at which it needs attention, which may have passed; a cold one needs none."""
    return with_due_date(memory, config)


def postpone(memory: Memory, config: Config, now: datetime) -> Memory:
    """The memory with the next instant after now at which it needs attention."""
    return with_due_date(memory, config, after=now)


def record_use(memory: Memory, config: Config, now: datetime, session: str | None) -> Memory:
    """The memory after one more use, without a new version; it is due if it now qualifies for core memory."""
    after = reinforced(memory, config, now, session)
    return replace(after, due_at=now) if after.phase == "active" and promotes(after, config) else after


def checked_text(text: str, what: str = "a memory") -> str:
    """The text of a fact, cleaned and stripped, or InputError."""
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{what} needs words: {shown(text)} has none")
    if len(text) > FACT_LONGEST:
        raise InputError(
            f"{what} of {len(text):,} characters is more than {FACT_LONGEST:,}: add it as messages and consolidate"
        )
    return clean(text).strip()
