"""Elementary questions: those for one attribute of a person that has one value at a time, and the statements that answer them.

"Where do I live?" shares few words with "We moved to Lyon in May", and more with "he lives in the fridge now". A slot names the
attribute and its holder; a statement is recognised by its form. English only.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from slowwave.policy.comparison.values import PERHAPS
from slowwave.policy.text.lazy_regex import lazy_regex

_LONGEST: Final = 2_000
"""The characters that are read of one text."""
_STATEMENTS_MAX: Final = 40
"""The sentences that are read of one text."""

# I: the holder as a subject, MY: as an owner, B: "am", "is" or their short forms, H: these or "have", or nothing, V: a verb's ending in
# the third person, WITH: adverbs between a verb and its place. The group `value` is what may change; it begins with a capital or
# a digit where the other words would fit anything.
_NOW: Final = r"(?: (?:now|currently|still|just|recently|actually|also|both|all|originally))*"
_FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "name": (
        r"MY (?:(?:full|real|first|own) )?name(?: is|'s) NOW (?-i:(?P<value>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*))",
        r"^(?:\w+[,!] )?name's (?-i:(?P<value>[A-Z][\w'-]+))",
        r"(?:everyone|people|friends|just|you can|please) (?:\w+ )?calls? (?:me|him|her|them) (?-i:(?P<value>[A-Z][\w'-]+))",
        r"^(?:hi|hey|hello)[,!.]? I B (?-i:(?P<value>[A-Z][\w'-]+))",
        r"I B (?:called|named) (?-i:(?P<value>[A-Z][\w'-]+))",
        r"^I B (?-i:(?P<value>(?!I\b|The\b)[A-Z][a-z'-]+(?: [A-Z][\w'-]+)?))(?=[,.;!]|$| (?:and|but|from|by)\b)",
    ),
    "home": (
        r"I H NOW(?: been)? (?:liveV|resideV|living|moved|moving|relocated|settled|settling)WITH(?: (?:out of|from) \w+)?"
        r" (?:in|to|at|near|on) (?:(?:the|a|an|my|our|his|her) )?(?-i:(?P<value>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*))",
        r"I B NOW based (?:in|at|near) (?-i:(?P<value>[A-Z][\w'-]+))",
        r"MY (?:new |current )?(?:home|flat|house|apartment|place|address|hometown)(?: address)?(?: is|'s)(?: (?:in|at|on|near))? (?-i:(?P<value>[A-Z0-9][\w'-]+))",
    ),
    "work": (
        r"I H NOW(?: been)? (?:workV|working|started|starting)(?: (?:a|my|the|an?) (?:new )?(?:job|position|role))?WITH (?:at|for|with|in) "
        r"(?:(?:a|an|the) )?(?P<value>(?:(?:\w+ ){0,2}(?:company|firm|hospital|school|office|shop|startup|bakery|university|bank|studio|agency|library|clinic|lab|factory)\b)|(?-i:[A-Z][\w'&-]+(?: [A-Z][\w'&-]+)*))",
        r"I H NOW (?:joined|joining) (?-i:(?P<value>[A-Z][\w'&-]+))",
        r"MY (?:new |current )?(?:job|employer|company)(?: is|'s)(?: (?:at|with|in))? (?P<value>[\w'&-]+)",
    ),
    "job": (
        r"I H NOW (?:workV|working) as (?:an? |the )?(?P<value>[\w-]+(?: [\w-]+)?)",
        r"MY (?:new |current )?(?:job|profession|occupation)(?: is|'s)(?: as)? (?:an? )?(?P<value>[\w-]+)",
        r"I B NOW (?:an? |the )(?P<value>(?:[\w-]+ ){0,2}[\w-]*(?:er|or|ist|ian|eer|ant|nurse|chef|cook|clerk|guard|pilot|judge|doctor|coach|student|attorney|surgeon|dentist))\b",
    ),
    "pay": (
        r"I H NOW (?:earnV|makeV|getV paid|earning|making|paid)(?: (?:about|around|roughly|some|only|up to))* (?P<value>[$€£]?\d[\d,.]*\s?k?)",
        r"I H NOW (?:got|received) a (?:pay )?raise(?: \w+){0,3}? to (?P<value>[$€£]?\d[\d,.]*\s?k?)",
        r"MY (?:new |current |monthly |yearly |annual )*(?:salary|pay|income|wage|wages)(?: \w+){0,4}? (?P<value>[$€£]?\d[\d,.]*\s?k?)",
    ),
    "age": (
        r"I(?: B NOW| H NOW turned) (?P<value>\d{1,3})(?! ?(?:%|percent|minutes|hours|days|weeks|months|km|kg|pounds|miles|\w*[:/]))\b",
        r"MY age(?: is|'s) (?P<value>\d{1,3})",
    ),
    "birthday": (
        r"MY (?:\w+ )?birthday(?: is|'s| falls)(?: on| in)? (?P<value>[\w ]+)",
        r"I (?:was|were) born (?:on|in) (?:the )?(?P<value>[\w ]*\d[\w ]*|january|february|march|april|may|june|july|august|september|october|november|december)",
    ),
    "marriage": (
        r"I(?: B NOW| H NOW(?: been| got| getting)) (?P<value>married|single|divorced|engaged|widowed|separated)",
        r"MY (?P<value>husband|wife|fiancé|fiancée|spouse)\b",
    ),
}
_QUESTIONS: Final = (
    ("name", "name", r"what(?:'s| is| was) (?P<owner>.+?) (?:full |real |first )?name"),
    ("name", "called named", r"what (?:am|is|are) (?P<holder>.+?) (?:called|named)"),
    (
        "home",
        "live living based reside",
        r"where (?:do|does|am|is|are) (?P<holder>.+?) (?:NOW )?(?:live|living|based|reside)",
    ),
    ("home", "hometown town address", r"what(?:'s| is) (?P<owner>.+?) (?:home ?town|address|home address)"),
    (
        "home",
        "live living",
        r"(?:which|what) (?:city|town|country|place) (?:do|does|am|is) (?P<holder>.+?) (?:live|living)(?: in)?",
    ),
    (
        "work",
        "work working employed",
        r"(?:where|for whom|who) (?:do|does|am|is) (?P<holder>.+?) (?:NOW )?(?:work|working|employed)(?: for| at)?",
    ),
    ("work", "work", r"(?:what|which) company (?:do|does) (?P<holder>.+?) work (?:for|at)"),
    ("work", "employer", r"(?:who|what|which company)(?:'s| is) (?P<owner>.+?) employer"),
    ("job", "job profession occupation", r"what(?:'s| is) (?P<owner>.+?) (?:job|profession|occupation)"),
    ("job", "living work", r"what (?:do|does) (?P<holder>.+?) (?:do for (?:a living|work)|work as)"),
    (
        "pay",
        "earn earning make making paid",
        r"(?:what|how much) (?:do|does|am|is) (?P<holder>.+?) (?:earn|earning|make|making|paid|get paid)(?: (?:a|per|each) (?:month|year))?",
    ),
    (
        "pay",
        "salary pay income wage",
        r"(?:what(?:'s| is)|how much is|how high is) (?P<owner>.+?) (?:salary|pay|income|wage)",
    ),
    ("age", "old", r"how old (?:am|is|are) (?P<holder>.+?)"),
    ("age", "age", r"what(?:'s| is) (?P<owner>.+?) age"),
    ("birthday", "birthday", r"(?:when|what day|what date)(?:'s| is) (?P<owner>.+?) birthday"),
    ("birthday", "born", r"when (?:was|were) (?P<holder>.+?) born"),
    (
        "marriage",
        "married single divorced engaged",
        r"(?:am|is|are) (?P<holder>.+?) (?:married|single|divorced|engaged)",
    ),
    ("marriage", "status", r"what(?:'s| is) (?P<owner>.+?) (?:marital|relationship) status"),
)
"""The slot of each question, the words of which it has one, and its form. Compiling all forms takes 20 ms."""
_WORDINGS: Final[Mapping[str, str]] = {
    "name": "name called I'm call",
    "home": "live lives living moved home address",
    "work": "work works working job company employer joined",
    "job": "job work works as profession",
    "pay": "earn salary paid pay income",
    "age": "years old turned age birthday",
    "birthday": "birthday born",
    "marriage": "married husband wife wedding single divorced",
}
_SEVERAL: Final = frozenset({"name", "job"})
"""Slots whose forms say different things: a nickname does not replace a name. Of other slots all forms can be compared."""
_ME: Final = frozenset({"i", "my", "me"})
_ENDING: Final = r"(?: (?:now|currently|at the moment|right now|these days|nowadays|again|exactly|today))*\s*[?.!]*$"
_WORD: Final = lazy_regex(r"\w+")
_SENTENCE: Final = lazy_regex(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?\n]*")
_DOUBTED: Final = lazy_regex(
    r"^\W*(?:if|suppose|imagine|what if|when i (?:was|were)|pretend)\b|\b(?:would|might|could|used to|wish|dream(?:ed|t)? (?:of|that)|thinking (?:of|about)"
    r"|hoping to|want(?:s|ed)? to|plan(?:s|ned|ning)? to|not|never|n't|no longer|almost|nearly)\b|[\"“”].*[\"“”]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One attribute of one holder.

    Attributes:
        name: "name", "home", "work", "job", "pay", "age", "birthday" or "marriage".
        holder: whose attribute it is, in lower case: "" for the user, else a name ("anna") or a relative ("my sister").
    """

    name: str
    holder: str

    @property
    def wording(self) -> str:
        """Words of statements of this slot, to search for those that share no word with the question."""
        return f"{self.holder} {_WORDINGS[self.name]}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotStatement:
    """A statement of a slot: its value in lower case, and which form it has. Values of one form can be compared."""

    value: str
    form: int


