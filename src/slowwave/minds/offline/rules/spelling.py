"""Writes casual English as the grammar of the rules expects it: "im" as "I'm", a missing subject as "I"."""

import re
from typing import Final

from slowwave.minds.offline.rules.morphology import finite_base, ing_base, is_base, past_base, third_base
from slowwave.minds.offline.rules.words import JOBS, TOLERATING
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS
from slowwave.policy.text.word_frequency import commonest

_CASUAL: Final = {
    "im": "I'm", "i'm": "I'm", "ive": "I've", "i've": "I've", "i'd": "I'd", "i'll": "I'll", "i": "I", "dont": "don't", "didnt": "didn't",
    "doesnt": "doesn't", "havent": "haven't", "hasnt": "hasn't", "cant": "can't", "cannot": "can't", "wont": "won't", "isnt": "isn't",
    "arent": "aren't", "wasnt": "wasn't", "hes": "he's", "shes": "she's", "thats": "that's", "pls": "please", "plz": "please",
    "atm": "at the moment", "rn": "at the moment", "w/": "with", "bc": "because", "cuz": "because", "'cause": "because",
    "fav": "favourite", "fave": "favourite", "aint": "ain't", "couldnt": "couldn't", "wouldnt": "wouldn't", "b/c": "because",
    "weve": "we've", "theyre": "they're", "theyve": "they've", "youre": "you're", "theres": "there's", "whats": "what's", "werent": "weren't",
    "shouldnt": "shouldn't", "hadnt": "hadn't", "itll": "it'll", "u": "you", "ur": "your", "w": "with", "tmrw": "tomorrow", "tmr": "tomorrow",
    "yrs": "years", "dr": "Dr", "abt": "about", "thx": "thanks", "ppl": "people",
}  # fmt: skip
_TOKEN: Final = re.compile(r"(?<![\w'’/@.-])(?:w/|b/c|'cause|[A-Za-z]+(?:['’][A-Za-z]+)?)(?![\w'’@/])")
_CONTRACTED: Final = re.compile(
    r"\b(?!(?:it|he|she|that|there|what|who|here|let|how|where)['’])([A-Za-z]+)['’]s (?=(?P<been>got|been)?(?:called|named|my|our|an?|the|in|at|from|on|not|no|now|still|also|"
    r"allergic|coming|moving|going|getting|having|living|working|starting|turning|visiting|studying|due|off|away|got|been|married|born|expecting|vegan|vegetarian)\b)",
    re.IGNORECASE,
)
_PROPERTY: Final = re.compile(
    r"\b((?:my|our|the) (?:[\w-]+ ){0,3}?(?:colou?r|name|number|address|birthday|code|size|job|age|password|title|diet|allergy|postcode|username|handle|budget|deadline|surname|hobby|pin|nickname|goal|dream|[\w-]+ (?:film|movie|book|song|band|food|dish|team|game)))['’]s (?=[\w\d+\"“'‘`@])",
    re.IGNORECASE,
)
"""A property, which owns nothing: "my favourite colour's teal"."""
_BY_THE_WAY: Final = re.compile(r"^(?:by the way|btw)\b[\s,]*|,?\s{1,9}(?:by the way|btw)\b", re.IGNORECASE)
_FAVOURITE: Final = re.compile(r"^(fav(?:ou?rite|e)? [\w-]+)['’]s (?=\w)", re.IGNORECASE)
_DAY_NAME: Final = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|april|june|july|august|september|october|november|december|christmas|easter|english|german|french|spanish|italian|dutch)\b"
    r"|(?<=\bin )may\b(?! (?:be|have|well|not|also)\b)|(?<=\bin )march\b"
)
_LEADING: Final = re.compile(
    r"^(?:(?:finally|recently|just|also|already|still|currently|only|so|and|then|yesterday|tomorrow|last (?:night|week|weekend|month|year|summer|\w+day)|next \w+)\b\s*+,?\s*+)*",
    re.IGNORECASE,
)
_STATIVE: Final = word_set("need want hate love prefer live own like dislike miss")
"""Verbs that are no order without a subject: "need a new dentist"."""
_UNDER_WAY: Final = word_set(
    "look hope plan think fly move learn study work train get try live travel visit save start prepare leave drive take use have"
)
_HELPED: Final = word_set("haven't didn't can't couldn't won't wasn't was have been never")
_PREPOSED: Final = word_set(
    "based given compared related provided supposed used updated added fixed attached needed required included expected left "
    "said thought felt saw found made let read put set cut hit united advanced fed red unlimited limited combined named "
    "called detailed estimated required proposed"
)
"""Participles that begin phrases and headings; they need an object with an article to be a verb."""
_STATED: Final = re.compile(
    r"^(?:born|raised|diagnosed with|allergic to|married|divorced|engaged|retired|laid off|promoted|vegan|vegetarian|pregnant|between jobs|"
    r"on (?:metformin|insulin|medication)|from (?-i:[A-Z]\w+)|(?:big|huge|massive|lifelong|long-?time) fan of|not (?:a (?:big|huge) )?(?:fan of|keen on|into)|into|off to|"
    r"scared of|afraid of|addicted to|obsessed with|originally from|based in|due in)\b",
    re.IGNORECASE,
)
_OF_GERUND: Final = re.compile(r"^[^,]*\b(?:is|are|was|were|has|have|makes?|gives?|helps?|brings?|keeps?|can|will)\b")
_BEEN_BEFORE: Final = word_set("to in at on with married divorced single vegan vegetarian sober off")
_VAGUE_AFTER: Final = word_set("and the this that these those your you it how to is in when what all some more")
_ARTICLE: Final = word_set(
    "a an the my our some two three four five six seven eight nine ten in on at to up out off from for as with"
)

