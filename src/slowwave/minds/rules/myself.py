"""Which statements about their speaker are worth a fact: a table of rules, the first that fits decides."""

import re
from dataclasses import dataclass
from typing import Final

from slowwave.minds.rules.english import JOBS, KIN
from slowwave.minds.rules.owned import of_owned
from slowwave.minds.rules.rewrite import Statement
from slowwave.minds.rules.worth import EPISODIC, SEMANTIC, Claim, is_dated, is_sharp, telling
from slowwave.policy.naming import word_set

_LIKING: Final = word_set("like love hate enjoy prefer avoid adore dislike value")
_TOLERATING: Final = word_set("eat drink stand have tolerate smoke drive swim wear speak read play ride sing cook")
_DECIDING: Final = word_set("decide choose switch agree pick select commit")
_WORKING: Final = word_set(
    "build develop create design implement integrate deploy migrate configure set write rewrite refactor use add optimize improve "
    "analyze reduce increase upgrade update complete finish debug fix test redesign track manage maintain automate code"
)
_LASTING: Final = word_set(
    "do learn study practice practise train volunteer attend research teach take work live run play read write paint help organize join "
    "apply rehearse coach mentor prepare renovate manage lead host collaborate own stay dance sing swim hike grow raise start"
)
_EVENTS: Final = word_set(
    "go get buy meet start join finish complete win move lose adopt visit attend make take run paint read see give marry graduate quit "
    "leave sign begin donate volunteer organize host perform travel fly drive hike camp launch open apply pass fail break hurt sell "
    "receive adopt celebrate write build create design bake cook find teach spend hire expand publish present enroll propose plant "
    "attend participate compete return retire relocate hear stop turn bring accept introduce schedule reschedule book interview "
    "discover publish record watch learn raise set rescue discuss achieve earn reach improve increase negotiate settle file hold "
    "submit do update change switch reduce implement integrate deploy migrate add fix negotiate extend invest recover"
)
_WEIGHTY: Final = word_set(
    "lose adopt marry graduate quit retire launch win fail move propose publish enroll donate hire"
)
_NO_GOAL: Final = re.compile(
    r"^(?:(?:to|on|for|of|about|into)\s+)?(?:help )?(?:stay|savor|keep|give (?:it|up)|take it|work hard|push|chase|know|understand|make (?:sure|it|that|them|their|my|our|a (?:\w+ )?difference)|ensure|ask|see|hear|say|thank|share|check|be able|get (?:a )?(?:better|sense)|help (?:you|out)|"
    r"be (?:here|there|careful|honest|prepared|able|sure)|do (?:it|that|this|so)|figure|keep|confirm|verify|clarify|double|chat|talk|hang|catch|tell|figure|"
    r"find out|go (?:ahead|back|over|through)|use (?:it|this|that)|try (?:it|that|this|to)|follow|get (?:started|it)|look|explain|show|wrap|come)\b",
    re.IGNORECASE,
)
_NO_LIKING: Final = re.compile(
    r"^(?:(?:all )?the (?!outdoors|beach|ocean|sea|mountains|color|feeling of)|it|that|this|how|your|you|seeing|these|those|them|to\s+(?:hear|know|see|have|get|help|be|understand|"
    r"make|ensure|discuss|explore|share|chat|learn more|keep|do|start|add|use|include|think|join|know)|everything|what|when|some|a\b|being|hearing|seeing|having|"
    r"(?:\w+ing)? (?:it|that|this|you)\b|$)",
    re.IGNORECASE,
)
_HELD: Final = re.compile(
    r"\b(?:question|idea|feeling|doubt|trouble|issue|problem|fun|blast|time|chance|bit|hope|no|any|been|thought|look|opportunity|urge|"
    r"sense|say|memories|faith|difficulty|talk|ability|moment|concerns?|error|code|rough|great|good|hard|better|best)\b",
    re.IGNORECASE,
)
_HELD: Final = re.compile(
    r"\b(?:meeting|appointment|deadline|interview|exam|presentation|budget|goal|plan|call|session|workshop|trip|flight|allerg\w+|degree|"
    r"house|flat|apartment|car|job|business|store|studio|garden|server|app|website|project|team|background|intolerance|diabetes|tattoo|"
    rf"salary|contract|{'|'.join(sorted(KIN))})\b",
    re.IGNORECASE,
)
_SELF: Final = re.compile(
    rf"^(?:an?\s+(?!bit\b|lot\b|little\b|huge|big|total|real)(?:[\w-]+\s+){{0,3}}?(?:{'|'.join(sorted(JOBS))})\b|from\s+[A-Z]|\d{{1,3}}(?:[ -]years?[ -]old)?\b|"
    r"(?:married|single|divorced|engaged|widowed|retired|pregnant|vegan|vegetarian|pescatarian|lactose|gluten|diabetic|left-handed|bilingual|"
    r"colou?r-?blind|transgender|trans|gay|lesbian|bisexual|autistic|dyslexic|self-employed|unemployed|originally from)\b)"
)
_LIKER: Final = re.compile(
    r"^(?:an?\s+)?(?:huge\s+|big\s+|avid\s+|real\s+)*(?:fan of|lover of|passionate about|into|interested in|fond of|afraid of|obsessed with|addicted to)\b",
    re.IGNORECASE,
)
_SHORT_LEAD: Final = r"^(?:\S+\s){0,5}?\S*"
_NOTHING_HELD: Final = re.compile(
    r"^(?:\S+\s){0,2}?(?:question|idea|feeling|doubt|trouble|issue|problem|fun|blast|time|chance|bit|hope|no|any|thought|look|"
    r"opportunity|urge|sense|say|faith|difficulty|talk|moment|concerns?|error|great|good|hard|better|best|lot|few|little|rough|feel|right)\b",
    re.IGNORECASE,
)
_NOTHING_DONE: Final = re.compile(
    r"^(?:something|stuff|some (?:\w+ )?(?:stuff|things|news)|to (?:let|see|be|do|know)|a (?:break|chance|look|lot|surge)|"
    r"the (?:chance|opportunity)|into|(?:two|some|many) options)\b"
)
_KIN_HELD: Final = re.compile(rf"{_SHORT_LEAD}\b(?:{'|'.join(sorted(KIN))})\b", re.IGNORECASE)
_THING_HELD: Final = re.compile(_SHORT_LEAD + _HELD.pattern, re.IGNORECASE)
_POINTING: Final = re.compile(r"\b(?:that|this|it)\b")
_ANYTHING: Final = re.compile("")
_NOTHING: Final = re.compile(r"(?!)")
_BY_DATE: Final = ""


