"""Brings topic pages up to date: the statements about one person and topic, by day, gathered from facts and messages.

Pages are derived from their members: only what changed since the last time is read, except for a page that does not exist yet,
for which the newest messages and facts are read. The words of an entry are those of its member; no model is asked.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import cache, cached_property
from math import log2
from typing import Final

from slowwave.model.codec import content_key
from slowwave.model.counted import counted
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, PAGE, STATEMENT_KINDS, SUMMARY, Memory, altered
from slowwave.model.operations import Add, Change, MoveCursor, Operation
from slowwave.model.plan import Group, Plan
from slowwave.model.query import Where
from slowwave.model.scope_state import ScopeState, StateQuery
from slowwave.pipelines.ingest.index_text import entries as index_entries
from slowwave.pipelines.planning import new_id, reschedule, transition
from slowwave.policy.guard.trust import least
from slowwave.policy.retention.importance import Frequencies
from slowwave.policy.summaries.page_entries import (
    PageEntry,
    current_lines,
    fact_entries,
    leaves_at,
    may_be_listed,
    merged_lines,
    message_entries,
    message_subject,
    stays,
    value,
)
from slowwave.policy.summaries.pages import PageLine, lines_of, page_key, page_text
from slowwave.policy.summaries.topics import LIFE
from slowwave.policy.text.spellings import Phrase
from slowwave.ports import Ports

CAUSE: Final = "consolidate/pages"
CAUSES: Final = frozenset({CAUSE, "sleep/topic_pages"})
"""The causes of runs that only bring pages up to date."""
CURSOR: Final = "pages"
"""Of each conversation the last message whose clauses pages list; of the scope the last change of a fact."""
MESSAGES_MAX: Final = 1000
"""How many new messages one pass reads."""
CONVERSATIONS_MAX: Final = 300
"""Of how many conversations one pass reads new messages: their cursors and the pages are one group (`GROUP_MAX`)."""
FACTS_MAX: Final = 500
"""How many changed facts one pass reads."""
REREAD: Final = 0.5
"""While no page changes, up to this share of the limits is read again by the next pass instead of moving cursors."""
GROWTHS: Final = 4
"""How often pages that do not exist yet are looked for while the number of memories doubles."""
GATHERED_MAX: Final = 2000
"""How many of the newest messages, and of the newest facts, are read for a page that does not exist yet."""
PAGES_MAX: Final = 100
"""How many pages one pass writes."""
LOOKED_AT: Final = timedelta(days=30)
"""How long a page that nothing changes is left alone at least: lines leave it together."""
LINES_MIN: Final = 4
"""A page with fewer lines is not begun."""
_PAGES: Final = Where(kinds=frozenset({SUMMARY}), categories=frozenset({PAGE}), phases=frozenset(HOT))
LINES_MAX: Final = 50
"""Lines of a page; those of least worth are left out, and are still found as facts and messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesPlan:
    """The group that brings pages up to date, if there is anything to do, and how much it leaves for another pass."""

    group: Group | None = None
    left: int = 0
    problems: tuple[str, ...] = ()


def write_pages(ports: Ports, *, parent: str | None = None) -> tuple[str, ...]:
    """Bring the pages of the scope up to date as a part of a run. Returns what went wrong; the rest waits for a sleep pass."""
    now = ports.now()
    query = StateQuery(selections=(due_pages(now),), changed={CURSOR: FACTS_MAX})
    planned = planned_pages(ports, now, ports.store.scope_state(ports.scope, query))
    if planned.group is not None:
        plan = Plan(id=new_id(now), scope=ports.scope, cause=CAUSE, at=now, groups=(planned.group,), parent=parent)
        ports.store.apply(plan)  # if another writer was faster, the next pass does it
    return planned.problems


def planned_pages(ports: Ports, now: datetime, state: ScopeState, taken: Collection[str] = ()) -> PagesPlan:
    """Plan the changes of all pages for what was said and changed since the last time. Nothing is written.

    Args:
        ports: the store and the settings.
        now: the instant of the change.
        state: the scope, with `due_pages(now)` and the facts that changed after `CURSOR`.
        taken: ids of pages that are not changed now.
    """
    return _Pages(ports, now, state, taken).planned()


def due_pages(now: datetime) -> Where:
    """The selection of the pages from which a line is to leave."""
    return replace(_PAGES, due_before=now)


