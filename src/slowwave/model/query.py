"""Searches and their results: queries, filters, ranked places, hits and contexts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from slowwave.model.memory import Memory, SourceRef

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Order: TypeAlias = Literal["recorded", "newest", "seq", "due"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search of one scope's index.

    Args:
        text: the question.
        vector: its unit vector (dim,), or None to search by words alone.
        embedder: the fingerprint the vector belongs to; rows of another are found by text only.
        top_k: how many results to return.
        kinds, categories: None means all.
        allowed: the only memories to find; None means all.
        since, until: bounds on `Memory.at`, inclusive.
        deep: also search cold, superseded and retracted memories (never quarantined ones).
        outdated_penalty: factor on the score of outdated memories in a deep search.
        now: for terms that depend on it.
        profile: the ranking: "evidence", "generative_agents" or "retention".
        strength: for the profile "retention": strengths in (0, 1] by id; a missing one counts as 1.
    """

    text: str
    top_k: int
    now: datetime
    vector: "NDArray[np.float32] | None" = field(default=None, compare=False, repr=False)
    embedder: str | None = None
    kinds: frozenset[str] | None = None
    categories: frozenset[str] | None = None
    conversation: str | None = None
    allowed: frozenset[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    deep: bool = False
    outdated_penalty: float = 0.5
    profile: str = "evidence"
    strength: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One result of a ranking, by id.

    `parts` add up to `score`. `facts` are the facts shown with it. `cosine` is that of query and text, None without
    vectors. `shared` is how many stems, without stop words, query and text share.
    """

    id: str
    score: float
    parts: Mapping[str, float]
    facts: tuple[str, ...] = ()
    cosine: float | None = None
    shared: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which memories to read, and in which order. None means any.

    `cascade` says whether cascade summaries are among kind "summary": False leaves them out, True asks for only them.
    `key` is a content key (`model.codec.content_key`), `text` a piece of the text in any case, `ref` a caller's id.
    Orders: "recorded" (oldest first), "newest" (newest first), "seq" (of one conversation), "due" (earliest first).
    """

    kinds: frozenset[str] | None = None
    phases: frozenset[str] | None = None
    categories: frozenset[str] | None = None
    trusts: frozenset[str] | None = None
    conversation: str | None = None
    cascade: bool | None = False
    after_seq: int | None = None
    until_seq: int | None = None
    due_before: datetime | None = None
    flag: str | None = None
    pinned: bool | None = None
    key: str | None = None
    text: str | None = None
    ref: str | None = None
    order: Order = "recorded"
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One found memory.

    `parts` are each signal's share of the score. `facts` are the facts derived from a message, which are shown with it.
    `deep` says that it was found in cold storage, `stale` that it is outdated, or outdated for this question, `because`
    why it is marked, and `perhaps` that it is outdated only perhaps.
    """

    memory: Memory
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    facts: tuple[Memory, ...] = ()
    sources: tuple[SourceRef, ...] = ()
    deep: bool = False
    stale: bool = False
    because: str = ""
    perhaps: bool = field(default=False, repr=False)

    def __hash__(self) -> int:
        """For sets and keys: equal hits have the same memory and score."""
        return hash((self.memory, self.score))

    @property
    def text(self) -> str:
        """The text of the memory: of a message the hot clauses, or all of it if it was found in cold storage."""
        return self.memory.text if self.deep else self.memory.visible_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of a context: its text, its cost in tokens, and its source."""

    text: str
    tokens: int
    memory: Memory | None = None
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A named part of a context."""

    name: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The prompt text for a model: `str(context)`, of about `tokens` tokens.

    `left` counts the items that did not fit. With the profile "chat", `messages` has the same content as
    `{"role", "content"}` mappings: the latest messages of user and assistant are bare, everything else is in fenced
    blocks.
    """

    sections: tuple[Section, ...]
    text: str
    tokens: int
    left: int = 0
    messages: tuple[Mapping[str, str], ...] = ()

    def __str__(self) -> str:
        return self.text