def _at(pattern: str) -> re.Pattern[str]:
    return re.compile(f"^(?:{pattern})")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One row: a statement fits if all that is set holds of it.

    Args:
        forms: The forms its verb may have.
        verbs: Its verb's base; None for any but those of `but`.
        negated: Whether it must be denied; None if that is all the same.
        like: What the words after the verb must match.
        unlike: What they must not match.
        said: What the whole sentence must match.
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
    like: re.Pattern[str] = _ANYTHING
    unlike: re.Pattern[str] = _NOTHING
    said: re.Pattern[str] = _ANYTHING
    least: int = 2
    dated: bool = False
    sharp: bool = False
    one: bool = False
    chat: str = ""
    kind: str = SEMANTIC

    def fits(self, statement: Statement, *, assistant: bool) -> bool:
        """Whether a statement is of this kind."""
        rest = statement.rest
        verb = statement.verb in self.verbs if self.verbs is not None else statement.verb not in self.but
        grammar = verb and statement.form in self.forms.split() and self.negated in {None, statement.negated}
        place = self.chat in {"", "assistant" if assistant else "people"} and (
            not self.one or statement.subject == "one"
        )
        content = telling(rest, self.least) and self.like.search(rest) and not self.unlike.search(rest)
        marks = (not self.dated or is_dated(statement.text)) and (not self.sharp or is_sharp(rest))
        return bool(grammar and place and content and marks and self.said.search(statement.text))


