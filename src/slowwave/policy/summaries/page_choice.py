"""Decides whether a question asks for a list, an order or a summary, which topic pages answer it, and which of their lines."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from slowwave.model.memory import Memory
from slowwave.policy.retention.importance import name_stems
from slowwave.policy.summaries.pages import THE_USER, PageLine, lines_of
from slowwave.policy.summaries.topics import LIFE, topic_counts, topics_of
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import content_terms, fold, words

TOPIC: Final = 0.3
"""What each word of the question that indicates the topic of a page adds to its score, for at most `TOPIC_WORDS`.

As much for each topic that a line has in common with the question, for at most `TOPIC_WORDS`.
"""
TOPIC_WORDS: Final = 2
MOST_TOPICS: Final = 3
"""Topics of a line that are compared with those of the question."""
LIFE_LATER: Final = 1.0
"""What the page of a life loses against pages of one topic: it is shown if none of these answers, or if a question asks for a life.

Without it, list questions of conv-30 and 41 found 1.2 points less evidence in 300 tokens.
"""
WORDS: Final = 0.3
"""The weight of the question's words in a line, beside the score of its member in the search; as much if it has a telling one."""
BEST_LINES: Final = 10
"""The score of a page is the mean of so many of its best lines."""

_ASKS_MANY: Final = lazy_regex(
    r"\b(?:all|each|every|list|lists|both|various|different|several|types|kinds|sorts|ways|so far|over time|throughout|across|"
    r"changed|evolved|progress\w*|developed|summar\w+|overview|recap|timeline|chronolog\w*|sequence|history)\b"
    r"|\b(?:in (?:which|what|the) order|the order in which|walk me through|how (?:many(?! (?:days?|weeks?|months?|years?|hours?|minutes?)\b)|often)|names of|in common)\b"
    r"|\b(?:what|where|who|whom|which)\b(?:(?!\bdid\b)[^?.]){0,40}\b(?:have|has|had|been|done)\b(?! to\b)"
    r"|\b(?:what|which) (?:[\w'’+-]+ ){0,3}?(?!(?:is|was|does|has|this|always|news|its|his)\b)[\w'’-]*[a-z]{2}(?<![us'’])s\b(?!['’])"
    r"(?=[?,]|$| (?:do|does|did|has|have|had|is|are|was|were|can|could|will|would|should|might|i|we|you|they|he|she|of|in|on|at|for|from|about)\b)"
    r"|\bwhat (?:do|does|did) (?:[\w'’-]+ ){1,3}?(?:like|do|enjoy|want|have|make|play|collect|own)\b(?! (?:an?|me|us|you|him|her|them|it)\b)",
)
_SAID: Final = lazy_regex(r"\bwhat (?:did|does|do) (?:[\w'’-]{1,60} ){1,3}?(?:say|tell|think|mention)\b")
"""A question for what somebody said has its answer in one message, also if it is about "her progress" or "both of them"."""
_OF_A_LIFE: Final = lazy_regex(
    r"\bwhat do (?:you|we) know (?:about|of)\b|\btell me (?:all |everything |more )?about (?:me|my life|myself|\w+(?:['’]s life)?\W*$)"
    r"|\b(?:my|his|her|their|(?<![\w-])[\w-]{1,60}['’]s) (?:life|life story|biography|background)\b|\blife of\b|\bin common\b"
)
_OF_MY_LIFE: Final = lazy_regex(r"\b(?:about|of) (?:me|myself)\b|\bmy (?:life|biography|background)\b")
_MYSELF: Final = lazy_regex(r"\b(?:i|me|my|mine|we|us|our)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _RankedLine:
    """A line of a page, its score for a question, and whether it can answer the question."""

    line: PageLine
    score: float
    answers: bool


def wants_page(question: str) -> bool:
    """Whether a question asks for several things: a list, an order, a count, a change or a summary.

    >>> wants_page("What are all of Anna's hobbies?"), wants_page("In which order did I plan the rooms?")
    (True, True)
    >>> wants_page("What is the name of her dog?"), wants_page("What did Rui say about her progress?")
    (False, False)
    """
    asked = question.lower()
    if _OF_A_LIFE.search(asked) is not None:
        return True
    return _ASKS_MANY.search(asked) is not None and _SAID.search(asked) is None


def lines_for(
    question: str, pages: Sequence[Memory], near: Mapping[str, float] | None = None
) -> list[tuple[Memory, PageLine]]:
    """The lines that can answer the question, of all pages of whom it is about, the best first; each with its page.

    A line can answer if it has a word of the question other than the name of its subject, or a word of a topic that the question
    names: a trip to Spain answers "Which countries has Ines seen?". If no line has such a word, all lines of a page can answer a
    question that names its topic. Lines that have ended come last. A member on two pages is listed once. If the question names
    several people, their lines take turns.

    Args:
        question: The question.
        pages: Topic pages. A question that names no person is about the user if it says I or my, and else about any subject.
        near: Scores of messages and facts in the search for the question, by id; a line counts that of its member.
    """
    topics = topic_counts(question)
    found: dict[str, tuple[tuple[bool, float], Memory, PageLine]] = {}
    for page in _asked_for(question, pages):
        for each in reversed(_ranked(question, topics, page, near or {})):
            line, rank = each.line, (each.line.outdated, -each.score)
            if each.answers and (line.member not in found or rank < found[line.member][0]):
                found[line.member] = rank, page, line
    return [(page, line) for _, page, line in sorted(found.values(), key=lambda each: each[0])]


def best_page(question: str, pages: Sequence[Memory], near: Mapping[str, float] | None = None) -> Memory | None:
    """The page that answers a question best; None if no page of whom it is about has a line that can answer (`lines_for`)."""
    topics = topic_counts(question)
    found: list[tuple[float, str, Memory]] = []
    for page in _asked_for(question, pages):
        lines = _ranked(question, topics, page, near or {})
        if any(each.answers for each in lines):
            scores = sorted((each.score for each in lines), reverse=True)[:BEST_LINES]
            found.append((-_topic_score(question, page, topics) - sum(scores) / BEST_LINES, page.ref or "", page))
    return min(found, key=lambda each: each[:2])[2] if found else None


def _asked_for(question: str, pages: Sequence[Memory]) -> list[Memory]:
    """The pages of the subjects that a question is about."""
    subjects = _subjects_asked(question, {page.subject or "" for page in pages})
    return [page for page in pages if page.subject in subjects]


def _topic_score(question: str, page: Memory, topics: Mapping[str, int]) -> float:
    """What the topic of a page adds to its score. The page of a life comes after pages of one topic, unless it is asked for."""
    if _topic(page) == LIFE:
        return TOPIC * TOPIC_WORDS if _asks_for_life(question, page) else -LIFE_LATER
    return TOPIC * min(TOPIC_WORDS, topics.get(_topic(page), 0))


def _asks_for_life(question: str, page: Memory) -> bool:
    """Whether a question asks for the life of the person of a page, whom it names."""
    asked = question.lower()
    if _topic(page) != LIFE or _OF_A_LIFE.search(asked) is None:
        return False
    if page.subject == THE_USER:
        return _OF_MY_LIFE.search(asked) is not None
    return not set(words(page.subject or "")[:1]).isdisjoint(words(question))


def _topic(page: Memory) -> str:
    return (page.ref or "").rpartition("/")[2]


def _subjects_asked(question: str, subjects: Collection[str]) -> frozenset[str]:
    """The subjects that a question names; those it may be about if it names none."""
    asked = set(words(question))
    named = {
        subject
        for subject in subjects
        if subject != THE_USER and (parts := words(subject)) and (parts[0] in asked or set(parts) <= asked)
    }
    if named:
        return frozenset(named)
    if THE_USER in subjects and _MYSELF.search(fold(question)):
        return frozenset({THE_USER})
    return frozenset(subjects)


def _ranked(question: str, topics: Mapping[str, int], page: Memory, near: Mapping[str, float]) -> list[_RankedLine]:
    """The lines of a page in their order, each with its score and whether it can answer the question (`lines_for`).

    A word that more than half of the lines have counts only if the question has no other: "dance" is in each line about a dance
    school. The score of a line is that of its member in the search, what it has of the question's words, and what it has of the
    topics that the question names.
    """
    lines = lines_of(page)
    texts = [content_terms(line.text) for line in lines]
    counts = Counter(root for text in texts for root in text)
    wanted = content_terms(question) - name_stems([page.subject or ""])
    values = {root: math.log(1 + (len(lines) + 1) / (counts[root] + 1)) for root in wanted}
    attainable = sum(values.values()) or 1.0
    telling = {root for root in wanted if counts[root] <= len(lines) / 2} or wanted
    found = []
    for line, text in zip(lines, texts, strict=True):
        has_word = not telling.isdisjoint(text)
        common = len(topics.keys() & {_topic(page), *topics_of(line.text, MOST_TOPICS)}) if topics else 0
        score = near.get(line.member, 0.0) + WORDS * sum(values[root] for root in text & wanted) / attainable
        score += WORDS * has_word + TOPIC * min(TOPIC_WORDS, common)
        found.append(_RankedLine(line=line, score=score, answers=has_word or common > 0))
    return [replace(each, answers=True) for each in found] if _asks_for_life(question, page) else found
