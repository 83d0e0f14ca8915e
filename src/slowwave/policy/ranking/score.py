"""Scores how well each memory answers a question: one absolute, additive score over the arrays of any store."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from slowwave.policy.text.features import PREFERS, RULE, WHEN, WHERE, ParsedQuestion
from slowwave.policy.text.rarity import rarity

Floats = NDArray[np.floating[Any]]
Vectors = NDArray[np.float32]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

# The weight of each signal; the signal "words" is at most 1. Measured on LoCoMo and BEAM, the optimum is a plateau on which no
# single weight changes recall@10 by a point, so that round numbers are used.
MEANING: Final = 0.7
ASKED: Final = 0.3
QUESTION: Final = 0.2
DATED: Final = 0.05
PLACED: Final = 0.05
OPENING: Final = 0.05
CUE: Final = 0.05
RECENT: Final = 0.05
PREFERENCE: Final = 0.15
STANDING: Final = 0.2
ADVICE: Final = {PREFERS: PREFERENCE, RULE: STANDING}  # by the bit of `IndexEntry.cues`
IMPORTANCE: Final = 0.5  # in the profile "generative_agents"
RECENCY: Final = 0.3  # in the profile "generative_agents"
RETENTION: Final = 0.3  # the power of strength in the profile "retention"
RECENT_HALF_LIFE: Final = 30 * 86_400.0  # seconds

SATURATION: Final = 0.8  # BM25's k1
LENGTH: Final = 0.75  # BM25's b
DATE: Final = 1.0  # a matching date counts as this many occurrences of a word
OPEN: Final = 40.0  # texts up to this many words exchange context with their neighbours in full
BARE: Final = 15.0  # words up to which a question counts in full
GAP: Final = 6 * 3600.0  # seconds between two messages from which on they exchange no context

# Weights of the neighbours of a message: those before it, nearest first, and those after it.
BEFORE_WORDS: Final = (0.4, 0.25, 0.15, 0.1)
REPLY: Final = 0.5  # what a message gives more to a direct reply of another speaker, as a part of its share
AFTER_WORDS: Final = (0.2, 0.1)
BEFORE_MEANING: Final = (0.5, 0.3, 0.18)
AFTER_MEANING: Final = (0.3, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The input of a ranking: n rows in any order as arrays of length n, and the statistics of their scope.

    A store can pass every row of a scope, or candidates with their neighbours: the score of a row depends only on itself, on up to
    four messages before and two after it, and on the statistics. The statistics count originals only: messages, and facts
    without a source message. A fact that repeats a message would make its words look more common.

    Attributes:
        count: how many originals the scope has.
        postings: term -> the rows in which it occurs, ascending, once per occurrence; and the number of originals with it.
        weight: the weight of one occurrence of a word (`length_normalisation`).
        gate: how much context a row exchanges with its neighbours (`length_gate`).
        before, after: the rows of the messages before and after in the conversation; -1 if there is none, as for facts.
        day: the day of the row, as a number.
        days: term -> the days that it can mean; None if it is no date word.
        speaker: the number of the speaker, -1 if unknown. Of a fact it is the speaker of its source messages.
        user: whether it is a message of the user, or a fact based on one.
        people: whether its conversation is between people, not with an assistant.
        question: how far it is only a question (`question_share`).
        cues: `IndexEntry.cues`.
        at: the time of the row in seconds since 1970.
        latest: the latest of all times of the scope.
        vectors, scale: (n, dim) vectors with context, and 1 / norm of each, 0 without a vector; None without any.
        passages, passage_rows: (m, dim) unit vectors of the passages of long texts, and their rows, ascending.
        lenders, borrowers: pairs of rows: a fact, and one of its source messages, whose conversation it has.
        gists, wholes: pairs of rows: a trimmed text, and the message with its full text. The trimmed text gets the same
            context as the message, and gives none.
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
    """BM25's length normalisation: 1 / (1 - b + b * words / average), with the average length of the scope's originals.

    For distilled facts it is at most 1: they are all short, so that their length is no evidence.
    """
    weights = 1.0 / (1.0 - LENGTH + LENGTH * words / average)
    return np.where(original, weights, np.minimum(weights, 1.0))


def length_gate(words: Floats) -> Floats:
    """How much context texts of this length exchange with their neighbours: short messages all, long ones little."""
    return np.minimum(1.0, OPEN / np.maximum(words, 1))


def question_share(share: Floats, words: Floats) -> Floats:
    """How far each text is only a question: the share of its words in questions, reduced for texts over 15 words."""
    return share * np.minimum(1.0, BARE / np.maximum(words, 1))


def parts(corpus: Corpus, question: ParsedQuestion, vector: Vectors | None) -> dict[str, Floats]:
    """The part of each signal in the score of every row; signals that do not apply are left out.

    words: the share of the question's information that the words of the row and its neighbours cover, 0 to 1.
    meaning: MEANING times the cosine of the question and the row with its context.
    estimated: MEANING times "words", for rows without a vector if other rows have one.
    asked: ASKED if the row is by the one speaker that the question names.
    user: ASKED if the row is by the user of an assistant, and the question has no name and says I, my, we or our.
    question: down to -QUESTION for a row that is only a question; only in conversations between people.
    dated: DATED for a row that says when something happened; only in conversations between people.
    placed: PLACED for a row that names a place; only in conversations between people.
    opening: OPENING for the first message of a conversation or after a pause, where people tell their news; only in
        conversations between people, once another message follows.
    cue: CUE if the row contains the kind of answer that the question asks for.
    advice: PREFERENCE for a user's preference if the question wants advice, STANDING for a user's rule for the assistant if it
        is a request; only in talk with an assistant.
    recent: RECENT for the newest row, halved every 30 days, if the question asks for the present state.
    """
    signals = {"words": lexical(corpus, question)}
    if vector is not None and corpus.vectors is not None and len(vector) == corpus.vectors.shape[1]:
        signals["meaning"] = MEANING * cosine(corpus, corpus.vectors, vector)
        if not (corpus.scale > 0).all():
            signals["estimated"] = MEANING * (signals["words"] * (corpus.scale == 0))
    if question.speaker is not None:
        signals["asked"] = ASKED * (corpus.speaker == question.speaker)
    elif question.of_user:
        signals["user"] = ASKED * (corpus.user & ~corpus.people)
    signals |= sentences(corpus)
    if question.cue:
        signals["cue"] = CUE * ((corpus.cues & question.cue) != 0)
    if question.wanted:
        signals["advice"] = advice(corpus, question.wanted)
    if question.recent:
        signals["recent"] = RECENT * np.exp2((corpus.at - corpus.latest) / RECENT_HALF_LIFE)
    return signals


def advice(corpus: Corpus, wanted: int) -> Floats:
    """The signal "advice" of `parts`: the greater of both weights."""
    cues = corpus.cues & wanted
    worth = np.zeros(len(cues))
    for bit, weight in ADVICE.items():
        worth = np.maximum(worth, weight * ((cues & bit) != 0))
    found: Floats = worth * (corpus.user & ~corpus.people)
    return found


def sentences(corpus: Corpus) -> dict[str, Floats]:
    """The signals of `parts` that depend on the row and its neighbours only: "question", "dated", "placed" and "opening"."""
    if not corpus.people.any():
        return {}
    opens = corpus.people & (corpus.before < 0) & (corpus.after >= 0)  # facts and summaries have no neighbours
    opens[corpus.gists] = opens[corpus.wholes]
    return {
        "question": -QUESTION * (corpus.question * corpus.people),
        "dated": DATED * (corpus.people & ((corpus.cues & WHEN) != 0)),
        "placed": PLACED * (corpus.people & ((corpus.cues & WHERE) != 0)),
        "opening": OPENING * opens,
    }


def lexical(corpus: Corpus, question: ParsedQuestion) -> Floats:
    """BM25's saturated term frequencies with context, divided by the greatest possible sum for the question.

    sum_t idf(t) tf(t) / (k1 + tf(t)) / sum_t idf(t), over all terms t of the question, also those that occur nowhere.
    """
    score, attainable = np.zeros(len(corpus.weight)), 0.0
    for term in question.terms:
        rows, df = corpus.postings(term)
        idf = rarity(corpus.count, df)
        attainable += idf
        tf = _frequency(corpus, rows, corpus.days(term))
        if tf is not None:
            score += idf * (tf / (SATURATION + tf))
    return score / attainable if attainable else score


def _frequency(corpus: Corpus, rows: Rows, days: Rows | None) -> Floats | None:
    """The frequency of a term in every row, with the shares of neighbours and of the date; None if it occurs nowhere.

    Between people a question gives up to twice as much to the message after it, which is likely to be its answer, and each
    message `REPLY` more to one of another speaker.
    """
    dated: Floats | None = None if days is None else np.where(np.isin(corpus.day, days), DATE, 0.0)
    if not len(rows):
        return dated
    counts = corpus.weight[rows]
    gated = counts * corpus.gate[rows]
    answered = (corpus.question[rows] + REPLY * _is_replied_to(corpus, rows)) * corpus.people[rows]
    asking = np.flatnonzero(answered)
    targets, weights = [rows], [counts]
    for steps, shares, start, amounts in (
        (corpus.after, BEFORE_WORDS, rows, gated),
        (corpus.before, AFTER_WORDS, rows, gated),
        (corpus.after, BEFORE_WORDS[:1], rows[asking], (gated * answered)[asking]),
    ):
        reached, amount = start, amounts
        for share in shares:
            reached = steps[reached]
            exists = reached >= 0
            if not exists.all():
                reached, amount = reached[exists], amount[exists]
            targets.append(reached)
            weights.append(share * amount * corpus.gate[reached])
    tf: Floats = np.zeros(len(corpus.weight)) if dated is None else dated
    gathered = np.bincount(np.concatenate(targets), weights=np.concatenate(weights), minlength=len(tf))
    if len(corpus.gists):
        context = gathered - np.bincount(rows, weights=counts, minlength=len(tf))
        gathered[corpus.gists] += context[corpus.wholes]
    tf += gathered
    return tf


def _is_replied_to(corpus: Corpus, rows: Rows) -> Mask:
    """Whether the message after each of these rows is by another speaker."""
    after = corpus.after[rows]
    replied: Mask = (after >= 0) & (corpus.speaker[after] != corpus.speaker[rows])
    return replied


def cosine(corpus: Corpus, vectors: Vectors, vector: Vectors) -> Floats:
    """The cosine of the question and each row with its context; for long texts the mean of it and the best passage's cosine.

    `np.vecdot` reads the matrix once, in order, on one thread. `@` would start a thread of BLAS on every core.
    """
    cosines: Floats = (np.vecdot(vectors, vector) * corpus.scale).astype(np.float64)
    if len(corpus.passage_rows):
        starts = np.flatnonzero(np.diff(corpus.passage_rows, prepend=-1))
        best = np.maximum.reduceat(np.vecdot(corpus.passages, vector), starts)
        rows = corpus.passage_rows[starts]
        cosines[rows] = (cosines[rows] + best) / 2
    return cosines


def total(signals: Mapping[str, Floats]) -> Floats:
    """The scores: the sum of the parts, added in their order."""
    terms = iter(signals.values())
    total = next(terms).copy()
    for term in terms:
        total += term
    return total


def profile_parts(
    profile: str, scores: Floats, *, importance: Floats, age: Floats, strength: Floats
) -> dict[str, Floats]:
    """The parts that a ranking profile of the sources adds to the score.

    "generative_agents": 0.5 * importance + 0.3 * 2^(-age / 30 days), age in seconds since the last use (Park et al.,
    UIST 2023). "retention": score * strength^0.3 in place of the score.
    """
    if profile == "retention":
        return {"strength": scores * (strength**RETENTION - 1.0)}
    recency = np.exp2(-age / RECENT_HALF_LIFE)
    return {"importance": IMPORTANCE * importance, "recency": RECENCY * recency}


def top_rows_with_ties(scores: Floats, count: int) -> Rows:
    """The rows with the `count` highest finite scores, and all that tie with the last of them, in no particular order."""
    block = 64
    whole = len(scores) // block * block
    bound = -np.inf
    if whole // block > count:  # a lower bound that at least `count` rows reach, from the best score of each block
        tops = scores[:whole].reshape(-1, block).max(axis=1)
        bound = np.partition(tops, len(tops) - count)[len(tops) - count]
    rows = np.flatnonzero((scores >= bound) & (scores > -np.inf))
    if len(rows) <= count:
        return rows
    among = scores[rows]
    best: Rows = rows[among >= np.partition(among, len(among) - count)[len(among) - count]]
    return best
