"""A memory: the stored record, one type for all kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["message", "episodic", "semantic", "procedural", "summary"]
Phase: TypeAlias = Literal["quarantined", "active", "core", "cold", "superseded", "retracted"]
Trust: TypeAlias = Literal["user", "assistant", "tool", "import", "web", "llm"]
Role: TypeAlias = Literal["user", "assistant", "system", "tool"]

MESSAGE: Final = "message"
SUMMARY: Final = "summary"
FACT_KINDS: Final[tuple[Kind, ...]] = ("episodic", "semantic", "procedural", SUMMARY)
KINDS: Final[tuple[Kind, ...]] = (MESSAGE, *FACT_KINDS)

PHASES: Final[tuple[Phase, ...]] = ("quarantined", "active", "core", "cold", "superseded", "retracted")
HOT: Final[tuple[Phase, ...]] = ("active", "core")

UNRECONCILED = "unreconciled"
"""The flag of a fact that is stored and searchable while no mind could say what it does to what is known."""

COUNTERS = frozenset({"accesses", "sessions", "used_at", "last_session"})
"""Fields that use moves. They live outside the version, so a popular memory can still be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRef:
    """The message something rests on; `str()` is the caller's own message id."""

    memory: str
    ref: str
    quote: str = ""

    def __str__(self) -> str:
        return self.ref


def is_outdated(phase: str, reason: str | None) -> bool:
    """Whether a memory of this phase and reason is no longer what holds: replaced, or taken back."""
    return phase == "retracted" or (phase == "superseded" and reason == "replaced")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is remembered. Equality is by value.

    A message has conversation, seq (absolute, 1-based), role, speaker and `ref`, the caller's own id; a fact has
    category, subject, confidence and sources; a cluster summary is a fact with members and a depth of 1 or 2;
    a cascade summary has a conversation and a span of seqs (first, last), inclusive.

    `valid_from` is when it was true or said, `recorded_at` when we knew. Strength is never stored: it is a function
    of the anchor (`used_at` or `recorded_at`), stability, importance and now. `due_at` is when it next needs
    attention, and `pace` the class of its time constant (`policy.retention.pace`): both planned, from the same numbers.

    `gist` is what is left of a message's wording in the hot store: some of its clauses, as they were said; None means
    all of it. `text` is always the whole.
    """

    id: str
    scope: str
    kind: Kind
    text: str
    recorded_at: datetime
    valid_from: datetime
    category: str = "other"
    subject: str | None = None
    phase: Phase = "active"
    reason: str | None = None
    confidence: float = 1.0
    importance: float = 0.5
    stability: float = 0.25
    pinned: bool = False
    trust: Trust = "user"
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    due_at: datetime | None = None
    accesses: int = 0
    sessions: int = 0
    used_at: datetime | None = None
    last_session: str | None = None
    depth: int = 0
    conversation: str | None = None
    seq: int = 0
    role: Role | None = None
    speaker: str | None = None
    ref: str | None = None
    span: tuple[int, int] | None = None
    members: tuple[str, ...] = ()
    superseded_by: str | None = None
    sources: tuple[SourceRef, ...] = ()
    version: int = 1
    flags: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)
    pace: int | None = None
    gist: str | None = None

    @property
    def at(self) -> datetime:
        """When it was said, or since when it is true."""
        return self.valid_from

    @property
    def last_used_or_recorded(self) -> datetime:
        """The instant its strength counts from: the last use, or when it was recorded."""
        return max(self.used_at, self.recorded_at) if self.used_at else self.recorded_at

    @property
    def is_searchable(self) -> bool:
        """Whether a normal search sees it."""
        return self.phase in HOT

    @property
    def visible_text(self) -> str:
        """What a normal search and a context see of it."""
        return self.text if self.gist is None else "; ".join(self.gist.split("\n"))

    @property
    def outdated(self) -> bool:
        """Whether something newer took its place, or it was taken back. Compressed and merged ones are true details."""
        return is_outdated(self.phase, self.reason)

    @property
    def is_cascade(self) -> bool:
        """Whether this is a summary of a span of a conversation, rather than of a cluster of facts."""
        return self.span is not None


def altered(memory: Memory, **values: object) -> Memory:
    """What `dataclasses.replace` gives, in half the time: a night takes it for every memory that is due.

    >>> at = datetime(2026, 1, 1)
    >>> altered(Memory(id="a", scope="s", kind="semantic", text="t", recorded_at=at, valid_from=at), phase="cold").phase
    'cold'
    """
    copy = object.__new__(Memory)
    for put, value in zip(_PUT.values(), _GET(memory), strict=True):
        put(copy, value)
    for name, value in values.items():
        _PUT[name](copy, value)
    return copy


_PUT = {one.name: Memory.__dict__[one.name].__set__ for one in fields(Memory)}
_GET = attrgetter(*_PUT)
