"""Pairs of sentences of which the later one outdates the earlier: by "X, not Y", by leaving, by a plain statement after a doubt.

These rules mark search hits; they never supersede a fact.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from slowwave.policy.text.features import is_rule, is_small_talk
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

_LONGEST: Final = 300
"""The characters of a sentence that is compared."""
_CACHED: Final = 2048
_DENIED_LONGEST: Final = 5
"""The content words of what a correction denies."""
ALIKE: Final = 0.5
"""The share of the shorter sentence's content words that two statements of one thing have in common."""
SAME: Final = 0.75
"""The share of a doubtful sentence's content words that a later plain one of the same words has."""
SHORT: Final = 8
"""The most content words of sentences of which a word of change in the later one is about the whole."""
_LEAST: Final = 2
"""The content words that they have in common at least."""

_DENIES: Final = (
    lazy_regex(r"(?:,|;|–|—| -|\(|\band)\s*not (?:in |on |at |to |with |for )?(?P<old>[^,.;!?()]+)", re.IGNORECASE),
    lazy_regex(r"(?<!only )\bnot (?:in |on |at |to |with |for )?(?P<old>[^,.;!?()]+?),? but (?!not\b)", re.IGNORECASE),
    lazy_regex(
        r"\b(?:isn't|aren't|is not|are not|it's not) (?:in |on |at |to |with |for )?(?P<old>[^,.;!?()]+?)(?: any ?more)?[,;] (?:it's|it is|but|that's)",
        re.IGNORECASE,
    ),
)
_LEFT: Final = lazy_regex(
    r"\b(?:moved|moving|move) (?:out of|away from|from) (?P<old>(?:the |my |our )?[\w'-]+(?-i:(?: [A-Z][\w'-]+)*))"
    r"|\b(?:left|quit|leaving|sold|cancell?ed|gave up|got rid of) (?P<left>(?:the |my |our )?[\w'-]+(?-i:(?: [A-Z][\w'-]+)*))",
    re.IGNORECASE,
)
_DETERMINER: Final = lazy_regex(r"^(?:the|my|our) ", re.IGNORECASE)
_DOUBT: Final = lazy_regex(
    r"\b(?:might|maybe|perhaps|considering|thinking (?:of|about)|not sure|undecided|planning (?:to|on)|plan to|hoping to|would like to|want to"
    r"|could|possibly|probably|thought about|toying with)\b|^\W*(?:if|suppose|imagine|what if)\b",
    re.IGNORECASE,
)
_ASKS: Final = lazy_regex(r"\?\W*$")
_QUESTION: Final = lazy_regex(
    r"^\W*(?:(?:and|but|so|also|then|well|hey|hi|please|ok|okay|by the way|btw)\b\W*)*"
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should|shall|may|might|must"
    r"|isn't|aren't|wasn't|don't|doesn't|didn't|can't|won't|wouldn't|shouldn't|any)\b.*\?\W*$"
    r"|\b(?:can|could|would|will) you\b[^.!]*\?\W*$",
    re.IGNORECASE | re.DOTALL,
)
"""A question by its form; "we meet on Friday, right?" states something."""
_DENIAL: Final = lazy_regex(r"\b(?:not|never|no longer)\b|n't\b", re.IGNORECASE)
_QUOTED: Final = lazy_regex(
    r"^\W*[\"“‘].*[\"”’]\W*$|\b(?:said|says|told me|claims?|wrote|heard)\b.*[\"“:]", re.IGNORECASE | re.DOTALL
)


