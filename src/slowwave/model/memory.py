"""A memory: the stored record, one type for all kinds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from itertools import compress
from operator import attrgetter
from typing import Final, Literal, TypeAlias

from slowwave.model.suggestions import suggests_arguments, suggests_names

Kind: TypeAlias = Literal["message", "episodic", "semantic", "procedural", "summary", "note"]
Phase: TypeAlias = Literal["quarantined", "active", "core", "cold", "superseded", "retracted"]
Trust: TypeAlias = Literal["user", "assistant", "tool", "import", "web", "llm"]
Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
JsonValue: TypeAlias = "str | int | float | bool | None | list[JsonValue] | dict[str, JsonValue]"

MESSAGE: Final = "message"
SUMMARY: Final = "summary"
STATEMENT_KINDS: Final[tuple[Kind, ...]] = ("episodic", "semantic", "procedural")
"""The kinds of facts that are one statement each."""
FACT_KINDS: Final[tuple[Kind, ...]] = (*STATEMENT_KINDS, SUMMARY)
NOTE: Final = "note"
"""A text or data that a caller stores under a name. It is no fact: nothing merges, rewords or archives it."""
KINDS: Final[tuple[Kind, ...]] = (MESSAGE, *FACT_KINDS, NOTE)

PHASES: Final[tuple[Phase, ...]] = ("quarantined", "active", "core", "cold", "superseded", "retracted")
HOT: Final[tuple[Phase, ...]] = ("active", "core")

UNRECONCILED = "unreconciled"
"""The flag of a fact that waits for a mind to reconcile it; it is stored and searchable."""

WORDS_OF_DATA = "words of its data"
"""The flag of a note without a text of its own: its `text` was made from its data, so that it can be found."""

COUNTERS = frozenset({"accesses", "sessions", "used_at", "last_session"})
"""Fields that a use changes without a new version, so that uses never conflict with a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRef:
    """A message that a memory is derived from; `str()` is the caller's own message id."""

    memory: str
    ref: str
    quote: str = ""

    def __str__(self) -> str:
        return self.ref


REJECTED: Final = "rejected"
"""The reason of a memory that was retracted while it waited for review: rejected, deleted, or its run undone."""


def is_withheld(phase: str, reason: str | None) -> bool:
    """Whether only who may review is shown a memory of this phase and reason: it waits for review, or was rejected.

    A rejected one stays withheld: who rejects an order to a model does not mean that models read it from then on.

    >>> is_withheld("quarantined", "an order"), is_withheld("retracted", "rejected"), is_withheld("retracted", None)
    (True, True, False)
    """
    return phase == "quarantined" or (phase == "retracted" and reason == REJECTED)


def is_outdated(phase: str, reason: str | None) -> bool:
    """Whether a memory of this phase and reason is no longer true: it was replaced or retracted."""
    return phase == "retracted" or (phase == "superseded" and reason == "replaced")


