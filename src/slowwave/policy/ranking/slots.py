"""Elementary questions: those for one attribute of a person, and the statements that answer them.

"Where do I live?" shares few words with "We moved to Lyon in May", and more with "he lives in the fridge now"; "Is there any food
that I must avoid?" shares none with "I'm allergic to walnuts". A slot names the attribute and its holder; a statement is
recognised by its form. Most attributes have one value at a time; those of `LISTS` have several. English only.
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

# I: the holder as a subject, MY: as an owner, ME: as an object, B: "am", "is" or their short forms, H: these or "have", or nothing,
# V: a verb's ending in the third person, SELF: nothing if the text is by the holder, WITH: adverbs between a verb and its place; other
# words in capitals are in `_TERMS`. The group `value` is what may change; it begins with a capital or a digit where the other words
# would fit anything.
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
        r"I(?: have| has|'ve) NOW workedWITH (?:at|for|with) (?:(?:a|an|the) )?(?-i:(?P<value>[A-Z][\w'&-]+(?: [A-Z][\w'&-]+)*))",
        r"I NOW startV (?:(?:a|my) new job )?at (?:the )?(?-i:(?P<value>[A-Z][\w'&-]+(?: [A-Z][\w'&-]+)*))",
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
        r"MY (?P<value>husband|wife|fiancée?|fiancee?|spouse)\b",
        r"SELF(?:as|being) an? (?P<value>single|widowed|divorced) (?:parent|mom|mum|mother|dad|father|man|woman)\b",
    ),
    "diet": (
        r"I B NOW(?: (?:very|severely|highly|badly|slightly|terribly|mildly|deathly|quite|really|extremely))* (?:allergic|intolerant) (?:to|of) (?P<value>[\w-]+)",
        r"I H NOW(?: been)?(?: (?:an?|strictly|fully|mostly|type [12]))* (?P<value>(?:[\w-]+[ -])?(?:vegan|vegetarian|pescatarian|coeliac|celiac|diabetic|intolerant))\b",
        r"I H NOW (?:have|has|got|suffer from|suffers from)(?: (?:an?|the|some|my))* (?P<value>(?:(?!no\b|any\b)[\w-]+ ){0,3}(?:allergy|allergies|intolerance|(?:coeliac|celiac) disease|diabetes))\b",
        r"MY (?P<value>(?:[\w-]+ ){0,2}(?:allergy|allergies|intolerance))\b(?! (?:tests?|season))",
        r"I NOW REFUSE(?: really| even| ever)? (?:eat|drink|digest|tolerate|stomach)s?(?: any)? (?!OTHERWISE)(?P<value>[\w-]+)",
        r"I NOW (?:can't|cannot|can not|mustn't|must not|may not|shouldn't) have(?: any)? (?!OTHERWISE)(?P<value>[\w-]+(?: [\w-]+)?)(?=[,.;!]|$| (?:and|or|because|since|but)\b)",
        r"I H NOW (?:avoid|avoids|avoiding|gave up|given up) (?:eating|drinking) (?P<value>[\w-]+)",
        r"(?P<value>[\w-]+) (?:makes?|gives?) ME (?:\w+ ){0,2}(?:sick|ill|hives|rash|rashes|migraines?|cramps|reaction|itchy|bloated)\b",
    ),
    "medicine": (
        r"I H NOW(?: been)? (?:takeV|taking|on|using|useV|injectV)(?: (?:an?|the|my))? (?P<value>[\w-]+(?: [\w-]+){0,2} \d[\d.,]* ?DOSE|\d[\d.,]* ?DOSE (?:of )?[\w-]+)",
        r"I H NOW(?: been)? (?:takeV|taking|on|using|useV)(?: (?:an?|the|my|some))? (?P<value>(?:[\w-]+ ){0,2}(?:medication|medicine|pills?|tablets?|antibiotics?|insulin|inhaler|statins?|blood thinners?|beta blockers?|painkillers?|antidepressants?))\b",
        r"I H NOW(?: been)? (?:takeV|taking)(?: (?:an?|the|my|some))? (?P<value>[\w-]+(?: [\w-]+)?) for (?:MY|the) (?:[\w-]+ )?(?:pressure|thyroid|heart|asthma|pains?|migraines?|allergy|allergies|cholesterol|diabetes|sleep|anxiety|depression|epilepsy|stomach|reflux)\b",
        r"prescribed ME (?P<value>(?:[\w-]+ ){0,2}[\w-]+)",
        r"(?:doctor|gp|cardiologist|psychiatrist|specialist|dermatologist|neurologist) (?:has )?put ME on (?P<value>[\w-]+)",
        r"I (?:was|were|am|is|been) (?:just |now |recently )?prescribed (?P<value>[\w-]+)",
    ),
    "pet": (
        r"MY (?:[\w-]+ ){0,2}(?P<value>ANIMAL)\b",
        r"I H NOW (?:got|adopted|have|has|ownV|keepV|bought|rescued)(?: (?!to\b)[\w-]+){1,3} (?P<value>ANIMAL)\b",
    ),
    "child": (
        r"MY (?:[\w-]+ ){0,2}(?P<value>sons?|daughters?|kids?|child|children|twins|toddler|baby|boys|girls)\b",
        r"I H NOW (?:have|has|got|had|adopted|expecting)(?: (?!to\b)[\w-]+){1,2} (?P<value>sons?|daughters?|kids?|child|children|twins|baby|boys?|girls?)\b",
    ),
    "instrument": (
        r"SELF(?:play|plays|playing|played|learn|learns|learning|practi[cs]e|practi[cs]es|practi[cs]ing|took up|taken up|started|lessons? (?:in|on)|own)(?: (?:the|my|a|an|some|acoustic|electric|bass|classical|\w+ing))*"
        r" (?P<value>INSTRUMENT)\b",
        r"I (?:[\w'-]+ ){0,4}(?:play|playing|learn|learning|practi[cs]e|practi[cs]ing)s?(?: [\w-]+){0,2} (?P<value>INSTRUMENT)\b",
        r"MY (?:[\w-]+ )?(?P<value>INSTRUMENT)\b",
    ),
}
LISTS: Final = frozenset({"diet", "medicine", "pet", "child", "instrument"})
"""Slots that have several values at a time: a newer statement does not outdate an older one."""
_TERMS: Final[Mapping[str, str]] = {
    "REFUSE": r"(?:can't|cannot|can not|mustn't|must not|shouldn't|should not|may not|don't|do not|doesn't|does not|never|no longer|won't"
    r"|(?:am|is|are|'m|'s) not allowed to)",
    "OTHERWISE": r"(?:it|that|this|there|you|him|her|them|me|at|out|much|enough|well|before|after|until|alone|breakfast|lunch|dinner|both|everything|any ?more)\b",
    "DOSE": r"(?:mg|mcg|µg|ml|g|units?|iu)",
    "ANIMAL": r"(?:dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|bunny|bunnies|hamsters?|guinea pigs?|parrots?|budgies?|canary|canaries|tortoises?|turtles?"
    r"|horses?|pony|ponies|goldfish|lizards?|geckos?|snakes?|ferrets?|chickens|hens)",
    "INSTRUMENT": r"(?:piano|keyboard|guitar|violin|viola|cello|double bass|drums|flute|clarinet|oboe|bassoon|trumpet|trombone|tuba|saxophone|sax|harp|ukulele|banjo"
    r"|accordion|harmonica|mandolin|recorder|bagpipes|organ)",
    "FOOD": r"(?:foods?|dish(?:es)?|meals?|ingredients?|drinks?|things?|fruits?|nuts)",
    "EAT": r"(?:eat|have|drink|be served|be given|be fed)",
    "SHUN": r"(?:(?:(?:must|should|has to|have to|needs? to|ought to|had better) )?(?:avoid|stay away from|keep away from|leave out|skip)s?(?: eating)?"
    r"|(?:am|is|are|'m|'s) (?:allergic|intolerant) (?:to|of))",
    "AILMENT": r"(?:food )?(?:allerg(?:y|ies)|intolerances?|dietary (?:needs?|restrictions?|requirements?))",
}
"""What the words in capitals of forms and questions mean, beside those of `_stating`."""
_QUESTIONS: Final = (
    ("name", r"what(?:'s| is| was) (?P<owner>.+?) (?:full |real |first )?name"),
    ("name", r"what (?:am|is|are) (?P<holder>.+?) (?:called|named)"),
    ("home", r"where (?:do|does|am|is|are) (?P<holder>.+?) (?:NOW )?(?:live|living|based|reside)"),
    ("home", r"what(?:'s| is) (?P<owner>.+?) (?:home ?town|address|home address)"),
    ("home", r"(?:which|what) (?:city|town|country|place) (?:do|does|am|is) (?P<holder>.+?) (?:live|living)(?: in)?"),
    (
        "work",
        r"(?:where|for whom|who) (?:do|does|am|is) (?P<holder>.+?) (?:NOW )?(?:work|working|employed)(?: for| at)?",
    ),
    ("work", r"(?:what|which) company (?:do|does) (?P<holder>.+?) work (?:for|at)"),
    ("work", r"(?:who|what|which company)(?:'s| is) (?P<owner>.+?) employer"),
    ("job", r"what(?:'s| is) (?P<owner>.+?) (?:job|profession|occupation)"),
    ("job", r"what (?:do|does) (?P<holder>.+?) (?:do for (?:a living|work)|work as)"),
    (
        "pay",
        r"(?:what|how much) (?:do|does|am|is) (?P<holder>.+?) (?:earn|earning|make|making|paid|get paid)(?: (?:a|per|each) (?:month|year))?",
    ),
    ("pay", r"(?:what(?:'s| is)|how much is|how high is) (?P<owner>.+?) (?:salary|pay|income|wage)"),
    ("age", r"how old (?:am|is|are) (?P<holder>.+?)"),
    ("age", r"what(?:'s| is) (?P<owner>.+?) age"),
    ("birthday", r"(?:when|what day|what date)(?:'s| is) (?P<owner>.+?) birthday"),
    ("birthday", r"when (?:was|were) (?P<holder>.+?) born"),
    ("marriage", r"(?:am|is|are) (?P<holder>.+?) (?:married|single|divorced|engaged)"),
    ("marriage", r"what(?:'s| is) (?P<owner>.+?) (?:marital|relationship) status"),
    (
        "diet",
        r"(?:is|are) there (?:(?:any|some) (?:(?:kinds? of )?FOOD)|anything|something)(?: that| which)? (?P<holder>.+?)(?: REFUSE EAT| SHUN|'[ms] (?:allergic|intolerant) (?:to|of))",
    ),
    (
        "diet",
        r"(?:what|which)(?: (?:kinds? of )?FOOD)? (?:can't|cannot|mustn't|shouldn't|don't|doesn't|won't) (?P<holder>.+?) EAT",
    ),
    (
        "diet",
        r"(?:what|which)(?: (?:kinds? of )?FOOD)? (?:can|must|should|do|does|may) (?P<holder>.+?) (?:(?:not|never) EAT|(?:(?:have|need) to )?(?:avoid|stay away from|leave out)(?: eating)?)",
    ),
    (
        "diet",
        r"(?:what|which)(?: (?:kinds? of )?FOOD)? (?:is|are) (?:bad|dangerous|off limits|forbidden|not good|not safe) for (?P<holder>.+?)",
    ),
    ("diet", r"what(?: FOOD)? (?:am|is|are) (?P<holder>.+?) (?:allergic|intolerant) (?:to|of)"),
    ("diet", r"(?:am|is|are) (?P<holder>.+?) (?:allergic|intolerant)(?: (?:to|of) (?:anything|something|any [\w ]+))?"),
    ("diet", r"(?:do|does) (?P<holder>.+?) have (?:any|an|some|a) AILMENT"),
    ("diet", r"(?:what|which) AILMENT (?:do|does) (?P<holder>.+?) have"),
    ("diet", r"what(?:'s| is| are) (?P<owner>.+?) (?:AILMENT|diet)"),
    (
        "diet",
        r"(?:what|anything) (?:should|must) (?:i|we|you|one) (?:know|consider|keep in mind|watch out for|avoid|leave out) (?:when|before|if) (?:i'm |i am |you're |we're )?(?:cook|cooking|i cook|you cook|we cook) (?:dinner |lunch |a meal |something )?for (?P<holder>.+?)",
    ),
    (
        "medicine",
        r"(?:what|which) (?:medications?|medicines?|pills?|tablets?|drugs?|meds) (?:do|does|am|is|must|should) (?P<holder>.+?) (?:have to |need to )?(?:take|taking|on|use|using)",
    ),
    (
        "medicine",
        r"(?:do|does|am|is) (?P<holder>.+?) (?:take|taking|on|use|using) (?:any|some) (?:[\w]+ )?(?:medications?|medicines?|pills?|tablets?|drugs?|meds)",
    ),
    ("medicine", r"what(?:'s| is| are) (?P<owner>.+?) (?:medications?|medicines?|meds|prescriptions?)"),
    ("medicine", r"what (?:am|is|was|were) (?P<holder>.+?) prescribed"),
    ("pet", r"(?:do|does) (?P<holder>.+?) (?:have|own|keep) (?:any |a )?(?:pets?|animals?)"),
    ("pet", r"(?:what|which|how many) (?:(?:kinds? of )?pets?|animals?) (?:do|does) (?P<holder>.+?) (?:have|own|keep)"),
    ("pet", r"(?:who|what)(?:'s| is| are) (?P<owner>.+?) pets?"),
    ("child", r"(?:do|does) (?P<holder>.+?) have (?:any )?(?:kids|children|a family)"),
    ("child", r"how many (?:kids|children) (?:do|does) (?P<holder>.+?) have"),
    ("child", r"who(?:'s| is| are) (?P<owner>.+?) (?:kids|children)"),
    (
        "child",
        r"what are (?P<owner>.+?) (?:kids|kids'|children|children's|children'|sons'|daughters'|sons|daughters) names",
    ),
    ("child", r"what are (?:the )?names of (?P<owner>.+?) (?:kids|children|sons|daughters)"),
    ("pet", r"what are (?:the )?names of (?P<owner>.+?) (?:pets|dogs|cats|animals)"),
    ("pet", r"what are (?P<owner>.+?) (?:pets|pets'|dogs|dogs'|cats|cats') names"),
    (
        "instrument",
        r"(?:what|which) (?:musical )?instruments? (?:do|does|can|is|am) (?P<holder>.+?) (?:play|playing|learn|learning|practi[cs]e|practi[cs]ing)",
    ),
    ("instrument", r"(?:do|does|can) (?P<holder>.+?) play (?:any|an|some) (?:musical )?instruments?"),
)
_WORDINGS: Final[Mapping[str, str]] = {
    "name": "name called I'm call",
    "home": "live lives living moved home address",
    "work": "work works working job company employer joined",
    "job": "job work works as profession",
    "pay": "earn salary paid pay income",
    "age": "years old turned age birthday",
    "birthday": "birthday born",
    "marriage": "married husband wife wedding single divorced",
    "diet": "allergic allergy allergies intolerant intolerance eat drink vegan vegetarian coeliac diabetic sick rash hives",
    "medicine": "take taking medication medicine prescribed pills tablets mg insulin inhaler doctor",
    "pet": "dog cat puppy kitten rabbit hamster parrot horse adopted",
    "child": "son daughter kids children twins baby toddler",
    "instrument": "play plays playing piano guitar violin drums flute clarinet trumpet cello saxophone practice learn lessons",
}
_SEVERAL: Final = frozenset({"name", "job"})
"""Slots whose forms say different things: a nickname does not replace a name. Of other slots all forms can be compared."""
_ME: Final = frozenset({"i", "my", "me"})
_OPENINGS: Final = r"(?:so|and|hey|please|remind me|tell me|do you (?:know|remember)|can you tell me)[,:]? "
_OPENING: Final = lazy_regex(_OPENINGS, re.IGNORECASE)
_WORD: Final = lazy_regex(r"[a-z]+", re.IGNORECASE)
_ENDING: Final = r"(?: (?:now|currently|at the moment|right now|these days|nowadays|again|exactly|today))*\s*[?.!]*$"
_SENTENCE: Final = lazy_regex(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?\n]*")
_DOUBTED: Final = lazy_regex(
    r"^\W*(?:if|suppose|imagine|what if|when i (?:was|were)|pretend)\b|\b(?:would|might|could|used to|wish|dream(?:ed|t)? (?:of|that)|thinking (?:of|about)"
    r"|hoping to|want(?:s|ed)? to|plan(?:s|ned|ning)? to|almost|nearly)\b|[\"“”].*[\"“”]",
    re.IGNORECASE,
)
_DENIED: Final = lazy_regex(r"\b(?:not|never|no longer)\b", re.IGNORECASE)
_DENYING: Final = frozenset({"diet"})
"""Slots whose statements may deny something: "I can't eat pork"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One attribute of one holder.

    Attributes:
        name: one of the keys of `_FORMS`: "name", "home", "diet" and so on.
        holder: whose attribute it is, in lower case: "" for the user, else a name ("anna") or a relative ("my sister").
    """

    name: str
    holder: str

    @property
    def is_list(self) -> bool:
        """Whether several values hold at the same time."""
        return self.name in LISTS

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
    first_words = _first_words(text)
    for name, pattern in _QUESTIONS:
        if not first_words.isdisjoint(_leading_words(pattern)) and (match := _asking(pattern).match(text)):
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
        if bare.endswith("?") or _DOUBTED.search(bare) or (slot.name not in _DENYING and _DENIED.search(bare)):
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


def _first_words(text: str) -> set[str]:
    """The first word of a text, and the first one after each of its openings: "so" and "where" of "So, where do I live?"."""
    words: set[str] = set()
    place = 0
    while True:
        if word := _WORD.match(text, place):
            words.add(word[0].casefold())
        if not (opening := _OPENING.match(text, place)):
            return words
        place = opening.end()


@lru_cache(maxsize=64)
def _leading_words(pattern: str) -> frozenset[str]:
    """The words of a question before the holder, of which one begins it. The pattern of another text need not be compiled."""
    return frozenset(re.findall(r"[a-z]+", pattern.split("(?P<", maxsplit=1)[0]))


@lru_cache(maxsize=64)
def _asking(pattern: str) -> re.Pattern[str]:
    meant = _with_terms(pattern).replace(" NOW ", "NOW ").replace("NOW ", _NOW + " ")
    return re.compile(rf"(?:{_OPENINGS})*{meant}{_ENDING}", re.IGNORECASE)


def _with_terms(pattern: str) -> str:
    """A pattern with the meaning of its terms."""
    for term, meaning in _TERMS.items():
        pattern = meaning.join(re.split(rf"\b{term}\b", pattern))
    return pattern


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
        r"\bSELF(?=\(\?:)": r"\b" if by_holder else r"(?!)",
        r"\bME\b": rf"(?:{'|'.join([who, *(('me', 'us') if by_holder else ())])})",
        r" NOW\b": _NOW,
        r" B\b": r"(?: am| is| are|'?m|'s|'re)",
        r" H\b": r"(?: am| is| are| have| has| had|'?m|'s|'re|'ve|'d)?",
        r"WITH\b": r"(?: (?:back|over|away|here|alone|together|part-time|full-time|with \w+(?: \w+)?))*",
        r"(?<=[a-z])V\b": r"s?",
    }
    patterns = []
    for form in _FORMS[name]:
        pattern = _with_terms(form)
        for token, meaning in parts.items():
            pattern = meaning.join(re.split(token, pattern))
        patterns.append(re.compile(pattern, re.IGNORECASE))
    return tuple(patterns)
