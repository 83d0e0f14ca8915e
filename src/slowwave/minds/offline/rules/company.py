"""Who "we", "he" and "she" are, from the clause before."""

import re
from typing import Final

from slowwave.minds.offline.rules.clause import Clause
from slowwave.minds.offline.rules.pronouns import UnclearError, in_third_person, inside
from slowwave.minds.offline.rules.words import ADVERBS, KIN, PLURAL_KIN

_SOMEBODY: Final = rf"(?:(?:my|our) (?:(?!\bown\b)[a-z-]+ ){{0,2}}?(?:{'|'.join(sorted(KIN))})(?: [A-Z]\w+)?(?: and (?:[A-Z]\w+|(?:my )?(?:{'|'.join(sorted(KIN))})))?|(?!(?:I|The|My)\b)[A-Z][a-z]+)"
_WITH: Final = re.compile(rf"\b(?:with|took|brought|joined|met|visited|married) (?P<who>{_SOMEBODY})\b")
_HE_OR_SHE: Final = re.compile(r"^(?P<who>[Hh]e|[Ss]he)(?P<short>['’]s)?\s+")
MEN: Final = frozenset(
    [
        "father",
        "dad",
        "brother",
        "son",
        "husband",
        "boyfriend",
        "fiance",
        "fiancé",
        "grandpa",
        "grandfather",
        "grandad",
        "granddad",
        "uncle",
        "nephew",
        "stepson",
    ]
)
WOMEN: Final = frozenset(
    [
        "mother",
        "mom",
        "mum",
        "sister",
        "daughter",
        "wife",
        "girlfriend",
        "fiancée",
        "grandma",
        "grandmother",
        "granny",
        "nan",
        "aunt",
        "auntie",
        "niece",
        "stepdaughter",
    ]
)


def company_of(clause: Clause, speaker: str) -> str:
    """Who was with the speaker in a clause, as a fact names them; empty if no person is named."""
    if clause.subject == "both":
        return clause.noun
    if clause.subject != "one":
        return ""
    match = _WITH.search(clause.rest)
    try:
        return in_third_person(match["who"], speaker) if match else ""
    except UnclearError:
        return ""


def person_of(clause: Clause) -> str:
    """The person that "he" or "she" means in the next clause, as said ("my sister Anna"); empty if it is unclear."""
    if clause.subject == "named":
        return clause.about
    if clause.subject != "owned" or not clause.of_person or clause.plural:
        return ""
    if clause.verb == "be" and re.fullmatch(r"(?:called |named )?[A-Z]\w+(?: [A-Z]\w+)?", clause.rest):
        return re.sub(r"^(?:called|named) ", "", clause.rest)
    if " and " in clause.noun:
        return ""
    noun = re.sub(r"['’]s (?:\w+ ?)+$", "", clause.noun)
    noun = " ".join(word for word in noun.split() if word.lower() not in ADVERBS)
    return f"my {noun}" if (PLURAL_KIN | {"family"}).isdisjoint(noun.split()) else ""


_THING: Final = re.compile(
    r"^(?P<noun>(?!(?:it|that|this|these|those|they|he|she|we|you|i|my|our|your|there|what|which|who|one|everything|nothing|something)\b)(?:(?:the|a|an) )?[a-z][\w'-]*(?: [\w'-]+){0,2}?)"
    r"(?P<be>['’]s| is| are| was| were| tastes?| smells?| looks?) ",
    re.IGNORECASE,
)
_OF_IT: Final = re.compile(
    r"^(?P<head>I (?:(?:really|absolutely|just|never|don['’]t|can['’]t|cannot|won['’]t|always) )*(?:hate|love|adore|detest|loathe|like|dislike|enjoy|avoid|prefer|stand|eat|drink|touch|watch|read|wear|play|buy|use|cook)) (?P<what>it|them)\b",
    re.IGNORECASE,
)


def thing_of(text: str) -> str:
    """The subject of a sentence about a thing, to which "it" in the next sentence refers; empty if there is none."""
    match = _THING.match(text)
    noun = match["noun"] if match else ""
    return noun[:1].lower() + noun[1:] if noun[1:2].islower() else noun


def with_thing(text: str, thing: str) -> str:
    """The text with the thing for "it" after a verb of taste or use.

    >>> with_thing("I hate it", "aubergine")
    'I hate aubergine'
    """
    match = _OF_IT.match(text)
    return f"{match['head']} {thing}{text[match.end() :]}" if match and thing else text


def joined_by_it(sentence: str, stated: str) -> str:
    """A sentence about a thing with what a fact says of the thing after it.

    >>> joined_by_it("Aubergine is slimy", "The user hates aubergine")
    'Aubergine is slimy and the user hates it'
    """
    thing = thing_of(sentence)
    many = bool(re.match(rf"{re.escape(thing)} (?:are|were)\b", sentence, re.IGNORECASE))
    return f"{sentence} and {inside(stated.replace(thing, 'them' if many else 'it', 1))}"


def with_person(text: str, person: str) -> str:
    """The text with the person for "he" or "she" at its start.

    >>> with_person("She's a pilot", "Tamsin")
    'Tamsin is a pilot'
    """
    match = _HE_OR_SHE.match(text)
    if not person or match is None:
        return text
    other = WOMEN if match["who"].lower() == "he" else MEN
    if not other.isdisjoint(person.split()):
        return text
    return f"{person} {'is ' if match['short'] else ''}{text[match.end() :]}"
