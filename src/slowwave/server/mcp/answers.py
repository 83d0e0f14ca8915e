"""The structured answers of the tools, and the functions that make them of the library's values."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.operations import Change
from slowwave.model.plan import Outcome, Receipt, count_operations
from slowwave.model.query import Context, Hit
from slowwave.pipelines.admin.explain import Explanation
from slowwave.policy.guard.labels import author
from slowwave.policy.guard.trust import trust_of_role
from slowwave.policy.ranking.layout import shortened

LONGEST: Final = 2000
"""Characters of a hit: a model reads many of them. The resource of the memory has the whole text."""
EVENTS_MOST: Final = 50
"""The latest changes that an explanation lists."""

CHANGES: Final = frozenset({"ADD", "UPDATE", "DELETE", "REVIEW"})
Done = Literal["ADD", "UPDATE", "DELETE", "NOOP", "REVIEW", "REFUSE"]


class Found(BaseModel):
    """One hit of a search."""

    id: Annotated[str, Field(description="The id that correct, forget and explain take")]
    text: str
    at: Annotated[str, Field(description="When it was said, or since when it is true")]
    who: Annotated[
        str, Field(description="Who said it: user, assistant, tool, import, web or llm, with a name if known")
    ]
    relevance: Annotated[float, Field(description="Estimated probability that it answers the question, 0 to 1")]
    stale: Annotated[bool, Field(description="It is outdated, or outdated for this question")]
    because: Annotated[str, Field(description="Why it is marked as outdated or cold; empty if it is not")]
    shortened: Annotated[bool, Field(description="The text is cut; the resource slowwave://memory/ID has all of it")]


class Recalled(BaseModel):
    """The hits of a search, best first."""

    hits: list[Found]


class ContextText(BaseModel):
    """A text to put before a model."""

    text: Annotated[str, Field(description="Fenced text, ready for a prompt; empty if nothing is known")]
    tokens: int
    left: Annotated[int, Field(description="How many more memories did not fit")]


class Replaced(BaseModel):
    """A memory that was changed or superseded, with its former words."""

    id: str
    text: str


class Remembered(BaseModel):
    """What became of one stated fact."""

    id: Annotated[str | None, Field(description="The memory that contains it now; null if it was refused")]
    outcome: Annotated[
        Done,
        Field(
            description="ADD: new. UPDATE: it changed or replaced a memory. NOOP: it was known. DELETE: it ended a memory. "
            "REVIEW: kept until a person releases it. REFUSE: not stored"
        ),
    ]
    replaced: list[Replaced]
    because: str
    run: Annotated[str | None, Field(description="What undo takes; null if nothing changed")]


class StoredMessages(BaseModel):
    """What became of the messages of a conversation."""

    conversation: str
    stored: Annotated[int, Field(description="How many messages are new")]
    known: Annotated[int, Field(description="How many were stored before, or have no words")]
    withheld: Annotated[int, Field(description="How many of the new ones wait for a person's review")]
    run: Annotated[str | None, Field(description="What undo takes; null if nothing changed")]


class Changed(BaseModel):
    """What became of one memory that was corrected or forgotten."""

    id: str
    outcome: Done
    replaced: list[Replaced]
    run: Annotated[str | None, Field(description="What undo takes; null if nothing changed")]


class Quote(BaseModel):
    """A message that a memory rests on."""

    id: str
    who: str
    at: str
    quote: str


class Step(BaseModel):
    """One change in the history of a memory."""

    at: str
    cause: str
    because: str
    run: str


class Explained(BaseModel):
    """A memory with its strength, its sources and its history."""

    id: str
    text: str
    kind: str
    category: str
    phase: Annotated[
        str, Field(description="active and core are found by recall; cold, superseded and retracted are not")
    ]
    at: str
    who: str
    strength: Annotated[float, Field(description="How well it is retained now, 0 to 1")]
    strength_parts: dict[str, float]
    fades_at: Annotated[str | None, Field(description="When it will be archived unless it is used")]
    kept_because: Annotated[str | None, Field(description="Why it never fades")]
    sources: list[Quote]
    history: list[Step]


class Undone(BaseModel):
    """What an undo did."""

    run: Annotated[str | None, Field(description="The run of the undo, which undo takes too; null if nothing changed")]
    done: Annotated[str, Field(description="What was changed back, in words")]
    notes: list[str]


def who(memory: Memory) -> str:
    """Who said a message, and who stated that if its trust is lower; or the kind of source of any other memory."""
    if memory.kind != MESSAGE or memory.role is None:
        return memory.trust
    said_by = author(memory.role, memory.speaker)
    return said_by if memory.trust == trust_of_role(memory.role) else f"{said_by}, as {memory.trust} stated"


def found(hit: Hit) -> Found:
    """A hit as an answer: the facts on a message are shown as its text if the hit has some."""
    memory = hit.memory
    text = shortened(hit.text, LONGEST)
    return Found(
        id=memory.id,
        text=text,
        at=memory.at.isoformat(timespec="seconds"),
        who=who(memory),
        relevance=round(hit.relevance, 3),
        stale=hit.stale,
        because=hit.because,
        shortened=len(text) < len(memory.text),
    )


def context_text(context: Context) -> ContextText:
    """A context as an answer; without sections it is empty."""
    return ContextText(text=str(context) if context.sections else "", tokens=context.tokens, left=context.left)


def remembered(receipt: Receipt) -> Remembered:
    """The outcome of one stated fact."""
    outcome = receipt.outcomes[0]
    return Remembered(
        id=outcome.memory_id,
        outcome=outcome.operation,
        replaced=replaced(receipt),
        because=outcome.reason,
        run=changed_run(receipt) if outcome.operation in CHANGES else None,  # a repeated fact only counts a use
    )


def changed(receipt: Receipt, outcome: Outcome, memory_id: str) -> Changed:
    """The outcome for one memory that was named by its id."""
    return Changed(id=memory_id, outcome=outcome.operation, replaced=replaced(receipt), run=changed_run(receipt))


def explained(explanation: Explanation, *, whole: bool = False) -> Explained:
    """An explanation as an answer. A long text is cut unless `whole`."""
    memory = explanation.memory
    return Explained(
        id=memory.id,
        text=memory.text if whole else shortened(memory.text, LONGEST),
        kind=memory.kind,
        category=memory.category,
        phase=memory.phase,
        at=memory.at.isoformat(timespec="seconds"),
        who=who(memory),
        strength=round(explanation.strength, 3),
        strength_parts={name: round(value, 3) for name, value in explanation.parts.items()},
        fades_at=explanation.fades_at.isoformat(timespec="seconds") if explanation.fades_at else None,
        kept_because=explanation.kept_because,
        sources=[_quote(source, {ref.memory: ref.quote for ref in memory.sources}) for source in explanation.sources],
        history=[
            Step(
                at=event.at.isoformat(timespec="seconds"),
                cause=event.cause,
                because=event.operation.because,
                run=event.run_id,
            )
            for event in explanation.history[-EVENTS_MOST:]
        ],
    )


def undone(receipts: Iterable[Receipt]) -> Undone:
    """What the receipts of an undo say."""
    receipts = tuple(receipts)
    changed_runs = [run for receipt in receipts if (run := changed_run(receipt))]
    counts = [count for receipt in receipts if (count := count_operations(receipt.applied))]
    return Undone(
        run=changed_runs[-1] if changed_runs else None,
        done="; ".join(counts) or "nothing changed",
        notes=[note for receipt in receipts for note in (*receipt.notes, *receipt.problems)],
    )


def changed_run(receipt: Receipt) -> str | None:
    """The run of a receipt; None if it changed nothing that an undo would reverse."""
    return receipt.run_id if count_operations(receipt.applied) else None


def replaced(receipt: Receipt) -> list[Replaced]:
    """The memories that a run reworded, superseded or retracted, with their words before it."""
    before = {
        operation.before.id: operation.before
        for operation in reversed(receipt.applied)
        if isinstance(operation, Change) and _ended_or_reworded(operation)
    }
    return [Replaced(id=memory.id, text=memory.text) for memory in reversed(before.values())]


def _ended_or_reworded(change: Change) -> bool:
    return change.before.text != change.after.text or (change.before.is_searchable and not change.after.is_searchable)


def _quote(source: Memory, quotes: Mapping[str, str]) -> Quote:
    text = quotes.get(source.id) or shortened(source.text, LONGEST)
    return Quote(id=source.id, who=who(source), at=source.at.isoformat(timespec="seconds"), quote=text)