class _Pages:
    """The pages of a scope, what is new for them, and the operations that add it."""

    def __init__(self, ports: Ports, now: datetime, state: ScopeState, taken: Collection[str]) -> None:
        self.ports = ports
        self.now = now
        self.taken = taken
        self.due = frozenset(page.ref for page in state.selected[due_pages(now)] if page.ref)
        self.messages: list[Memory] = []
        self.facts: list[Memory] = []
        self.cursors: list[MoveCursor] = []
        self.left = 0
        self._read(state)

    def planned(self) -> PagesPlan:
        if not self.messages and not self.facts and not self.due:
            return PagesPlan(left=self.left)
        operations = self._operations() if self._may_change() else []
        left = self.left + max(0, len(operations) - PAGES_MAX)
        indexed, problems = self._indexed(operations[:PAGES_MAX])
        if not indexed and (self._has_read_little() or not self.cursors):
            return PagesPlan(left=left)  # a run that only moves cursors would say nothing to a person
        because = f"{counted(len(indexed), 'topic page')} brought up to date"
        group = Group(operations=(*indexed, *self.cursors), because=because)
        return PagesPlan(group=group, left=left, problems=problems)

    def _has_read_little(self) -> bool:
        """Whether so little is new that the next pass can read it again."""
        read = (len(self.messages), MESSAGES_MAX), (len(self.facts), FACTS_MAX), (len(self.cursors), CONVERSATIONS_MAX)
        return all(number <= most * REREAD for number, most in read)

    def _may_change(self) -> bool:
        """Whether what is new can change a page or begin one; most small talk cannot, and then no index is needed."""
        if self.due:
            return True
        is_listable = bool(self.facts) or any(map(may_be_listed, self.messages))
        return is_listable and (bool(self.pages) or self._has_grown)

    def _operations(self) -> list[Add | Change]:
        """The new pages, and the changes of those that exist."""
        fresh = _by_page(self._entries(self.messages, self.facts))
        changed = {fact.id for fact in self.facts}
        touched = {key for key, page in self.pages.items() if not changed.isdisjoint(page.members)}
        keys = sorted({*fresh, *touched, *self.due})
        missing = {key for key in keys if key not in self.pages}
        gathered = self._gathered(missing) if missing and self._has_grown else {}
        former = self._with_key(gathered)
        operations: list[Add | Change] = []
        for key in keys:
            if key in missing:
                change = self._begun(gathered.get(key, []), former.get(key))
            else:
                change = self._updated(self.pages[key], fresh.get(key, []), changed)
            operations += [change] if change else []
        return operations

    def _read(self, state: ScopeState) -> None:
        """The messages and facts since the cursors, and the moves of the cursors behind them."""
        before, (facts, reached) = state.cursors.get(CURSOR, 0), state.changed[CURSOR]
        self.facts = list(facts)
        if facts and reached > before:
            self._move("", before, reached)
        self.left += len(facts) == FACTS_MAX
        room = MESSAGES_MAX
        wheres: list[Where] = []
        for found in state.conversations:
            start = found.cursor(CURSOR)
            if not found.name or found.last_seq <= start:
                continue
            if room <= 0 or len(wheres) == CONVERSATIONS_MAX:
                self.left += 1
                continue
            where = Where(
                kinds=frozenset({MESSAGE}),
                conversation=found.name,
                after_seq=start,
                until_seq=start + room,
                order="seq",
            )
            wheres.append(where)
            end = min(found.last_seq, start + room)
            self.left += end < found.last_seq
            room -= end - start
            self._move(found.name, start, end)
        selected = self.ports.store.select_each(self.ports.scope, wheres) if wheres else ()
        self.messages = [message for messages in selected for message in messages]

    def _move(self, conversation: str, before: int, after: int) -> None:
        self.cursors.append(
            MoveCursor(
                conversation=conversation, cursor=CURSOR, before=before, after=after, because="topic pages list it"
            )
        )

    @cached_property
    def pages(self) -> dict[str, Memory]:
        """The hot pages of the scope, by key."""
        return {page.ref: page for page in self.ports.store.select((self.ports.scope,), _PAGES) if page.ref}

    @cached_property
    def _has_grown(self) -> bool:
        """Whether new pages are looked for: each time the scope has grown by a fifth, so that the cost stays linear.

        None is looked for in a scope that has fewer memories than a page has lines.
        """
        size = sum(self.ports.store.count(self.ports.scope).values())
        before = size - len(self.messages) - len(self.facts)
        if size < LINES_MIN:
            return False
        return before <= 0 or int(GROWTHS * log2(size)) > int(GROWTHS * log2(before))

    @cached_property
    def _vocabulary(self) -> tuple[frozenset[str], Frequencies]:
        """The names of speakers, and how common words are, with one update of the search index."""
        store, scope = self.ports.store, self.ports.scope
        with store.reading((scope,)) as reading:
            reading.begin()
            frequency, documents = store.frequencies(scope)
            speakers = store.speakers(scope)
        return speakers, Frequencies(documents=documents, frequency=cache(frequency))  # the words of one topic recur

    @property
    def speakers(self) -> frozenset[str]:
        return self._vocabulary[0]

    @property
    def frequencies(self) -> Frequencies:
        return self._vocabulary[1]

    def _entries(
        self, messages: Iterable[Memory], facts: Iterable[Memory], only: Collection[str] | None = None
    ) -> list[PageEntry]:
        """The entries of messages (of these pages only), then those of facts, which replace them."""
        messages = list(messages)
        before = {(message.conversation, message.seq + 1): message for message in messages}
        found = [
            entry
            for message in messages
            for entry in message_entries(
                message,
                frequencies=self.frequencies,
                speakers=self.speakers,
                only=only,
                asked=_asked(before.get((message.conversation, message.seq)), message),
            )
        ]
        facts = list(facts)
        ids = dict.fromkeys(source.memory for fact in facts for source in fact.sources)
        sources = {memory.id: memory for memory in self.ports.store.get((self.ports.scope,), ids)}
        for fact in facts:
            said = [sources[source.memory] for source in fact.sources if source.memory in sources]
            speaker = message_subject(said[0]) if said else None
            found += fact_entries(fact, speaker=speaker, speakers=self.speakers, now=self.now)
        return found

    def _gathered(self, keys: Collection[str]) -> dict[str, list[PageEntry]]:
        """The entries of pages that do not exist yet, from the newest messages and facts."""
        kinds = (frozenset({MESSAGE}), frozenset(STATEMENT_KINDS))
        newest = [Where(kinds=each, order="newest", limit=GATHERED_MAX) for each in kinds]
        messages, facts = self.ports.store.select_each(self.ports.scope, newest)
        entries = _by_page(self._entries(reversed(messages), reversed(facts), keys))
        return {key: entries[key] for key in keys if key in entries}

    def _with_key(self, keys: Collection[str]) -> dict[str, Memory]:
        """The memories that have the key of a page that is not in use, by key: former pages, and facts of that id."""
        if not keys:
            return {}
        where = Where(kinds=frozenset(FACT_KINDS), refs=frozenset(keys))
        return {str(memory.ref): memory for memory in self.ports.store.select((self.ports.scope,), where)}

    def _begun(self, new: list[PageEntry], former: Memory | None) -> Add | Change | None:
        """A new page, unless it would have too few lines, or a person took back the same lines.

        A key belongs to one memory: a page that was retracted is written again, and a fact of a caller keeps its id.
        """
        if not new or (former is not None and former.id in self.taken):
            return None
        subject, topic = new[0].subject, new[0].topic
        lines, due = self._standing(merged_lines((), new, limit=LINES_MAX, worth=self._worth), topic)
        if len(lines) < LINES_MIN:
            return None
        text = page_text(subject, topic, lines)
        if self._is_held(text) or (
            former is not None and self._is_held(former.text) and not self._has_more(lines, former)
        ):
            return None
        page = Memory(
            id=new_id(self.now),
            scope=self.ports.scope,
            kind=SUMMARY,
            category=PAGE,
            subject=subject,
            ref=page_key(subject, topic),
            text=text,
            depth=1,
            recorded_at=self.now,
            valid_from=datetime.combine(lines[0].day, time(), UTC),
            members=tuple(line.member for line in lines),
            trust=least(entry.trust for entry in new),
            due_at=due,
        )
        because = f"{len(lines)} entries of {page.ref}"
        if former is None:
            return Add(memory=reschedule(page, self.ports.config), because=because)
        if not former.is_page or former.phase != "retracted":
            return None
        after = altered(
            transition(former, "restore", self.ports.config, valid_to=None),
            text=text,
            valid_from=page.valid_from,
            members=page.members,
            trust=page.trust,
            due_at=due,
        )
        return Change(before=former, after=after, because=because)

    def _is_held(self, text: str) -> bool:
        """Whether a person undid or deleted this text."""
        return bool(self.ports.store.suppressed_keys(self.ports.scope, [content_key(text)]))

    def _has_more(self, lines: Iterable[PageLine], former: Memory) -> bool:
        """Whether a line rests on nothing that a former page lists, or that a line of it rests on."""
        members = [line.member for line in lines]
        found = self.ports.store.get((self.ports.scope,), {*members, *former.members})
        bases = {memory.id: {memory.id, *(source.memory for source in memory.sources)} for memory in found}
        listed = {one for member in former.members for one in bases.get(member, {member})}
        return any(listed.isdisjoint(bases.get(member, {member})) for member in members)

    def _updated(self, page: Memory, new: list[PageEntry], changed: Collection[str]) -> Change | None:
        """The page with new entries, without those whose member was removed; None if it stays as it is."""
        if page.id in self.taken:
            return None
        old = lines_of(page)
        if not old:  # a person edited it into another form: it is theirs
            return self._rescheduled(page, None)
        members = {line.member for line in old} & set(changed)
        said_now = not all(entry.covers for entry in new)  # a message may be read after the facts that rest on it
        wanted = [line.member for line in old] if said_now else members
        now = {memory.id: memory for memory in self.ports.store.get((self.ports.scope,), wanted)}
        covers = {memory.id: frozenset(source.memory for source in memory.sources) for memory in now.values()}
        kept = [line for line in old if line.member not in members]
        said_before = {line.member: line for line in old}
        again = {entry.line.member for entry in new}
        kept += current_lines([said_before[member] for member in sorted(members - again)], now, self.now)
        topic = (page.ref or "").rpartition("/")[2]
        lines, due = self._standing(merged_lines(kept, new, limit=LINES_MAX, worth=self._worth, covers=covers), topic)
        if lines == old:
            return self._rescheduled(page, due)
        because = f"{len(lines)} entries of {page.ref}"
        if not lines:
            after = transition(page, "retract", self.ports.config, valid_to=self.now)
            return Change(before=page, after=after, because="nothing that it lists remains")
        after = altered(
            page,
            text=page_text(page.subject or "", topic, lines),
            members=tuple(line.member for line in lines),
            valid_from=datetime.combine(lines[0].day, time(), UTC),
            trust=least([page.trust, *(entry.trust for entry in new)]),
            due_at=due,
            version=page.version + 1,
        )
        return Change(before=page, after=after, because=because)

    def _rescheduled(self, page: Memory, due: datetime | None) -> Change | None:
        """A page that is due and stays as it is, with the next instant at which a line is to leave."""
        if page.ref not in self.due:
            return None
        after = altered(page, due_at=due, version=page.version + 1)
        return Change(before=page, after=after, because="checked; no line is to leave yet")

    def _standing(self, lines: Sequence[PageLine], topic: str) -> tuple[tuple[PageLine, ...], datetime | None]:
        """The lines that a page keeps, and when it is due again: when the next line may leave."""
        if topic == LIFE:
            return tuple(lines), None
        old = [line.member for line in lines if leaves_at(line) <= self.now]
        members = {member.id: member for member in self.ports.store.get((self.ports.scope,), old)} if old else {}
        ahead = [at for line in lines if (at := leaves_at(line)) > self.now]
        standing = tuple(
            line for line in lines if leaves_at(line) > self.now or stays(line, members.get(line.member), self._worth)
        )
        return standing, max(min(ahead), self.now + LOOKED_AT) if ahead else None

    def _worth(self, text: str) -> float:
        return value(text, self.frequencies, self.speakers)

    def _indexed(self, operations: list[Add | Change]) -> tuple[list[Operation], tuple[str, ...]]:
        """The operations with index entries for their texts."""
        texts = [step.memory.text if isinstance(step, Add) else step.after.text for step in operations]
        if not texts:
            return [], ()
        found, problems = index_entries(self.ports, texts)
        indexed: list[Operation] = []
        for step, entry in zip(operations, found, strict=True):
            if isinstance(step, Add):
                indexed.append(Add(memory=step.memory, because=step.because, entry=entry))
            else:
                own = entry if step.after.text != step.before.text else None
                indexed.append(Change(before=step.before, after=step.after, because=step.because, entry=own))
        return indexed, problems


def _asked(before: Memory | None, message: Memory) -> str | None:
    """What another speaker said right before a message."""
    if before is None or (before.role, before.speaker) == (message.role, message.speaker):
        return None
    return before.text


def _by_page(entries: Iterable[PageEntry]) -> dict[str, list[PageEntry]]:
    found: dict[str, list[PageEntry]] = {}
    for entry in entries:
        found.setdefault(page_key(entry.subject, entry.topic), []).append(entry)
    return found


def without_members(page: Memory, gone: Mapping[str, object], words: str | None = None) -> tuple[PageLine, ...]:
    """The lines of a page that do not rest on these memories, and do not contain these words."""
    phrase = Phrase(words) if words else None
    return tuple(
        line for line in lines_of(page) if line.member not in gone and (phrase is None or not phrase.is_in(line.text))
    )
