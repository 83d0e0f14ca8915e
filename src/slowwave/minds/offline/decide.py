"""Decides by rule what a new fact does to known facts: equivalent facts merge, explicit corrections supersede."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Final

from slowwave.model.memory import Memory
from slowwave.model.mind import Candidate, Fact, ReconcileCase, Relation, Verdict, VerdictOp
from slowwave.model.operations import LinkKind
from slowwave.policy.comparison import subjects
from slowwave.policy.comparison.alignment import WordCosine
from slowwave.policy.comparison.contradictions import conflicts, denials
from slowwave.policy.comparison.corrections import TAKEN_BACK, Correction, correction
from slowwave.policy.comparison.duplicates import Comparison, compare, longer, normalised
from slowwave.policy.comparison.succession import Supersession, supersedes
from slowwave.policy.comparison.values import value_changed
from slowwave.policy.retention.importance import PRIOR_DOCUMENTS, PRIOR_WORDS
from slowwave.policy.text import word_frequency
from slowwave.policy.text.dates import mentioned
from slowwave.policy.text.tokens import stem

CLOSE: Final = "close"
CHANGED: Final = "value changed?"
CONFLICT: Final = "conflict?"
_HEAD: Final = re.compile(r"(?:correction|update|actually|sorry|i mean|scratch that|no,? wait)\b[^\w]*", re.IGNORECASE)
_OWN_FORMS: Final = tuple(
    (re.compile(rf"\b(?:{words})(?![\w'’])", re.IGNORECASE), form)
    for words, form in (("i['’]?m|i am", " is"), ("i['’]ve|i have", " has"), ("i|me", ""), ("my", "'s"))
)
"""What somebody says of themselves -> what follows their name where it is said about them."""
_FIRST_PERSON: Final = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours|im)\b", re.IGNORECASE)
SAME_EVENT: Final = timedelta(days=7)
"""Two undated events stated further apart are different events, however similar their text."""


def decide(case: ReconcileCase, word_cosine: WordCosine | None) -> tuple[Verdict, ...]:
    """The verdicts on one new fact: at most one that adds, updates, links or confirms, any number that retract.

    Explicit corrections and successions come first, then values that may have changed, then merges, then links: a conflict, a
    changed number, closeness. What two people say of themselves is never one statement. Events of different dates never supersede each other.

    Args:
        case: The fact and its candidates.
        word_cosine: Cosines of single words; None without word vectors, and then facts merge only if their words are equal.
    """
    bare = replace(
        case,
        fact=replace(case.fact, text=_said(case.fact)),
        candidates=tuple(
            replace(each, memory=replace(each.memory, text=_said(each.memory)))
            for each in case.candidates
            if not _by_two(case.fact, each.memory)
        ),
    )
    decided = _decided(bare, word_cosine)
    return tuple(each if each.text is None else replace(each, text=case.fact.text) for each in decided)


def _decided(case: ReconcileCase, word_cosine: WordCosine | None) -> tuple[Verdict, ...]:
    corrections = [(c, change) for c in case.candidates if (change := _correction(case, c))]
    retractions = [
        _verdict(case, c, "DELETE", "contradictory", change.because)
        for c, change in corrections
        if change.kind == "corrected"
    ]
    replaced = [(c, change) for c, change in corrections if change.kind != "corrected"]
    if replaced:
        (first, change), *others = replaced
        update = _verdict(case, first, "UPDATE", "contradictory", change.because, text=case.fact.text)
        deletions = [_verdict(case, c, "DELETE", "contradictory", change.because) for c, change in others]
        return (update, *deletions, *retractions)
    if retractions:
        return (_added(case, "What it corrects was never so."), *retractions)
    return (
        _other_value(case)
        or _merged(case, word_cosine)
        or _linked(case, word_cosine)
        or _added(case, "Nothing known says the same."),
    )


def _said(fact: Fact | Memory) -> str:
    """The text of a fact about its subject: without the name of its speaker before it, and with the subject for "I" and "my"."""
    text = fact.text.removeprefix(f"{fact.subject}: ")
    if not fact.subject:
        return text
    for pattern, form in _OWN_FORMS:
        text = pattern.sub(lambda _, form=form: f"{fact.subject}{form}", text)  # type: ignore[misc]
    return text


def _by_two(new: Fact, old: Memory) -> bool:
    """Whether two people say the facts of themselves: "I live in Bern" by Ann and by Bob are no one statement."""
    own = any(_FIRST_PERSON.search(text) for text in (new.text, old.text))
    return own and bool(new.subject and old.subject) and not subjects.one_subject(new.subject, old.subject)


def _added(case: ReconcileCase, because: str) -> Verdict:
    return Verdict(fact=case.number, op="ADD", because=because)


def _verdict(
    case: ReconcileCase,
    candidate: Candidate,
    op: VerdictOp,
    relation: Relation | LinkKind,
    because: str,
    *,
    text: str | None = None,
) -> Verdict:
    return Verdict(fact=case.number, op=op, memory=candidate.number, text=text, relation=relation, because=because)


def _correction(case: ReconcileCase, candidate: Candidate) -> Correction | None:
    """The explicit correction of a candidate by the new fact, or None. An event is never corrected."""
    if case.at < candidate.memory.at or candidate.memory.kind == "episodic":
        return None
    head = TAKEN_BACK.match(case.fact.quote or "")
    said = (head[0] if head and not TAKEN_BACK.match(case.fact.text) else "") + case.fact.text
    if found := correction(said, candidate.memory.text, called=_called(case, candidate)):
        return found
    after = _succession(case, candidate)
    return Correction(kind="changed", because=after.because) if after is not None and after.certain else None


def _succession(case: ReconcileCase, candidate: Candidate) -> Supersession | None:
    """The succession of a candidate by the new fact, or None. The announcement before its quote ("Correction: …") counts."""
    if case.at < candidate.memory.at:
        return None
    old, called = candidate.memory.text, _called(case, candidate)
    head = _HEAD.match(case.fact.quote or "")
    return supersedes((head[0] if head else "") + case.fact.text, old, called=called)


def _other_value(case: ReconcileCase) -> Verdict | None:
    """A link to the latest fact whose value may have changed; that fact is linked to those before it."""
    successions = [(c, after) for c in case.candidates if (after := _succession(case, c))]
    if not successions:
        return None
    candidate, after = max(successions, key=lambda pair: (pair[0].memory.at, pair[0].number))
    return _verdict(case, candidate, "LINK", CHANGED, after.because)


def _called(case: ReconcileCase, candidate: Candidate) -> tuple[str, ...]:
    return subjects.one_subject(case.fact.subject, candidate.memory.subject)


def _merged(case: ReconcileCase, word_cosine: WordCosine | None) -> Verdict | None:
    """The verdict on the nearest equivalent candidate; the longer text is kept."""
    for candidate in _nearest(case.candidates):
        old, new = candidate.memory.text, case.fact.text
        comparison = _compared(new, candidate, word_cosine)
        if not comparison.merge or _two_events(case, candidate):
            continue
        if normalised(new) == normalised(old):
            return _verdict(case, candidate, "NOOP", "compatible", comparison.because)
        if longer(new, old) == new:
            return _verdict(case, candidate, "UPDATE", "subsumes", comparison.because, text=new)
        return _verdict(case, candidate, "NOOP", "subsumed", comparison.because)
    return None


def _compared(new: str, candidate: Candidate, word_cosine: WordCosine | None) -> Comparison:
    """The comparison with word vectors, or without them by equal words only."""
    cosine = 1.0 if candidate.cosine is None else candidate.cosine
    comparison = compare(new, candidate.memory.text, cosine=cosine, word_cosine=word_cosine or _equal_words)
    if word_cosine is None and comparison.merge and comparison.unmatched and not _same(new, candidate):
        because = "Kept apart: without word vectors only the same words are the same."
        return replace(comparison, merge=False, close=True, because=because)
    return comparison


def _same(new: str, candidate: Candidate) -> bool:
    return normalised(new) == normalised(candidate.memory.text)


def _equal_words(rows: Sequence[str], columns: Sequence[str]) -> list[list[float]]:
    return [[float(row == column) for column in columns] for row in rows]


def _two_events(case: ReconcileCase, candidate: Candidate) -> bool:
    """Whether both are undated events that were stated too far apart to be one event."""
    if case.fact.kind != "episodic" or candidate.memory.kind != "episodic" or mentioned(case.fact.text):
        return False
    return abs(case.at - candidate.memory.at) > SAME_EVENT


def _linked(case: ReconcileCase, word_cosine: WordCosine | None) -> Verdict | None:
    """A link to the most important related candidate: a conflict, a value that may have changed, or a close text."""
    near = _nearest(case.candidates)
    for find in (_conflict, _value):
        for candidate in near:
            if because := find(case, candidate):
                return _verdict(case, candidate, "LINK", CONFLICT if find is _conflict else CHANGED, because)
    for candidate in near:
        comparison = _compared(case.fact.text, candidate, word_cosine)
        if comparison.close:
            return _verdict(case, candidate, "LINK", CLOSE, comparison.because)
    return None


def _conflict(case: ReconcileCase, candidate: Candidate) -> str:
    """Why one of the two denies an action that the other states, or "". The first person is in the quotes."""
    new, old = (case.fact.quote, case.fact.text), (_quote(candidate), candidate.memory.text)
    for (denying, _), (_, stated) in ((new, old), (old, new)):
        for denial in denials(denying):
            if conflict := conflicts(denial, [stated], _rarity):
                return conflict[0].because
    return ""


def _quote(candidate: Candidate) -> str:
    return candidate.memory.sources[0].quote if candidate.memory.sources else ""


def _value(case: ReconcileCase, candidate: Candidate) -> str:
    if case.at < candidate.memory.at:
        return ""
    old = candidate.memory.text
    change = value_changed(case.fact.text, old, _rarity)
    if change is None and (head := _HEAD.match(case.fact.quote or "")):
        change = value_changed(head[0] + case.fact.text, old, _rarity)
    return change.because if change else ""


def _nearest(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (-(c.cosine or 0.0), c.number))


def _rarity(stemmed: str) -> float:
    """ln(documents / documents with the stem), estimated from the bundled word frequencies."""
    share = -math.expm1(-PRIOR_WORDS * _shares().get(stemmed, 0.0))
    return math.log((PRIOR_DOCUMENTS + 1) / (PRIOR_DOCUMENTS * share + 1))


@cache
def _shares() -> dict[str, float]:
    """Stem -> its frequency in English text."""
    shares: dict[str, float] = {}
    for word, share in word_frequency.probabilities().items():
        stemmed = stem(word)
        shares[stemmed] = shares.get(stemmed, 0.0) + share
    return shares