_SHOUTED: Final = re.compile(r"(?<![\w'’-])(?:I|A|[A-Z][A-Z'’]+)(?: (?:I|A|[A-Z][A-Z'’]+))+(?![\w'’-])")
_TELLING: Final = STOP_WORDS - word_set("i a it us am or who")
"""Function words that tell shouting from abbreviations; the words taken out may be some."""
_COMMON: Final = 2_000  # the most frequent words; of rarer ones capitals may be a part


def spelled_out(text: str) -> str:
    """The text with apostrophes and a capital I where casual writing leaves them out, and without shouting.

    >>> spelled_out("im 19 and i dont smoke")
    "I'm 19 and I don't smoke"
    >>> spelled_out("my sister's a nurse")
    'my sister is a nurse'
    >>> spelled_out("I GOT THE JOB AT NASA")
    'I got the job at NASA'
    """
    text = _SHOUTED.sub(lambda m: _calmed(m.group()), text)
    text = _TOKEN.sub(lambda m: _CASUAL.get(m.group().lower().replace("’", "'"), m.group()), text)
    text = re.sub(
        r"\b(I|[Ww]e)['’]ve (?=(?:an?|no|two|three|four|five|\d+|the) (?!(?:been|had|got)\b))", r"\1 have ", text
    )
    text = _BY_THE_WAY.sub("", text)
    text = _DAY_NAME.sub(lambda m: m.group().capitalize(), text)
    text = _FAVOURITE.sub(lambda m: f"my {m[1].lower()} is ", _PROPERTY.sub(r"\1 is ", text))
    return _CONTRACTED.sub(lambda m: f"{m[1]} {'has' if m['been'] else 'is'} ", text)


def _calmed(shouted: str) -> str:
    """Words in capitals with the common ones in lower case, if a function word shows that they are no abbreviations."""
    found = shouted.split()
    if _TELLING.isdisjoint(word.lower() for word in found):
        return shouted
    common = commonest(_COMMON)
    return " ".join(word.lower() if word.lower() in common and word != "I" else word for word in found)


def with_subject(text: str) -> str | None:  # noqa: PLR0911 - each return is a form of sentence
    """A sentence without its subject, with "I" added; None for any other text.

    >>> with_subject("started at Acme last week"), with_subject("haven't smoked for a year"), with_subject("born in Porto")
    ('I started at Acme last week', "I haven't smoked for a year", 'I was born in Porto')
    """
    lead = _LEADING.match(text)
    before, rest = (lead.group(), text[lead.end() :]) if lead else ("", text)
    words = rest.split()
    if len(words) <= 1:
        return None
    head, following = words[0].lower().strip(",").replace("’", "'"), words[1].lower().strip(",").replace("’", "'")
    rest = f"{rest[:1].lower()}{rest[1:]}" if rest[:1].isupper() and rest[1:2].islower() else rest
    kept = re.sub(r"\b(?:just|so|and|then|also)\b\s*,?\s*", "", before, flags=re.IGNORECASE).strip(" ,")
    kept = (
        f"{kept}, "
        if kept.lower().startswith(("yesterday", "last", "next", "tomorrow"))
        else f"{kept} "
        if kept
        else ""
    )
    opened = kept if kept.endswith(", ") else ""
    adverb = "" if opened else kept
    if _STATED.match(rest):
        rest = re.sub(r"^(?=(?:big|huge|massive|lifelong|long-?time) fan)", "a ", rest)
        helper = "was" if re.match(r"(?:born|raised|diagnosed|laid off|promoted)\b", rest) else "am"
        return f"{opened}I {helper} {adverb.lower()}{rest}"
    if (head in {"gonna", "gunna"} and following != "be") or (
        head == "going" and following == "to" and words[2:] and is_base(words[2].lower())
    ):
        return f"{opened}I am {adverb.lower()}{rest}"
    if head == "never" and is_base(following) and following not in TOLERATING and not past_base(following):
        return None  # an order: "never let anything stop you"
    if (
        head == "been"
        and (
            ing_base(following) or following in _BEEN_BEFORE or not JOBS.isdisjoint(word.lower() for word in words[1:5])
        )
    ) or (head in _HELPED and (ing_base(following) or past_base(following) or is_base(following) or head == "was")):
        return f"{opened}I {'have ' if head == 'been' else ''}{adverb.lower()}{rest}"
    if (head in _STATIVE and following not in _VAGUE_AFTER) or (_is_past(head, following) and not head.endswith("'s")):
        return f"{opened}I {adverb.lower()}{rest}"
    if ing_base(head) in _UNDER_WAY and following in _ARTICLE | {"forward"} and not _is_gerund(rest):
        return f"{opened}I am {adverb.lower()}{rest}"
    return None


def _is_gerund(rest: str) -> bool:
    """Whether a second verb follows an -ing form, which is then a subject: "Starting a business takes courage"."""
    before = (
        re.split(r",|\band\b(?! \w+ing\b)|\b(?:but|who|that|which|when|where|because|so|as)\b", rest)[0].lower().split()
    )
    return bool(_OF_GERUND.search(" ".join(before))) or any(
        third_base(word) and finite_base(word)[0] for word in before[3:]
    )


def _is_past(head: str, following: str) -> bool:
    base = past_base(head)
    if not base or head == base:
        return False
    if head == "got":
        return following not in {"it", "you", "this", "that"}
    return is_base(base) and (
        head not in _PREPOSED or following in _ARTICLE - {"on", "to", "as", "for", "from", "in", "with"}
    )
