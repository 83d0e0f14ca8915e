"""Decides whether a question asks for a list, an order or a summary, which topic pages answer it, and which of their lines."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from slowwave.model.memory import Memory
from slowwave.policy.retention.importance import name_stems
from slowwave.policy.summaries.pages import THE_USER, PageLine, lines_of
from slowwave.policy.summaries.topics import LIFE, topic_counts
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import content_terms, fold, stem, words

TOPIC: Final = 0.3
"""What each word of the question that indicates the topic of a page adds to its score, for at most `TOPIC_WORDS`."""
TOPIC_WORDS: Final = 2
LIFE_LATER: Final = 1.0
"""What the page of a life loses against pages of one topic: it is shown if none of these answers, or if a question asks for a life.

Without it, list questions of conv-30 and 41 found 1.2 points less evidence in 300 tokens.
"""
WORDS: Final = 0.3
"""The weight of the question's words in a line, beside the score of its member in the search."""
BEST_LINES: Final = 10
"""The score of a page is the mean of so many of its best lines."""

_ASKS_MANY: Final = lazy_regex(
    r"\b(?:all|each|every|list|lists|both|various|different|several|types|kinds|sorts|ways|so far|over time|throughout|across|"
    r"changed|evolved|progress\w*|developed|summar\w+|overview|recap|timeline|chronolog\w*|sequence|history)\b"
    r"|\b(?:in (?:which|what|the) order|the order in which|walk me through|how (?:many(?! (?:days?|weeks?|months?|years?|hours?|minutes?)\b)|often)|names of|in common)\b"
    r"|\b(?:what|where|who|whom|which)\b(?:(?!\bdid\b)[^?.]){0,40}\b(?:have|has|had|been|done)\b(?! to\b)"
    r"|\b(?:what|which) (?:[\w'’+-]+ ){0,3}?(?!(?:is|was|does|has|this|always|news|its|his)\b)[\w'’-]*[a-z]{2}(?<![us'’])s\b(?!['’])"
    r"(?=[?,]|$| (?:do|does|did|has|have|had|is|are|was|were|can|could|will|would|should|might|i|we|you|they|he|she|of|in|on|at|for|from|about)\b)"
    r"|\bwhat (?:do|does|did) (?:[\w'’-]+ ){1,3}?(?:like|do|enjoy|want|have|make|play|collect|own)\b(?! an?\b)",
)
_SAID: Final = lazy_regex(r"\bwhat (?:did|does|do) (?:[\w'’-]{1,60} ){1,3}?(?:say|tell|think|mention)\b")
"""A question for what somebody said has its answer in one message, also if it is about "her progress" or "both of them"."""
_OF_A_LIFE: Final = lazy_regex(
    r"\bwhat do (?:you|we) know (?:about|of)\b|\btell me (?:all |everything |more )?about (?:me|my life|myself|\w+(?:['’]s life)?\W*$)"
    r"|\b(?:my|his|her|their|(?<![\w-])[\w-]{1,60}['’]s) (?:life|life story|biography|background)\b|\blife of\b|\bin common\b"
)
_OF_MY_LIFE: Final = lazy_regex(r"\b(?:about|of) (?:me|myself)\b|\bmy (?:life|biography|background)\b")
_MYSELF: Final = lazy_regex(r"\b(?:i|me|my|mine|we|us|our)\b")


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
    question: str, page: Memory, near: Mapping[str, float] | None = None, *, others: bool = False
) -> tuple[PageLine, ...]:
    """The lines of a page that can answer the question, the best first; sort those that fit by day to show them.

    A line can answer if it has a word of the question other than the name of the page's subject. If no line has one, all can answer
    a question that names the topic of the page.

    Args:
        question: The question.
        page: A topic page.
        near: Scores of messages and facts in the search for the question, by id; a line counts that of its member.
        others: Whether the other lines of a page that has such lines follow.
    """
    lines = lines_of(page)
    scores = _line_scores(question, page, lines, near or {})
    answering = _answering(question, page, lines)
    order = sorted(
        range(len(lines)) if others and answering else answering,
        key=lambda place: (lines[place].outdated, place not in answering, -scores[place], -place),
    )
    return tuple(lines[place] for place in order)


def best_pages(
    question: str, pages: Sequence[Memory], near: Mapping[str, float] | None = None, *, most: int = 1
) -> list[Memory]:
    """The pages that answer a question, best first: at most so many for each person or thing that it names.

    A question that names no person is about the user if it says I or my, and else about any subject. A page without a line that can
    answer is left out (`lines_for`).
    """
    subjects = _subjects_asked(question, {page.subject or "" for page in pages})
    topics = topic_counts(question)
    found: list[tuple[float, str, Memory]] = []
    for page in pages:
        if page.subject not in subjects:
            continue
        lines = lines_of(page)
        scores = sorted(_line_scores(question, page, lines, near or {}), reverse=True)
        topic = _topic_score(question, page, topics)
        if _answering(question, page, lines):
            found.append((topic + sum(scores[:BEST_LINES]) / BEST_LINES, page.ref or "", page))
    found.sort(key=lambda each: (-each[0], each[1]))
    taken: Counter[str] = Counter()
    chosen: list[Memory] = []
    limit = most if len(subjects) <= MANY else 1
    for _, _, page in found:
        if taken[page.subject or ""] < limit and len(chosen) < most * MANY:
            taken[page.subject or ""] += 1
            chosen.append(page)
    return chosen


MANY: Final = 2
"""Pages of at most so many subjects answer one question."""


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


def _answering(question: str, page: Memory, lines: Sequence[PageLine]) -> list[int]:
    """The places of the lines that can answer: those with a word of the question other than the subject's name.

    A word that more than half of the lines have counts only if the question has no other: "dance" is in each line about a dance
    school. If a word of the question names the topic and is in no line, all lines can answer: no hobby has the word "hobbies".
    """
    texts = [content_terms(line.text) for line in lines]
    counts = Counter(root for text in texts for root in text)
    wanted = content_terms(question) - name_stems([page.subject or ""])
    telling = {root for root in wanted if counts[root] <= len(lines) / 2} or wanted
    found = [place for place, text in enumerate(texts) if telling & text]
    if _asks_for_life(question, page):
        return list(range(len(lines)))
    general = " ".join(word for word in words(question) if not counts[stem(word)])
    return found or (list(range(len(lines))) if _topic(page) in topic_counts(general) else [])


def _line_scores(question: str, page: Memory, lines: Sequence[PageLine], near: Mapping[str, float]) -> list[float]:
    """The score of each line: the share of the question's information in it, and the score of its member."""
    ignored = name_stems([page.subject or ""])
    texts = [content_terms(line.text) for line in lines]
    counts = Counter(root for text in texts for root in text)
    wanted = content_terms(question) - ignored
    values = {root: math.log(1 + (len(lines) + 1) / (counts[root] + 1)) for root in wanted}
    attainable = sum(values.values()) or 1.0
    return [
        near.get(line.member, 0.0) + WORDS * sum(values[root] for root in text & wanted) / attainable
        for line, text in zip(lines, texts, strict=True)
    ]
