"""Erase: the one thing that destroys. It reaches whatever was derived, brings back what a summary stood for, and proves it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slowwave.errors import BusyError, InputError, NotFoundError
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operation import Advance, Change, Erase, Hold, Operation
from slowwave.model.plan import GROUP_MAX, Group, Plan
from slowwave.model.query import Where
from slowwave.pipelines.making import new_id
from slowwave.pipelines.moves import moved
from slowwave.pipelines.sleep.cascade import CURSOR
from slowwave.pipelines.tombstone import SOME, tombstone
from slowwave.ports import Ports

BECAUSE = "erased by request"
"""The journal keeps that something was erased, never what."""
NOT_REACHED = ("backups", "exports", "logs of model providers")
TELLING = 12
"""Characters from which a text is searched for in the files; a shorter one may stand anywhere by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """What an erase destroyed, brought back, left due and could not reach.

    `verified` says that neither the store nor its files hold the words any more.
    """

    run_id: str
    destroyed: tuple[str, ...]
    restored: tuple[str, ...]
    due: tuple[str, ...]
    not_reached: tuple[str, ...]
    verified: bool
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        proof = "verified: the files hold no trace" if self.verified else "NOT verified"
        lines = [f"erased {len(self.destroyed)} memories, brought back {len(self.restored)}; {proof}"]
        lines += [f"  due: {what}" for what in self.due]
        lines += [f"  problem: {problem}" for problem in self.problems]
        lines.append(f"  not reached: {', '.join(self.not_reached)}")
        return "\n".join(lines)


def erase(
    ports: Ports,
    *,
    memory_id: str | None = None,
    conversation: str | None = None,
    text: str | None = None,
    scope: bool = False,
) -> ErasureReceipt:
    """Destroy whole memories that match, and everything derived from them.

    Raises:
        InputError: unless exactly one way of choosing is given.
        NotFoundError: if nothing matches.
    """
    if sum((memory_id is not None, conversation is not None, text is not None, scope)) != 1:
        raise InputError("say what to erase in exactly one way: id, conversation, text or scope=True")
    if text is not None and not text.strip():
        raise InputError("an empty text would match everything: give the words to erase, or scope=True")
    chosen = _chosen(ports, memory_id, conversation, text, scope=scope)
    if not chosen:
        raise NotFoundError(f"nothing in scope {ports.scope} matches; nothing was erased")
    doomed = _with_derived(ports, chosen)
    now = ports.now()
    restored = _survivors(ports, doomed)
    operations: list[Operation] = [
        Change(
            before=memory,
            after=moved(memory, "restore", ports.config, superseded_by=None),
            because="what stood for it was erased",
        )
        for memory in restored
    ]
    rewound, due = _rewound(ports, doomed.values())
    operations += rewound
    operations.append(Hold(key=SOME, because=BECAUSE))
    operations += [Hold(key=tombstone(memory.text), because=BECAUSE) for memory in doomed.values()]
    operations += [Erase(memory=identity, because=BECAUSE) for identity in doomed]
    run = new_id(now)
    groups = tuple(
        Group(operations=tuple(operations[start : start + GROUP_MAX]), because=BECAUSE)
        for start in range(0, len(operations), GROUP_MAX)
    )
    receipt = ports.store.apply(Plan(id=run, scope=ports.scope, cause="erase", at=now, groups=groups))
    problems = [dropped.reason for dropped in receipt.dropped]
    try:
        ports.store.scrub()
    except BusyError as error:
        problems.append(str(error))
    needles = [text] if text is not None else _needles(doomed.values())
    traces = ports.store.traces(needles)
    problems += traces
    return ErasureReceipt(
        run_id=run,
        destroyed=tuple(doomed),
        restored=tuple(memory.id for memory in restored),
        due=due,
        not_reached=NOT_REACHED,
        verified=not problems,
        problems=tuple(problems),
    )


def _chosen(
    ports: Ports, memory_id: str | None, conversation: str | None, text: str | None, *, scope: bool
) -> list[Memory]:
    own = (ports.scope,)
    if memory_id is not None:
        return ports.store.get(own, [memory_id])
    if scope:
        return ports.store.select(own, Where(cascade=None))
    return ports.store.select(own, Where(cascade=None, conversation=conversation, text=text))


def _with_derived(ports: Ports, chosen: Sequence[Memory]) -> dict[str, Memory]:
    """What matches, and all that rests on it: facts, their summaries, and summaries of the stretch it was said in."""
    every = ports.store.select((ports.scope,), Where(cascade=None))
    doomed = {memory.id: memory for memory in chosen}
    fresh = list(chosen)
    while fresh:
        ids = {memory.id for memory in fresh}
        said = [memory for memory in fresh if memory.kind == MESSAGE]
        fresh = [
            memory
            for memory in every
            if memory.id not in doomed
            and (
                not ids.isdisjoint(source.memory for source in memory.sources)
                or not ids.isdisjoint(memory.members)
                or _covers(memory, said)
                or _follows(memory, doomed.values())
            )
        ]
        doomed |= {memory.id: memory for memory in fresh}
    return doomed


def _covers(memory: Memory, said: Iterable[Memory]) -> bool:
    span = memory.span
    return span is not None and any(
        one.conversation == memory.conversation and span[0] <= one.seq <= span[1] for one in said
    )


def _follows(memory: Memory, doomed: Iterable[Memory]) -> bool:
    """Whether it is a cascade summary at or after an erased one: spans tile, so all from there on are written anew."""
    span = memory.span
    return span is not None and any(
        one.span is not None and one.conversation == memory.conversation and span[1] >= one.span[0] for one in doomed
    )


def _survivors(ports: Ports, doomed: dict[str, Memory]) -> list[Memory]:
    """Memories that an erased one stood for: they return. What it replaced as outdated does not."""
    superseded = ports.store.select((ports.scope,), Where(phases=frozenset({"superseded"})))
    return [
        memory
        for memory in superseded
        if memory.superseded_by in doomed and memory.id not in doomed and not memory.outdated
    ]


def _rewound(ports: Ports, doomed: Iterable[Memory]) -> tuple[list[Advance], tuple[str, ...]]:
    """Cursors back to where erased cascade summaries began, so that the next night writes them anew."""
    starts: dict[str, int] = {}
    for memory in doomed:
        if memory.span is not None and memory.conversation is not None:
            first = memory.span[0] - 1
            starts[memory.conversation] = min(first, starts.get(memory.conversation, first))
    moves = []
    for name, start in starts.items():
        found = ports.store.conversation(ports.scope, name)
        if found is not None and found.cursor(CURSOR) > start:
            before = found.cursor(CURSOR)
            moves.append(Advance(conversation=name, cursor=CURSOR, before=before, after=start, because=BECAUSE))
    return moves, tuple(f"summaries of {move.conversation} from message {move.after + 1} on" for move in moves)


def _needles(doomed: Iterable[Memory]) -> list[str]:
    return [memory.text for memory in doomed if len(memory.text) >= TELLING]
