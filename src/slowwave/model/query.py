"""Asking: what a search wants, what a store ranks, and what the caller sees."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.model.memory import Memory, SourceRef

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search of one scope's index.

    Args:
        text: the question.
        vector: its unit vector (dim,), or None to search by words alone.
        embedder: the fingerprint the vector belongs to; rows of another are found by text only.
        top_k: how many places to fill.
        kinds, categories: None means all.
        allowed: if given, only these memories.
        since, until: bounds on `Memory.at`, inclusive.
        deep: also search cold, superseded and retracted memories (never quarantined ones).
        outdated_penalty: factor on the score of outdated memories in a deep search.
        now: for terms that depend on it.
        profile: the ranking: "evidence", "generative_agents" or "retention".
        strength: for the profile "retention": strengths in (0, 1] by id; who is left out counts as 1.
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
    """One place of a ranking, by id: the memory, its score and parts, and the facts it is shown with.

    `parts` add up to `score`. `cosine` is the bare cosine of query and text, None without vectors.
    `shared` is how many non-stop stems query and text share.
    """

    id: str
    score: float
    parts: Mapping[str, float]
    facts: tuple[str, ...] = ()
    cosine: float | None = None
    shared: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which memories to read. None means any; results come in the order asked for.

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
    order: str = "recorded"
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One found memory.

    `parts` are each signal's share of the score. `facts` are the facts shown with a message that they rest on.
    `deep` says it was found in cold storage; `stale` that it is outdated, or outdated for this question;
    `because` says why it is marked; `perhaps` that it is outdated only perhaps.
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

    @property
    def text(self) -> str:
        """The words of the memory: what is hot of a message's, or the whole if it was found in cold storage."""
        return self.memory.text if self.deep else self.memory.visible_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of a context: its words, its cost in tokens, and where it came from."""

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
    """What to put before a model: `str(context)` is prompt text, `tokens` its estimated cost.

    `left` is how many items did not fit. With the profile "chat", `messages` is the same as `{"role", "content"}`: what
    the user and the assistant said last are bare messages, everything else stands in fenced blocks.
    """

    sections: tuple[Section, ...]
    text: str
    tokens: int
    left: int = 0
    messages: tuple[Mapping[str, str], ...] = ()

    def __str__(self) -> str:
        return self.text
