"""Imports messages, facts and exports in batches, as one run."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo
from typing import Final, TypeVar, cast

from slowwave.errors import ConflictError, StoreError, SuppressedError
from slowwave.log import Log
from slowwave.model.codec import content_key
from slowwave.model.exchange import (
    OF_FILE,
    ConversationTitle,
    ExportedCursor,
    ExportedLink,
    ExportedMemory,
    ImportedFact,
    ImportedMessage,
    ImportedNote,
    Item,
    SkippedItem,
)
from slowwave.model.memory import MESSAGE, NOTE, Memory
from slowwave.model.message import Message, checked_message
from slowwave.model.mind import Fact
from slowwave.model.names import TITLE_LONGEST
from slowwave.model.operations import Add, Change, Link, LinkKind, MoveCursor, Operation, SetTitle
from slowwave.model.plain_text import clean
from slowwave.model.plan import FREE, Plan, Receipt
from slowwave.model.progress import DISTIL_CURSOR
from slowwave.model.query import Where
from slowwave.model.status import LinkRow
from slowwave.model.zone import of_file
from slowwave.pipelines.conversations import READABLE
from slowwave.pipelines.exchange.admission import IMPORT, VOUCHED, Admission, WordsTrust, named
from slowwave.pipelines.exchange.batches import batches, newest_last
from slowwave.pipelines.exchange.dry_run import Planned
from slowwave.pipelines.exchange.import_report import ImportReport
from slowwave.pipelines.exchange.known import choose, is_known
from slowwave.pipelines.ingest.change_set import facts_with_key
from slowwave.pipelines.ingest.index_text import entries
from slowwave.pipelines.ingest.notes import erased_keys, planned as planned_notes, put_notes
from slowwave.pipelines.ingest.observe import observe, planned as planned_messages
from slowwave.pipelines.ingest.reconcile import ReconcileResult, reconcile
from slowwave.pipelines.ingest.review import QUARANTINED
from slowwave.pipelines.ingest.tombstones import (
    buried,
    said_tombstones,
    title_tombstone,
    tombstone,
    unerased,
    unless_erased,
)
from slowwave.pipelines.planning import apply_with_retry, new_id, reschedule, single_group_plan, split_groups
from slowwave.ports import Ports

BATCH: Final = 500
"""Records of one transaction. An interrupted import loses at most this many, and continues after the last stored batch."""
FACTS: Final = 20
"""Facts that are reconciled together, in one call of the mind."""
REMEMBERED: Final = 500_000
"""Ids of messages that are cached at once."""
EXAMPLES: Final = 20

_log: Final = Log("exchange")
T = TypeVar("T")
OF_IMPORT: Final = "the import"
EXPORTED: Final = "from an export"
ERASED: Final = "erased earlier"
TAKEN_BACK: Final = "it was retracted earlier: `runs` lists the undo that did it, and an `undo` of that run restores it"
SOURCELESS: Final = "it rests on a memory that is not stored here"
CONFLICT: Final = "its id is known in this conversation with other content"


def incoming(
    ports: Ports,
    items: Iterable[Item],
    *,
    dry_run: bool = False,
    trust_export: bool = False,
    trust: WordsTrust = IMPORT,
    on_progress: Callable[[], None] | None = None,
) -> ImportReport:
    """Import the items of a file batch by batch. It can be repeated after an interruption: known items are skipped.

    Args:
        ports: the store, the mind, the embedder and the settings.
        items: in the order of the file. The newest message is stored last, so that its conversation is the latest one.
        dry_run: nothing is stored; the report has the counts that an import would have. The mind is asked as in an import.
        trust_export: believe the records of an export also without proof.
        trust: "user" if a person vouches for the words of user and assistant in the file.
        on_progress: called after each batch.

    Raises:
        ImportInterruptedError: Ctrl-C was pressed; its report says what was imported until then.
    """
    importer = Importer(ports, dry_run=dry_run, trust_export=trust_export, trust=trust)
    try:
        for batch in batches(newest_last(items), BATCH):
            importer.take(batch)
            if on_progress:
                on_progress()
    except KeyboardInterrupt as stop:
        importer.find_run()
        raise ImportInterruptedError(importer.result()) from stop
    report = importer.result()
    _log.info(
        "import finished: %d messages, %d facts, %d known, %d skipped, %d problems",
        report.messages,
        report.facts,
        report.known,
        sum(report.skipped.values()),
        len(report.problems),
    )
    return report


class ImportInterruptedError(KeyboardInterrupt):
    """An import was stopped by Ctrl-C. What was imported until then is stored, as one run.

    Importing the same file again continues, because known items are skipped. The report counts what the store has
    acknowledged: of the interrupted batch, more may be stored.

    Attributes:
        report: what was imported until then; `undo` takes its `run_id`.
    """

    def __init__(self, report: ImportReport) -> None:
        super().__init__(f"interrupted; import the same file again to continue: what is stored is skipped\n{report}")
        self.report = report


class Importer:
    """Imports batches and counts their items."""

    def __init__(self, ports: Ports, *, dry_run: bool, trust_export: bool, trust: WordsTrust) -> None:
        self._ports = ports
        self._dry_run = dry_run
        self._parent = new_id(ports.now())
        self._wrote = False
        self._counts: Counter[str] = Counter()
        self._conversations: set[str] = set()
        self._planned = Planned()
        self._admission = Admission(ports, trust_export=trust_export, trust=trust, planned=self._planned.records)
        self._known: dict[str, dict[str, int | None]] = {}
        self._remembered = 0
        self._titles: dict[str, str] = {}
        self._skipped: Counter[str] = Counter()
        self._undated: Counter[str] = Counter()
        self._examples: list[SkippedItem] = []
        self._broken: list[SkippedItem] = []
        self._problems: dict[str, None] = {}
        self._cost = FREE

    def result(self) -> ImportReport:
        """The report of all batches so far."""
        return ImportReport(
            run_id=self._parent if self._wrote else "",
            messages=self._counts["messages"],
            facts=self._counts["facts"],
            notes=self._counts["notes"],
            links=self._counts["links"],
            conversations=len(self._conversations),
            titles=self._titles,
            known=self._counts["known"],
            skipped=dict(self._skipped.most_common()),
            examples=tuple(self._examples),
            broken=tuple(self._broken),
            unproven=self._admission.unproven,
            waiting=self._counts["waiting"],
            withheld=self._counts["withheld"],
            vouched=self._counts["vouched"],
            raised=self._counts["raised"],
            undated=dict(self._undated),
            problems=tuple(self._problems),
            cost=self._cost,
            dry_run=self._dry_run,
        )

    def find_run(self) -> None:
        """Look the run up after an interruption: its first batch may be stored although that was not acknowledged."""
        if not self._wrote and not self._dry_run:
            with suppress(StoreError):
                self._wrote = self._ports.store.run(self._ports.scope, self._parent) is not None

    def take(self, batch: Sequence[Item]) -> None:
        """Import one batch of one sort. Times of other programs get the zone of the memory (`zone.of_file`)."""
        batch = [_in_zone(item, self._ports.zone) for item in batch]
        self._skip([item for item in batch if isinstance(item, SkippedItem)])
        if messages := [item for item in batch if isinstance(item, ImportedMessage)]:
            self._add_messages(messages)
        if memories := [item for item in batch if isinstance(item, ExportedMemory)]:
            self._add_memories(memories)
        if notes := [item for item in batch if isinstance(item, ImportedNote)]:
            self._add_notes(notes)
        facts = [item.fact for item in batch if isinstance(item, ImportedFact)]
        for start in range(0, len(facts), FACTS):
            self._add_facts(facts[start : start + FACTS])
        if titles := [item for item in batch if isinstance(item, ConversationTitle)]:
            self._set_titles(titles)
        if links := [item for item in batch if isinstance(item, ExportedLink)]:
            self._add_links(links)
        if cursors := [item for item in batch if isinstance(item, ExportedCursor)]:
            self._move_cursors(cursors)

    def _skip(self, skipped: Sequence[SkippedItem]) -> None:
        for item in skipped:
            if item.broken:
                self._broken.append(item)
            else:
                self._skipped[item.why] += 1
                if len(self._examples) < EXAMPLES:
                    self._examples.append(item)

    # ---- messages

    def _add_messages(self, items: Sequence[ImportedMessage]) -> None:
        by_conversation: dict[str, list[ImportedMessage]] = {}
        # Ordered by the last message of each conversation, so that the one of the last message is written last.
        for item in items:
            same = by_conversation.pop(item.conversation, [])
            same.append(item)
            by_conversation[item.conversation] = same
        for name, same in by_conversation.items():
            fresh = self._not_erased(self._unknown(name, same), _message_tombstones)
            self._raise_known(name, same)
            if not fresh:
                continue
            fresh = [self._not_ahead(item) for item in fresh]
            messages, vouched = [item.message for item in fresh], self._admission.vouched
            if self._dry_run:
                added = planned_messages(self._ports, messages, name, through=IMPORT, vouched=vouched)
                self._plan(added)
            else:
                cause, parent = "import/messages", self._parent
                added = _added(
                    self._written(
                        observe(
                            self._ports, messages, name, cause=cause, parent=parent, through=IMPORT, vouched=vouched
                        )
                    )
                )
            self._count_vouched(added)
            self._conversations.add(name)  # counted once stored, so that an interrupted batch is not
            self._counts["messages"] += len(fresh)
            self._undated.update(item.time_of for item in fresh if item.time_of)

    def _not_ahead(self, item: ImportedMessage) -> ImportedMessage:
        """The message, which has the time of the import if that of its file is later, by another clock."""
        at = item.message.at
        if item.time_of != OF_FILE or at is None or at <= self._ports.now():
            return item
        return replace(item, message=replace(item.message, at=None), time_of=OF_IMPORT)

    def _unknown(self, name: str, items: Sequence[ImportedMessage]) -> list[ImportedMessage]:
        """The messages that are new to their conversation; one with a known id and another content is skipped."""
        known = self._known_of(name)
        fresh = []
        for item in items:
            ref, content = str(item.message.id), _content(item.message.role, item.message.content, item.message.speaker)
            if ref not in known:
                known[ref] = content
                self._remembered += 1
                fresh.append(item)
            elif known[ref] is None:
                self._skip([SkippedItem(where=item.where, why=TAKEN_BACK)])
            elif known[ref] == content:
                self._counts["known"] += 1
            else:
                self._skip([SkippedItem(where=item.where, why=CONFLICT)])
        return fresh

    def _raise_known(self, name: str, items: Sequence[ImportedMessage]) -> None:
        """If a person vouches for the file, trust the messages that an earlier import stored as if it had been vouched for."""
        changes = self._admission.raised(name, [item.message for item in items])
        done = self._perform(changes, because=f"messages: {VOUCHED}", conversations=(name,))
        self._counts["raised"] += sum(isinstance(one, Change) and one.after.trust == "user" for one in done)

    def _known_of(self, name: str) -> dict[str, int | None]:
        """A hash of each message of a conversation by the caller's id, cached; None for a retracted message."""
        if name not in self._known:
            if self._remembered > REMEMBERED:
                self._known.clear()
                self._remembered = 0
            where = Where(kinds=frozenset({MESSAGE}), conversation=name)
            stored = self._ports.store.select((self._ports.scope,), where)
            self._known[name] = {
                message.ref: None
                if message.phase == "retracted"
                else _content(str(message.role), message.text, message.speaker)
                for message in stored
                if message.ref
            }
            self._remembered += len(self._known[name])
        return self._known[name]

    # ---- notes

    def _add_notes(self, items: Sequence[ImportedNote]) -> None:
        present = self._not_erased(items, lambda item: erased_keys(item.note))
        chosen = choose(self._ports, present, self._planned.notes)
        self._skip(chosen.skipped)
        self._counts["known"] += chosen.known
        notes, parent = list(chosen.notes.values()), self._parent
        if self._dry_run:
            self._plan(planned_notes(self._ports, notes, trust="import", keep_times=True))
        elif notes:
            self._written(
                put_notes(self._ports, notes, trust="import", cause="import/notes", parent=parent, keep_times=True)
            )
        self._counts["notes"] += len(chosen.notes)

    # ---- titles

    def _set_titles(self, items: Sequence[ConversationTitle]) -> None:
        """Set titles of conversations that have no title and at least one message that was not retracted."""
        changes: dict[str, SetTitle] = {}
        for item in self._not_erased(items, lambda item: (tombstone(item.title), title_tombstone(_title(item)))):
            name, title = clean(item.conversation), _title(item)
            found = self._ports.store.conversation(self._ports.scope, name)
            has_title = (found is not None and found.title is not None) or (self._dry_run and name in self._titles)
            if not has_title and self._has_messages(name):
                changes[name] = SetTitle(conversation=name, before=None, after=title, because=EXPORTED)
        done = self._perform(list(changes.values()), because="titles of conversations", conversations=tuple(changes))
        self._titles |= {
            operation.conversation: str(operation.after) for operation in done if isinstance(operation, SetTitle)
        }

    def _has_messages(self, name: str) -> bool:
        where = Where(kinds=frozenset({MESSAGE}), phases=READABLE, conversation=name, limit=1)
        return name in self._planned.conversations or bool(self._ports.store.select((self._ports.scope,), where))

    # ---- records of our own exports

    def _add_memories(self, items: Sequence[ExportedMemory]) -> None:
        """Store memories as they were exported, as far as they are believed; the next sleep pass finds near duplicates."""
        sifted = self._admission.sift(items)
        self._skip(sifted.refused)
        fresh = [memory for memory in self._not_erased(sifted.fresh, buried) if not self._is_duplicate(memory)]
        self._counts["known"] += sifted.known + len(sifted.fresh) - len(fresh)
        fresh = self._with_sources(fresh)
        if fresh and fresh[0].kind == MESSAGE:
            fresh = self._admission.numbered(fresh)
        changes = self._perform(sifted.restored)
        self._count_kept([one.after for one in changes if isinstance(one, Change)])
        if self._dry_run:
            self._planned.add_records(fresh)
            self._count_withheld(fresh)
            self._count_kept(fresh)
        elif fresh:
            fresh = [one if one.kind == MESSAGE else reschedule(one, self._ports.config) for one in fresh]
            made, problems = entries(self._ports, [one.text for one in fresh])
            self._problems |= dict.fromkeys(problems)
            whole = [one if one.gist is None else _whole(one) for one in fresh]
            adds = [Add(memory=one, because=EXPORTED, entry=entry) for one, entry in zip(whole, made, strict=True)]
            stored = [done.memory for done in self._perform(adds) if isinstance(done, Add)]
            self._count_kept(stored)
            self._trim(stored, {one.id: one for one in fresh if one.gist is not None})

    def _trim(self, stored: Sequence[Memory], trimmed: Mapping[str, Memory]) -> None:
        """Shorten messages as they were in the export; the remaining clauses get their own index entry."""
        befores = [memory for memory in stored if memory.id in trimmed]
        afters = [replace(memory, gist=trimmed[memory.id].gist, version=memory.version + 1) for memory in befores]
        made, problems = entries(self._ports, [memory.visible_text for memory in afters])
        self._problems |= dict.fromkeys(problems)
        self._perform(
            [
                Change(before=before, after=after, because=EXPORTED, entry=entry)
                for before, after, entry in zip(befores, afters, made, strict=True)
            ]
        )

    def _with_sources(self, memories: Sequence[Memory]) -> list[Memory]:
        """The memories whose sources and members are stored or come before them, as the store requires."""
        rests_on = [{*(source.memory for source in one.sources), *one.members} for one in memories]
        here = set(self._admission.stored(set().union(*rests_on)))
        kept = []
        for memory, needed in zip(memories, rests_on, strict=True):
            if needed <= here:
                here.add(memory.id)
                kept.append(memory)
        self._skip([SkippedItem(where="a record", why=SOURCELESS)] * (len(memories) - len(kept)))
        return kept

    def _not_erased(self, items: Sequence[T], keys: Callable[[T], tuple[str, ...]]) -> list[T]:
        """The items that were not erased here before."""
        kept, _ = unerased(self._ports, items, keys)
        self._skip([SkippedItem(where="a record", why=ERASED)] * (len(items) - len(kept)))
        return kept

    def _is_duplicate(self, memory: Memory) -> bool:
        """Whether a hot fact with the same content key is stored: a scope holds each once."""
        if memory.kind in {MESSAGE, NOTE} or memory.is_cascade or not memory.is_searchable:
            return False
        key = content_key(memory.text)
        return key in self._planned.facts or bool(facts_with_key(self._ports, key))

    def _count_kept(self, fresh: Sequence[Memory]) -> None:
        self._conversations |= {str(memory.conversation) for memory in fresh if memory.kind == MESSAGE}
        for memory in fresh:
            self._counts["messages" if memory.kind == MESSAGE else "facts"] += 1

    def _add_links(self, links: Sequence[ExportedLink]) -> None:
        pairs = [(exported, named(exported.link)) for exported in links]
        ids = {end for _, link in pairs for end in (link.source, link.target)}
        here = self._admission.stored(ids)
        known = self._planned.links | {
            (exported.source, exported.target, exported.kind)
            for exported in self._ports.store.links(self._ports.scope, list(ids))
        }
        fresh = []
        for exported, link in pairs:
            if (link.source, link.target, link.kind) in known:
                self._counts["known"] += 1
            elif not self._admission.joins(exported, link, here):
                self._skip(
                    [
                        SkippedItem(
                            where=exported.where, why="a link to a memory that is not here, or is trusted further"
                        )
                    ]
                )
            else:
                fresh.append(link)
        if self._dry_run:
            self._planned.add_links(fresh)
        self._counts["links"] += len(self._perform([_link(exported) for exported in fresh]))

    def _move_cursors(self, cursors: Sequence[ExportedCursor]) -> None:
        """Move cursors, if the messages before them are from the export."""
        for exported in cursors:
            name, cursor = clean(exported.conversation), clean(exported.cursor)
            advances = self._admission.advances(exported, name)
            found = self._ports.store.conversation(self._ports.scope, name)
            if self._dry_run or found is None or not advances:
                continue
            before, after = found.cursor(cursor), exported.seq
            if cursor == DISTIL_CURSOR:  # the last messages that were read may have been erased here
                after = min(after, found.last_seq)
            if before < after <= found.last_seq:
                because = "read before the export"
                advance = MoveCursor(conversation=name, cursor=cursor, before=before, after=after, because=because)
                self._perform([advance])

    def _perform(
        self,
        operations: Sequence[Operation],
        because: str = "records of an export",
        conversations: tuple[str, ...] = (),
    ) -> Sequence[Operation]:
        """Apply all operations; if they conflict, each half by itself, down to the one that conflicts.

        In a dry run nothing is applied, and all operations are returned.
        """
        if not operations or self._dry_run:
            return operations
        now = self._ports.now()
        plan = Plan(
            id=new_id(now),
            scope=self._ports.scope,
            cause="import/records",
            at=now,
            groups=split_groups(operations, because=because, conversations=conversations),
            parent=self._parent,
            unless_held=self._tombstones_of(operations),
        )
        try:
            receipt = self._written(self._ports.store.apply(plan))
            if not receipt.dropped:
                return receipt.applied
            why = receipt.dropped[0].reason
        except ConflictError:
            why = CONFLICT
        except SuppressedError:
            why = ERASED
        if len(operations) == 1:
            self._skip([SkippedItem(where="a record", why=why)])
            return ()
        middle = len(operations) // 2
        return (
            *self._perform(operations[:middle], because, conversations),
            *self._perform(operations[middle:], because, conversations),
        )

    def _tombstones_of(self, operations: Sequence[Operation]) -> tuple[str, ...]:
        """The keys that an erase by another process suppresses, which this import did not see when it sifted its records."""
        added = [buried(operation.memory) for operation in operations if isinstance(operation, Add)]
        return unless_erased(self._ports, added) if added else ()

    def _written(self, receipt: Receipt) -> Receipt:
        """Record the receipt of a child run."""
        self._wrote = self._wrote or bool(receipt.applied)
        self._problems |= dict.fromkeys(receipt.problems)
        self._count_withheld(_added(receipt))
        return receipt

    def _count_withheld(self, added: Iterable[Memory]) -> None:
        self._counts["withheld"] += sum(memory.phase == QUARANTINED for memory in added)

    def _count_vouched(self, added: Iterable[Memory]) -> None:
        self._counts["vouched"] += sum(self._admission.vouches_for(memory) for memory in added)

    def _plan(self, memories: Sequence[Memory]) -> None:
        """In a dry run: count and remember what would have been stored."""
        self._count_withheld(memories)
        self._planned.add(memories)

    # ---- stated facts

    def _add_facts(self, facts: Sequence[Fact]) -> None:
        facts = [self._admission.stated(fact) for fact in facts]
        facts = self._not_erased(facts, _fact_tombstones)
        planned = self._planned.facts
        fresh = [fact for fact in facts if content_key(fact.text) not in planned and not is_known(self._ports, fact)]
        self._counts["known"] += len(facts) - len(fresh)
        self._reconcile(fresh)

    def _reconcile(self, facts: Sequence[Fact]) -> None:
        if not facts:
            return
        attempts: list[ReconcileResult] = []

        def plan() -> Plan:
            now = self._ports.now()
            by_person = self._ports.ceiling == "user"
            kept, unless_held = unerased(self._ports, facts, _fact_tombstones)  # another process may have erased one
            attempts.append(reconcile(self._ports, kept, now=now, stated=by_person))
            because = f"{len(kept)} facts of a file"
            because += f"; {self._admission.vouched}" if self._admission.vouched else ""
            made = single_group_plan(
                self._ports, "import/facts", attempts[-1].operations, because, now=now, cost=attempts[-1].cost
            )
            return replace(made, parent=self._parent, unless_held=unless_held)

        if self._dry_run:
            operations = [operation for group in plan().groups for operation in group.operations]
            receipt = Receipt(run_id="", cause="import/facts", scope=self._ports.scope, applied=tuple(operations))
            self._plan(_added(receipt))
        else:
            receipt = self._written(apply_with_retry(self._ports, plan))
        self._count_vouched(_added(receipt))
        self._counts["facts"] += len(receipt.ids)
        self._counts["known"] += max(0, len(facts) - len(receipt.ids))
        self._counts["waiting"] += attempts[-1].waiting
        self._problems |= dict.fromkeys(attempts[-1].problems)
        self._cost += attempts[-1].cost