def slot_of(question: str) -> Slot | None:
    """The slot that an elementary question asks for; None for any other question.

    >>> slot_of("Where do I live now?")
    Slot(name='home', holder='')
    """
    text = " ".join(question.replace("’", "'").split())
    asked = _WORD.findall(text.lower())
    for name, needed, pattern in _QUESTIONS:
        if not set(needed.split()).isdisjoint(asked) and (match := _asking(pattern).match(text)):
            groups = match.groupdict()
            holder = (groups.get("holder") or groups.get("owner") or "").casefold().removesuffix("'s").strip()
            if holder in _ME:
                return Slot(name=name, holder="")
            own = re.fullmatch(r"(?:my (?:\w+ )?)?[\w'-]+", holder)
            return Slot(name=name, holder=holder) if own and holder not in _NOBODY else None
    return None


_NOBODY: Final = frozenset(
    {"it", "this", "that", "he", "she", "they", "you", "we", "your", "his", "her", "their", "our", "there"}
)


def statement(slot: Slot, text: str, *, by_holder: bool) -> SlotStatement | None:
    """The last statement of a slot in a text; None if it has none that is plain: not asked, doubted, denied or quoted.

    Args:
        slot: The slot.
        text: The text of a message or fact.
        by_holder: Whether "I" and "my" in it mean the holder.
    """
    found: SlotStatement | None = None
    for sentence in _SENTENCE.findall(text[:_LONGEST].replace("’", "'"))[:_STATEMENTS_MAX]:
        bare = sentence.strip()
        if bare.endswith("?") or _DOUBTED.search(bare):
            continue
        for form, pattern in enumerate(_stating(slot.name, slot.holder, by_holder)):
            if match := pattern.search(bare):
                value = " ".join(match["value"].casefold().split())
                found = SlotStatement(value=value, form=form if slot.name in _SEVERAL else 0)
                break
    return found


