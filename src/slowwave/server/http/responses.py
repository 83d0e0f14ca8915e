"""The JSON bodies of responses, made of the values of the library."""

from collections.abc import Collection
from dataclasses import fields
from datetime import datetime
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from slowwave.model.access import Right
from slowwave.model.memory import Kind, Memory, Phase, Trust
from slowwave.model.plan import Plan, Receipt, Run, RunParts, count_operations, merge_groups
from slowwave.model.query import Hit
from slowwave.server.access.handlers import Problem


class View(BaseModel):
    """A response."""

    model_config = ConfigDict(from_attributes=True)


class SourceView(View):
    """A message that a memory is derived from."""

    memory: str
    ref: str
    quote: str


class MemoryView(View):
    """A stored memory of any kind."""

    id: str
    scope: str
    kind: Kind
    text: str
    category: str
    subject: str | None
    phase: Phase
    reason: str | None
    trust: Trust
    confidence: float
    importance: float
    pinned: bool
    at: datetime = Field(description="When it was said, or since when it is true.")
    recorded_at: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    accesses: int
    used_at: datetime | None
    conversation: str | None
    role: str | None
    speaker: str | None
    ref: str | None = Field(description="The caller's own id.")
    superseded_by: str | None
    sources: list[SourceView]
    metadata: dict[str, JsonValue]
    version: int


class MessageView(View):
    """A message as it was said. `content` is empty while it waits for review."""

    role: str
    content: str
    speaker: str | None
    at: datetime | None
    id: str | None
    metadata: dict[str, JsonValue]


class OutcomeView(View):
    """What became of one stated fact: ADD, UPDATE, DELETE, NOOP, REVIEW or REFUSE."""

    operation: str
    memory_id: str | None
    text: str
    reason: str


class Done(View):
    """What a request changed. `POST runs/{run_id}:undo` reverses it."""

    run_id: str | None = Field(description="None: nothing was changed, so there is nothing to undo.")
    cause: str
    did: str = Field(description="The operations in words, such as `1 added`.", examples=["1 added"])
    ids: list[str]
    outcomes: list[OutcomeView]
    dropped: list[str] = Field(description="Why groups of changes were not applied.")
    waiting: int
    problems: list[str]
    notes: list[str]

    @classmethod
    def of(cls, receipt: Receipt) -> "Done":
        """The receipt of a write."""
        return cls(
            run_id=receipt.run_id if receipt.applied or receipt.dropped else None,
            cause=receipt.cause,
            did=count_operations(receipt.applied),
            ids=list(receipt.ids),
            outcomes=[OutcomeView.model_validate(outcome) for outcome in receipt.outcomes],
            dropped=[dropped.reason for dropped in receipt.dropped],
            waiting=receipt.waiting,
            problems=list(receipt.problems),
            notes=list(receipt.notes),
        )

    @classmethod
    def bare(cls, receipt: Receipt) -> "Done":
        """The receipt of a write for a key that may not read: ids and operations, and no words of memories.

        Reasons and notes quote known facts that are near a stated one, by which such a key could ask for them.
        """
        told = cls.of(receipt)
        outcomes = [one.model_copy(update={"text": "", "reason": ""}) for one in told.outcomes]
        words = {"outcomes": outcomes, "dropped": [""] * len(told.dropped), "problems": [], "notes": []}
        return told.model_copy(update=words)


class DoneParts(View):
    """What a request changed in several runs."""

    receipts: list[Done]


class Used(View):
    """How many memories were recorded as used."""

    recorded: int


class HitView(View):
    """One found memory: its relevance from 0 to 1, and what marks it as outdated."""

    memory: MemoryView
    text: str
    score: float
    relevance: float
    parts: dict[str, float]
    sources: list[SourceView]
    deep: bool
    stale: bool
    because: str

    @classmethod
    def of(cls, hit: Hit) -> "HitView":
        """A hit of a search."""
        return cls.model_validate(hit)


class Hits(View):
    """Found memories, best first."""

    items: list[HitView]


class ContextItemView(View):
    """One line of a context, its cost in tokens, and the memory that it shows."""

    text: str
    tokens: int
    memory_id: str | None
    because: str
    outdated: bool


class ContextSectionView(View):
    """A part of a context."""

    name: str
    instructions: bool
    items: list[ContextItemView]


class ContextView(View):
    """The text to put before a model."""

    text: str
    tokens: int
    left: int
    messages: list[dict[str, str]]
    memory_ids: list[str]
    sections: list[ContextSectionView]


class ConversationView(View):
    """A conversation and its numbers of messages."""

    name: str
    title: str | None
    messages: int
    unread: int
    withheld: int
    first_at: datetime
    last_at: datetime
    opening: str = Field(description="The first words of the user, for a person to read.")


class ScopeView(View):
    """A scope and its content."""

    path: str
    names: list[str]
    messages: int
    facts: int
    last_written: datetime | None


class EventView(View):
    """One journaled operation on a memory."""

    run_id: str
    cause: str
    at: datetime
    because: str
    text: str | None


class ExplanationView(View):
    """The strength of a memory, when it fades, and what it rests on."""

    memory: MemoryView
    strength: float
    parts: dict[str, float]
    fades_at: datetime | None
    expires_at: datetime | None
    kept_because: str | None
    sources: list[MemoryView]
    text: str = Field(description="The same for a person to read.")


class Memories(View):
    """A page of memories."""

    items: list[MemoryView]
    next: str | None = Field(description="Pass it as `after` for the next page; null: this is the last one.")


class Conversations(View):
    """A page of conversations, the one with the latest message first."""

    items: list[ConversationView]
    next: str | None