def _added(receipt: Receipt) -> list[Memory]:
    return [done.memory for done in receipt.applied if isinstance(done, Add)]


def _whole(memory: Memory) -> Memory:
    """A message as it was before it was shortened."""
    return replace(memory, gist=None, version=max(1, memory.version - 1))


def _in_zone(item: Item, zone: tzinfo) -> Item:
    match item:
        case ImportedMessage(message=Message(at=at) as message) if at is not None:
            return replace(item, message=replace(message, at=of_file(at, zone)))
        case ImportedFact(fact=fact):
            since, until = (at and of_file(at, zone) for at in (fact.valid_from, fact.expires_at))
            return replace(item, fact=replace(fact, valid_from=since, expires_at=until))
        case ImportedNote(note=note):
            changed, until = (at and of_file(at, zone) for at in (note.updated_at, note.expires_at))
            return replace(item, note=replace(note, updated_at=changed, expires_at=until))
    return item


def _fact_tombstones(fact: Fact) -> tuple[str, ...]:
    return (tombstone(fact.text),)


def _message_tombstones(item: ImportedMessage) -> tuple[str, ...]:
    """The tombstones of a message as it would be stored."""
    row = checked_message(item.message, item.where)
    return said_tombstones(row.content, row.id, row.at)


def _title(item: ConversationTitle) -> str:
    """The title as it would be stored."""
    return clean(item.title)[:TITLE_LONGEST]


def _content(role: str, text: str, speaker: str | None) -> int:
    """A hash of what a message with a known id must have to be the same message."""
    return hash((role, text, speaker))


def _link(link: LinkRow) -> Link:
    return Link(
        source=link.source,
        target=link.target,
        kind=cast("LinkKind", link.kind),  # a later version may have others
        weight=link.weight,
        before=0.0,
        because=EXPORTED,
        at=link.at,
    )
