"""Which statements are worth a fact: their category and kind, how sure the rule is, and what gets in the way."""

import re
from dataclasses import dataclass
from typing import Final

from slowwave.minds.rules.english import GENERIC, JOBS, KIN, PERSON_WORDS
from slowwave.minds.rules.rewrite import Statement
from slowwave.policy.segment import STOP_WORDS, words

EPISODIC, SEMANTIC, PROCEDURAL = "episodic", "semantic", "procedural"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a rule takes a statement for. `confidence` is the rule's own record on talk that was read by eye."""

    category: str
    kind: str
    confidence: float


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TIMES: Final = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Apr|Jun|"
    r"Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)(?:day)?\b|\b(?:yesterday|today|tonight|tomorrow|ago|weekend|"
    r"week|month|year|summer|winter|spring|fall|autumn|morning|afternoon|evening|years|months|weeks)\b"
)
_NAMED: Final = re.compile(r"(?<=[a-z,\"'] )[\"“]?[A-Z][\w'’]+|[A-Z]{2,}")
_FIGURE: Final = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|first|second|third)\b")

_LIKING: Final = _words("like love hate enjoy prefer avoid adore dislike value")
_TOLERATING: Final = _words("eat drink stand have tolerate smoke drive swim wear speak read play ride sing cook")
_DECIDING: Final = _words("decide choose switch agree pick select commit")
_WORKING: Final = _words(
    "build develop create design implement integrate deploy migrate configure set write rewrite refactor use add optimize improve "
    "analyze reduce increase upgrade update complete finish debug fix test redesign track manage maintain automate code"
)
_PLANNING: Final = _words("plan hope aim try want save prepare look consider think need intend go")
_LASTING: Final = _words(
    "do learn study practice practise train volunteer attend research teach take work live run play read write paint help organize join "
    "apply rehearse coach mentor prepare renovate manage lead host collaborate own stay dance sing swim hike grow raise start"
)
_EVENTS: Final = _words(
    "go get buy meet start join finish complete win move lose adopt visit attend make take run paint read see give marry graduate quit "
    "leave sign begin donate volunteer organize host perform travel fly drive hike camp launch open apply pass fail break hurt sell "
    "receive adopt celebrate write build create design bake cook find teach spend hire expand publish present enroll propose plant "
    "attend participate compete return retire relocate hear stop turn bring accept introduce schedule reschedule book interview "
    "discover publish record watch learn raise set rescue discuss achieve earn reach improve increase negotiate settle file hold "
    "submit do update change switch reduce implement integrate deploy migrate add fix negotiate extend invest recover"
)
_WEIGHTY: Final = _words(
    "lose adopt marry graduate quit retire launch win fail move propose publish enroll donate hire"
)
_NO_GOAL: Final = re.compile(
    r"^(?:to\s+)?(?:help )?(?:stay|savor|keep|give (?:it|up)|take it|work hard|push|chase|know|understand|make (?:sure|it|that|them|their|my|our|a (?:\w+ )?difference)|ensure|ask|see|hear|say|thank|share|check|be able|get (?:a )?(?:better|sense)|help (?:you|out)|"
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
_NOT_HELD: Final = re.compile(
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
    r"^(?:an?\s+)?(?:huge\s+|big\s+|avid\s+|real\s+)*(?:fan of|lover of|passionate about|into|interested in|fond of|allergic to|afraid of|obsessed with|addicted to)\b",
    re.IGNORECASE,
)
_ALLERGIC: Final = re.compile(r"^(?:also )?(?:allergic to|intolerant)\b", re.IGNORECASE)
_DEADLINE: Final = re.compile(
    r"\b(?:deadline|due|scheduled|launch(?:es)?|release[sd]?|takes place|starts|begins|happens|is (?:on|at|in|by|for))\b",
    re.IGNORECASE,
)


def classify(statement: Statement, *, assistant: bool) -> Claim | None:
    """What a statement about its speaker is worth; None for chat, opinion and feeling.

    Args:
        statement: What was said, in the third person.
        assistant: Whether it was said to an assistant rather than to a person.
    """
    if statement.subject == "owned":
        return _of_owned(statement, assistant=assistant)
    for rule in (_never, _preference, _identity, _decision, _goal, _work, _holding, _lasting, _event):
        if claim := rule(statement, assistant):
            return claim
    return None


def telling(text: str, least: int = 2) -> bool:
    """Whether words say anything definite: two telling words, or one with a name or figure."""
    content = {w for w in words(text) if w not in STOP_WORDS and w not in GENERIC}
    return len(content) >= least or bool(content and (_NAMED.search(f"a {text}") or _FIGURE.search(text)))


def _is_sharp(text: str) -> bool:
    return bool(_NAMED.search(f"a {text}") or _FIGURE.search(text))


def is_dated(text: str) -> bool:
    """Whether a text bears a word of time."""
    return bool(TIMES.search(text))


def _claim(category: str, confidence: float, kind: str = SEMANTIC) -> Claim:
    return Claim(category=category, kind=kind, confidence=confidence)


def _never(statement: Statement, _: bool) -> Claim | None:
    never = re.search(r"\b(?:has|have) never\b", statement.text)
    if (
        never
        and statement.form == "perfect"
        and statement.verb not in {"think", "feel", "see", "hear", "be", "know"}
        and telling(statement.rest)
    ):
        return _claim("observation", 0.85)
    return None


def _preference(statement: Statement, _: bool) -> Claim | None:
    rest = statement.rest
    if (
        statement.verb in _LIKING
        and statement.form in {"present", "perfect"}
        and not _NO_LIKING.match(rest)
        and telling(rest, 1)
    ):
        return _claim("preference", 0.85)
    if (
        statement.verb == "be"
        and statement.form == "be"
        and _LIKER.match(rest)
        and telling(rest)
        and not re.search(r"\b(?:that|this|it)\b", rest)
    ):
        return _claim("preference", 0.85)
    if (
        statement.negated
        and statement.form in {"present", "modal"}
        and statement.verb in _TOLERATING - {"have"}
        and telling(rest, 1)
    ):
        return _claim("preference", 0.8)
    if re.search(r"\bwould rather\b", statement.text) and telling(rest):
        return _claim("preference", 0.8)
    return None


def _identity(statement: Statement, assistant: bool) -> Claim | None:
    if statement.subject != "one":
        return None
    rest, verb = statement.rest, statement.verb
    if (
        verb == "be"
        and statement.form == "be"
        and not statement.negated
        and _SELF.match(rest)
        and not re.match(r"\d+(?!\s*(?:$|,|and\b|years?|now))", rest)
    ):
        return _claim("identity", 0.9)
    if verb == "be" and statement.form == "be" and _ALLERGIC.match(rest):
        return _claim("identity", 0.9)
    if (
        verb in {"live", "work"}
        and statement.form in {"present", "progressive", "perfect"}
        and re.match(r"(?:in|at|as|for|near|with)\s", rest)
        and telling(rest, 1)
        and not assistant
    ):
        return _claim("identity", 0.85) if _NAMED.search(f"a {rest}") or verb == "work" else None
    if (
        verb in {"live", "work"}
        and re.match(r"(?:in|at|as|near)\s+(?:an?\s|the\s)?[A-Za-z]", rest)
        and statement.form == "present"
        and telling(rest, 1)
    ):
        return _claim("identity", 0.85)
    if (
        verb in {"grow", "bear", "move"}
        and statement.form == "past"
        and re.match(r"(?:up\s+)?(?:in|to|from|here from)\s+(?:[A-Z]|a small|the)", rest)
    ):
        return _claim("identity", 0.85) if verb == "grow" else _claim("identity", 0.85, EPISODIC)
    return None


def _decision(statement: Statement, _: bool) -> Claim | None:
    if (
        statement.verb in _DECIDING
        and statement.form in {"past", "perfect"}
        and telling(statement.rest)
        and not re.match(r"(?:with|on) (?:you|that|it|this)\b", statement.rest)
    ):
        return _claim("decision", 0.85, EPISODIC if is_dated(statement.rest) else SEMANTIC)
    if (
        statement.text.split()[-1:]
        and re.search(r"\bwill (?:go with|use|stick with|switch to)\b", statement.text)
        and telling(statement.rest)
    ):
        return _claim("decision", 0.75)
    return None


def _goal(statement: Statement, assistant: bool) -> Claim | None:
    rest = statement.rest
    if statement.verb not in _PLANNING or statement.negated or statement.form not in {"present", "progressive"}:
        return None
    if statement.verb == "go" and (statement.form == "present" or not re.match(r"(?:to\s+)?(?:\w+\s)", rest)):
        return None
    if statement.verb == "need":
        return (
            _claim("goal", 0.75)
            if re.search(r"\b(?:by|before|deadline)\b", rest) and is_dated(rest) and telling(rest)
            else None
        )
    if statement.verb in {"think", "consider"} and not (
        statement.form == "progressive" and re.match(r"(?:of|about)?\s*[a-z]+ing\b", rest)
    ):
        return None
    if statement.verb == "look" and not re.match(r"(?:for|into|to)\b", rest):
        return None
    if statement.verb in {"want", "try"} and not re.match(r"to\b|help\b", rest) and statement.form != "progressive":
        return None
    aim = re.sub(r"^(?:to|on|for|of|about|into)\s+", "", rest)
    if _NO_GOAL.match(aim) or not telling(aim, 3 if assistant else 2):
        return None
    return _claim("project" if assistant and statement.verb == "try" else "goal", 0.75)


def _work(statement: Statement, assistant: bool) -> Claim | None:
    rest = statement.rest
    if (
        statement.verb == "work"
        and statement.form in {"progressive", "perfect"}
        and re.match(r"(?:hard\s+)?on\s", rest)
        and telling(rest)
    ):
        return _claim("project", 0.8)
    if statement.verb in _WORKING and assistant and not statement.negated and telling(rest):
        if statement.form in {"past", "perfect"}:
            return _claim("project", 0.75, EPISODIC if is_dated(rest) else SEMANTIC)
        if statement.form == "progressive" or (
            statement.form == "present" and statement.verb == "use" and _is_sharp(rest)
        ):
            return _claim("project", 0.75)
    if (
        statement.verb in {"use", "own", "build", "develop", "create", "design"}
        and statement.form == "progressive"
        and telling(rest, 3)
    ):
        return _claim("project", 0.75)
    return None


def _holding(statement: Statement, assistant: bool) -> Claim | None:
    rest = statement.rest
    if (
        statement.verb not in {"have", "own", "get"}
        or statement.negated
        or statement.form not in {"present", "perfect"}
    ):
        return None
    if statement.verb == "get" and statement.form != "perfect":
        return None
    head = " ".join(rest.split()[:6])
    if _NOT_HELD.search(head) and not re.match(r"(?:a|an|two|three|four|\d+)\s", rest):
        return None
    if re.match(
        r"(?:an?|my|our|the)\s+(?:\w+\s)?(?:question|idea|feeling|doubt|great|good|lot|bit|blast|chance|hard|few|little|rough|feel)\b",
        rest,
    ):
        return None
    if not _HELD.search(head) or not telling(rest, 1):
        return None
    kin = re.search(rf"\b(?:{'|'.join(sorted(KIN))})\b", head)
    return _claim(
        "person" if kin else "goal" if _DEADLINE.search(rest) or is_dated(rest) else "observation",
        0.8 if kin or assistant else 0.75,
    )


def _lasting(statement: Statement, assistant: bool) -> Claim | None:
    if (
        statement.verb not in _LASTING
        or statement.negated
        or statement.form not in {"progressive", "present", "perfect"}
        or assistant
    ):
        return None
    if statement.verb in {"start", "live", "stay"} and not re.match(r"(?:an?|my|our|in|at)\s", statement.rest):
        return None
    if statement.form == "progressive" and telling(statement.rest, 2):
        return _claim("observation", 0.7)
    if (
        statement.form == "present"
        and telling(statement.rest, 2)
        and statement.verb not in {"take", "help", "start", "grow", "stay", "work", "run", "read", "need"}
    ):
        return _claim("observation", 0.7)
    return None


def _event(statement: Statement, assistant: bool) -> Claim | None:
    if (
        statement.verb == "use"
        and statement.form == "past"
        and re.match(r"to\s", statement.rest)
        and telling(statement.rest)
    ):
        return _claim("observation", 0.8)
    if statement.verb == "love" and statement.form == "past" and _NAMED.search(f"a {statement.rest}"):
        return _claim("preference", 0.8)
    held = (
        statement.verb == "have"
        and statement.form == "past"
        and _HELD.search(statement.rest)
        and is_dated(statement.rest)
    )
    if statement.form not in {"past", "perfect"} or statement.negated or not (statement.verb in _EVENTS or held):
        return None
    dated, named = is_dated(statement.text), bool(_NAMED.search(statement.rest) or _FIGURE.search(statement.rest))
    if not telling(statement.rest, 2):
        return None
    if re.match(
        r"(?:something|some (?:\w+ )?(?:stuff|things)|to (?:let|see|be|do)|stuff|a (?:break|chance|look|lot|surge)|some (?:\w+ )?news|the (?:chance|opportunity)|into|(?:two|some|many) options)\b",
        statement.rest,
    ):
        return None
    if dated:
        return _claim("observation", 0.85, EPISODIC)
    if statement.verb in _WEIGHTY or named:
        return _claim("observation", 0.75, EPISODIC)
    return _claim("observation", 0.6, EPISODIC) if not assistant else None


_OWNED_VERB: Final = re.compile(
    r"\b(?P<verb>is|are|was|were|has|have|had|will|can't|doesn't|don't|isn't|uses|runs|lives?|works?|owns?|leads?|likes?|loves?|hates?|prefers?|enjoys?|needs?|"
    r"wants?|moved|started|got|went|passed|died|gave|bought|made|took|joined|said|told|works|studies|teaches|plays?|plans?|helped|taught|"
    r"recommended|came|became|graduated|retired|turned|celebrated|adopted|broke|opened|launched|starts|begins|expires|costs?|depends|serves|stores|"
    r"recently|currently|just|also|always|never)\b"
)
_VAGUE_OWNED: Final = re.compile(
    r"^(?:own\b|(?:best|worst) part|question|point|thoughts?|feelings?|mind|heart|head|eyes|day|life|time|way|bad|apolog|understanding|next question|"
    r"hope|guess|experience|dreams?|passion|love|mood|bond|code\b|current code|initial|example|solution|concern|issue|problem|answer|calculation|work\b)",
    re.IGNORECASE,
)


def _of_owned(statement: Statement, *, assistant: bool) -> Claim | None:
    """My sister, our service, my deadline: what is said of things and people of the speaker's."""
    verb = _OWNED_VERB.search(statement.owned)
    if verb is None or _VAGUE_OWNED.match(statement.owned) or not telling(statement.owned[verb.end() :], 1):
        return None
    noun, said = statement.owned[: verb.start()].strip(), statement.owned[verb.end() :].strip()
    if (
        not noun
        or len(noun.split()) > 6
        or (verb["verb"] in {"recently", "currently", "just", "also", "always", "never"} and not said)
    ):
        return None
    if re.match(r"name\b", noun):
        return _claim("identity", 0.95)
    if re.match(r"favou?rite\b", noun):
        return None if re.match(r"(?:it|that|this|how|when|what|the one)\b", said) else _claim("preference", 0.9)
    if re.match(r"(?:\w+\s)?(?:goal|aim|plan|target|deadline)\b", noun):
        return _claim("goal", 0.85) if telling(said) and not _NO_GOAL.match(said) else None
    kin = any(word in PERSON_WORDS for word in (noun.lower().split()[-1], noun.lower().split()[0].strip(",")))
    if kin and telling(said, 2):
        return _claim(
            "person", 0.85, EPISODIC if is_dated(said) and verb["verb"] not in {"is", "are", "has"} else SEMANTIC
        )
    if assistant and telling(said, 2):
        return _claim("project", 0.75)
    if is_dated(said) and telling(said):
        return _claim("observation", 0.75, EPISODIC)
    return None