class Messages(View):
    """The messages of a conversation in their order."""

    items: list[MessageView]


class Scopes(View):
    """A page of scopes in order of path."""

    items: list[ScopeView]
    next: str | None


class History(View):
    """What happened to a memory, oldest first."""

    items: list[EventView]


class ReviewView(View):
    """Memories that wait for a person."""

    items: list[MemoryView]


class NoteView(View):
    """A text or data under a name."""

    id: str
    name: str
    folder: str
    text: str
    data: JsonValue
    metadata: dict[str, JsonValue]
    created_at: datetime | None
    updated_at: datetime | None
    expires_at: datetime | None
    version: int


class Notes(View):
    """A page of notes, ordered by folder and name."""

    items: list[NoteView]
    next: str | None


class CostView(View):
    """What model calls cost."""

    calls: int
    tokens_in: int
    tokens_out: int
    money: float
    seconds: float


class RunView(View):
    """What changed memories, and why. `POST runs/{id}:undo` reverses it."""

    id: str
    scope: str
    cause: str
    at: datetime
    parent: str | None
    undoes: str | None
    did: str
    because: list[str]
    parts: list["RunView"]
    part_count: int
    cost: CostView

    @classmethod
    def of(cls, run: Run) -> "RunView":
        """A run of the journal."""
        return cls(
            id=run.id,
            scope=run.scope,
            cause=run.cause,
            at=run.at,
            parent=run.parent,
            undoes=run.undoes,
            did=run.counted,
            because=[group.because for group in merge_groups(run.plan.groups)],
            parts=[cls.of(part) for part in run.parts],
            part_count=run.part_count,
            cost=CostView.model_validate(run.cost),
        )


class Runs(View):
    """A page of runs, newest first."""

    items: list[RunView]
    next: str | None


class PlanPartView(View):
    """The changes of one stage, each with its reason."""

    cause: str
    did: str
    because: list[str]


class PlanView(View):
    """What a sleep pass would do. `POST plans/{id}:apply` does it."""

    id: str
    scope: str
    cause: str
    at: datetime
    did: str
    parts: list[PlanPartView]
    text: str = Field(description="The plan for a person to read.")

    @classmethod
    def of(cls, plan: Plan, text: str = "") -> "PlanView":
        """The plan of a dry run."""
        return cls(
            id=plan.id,
            scope=plan.scope,
            cause=plan.cause,
            at=plan.at,
            did=count_operations(plan.operations),
            parts=[
                PlanPartView(
                    cause=part.cause,
                    did=count_operations(part.operations),
                    because=[group.because for group in merge_groups(part.groups)],
                )
                for part in (plan.parts or (plan,))
                if part
            ],
            text=text or str(plan),
        )


class JobView(View):
    """Work on a thread of the server."""

    id: str
    scope: str
    kind: str
    state: str
    done: float
    total: float | None
    created_at: datetime
    result: dict[str, JsonValue] | None
    problem: Problem | None


class JobList(View):
    """The jobs that the server remembers, the latest first."""

    items: list[JobView]


class StatusView(View):
    """The counts of a scope, and what is due."""

    scope: str
    counts: dict[str, dict[str, int]]
    conversations: int
    unread: int
    waiting: int
    due: int
    unembedded: int
    embedder: str | None
    mind: str
    last_sleep: datetime | None
    cost: CostView
    problems: list[str]


class FindingView(View):
    """One kind of problem or notice."""

    kind: str
    count: int
    says: str
    fix: str
    urgent: bool
    examples: list[str]
    shown: list[str]


class HealthView(View):
    """What needs a person."""

    scope: str
    ok: bool
    findings: list[FindingView]
    left: int


class CostReportView(View):
    """What models have cost, in all and by the cause of the runs."""

    total: CostView
    causes: dict[str, CostView]
    since: datetime | None


class ErasureView(View):
    """What an erase destroyed, and whether no trace of it remains."""

    run_id: str
    destroyed: list[str]
    restored: list[str]
    due: list[str]
    still: list[str]
    not_reached: list[str]
    rewritten: list[str]
    titles: int
    verified: bool
    dry_run: bool
    problems: list[str]


class AccessKeyView(View):
    """A key without its secret."""

    id: str
    label: str
    prefix: str
    rights: list[Right]
    trust: Trust
    created_at: datetime
    made_by: str | None = Field(description="The id of the key with which it was made.")
    expires_at: datetime | None
    revoked_at: datetime | None


class NewAccessKeyView(View):
    """A new key. The secret is in this response only."""

    key: AccessKeyView
    secret: str


class AccessKeys(View):
    """Keys, the oldest first."""

    items: list[AccessKeyView]


def memories(found: list[Memory], limit: int) -> Memories:
    """A page of at most `limit` memories, of which one more was read."""
    page = found[:limit]
    return Memories(
        items=[MemoryView.model_validate(memory) for memory in page],
        next=page[-1].id if len(found) > limit else None,
    )


def as_json(value: BaseModel) -> dict[str, Any]:
    """A response as JSON values."""
    return value.model_dump(mode="json")


def plain(value: Any, *, leave_out: Collection[str] = ()) -> dict[str, Any]:  # noqa: ANN401 - a record of the library
    """The fields of a record as JSON values."""
    names = [each.name for each in fields(value) if each.name not in leave_out]
    found: dict[str, Any] = TypeAdapter(dict[str, Any]).dump_python(
        {name: getattr(value, name) for name in names}, mode="json"
    )
    return found


def run_parts(name: str) -> RunParts:
    """Which parts of runs a list contains, by name; the route has checked the name."""
    return next(part for part in get_args(RunParts) if part == name)
