"""Transfer: what a file holds comes in, what a scope holds goes out. An import is one run with a child a batch."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from slowwave.errors import ConflictError
from slowwave.model.codec import content_key
from slowwave.model.fact import Fact
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.message import Message, checked_message
from slowwave.model.operation import Add, Advance, Change, Link, Operation
from slowwave.model.plan import FREE, Plan, Receipt
from slowwave.model.query import Where
from slowwave.model.state import Linked
from slowwave.model.transfer import Item, Joined, Kept, Said, Skipped, Stated, Worked
from slowwave.pipelines.admission import Admission, named, one_line
from slowwave.pipelines.batches import batches
from slowwave.pipelines.entries import entries
from slowwave.pipelines.imported import Imported
from slowwave.pipelines.making import chunked, new_id, one_group, settle
from slowwave.pipelines.moves import dated
from slowwave.pipelines.observe import observe
from slowwave.pipelines.reconcile import Reconciled, reconcile
from slowwave.pipelines.tombstone import anything_erased, buried, erased, said_tombstones, tombstone
from slowwave.policy.categories import unprotected
from slowwave.policy.trust import least
from slowwave.ports import Ports

BATCH: Final = 500
"""Records of one transaction, so that an interrupted import loses little and starts again where it was."""
FACTS: Final = 20
"""Stated facts of one batch: a mind sees them together."""
REMEMBERED: Final = 500_000
"""Ids of messages that are kept in mind at once."""
EXAMPLES: Final = 20

T = TypeVar("T")
EXPORTED: Final = "from an export"
ERASED: Final = "erased earlier"
TAKEN_BACK: Final = "it was taken back earlier: find the undo that did it in `slowwave runs`, and `slowwave undo` of its id brings it back"
CONFLICT: Final = "its id is known in this conversation with other content"


def incoming(
    ports: Ports,
    items: Iterable[Item],
    *,
    dry_run: bool = False,
    trust_export: bool = False,
    told: Callable[[int], None] | None = None,
) -> Imported:
    """Take in what a file holds, batch by batch; interrupted, it can be run again: what is known stays as it is.

    Args:
        ports: everything to work with.
        items: in the order of the file.
        dry_run: only count; nothing is stored.
        trust_export: believe the records of an export also without proof.
        told: called after each batch with the items so far.
    """
    taker = _Taker(ports, dry_run=dry_run, trust_export=trust_export)
    seen = 0
    for batch in batches(items, BATCH):
        taker.take(batch)
        seen += len(batch)
        if told:
            told(seen)
    return taker.result()


class _Taker:
    """Takes batches in and keeps count."""

    def __init__(self, ports: Ports, *, dry_run: bool, trust_export: bool) -> None:
        self._ports = ports
        self._dry_run = dry_run
        self._parent = new_id(ports.now())
        self._wrote = False
        self._counts: Counter[str] = Counter()
        self._conversations: set[str] = set()
        self._admission = Admission(ports, trust_export=trust_export, dry_run=dry_run)
        self._known: dict[str, dict[str, int | None]] = {}
        self._skipped: Counter[str] = Counter()
        self._examples: list[Skipped] = []
        self._broken: list[Skipped] = []
        self._problems: dict[str, None] = {}
        self._cost = FREE

    def result(self) -> Imported:
        """What came of it."""
        return Imported(
            run_id=self._parent if self._wrote else "",
            messages=self._counts["messages"],
            facts=self._counts["facts"],
            links=self._counts["links"],
            conversations=len(self._conversations),
            known=self._counts["known"],
            skipped=dict(self._skipped.most_common()),
            examples=tuple(self._examples),
            broken=tuple(self._broken),
            unproven=self._admission.unproven,
            waiting=self._counts["waiting"],
            problems=tuple(self._problems),
            cost=self._cost,
            dry_run=self._dry_run,
        )

    def take(self, batch: Sequence[Item]) -> None:
        """One batch of one sort."""
        self._skip([item for item in batch if isinstance(item, Skipped)])
        if said := [item for item in batch if isinstance(item, Said)]:
            self._say(said)
        if kept := [item for item in batch if isinstance(item, Kept)]:
            self._keep(kept)
        facts = [item.fact for item in batch if isinstance(item, Stated)]
        for start in range(0, len(facts), FACTS):
            self._state(facts[start : start + FACTS])
        if links := [item for item in batch if isinstance(item, Joined)]:
            self._join(links)
        if worked := [item for item in batch if isinstance(item, Worked)]:
            self._work(worked)

    def _skip(self, skipped: Sequence[Skipped]) -> None:
        for one in skipped:
            if one.broken:
                self._broken.append(one)
            else:
                self._skipped[one.why] += 1
                if len(self._examples) < EXAMPLES:
                    self._examples.append(one)

    # ---- messages

    def _say(self, said: Sequence[Said]) -> None:
        by_conversation: dict[str, list[Said]] = {}
        for one in said:
            by_conversation.setdefault(one.conversation, []).append(one)
        for name, own in by_conversation.items():
            fresh = self._unburied(self._unknown(name, own), _said)
            if not fresh:
                continue
            self._conversations.add(name)
            self._counts["messages"] += len(fresh)
            if not self._dry_run:
                messages = [one.message for one in fresh]
                self._written(
                    observe(self._ports, messages, name, cause="import/messages", parent=self._parent, through="import")
                )

    def _unknown(self, name: str, said: Sequence[Said]) -> list[Said]:
        """Those that are new to their conversation; the same id with other words is skipped."""
        known = self._known_of(name)
        fresh = []
        for one in said:
            ref, content = str(one.message.id), _content(one.message)
            if ref not in known:
                known[ref] = content
                fresh.append(one)
            elif known[ref] is None:
                self._skip([Skipped(where=one.where, why=TAKEN_BACK)])
            elif known[ref] == content:
                self._counts["known"] += 1
            else:
                self._skip([Skipped(where=one.where, why=CONFLICT)])
        return fresh

    def _known_of(self, name: str) -> dict[str, int | None]:
        """What a conversation holds by the callers' ids, read once; None stands for what was taken back."""
        if name not in self._known:
            if sum(map(len, self._known.values())) > REMEMBERED:
                self._known.clear()
            where = Where(kinds=frozenset({MESSAGE}), conversation=name)
            stored = self._ports.store.select((self._ports.scope,), where)
            self._known[name] = {
                one.ref: None if one.phase == "retracted" else hash((one.role, one.text, one.speaker))
                for one in stored
                if one.ref
            }
        return self._known[name]

    # ---- records of our own exports

    def _keep(self, kept: Sequence[Kept]) -> None:
        """Memories as they stood, as far as they are believed. Near duplicates of known ones are left to the next sleep."""
        sifted = self._admission.sift(kept)
        self._skip(sifted.refused)
        unburied = self._unburied(sifted.fresh, buried)
        fresh = [one for one in unburied if not self._lives(one)]
        self._counts["known"] += sifted.known + len(sifted.fresh) - len(fresh)
        self._conversations |= {str(one.conversation) for one in fresh if one.kind == MESSAGE}
        if fresh and fresh[0].kind == MESSAGE:
            fresh = self._admission.numbered(fresh)
        changes = sifted.restored if self._dry_run else self._perform(sifted.restored)
        self._count_kept([one.after for one in changes if isinstance(one, Change)])
        if self._dry_run:
            self._count_kept(fresh)
        elif fresh:
            fresh = [one if one.kind == MESSAGE else dated(one, self._ports.config) for one in fresh]
            made, problems = entries(self._ports, [one.text for one in fresh])
            self._problems |= dict.fromkeys(problems)
            whole = [one if one.gist is None else _whole(one) for one in fresh]
            adds = [Add(memory=one, because=EXPORTED, entry=entry) for one, entry in zip(whole, made, strict=True)]
            stored = [done.memory for done in self._perform(adds) if isinstance(done, Add)]
            self._count_kept(stored)
            self._trim(stored, {one.id: one for one in fresh if one.gist is not None})

    def _trim(self, stored: Sequence[Memory], trimmed: Mapping[str, Memory]) -> None:
        """What was cold of a message's wording is so here: what is left has an entry of its own."""
        befores = [one for one in stored if one.id in trimmed]
        afters = [replace(one, gist=trimmed[one.id].gist, version=one.version + 1) for one in befores]
        made, problems = entries(self._ports, [one.wording for one in afters])
        self._problems |= dict.fromkeys(problems)
        self._perform(
            [
                Change(before=before, after=after, because=EXPORTED, entry=entry)
                for before, after, entry in zip(befores, afters, made, strict=True)
            ]
        )

    def _unburied(self, items: Sequence[T], keys: Callable[[T], tuple[str, ...]]) -> list[T]:
        """Those that were not erased here."""
        if not anything_erased(self._ports):
            return list(items)
        gone = erased(self._ports, map(keys, items))
        self._skip([Skipped(where="a record", why=ERASED) for was in gone if was])
        return [item for item, was in zip(items, gone, strict=True) if not was]

    def _lives(self, memory: Memory) -> bool:
        """Whether the same fact is hot already: a scope holds it once."""
        if memory.kind == MESSAGE or memory.is_cascade or not memory.hot:
            return False
        where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT), key=content_key(memory.text))
        return bool(self._ports.store.select((self._ports.scope,), where))

    def _count_kept(self, fresh: Sequence[Memory]) -> None:
        for one in fresh:
            self._counts["messages" if one.kind == MESSAGE else "facts"] += 1

    def _join(self, links: Sequence[Joined]) -> None:
        wanted = [(one, named(one.link)) for one in links]
        ids = {end for _, link in wanted for end in (link.source, link.target)}
        here = {memory.id: memory for memory in self._ports.store.get((self._ports.scope,), ids)}
        known = {(one.source, one.target, one.kind) for one in self._ports.store.links(self._ports.scope, list(ids))}
        fresh = []
        for one, link in wanted:
            if (link.source, link.target, link.kind) in known:
                self._counts["known"] += 1
            elif not self._admission.joins(one, link, here):
                self._skip([Skipped(where=one.where, why="a link to a memory that is not here, or is trusted further")])
            else:
                fresh.append(link)
        self._counts["links"] += len(fresh) if self._dry_run else len(self._perform([_link(one) for one in fresh]))

    def _work(self, worked: Sequence[Worked]) -> None:
        """Cursors move only where the messages before them are the export's own."""
        for one in worked:
            name, cursor = one_line(one.conversation), one_line(one.cursor)
            advances = self._admission.advances(one, name)
            found = self._ports.store.conversation(self._ports.scope, name)
            if self._dry_run or found is None or not advances:
                continue
            before = found.cursor(cursor)
            if before < one.seq <= found.last_seq:
                because = "read before the export"
                advance = Advance(conversation=name, cursor=cursor, before=before, after=one.seq, because=because)
                self._perform([advance])

    def _perform(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        """Carry out all of them; where that does not hold, each half by itself, down to the one that does not."""
        if not operations:
            return ()
        now = self._ports.now()
        plan = Plan(
            id=new_id(now),
            scope=self._ports.scope,
            cause="import/records",
            at=now,
            groups=chunked(operations, because="records of an export"),
            parent=self._parent,
        )
        try:
            receipt = self._written(self._ports.store.apply(plan))
            if not receipt.dropped:
                return receipt.applied
            why = receipt.dropped[0].reason
        except ConflictError:
            why = CONFLICT
        if len(operations) == 1:
            self._skip([Skipped(where="a record", why=why)])
            return ()
        middle = len(operations) // 2
        return (*self._perform(operations[:middle]), *self._perform(operations[middle:]))

    def _written(self, receipt: Receipt) -> Receipt:
        """Note what applying a part of it came to."""
        self._wrote = self._wrote or bool(receipt.applied)
        self._problems |= dict.fromkeys(receipt.problems)
        return receipt

    # ---- stated facts

    def _state(self, facts: Sequence[Fact]) -> None:
        facts = [
            replace(fact, trust=least((fact.trust, "import")), category=unprotected(fact.category)) for fact in facts
        ]
        facts = self._unburied(facts, lambda fact: (tombstone(fact.text),))
        if self._dry_run:
            self._counts["facts"] += len(facts)
            return
        done: list[Reconciled] = []

        def plan() -> Plan:
            now = self._ports.now()
            done.append(reconcile(self._ports, facts, now=now, stated=True))
            because = f"{len(facts)} facts of a file"
            made = one_group(self._ports, "import/facts", done[-1].operations, because, now=now, cost=done[-1].cost)
            return replace(made, parent=self._parent)

        receipt = self._written(settle(self._ports, plan))
        self._counts["facts"] += len(receipt.ids)
        self._counts["known"] += max(0, len(facts) - len(receipt.ids))
        self._counts["waiting"] += done[-1].waiting
        self._problems |= dict.fromkeys(done[-1].problems)
        self._cost += done[-1].cost


def _whole(memory: Memory) -> Memory:
    """A message as it was before some of its words went cold."""
    return replace(memory, gist=None, version=max(1, memory.version - 1))


def _said(one: Said) -> tuple[str, ...]:
    """The keys of a message as it would be stored."""
    row = checked_message(one.message, one.where)
    return said_tombstones(row.content, row.id, row.at)


def _content(message: Message) -> int:
    return hash((message.role, message.content, message.speaker))


def _link(link: Linked) -> Link:
    return Link(
        source=link.source,
        target=link.target,
        kind=link.kind,
        weight=link.weight,
        before=0.0,
        because=EXPORTED,
        at=link.at,
    )