_ORDER: Final = lazy_regex(r"^\W*(?:please|kindly|stop|keep|use|answer|reply|call me|write)\b", re.IGNORECASE)
_REPORTS: Final = lazy_regex(r"^\W*(?:I|we)(?:['’](?:m|re|ve)| am| are| have| was| were)\b", re.IGNORECASE)
"""The beginning of a sentence that reports what somebody does; "I always want short answers" asks for something."""
_CHANGE: Final = lazy_regex(
    r"\b(?:now|these days|nowadays|switched|changed|moved|pushed|postponed|rescheduled|raised|lowered|increased|reduced|stopped|quit"
    r"|no longer|any ?more|again|turns out|instead|sold|closed|from now on|replaced|upgraded|actually|correction|update|broke up"
    r"|divorced|left)\b",
    re.IGNORECASE,
)
_NEW: Final = lazy_regex(r"\bnew ((?:[\w'-]+ )?[\w'-]+)", re.IGNORECASE)
_TOO_LITTLE: Final = lazy_regex(r"^(?:only|just|even|all|that|very|so|too|sure|quite|yet|really)\b", re.IGNORECASE)
_EMPTY: Final = frozenset(
    {"always", "never", "please", "now", "maybe", "perhaps", "actually", "really", "ask", "might"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """What a later sentence says in place of an earlier one. `certain` is whether it denies or ends it in so many words."""

    new_value: str
    old_value: str
    because: str
    certain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What the rules need of one sentence: its content stems, what it denies, leaves and calls new, and its kind."""

    content: frozenset[str]
    denied: tuple[tuple[str, frozenset[str]], ...]
    left: tuple[tuple[str, frozenset[str]], ...]
    denies: bool
    doubtful: bool
    asks: bool
    question: bool
    rule: bool
    order: bool
    changes: bool
    new: frozenset[str]


def outdated_by(new: str, old: str) -> Outdated | None:
    """Why a later sentence of the same person outdates an earlier one; None if no rule says so.

    A question outdates nothing, and nothing outdates it, because it states nothing.

    >>> outdated_by("The exam is on Friday, not Thursday", "The exam is on Thursday").old_value  # type: ignore[union-attr]
    'Thursday'
    """
    if max(len(new), len(old)) > _LONGEST:
        return None
    later, earlier = _read(new), _read(old)
    if later.doubtful or later.asks or earlier.question:
        return None
    if not earlier.denies and (value := _denied(later, earlier) or _left(later, earlier)):
        because = f"A later statement says that it is not {value}: “{new.strip()}”"
        return Outdated(new_value=new.strip(), old_value=value, because=because, certain=not earlier.doubtful)
    shared, fewer = len(later.content & earlier.content), min(len(later.content), len(earlier.content))
    if not shared or shared < ALIKE * fewer:
        return None
    if later.rule and earlier.order and later.content != earlier.content:
        because = f"A later instruction says: “{new.strip()}”"
    elif (
        earlier.doubtful and not (earlier.denies or later.denies) and shared >= max(_LEAST, SAME * len(earlier.content))
    ):
        because = f"A later statement is certain where this one doubts: “{new.strip()}”"
    else:
        return None
    return Outdated(new_value=new.strip(), old_value=old.strip(), because=because, certain=False)


def changed_for(question: frozenset[str], new: str, old: str) -> Outdated | None:
    """Whether a later sentence perhaps gives a new value of what a question asks: it has a word of change and the same words of it.

    Both are short, and the later one has at least half of the question's words that the earlier one has.

    Args:
        question: The content stems of the question.
        new: The later sentence.
        old: The earlier one.

    >>> changed_for(frozenset({"landlord"}), "We have a new landlord, Mrs Oak", "My landlord is Mr Brandt").certain
    False
    """
    if max(len(new), len(old)) > _LONGEST:
        return None
    later, earlier = _read(new), _read(old)
    asked = earlier.content & question
    if (
        not (later.changes or later.new & asked)
        or later.doubtful
        or later.asks
        or later.denies
        or earlier.question
        or earlier.changes
        or earlier.new
        or not asked
        or earlier.content <= later.content
        or _names_nothing_new(new, earlier)
    ):
        return None
    if max(len(later.content), len(earlier.content)) > SHORT or len(later.content & asked) < ALIKE * len(asked):
        return None
    because = f"A later statement may give a new value: “{new.strip()}”"
    return Outdated(new_value=new.strip(), old_value=old.strip(), because=because, certain=False)


def _names_nothing_new(new: str, earlier: _Read) -> bool:
    """Whether a later sentence has no content but words of the earlier one and thanks or praise: "thanks, works now"."""
    return _content(" ".join(word for word in words(new) if not is_small_talk(word))) <= earlier.content


def may_outdate(sentence: str) -> bool:
    """Whether a sentence denies, leaves or orders something: only such a one, or one after a doubt, outdates another."""
    if len(sentence) > _LONGEST:
        return False
    read = _read(sentence)
    return bool(read.denied or read.left or read.rule)


def is_doubtful(sentence: str) -> bool:
    """Whether a sentence is doubtful, conditional or quoted, and no question."""
    return len(sentence) <= _LONGEST and (read := _read(sentence)).doubtful and not read.question


@lru_cache(maxsize=_CACHED)
def _read(sentence: str) -> _Read:
    return _Read(
        content=_content(sentence),
        denied=tuple(
            (value, stems)
            for pattern in _DENIES
            for match in pattern.finditer(sentence)
            if (value := match["old"].strip()) and not _TOO_LITTLE.match(value)
            if (stems := _content(value)) and len(stems) <= _DENIED_LONGEST
        ),
        left=tuple(
            (value, stems)
            for match in _LEFT.finditer(sentence)
            if (value := _DETERMINER.sub("", (match["old"] or match["left"]).strip())) and (stems := _content(value))
        ),
        denies=_DENIAL.search(sentence) is not None,
        doubtful=_DOUBT.search(sentence) is not None or _QUOTED.search(sentence) is not None,
        rule=(rule := is_rule(sentence)),
        asks=_ASKS.search(sentence) is not None,
        question=_QUESTION.search(sentence) is not None,
        order=(rule and not _REPORTS.match(sentence)) or _ORDER.match(sentence) is not None,
        changes=_CHANGE.search(sentence) is not None,
        new=frozenset().union(*(_content(match[1]) for match in _NEW.finditer(sentence))),
    )


def _content(sentence: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(sentence) if word not in STOP_WORDS and word not in _EMPTY)


def _denied(later: _Read, earlier: _Read) -> str:
    """What a correction denies, if the earlier sentence says it; both share another word, or it is a name."""
    for value, stems in later.denied:
        if stems <= earlier.content and ((later.content - stems) & earlier.content or value[0].isupper()):
            return value
    return ""


def _left(later: _Read, earlier: _Read) -> str:
    """What somebody left or gave up, if the earlier sentence is about hardly more than that."""
    for value, stems in later.left:
        if stems <= earlier.content and len(earlier.content - later.content) <= _LEAST:
            return value
    return ""
