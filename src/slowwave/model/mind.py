"""What minds are asked and what they answer, as values: transcripts and facts, cases and verdicts, briefs and summaries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeAlias, TypeVar

from slowwave.model.memory import Kind, Memory, SourceRef, Trust
from slowwave.model.operations import LinkKind
from slowwave.model.plan import FREE, Cost

T = TypeVar("T")

VerdictOp: TypeAlias = Literal["ADD", "UPDATE", "DELETE", "NOOP", "LINK"]
Relation: TypeAlias = Literal["compatible", "subsumes", "subsumed", "contradictory"]
SummaryStyle: TypeAlias = Literal["cluster", "cascade"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a transcript under the small number that minds name it by."""

    number: int
    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A stretch of one conversation to distil.

    Args:
        turns: the messages to distil, numbered from 1.
        before: a few messages just before them, for context only; facts may not rest on them.
        most: how many facts may be proposed.
        speakers: every name of a speaker the conversation knows.
    """

    conversation: str
    turns: tuple[Turn, ...]
    most: int
    before: tuple[Memory, ...] = ()
    speakers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact as proposed: by a mind out of a transcript, or by a person.

    `turn` and `quote` are the number of the message it rests on and the words of it; a stated fact has neither.
    None for importance means "work it out from its information".
    """

    text: str
    category: str = "other"
    kind: Kind = "semantic"
    subject: str | None = None
    confidence: float = 1.0
    importance: float | None = None
    turn: int | None = None
    quote: str = ""
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    sources: tuple[SourceRef, ...] = ()
    trust: Trust = "user"
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A proposed fact that was refused, and why."""

    text: str
    reason: str
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A known memory that may have to do with a new fact, under the number that minds name it by.

    `cosine` is of the two texts, None without vectors. `fixed` ones may be pointed at but not changed: another
    scope's, or protected ones.
    """

    number: int
    memory: Memory
    cosine: float | None = None
    fixed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileCase:
    """A new fact and what is known of its matter."""

    number: int
    fact: Fact
    at: datetime
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a mind says of one fact: relation and operation ADD, UPDATE, DELETE, NOOP, or LINK.

    `fact` and `memory` are the numbers of the case and its candidate. `relation` is compatible, subsumes, subsumed
    or contradictory. LINK, which only code gives, adds the fact and joins it to the memory; `relation` is the
    kind of the link.
    """

    fact: int
    op: VerdictOp
    memory: int | None = None
    text: str | None = None
    relation: Relation | LinkKind = "compatible"
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What to summarise.

    Args:
        memories: facts to compress (style "cluster"), or messages or depth-1 summaries in order (style "cascade").
        words: about how long the summary may be.
        style: "cluster" must keep every name, number and date and add none; "cascade" must add none.
    """

    memories: tuple[Memory, ...]
    style: SummaryStyle
    words: int
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The words that stand for many memories."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MindAnswer(Generic[T]):
    """What a mind proposes, with what it said word for word, what it cost, and which prompt asked.

    `rejected` are items that could not be read or meant; what could stands in `value`. `problems` are about the answer
    as a whole and make none of it invalid.
    """

    value: T
    raw: str = ""
    cost: Cost = FREE
    prompt: str = ""
    rejected: tuple[Rejected, ...] = ()
    problems: tuple[str, ...] = ()
