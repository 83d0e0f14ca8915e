"""Finds the best memories for a question, each with its reasons. It writes nothing."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.errors import InputError, shown
from slowwave.log import Log
from slowwave.model.codec import content_key
from slowwave.model.filters import Filter, checked_filter
from slowwave.model.index_entry import fingerprint
from slowwave.model.memory import FACT_KINDS, HOT, KINDS, NOTE, Memory
from slowwave.model.names import optional_conversation, optional_name, optional_names
from slowwave.model.note import checked_folder, is_below, is_findable, passes_filter
from slowwave.model.operations import Add, Change
from slowwave.model.plain_text import clean
from slowwave.model.query import Hit, Query, Ranked, Where
from slowwave.pipelines.rarity import rarity_in_scope
from slowwave.pipelines.recall.associations import with_associates
from slowwave.pipelines.recall.places import with_fair_places
from slowwave.pipelines.recall.reading import asked
from slowwave.pipelines.recall.sources import sources_of
from slowwave.policy.comparison.values import asks_for_present, asks_for_value, newest_above_outdated, older_value_hits
from slowwave.policy.text.languages import is_foreign
from slowwave.policy.text.tokens import content_terms
from slowwave.ports import Ports, Reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slowwave.policy.comparison.succession import Supersession

_log = Log("recall")

QUESTION_LONGEST = 20_000
RELATED = 0.40
"""The cosine of related texts, for an embedder that states none: that of MiniLM."""
LINKED = 3
"""Of how many of the first hits the linked memories are shown. Those of later hits took the places of better ones."""
LOOKED_AT = 20
"""How many hits are compared for changed values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A request; `AgentMemory.search` explains each field."""

    text: str
    top_k: int = 10
    categories: Collection[str] | None = None
    kinds: Collection[str] | None = None
    conversation: str | None = None
    except_conversation: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    deep: bool = False
    min_relevance: float | None = None
    where: object = None
    folder: str | None = None
    passes: Filter | None = None
    """The checked filter of `where`."""


def search(ports: Ports, request: Search) -> list[Hit]:
    """The hits, best first.

    Raises:
        InputError: for an empty question, or an invalid filter.
    """
    request = _checked(ports, request)
    question = clean(request.text)[:QUESTION_LONGEST]
    with asked(ports, question, _selections(request)) as (reading, vector):
        return _search(ports, request, question, reading, vector)


def announce(ports: Ports, request: Search, reading: Reading, vector: "NDArray[np.float32] | None") -> None:
    """Announce a search inside a reading, so that its rows are read together with those of others."""
    request = _checked(ports, request)
    question = clean(request.text)[:QUESTION_LONGEST]
    if not (request.as_of or request.known_at or request.passes or request.folder):
        _rank(ports, request, question, reading, vector)


def _selections(request: Search) -> list[Where]:
    """What a search selects, as far as it is known before the ranking."""
    found = []
    if (request.passes is not None or request.folder is not None) and request.known_at is None:
        found.append(_filter_selection(request))
    return found


def _rank(
    ports: Ports, request: Search, question: str, reading: Reading, vector: "NDArray[np.float32] | None"
) -> tuple[Query, dict[str, Memory] | None]:
    """The query of a request, and the memories known at its time. Its ranking is announced."""
    query, known = _query(ports, request, question, vector)
    if asks_for_value(question):
        query = replace(query, top_k=max(request.top_k, LOOKED_AT))
    if query.allowed is None or query.allowed:
        reading.rank(_foreign(query))
    return query, known


def _search(
    ports: Ports, request: Search, question: str, reading: Reading, vector: "NDArray[np.float32] | None"
) -> list[Hit]:
    query, known = _rank(ports, request, question, reading, vector)
    if query.allowed is not None and not query.allowed:
        return []
    hits = _findable(ports, query, known, request)
    _log.debug("search: %d hits found, at most %d returned", len(hits), request.top_k)
    hits = _changed_values(ports, question, hits)
    hits = hits[: request.top_k]
    if request.min_relevance is not None:
        hits = [hit for hit in hits if hit.relevance >= request.min_relevance]
    if request.known_at is not None:
        return hits
    return _with_linked(ports, hits, request)


def _findable(ports: Ports, query: Query, known: dict[str, Memory] | None, request: Search) -> list[Hit]:
    """The hits, as many as wanted, with a share of the places for each source of low trust.

    A search of one conversation asks for that source.
    """

    def others(conversation: str) -> list[Hit]:
        apart = replace(query, except_conversation=conversation)
        return _present(ports, apart, known, request) if query.except_conversation is None else []

    hits = _present(ports, query, known, request)
    return (
        hits
        if request.conversation is not None
        else with_fair_places(ports, hits, request.top_k, others)[: query.top_k]
    )


def _present(ports: Ports, query: Query, known: dict[str, Memory] | None, request: Search) -> list[Hit]:
    """The hits, as many as wanted, without those that have expired and without notes that have no words.

    The index does not know when a memory expires: if the ranking has such memories, a longer one is read.
    """
    most, expired = query.top_k, request.deep or request.as_of is not None or known is not None
    while True:
        ranked = with_associates(ports, query, _ranked(ports, query))
        if request.deep and query.outdated_penalty < 1.0:
            ranked = _without_penalty_for_exact_text(ports, query, ranked)
        hits = _hits(ports, ranked, known, request)
        found = [
            hit
            for hit in hits
            if is_findable(hit.memory, query.now, expired=expired) and (expired or not _has_ended(ports, hit.memory))
        ]
        if len(found) >= most or len(found) == len(hits) or len(ranked) < query.top_k:
            return found[:most]
        query = replace(query, top_k=2 * query.top_k)


def _ranked(ports: Ports, query: Query) -> list[Ranked]:
    """The ranking of the store. If the question is not in English, the best of it are also compared by their spelling."""
    if not is_foreign(query.text):
        return ports.store.search(ports.scopes, query)
    from slowwave.policy.ranking.spelling import with_spelling  # noqa: PLC0415 - most questions do without

    ranked = ports.store.search(ports.scopes, _foreign(query))
    texts = {memory.id: memory.text for memory in ports.store.get(ports.scopes, [row.id for row in ranked])}
    return with_spelling(query.text, ranked, texts)[: query.top_k]


def _foreign(query: Query) -> Query:
    """The query that the store is asked: if the question is not in English, one with more results."""
    if not is_foreign(query.text):
        return query
    from slowwave.policy.ranking.spelling import CANDIDATES  # noqa: PLC0415 - most questions do without

    return replace(query, top_k=max(query.top_k, CANDIDATES))


def _has_ended(ports: Ports, memory: Memory) -> bool:
    """Whether the end of a fact has passed, which was stated or is said by its words; the next sleep pass archives it."""
    if memory.kind not in FACT_KINDS and memory.expires_at is None:
        return False
    from slowwave.policy.retention.policies import has_ended  # noqa: PLC0415 - most questions do without

    return has_ended(memory, ports.now())


def _without_penalty_for_exact_text(ports: Ports, query: Query, ranked: Sequence[Ranked]) -> list[Ranked]:
    """The ranking, without the penalty for outdated memories that have exactly the text of the question.

    The penalty ranks an outdated memory below the one that replaced it; a question with its exact text asks for it.
    """
    unpunished = ports.store.search(ports.scopes, replace(query, outdated_penalty=1.0, top_k=LOOKED_AT))
    wording = content_key(query.text)
    same = {
        memory.id
        for memory in ports.store.get(ports.scopes, [row.id for row in unpunished])
        if memory.outdated and content_key(memory.text) == wording
    }
    if not same:
        return list(ranked)
    places = {row.id: row for row in ranked} | {row.id: row for row in unpunished if row.id in same}
    return sorted(places.values(), key=lambda row: -row.score)[: query.top_k]


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
    known = _known_at(ports, request.known_at) if request.known_at else None
    allowed: frozenset[str] | None = None
    if known is not None:
        allowed = frozenset(memory.id for memory in known.values() if memory.is_searchable or request.deep)
    if request.as_of is not None:
        true_then = frozenset(memory.id for memory in _true_at(ports, request.as_of, known))
        allowed = true_then if allowed is None else allowed & true_then
    at_another_time = allowed is not None
    if request.passes is not None or request.folder is not None:
        passing = frozenset(memory.id for memory in _filtered(ports, request, known))
        allowed = passing if allowed is None else allowed & passing
    query = Query(
        text=question,
        vector=vector,
        embedder=fingerprint(ports.embedder.name, len(vector)) if ports.embedder and vector is not None else None,
        top_k=request.top_k,
        now=ports.now(),
        kinds=frozenset(request.kinds) if request.kinds is not None else None,
        categories=frozenset(request.categories) if request.categories is not None else None,
        conversation=request.conversation,
        except_conversation=request.except_conversation,
        allowed=allowed,
        since=request.since,
        until=request.until,
        deep=request.deep or at_another_time,
        outdated_penalty=1.0 if at_another_time else ports.config.deep_recall_penalty,
        profile=ports.config.ranking_profile,
        strength=_strengths(ports) if ports.config.ranking_profile == "retention" else None,
        related=getattr(ports.embedder, "similarity", {}).get("related", RELATED),
    )
    return query, known


def _filtered(ports: Ports, request: Search, known: dict[str, Memory] | None) -> Iterable[Memory]:
    """The memories of the kinds and phases that may be found, that pass the filters on metadata and on folders."""
    if known is not None:
        return (memory for memory in known.values() if _passes(memory, request))
    return ports.store.select(ports.scopes, _filter_selection(request))


def _filter_selection(request: Search) -> Where:
    kinds = frozenset(request.kinds) if request.kinds is not None else frozenset(KINDS)
    return Where(
        kinds=kinds & {NOTE} if request.folder is not None else kinds,
        phases=None if request.deep or request.as_of is not None else frozenset(HOT),
        cascade=None,
        below=request.folder,
        with_metadata=request.passes is not None and not request.passes.passes_without_metadata,
        passes=request.passes,
    )


def _passes(memory: Memory, request: Search) -> bool:
    """Whether a memory passes the filters on metadata and on folders."""
    if request.folder is not None and not is_below(memory, request.folder):
        return False
    return request.passes is None or passes_filter(request.passes, memory)


def _strengths(ports: Ports) -> dict[str, float]:
    """The strength of every fact now. Messages do not fade."""
    from slowwave.policy.retention.policies import strength  # noqa: PLC0415 - most questions do without

    now = ports.now()
    facts = ports.store.select(ports.scopes, Where(kinds=frozenset(FACT_KINDS)))
    return {memory.id: strength(memory, ports.config, now) for memory in facts}


def _true_at(ports: Ports, at: datetime, known: dict[str, Memory] | None) -> list[Memory]:
    """The messages until this time, and the facts that were true at it, also if they were archived or superseded later."""
    if known is None:
        every = ports.store.select(ports.scopes, Where(kinds=frozenset(KINDS), cascade=None))
    else:
        every = list(known.values())
    return [memory for memory in every if _was_true(memory, at)]


def _was_true(memory: Memory, at: datetime) -> bool:
    """Whether it was true then. Duplicates and members of summaries are excluded: another memory has their content."""
    is_replaced = memory.reason in {"duplicate", "consolidated"} or (memory.is_cascade and not memory.is_searchable)
    begun = memory.valid_from <= at and (memory.valid_to is None or at < memory.valid_to)
    return begun and not memory.is_withheld and not is_replaced


def _known_at(ports: Ports, at: datetime) -> dict[str, Memory]:
    """Every memory as it was at an instant: the changes journaled since are reverted."""
    every = ports.store.select(ports.scopes, Where(kinds=frozenset(KINDS), cascade=None))
    known = {memory.id: memory for memory in every}
    for scope in ports.scopes:
        for run in ports.store.runs(scope, since=at):
            for operation in reversed(list(run.plan.operations)):
                if isinstance(operation, Change):
                    known[operation.before.id] = operation.before
                elif isinstance(operation, Add):
                    known.pop(operation.memory.id, None)
    return known


def _hits(ports: Ports, ranked: Sequence[Ranked], known: dict[str, Memory] | None, request: Search) -> list[Hit]:
    ids = dict.fromkeys(i for row in ranked for i in (row.id, *row.facts))
    found = {memory.id: memory for memory in ports.store.get(ports.scopes, ids)}
    found |= known or {}
    hides = not (request.deep or request.as_of or request.known_at)
    hits = []
    for row in ranked:
        if (memory := found.get(row.id)) is None:  # erased after the ranking
            continue
        hits.append(
            Hit(
                memory=memory,
                score=row.score,
                relevance=row.relevance,
                parts=row.parts,
                facts=tuple(found[i] for i in row.facts if i in found and not (hides and _has_ended(ports, found[i]))),
                sources=sources_of(ports, memory),
                deep=request.deep and not (memory.is_searchable and memory.gist is None),
                stale=memory.outdated and request.as_of is None,
                because=f"{memory.reason or memory.phase}" if not memory.is_searchable else "",
            )
        )
    return hits


def _changed_values(ports: Ports, question: str, hits: list[Hit]) -> list[Hit]:
    """If two hits give different values of what the question asks for, the older is marked and the newer moves directly above it.

    A question for the past ("when did", "before", "how did it change") keeps the order of the ranking.
    """
    if not asks_for_value(question):
        return hits
    places = [place for place, hit in enumerate(hits[:LOOKED_AT]) if _gives_values(hit.memory)]
    statements = [(hits[n].text, hits[n].memory.at) for n in places]
    found = older_value_hits(question, statements, rarity_in_scope(ports))
    pairs = [replace(pair, newer=places[pair.newer], older=places[pair.older]) for pair in found]
    for pair in pairs:
        if pair.stale and not hits[pair.older].stale:
            hits[pair.older] = replace(
                hits[pair.older],
                stale=True,
                because=pair.because,
                perhaps=not pair.certain,
                facts=_saying(hits[pair.older].facts, pair.old_value),
            )
    if not asks_for_present(question):
        return hits
    return [hits[place] for place in newest_above_outdated(len(hits), pairs)]


def _saying(facts: Sequence[Memory], value: str) -> tuple[Memory, ...]:
    """The facts that say an outdated value: the mark of their message would be wrong for the others."""
    wanted = content_terms(value)
    return tuple(fact for fact in facts if 2 * len(wanted & content_terms(fact.text)) >= len(wanted))


def _gives_values(memory: Memory) -> bool:
    """Whether its text may be an older or a newer value: not that of an assistant, nor the summary of a long stretch."""
    return not memory.is_cascade and not (memory.role == "assistant" and memory.speaker is None)


def _with_linked(ports: Ports, hits: list[Hit], request: Search) -> list[Hit]:
    """Show a memory that is linked as a contradiction of a hit directly below it, and one with a newer value above it."""
    near = [memory for hit in hits[:LINKED] for memory in (hit.memory, *hit.facts)]
    facts = {memory.id: memory for memory in near if memory.kind in FACT_KINDS}
    if not facts:
        return hits
    shown = {memory.id for hit in hits for memory in (hit.memory, *hit.facts)}
    for link in ports.store.links(ports.scope, list(facts), ["conflict?", "value changed?"]):
        for end in (link.source, link.target):
            if end not in facts or link.other(end) in shown:
                continue
            other = next(iter(ports.store.get(ports.scopes, [link.other(end)])), None)
            if other is None or not _wanted(other, request) or (not request.deep and _has_ended(ports, other)):
                continue
            if link.kind == "conflict?":
                hits = _shown_beside(ports, hits, end, other, request)
            elif (
                other.at > facts[end].at
                and asks_for_present(request.text)
                and (found := _newer_value(other, facts[end]))
            ):
                hits = _shown_above(ports, hits, end, other, found)
            else:
                continue
            shown.add(other.id)
    return hits[: request.top_k]


def _newer_value(newer: Memory, older: Memory) -> "Supersession | None":
    from slowwave.policy.comparison.subjects import one_subject  # noqa: PLC0415 - most questions do without
    from slowwave.policy.comparison.succession import supersedes  # noqa: PLC0415

    return supersedes(newer.text, older.text, called=one_subject(newer.subject, older.subject))


def _wanted(memory: Memory, request: Search) -> bool:
    """Whether a memory that was not ranked passes the filters of the search."""
    return (
        (memory.is_searchable or (request.deep and not memory.is_withheld))
        and (request.kinds is None or memory.kind in request.kinds)
        and (request.categories is None or memory.category in request.categories)
        and request.conversation is None
        and (request.since is None or memory.at >= request.since)
        and (request.until is None or memory.at <= request.until)
        and (request.as_of is None or _was_true(memory, request.as_of))
        and _passes(memory, request)
    )


def _place(hits: Sequence[Hit], fact_id: str) -> int | None:
    """The place at which a memory is shown; None if it is no longer among the hits."""
    shown = (n for n, hit in enumerate(hits) if fact_id in {hit.memory.id, *(fact.id for fact in hit.facts)})
    return next(shown, None)


def _shown_beside(ports: Ports, hits: list[Hit], fact_id: str, other: Memory, request: Search) -> list[Hit]:
    if (place := _place(hits, fact_id)) is None:
        return hits
    beside = Hit(
        memory=other,
        score=hits[place].score,
        relevance=hits[place].relevance,
        sources=sources_of(ports, other),
        deep=not other.is_searchable,
        stale=other.outdated and request.as_of is None,
        because=f"may contradict {hits[place].text!r}",
    )
    return [*hits[: place + 1], beside, *hits[place + 1 :]]


def _shown_above(ports: Ports, hits: list[Hit], fact_id: str, other: Memory, found: "Supersession") -> list[Hit]:
    if (place := _place(hits, fact_id)) is None or not other.is_searchable:
        return hits
    near = hits[place]
    above = Hit(memory=other, score=near.score, relevance=near.relevance, sources=sources_of(ports, other))
    older = replace(hits[place], stale=True, because=found.explanation, perhaps=not found.certain)
    return [*hits[:place], above, older, *hits[place + 1 :]]
