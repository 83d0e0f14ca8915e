"""Searches and their results: queries, filters, ranked places, hits and contexts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from slowwave.model.filters import Filter
from slowwave.model.memory import Memory, SourceRef, beginning
from slowwave.model.suggestions import suggests_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Order: TypeAlias = Literal["recorded", "-recorded", "at", "-at", "newest", "seq", "due", "name", "folder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A search of one scope's index.

    Args:
        text: the question.
        vector: its unit vector (dim,), or None to search by words alone.
        embedder: the fingerprint the vector belongs to; rows of another are found by text only.
        top_k: how many results to return.
        kinds, categories: None means all.
        except_conversation: its messages and summaries are not found; facts with sources among them are.
        allowed: the only memories to find; None means all.
        since, until: bounds on `Memory.at`, inclusive.
        deep: also search cold, superseded and retracted memories, and never withheld ones (`Memory.is_withheld`).
        outdated_penalty: factor on the score of outdated memories in a deep search.
        now: for terms that depend on it.
        profile: the ranking: "evidence", "generative_agents" or "retention".
        strength: for the profile "retention": strengths in (0, 1] by id; a missing one counts as 1.
        related: the cosine of related texts, of the embedder. Relevance is computed from cosines divided by it.
    """

    text: str
    top_k: int
    now: datetime
    vector: "NDArray[np.float32] | None" = field(default=None, compare=False, repr=False)
    embedder: str | None = None
    kinds: frozenset[str] | None = None
    categories: frozenset[str] | None = None
    conversation: str | None = None
    except_conversation: str | None = None
    allowed: frozenset[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    deep: bool = False
    outdated_penalty: float = 0.5
    profile: str = "evidence"
    strength: Mapping[str, float] | None = None
    related: float = 0.40


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One result of a ranking, by id.

    `parts` add up to `score`. `cosine` is that of query and text, None without
    vectors. `shared` is how many stems, without stop words, query and text share. `relevance` is that of `Hit`.
    """

    id: str
    score: float
    parts: Mapping[str, float]
    cosine: float | None = None
    shared: int = 0
    relevance: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which memories to read, and in which order. None means any.

    `cascade` says whether cascade summaries are among kind "summary": False leaves them out, True asks for only them.
    `key` is a content key (`model.codec.content_key`), `text` a piece of the text in any case, `ref` a caller's id, `refs`
    several.
    Of notes, `conversation` is the folder and `ref` the name; `below` is a folder: only notes in it and in those below
    it; `after_name` is a folder and a name: only notes that come later in the order "name". `with_metadata`: only
    memories that have metadata or data. Without `withheld`, memories that wait for review or were rejected are left out. `passes` is a filter on both, and `current_at` a time: only memories that have not
    ended before it. `offset` and `limit` count what passes.
    Orders: "recorded" (oldest first), "newest" (newest first), "seq" (of one conversation), "due" (earliest first),
    "name" (of notes: by folder, then by name, in code point order), "folder" (of notes: by folder), "at" (by `Memory.at`), "-recorded" and
    "-at" (their reverse). `after` is the id of the memory after which the list begins, in one of the orders "recorded",
    "-recorded", "at" and "-at".
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
    after: str | None = None
    refs: frozenset[str] | None = None
    below: str | None = None
    after_name: tuple[str, str] | None = None
    with_metadata: bool = False
    passes: Filter | None = None
    current_at: datetime | None = None
    withheld: bool = True
    order: Order = "recorded"
    offset: int = 0
    limit: int | None = None


@suggests_names
@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One found memory.

    `score` orders the hits of one search; `parts` are each signal's share of it. `relevance`, 0 to 1, estimates the
    probability that the hit answers the question. It is comparable between questions and between scopes, and 0 for small talk
    ("hi", "danke"). In a large scope:

        relevance = sigmoid(known) * sigmoid(answers)
        by_words  = -5 + 5 said + 3.5 mass + 3 named
        known     = max(by_words - 1, -6 + said + 2 mass + 3 named + 3 cosine)     of the first hit: is anything known?
        answers   = -4 + 2.5 said + cosine + 0.5 asked - 4 asks - 2 unsaid          of this hit: does it answer?

    Without vectors, known = by_words and answers = -3 + 3.5 said - 4 asks - 2 unsaid. said: the share of the question's
    information in the text and its neighbours, 0 to 1. mass: the information of the words found, in units of 10 nats, at most
    1.5. cosine: divided by that of related texts. named, asked: 1 if the question names one known speaker; if that speaker
    said this. asks: the share of the text that is only a question. unsaid: 1 for a fact without a word of the question. The
    weights are our own fit on LoCoMo and BEAM (22 November 2026); docs/context.md has its check on other conversations.

    In a scope of up to 50 texts each hit is judged alone, and in one of n times 50 the log odds of both formulas are mixed,
    one part of n of this one:

        relevance = sigmoid(max(by_words - 1.5, -10 + 2 said + mass + 4 cosine + 2 own + 3 asked + kind - 4 asks))
        by_words  = -9 + 5 said + 6 mass + 1.5 own + 4 asked + kind - 4 asks          alone without vectors

    own: 1 if the question says I, my, we or our. kind: 1 if the text has the kind of answer that the question asks for, such
    as a date or a place.

    `sources` are the messages on which it rests: of a message itself. `deep` says that it was found in cold storage, `stale` that it is outdated, or outdated for this question, `because`
    why it is marked, and `perhaps` that it is outdated only perhaps.
    """

    memory: Memory
    score: float
    relevance: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    sources: tuple[SourceRef, ...] = ()
    deep: bool = False
    stale: bool = False
    because: str = ""
    perhaps: bool = field(default=False, repr=False)

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id

    def __hash__(self) -> int:
        """Equal hits have the same memory and score; `parts` is a mapping and has no hash."""
        return hash((self.memory, self.score))

    def __repr__(self) -> str:
        return f"<Hit relevance {self.relevance:.2f}, score {self.score:.2f}, {self.memory!r}>"

    def __str__(self) -> str:
        """The text, when it was said, the relevance, and the mark of an outdated or cold hit, in one line."""
        mark = f", {self.because}" if self.because else ""
        return f"{' '.join(self.text.split())} ({self.memory.at:%Y-%m-%d}, relevance {self.relevance:.2f}{mark})"

    @property
    def text(self) -> str:
        """The text of the memory: of a message the hot clauses, or all of it if it was found in cold storage."""
        return self.memory.text if self.deep else self.memory.visible_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of a context: its text, its cost in tokens, and its source.

    `outdated` says that the line is marked as no longer true, or perhaps no longer true; `always` that every context of its
    scope has it, whatever the question.
    """

    text: str
    tokens: int
    memory: Memory | None = None
    because: str = ""
    outdated: bool = False
    always: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A named part of a context. `instructions` says that its lines are the user's own, and that the model may follow them."""

    name: str
    items: tuple[Item, ...]
    instructions: bool = False


@suggests_names
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
    messages: tuple[dict[str, str], ...] = ()

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Every memory that it shows, each once, in the order of the text."""
        items = (item for section in self.sections for item in section.items)
        shown = {item.memory.id: item.memory for item in items if item.memory is not None}
        return tuple(shown.values())

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        items = sum(len(section.items) for section in self.sections)
        return f"<Context {self.tokens} tokens, {len(self.sections)} sections, {items} items: {beginning(self.text)!r}>"
