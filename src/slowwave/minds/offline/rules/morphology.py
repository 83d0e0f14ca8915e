"""Forms of English verbs: an irregular table, and rules for all other verbs.

A word counts as a verb if it is in the table, or if the frequency list of English words has its past or its -ing form.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from slowwave.policy.text import word_frequency
from slowwave.policy.text.names import word_set

# Base, past, past participle where they are not the base with -ed.
_IRREGULAR_LINES: Final = """
become became become|begin began begun|bend bent bent|bet bet bet|bite bit bitten|bring brought brought|build built built
buy bought bought|catch caught caught|choose chose chosen|come came come|cut cut cut|deal dealt dealt|dig dug dug|do did done
draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed fed|feel felt felt
fight fought fought|find found found|fly flew flown|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
get got gotten|give gave given|go went gone|grow grew grown|hang hung hung|have had had|hear heard heard|hide hid hidden
hit hit hit|hold held held|hurt hurt hurt|keep kept kept|knit knitted knitted|know knew known|lead led led|leave left left
lend lent lent|let let let|lie lay lain|light lit lit|lose lost lost|make made made|mean meant meant|meet met met
overcome overcame overcome|pay paid paid|put put put|quit quit quit|read read read|rewrite rewrote rewritten|ride rode ridden
ring rang rung|rise rose risen|run ran run|say said said|see saw seen|sell sold sold|send sent sent|set set set|sew sewed sewn
shake shook shaken|shoot shot shot|show showed shown|shut shut shut|sing sang sung|sit sat sat|sleep slept slept
speak spoke spoken|spend spent spent|spread spread spread|stand stood stood|steal stole stolen|stick stuck stuck
split split split|strike struck struck|swear swore sworn|sweep swept swept|swim swam swum|take took taken|teach taught taught
tear tore torn|tell told told|think thought thought|throw threw thrown|understand understood understood|wake woke woken
wear wore worn|win won won|write wrote written|break broke broken|withdraw withdrew withdrawn|undergo underwent undergone
"""
_IRREGULAR: Final = tuple(
    (base, past, participle)
    for line in _IRREGULAR_LINES.strip().splitlines()
    for base, past, participle in (verb.split() for verb in line.split("|"))
)
IRREGULAR_BASES: Final = frozenset(verb[0] for verb in _IRREGULAR)
_PASTS: Final[Mapping[str, str]] = MappingProxyType({past: base for base, past, _ in _IRREGULAR})
_PARTICIPLES: Final[Mapping[str, str]] = MappingProxyType(
    {participle: base for base, _, participle in _IRREGULAR} | {"been": "be", "got": "get"}
)
_SHORTEST_STEM, _SHORTEST_PAST, _SHORTEST_ING = 3, 4, 5  # letters
_VOWELS: Final = "aeiou"
_S_ENDINGS: Final = ("s", "x", "z", "ch", "sh", "o")
_DOUBLED: Final = word_set(
    "plan jog stop chat prefer refer submit commit shop map skip debug transfer drop grab hug nap rob ship slip snap spot step "
    "strip swap tap tip trap trim trip wrap admit permit occur regret control travel cancel label model ban beg clap drag fit"
)
_ED_IN_BASE: Final = word_set(
    "sped fled need feed seed speed weed bleed breed heed exceed proceed succeed embed shed wed shred sled bed red"
)
_MORE_BASES: Final = word_set(
    "adore snore crochet loathe meditate commute procrastinate babysit freelance format log flag"
)
# Nouns, adjectives and adverbs whose spelling is also that of a verb form; a subject before them has not ended.
_RATHER_NOUNS: Final = word_set(
    "work works plan plans class classes call calls test tests shoes glasses lessons team teams water fish dance name names "
    "birthday phone phones school email house home party show shows book books garden train trains study studies bus bike "
    "number numbers address doctor doctors coach nurse partner parents friends time times age ages place places order orders "
    "result results project projects rent date dates flight flights contract contracts favourite favorite family skin hair "
    "back hand hands head face eye eyes ring rings match matches film films park parks paper papers course courses goal goals "
    "budget budgets interest interests needs clothes pants boss host hosts chest drink drinks meal meals trip trips host last "
    "left right own running dancing painting walking driving working training wedding building meeting engineering dating "
    "cooking sleeping hiking swimming drawing writing reading singing teaching gaming evening morning living learning "
    "sound sounds match light lights wound thought thoughts felt saw lead cut set hit rose lay read ground spring"
)


def third_person(base: str) -> str:
    """The third person singular of the present of a verb.

    >>> [third_person(verb) for verb in ("run", "try", "watch", "go", "have", "play", "be")]
    ['runs', 'tries', 'watches', 'goes', 'has', 'plays', 'is']
    """
    if base in {"have", "be"}:
        return {"have": "has", "be": "is"}[base]
    if base.endswith("y") and base[-2:-1] not in tuple(_VOWELS):
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(_S_ENDINGS) else f"{base}s"


def _past_of(base: str) -> str:
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2:-1] not in tuple(_VOWELS):
        return f"{base[:-1]}ied"
    return f"{base}{base[-1]}ed" if base in _DOUBLED else f"{base}ed"


def _ing_of(base: str) -> str:
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return f"{base[:-1]}ing"
    return f"{base}{base[-1]}ing" if base in _DOUBLED else f"{base}ing"


@lru_cache(maxsize=4096)
def is_base(word: str) -> bool:
    """Whether a word is the base form of a verb.

    >>> [is_base(word) for word in ("commute", "bake", "scuba", "went")]
    [True, True, False, False]
    """
    if word in IRREGULAR_BASES or word == "be":
        return True
    if not word.isalpha() or word in {"the", "even"} or word in _PASTS or past_base(word) or _is_third(word):
        return False  # "thing" and "evening" are no forms of verbs
    known = word_frequency.probabilities()
    return _past_of(word) in known or (_ing_of(word) in known and word in known) or word in _MORE_BASES


def is_unknown(word: str) -> bool:
    """Whether English has no such common word; after "I" it is a verb that follows the regular rule."""
    return (
        word.isalpha()
        and word.isascii()
        and word not in word_frequency.probabilities()
        and not word.endswith(("ed", "ing", "ly"))
    )


def _stems(cut: str) -> tuple[str, ...]:
    """The bases that can stand before an ending: hop, hope and, for a doubled letter, hop of "hopp"."""
    undoubled = (cut[:-1],) if len(cut) >= _SHORTEST_STEM and cut[-1:] == cut[-2:-1] else ()
    y = (f"{cut[:-1]}y",) if cut.endswith("i") else ()
    return (*undoubled, *y, f"{cut}e", cut)


def _regular_base(cut: str) -> str:
    """The most frequent base of a verb from what stands before its ending; empty if English has none."""
    known = word_frequency.probabilities()
    found = [stem for stem in _stems(cut) if stem in known or stem in IRREGULAR_BASES]
    return max(found, key=lambda stem: known.get(stem, 0.0)) if found else ""


@lru_cache(maxsize=4096)
def past_base(word: str) -> str:
    """The base of a past form; empty if it is none. An unknown word in -ed follows the regular rule.

    >>> [past_base(word) for word in ("went", "baked", "planned", "tried", "need", "red")]
    ['go', 'bake', 'plan', 'try', '', '']
    """
    if word in _PASTS:
        return _PASTS[word]
    if prefix := next((p for p in ("re", "out", "over") if word.startswith(p) and word.removeprefix(p) in _PASTS), ""):
        return prefix + _PASTS[word.removeprefix(prefix)]
    if not word.endswith("ed") or word in _ED_IN_BASE or len(word) < _SHORTEST_PAST or not word.isalpha():
        return ""
    cut = word[:-2]
    return _regular_base(cut) or (cut if len(cut) >= _SHORTEST_STEM else "")


def participle_base(word: str) -> str:
    """The base of a past participle; empty if it is none.

    >>> [participle_base(word) for word in ("gone", "baked", "been", "dog")]
    ['go', 'bake', 'be', '']
    """
    if word in _PARTICIPLES:
        return _PARTICIPLES[word]
    return past_base(word) if word.endswith("ed") else ""


@lru_cache(maxsize=4096)
def ing_base(word: str) -> str:
    """The base of an -ing form; empty if it is none.

    >>> [ing_base(word) for word in ("running", "baking", "dying", "morning", "thing")]
    ['run', 'bake', 'die', '', '']
    """
    if word in {"dying", "lying", "tying"}:
        return f"{word[0]}ie"
    if not word.endswith("ing") or len(word) < _SHORTEST_ING or word in {"morning", "evening", "thing", "something", "anything", "nothing", "everything", "during", "spring", "king", "ceiling", "sibling", "string", "wedding"}:  # fmt: skip
        return ""
    cut = word[:-3]
    return _regular_base(cut) or cut


@lru_cache(maxsize=4096)
def third_base(word: str) -> str:
    """The base of a third person singular; empty if it is none.

    >>> [third_base(word) for word in ("works", "tries", "watches", "has", "bus")]
    ['work', 'try', 'watch', 'have', '']
    """
    if word in {"has", "uses"}:
        return {"has": "have", "uses": "use"}[word]
    candidates = [word[:-1]] if word.endswith("s") and not word.endswith("ss") else []
    candidates += [word[:-2]] if word.endswith("es") else []
    candidates += [f"{word[:-3]}y"] if word.endswith("ies") else []
    return next(
        (base for base in reversed(candidates) if len(base) > 1 and is_base(base) and third_person(base) == word), ""
    )


def _is_third(word: str) -> bool:
    """Whether a word is a third person singular of an irregular verb ("goes"), or has the form of one of a known past."""
    if not word.endswith("s") or word.endswith("ss"):
        return False
    known = word_frequency.probabilities()
    cut = word[:-1]
    return cut in IRREGULAR_BASES or (cut in known and _past_of(cut) in known)


def finite_base(word: str) -> tuple[str, str]:
    """The base and the form ("present" or "past") of a word that can be the finite verb after a noun, else two empty texts.

    A word that is more often a noun ("works", "classes") is not read as a verb.
    """
    if word in _RATHER_NOUNS:
        return "", ""
    if base := past_base(word):
        return base, "past"
    if base := third_base(word):
        return base, "present"
    return "", ""
