"""Names the person whom "him", "her" or "his name" means in a clause after the one that names them."""

import re
from typing import Final

from slowwave.minds.offline.rules.company import MEN, WOMEN
from slowwave.minds.offline.rules.morphology import is_base
from slowwave.minds.offline.rules.pronouns import plain
from slowwave.minds.offline.rules.words import KIN, PLURAL_KIN
from slowwave.policy.text.names import word_set

_BEGINS: Final = re.compile(r"(?:I|I['’](?:m|ve|d|ll)|we|we['’](?:re|ve|ll|d))\b", re.IGNORECASE)
_PRONOUN: Final = re.compile(r"\b(?P<which>him|her|his|he|she)\b(?P<after>\s+[\w'’-]+)?", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"^(?P<whose>his|her|its|their) name(?: is|['’]s) (?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?)(?=$|[,;]| and\b| but\b)",
    re.IGNORECASE,
)
_CALLED: Final = re.compile(
    r"^(?P<who>he|she|it|they)(?:['’]s| is|['’]re| are) (?:called|named) (?P<name>[A-Z][\w'’-]+)", re.IGNORECASE
)
_OWNED: Final = re.compile(
    rf"\b(?P<whose>my|our|an?) (?:(?:new|little|old|older|younger|big|baby|cute|rescue|first|second|late|twin|[a-z]+ month old) )*(?P<noun>{'|'.join(sorted(KIN - PLURAL_KIN - {'family'}))})(?P<name> [A-Z][a-z]\w+)?\b"
)
_GOT: Final = re.compile(
    r"(?:I|we)(?:['’]ve| have)?(?: (?:just|recently|also|finally|once|now))* (?:have|had|got|gotten|adopted|bought|rescued|welcomed|own)\b",
    re.IGNORECASE,
)
"""What makes "a son" the speaker's own."""
_LETTING: Final = re.compile(
    r"\b(?:help|helps|helped|helping|let|lets|letting|make|makes|made|making|see|saw|seeing|hear|heard|watch|watched|watching|have|had) $",
    re.IGNORECASE,
)
_OTHER: Final = re.compile(
    rf"(?<=[a-z,] )[A-Z][a-z]+|\b(?:my|our|a|an|the) (?:[a-z-]+ ){{0,2}}?(?:{'|'.join(sorted(KIN | {'woman', 'man', 'girl', 'boy', 'guy', 'lady', 'person'}))})\b"
)
_NO_PLACE: Final = re.compile(
    r"(?<=[a-z,] )(?<!\bin )(?<!\bat )(?<!\bto )(?<!\bfrom )(?<!\bon )(?<!\bnear )[A-Z][a-z]+"
)
"""A name that is not after a word of place."""
_AFTER_OBJECT: Final = word_set(
    "in on at to for from with and but or so because when while if as that this next last every since until after before about by of again soon today tomorrow yesterday "
    "up out off over back there here a an the my our very really so much more less"
)


def person_in(text: str) -> str:
    """The only person or pet of the speaker's that a text names, as said ("my sister Ana"); empty for none or several.

    >>> person_in("I visited my sister Ana in Leeds"), person_in("I got a puppy"), person_in("my mum and my dad met")
    ('my sister Ana', 'my puppy', '')
    """
    got = _GOT.match(text)
    found = {
        (one["noun"], (one["name"] or "").strip())
        for one in _OWNED.finditer(text)
        if got or one["whose"] in {"my", "our"}
    }
    if len(found) != 1:
        return ""
    noun, name = found.pop()
    return f"my {noun} {name}".strip()


def only_person_in(text: str) -> str:
    """The person of the speaker's that a message names, if it names no other person; names of places do not count.

    >>> only_person_in("My daughter Mia started school in Bern"), only_person_in("My daughter Mia met Emma")
    ('my daughter Mia', '')
    """
    person = person_in(text[:1].lower() + text[1:])
    others = _NO_PLACE.findall(text)
    return person if person and all(name in person.split() for name in others) else ""


def with_antecedent(text: str, person: str) -> str:
    """A clause of the speaker's with the person for its first "him" or "her", or with whom a name belongs to.

    >>> with_antecedent("I want to visit her in June", "my sister Ana")
    'I want to visit my sister Ana in June'
    >>> with_antecedent("Her name is Coco", "my puppy")
    'my puppy is called Coco'
    """
    if not person:
        return text
    named = _NAMED.match(text) or _CALLED.match(text)
    if named and not re.search(r" [A-Z]", person):
        return f"{person} is called {named['name']}{text[named.end() :]}"
    found = _PRONOUN.search(text) if _BEGINS.match(text) else None
    if found is None or not _fits(found["which"], person) or _names_another(text[: found.start()]):
        return text
    after = plain((found["after"] or "").strip())
    which = found["which"].lower()
    if which in {"he", "she"}:
        stated = person
    elif which == "his" or (which == "her" and after and not _is_object(text[: found.start()], after)):
        stated = f"{person}'s"
    else:
        stated = person
    return f"{text[: found.start()]}{stated}{text[found.end('which') :]}"


def _is_object(before: str, after: str) -> bool:
    """Whether "her" is an object: before a word that is no noun, or after "help" and the like before a verb."""
    return after in _AFTER_OBJECT or (bool(_LETTING.search(before)) and is_base(after))


def _names_another(before: str) -> bool:
    """Whether the words before a pronoun name somebody of its own clause, whom it may mean: "I gave Luna her pills"."""
    return bool(_OTHER.search(before))


def _fits(pronoun: str, person: str) -> bool:
    """Whether a pronoun may mean a person: the noun is not one of the other sex."""
    others = WOMEN if pronoun.lower() in {"he", "him", "his"} else MEN
    return others.isdisjoint(person.split())
