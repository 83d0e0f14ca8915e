"""Which statements about their speaker become a fact: a table of rules, of which the first that fits decides."""

import re
from dataclasses import KW_ONLY, dataclass
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


@dataclass(frozen=True, slots=True)
class _Rule:
    """One row: it fits a statement that meets all of its conditions.

    Args:
        category: The category of the fact.
        confidence: The confidence of the fact.
        forms: The grammatical forms that the verb may have, separated by spaces.
        verbs: The base forms of the verb; None for any verb that is not in `verbs_not`.
        negated: Whether the verb must be negated; None if it does not matter.
        rest: Must match the words after the verb.
        rest_not: Must not match the words after the verb.
        sentence: Must match the whole sentence.
        words: The least number of content words after the verb.
        dated: Whether the sentence must contain a word of time.
        specific: Whether a name or a number must follow the verb.
        singular: Whether the subject must be the speaker alone.
        chat: "assistant" or "people": the rule applies in such conversations only; empty for both.
        kind: The kind of the fact; empty means episodic if the sentence contains a word of time, else semantic.
    """

    category: str
    confidence: float
    forms: str
    verbs: frozenset[str] | None
    _: KW_ONLY
    verbs_not: frozenset[str] = frozenset()
    negated: bool | None = False
    rest: re.Pattern[str] = ANYTHING
    rest_not: re.Pattern[str] = NOTHING
    sentence: re.Pattern[str] = ANYTHING
    words: int = 2
    dated: bool = False
    specific: bool = False
    singular: bool = False
    chat: str = ""
    kind: str = SEMANTIC

    def fits(self, statement: Statement, *, assistant: bool) -> bool:
        verb, rest = statement.verb, statement.rest
        return bool(
            (verb in self.verbs if self.verbs is not None else verb not in self.verbs_not)
            and statement.form in self.forms.split()
            and self.negated in {None, statement.negated}
            and self.chat in {"", "assistant" if assistant else "people"}
            and (not self.singular or statement.subject == "one")
            and says_something_definite(rest, self.words)
            and self.rest.search(rest)
            and not self.rest_not.search(rest)
            and (not self.dated or has_time_word(statement.text))
            and (not self.specific or has_name_or_number(rest))
            and self.sentence.search(statement.text)
        )


_PRESENT, _PAST = "present progressive perfect", "past perfect"
_BE, _HAVE = word_set("be"), word_set("have own")
_INNER: Final = word_set("think feel see hear be know")
_PLANNING: Final = word_set("go plan hope aim try save prepare")
_HABITUAL: Final = LASTING | word_set("wake drink eat cook drive cycle meet go")
_OCCUPATION: Final = LASTING - word_set("take help start grow stay work run read need live")
_NEVER_DONE: Final = re.compile(r"\b(?:has|have) never\b")
_TURNING_POINT: Final = at(r"(?:diagnosed with|promoted|hired|laid off|fired|accepted|admitted|elected)\b")
_FIGURE_BUT_AGE: Final = at(r"\d+\b(?!\s*(?:$|,|and\b|years?|now))")
_ALLERGY: Final = at(r"(?:\w+ )?(?:allergic to|intolerant)\b")
_CHOICE: Final = re.compile(r"\bwill (?:go with|use|stick with|switch to)\b")
_INDEFINITE_CHOICE: Final = at(r"(?:(?:with|to) )?(?:the|these|those|some)\b")
_REGULARLY: Final = re.compile(
    r"\b(?:usually|often|typically|every (?:day|week|morning|evening|night|weekend|\w+day)|on \w+days)\b"
)

