"""Values of the library as rows that the templates of the dashboard print."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Final

from slowwave.agent_memory import AgentMemory
from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operations import Add, Change, Erase, Link, Operation, RejectFact, SetTitle, Use
from slowwave.model.plan import Event, Plan, Run, count_operations, merge_groups
from slowwave.model.query import Hit
from slowwave.pipelines.admin.health import Finding, Health
from slowwave.policy.guard.labels import short_name
from slowwave.policy.summaries.pages import Page
from slowwave.server.dashboard.differences import Piece, differences
from slowwave.server.dashboard.words import PARTS, PHASES, cause_title, noun_of, tell_counts

SHOWN_PER_GROUP: Final = 40
"""Operations of one group that a page shows; the others are counted."""
SHOWN_FIRST: Final = 5
"""Changes of a run that a page shows before a person asks for all of them."""
LATEST_LINES: Final = 5
"""Entries of a topic page that a list of pages shows; the others unfold."""
HOT: Final = frozenset({"active", "core"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """One memory in a list: its text, its strength (None for a message), and why it is there.

    `parts` are the parts of the score of a search, the largest first.
    """

    memory: Memory
    text: str
    strength: float | None = None
    relevance: float | None = None
    parts: tuple[tuple[str, float], ...] = ()
    because: str = ""

    @property
    def by(self) -> str:
        """What it is: a message and who said it, or a fact and its category."""
        memory = self.memory
        if memory.kind == MESSAGE:
            return f"said by {short_name(memory.role, memory.speaker)}"
        noun = noun_of(memory)
        return noun if noun == memory.category else f"{noun}: {memory.category}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """One operation as a difference: the text before it, the text after it, and the reason.

    Attributes:
        kind: the class of its mark: "added", "archived", "reworded", "replaced", "removed", "restored", "linked",
            "refused", "changed", "used" or "erased".
        noun: what was changed, such as "fact" or "message".
    """

    kind: str
    noun: str = "fact"
    before: str = ""
    after: str = ""
    because: str = ""
    memory: str = ""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The two texts as one with their differences marked; empty if they are shown one after the other."""
        return differences(self.before, self.after) if self.before and self.after else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """Operations with one reason, how many more of them are not shown, and the number of all by noun and kind."""

    because: str
    rows: tuple[ChangeRow, ...]
    more: int = 0
    counts: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def shared(self) -> str:
        """The reason that all rows have in common, which a page prints once; empty if they differ or there is one row."""
        reasons = {row.because for row in self.rows}
        return reasons.pop() if len(self.rows) > 1 and len(reasons) == 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRow:
    """A plan or a stage of a sleep pass with the groups that change something."""

    title: str
    groups: tuple[GroupRow, ...]

    @property
    def counted(self) -> str:
        """What it changes, in words; memories that are only rescheduled do not count."""
        return count_changes((self,))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run in a list.

    Attributes:
        counted: how many memories it changed, in words; memories that were only rescheduled do not count.
        stages: the stages of a sleep pass that changed something.
        undone_by: the id of the run that undid it; empty if it is not undone.
        undos: 0 for a run that undoes none, 1 for an undo, 2 for the undo of an undo, and so on.
    """

    run: Run
    title: str
    counted: str
    stages: tuple[StageRow, ...] = ()
    undone_by: str = ""
    undos: int = 0

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo. The undo of an erase is refused."""
        return bool(self.counted) and not self.undone_by and self.run.cause != "erase"

    @property
    def undo_name(self) -> str:
        """The name of the button that reverses it: the undo of an undo applies the changes again."""
        return "Redo" if self.undos % 2 else "Undo"

    @property
    def first(self) -> list[ChangeRow]:
        """The changes that a person sees first, some of each kind."""
        rows = [row for stage in self.stages for group in stage.groups for row in group.rows]
        seen: Counter[str] = Counter()
        places = []
        for row in rows:
            places.append(seen[row.kind])
            seen[row.kind] += 1
        chosen = sorted(range(len(rows)), key=lambda number: places[number])[:SHOWN_FIRST]
        return [rows[number] for number in sorted(chosen, key=lambda number: (rows[number].kind != "added", number))]

    @property
    def more(self) -> int:
        """How many changes are not among the first ones."""
        return sum(sum(group.counts.values()) for stage in self.stages for group in stage.groups) - len(self.first)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A topic page: its topic, and its facts, the latest first."""

    topic: str
    latest: tuple[Memory, ...]
    earlier: tuple[Memory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRow:
    """One event of a memory's history, or several uses in a row, the first of which was at `since`."""

    event: Event
    title: str
    row: ChangeRow | None
    because: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """One finding about a scope, with the memories that it names, two in each example of a finding about pairs."""

    finding: Finding
    examples: tuple[tuple[Memory, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A source message, cut into the text before the quotation, the quotation, and the text after it."""

    message: Memory
    before: str
    quote: str
    after: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkRow:
    """A message of a conversation and the facts that were drawn from it."""

    message: Memory
    by: str
    facts: tuple[Memory, ...] = field(default=())


def hit_rows(memory: AgentMemory, hits: Sequence[Hit]) -> list[MemoryRow]:
    """The hits of a search with the three largest parts of their score."""
    strengths = memory.strengths([hit.memory for hit in hits])
    return [
        MemoryRow(
            memory=hit.memory,
            text=hit.text,
            strength=None if hit.memory.kind == MESSAGE else strength,
            relevance=hit.relevance,
            parts=_largest_parts(hit.parts),
            because=hit.because,
        )
        for hit, strength in zip(hits, strengths, strict=True)
    ]


def memory_rows(memory: AgentMemory, memories: Sequence[Memory]) -> list[MemoryRow]:
    """Listed memories with their strengths."""
    strengths = memory.strengths(memories)
    return [
        MemoryRow(memory=each, text=each.text, strength=None if each.kind == MESSAGE else strength)
        for each, strength in zip(memories, strengths, strict=True)
    ]


def _largest_parts(parts: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    ordered = sorted(parts.items(), key=lambda part: -abs(part[1]))
    return tuple((PARTS.get(name, name), value) for name, value in ordered[:3] if abs(value) >= 0.005)  # noqa: PLR2004 - it prints as 0.00


def stage_rows(plan: Plan, texts: Mapping[str, str]) -> list[StageRow]:
    """A plan and its parts as differences, without stages that change nothing. `texts` are texts of linked memories by id."""
    stages = [
        StageRow(title=cause_title(each.cause), groups=tuple(_group_rows(each, texts))) for each in (plan, *plan.parts)
    ]
    return [stage for stage in stages if stage.groups]


def _group_rows(plan: Plan, texts: Mapping[str, str]) -> Iterator[GroupRow]:
    for group in merge_groups(plan.groups):
        rows = [row for operation in group.operations if (row := change_row(operation, texts)) is not None]
        if rows:
            yield GroupRow(
                because=group.because,
                rows=tuple(rows[:SHOWN_PER_GROUP]),
                more=max(0, len(rows) - SHOWN_PER_GROUP),
                counts=Counter((row.noun, row.kind) for row in rows),
            )


def count_changes(stages: Iterable[StageRow]) -> str:
    """What these stages change, in words, such as "2 facts added, 1 archived"; empty if they change nothing."""
    counts: Counter[tuple[str, str]] = Counter()
    for stage in stages:
        for group in stage.groups:
            counts.update(group.counts)
    return tell_counts(counts)


def change_row(operation: Operation, texts: Mapping[str, str]) -> ChangeRow | None:
    """An operation as a difference; None for one that a person need not see, such as a moved cursor."""
    row = None
    match operation:
        case Add(memory=memory):
            row = ChangeRow(
                kind="added", noun=noun_of(memory), after=memory.text, because=operation.because, memory=memory.id
            )
        case Change(before=before, after=after) if not operation.only_reschedules:
            row = _changed(before, after, operation.because)
        case Link(source=source, target=target, kind=kind, weight=weight) if kind != "provenance":
            ends = f"{texts.get(source, source)} — {texts.get(target, target)}"
            verb = "linked" if weight else "unlinked"
            row = ChangeRow(kind=verb, noun="pair", after=f"{ends} ({kind})", because=operation.because, memory=source)
        case Use(used_version=memory):
            row = ChangeRow(
                kind="used", noun=noun_of(memory), after=memory.text, because=operation.because, memory=memory.id
            )
        case RejectFact(text=text, reason=reason):
            row = ChangeRow(kind="refused", before=text, because=reason)
        case SetTitle(conversation=conversation, before=title_before, after=title):
            after_title = title or f"no title: {conversation}"
            row = ChangeRow(
                kind="changed", noun="title", before=title_before or "", after=after_title, because=operation.because
            )
        case Erase(memory=erased):
            row = ChangeRow(kind="erased", noun="memory", before=erased, because=operation.because)
        case _:
            pass  # moved cursors, suppressed keys, and the provenance that the page of a summary lists
    return row


def _changed(before: Memory, after: Memory, because: str) -> ChangeRow:
    """A change of phase, of words, or of neither, by the class of its mark."""
    reworded = before.text != after.text
    if before.phase == after.phase:
        shorter = not reworded and before.visible_text != after.visible_text
        return ChangeRow(
            kind="reworded" if reworded or shorter else "changed",
            noun=noun_of(after),
            before=before.visible_text if reworded or shorter else "",
            after=after.visible_text,
            because=because,
            memory=after.id,
        )
    kind = {"cold": "archived", "superseded": "replaced", "retracted": "removed"}.get(after.phase, "restored")
    gone = after.phase not in HOT
    return ChangeRow(
        kind=kind,
        noun=noun_of(after),
        before=before.text if gone or reworded else "",
        after=after.text if reworded or not gone else "",
        because=because,
        memory=after.id,
    )


def linked_ids(plans: Iterable[Plan]) -> set[str]:
    """The ids of the memories that links in these plans and their parts name."""
    operations = (operation for plan in plans for operation in plan.operations)
    return {end for each in operations if isinstance(each, Link) for end in (each.source, each.target)}


def run_row(run: Run, undone: Mapping[str, str], texts: Mapping[str, str], undos: int = 0) -> RunRow:
    """A run that was read with its parts. `undone` are the ids of the undos by the ids of the runs that they undid."""
    stages = tuple(stage for each in (run, *run.parts) for stage in stage_rows(each.plan, texts))
    operations = (operation for each in (run, *run.parts) for operation in each.plan.operations)
    return RunRow(
        run=run,
        title="Redo" if undos and undos % 2 == 0 else cause_title(run.cause),
        counted=count_changes(stages) or count_operations(operations),
        stages=stages,
        undone_by=undone.get(run.id, ""),
        undos=undos,
    )


def history_rows(events: Sequence[Event]) -> list[HistoryRow]:
    """The history of a memory, the latest event first. Uses that follow each other are one row."""
    found = []
    for is_use, group in groupby(reversed(events), key=lambda event: isinstance(event.operation, Use)):
        for event, *others in [list(group)] if is_use else [[event] for event in group]:
            found.append(
                HistoryRow(
                    event=event,
                    title=_use_title(len(others) + 1) if is_use else cause_title(event.cause),
                    since=others[-1].at if others else None,
                    row=change_row(event.operation, {}),
                    because="" if is_use else event.operation.because,
                )
            )
    return found


def _use_title(times: int) -> str:
    return "Used" if times == 1 else f"Used {times} times"


def quoted(memory: Memory, sources: Iterable[Memory]) -> list[Quoted]:
    """The source messages of a memory, with the quotation that it rests on cut out of the text."""
    quotes = {source.memory: source.quote for source in memory.sources}
    rows = []
    for message in sources:
        quote = quotes.get(message.id) or ""
        before, found, after = message.text.partition(quote) if quote else (message.text, "", "")
        by = short_name(message.role, message.speaker) if message.kind == MESSAGE else message.category
        rows.append(Quoted(message=message, before=before, quote=found, after=after, by=by))
    return rows


def said_rows(messages: Sequence[Memory], facts: Sequence[Memory]) -> list[TalkRow]:
    """The messages of a conversation, each with the facts that have it as a source."""
    by_message: dict[str, list[Memory]] = {}
    for fact in facts:
        for source in dict.fromkeys(source.memory for source in fact.sources):
            by_message.setdefault(source, []).append(fact)
    return [
        TalkRow(
            message=message,
            by=short_name(message.role, message.speaker),
            facts=tuple(by_message.get(message.id, ())),
        )
        for message in messages
    ]


def pages_by_subject(pages: Sequence[Page]) -> list[tuple[str, list[PageRow]]]:
    """Topic pages by the person or thing that they are about."""
    groups = groupby(pages, key=lambda page: page.subject)
    return [(subject, [_page_row(page) for page in group]) for subject, group in groups]


def _page_row(page: Page) -> PageRow:
    newest_first = page.facts[::-1]
    return PageRow(topic=page.topic, latest=newest_first[:LATEST_LINES], earlier=newest_first[LATEST_LINES:])


def finding_rows(memory: AgentMemory, health: Health) -> list[FindingRow]:
    """The findings about a scope, the urgent ones first, each with the memories that it names."""
    ordered = sorted(health.findings, key=lambda finding: not finding.urgent)
    known = memories_of(memory, (each for finding in ordered for ids in finding.memories for each in ids))
    return [FindingRow(finding=finding, examples=tuple(_named(known, finding))) for finding in ordered]


def _named(known: Mapping[str, Memory], finding: Finding) -> Iterator[tuple[Memory, ...]]:
    """The memories of each example. An example of which a memory was erased meanwhile is left out."""
    for ids in finding.memories:
        if all(identity in known for identity in ids):
            yield tuple(known[identity] for identity in ids)


def memories_of(memory: AgentMemory, ids: Iterable[str]) -> dict[str, Memory]:
    """The memories of these ids by id, read in one call. One that was erased is left out."""
    ports, wanted = memory.ports, sorted(set(ids))
    return {each.id: each for each in ports.store.get(ports.scopes, wanted)} if wanted else {}


def texts_of(memory: AgentMemory, ids: Iterable[str]) -> dict[str, str]:
    """The texts of the memories of these ids by id; the id itself of one that was erased."""
    wanted = set(ids)
    known = memories_of(memory, wanted)
    return {each: known[each].text if each in known else each for each in wanted}


def phase_tag(memory: Memory) -> str:
    """The word that a list shows for a memory that is not simply in use; empty for one that is."""
    if memory.pinned:
        return "pinned"
    return "" if memory.phase == "active" else PHASES[memory.phase]
