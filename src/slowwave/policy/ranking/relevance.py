"""Estimates the probability that a search result answers the question, from the features of its score.

    relevance = sigmoid(KNOWN) * sigmoid(ANSWERS)

`KNOWN` is about the question: do these memories know anything of it? It is computed from the first result. `ANSWERS` is
about one result: does it answer the question, if anything does? Both are linear, with round weights of our own fit
(22 November 2026; `bench/relevance.py` prints its check): LoCoMo and BEAM 100K, half of the conversations for the fit and
half for the check. Evidence turns are positive. All other results are negative: those of the same questions, of questions of
other conversations, and of general requests. Questions that a conversation answers and others have equal weight.

A small memory is another matter: it has one statement of each subject, and the question shares few words with it ("what should
I cook for her?"). There each result is judged alone:

    relevance = sigmoid(ALONE)

`ALONE` is linear too (fit of 23 November 2026, `bench/small_memories.py`). Its constant is chosen for the floor of contexts, 0.01:
about four of five right first results are above it. Between small and large memories the log odds of both formulas are mixed.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from slowwave.policy.text.features import ParsedQuestion, is_small_talk
from slowwave.policy.text.rarity import rarity
from slowwave.policy.text.tokens import STOP_WORDS, word_id, words
from slowwave.policy.text.word_frequency import commonest

BACKGROUND: Final = 300.0
"""Texts of general English that are added to the counts of a scope. Without them each word of a small scope is common."""
TEXT: Final = 20.0
"""Words of such a text."""
ENGLISH: Final = 2_000
"""How many of the most frequent words occur in these texts; the others do not."""
OCCURS: Final = 0.55
"""What a word adds to the signal "words" if it occurs once in a text of average length: 1 / (1 + k1)."""
MASS: Final = 10.0
"""Information in nats that counts as 1: about that of one word which occurs nowhere else."""
MASS_MOST: Final = 1.5
UNSAID: Final = -2.0
"""For a fact without a word of the question. A message may answer with the words of the messages around it, a fact not."""


SMALL: Final = 50
"""Originals of a scope up to which a result is judged alone; of n times as many, one part of n is judged so."""
FAIR: Final = 0.01
"""The least relevance of a hit that may answer."""
FIRST: Final = 2
"""The results that say whether anything is known of a question: the first message, and the first fact."""
ODDS_MOST: Final = 12.0
"""The log odds of the formula of large memories are mixed from -12 to 12."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What relevance is computed from, for one result.

    Attributes:
        words: the share of the question's information that the text and its neighbours cover, 0 to 1.
        covered: the share of the question's information that the text itself contains, 0 to 1, whatever its length. If the
            question is a speaker's name alone, it is 1 for what that speaker said.
        mass: the information of the question's words that the text contains, in nats.
        cosine: the cosine of question and text, divided by that of related texts; None without a vector.
        asked: whether it is by the one speaker that the question names.
        question: how far it is only a question, 0 to 1.
        fact: whether it is a fact or a summary, not a message.
        cue: whether it contains the kind of answer that the question asks for: a date, a place, a number, a reason or a person.
    """

    words: float
    covered: float
    mass: float
    cosine: float | None
    asked: bool
    question: float
    fact: bool = False
    cue: bool = False

    @property
    def said(self) -> float:
        """The share of the question's information that the text contains, 0 to 1; in a small scope `words` alone is too low."""
        return max(self.words, OCCURS * self.covered)


def relevances(results: Sequence[Features], question: ParsedQuestion, count: int) -> list[float]:
    """The relevance of each result, 0 to 1. All are 0 if the question is small talk, such as "hi" or "thanks".

    Args:
        results: the features of the results, best first.
        question: the question.
        count: how many originals the scope has.
    """
    if not results or (is_small_talk(question.wording) and words(question.wording) and not question.cue):
        return [0.0] * len(results)
    named = question.speaker is not None
    known = _sigmoid(max(_known(each, named=named) for each in results[:FIRST]))
    alone = min(1.0, SMALL / max(1, count))
    found = []
    for each in results:
        among = known * _sigmoid(_answers(each))
        own = _alone(each, of_user=question.of_user)
        found.append(_sigmoid((1.0 - alone) * _log_odds(among) + alone * own))
    return found


def _known(first: Features, *, named: bool) -> float:
    mass = min(first.mass / MASS, MASS_MOST)
    by_words = -5.0 + 5.0 * first.said + 3.5 * mass + 3.0 * named
    if first.cosine is None:
        return by_words
    return max(by_words - 1.5, -6.0 + first.said + 2.0 * mass + 3.0 * named + 3.0 * max(first.cosine, 0.0))


def _answers(result: Features) -> float:
    other = UNSAID * (result.fact and result.said == 0.0) - 4.0 * result.question
    if result.cosine is None:
        return -3.0 + 3.5 * result.said + other
    return -4.0 + 2.5 * result.said + max(result.cosine, 0.0) + 0.5 * result.asked + other


def _alone(result: Features, *, of_user: bool) -> float:
    """The log odds of a result of a small memory. A question for the user's own matters is more often one that it answers."""
    mass = min(result.mass / MASS, MASS_MOST)
    other = result.cue - 4.0 * result.question
    by_words = -9.0 + 5.0 * result.said + 6.0 * mass + 1.5 * of_user + 4.0 * result.asked + other
    if result.cosine is None:
        return by_words
    near = 4.0 * max(result.cosine, 0.0)
    return max(by_words - 1.5, -10.0 + 2.0 * result.said + mass + near + 2.0 * of_user + 3.0 * result.asked + other)


def _log_odds(probability: float) -> float:
    odds = (
        math.log(probability / (1.0 - probability))
        if 0.0 < probability < 1.0
        else math.copysign(math.inf, probability - 0.5)
    )
    return min(max(odds, -ODDS_MOST), ODDS_MOST)


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


def information(question: ParsedQuestion, count: int, frequency: Callable[[int], int]) -> dict[int, float]:
    """The information of each term of a question in nats: the rarer, the more.

    Args:
        question: the question.
        count: how many originals the scope has.
        frequency: how many of them contain a term.
    """
    english = _english_texts(question)
    total = count + BACKGROUND
    known = {term: frequency(term) + english.get(term, 0.0) for term in question.terms}
    return {term: rarity(total, texts) for term, texts in known.items()}


def _english_texts(question: ParsedQuestion) -> Mapping[int, float]:
    """In how many of the background texts each term of a question occurs, if it occurs in any."""
    shares: dict[int, float] = {}
    for word in words(question.wording):
        if word not in STOP_WORDS and (probability := _probabilities().get(word)):
            term = word_id(word)
            shares[term] = max(shares.get(term, 0.0), BACKGROUND * min(1.0, TEXT * probability))
    return shares


@cache
def _probabilities() -> Mapping[str, float]:
    return commonest(ENGLISH)
