"""How well each memory answers a question: one absolute, additive score, the same over any store's arrays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from slowwave.policy.features import Question

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

MEANING: Final = 0.7
ASKED: Final = 0.4
QUESTION: Final = 0.2
CUE: Final = 0.05
LENT: Final = 0.5
RECENT: Final = 0.05
RECENT_HALF_LIFE: Final = 30 * 86_400.0

SATURATION: Final = 1.0
OWN_LENGTH: Final = 0.5
CONTEXT_LENGTH: Final = 0.75
DATE: Final = 0.5
GATE: Final = 40.0
SHORT_QUESTION: Final = 15.0

BEFORE_WORDS: Final = (0.40, 0.24, 0.144, 0.086)
AFTER_WORDS: Final = (0.20, 0.10)
BEFORE_MEANING: Final = (0.5, 0.3, 0.18)
AFTER_MEANING: Final = (0.3, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What a ranking looks at: n rows in any order, each array of length n, and the statistics of their scope.

    A store may hand in every row of a scope, or candidates together with their neighbours: a row's score depends on
    itself, on up to four messages before and two after it, and on the statistics, on nothing else.

    Attributes:
        count, average: how many texts the scope has, and their average length in words.
        postings: where a term occurs: the rows, ascending, one for each time, and the number of texts of the scope.
        words: the length of each text.
        gate: how much it borrows from and lends to its neighbours (`gate`).
        before, after: the row of the message before and after in its conversation, -1 if there is none; facts have none.
        day: which day it was said, as an index into the days.
        days: the days that a date word names, by term.
        speaker: the number of who said it, -1 if unknown.
        user: whether the user said it to an assistant (no person-to-person talk).
        question: the question penalty's share, 0 to 1 (`question_share`); 0 in chats with an assistant.
        cues: `Entry.cues`.
        at: when it was said, seconds since 1970.
        latest: the newest of all times of the scope.
        vectors, scale: (n, dim) vectors with context (`pooled`), and 1 / norm of each, 0 without a vector.
        passages, passage_rows: (m, dim) unit vectors of the passages of long texts, and their rows, ascending.
        lenders, borrowers: pairs of rows: a fact and a message it rests on.
    """

    count: int
    average: float
    postings: Callable[[int], tuple[Rows, int]]
    words: Floats
    gate: Floats
    before: Rows
    after: Rows
    day: Rows
    days: Mapping[int, Rows]
    speaker: Rows
    user: NDArray[np.bool_]
    question: Floats
    cues: NDArray[np.uint8]
    at: Floats
    latest: float
    vectors: NDArray[np.float32] | None
    scale: NDArray[np.float32] | None
    passages: NDArray[np.float32] | None
    passage_rows: Rows | None
    lenders: Rows
    borrowers: Rows


def gate(words: Floats) -> Floats:
    """How much a text borrows from and lends to its neighbours: short turns fully, long messages little."""
    return np.minimum(1.0, GATE / np.maximum(words, 1.0))


def question_share(share: float, words: int) -> float:
    """How much of a short question a text is: 1 for a bare question of up to 15 words."""
    return share * min(1.0, SHORT_QUESTION / max(words, 1))


def parts(corpus: Corpus, question: Question, vector: NDArray[np.float32] | None) -> dict[str, Floats]:
    """Every signal's share of the score of every row, before facts lend; absent signals are left out."""
    found = {"words": lexical(corpus, question)}
    if vector is not None and corpus.vectors is not None:
        found["meaning"] = MEANING * cosine(corpus, corpus.vectors, vector)
    if question.speaker is not None:
        found["asked"] = ASKED * (corpus.speaker == question.speaker)
    elif question.myself:
        found["asked"] = ASKED * corpus.user
    found["question"] = -QUESTION * corpus.question
    if question.cue:
        found["cue"] = CUE * ((corpus.cues & question.cue) != 0)
    if question.recent:
        found["recent"] = RECENT * np.exp2((corpus.at - corpus.latest) / RECENT_HALF_LIFE)
    return found


def lexical(corpus: Corpus, question: Question) -> Floats:
    """The share of the question's information that a row's words and its neighbours' cover, 0 to 1.

    BM25's saturation over a term frequency with context, divided by what the whole question could earn:
    sum_t idf(t) tf(t) / (1 + tf(t)) / sum_t idf(t).
    """
    size = len(corpus.words)
    score, attainable = np.zeros(size), 0.0
    for term in question.terms:
        rows, df = corpus.postings(term)
        idf = float(np.log1p((corpus.count - df + 0.5) / (df + 0.5)))
        attainable += idf
        tf = _frequency(corpus, rows, corpus.days.get(term))
        if tf is not None:
            score += idf * (tf / (SATURATION + tf))
    return score / attainable if attainable else score


def _frequency(corpus: Corpus, rows: Rows, days: Rows | None) -> Floats | None:
    """The frequency of a term in every row, with what its neighbours and its date lend; None if it occurs nowhere."""
    if not len(rows):
        return None if days is None else DATE * np.isin(corpus.day, days)
    length = corpus.words[rows] / corpus.average
    targets = [rows]
    weights = [1.0 / (1.0 - OWN_LENGTH + OWN_LENGTH * length)]
    gates = corpus.gate[rows]
    lends = gates / (1.0 - CONTEXT_LENGTH + CONTEXT_LENGTH * length)
    for steps, shares in ((corpus.after, BEFORE_WORDS), (corpus.before, AFTER_WORDS)):
        reached, lent = rows, lends
        for share in shares:
            reached = steps[reached]
            there = reached >= 0
            if not there.all():
                reached, lent = reached[there], lent[there]
            targets.append(reached)
            weights.append(share * lent * corpus.gate[reached])
    tf = np.bincount(np.concatenate(targets), np.concatenate(weights), minlength=len(corpus.words))
    return tf if days is None else tf + DATE * np.isin(corpus.day, days)


def cosine(corpus: Corpus, vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> Floats:
    """The cosine of the question and each row with its context; for long texts its mean with the best passage's.

    `np.vecdot` reads the matrix once, in order, on one thread whatever BLAS was told (`@` would take every core).
    """
    found = (np.vecdot(vectors, vector) * corpus.scale).astype(np.float64)
    if corpus.passages is not None and len(corpus.passage_rows):
        starts = np.flatnonzero(np.diff(corpus.passage_rows, prepend=-1))
        best = np.maximum.reduceat(np.vecdot(corpus.passages, vector), starts)
        rows = corpus.passage_rows[starts]
        found[rows] = (found[rows] + best) / 2
    return found


def add_up(found: Mapping[str, Floats]) -> Floats:
    """The scores: the parts, added in their order."""
    terms = iter(found.values())
    total = next(terms).copy()
    for term in terms:
        total += term
    return total


def lent(corpus: Corpus, scores: Floats, searchable: NDArray[np.bool_]) -> Floats | None:
    """What facts lend to the messages they rest on: half of what the best of them scores above the message."""
    pairs = searchable[corpus.lenders] & searchable[corpus.borrowers]
    if not pairs.any():
        return None
    best = np.full(len(scores), -np.inf)
    np.maximum.at(best, corpus.borrowers[pairs], scores[corpus.lenders[pairs]])
    return LENT * np.maximum(0.0, best - scores)


def first(scores: Floats, rows: Rows, wanted: int) -> Rows:
    """The rows with the `wanted` highest scores and all that tie with the last of them, in no order."""
    if wanted >= len(rows):
        return rows
    among = scores[rows]
    last = np.partition(among, len(among) - wanted)[len(among) - wanted]
    return rows[among >= last]