_BE, _HAVE = frozenset({"be"}), frozenset({"have", "own"})
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
        forms="present",
        negated=None,
        said=re.compile(r"\bno longer\b"),
        least=1,
    ),
    _Rule(
        category="identity", confidence=0.9, forms="past", verbs=_BE, like=_at(r"born\s(?:in|on)\s"), least=1, one=True
    ),
    _Rule(
        category="observation",
        confidence=0.85,
        forms="past",
        verbs=_BE,
        like=_at(r"(?:diagnosed with|promoted|hired|laid off|fired|accepted|admitted|elected)\b"),
        least=1,
        kind=EPISODIC,
    ),
    _Rule(
        category="identity",
        confidence=0.9,
        forms="be",
        verbs=_BE,
        like=_SELF,
        unlike=_at(r"\d+\b(?!\s*(?:$|,|and\b|years?|now))"),
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.9,
        forms="be",
        verbs=_BE,
        like=_at(r"(?:\w+ )?(?:allergic to|intolerant)\b"),
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.85,
        forms=_PRESENT,
        verbs=word_set("live"),
        like=_at(r"(?:in|at|near|with)\s"),
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.85,
        forms=_PRESENT,
        verbs=word_set("work"),
        like=_at(r"(?:at|as|for|in)\s"),
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.85,
        forms="past",
        verbs=word_set("grow"),
        like=_at(r"up\s+(?:in|on|near)\s"),
        least=1,
        one=True,
    ),
    _Rule(
        category="identity",
        confidence=0.85,
        forms="past",
        verbs=word_set("move"),
        like=_at(r"(?:here\s+)?(?:in|to|from)\s"),
        sharp=True,
        least=1,
        kind=EPISODIC,
    ),
    _Rule(
        category="preference",
        confidence=0.85,
        forms="present perfect",
        verbs=_LIKING,
        unlike=_NO_LIKING,
        least=1,
        negated=None,
    ),
    _Rule(category="preference", confidence=0.85, forms="be", verbs=_BE, like=_LIKER, unlike=_POINTING, negated=None),
    _Rule(category="preference", confidence=0.8, forms="present modal", verbs=_TOLERATING, negated=True, least=1),
    _Rule(category="preference", confidence=0.8, forms="modal", said=re.compile(r"\bwould rather\b")),
    _Rule(category="preference", confidence=0.8, forms="past", verbs=word_set("love"), sharp=True, unlike=_NO_LIKING),
    _Rule(
        category="decision",
        confidence=0.85,
        forms=_PAST,
        least=1,
        verbs=_DECIDING,
        unlike=_at(r"(?:with|on) (?:you|that|it|this)\b"),
        kind=_BY_DATE,
    ),
    _Rule(
        category="decision",
        confidence=0.75,
        forms="modal",
        said=re.compile(r"\bwill (?:go with|use|stick with|switch to)\b"),
        unlike=_at(r"(?:(?:with|to) )?(?:the|these|those|some)\b"),
    ),
    _Rule(category="goal", confidence=0.8, forms="progressive", verbs=word_set("have"), dated=True),
    _Rule(
        category="goal",
        confidence=0.8,
        forms="progressive",
        verbs=word_set("get"),
        like=_at(r"ready for\b"),
        dated=True,
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
        like=_at(r"(?:(?:of|about) )?[a-z]+ing\b"),
        unlike=_NO_GOAL,
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="progressive",
        verbs=word_set("look"),
        like=_at(r"(?:for|into|to)\b"),
        unlike=_NO_GOAL,
    ),
    _Rule(
        category="project",
        confidence=0.7,
        forms="progressive",
        verbs=word_set("try"),
        like=_at(r"to\b"),
        unlike=_NO_GOAL,
        least=3,
        chat="assistant",
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="progressive",
        verbs=word_set("go plan hope aim try save prepare"),
        unlike=_NO_GOAL,
        least=3,
        chat="assistant",
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="present",
        verbs=word_set("want plan hope aim intend"),
        like=_at(r"(?:to|for)\b"),
        unlike=_NO_GOAL,
        least=3,
        chat="assistant",
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="progressive",
        verbs=word_set("go plan hope aim try save prepare"),
        unlike=_NO_GOAL,
        chat="people",
    ),
    _Rule(
        category="goal",
        confidence=0.75,
        forms="present",
        verbs=word_set("want plan aim intend"),
        like=_at(r"(?:to|for)\b"),
        unlike=_NO_GOAL,
        chat="people",
    ),
    _Rule(category="project", confidence=0.8, forms="progressive", verbs=word_set("work"), like=_at(r"(?:hard )?on\s")),
    _Rule(category="project", confidence=0.75, forms=_PAST, verbs=_WORKING, chat="assistant", kind=_BY_DATE),
    _Rule(category="project", confidence=0.75, forms="progressive", verbs=_WORKING, chat="assistant"),
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
        like=_KIN_HELD,
        unlike=_NOTHING_HELD,
        least=1,
    ),
    _Rule(
        category="goal",
        confidence=0.8,
        forms="present perfect",
        verbs=_HAVE,
        like=_THING_HELD,
        unlike=_NOTHING_HELD,
        least=1,
        dated=True,
    ),
    _Rule(
        category="observation",
        confidence=0.75,
        forms="present perfect",
        verbs=_HAVE,
        like=_THING_HELD,
        unlike=_NOTHING_HELD,
        least=1,
    ),
    _Rule(
        category="observation",
        confidence=0.75,
        forms="present",
        verbs=_LASTING | word_set("wake drink eat cook drive cycle meet go"),
        said=re.compile(
            r"\b(?:usually|often|typically|every (?:day|week|morning|evening|night|weekend|\w+day)|on \w+days)\b"
        ),
    ),
    _Rule(
        category="observation",
        confidence=0.7,
        forms="progressive",
        verbs=_LASTING - word_set("start live stay"),
        chat="people",
    ),
    _Rule(
        category="observation",
        confidence=0.7,
        forms="progressive",
        verbs=word_set("start live"),
        like=_at(r"(?:an?|my|our)\s"),
        chat="people",
    ),
    _Rule(
        category="observation",
        confidence=0.7,
        forms="present",
        verbs=_LASTING - word_set("take help start grow stay work run read need live"),
        chat="people",
    ),
    _Rule(category="observation", confidence=0.8, forms="past", verbs=word_set("use"), like=_at(r"to\s")),
    _Rule(
        category="observation",
        confidence=0.85,
        forms="past",
        verbs=word_set("have"),
        like=_HELD,
        dated=True,
        kind=EPISODIC,
    ),
    _Rule(
        category="observation",
        confidence=0.85,
        forms=_PAST,
        verbs=_EVENTS,
        unlike=_NOTHING_DONE,
        dated=True,
        kind=EPISODIC,
    ),
    _Rule(category="observation", confidence=0.75, forms=_PAST, verbs=_WEIGHTY, unlike=_NOTHING_DONE, kind=EPISODIC),
    _Rule(
        category="observation",
        confidence=0.75,
        forms=_PAST,
        verbs=_EVENTS,
        unlike=_NOTHING_DONE,
        sharp=True,
        kind=EPISODIC,
    ),
    _Rule(
        category="observation",
        confidence=0.6,
        forms=_PAST,
        verbs=_EVENTS,
        unlike=_NOTHING_DONE,
        chat="people",
        kind=EPISODIC,
    ),
)


def classify(statement: Statement, *, assistant: bool) -> Claim | None:
    """What a statement about its speaker is worth; None for chat, opinion and feeling.

    Args:
        statement: What was said, in the third person.
        assistant: Whether it was said to an assistant rather than to a person.
    """
    if statement.subject == "owned":
        return of_owned(statement, assistant=assistant)
    rule = next((r for r in _RULES if r.fits(statement, assistant=assistant)), None)
    if rule is None:
        return None
    kind = rule.kind or (EPISODIC if is_dated(statement.text) else SEMANTIC)
    return Claim(category=rule.category, kind=kind, confidence=rule.confidence)
