"""Finds the known memories that a mind compares with each new fact.

A mind that runs on this machine is shown every similar memory. A mind that counts tokens (`ports.Counting`) is shown at most
FEW per fact, also cold ones, and only those that share more than names, titles, dates or numbers: on measured conversations half
of the similar memories shared nothing else with the fact, and none of these changed. Shared stems count by their rarity in the scope: in a talk
about a dance studio, every second fact contains "dance" and "studio", which say nothing of which one is changed.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import STATEMENT_KINDS, Memory
from slowwave.model.mind import Candidate, Fact, ReconcileCase
from slowwave.model.query import Query, Where
from slowwave.pipelines.rarity import rarity_in_scope
from slowwave.policy.comparison.statements import implied
from slowwave.policy.guard.grounding import capitalises_nouns
from slowwave.policy.retention.categories import TEMPORARY
from slowwave.policy.retention.phases import has_expired
from slowwave.policy.text import names as naming
from slowwave.policy.text.calendar import MONTH_NUMBERS, WEEKDAY_NUMBERS
from slowwave.policy.text.date_spans import written_spans
from slowwave.policy.text.dates import mentioned
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.relative_dates import DateSpan
from slowwave.policy.text.tokens import STOP_WORDS, stem, words
from slowwave.ports import Counting, Ports

if TYPE_CHECKING:
    import numpy as np

CANDIDATES: Final = 8
"""How many known memories a mind on this machine is shown for one new fact."""
FEW: Final = 4
"""How many a mind that counts tokens is shown for one new fact."""
SHARED: Final = 2
"""How many content stems such a candidate shares with the fact; half of the stems of the shorter text are enough."""

RARE: Final = 0.3
"""The share of the information of the shorter text that such a candidate has in common with the fact.

