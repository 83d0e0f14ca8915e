"""Finds the best memories for a question, each with its reasons: one ranking, and then stages from hits to hits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from slowwave.errors import InputError, shown
from slowwave.log import Log
from slowwave.model.filters import checked_filter
from slowwave.model.index_entry import fingerprint
from slowwave.model.memory import FACT_KINDS, KINDS, MESSAGE, Memory, SourceRef
from slowwave.model.names import optional_conversation, optional_name, optional_names
from slowwave.model.note import checked_folder
from slowwave.model.plain_text import clean
from slowwave.model.query import Hit, Query, Ranked, Where
from slowwave.pipelines.recall.asked import Asked, Search, Stage
from slowwave.pipelines.recall.reading import asked
from slowwave.pipelines.recall.stages.exact import exact
from slowwave.pipelines.recall.stages.fair import fair
from slowwave.pipelines.recall.stages.linked import linked
from slowwave.pipelines.recall.stages.newest import newest
from slowwave.pipelines.recall.stages.present import present
from slowwave.pipelines.recall.stages.replaced import replaced
from slowwave.pipelines.recall.stages.spelled import CANDIDATES, spelled
from slowwave.policy.text.languages import is_foreign
from slowwave.policy.text.tokens import words
from slowwave.ports import Ports, Reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_log = Log("recall")

STAGES: Final[tuple[tuple[str, Stage], ...]] = (
    ("spelled", spelled),
    ("exact", exact),
    ("present", present),
    ("fair", fair),
    ("newest", newest),
    ("replaced", replaced),
    ("linked", linked),
)
"""The stages of a search by name, in order. A context begins with the same ones."""
QUESTION_LONGEST: Final = 20_000
RELATED: Final = 0.40
"""The cosine of related texts, for an embedder that states none: that of MiniLM."""
MORE: Final = 10
"""How many more hits than wanted are ranked, in place of those that a stage leaves out or moves."""


def search(ports: Ports, request: Search) -> list[Hit]:
    """The hits, best first.

    Raises:
        InputError: for an empty question, or an invalid filter.
    """
    request = _checked(ports, request)
    question = clean(request.text)[:QUESTION_LONGEST]
    with asked(ports, question, _selections(request)) as (reading, vector):
        hits, _ = found(ports, request, question, reading, vector)
    _log.debug("search: %d hits found, at most %d returned", len(hits), request.top_k)
    if request.min_relevance is not None:
        hits = [hit for hit in hits if hit.relevance >= request.min_relevance]
    return hits[: request.top_k]


def found(
    ports: Ports, request: Search, question: str, reading: Reading, vector: "NDArray[np.float32] | None"
) -> tuple[list[Hit], Asked]:
    """The hits of a question inside a reading, after all stages, best first; more than `top_k` if there are more.

    If the stages leave out more hits than were ranked in reserve, a longer ranking is read.
    """
    query, known = _query(ports, request, question, vector)
    wording = frozenset(words(question))

    def rank(other: Query) -> list[Hit]:
        if other.allowed is not None and not other.allowed:
            return []
        return _hits(ports, ports.store.search(ports.scopes, other), known, request)

    while True:
        reading.rank(query)
        hits = rank(query)
        ranked = len(hits)
        one = Asked(ports=ports, request=request, query=query, known=known, rank=rank, words=wording)
        for _, stage in STAGES:
            hits = stage(one, hits)
        if len(hits) >= request.top_k or ranked < query.top_k:
            return hits, one
        query = replace(query, top_k=2 * query.top_k)


def _selections(request: Search) -> list[Where]:
    """What a search selects, as far as it is known before the ranking."""
    if (request.passes is None and request.folder is None) or request.known_at is not None:
        return []
    from slowwave.pipelines.recall.past import filter_selection  # noqa: PLC0415 - most questions do without

    return [filter_selection(request)]


def _checked(ports: Ports, request: Search) -> Search:
    if not isinstance(request.text, str):
        raise InputError(f"a question is text, not {type(request.text).__name__}")
    if not request.text.strip():
        raise InputError("the question is empty: give the words to search for")
    if isinstance(request.top_k, bool) or not isinstance(request.top_k, int) or request.top_k < 1:
        raise InputError(f"top_k={shown(request.top_k)}: ask for at least one hit")
    if request.min_relevance is not None and not _is_share(request.min_relevance):
        raise InputError(
            f"min_relevance={shown(request.min_relevance)}: use a number from 0 to 1, or None for every hit"
        )
    kinds, categories = optional_names(request.kinds, "kinds"), optional_names(request.categories, "categories")
    if unknown := (kinds or frozenset()).difference(KINDS):
        raise InputError(f"unknown kinds {', '.join(sorted(unknown))}: use {', '.join(KINDS)}")
    return replace(
        request,
        kinds=kinds,
        categories=categories,
        conversation=optional_conversation(request.conversation),
        except_conversation=optional_name(request.except_conversation, "except_conversation", numbers=True),
        passes=checked_filter(request.where),
        folder=checked_folder(request.folder) if request.folder is not None else None,
        since=_time(ports, request.since, "since"),
        until=_time(ports, request.until, "until"),
        as_of=_time(ports, request.as_of, "as_of"),
        known_at=_time(ports, request.known_at, "known_at"),
    )


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _time(ports: Ports, at: datetime | None, name: str) -> datetime | None:
    return None if at is None else ports.time(at, name)


def _query(
    ports: Ports, request: Search, question: str, vector: "NDArray[np.float32] | None"
) -> tuple[Query, dict[str, Memory] | None]:
    """The query of a request, and the memories known at its time."""
    allowed: frozenset[str] | None = None
    known: dict[str, Memory] | None = None
    if request.is_of_the_past or request.passes is not None or request.folder is not None:
        from slowwave.pipelines.recall.past import selectable  # noqa: PLC0415 - most questions do without

        allowed, known = selectable(ports, request)
    wanted, profile = request.top_k + MORE, ports.config.ranking_profile
    query = Query(
        text=question,
        vector=vector,
        embedder=fingerprint(ports.embedder.name, len(vector)) if ports.embedder and vector is not None else None,
        top_k=max(wanted, CANDIDATES) if is_foreign(question) else wanted,
        now=ports.now(),
        kinds=frozenset(request.kinds) if request.kinds is not None else None,
        categories=frozenset(request.categories) if request.categories is not None else None,
        conversation=request.conversation,
        except_conversation=request.except_conversation,
        allowed=allowed,
        since=request.since,
        until=request.until,
        deep=request.deep or request.is_of_the_past,
        outdated_penalty=1.0 if request.is_of_the_past else ports.config.deep_recall_penalty,
        profile=profile,
        strength=_strengths(ports) if profile == "retention" else None,
        related=getattr(ports.embedder, "similarity", {}).get("related", RELATED),
    )
    return query, known


def _strengths(ports: Ports) -> dict[str, float]:
    """The strength of every fact now. Messages do not fade."""
    from slowwave.policy.retention.policies import strength  # noqa: PLC0415 - most questions do without

    now = ports.now()
    facts = ports.store.select(ports.scopes, Where(kinds=frozenset(FACT_KINDS)))
    return {memory.id: strength(memory, ports.config, now) for memory in facts}


def _hits(ports: Ports, ranked: Sequence[Ranked], known: Mapping[str, Memory] | None, request: Search) -> list[Hit]:
    memories: Iterable[Memory] = ports.store.get(ports.scopes, [row.id for row in ranked])
    by_id = {memory.id: memory for memory in memories}
    if known:
        by_id |= known
    return [_hit(ports, row, by_id[row.id], request) for row in ranked if row.id in by_id]  # others were erased since


def _hit(ports: Ports, row: Ranked, memory: Memory, request: Search) -> Hit:
    searchable = memory.is_searchable
    return Hit(
        memory=memory,
        score=row.score,
        relevance=row.relevance,
        parts=row.parts,
        sources=sources_of(ports, memory),
        deep=request.deep and not (searchable and memory.gist is None),
        stale=not searchable and memory.outdated and request.as_of is None,
        because="" if searchable else f"{memory.reason or memory.phase}",
    )


def sources_of(ports: Ports, memory: Memory) -> tuple[SourceRef, ...]:
    """The source messages of a hit: of a message itself, of a fact its sources, of a summary those of its members."""
    if memory.kind == MESSAGE:
        return (SourceRef(memory=memory.id, ref=memory.ref or memory.id),)
    if not memory.members or memory.span is not None:
        return memory.sources
    from slowwave.pipelines.recall.sources import sources_of_members  # noqa: PLC0415 - few hits are such summaries

    return sources_of_members(ports, memory)
