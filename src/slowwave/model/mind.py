"""Requests to minds and their answers, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeAlias, TypeVar

from slowwave.model.memory import JsonValue, Kind, Memory, SourceRef, Trust
from slowwave.model.operations import LinkKind
from slowwave.model.plan import FREE, Cost

T = TypeVar("T")

VerdictOp: TypeAlias = Literal["ADD", "UPDATE", "DELETE", "NOOP", "LINK"]
Relation: TypeAlias = Literal["compatible", "subsumes", "subsumed", "contradictory"]
SummaryStyle: TypeAlias = Literal["cluster", "cascade"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message of a transcript, with the small number by which minds refer to it."""

    number: int
    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A part of one conversation to distil.

    Args:
        turns: the messages to distil, numbered from 1.
        before: a few messages just before them, for context only; a fact may not quote them.
        most: how many facts may be proposed.
        speakers: the names of all speakers of the scope.
    """

    conversation: str
    turns: tuple[Turn, ...]
    most: int
    before: tuple[Memory, ...] = ()
    speakers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact as a mind proposes it from a transcript, or as a person states it.

    `turn` and `quote` are the number of the message that it quotes and the words of it; a stated fact has neither. `turns`
    are the numbers of all messages that it rests on, the quoted one first; empty means `turn` alone.
    `importance` None means that it is computed from the text. `ref` is the caller's own id of a stated fact.
    """

    text: str
    category: str = "other"
    kind: Kind = "semantic"
    subject: str | None = None
    confidence: float = 1.0
    importance: float | None = None
    turn: int | None = None
    turns: tuple[int, ...] = ()
    quote: str = ""
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    sources: tuple[SourceRef, ...] = ()
    trust: Trust = "user"
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A proposed fact that was refused, and why."""

    text: str
    reason: str
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A known memory that is similar to a new fact, with the number by which minds refer to it in all cases of a call.

    `cosine` is of the two texts, None without vectors. A `fixed` one may be linked to but not changed.
    """

    number: int
    memory: Memory
    cosine: float | None = None
    fixed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileCase:
    """A new fact, and the known memories to compare it with; `now` is the instant of the comparison, None if unknown."""

    number: int
    fact: Fact
    at: datetime
    candidates: tuple[Candidate, ...]
    now: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a mind decides about one fact.

    `fact` and `memory` are the numbers of the case and of its candidate. `relation` is that of the two facts. The
    operation LINK, which only the offline rules use, adds the fact and links it to the memory; its `relation` is the
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
    """A request for a summary.

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
    """The text of a summary."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MindAnswer(Generic[T]):
    """The answer of a mind.

    Attributes:
        value: the items that are valid.
        raw: the answer word for word.
        cost: what it cost.
        prompt: the name of the prompt.
        rejected: the items that could not be read or are invalid.
        problems: what was wrong with the answer as a whole; the items stay valid.
        notes: what else a report names.
    """

    value: T
    raw: str = ""
    cost: Cost = FREE
    prompt: str = ""
    rejected: tuple[Rejected, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
