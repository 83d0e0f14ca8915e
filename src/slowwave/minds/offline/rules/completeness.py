"""Checks that no part of a statement is missing: an object that was cut off, a clause without its main clause, the end of a list."""

import re
from typing import Final

from slowwave.minds.offline.rules.morphology import IRREGULAR_BASES, finite_base, ing_base, is_base, past_base
from slowwave.minds.offline.rules.pronouns import plain
from slowwave.minds.offline.rules.words import CHATTING, INCOMPLETE, LIKING, TALKING, UNDER_DISCUSSION, WANTING_OBJECT
from slowwave.policy.text.names import word_set

_LEFT_OPEN: Final = re.compile(
    r"\b(?:and|but|or|so|because|to|of|in|on|at|for|with|that|which|who|if|when|while|until|unless|except|than|like|about|how|what|behind|between|under|over|into|from|by|without|through|around|against|within|after|before|during|towards?|upon|to \w+|with \w+ing|fact|way|ways|idea|make|makes|made|ensure|sure|find|is|are|was|were|be|the user)$"
)
_ENDS_OPEN: Final = word_set(
    "across behind between into without against within during towards toward upon any every some either neither whether via per among onto until unless although "
    "though than several various other the a an and or but because which whose while whereas if accordingly respectively"
)
"""Last words of a text that need another one after them, or that refer to what was said before."""
_CONNECTIVE: Final = re.compile(
    r",?\s+(?:but|and|so|or|then)(?:\s+(?:first|then|also|now|still|instead|yet|so|maybe|for now|right now|unfortunately|currently))*$"
)
_WITHOUT_MAIN: Final = re.compile(
    r",?\s(?:but|and|so) (?:when|whenever|if|while|once|as soon as|since|because|although|though|unless)\b[^,]*$",
    re.IGNORECASE,
)
_INFINITIVE: Final = re.compile(
    r"\b(?:want|wants|wanted|like|love|try|trying|need|needs|plan|plans|planning|hope|hopes|hoping|going|able|manage|managed|manages|how|way|ways|decide|decided|prefer|prefers) to (?:\w+ly |further |better )?(?P<verb>\w+)(?: and (?P<other>\w+))?$"
)
_ASKING_ON: Final = re.compile(
    r"\bto (?:see|check|determine|ensure|figure out|find out|know|tell|ask|say|understand|verify|make sure)$"
)
"""Verbs of finding out, whose question is missing."""
_ALONE: Final = word_set(
    "meditate graduate participate relocate communicate concentrate cooperate donate migrate celebrate hibernate exercise socialise socialize apologise apologize "
    "emigrate immigrate procrastinate compromise translate skate date debate rotate hydrate specialise specialize rise promise realise realize prize size"
)
"""Verbs in -ate and -ise that need no object."""
_OBJECT_WANTED: Final = WANTING_OBJECT - LIKING | word_set(
    "integrate combine improve enhance reduce increase extend fix solve resolve handle manage avoid achieve ensure provide define identify compare configure deploy expand"
)
_TIME: Final = re.compile(
    r"\s*(?:this|these|that) (?:days?|week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|autumn|time|season)\b"
)
_VAGUE: Final = re.compile(
    r"\b(?:create|build|develop|design|implement|write|make|add|set up|find) (?:an?|some) (?:[\w-]+ ){0,2}[\w-]+$|\b(?:an?|the) (?:\w+ly )?(?:new |modular |simple |basic |custom )?(?:function|system|feature|tool|script|app|application|way|place|thing|project|plan|method|class|page|person|module)$"
)
"""A noun that only a clause after it describes: "a function", "a system", "create a dashboard"."""
_HELPERS: Final = word_set("is are was were has have had can could will would do did does")
_POINTING: Final = word_set("it its it's this they they're them these those you your")


def without_connective(text: str) -> str:
    """The text without the words at its end that join it to a clause that is not part of it.

    >>> without_connective("Ana wants a garden, but first")
    'Ana wants a garden'
    """
    return _CONNECTIVE.sub("", text)


def is_cut(text: str) -> bool:
    """Whether the end of a text is missing: a noun after "across", an object after "to improve", a main clause after "but when".

    >>> [is_cut(text) for text in ("Ana wants to further improve", "Ana wants to travel", "Ana shows the costs across")]
    [True, False, True]
    """
    words = text.split()
    if not words or plain(words[-1]) in _ENDS_OPEN or _WITHOUT_MAIN.search(text):
        return True
    if plain(words[-1]) in {"all", "both"} and len(words) > 1 and _wants_object(plain(words[-2])):
        return True
    if _ASKING_ON.search(text):
        return True
    infinitive = _INFINITIVE.search(text)
    return infinitive is not None and any(_wants_object(verb) for verb in infinitive.groups() if verb)


def _wants_object(verb: str) -> bool:
    formed = verb.endswith(("ize", "ise", "ify")) or (verb.endswith("ate") and is_base(verb))
    return verb in _OBJECT_WANTED or (formed and verb not in _ALONE)


def is_argument(rest: str, part: str) -> bool:
    """Whether words that were cut off belong to the rest: the object of its verb or preposition, or a clause that says which.

    Args:
        rest: What was cut off.
        part: The text without the words that were cut off.

    >>> is_argument(" it further", "I want to improve"), is_argument(", and it was cheap", "I bought a kayak")
    (True, False)
    """
    if rest.lstrip()[:1] in {",", "-", "–", "—"} or part[-1:] in {"-", "–", "—", ":"} or _TIME.match(rest):
        return False
    first, last = plain(rest.split(maxsplit=1)[0]), plain(part.rsplit(maxsplit=1)[-1])
    second = plain(rest.split()[1]) if len(rest.split()) > 1 else ""
    relative = first == "that" or first.endswith(("'s", "'re")) or bool(finite_base(second)[0]) or second in _HELPERS
    relative = relative or (first in {"they", "you"} and is_base(second))
    if not relative:
        return first in _POINTING
    return last in UNDER_DISCUSSION | INCOMPLETE | IRREGULAR_BASES or bool(past_base(last)) or bool(_VAGUE.search(part))


def is_open(part: str) -> bool:
    """Whether the last word of a clause wants another one after it."""
    words = part.split()
    last, before = (plain(words[-1]), plain(words[-2])) if len(words) > 1 else ("", "")
    base = ing_base(last) or past_base(last) or (last if is_base(last) else "")
    joined_verb = bool(ing_base(last)) and before in {"and", "or", "so", "but", "with", "of", "by", "for", "as"}
    if past_base(last) in CHATTING | TALKING:  # "and thought": what was thought follows
        return True
    if last.endswith(("'m", "'re", "'s", "'ve", "'ll", "'d")):
        return True
    return bool(_LEFT_OPEN.search(part)) or base in WANTING_OBJECT or joined_verb