Half of it is enough if the cosine says that the matter is the same, and none for texts of at most SHARED stems. In two recorded
conversations 103 of 189 candidates had less, and none of these changed.
"""

PRIOR: Final = 50
"""Memories without a stem that are added when its rarity is computed, because a small scope says little of it."""

_KINDS = frozenset(STATEMENT_KINDS)
_SUBJECTS: Final = frozenset({"user", "assistant"})
_EMPTY: Final = frozenset(map(stem, ("way", "make", "go", "get", "take", "want", "start", "kid", "thing", "time")))
"""Stems of so many matters that sharing only these makes no candidate."""
_PERIODS: Final = frozenset(map(stem, ("day", "week", "weekend", "month", "year", "today", "last", "next", "ago")))
"""Stems that only say when: two events of one month have little in common."""
_BOUND: Final = lazy_regex(r"\b(?:by|before|until|till|since|from|after|as of)\s+(?:about\s+|the\s+)?$", re.IGNORECASE)
"""What makes a date a bound of the day and not the day itself."""
_BOUND_WITHIN: Final = 40  # characters before a date


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    """The cosines of an embedder from which two texts are `related`, about the same `matter`, or `duplicates`."""

    related: float
    matter: float
    duplicate: float


@dataclass(slots=True, kw_only=True)
class IncomingFact:
    """A new fact: as proposed, as it would be stored, and what the search for similar facts needs.

    `stated` says that a person states it at this moment.
    """

    fact: Fact
    stated: bool
    memory: Memory
    entry: IndexEntry
    key: str
    stems: frozenset[str]
    vector: "np.ndarray[tuple[int], np.dtype[np.float32]] | None"
    suspect: str | None = None
    known_under_review: Memory | None = None
    candidates: list[Candidate] = field(default_factory=list)


def reconcile_cases(
    ports: Ports, incoming: Sequence[IncomingFact], decided: Collection[str], now: datetime, near: Nearness
) -> list[ReconcileCase]:
    """The facts that are similar to known ones, or to earlier ones of the batch, each with these candidates.

    Each memory has one number in all cases. Facts with one of the `decided` content keys need no mind.
    """
    counted = isinstance(ports.mind, Counting)
    numbers: dict[str, int] = {}
    cases: list[ReconcileCase] = []
    information = rarity_in_scope(ports, PRIOR) if counted else None
    in_cold = _has_cold_facts(ports, counted=counted)
    for place, new in enumerate(incoming):
        if new.suspect or new.key in decided or any(new.key == earlier.key for earlier in incoming[:place]):
            continue
        known = _similar(ports, new, now, near)
        known += _similar_in_cold(ports, new, now, near, counted=counted) if in_cold else []
        similar = [*known, *_similar_in_batch(new, incoming[:place], near)]
        if information is not None:
            similar = similar_in_content(new.memory, similar, near, information)
        for memory, cosine in similar:
            if all(candidate.memory.id != memory.id for candidate in new.candidates):
                number = numbers.setdefault(memory.id, len(numbers) + 1)
                fixed = memory.pinned and not new.stated
                new.candidates.append(Candidate(number=number, memory=memory, cosine=cosine, fixed=fixed))
        if new.candidates:
            at = new.fact.valid_from or new.memory.valid_from
            case = ReconcileCase(number=place + 1, fact=new.fact, at=at, candidates=tuple(new.candidates), now=now)
            cases.append(case)
    if counted and len(cases) == 1 and not _is_worth_a_call(cases[0], incoming[cases[0].number - 1].memory, near):
        incoming[cases[0].number - 1].candidates.clear()
        return []
    return cases


def _is_worth_a_call(case: ReconcileCase, new: Memory, near: Nearness) -> bool:
    """Whether a single fact shares more than a word with a candidate, or as much as half of the shorter text, or says nearly the same."""
    for candidate in case.candidates:
        common, _, shortest = _shared(new, candidate.memory)
        if len(common) >= SHARED or 0 < shortest <= 2 * len(common) or (candidate.cosine or 0.0) >= near.duplicate:
            return True
    return False


def similar_in_content(
    new: Memory,
    similar: Sequence[tuple[Memory, float | None]],
    near: Nearness,
    information: Callable[[str], float],
) -> list[tuple[Memory, float | None]]:
    """The FEW memories that share the most information with a new fact.

    Those that share only names, titles, dates or numbers are left out, unless the cosine says that the matter is the same; and
    those that share only frequent stems, unless it is that of duplicates. So are past events of other days than the fact's: neither changes the other. A plan is no past event, so
    a new date of an appointment meets the old one. So are facts about another person, if neither text names the other's.
    """
    stems, days = content_stems(new.text, new.subject), past_spans(new.text, new.at)
    worth = []
    for memory, cosine in similar:
        if _are_other_days(days, past_spans(memory.text, memory.at)) or _are_of_others(new, memory):
            continue
        common, plain, shortest = _shared(new, memory)
        least = min(sum(map(information, each)) for each in (stems, content_stems(memory.text, memory.subject)))
        share = sum(map(information, common)) / least if least else 0.0
        if cosine is not None and cosine >= near.duplicate:
            is_similar = True
        elif cosine is not None and cosine >= near.matter:
            is_similar = share >= (RARE / 2 if plain else RARE) or shortest <= SHARED
        else:
            is_similar = share >= RARE and (len(plain) >= SHARED or 0 < shortest <= 2 * len(plain))
        if is_similar:
            worth.append((share + (cosine or 0.0), memory, cosine))
    worth.sort(key=lambda each: -each[0])  # stable: equal ones stay in the order of the search
    return [(memory, cosine) for _, memory, cosine in worth[:FEW]]


def _shared(first: Memory, second: Memory) -> tuple[frozenset[str], frozenset[str], int]:
    """The content stems that two facts share, those of them that are in no name, and how many the shorter one has."""
    stems, others = (content_stems(memory.text, memory.subject) for memory in (first, second))
    common = stems & others
    if common <= _EMPTY and common not in (stems, others):
        common = frozenset()
    texts = [first.text, second.text]
    names = () if capitalises_nouns(texts) else [name for text in texts for name in naming.names(text).inside]
    plain = common - {stem(word) for name in names for word in words(name)}
    return common, plain, min(len(stems), len(others))


def _are_of_others(first: Memory, second: Memory) -> bool:
    """Whether two facts are about two named people, and neither text names the person of the other."""
    people = [(memory.subject or "").casefold() for memory in (first, second)]
    if people[0] == people[1] or not all(people) or any(_SUBJECTS & set(words(name)) for name in people):
        return False
    return not any(
        set(words(name)) & set(words(memory.text)) for name, memory in zip(people, (second, first), strict=True)
    )


def past_spans(text: str, at: datetime) -> tuple[DateSpan, ...]:
    """The written dates of a text as first and last days, if all of them lie before a time, else none.

    A text with a date that lacks its year, or that is only a bound ("by 3 May 2023", "since 2020"), has none either.

    >>> [[str(day) for day in span] for span in past_spans("Noor camped in the week of 1 May 2023", datetime(2023, 6, 1))]
    [['2023-05-01', '2023-05-07']]
    >>> past_spans("Noor sails on 3 May 2023", datetime(2023, 4, 1)), past_spans("Noor sailed by 3 May 2023", datetime(2023, 6, 1))
    ((), ())
    """
    spans = written_spans(text)
    days = [reading for span in spans for reading in span.readings]
    if any(not year for written in mentioned(text) for year, _, _ in written.readings):
        return ()
    starts = (span.start for span in spans)
    if any(last > at.date() for _, last in days) or any(
        _BOUND.search(text, max(0, start - _BOUND_WITHIN), start) for start in starts
    ):
        return ()
    return tuple(days)


def _are_other_days(first: Sequence[DateSpan], second: Sequence[DateSpan]) -> bool:
    """Whether two texts with dates have no day in common."""
    return bool(first and second) and not any(one[0] <= two[1] and two[0] <= one[1] for one in first for two in second)


def content_stems(text: str, subject: str | None = None) -> frozenset[str]:
    """The stems of a text without stop words, its subject and the name at its opening, numbers, and words that only say when.

    >>> sorted(content_stems("Noor moved to Tilburg on 3 May 2023"))
    ['live', 'move', 'tilburg', 'us']
    """
    names = {word for name in (*naming.names(text).opening, subject or "") for word in words(name)}
    return frozenset(
        stem(word)
        for word in words(f"{text} {implied(text)}")
        if word not in STOP_WORDS | _SUBJECTS
        and word not in names
        and word not in MONTH_NUMBERS
        and word not in WEEKDAY_NUMBERS
        and not any(character.isdigit() for character in word)
        and stem(word) not in _PERIODS
    )


def _similar(ports: Ports, new: IncomingFact, now: datetime, near: Nearness) -> list[tuple[Memory, float | None]]:
    """The hot facts of the scope that share a stem with a new fact or with what it implies, or are near by cosine."""
    return _found(ports, new, near, _query(new, now))


def _similar_in_cold(
    ports: Ports, new: IncomingFact, now: datetime, near: Nearness, *, counted: bool
) -> list[tuple[Memory, float | None]]:
    """The same of the cold facts; for a mind that counts no tokens only temporary states that have expired, which a later change supersedes."""
    query = _query(new, now)
    if counted:
        found = _found(ports, new, near, replace(query, deep=True, top_k=2 * CANDIDATES))  # hot ones are among them
        return [pair for pair in found if pair[0].phase == "cold"]
    found = _found(ports, new, near, replace(query, deep=True, top_k=FEW, categories=TEMPORARY))
    return [pair for pair in found if has_expired(pair[0])]


def _query(new: IncomingFact, now: datetime) -> Query:
    return Query(
        text=f"{new.fact.text} {implied(new.fact.text)}".rstrip(),
        vector=new.vector,
        embedder=new.entry.embedder,
        top_k=CANDIDATES,
        kinds=_KINDS,
        now=now,
    )


def _found(ports: Ports, new: IncomingFact, near: Nearness, query: Query) -> list[tuple[Memory, float | None]]:
    ranked = {
        place.id: place
        for place in ports.store.search((ports.scope,), query)
        if place.id != new.memory.id and (place.shared > 0 or (place.cosine or -1.0) >= near.related)
    }
    return [(memory, ranked[memory.id].cosine) for memory in ports.store.get((ports.scope,), ranked)]


def _has_cold_facts(ports: Ports, *, counted: bool) -> bool:
    """Whether the scope has facts in cold storage; for a mind that counts no tokens temporary states."""
    categories = None if counted else TEMPORARY
    where = Where(kinds=_KINDS, phases=frozenset({"cold"}), categories=categories, limit=1)
    return any(True for _ in ports.store.select((ports.scope,), where))


def _similar_in_batch(
    new: IncomingFact, earlier: Sequence[IncomingFact], near: Nearness
) -> list[tuple[Memory, float | None]]:
    """The earlier facts of the batch that share a stem with a new fact, or are near by cosine."""
    similar: list[tuple[Memory, float | None]] = []
    for other in earlier:
        if other.suspect:
            continue
        cosine = None if new.vector is None or other.vector is None else float(new.vector @ other.vector)
        if new.stems & other.stems or (cosine is not None and cosine >= near.related):
            similar.append((other.memory, cosine))
    return similar[-CANDIDATES:]