# fmt: off
_RULES: Final = (
    _Rule("observation", 0.85, "perfect", None, verbs_not=_INNER, negated=True, sentence=_NEVER_DONE),
    _Rule("observation", 0.85, "be present", None, verbs_not=THINKING | LIKING, negated=None, sentence=RETRACTED, words=1),
    _Rule("identity", 0.9, "past", _BE, rest=at(r"born\s(?:in|on)\s"), words=1, singular=True),
    _Rule("observation", 0.85, "past", _BE, rest=_TURNING_POINT, words=1, kind=EPISODIC),
    _Rule("identity", 0.9, "be", _BE, rest=SELF, rest_not=_FIGURE_BUT_AGE, words=1, singular=True),
    _Rule("identity", 0.9, "be", _BE, negated=None, rest=_ALLERGY, words=1, singular=True),
    _Rule("identity", 0.85, _PRESENT, word_set("live"), rest=at(r"(?:in|at|near|with)\s"), words=1, singular=True),
    _Rule("identity", 0.85, _PRESENT, word_set("work"), rest=at(r"(?:at|as|for|in)\s"), words=1, singular=True),
    _Rule("identity", 0.85, "past", word_set("grow"), rest=at(r"up\s+(?:in|on|near)\s"), words=1, singular=True),
    _Rule("identity", 0.85, "past", word_set("move"), rest=at(r"(?:here\s+)?(?:in|to|from)\s"), words=1, specific=True, kind=EPISODIC),
    _Rule("preference", 0.85, "present perfect", LIKING, negated=None, rest_not=NO_LIKING, words=1),
    _Rule("preference", 0.85, "be", _BE, negated=None, rest=LIKER, rest_not=POINTING),
    _Rule("preference", 0.8, "present modal", TOLERATING, negated=True, words=1),
    _Rule("preference", 0.8, "modal", None, sentence=re.compile(r"\bwould rather\b")),
    _Rule("preference", 0.8, "past", word_set("love"), rest_not=NO_LIKING, specific=True),
    _Rule("decision", 0.85, _PAST, DECIDING, rest_not=at(r"(?:with|on) (?:you|that|it|this)\b"), words=1, kind=_BY_DATE),
    _Rule("decision", 0.75, "modal", None, rest_not=_INDEFINITE_CHOICE, sentence=_CHOICE),
    _Rule("goal", 0.8, "progressive", word_set("have"), dated=True),
    _Rule("goal", 0.8, "progressive", word_set("get"), rest=at(r"ready for\b"), dated=True),
    _Rule("goal", 0.75, "present", word_set("need"), rest=re.compile(r"\b(?:by|before|deadline)\b"), dated=True),
    _Rule("goal", 0.75, "progressive", word_set("think consider"), rest=at(r"(?:(?:of|about) )?[a-z]+ing\b"), rest_not=NO_GOAL),
    _Rule("goal", 0.75, "progressive", word_set("look"), rest=at(r"(?:for|into|to)\b"), rest_not=NO_GOAL),
    _Rule("project", 0.7, "progressive", word_set("try"), rest=at(r"to\b"), rest_not=NO_GOAL, words=3, chat="assistant"),
    _Rule("goal", 0.75, "progressive", _PLANNING, rest_not=NO_GOAL, words=3, chat="assistant"),
    _Rule("goal", 0.75, "present", word_set("want plan hope aim intend"), rest=at(r"(?:to|for)\b"), rest_not=NO_GOAL, words=3, chat="assistant"),
    _Rule("goal", 0.75, "progressive", _PLANNING, rest_not=NO_GOAL, chat="people"),
    _Rule("goal", 0.75, "present", word_set("want plan aim intend"), rest=at(r"(?:to|for)\b"), rest_not=NO_GOAL, chat="people"),
    _Rule("project", 0.8, "progressive", word_set("work"), rest=at(r"(?:hard )?on\s")),
    _Rule("observation", 0.8, "past", word_set("use"), rest=at(r"to\s")),
    _Rule("project", 0.75, _PAST, WORKING, chat="assistant", kind=_BY_DATE),
    _Rule("project", 0.75, "progressive", WORKING, chat="assistant"),
    _Rule("project", 0.75, "present", word_set("use"), specific=True, chat="assistant"),
    _Rule("project", 0.75, "progressive", word_set("use own build develop create design"), words=3),
    _Rule("person", 0.8, "present perfect", _HAVE, rest=KIN_HELD, rest_not=NOTHING_HELD, words=1),
    _Rule("goal", 0.8, "present perfect", _HAVE, rest=THING_HELD, rest_not=NOTHING_HELD, words=1, dated=True),
    _Rule("observation", 0.75, "present perfect", _HAVE, rest=THING_HELD, rest_not=NOTHING_HELD, words=1),
    _Rule("observation", 0.75, "present", _HABITUAL, sentence=_REGULARLY),
    _Rule("observation", 0.7, "progressive", LASTING - word_set("start live stay"), chat="people"),
    _Rule("observation", 0.7, "progressive", word_set("start live"), rest=at(r"(?:an?|my|our)\s"), chat="people"),
    _Rule("observation", 0.7, "present", _OCCUPATION, chat="people"),
    _Rule("observation", 0.85, "past", word_set("have"), rest=HELD, dated=True, kind=EPISODIC),
    _Rule("observation", 0.85, _PAST, EVENTS, rest_not=NOTHING_DONE, dated=True, kind=EPISODIC),
    _Rule("observation", 0.75, _PAST, WEIGHTY, rest_not=NOTHING_DONE, kind=EPISODIC),
    _Rule("observation", 0.75, _PAST, EVENTS, rest_not=NOTHING_DONE, specific=True, kind=EPISODIC),
    _Rule("observation", 0.6, _PAST, EVENTS, rest_not=NOTHING_DONE, chat="people", kind=EPISODIC),
)
# fmt: on


def classify_first_person(statement: Statement, *, assistant: bool) -> Claim | None:
    """The claim that a statement about its speaker makes; None for chat, opinion and feeling.

    Args:
        statement: The statement in the third person.
        assistant: Whether the conversation is with an assistant rather than between people.
    """
    if statement.subject == "owned":
        return possession_statement(statement, assistant=assistant)
    rule = next((rule for rule in _RULES if rule.fits(statement, assistant=assistant)), None)
    if rule is None:
        return None
    kind = rule.kind or (EPISODIC if has_time_word(statement.text) else SEMANTIC)
    return Claim(category=rule.category, kind=kind, confidence=rule.confidence)
