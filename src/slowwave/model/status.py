"""What a store reports: conversations, links, counts and repairs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from slowwave.model.counted import counted
from slowwave.model.pass_record import PassRecord
from slowwave.model.plain_text import tidy
from slowwave.model.plan import Cost

IDENTITY_TOKENS: Final = 50
"""The target for the facts of identity in every context (L0 of S3): fewer tokens than this."""
CORE_TOKENS: Final = 200
"""The target for everything that is in every context (L1 of S3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationState:
    """A conversation as pipelines read it: its last message, the position of each cursor, and its title."""

    name: str
    last_seq: int
    last_at: datetime
    cursors: Mapping[str, int]
    title: str | None = None

    def __repr__(self) -> str:
        return f"<Conversation {self.name!r}, {self.last_seq} messages, the last at {self.last_at:%Y-%m-%d %H:%M}>"

    def cursor(self, name: str) -> int:
        """The position of a cursor; 0 if it has not moved yet."""
        return self.cursors.get(name, 0)


OPENING: Final = 60
"""Characters of the first words by which a conversation without a title is shown."""


def opening_words(text: str) -> str:
    """The first words of a message, on one line, from its first `OPENING` characters.

    >>> opening_words("Which trains go to Porto"), opening_words("Dear all, " + "we have " * 9)
    ('Which trains go to Porto', 'Dear all, we have we have we have we have we have we have…')
    """
    line = tidy(text[:OPENING])
    return line if len(text) < OPENING else f"{line.rpartition(' ')[0] or line}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation as `AgentMemory.conversations` lists it. Retracted messages are not counted.

    Attributes:
        name: its name, which is unique in its scope.
        title: what a person calls it; None if it has no title.
        messages: how many messages it has, those under review included.
        unread: how many of them are not distilled yet. Messages under review are not counted until they are released.
        withheld: how many of them are under review.
        first_at: the earliest time of a message.
        last_at: the latest time of a message.
        opening: the first words of the first message of the user; "" if it has none that may be shown.
        place: its position in the list, by which the next page continues.
    """

    name: str
    title: str | None
    messages: int
    unread: int
    withheld: int
    first_at: datetime
    last_at: datetime
    opening: str = ""
    place: tuple[int, int, int] = field(default=(0, 0, 0), repr=False, compare=False)

    @property
    def label(self) -> str:
        """The title, or the first words if it has none, or its name: for a person to read."""
        return self.title or self.opening or self.name

    def __str__(self) -> str:
        named = f"{self.label} ({self.name})" if self.label != self.name else self.name
        unread = f", {self.unread:,} unread" if self.unread else ""
        withheld = f", {self.withheld:,} under review" if self.withheld else ""
        return f"{named}: {self.messages:,} messages{unread}{withheld}, last {self.last_at:%Y-%m-%d}"


class DecayClass(NamedTuple):
    """The hot facts of one pace that were used equally often, and the latest of their anchors.

    One class with the pace None contains all facts that were never scheduled; its anchor has no meaning.
    """

    pace: int | None
    uses: int
    anchor: datetime | None


class FadingFact(NamedTuple):
    """A fact in or near the fading band, with the fields that decide which other facts it is compared with.

    `vector` is float32, little-endian; empty if it was not requested.
    """

    id: str
    kind: str
    category: str
    depth: int
    vector: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """A stored link of two memories."""

    source: str
    target: str
    kind: str
    weight: float
    at: datetime

    def other(self, memory: str) -> str:
        """The other end of the link."""
        return self.target if memory == self.source else self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of a scope.

    `counts` is by kind and phase; `waiting` counts the facts that wait for a model, `due` the memories that need
    attention now, `unread` the messages that are not distilled yet. `identity_tokens` and `core_tokens` estimate what
    the facts of identity, and all core facts, cost in every context; above the targets this is reported, and nothing is
    left out. `last_sleep` is when the last sleep pass ended, also one that found nothing to do; `passes` says whether the
    last passes failed. `unproved` counts the erases of the scope that wait for a proof of the whole store
    (`Slowwave.prove_erased`). `problems` are the errors of background work.
    """

    scope: str
    store: str
    counts: Mapping[tuple[str, str], int]
    waiting: int
    due: int
    unread: int
    conversations: int
    embedder: str | None
    unembedded: int
    mind: str
    last_sleep: datetime | None
    cost: Cost
    policy: str
    identity_tokens: int = 0
    core_tokens: int = 0
    problems: tuple[str, ...] = ()
    passes: PassRecord = field(default_factory=PassRecord)
    unproved: int = 0

    def __str__(self) -> str:
        kinds: dict[str, list[str]] = {}
        for (kind, phase), number in sorted(self.counts.items()):
            kinds.setdefault(kind, []).append(f"{number:,} {phase}")
        lines = [f"scope {self.scope} in {self.store}"]
        lines += [f"  {kind}: {', '.join(parts)}" for kind, parts in kinds.items()] or ["  empty"]
        lines.append(
            f"  {counted(self.unread, 'message')} not read for facts yet, {counted(self.waiting, 'fact')} waiting for a model, "
            f"{self.due:,} due to fade or expire"
        )
        embedder = self.embedder or "none"
        embedder = "static" if embedder.startswith("static:") else embedder  # the rest of its name is a checksum
        missing = f", {self.unembedded:,} memories without a vector" if self.unembedded else ""
        lines.append(
            f"  embedder {embedder}{missing}; model {'none, rules only' if self.mind == 'offline' else self.mind}"
        )
        slept = self.last_sleep.isoformat(timespec="minutes") if self.last_sleep else "never"
        lines.append(f"  last sleep {slept}; {self.cost.calls} model calls so far")
        if self.passes.failures:
            lines.append(f"  {self.passes}: `retry` makes it due at once")
        if self.unproved:
            lines.append(f"  {counted(self.unproved, 'erase')} to prove in the whole store: `prove_erased`")
        if self.core_tokens:
            lines.append(f"  always in view: {_aimed(self.identity_tokens, IDENTITY_TOKENS)} of identity, ")
            lines[-1] += f"{_aimed(self.core_tokens, CORE_TOKENS)} in all"
        lines += [f"  problem: {problem}" for problem in self.problems]
        return "\n".join(lines)


def _aimed(tokens: int, target: int) -> str:
    return f"{tokens} tokens (target below {target}{', exceeded' if tokens >= target else ''})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair did.

    Attributes:
        memories: rows whose checksum was computed again; no other value of them was changed.
        journal: journal rows in which a value was converted to the type of its column.
        refused: why other damaged rows were left as they are.
        derived: index entries that were derived again, without vectors.
        runs: records of runs that were written anew, without the reasons that had been changed.
    """

    memories: int = 0
    journal: int = 0
    refused: tuple[str, ...] = ()
    derived: int = 0
    runs: int = 0

    def __bool__(self) -> bool:
        return bool(self.memories or self.journal or self.derived or self.runs)

    def __str__(self) -> str:
        if not self:
            return "nothing could be repaired" if self.refused else "nothing to repair"
        done = []
        if self.memories or self.journal:
            done.append(
                f"rows re-sealed: {self.memories:,}, because a replay of the journal gives exactly what they hold "
                f"(journal rows rewritten with values of the right type: {self.journal:,})"
            )
        if self.derived:
            done.append(f"index entries derived again: {self.derived:,}, without vectors, which `reembed` adds")
        if self.runs:
            done.append(f"records of runs written anew: {self.runs:,}, without the reasons that had been changed")
        return "; ".join(done)
