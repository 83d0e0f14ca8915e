"""The English verbs and nouns of the rules. Only verbs listed here are rewritten, to avoid wrong rewrites."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from slowwave.policy.text.names import word_set

# Base, past, past participle where they are not the base with -ed.
_IRREGULAR_LINES: Final = """
become became become|begin began begun|bring brought brought|build built built|buy bought bought|catch caught caught
choose chose chosen|come came come|cut cut cut|do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found|fly flew flown|forget forgot forgotten
get got gotten|give gave given|go went gone|grow grew grown|have had had|hear heard heard|hit hit hit|hold held held|hurt hurt hurt
keep kept kept|know knew known|lead led led|learn learned learned|leave left left|lend lent lent|let let let|lose lost lost
make made made|mean meant meant|meet met met|pay paid paid|put put put|quit quit quit|read read read|ride rode ridden|run ran run
say said said|see saw seen|sell sold sold|send sent sent|set set set|show showed shown|sing sang sung|sit sat sat|sleep slept slept
speak spoke spoken|spend spent spent|stand stood stood|swim swam swum|take took taken|teach taught taught|tell told told
think thought thought|understand understood understood|wake woke woken|wear wore worn|win won won|write wrote written
break broke broken|rewrite rewrote rewritten|overcome overcame overcome|shoot shot shot|split split split|spread spread spread
"""
_REGULAR: Final = word_set(
    "accept achieve add adopt adore agree aim analyze apply appreciate arrange ask attend avoid bake balance believe belong "
    "book boost call camp cancel care carry carve celebrate change chat check clean climb coach code collaborate collect "
    "combine commit compete complete compose configure connect consider contribute cook cover craft create cycle dance deal "
    "debug decide decorate delay deploy design develop discover discuss dislike donate dream earn edit enjoy enroll ensure expand "
    "experience explain explore express face fail finalize finish fix focus follow garden graduate guide handle hate help "
    "hike hire host identify implement improve include increase install integrate interview introduce invest invite join jog "
    "kick launch like limit link listen live look love maintain manage map mark marry measure meditate mentor merge migrate move "
    "name need negotiate notice offer open optimize order organize own pack paint park participate pass perform pick plan "
    "plant play post practice practise prefer prepare present prioritize produce publish purchase pursue raise reach receive "
    "recommend record recover redesign reduce refactor refer register relax release relocate remember remove renovate rent "
    "repair replace rescue research reschedule resign restore retire return review save schedule scale score search share "
    "shop sign sketch skip smoke solve sponsor start stay stop store struggle study submit subscribe suffer support surf "
    "switch talk target teach test tour track train transfer transition travel treat try tutor turn update upgrade upload use "
    "utilize value visit volunteer vote wait walk want wash watch welcome wish witness work worship yearn"
)


_DOUBLED: Final = word_set("plan jog stop chat prefer refer submit commit shop map skip debug transfer")


def _past(base: str) -> str:
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ied"
    return f"{base}{base[-1]}ed" if base in _DOUBLED else f"{base}ed"


_IRREGULAR: Final = tuple(
    tuple(verb.split()) for line in _IRREGULAR_LINES.strip().splitlines() for verb in line.split("|")
)
BASES: Final = _REGULAR | {verb[0] for verb in _IRREGULAR}
PASTS: Final = frozenset({_past(b) for b in _REGULAR} | {verb[1] for verb in _IRREGULAR})
PARTICIPLES: Final = frozenset({_past(b) for b in _REGULAR} | {verb[2] for verb in _IRREGULAR} | {"been", "got"})
LEMMAS: Final[Mapping[str, str]] = MappingProxyType(
    {_past(b): b for b in _REGULAR}
    | {form: verb[0] for verb in _IRREGULAR for form in verb[1:]}
    | {"got": "get"}
    | {b: b for b in BASES}
)
MODALS: Final = word_set("can could will would should must may might can't cannot couldn't won't wouldn't shouldn't")
ADVERBS: Final = word_set(
    "also always usually often never still just really recently actually currently already even only ever sometimes mostly "
    "typically generally now finally totally absolutely definitely mainly probably hardly rarely personally originally once then "
    "both especially truly simply regularly normally occasionally primarily successfully eventually officially initially "
    "previously frequently basically too so once again genuinely rather"
)

_S_ENDINGS: Final = ("s", "x", "z", "ch", "sh", "o")


def singular(base: str) -> str:
    """The third person of a verb in the present.

    >>> [singular(verb) for verb in ("run", "try", "watch", "go", "have", "play")]
    ['runs', 'tries', 'watches', 'goes', 'has', 'plays']
    """
    if base == "have":
        return "has"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(_S_ENDINGS) else f"{base}s"


KIN: Final = word_set(
    "mother mom mum father dad parents sister brother siblings son daughter kid kids child children husband wife spouse partner "
    "boyfriend girlfriend fiance fiancé fiancée grandma grandmother grandpa grandfather grandparents aunt uncle cousin niece nephew "
    "family friend friends colleague colleagues coworker coworkers boss manager mentor neighbor neighbour roommate teammate "
    "teacher coach therapist doctor dog dogs cat cats puppy pup kitten pet pets stepson stepdaughter twins baby in-laws"
)
PERSON_WORDS: Final = KIN | word_set(
    "team company client clients lawyer advisor adviser supervisor landlord band class"
)

OF_PEOPLE: Final = word_set("owns leads manages works lives teaches studies plays handles maintains joined")
"""Verbs with a person as subject: they make a fact with one content word after them ("owns the ferry")."""

JOBS: Final = word_set(
    "nurse doctor teacher engineer developer designer writer artist musician student lawyer accountant chef cook baker banker "
    "scientist researcher programmer architect manager consultant analyst photographer painter dancer singer actor actress "
    "producer director editor journalist author professor lecturer tutor therapist counselor counsellor psychologist dentist "
    "pharmacist veterinarian vet mechanic electrician plumber carpenter farmer gardener driver pilot soldier veteran firefighter "
    "officer technician technologist administrator coordinator specialist entrepreneur founder freelancer contractor "
    "parent mom mother dad father vegetarian vegan pescatarian runner volunteer coach trainer athlete blogger librarian "
    "translator economist statistician paralegal owner retiree widow widower grandfather grandmother salesperson realtor broker "
    "barista waiter waitress bartender cashier clerk secretary recruiter biologist chemist physicist mathematician historian "
    "sociologist anthropologist stylist hairdresser tailor"
)
GENERIC: Final = word_set(
    "thing things stuff something everything anything nothing lot lots way ways time times day days fun much good great nice "
    "amazing awesome cool bit one ones kind sort some any more most again back well better best lately far soon here there "
    "together really truly such all both else feeling feelings part point side sense kinda place other others hard happy "
    "positive determined focused upbeat motivated strong optimistic dream dreams vibes self goals journey passion difference chance "
    "step steps tough forward attitude best possible impact life true whole new next last first little lots able ready break try"
)
