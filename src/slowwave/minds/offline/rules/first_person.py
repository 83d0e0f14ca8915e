"""Which statements about their speaker are worth a fact: a table of rules, the first that fits decides."""

import re
from dataclasses import dataclass
from typing import Final

from slowwave.minds.offline.rules.claims import (
    EPISODIC,
    SEMANTIC,
    Claim,
    has_name_or_number,
    has_time_word,
    says_something_definite,
)
from slowwave.minds.offline.rules.phrases import (
    ANYTHING,
    DECIDING,
    EVENTS,
    HELD,
    KIN_HELD,
    LASTING,
    LIKER,
    LIKING,
    NO_GOAL,
    NO_LIKING,
    NOTHING,
    NOTHING_DONE,
    NOTHING_HELD,
    POINTING,
    RETRACTED,
    SELF,
    THING_HELD,
    THINKING,
    TOLERATING,
    WEIGHTY,
    WORKING,
    at,
)
from slowwave.minds.offline.rules.rewrite import Statement
from slowwave.minds.offline.rules.third_party import possession_statement
from slowwave.policy.text.names import word_set

_BY_DATE: Final = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One row: a statement fits if all that is set holds of it.

    Args:
        forms: The forms its verb may have.
        verbs: Its verb's base; None for any but those of `but`. `negated`: whether it must be denied; None if that is all the same.
        like, unlike: What the words after the verb must match, and must not; `said` is for the whole sentence.
        least: How many telling words must follow the verb.
        dated: Whether it must bear a word of time.
        sharp: Whether a name or figure must follow the verb.
        one: Whether it must be about the speaker alone.
        chat: "assistant" or "people", if it holds only there.
        kind: The kind of the fact; empty means episodic if it is dated, else semantic.
    """

    category: str
    confidence: float
    forms: str
    verbs: frozenset[str] | None = None
    but: frozenset[str] = frozenset()
    negated: bool | None = False
    like: re.Pattern[str] = ANYTHING
    unlike: re.Pattern[str] = NOTHING
    said: re.Pattern[str] = ANYTHING
    least: int = 2
    dated: bool = False
    sharp: bool = False
    one: bool = False
    chat: str = ""
    kind: str = SEMANTIC

    def fits(self, statement: Statement, *, assistant: bool) -> bool:
        rest = statement.rest
        verb = statement.verb in self.verbs if self.verbs is not None else statement.verb not in self.but
        grammar = verb and statement.form in self.forms.split() and self.negated in {None, statement.negated}
        place = self.chat in {"", "assistant" if assistant else "people"} and (
            not self.one or statement.subject == "one"
        )
        content = says_something_definite(rest, self.least) and self.like.search(rest) and not self.unlike.search(rest)
        marks = (not self.dated or has_time_word(statement.text)) and (not self.sharp or has_name_or_number(rest))
        return bool(grammar and place and content and marks and self.said.search(statement.text))


_BE, _HAVE = word_set("be"), word_set("have own")
_PRESENT, _PAST = "present progressive perfect", "past perfect"
_RULES: Final = (
    _Rule(
        category="observation",
        confidence=0.85,
        forms="perfect",
        but=word_set("think feel see hear be know"),
        negated=True,
        said=re.compile(r"\b(?:has|have) never\b"),
    ),
    _Rule(
        category="observation",
        confidence=0.85,
        forms="be present",
        but=THINKING | LIKING,
        negated=None,
        said=RETRACTED,
        least=1,
    ),
    _Rule(
        category="identity", confidence=0.9, forms="past", verbs=_BE, like=at(r"born\s(?:in|on)\s"), least=1, one=True
    ),
    _Rule(
        category="observation",
        confidence=0.85,
        forms="past",
        verbs=_BE,
        like=at(r"(?:diagnosed with|promoted|hired|laid off|fired|accepted|admitted|elected)\b"),
        least=1,
        kind=EPISODIC,
    ),
    _Rule(
        category="identity",
        confidence=0.9,
        forms="be",
        verbs=_BE,
        like=SELF,
        unlike=at(r"\d+\b(?!\s*(?:$|,|and\b|years?|now))"),
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.9,
        forms="be",
        verbs=_BE,
        like=at(r"(?:\w+ )?(?:allergic to|intolerant)\b"),
        negated=None,
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.85,
        forms=_PRESENT,
        verbs=word_set("live"),
        like=at(r"(?:in|at|near|with)\s"),
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.85,
        forms=_PRESENT,
        verbs=word_set("work"),
        like=at(r"(?:at|as|for|in)\s"),
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.85,
        forms="past",
        verbs=word_set("grow"),
        like=at(r"up\s+(?:in|on|near)\s"),
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.85,
        forms="past",
        verbs=word_set("move"),
        like=at(r"(?:here\s+)?(?:in|to|from)\s"),
        sharp=True,
        least=1,
        kind=EPISODIC,
    ),
    _Rule(
        category="preference",
        confidence=0.85,
        forms="present perfect",
        verbs=LIKING,
        unlike=NO_LIKING,
        least=1,
        negated=None,
    ),
    _Rule(category="preference", confidence=0.85, forms="be", verbs=_BE, like=LIKER, unlike=POINTING, negated=None),
    _Rule(category="preference", confidence=0.8, forms="present modal", verbs=TOLERATING, negated=True, least=1),
    _Rule(category="preference", confidence=0.8, forms="modal", said=re.compile(r"\bwould rather\b")),
    _Rule(category="preference", confidence=0.8, forms="past", verbs=word_set("love"), sharp=True, unlike=NO_LIKING),
    _Rule(
        category="decision",
        confidence=0.85,
        forms=_PAST,
        least=1,
        verbs=DECIDING,
        unlike=at(r"(?:with|on) (?:you|that|it|this)\b"),
        kind=_BY_DATE,
    ),
    _Rule(
        category="decision",
        confidence=0.75,
        forms="modal",
        said=re.compile(r"\bwill (?:go with|use|stick with|switch to)\b"),
        unlike=at(r"(?:(?:with|to) )?(?:the|these|those|some)\b"),
    ),
    _Rule(category="goal", confidence=0.8, forms="progressive", verbs=word_set("have"), dated=True),
    _Rule(
        category="goal", confidence=0.8, forms="progressive", verbs=word_set("get"), like=at(r"ready for\b"), dated=True
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="present",
        verbs=word_set("need"),
        like=re.compile(r"\b(?:by|before|deadline)\b"),
        dated=True,
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="progressive",
        verbs=word_set("think consider"),
        like=at(r"(?:(?:of|about) )?[a-z]+ing\b"),
        unlike=NO_GOAL,
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="progressive",
        verbs=word_set("look"),
        like=at(r"(?:for|into|to)\b"),
        unlike=NO_GOAL,
    ),
    _Rule(
        category="project",
        confidence=0.7,
        forms="progressive",
        verbs=word_set("try"),
        like=at(r"to\b"),
        unlike=NO_GOAL,
        least=3,
        chat="assistant",
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="progressive",
        verbs=word_set("go plan hope aim try save prepare"),
        unlike=NO_GOAL,
        least=3,
        chat="assistant",
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="present",
        verbs=word_set("want plan hope aim intend"),
        like=at(r"(?:to|for)\b"),
        unlike=NO_GOAL,
        least=3,
        chat="assistant",
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="progressive",
        verbs=word_set("go plan hope aim try save prepare"),
        unlike=NO_GOAL,
        chat="people",
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="present",
        verbs=word_set("want plan aim intend"),
        like=at(r"(?:to|for)\b"),
        unlike=NO_GOAL,
        chat="people",
    ),
    _Rule(category="project", confidence=0.8, forms="progressive", verbs=word_set("work"), like=at(r"(?:hard )?on\s")),
    _Rule(category="observation", confidence=0.8, forms="past", verbs=word_set("use"), like=at(r"to\s")),
    _Rule(category="project", confidence=0.75, forms=_PAST, verbs=WORKING, chat="assistant", kind=_BY_DATE),
    _Rule(category="project", confidence=0.75, forms="progressive", verbs=WORKING, chat="assistant"),
    _Rule(category="project", confidence=0.75, forms="present", verbs=word_set("use"), chat="assistant", sharp=True),
    _Rule(
        category="project",
        confidence=0.75,
        forms="progressive",
        verbs=word_set("use own build develop create design"),
        least=3,
    ),
    _Rule(
        category="person",
        confidence=0.8,
        forms="present perfect",
        verbs=_HAVE,
        like=KIN_HELD,
        unlike=NOTHING_HELD,
        least=1,
    ),
    _Rule(
        category="goal",
        confidence=0.8,
        forms="present perfect",
        verbs=_HAVE,
        like=THING_HELD,
        unlike=NOTHING_HELD,
        least=1,
        dated=True,
    ),
    _Rule(
        category="observation",
        confidence=0.75,
        forms="present perfect",
        verbs=_HAVE,
        like=THING_HELD,
        unlike=NOTHING_HELD,
        least=1,
    ),
    _Rule(
        category="observation",
        confidence=0.75,
        forms="present",
        verbs=LASTING | word_set("wake drink eat cook drive cycle meet go"),
        said=re.compile(
            r"\b(?:usually|often|typically|every (?:day|week|morning|evening|night|weekend|\w+day)|on \w+days)\b"
        ),
    ),
    _Rule(
        category="observation",
        confidence=0.7,
        forms="progressive",
        verbs=LASTING - word_set("start live stay"),
        chat="people",
    ),
    _Rule(
        category="observation",
        confidence=0.7,
        forms="progressive",
        verbs=word_set("start live"),
        like=at(r"(?:an?|my|our)\s"),
        chat="people",
    ),
    _Rule(
        category="observation",
        confidence=0.7,
        forms="present",
        verbs=LASTING - word_set("take help start grow stay work run read need live"),
        chat="people",
    ),
    _Rule(
        category="observation",
        confidence=0.85,
        forms="past",
        verbs=word_set("have"),
        like=HELD,
        dated=True,
        kind=EPISODIC,
    ),
    _Rule(
        category="observation",
        confidence=0.85,
        forms=_PAST,
        verbs=EVENTS,
        unlike=NOTHING_DONE,
        dated=True,
        kind=EPISODIC,
    ),
    _Rule(category="observation", confidence=0.75, forms=_PAST, verbs=WEIGHTY, unlike=NOTHING_DONE, kind=EPISODIC),
    _Rule(
        category="observation",
        confidence=0.75,
        forms=_PAST,
        verbs=EVENTS,
        unlike=NOTHING_DONE,
        sharp=True,
        kind=EPISODIC,
    ),
    _Rule(
        category="observation",
        confidence=0.6,
        forms=_PAST,
        verbs=EVENTS,
        unlike=NOTHING_DONE,
        chat="people",
        kind=EPISODIC,
    ),
)


def classify_first_person(statement: Statement, *, assistant: bool) -> Claim | None:
    """What a statement about its speaker is worth; None for chat, opinion and feeling.

    Args:
        statement: What was said, in the third person.
        assistant: Whether it was said to an assistant rather than to a person.
    """
    if statement.subject == "owned":
        return possession_statement(statement, assistant=assistant)
    rule = next((r for r in _RULES if r.fits(statement, assistant=assistant)), None)
    if rule is None:
        return None
    kind = rule.kind or (EPISODIC if has_time_word(statement.text) else SEMANTIC)
    return Claim(category=rule.category, kind=kind, confidence=rule.confidence)
