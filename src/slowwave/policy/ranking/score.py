"""How well each memory answers a question: one absolute, additive score, the same over any store's arrays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.policy.text.features import WHEN, Question

Floats = NDArray[np.floating[Any]]
Vectors = NDArray[np.float32]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

# What each signal is worth. The words are worth at most 1. Measured on LoCoMo and BEAM: the optimum is a plateau on
# which no single number moves recall@10 by a point, so they are round.
MEANING: Final = 0.7
ASKED: Final = 0.3
QUESTION: Final = 0.2
DATED: Final = 0.05
CUE: Final = 0.05
RECENT: Final = 0.05
LENT: Final = 0.5
IMPORTANCE: Final = 0.5  # in the profile "generative_agents"
RECENCY: Final = 0.3  # in the profile "generative_agents"
RETENTION: Final = 0.3  # the power of strength in the profile "retention"
RECENT_HALF_LIFE: Final = 30 * 86_400.0  # seconds

SATURATION: Final = 0.8  # BM25's k1
LENGTH: Final = 0.75  # BM25's b
DATE: Final = 0.75  # what a date word counts, in occurrences
OPEN: Final = 40.0  # words up to which a text borrows and lends fully
BARE: Final = 15.0  # words of a bare question

# What the neighbours of a message lend it: those before it, the nearest first, and those after it.
BEFORE_WORDS: Final = (0.4, 0.25, 0.15, 0.1)
AFTER_WORDS: Final = (0.2, 0.1)
BEFORE_MEANING: Final = (0.5, 0.3, 0.18)
AFTER_MEANING: Final = (0.3, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What a ranking looks at: n rows in any order, each array of length n, and the statistics of their scope.

    A store may hand in every row of a scope, or candidates with their neighbours: a row's score depends on itself,
    on up to four messages before and two after it, and on the statistics, on nothing else. The statistics are those
    of the scope's originals: its messages, and the facts that rest on no message. What was distilled out of messages
    repeats their words and would make every word of them look common.

    Attributes:
        count: how many originals the scope has.
        postings: where a term occurs: the rows, ascending, one for each time; and in how many originals it does.
        weight: what one occurrence of a word counts (`weight`).
        gate: how much a row borrows from and lends to its neighbours (`gate`).
        before, after: the row of the message before and after in its conversation, -1 if there is none; facts have none.
        day: the day it was said, as a number.
        days: the days that a term may mean, None if it is no date word.
        speaker: the number of who said it, -1 if unknown. A fact's is that of the messages it rests on.
        user: whether the user said it, or it rests on what the user said.
        people: whether it comes from a talk between people, rather than with an assistant.
        question: how much of a bare question it is (`bareness`).
        cues: `Entry.cues`.
        at: when it was said, in seconds since 1970.
        latest: the latest of all times of the scope.
        vectors, scale: (n, dim) vectors with context, and 1 / norm of each, 0 without a vector; None without any.
        passages, passage_rows: (m, dim) unit vectors of the passages of long texts, and their rows, ascending.
        lenders, borrowers: pairs of rows: a fact and a message it rests on.
        gists, wholes: pairs of rows: what is left of a message's wording, and the message. A gist borrows what the
            message borrows, from the same neighbours, and lends nothing.
    """

    count: int
    postings: Callable[[int], tuple[Rows, int]]
    weight: Floats
    gate: Floats
    before: Rows
    after: Rows
    day: Rows
    days: Callable[[int], Rows | None]
    speaker: Rows
    user: Mask
    people: Mask
    question: Floats
    cues: NDArray[np.uint8]
    at: Floats
    latest: float
    vectors: Vectors | None
    scale: Vectors
    passages: Vectors
    passage_rows: Rows
    lenders: Rows
    borrowers: Rows
    gists: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    wholes: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