@suggests_names
@suggests_arguments
@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The stored record of any kind. Equality is by value.

    A message has conversation, seq (absolute, 1-based), role, speaker and `ref`, the caller's own id; a fact has
    category, subject, confidence and sources; a cluster summary is a fact with members and a depth of 1 or 2;
    a cascade summary has a conversation and a span of seqs (first, last), inclusive; a note has a name (in `ref`), a
    folder (in `conversation`) and data, which is any JSON value.

    `valid_from` is when it was said or became true, `recorded_at` when it was stored. Strength is never stored: it is a
    function of the anchor (`used_at` or `recorded_at`), stability, importance and now. `due_at` is when it next needs
    attention, and `pace` the class of its time constant (`policy.retention`); both are computed from the settings.

    `gist` contains the clauses of a long message that stay in the hot tier, word for word; None means all clauses.
    `text` is always the full text. `reasoning` is what an assistant thought before it said a message: it is stored with
    the message, and no search, prompt, context or export has it unless asked.

    `valid_from` has the offset of whoever said it, in which "today" is counted and in which it is shown; what is derived of it
    and the ends `valid_to` and `expires_at` have the same one. All other times are in UTC.
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
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    pace: int | None = None
    gist: str | None = None
    data: JsonValue = None
    reasoning: str | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<Memory {self.id} {self.kind} {self.phase}: {beginning(self.text)!r}>"

    def __hash__(self) -> int:
        """For sets and keys: equal memories have the same id and version; metadata has no hash."""
        return hash((self.scope, self.id, self.version))

    @property
    def at(self) -> datetime:
        """When it was said, or since when it is true."""
        return self.valid_from

    @property
    def last_used_or_recorded(self) -> datetime:
        """The instant from which its strength decays: the last use, or when it was recorded."""
        return max(self.used_at, self.recorded_at) if self.used_at else self.recorded_at

    @property
    def is_searchable(self) -> bool:
        """Whether a normal search finds it."""
        return self.phase in HOT

    @property
    def visible_text(self) -> str:
        """The text that a normal search and a context use."""
        return self.text if self.gist is None else "; ".join(self.gist.split("\n"))

    @property
    def outdated(self) -> bool:
        """Whether it was replaced or retracted. Compressed and merged memories are not outdated: they are true details."""
        return is_outdated(self.phase, self.reason)

    @property
    def is_withheld(self) -> bool:
        """Whether only who may review is shown it: it waits for review, or was retracted while it waited."""
        return is_withheld(self.phase, self.reason)

    @property
    def is_cascade(self) -> bool:
        """Whether this is a summary of a span of a conversation, rather than of a cluster of facts."""
        return self.span is not None


def beginning(text: str, characters: int = 60) -> str:
    """The first characters of a text in one line, for a `repr`.

    >>> beginning("We moved  to Berlin", 12), beginning("in May", 12)
    ('We moved to…', 'in May')
    """
    line = " ".join(text[: 4 * characters].split())
    return line if len(line) <= characters and len(text) <= 4 * characters else f"{line[: characters - 1].rstrip()}…"


def altered(memory: Memory, **values: object) -> Memory:
    """The same as `dataclasses.replace`, in half the time: a sleep pass calls it for every due memory.

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


def misplaced_fields(memory: Memory) -> tuple[str, ...]:
    """The fields that are set although memories of this kind do not have them, such as the seq of a fact.

    Stores index rows by these fields, so a row with a misplaced one would be found among rows of another kind.

    >>> at = datetime(2026, 1, 1)
    >>> misplaced_fields(Memory(id="a", scope="s", kind="semantic", text="t", recorded_at=at, valid_from=at, seq=1))
    ('seq',)
    """
    kind = CASCADE if memory.kind == SUMMARY and memory.span is not None else memory.kind
    if kind not in _FOREIGN:
        return ()
    names, values_of = _FOREIGN[kind]
    values = values_of(memory)
    return tuple(compress(names, values)) if any(values) else ()


CASCADE: Final = "cascade summary"
_ONLY_MESSAGES: Final = ("seq", "role", "speaker", "gist", "reasoning")
_ONLY_SUMMARIES: Final = ("members", "depth")
_NO_FACT: Final = ("conversation", "span", *_ONLY_MESSAGES, *_ONLY_SUMMARIES, "data")
_FOREIGN: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Memory], tuple[object, ...]]]]] = {
    kind: (names, attrgetter(*names))
    for kind, names in {
        MESSAGE: ("subject", "span", *_ONLY_SUMMARIES, "data"),
        "episodic": _NO_FACT,
        "semantic": _NO_FACT,
        "procedural": _NO_FACT,
        SUMMARY: ("conversation", *_ONLY_MESSAGES, "data"),
        CASCADE: (*_ONLY_MESSAGES, "ref", "data"),
        NOTE: ("subject", "span", *_ONLY_MESSAGES, *_ONLY_SUMMARIES),
    }.items()
}
"""By kind the fields that memories of this kind do not have, and a function that reads them."""

_PUT = {each.name: Memory.__dict__[each.name].__set__ for each in fields(Memory)}
_GET = attrgetter(*_PUT)
