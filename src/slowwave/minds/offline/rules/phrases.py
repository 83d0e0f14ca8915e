"""The verbs and phrases that the rules about a speaker match, and phrases without content."""

import re
from typing import Final

from slowwave.minds.offline.rules.verbs import JOBS, KIN
from slowwave.policy.text.names import word_set

LIKING: Final = word_set("like love hate enjoy prefer avoid adore dislike value")
TOLERATING: Final = word_set("eat drink stand have tolerate smoke drive swim wear speak read play ride sing cook")
DECIDING: Final = word_set("decide choose switch agree pick select commit")
WORKING: Final = word_set(
    "build develop create design implement integrate deploy migrate configure set write rewrite refactor use add optimize improve "
    "analyze reduce increase upgrade update complete finish debug fix test redesign track manage maintain automate code"
)
LASTING: Final = word_set(
    "do learn study practice practise train volunteer attend research teach take work live run play read write paint help organize join "
    "apply rehearse coach mentor prepare renovate manage lead host collaborate own stay dance sing swim hike grow raise start"
)
EVENTS: Final = word_set(
    "go get buy meet start join finish complete win move lose adopt visit attend make take run paint read see give marry graduate quit "
    "leave sign begin donate volunteer organize host perform travel fly drive hike camp launch open apply pass fail break hurt sell "
    "receive adopt celebrate write build create design bake cook find teach spend hire expand publish present enroll propose plant "
    "attend participate compete return retire relocate hear stop turn bring accept introduce schedule reschedule book interview "
    "discover publish record watch learn raise set rescue discuss achieve earn reach improve increase negotiate settle file hold "
    "submit do update change switch reduce implement integrate deploy migrate add fix negotiate extend invest recover"
)
WEIGHTY: Final = word_set(
    "lose adopt marry graduate quit retire launch win fail move propose publish enroll donate hire"
)
NO_GOAL: Final = re.compile(
    r"^(?:(?:to|on|for|of|about|into)\s+)?(?:help )?(?:stay|savor|keep|give (?:it|up)|take it|work hard|push|chase|know|understand|make (?:sure|it|that|them|their|my|our|a (?:\w+ )?difference)|ensure|ask|see|hear|say|thank|share|check|be able|get (?:a )?(?:better|sense)|help (?:you|out)|"
    r"be (?:here|there|careful|honest|prepared|able|sure)|do (?:it|that|this|so)|figure|keep|confirm|verify|clarify|double|chat|talk|hang|catch|tell|figure|"
    r"find out|go (?:ahead|back|over|through)|use (?:it|this|that)|try (?:it|that|this|to)|follow|get (?:started|it)|look|explain|show|wrap|come)\b",
    re.IGNORECASE,
)
NO_LIKING: Final = re.compile(
    r"^(?:(?:all )?the (?!outdoors|beach|ocean|sea|mountains|color|feeling of)|it|that|this|how|your|you|seeing|these|those|them|to\s+(?:hear|know|see|have|get|help|be|understand|"
    r"make|ensure|discuss|explore|share|chat|learn more|keep|do|start|add|use|include|think|join|know)|everything|what|when|some|a\b|being|hearing|seeing|having|"
    r"(?:\w+ing)? (?:it|that|this|you)\b|$)",
    re.IGNORECASE,
)
HELD: Final = re.compile(
    r"\b(?:meeting|appointment|deadline|interview|exam|presentation|budget|goal|plan|call|session|workshop|trip|flight|allerg\w+|degree|"
    r"house|flat|apartment|car|job|business|store|studio|garden|server|app|website|project|team|background|intolerance|diabetes|tattoo|"
    rf"salary|contract|{'|'.join(sorted(KIN))})\b",
    re.IGNORECASE,
)
SELF: Final = re.compile(
    rf"^(?:an?\s+(?!bit\b|lot\b|little\b|huge|big|total|real)(?:[\w-]+\s+){{0,3}}?(?:{'|'.join(sorted(JOBS))})\b|from\s+[A-Z]|\d{{1,3}}(?:[ -]years?[ -]old)?\b|"
    r"(?:married|single|divorced|engaged|widowed|retired|pregnant|vegan|vegetarian|pescatarian|lactose|gluten|diabetic|left-handed|bilingual|"
    r"colou?r-?blind|transgender|trans|gay|lesbian|bisexual|autistic|dyslexic|self-employed|unemployed|originally from)\b)"
)
LIKER: Final = re.compile(
    r"^(?:an?\s+)?(?:huge\s+|big\s+|avid\s+|real\s+)*(?:fan of|lover of|passionate about|into|interested in|fond of|afraid of|obsessed with|addicted to)\b",
    re.IGNORECASE,
)
THINKING: Final = word_set("know think feel see hear care want remember need believe understand trust mind get")
RETRACTED: Final = re.compile(
    r"\bno longer\b|(?:\bnot|n['’]t)\b.+\b(?:any ?more|any longer|after all)\b",
    re.IGNORECASE,
)
SHORT_LEAD: Final = r"^(?:\S+\s){0,5}?\S*"
NOTHING_HELD: Final = re.compile(
    r"^(?:\S+\s){0,2}?(?:question|idea|feeling|doubt|trouble|issue|problem|fun|blast|time|chance|bit|hope|no|any|thought|look|"
    r"opportunity|urge|sense|say|faith|difficulty|talk|moment|concerns?|error|great|good|hard|better|best|lot|few|little|rough|feel|right)\b",
    re.IGNORECASE,
)
NOTHING_DONE: Final = re.compile(
    r"^(?:something|stuff|some (?:\w+ )?(?:stuff|things|news)|to (?:let|see|be|do|know)|a (?:break|chance|look|lot|surge)|"
    r"the (?:chance|opportunity)|into|(?:two|some|many) options)\b"
)
KIN_HELD: Final = re.compile(rf"{SHORT_LEAD}\b(?:{'|'.join(sorted(KIN))})\b", re.IGNORECASE)
THING_HELD: Final = re.compile(SHORT_LEAD + HELD.pattern, re.IGNORECASE)
POINTING: Final = re.compile(r"\b(?:that|this|it)\b")
ANYTHING: Final = re.compile("")
NOTHING: Final = re.compile(r"(?!)")


def at(pattern: str) -> re.Pattern[str]:
    """A pattern that must match at the beginning of the words after the verb."""
    return re.compile(f"^(?:{pattern})")