def length_normalisation(words: Floats, average: float, original: Mask) -> Floats:
    """BM25's normalisation: 1 / (1 - b + b * words / average), with the average length of the scope's originals.

    What was distilled is short because it was made short: that earns it nothing, its words weigh at most 1.
    """
    found = 1.0 / (1.0 - LENGTH + LENGTH * words / average)
    return np.where(original, found, np.minimum(found, 1.0))


def length_gate(words: Floats) -> Floats:
    """How much texts of so many words borrow and lend: short turns fully, long messages little."""
    return np.minimum(1.0, OPEN / np.maximum(words, 1))


def question_share(share: Floats, words: Floats) -> Floats:
    """How much of a bare question each text is, given the share of its words in questions: 1 for up to 15 words."""
    return share * np.minimum(1.0, BARE / np.maximum(words, 1))


def parts(corpus: Corpus, question: Question, vector: Vectors | None) -> dict[str, Floats]:
    """Every signal's share of the score of every row, before facts lend; signals that say nothing are left out.

    words: the share of the question's information that its words and its neighbours' cover, 0 to 1.
    meaning: MEANING times the cosine with the question, context included.
    estimated: for a row without a vector, where others have one, MEANING times its words: exact words still win.
    asked: ASKED if said by the one speaker the question names; and where it names none and does not turn to the assistant,
    user: ASKED if said by the user of an assistant.
    question: down to -QUESTION for a bare question, and
    dated: DATED for a turn that says when something happened, both only in a talk between people.
    cue: CUE if it holds the kind of answer the question wants.
    recent: RECENT for the newest, halving every 30 days, if the question asks for what is current.
    """
    found = {"words": lexical(corpus, question)}
    if vector is not None and corpus.vectors is not None and len(vector) == corpus.vectors.shape[1]:
        found["meaning"] = MEANING * cosine(corpus, corpus.vectors, vector)
        if not (corpus.scale > 0).all():
            found["estimated"] = MEANING * (found["words"] * (corpus.scale == 0))
    if question.speaker is not None:
        found["asked"] = ASKED * (corpus.speaker == question.speaker)
    elif question.of_user:
        found["user"] = ASKED * (corpus.user & ~corpus.people)
    found |= sentences(corpus)
    if question.cue:
        found["cue"] = CUE * ((corpus.cues & question.cue) != 0)
    if question.recent:
        found["recent"] = RECENT * np.exp2((corpus.at - corpus.latest) / RECENT_HALF_LIFE)
    return found


def sentences(corpus: Corpus) -> dict[str, Floats]:
    """The signals "question" and "dated" of `parts`: what the kind of its sentences adds to a row, whatever is asked."""
    if not corpus.people.any():
        return {}
    return {
        "question": -QUESTION * (corpus.question * corpus.people),
        "dated": DATED * (corpus.people & ((corpus.cues & WHEN) != 0)),
    }


def lexical(corpus: Corpus, question: Question) -> Floats:
    """BM25's saturation over term frequencies with context, divided by what the whole question could earn.

    sum_t idf(t) tf(t) / (k1 + tf(t)) / sum_t idf(t), over the question's terms t, also those that occur nowhere.
    """
    score, attainable = np.zeros(len(corpus.weight)), 0.0
    for term in question.terms:
        rows, df = corpus.postings(term)
        idf = float(np.log1p((corpus.count - df + 0.5) / (df + 0.5)))
        attainable += idf
        tf = _frequency(corpus, rows, corpus.days(term))
        if tf is not None:
            score += idf * (tf / (SATURATION + tf))
    return score / attainable if attainable else score