def outdated_because(newer: Sequence[SlotStatement], older: SlotStatement) -> str:
    """Why a statement is perhaps outdated: a newer one of its form has another value. Empty if none has."""
    for one in newer:
        if one.form == older.form and not (one.value in older.value or older.value in one.value):
            return f"{PERHAPS}: a later statement says {one.value} where this one says {older.value}"
    return ""


@lru_cache(maxsize=64)
def _asking(pattern: str) -> re.Pattern[str]:
    opening = r"(?:(?:so|and|hey|please|remind me|tell me|do you (?:know|remember)|can you tell me)[,:]? )*"
    return re.compile(opening + pattern.replace(" NOW ", "NOW ").replace("NOW ", _NOW + " ") + _ENDING, re.IGNORECASE)


@lru_cache(maxsize=256)
def _stating(name: str, holder: str, by_holder: bool) -> tuple[re.Pattern[str], ...]:
    """The patterns of the forms of a slot, for one holder."""
    relative = holder.removeprefix("my ")
    who = (
        "the user"
        if not holder
        else re.escape(holder)
        if relative == holder
        else rf"(?:my|the user's) {re.escape(relative)}"
    )
    named = who + r"(?:,? (?-i:[A-Z]\w+),?)?" if holder else who
    owner = f"{who}'s?"
    subjects, owners = [named], [owner]
    if by_holder:
        subjects += ["i", "we"]
        owners += ["my", "our"]
    if not holder:
        owners += ["their"]
    parts = {
        r"\bI\b": rf"\b(?:{'|'.join(subjects)})",
        r"\bMY\b": rf"\b(?:{'|'.join(owners)})",
        r" NOW\b": _NOW,
        r" B\b": r"(?: am| is| are|'?m|'s|'re)",
        r" H\b": r"(?: am| is| are| have| has| had|'?m|'s|'re|'ve|'d)?",
        r"WITH\b": r"(?: (?:back|over|away|here|alone|together|part-time|full-time|with \w+(?: \w+)?))*",
        r"(?<=[a-z])V\b": r"s?",
    }
    patterns = []
    for form in _FORMS[name]:
        pattern = form
        for token, meaning in parts.items():
            pattern = meaning.join(re.split(token, pattern))
        patterns.append(re.compile(pattern, re.IGNORECASE))
    return tuple(patterns)