def _frequency(corpus: Corpus, rows: Rows, days: Rows | None) -> Floats | None:
    """The frequency of a term in every row, with what neighbours and its date lend; None if it occurs nowhere.

    A question lends up to twice as much to the turn after it: that is where its answer is.
    """
    dated: Floats | None = None if days is None else np.where(np.isin(corpus.day, days), DATE, 0.0)
    if not len(rows):
        return dated
    own = corpus.weight[rows]
    lends = own * corpus.gate[rows]
    asks = corpus.question[rows] * corpus.people[rows]
    asking = np.flatnonzero(asks)
    targets, weights = [rows], [own]
    for steps, shares, start, amounts in (
        (corpus.after, BEFORE_WORDS, rows, lends),
        (corpus.before, AFTER_WORDS, rows, lends),
        (corpus.after, BEFORE_WORDS[:1], rows[asking], (lends * asks)[asking]),
    ):
        reached, lent = start, amounts
        for share in shares:
            reached = steps[reached]
            there = reached >= 0
            if not there.all():
                reached, lent = reached[there], lent[there]
            targets.append(reached)
            weights.append(share * lent * corpus.gate[reached])
    tf: Floats = np.zeros(len(corpus.weight)) if dated is None else dated
    gathered = np.bincount(np.concatenate(targets), weights=np.concatenate(weights), minlength=len(tf))
    if len(corpus.gists):
        borrowed = gathered - np.bincount(rows, weights=own, minlength=len(tf))
        gathered[corpus.gists] += borrowed[corpus.wholes]
    tf += gathered
    return tf


def cosine(corpus: Corpus, vectors: Vectors, vector: Vectors) -> Floats:
    """The cosine of the question and each row with its context; for long texts its mean with the best passage's.

    `np.vecdot` reads the matrix once, in order, on one thread whatever BLAS was told; `@` would wake every core.
    """
    found: Floats = (np.vecdot(vectors, vector) * corpus.scale).astype(np.float64)
    if len(corpus.passage_rows):
        starts = np.flatnonzero(np.diff(corpus.passage_rows, prepend=-1))
        best = np.maximum.reduceat(np.vecdot(corpus.passages, vector), starts)
        rows = corpus.passage_rows[starts]
        found[rows] = (found[rows] + best) / 2
    return found


def total(found: Mapping[str, Floats]) -> Floats:
    """The scores: the parts, added in their order."""
    terms = iter(found.values())
    total = next(terms).copy()
    for term in terms:
        total += term
    return total


def fact_contribution(corpus: Corpus, scores: Floats, searchable: Mask) -> Floats | None:
    """What facts lend to the messages they rest on: half of what the best of them scores above the message.

    Only searchable facts lend, and only to searchable messages; None if there is no such pair.
    """
    pairs = searchable[corpus.lenders] & searchable[corpus.borrowers]
    if not pairs.any():
        return None
    best = np.full(len(scores), -np.inf)
    np.maximum.at(best, corpus.borrowers[pairs], scores[corpus.lenders[pairs]])
    return LENT * np.maximum(0.0, best - scores)


def profile_parts(
    profile: str, scores: Floats, *, importance: Floats, age: Floats, strength: Floats
) -> dict[str, Floats]:
    """What the ranking profiles of the sources add to the evidence score, as parts.

    "generative_agents": 0.5 * importance + 0.3 * 2^(-age / 30 days), age in seconds since the last use (Park et al.,
    UIST 2023). "retention": score * strength^0.3 in place of the score.
    """
    if profile == "retention":
        return {"strength": scores * (strength**RETENTION - 1.0)}
    recency = np.exp2(-age / RECENT_HALF_LIFE)
    return {"importance": IMPORTANCE * importance, "recency": RECENCY * recency}


def top_rows_with_ties(scores: Floats, wanted: int) -> Rows:
    """The rows with the `wanted` highest scores above minus infinity, and all that tie with the last, in no order."""
    block = 64
    whole = len(scores) // block * block
    bound = -np.inf
    if whole // block > wanted:  # a bound that at least so many rows reach, from a look at the blocks' best
        tops = scores[:whole].reshape(-1, block).max(axis=1)
        bound = np.partition(tops, len(tops) - wanted)[len(tops) - wanted]
    rows = np.flatnonzero((scores >= bound) & (scores > -np.inf))
    if len(rows) <= wanted:
        return rows
    among = scores[rows]
    best: Rows = rows[among >= np.partition(among, len(among) - wanted)[len(among) - wanted]]
    return best
