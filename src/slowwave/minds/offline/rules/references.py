"""Checks that a statement is self-contained: "it" or "that one" without its noun is useless in a fact."""

import re
from typing import Final

from slowwave.minds.offline.rules.morphology import IRREGULAR_BASES, past_base
from slowwave.minds.offline.rules.words import ADVERBS, ANIMATE, GENERIC, KIN
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS

_TOKEN: Final = re.compile(r"[\w'’-]+|[^\w\s]")
_PERSONS: Final = word_set("he she him her his hers")
_THINGS: Final = word_set("it they them")
_OWNING: Final = word_set("its their theirs themselves")
_JOINS: Final = word_set(
    ", - – ; and but so because 'cause which that when while where if as since or until before after than like"
)
_WEATHER: Final = word_set("rains rained snows snowed freezes")
_HELPERS: Final = word_set("is are was were has have had will would can could did does do 's")
_POINTING: Final = word_set("this that these those")
_ADDRESSED: Final = word_set("you your yours yourself ya u y'all you're you've you'll you'd thy")
_HERE: Final = word_set("here there below above attached")
_AFTER_POINTING: Final = word_set("way one was kind much too")
_AFTER_PRONOUN: Final = word_set("to into with for as from by and or off up out")
_TIMES: Final = word_set(
    "days week weekend month year morning afternoon evening summer winter spring autumn semester term quarter season"
)
_CUT: Final = word_set(
    "a an the and or but to of in on at for with like because since as my our their his her its if when which "
    "that who so very more than from about into is are was were be been am has have had i we they not considering "
    "where by how what"
)
_REPORTED: Final = word_set(
    "so sure glad happy realize realise feel show showed shows mean means ensure think know believe hope realized "
    "realised found said says told learned noticed decided thing fact"
)


_OBJECTLESS: Final = re.compile(
    r"^(?:I|we)(?:['’]ve| have)? (?:\w+ )?(?:quit|stopped|gave up|given up)(?: (?:in|on|last|after|when|since|years?|\d+)\b.*)?$",
    re.IGNORECASE,
)


_POINTING_BACK: Final = re.compile(
    r"\b(?:last|other|next|new|this|that|first|same|big|little|good|old|another|more) ones?\W*$|\b(?:the same|the other|the latter|the former)\W*$|\bthe following\b(?!.*:)|\b(?:as|like|than) before\W*$",
    re.IGNORECASE,
)
"""A noun that was said before the clause: "like our last one"."""


def is_self_contained(text: str, *, person: bool = False) -> bool:
    """Whether every pronoun of a piece follows its noun, the piece addresses no one, and its end is not missing.

    Args:
        text: A piece with its subject; I, my and we refer to the speaker.
        person: Whether its subject is a person ("My sister ..."), to whom he and she can refer.

    >>> is_self_contained("I went to Bern with my sister and she loved it"), is_self_contained("I loved it there")
    (True, False)
    """
    tokens = [t.lower().replace("’", "'") for t in _TOKEN.findall(text)]
    capitals = {t.lower() for t in re.findall(r"(?<=\s)[A-Z]\w+", text)}
    if (
        not tokens
        or _ends_open(tokens)
        or _POINTING_BACK.search(text)
        or _ADDRESSED & set(tokens)
        or _OBJECTLESS.match(text)
    ):
        return False
    nouns, ready, persons, verbs = 0, False, person, 0
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        before = tokens[place - 1] if place else ""
        spoken = ready and (verbs > 0 or before in _JOINS or following in _HELPERS)
        inside = before in {"in", "on"} and nouns > 0 and tokens[place - 2].isalpha() and place + 1 == len(tokens)
        if _dangles(token, before, following, nouns, ready=spoken or inside, persons=persons):
            return False
        persons = persons or token in KIN or token in capitals or token in ANIMATE
        verbs += ready and (_is_verb(token) or token in _HELPERS)
        ready = ready or (nouns > 0 and token in _JOINS)
        nouns += token[0].isalpha() and token not in STOP_WORDS | GENERIC | ADVERBS and not _is_verb(token)
    return True


def points_back(text: str) -> bool:
    """Whether a text has "this", "these" or "those" before anything but a time: "this revised routine".

    >>> points_back("This plan suits me"), points_back("I am free this week")
    (True, False)
    """
    tokens = [t.lower() for t in _TOKEN.findall(text)]
    return any(
        token in {"this", "these", "those"} and after not in _TIMES | {"days"}
        for token, after in zip(tokens, [*tokens[1:], ""], strict=True)
    )


def _is_verb(token: str) -> bool:
    return token in IRREGULAR_BASES or bool(past_base(token))


def _ends_open(tokens: list[str]) -> bool:
    """Whether the last word needs another one after it; "any more" does not."""
    return tokens[-1] in _CUT and tokens[-2:] != ["any", "more"]


_SHOWN: Final = re.compile(
    r"\b(got|had|met|saw|ate|made|took|read|found|bought|adopted|painted|created|by|across|tried|visited) this "
    r"(?!(?:after|before|when|while|for|because|to|in|on|at|with|and|but|so|as|of|is|was|too|up|out|from|by|way|one|kind)\b)(?=[a-z])",
    re.IGNORECASE,
)


def generalise_demonstratives(text: str) -> str:
    """The text with "a" for a "this" that refers to nothing before it, as in "I adopted this cute pup".

    >>> generalise_demonstratives("I made this window"), generalise_demonstratives("I met this old man")
    ('I made a window', 'I met an old man')
    """
    return re.sub(r"\ba (?=[aeio])", "an ", _SHOWN.sub(r"\1 a ", text)) if _SHOWN.search(text) else text


def _dangles(token: str, before: str, following: str, nouns: int, *, ready: bool, persons: bool) -> bool:
    base = token if token in _ADDRESSED else token.split("'", maxsplit=1)[0]
    if base in _PERSONS:
        return not persons
    if base in _THINGS:
        return not ready and not (base == "it" and following in _WEATHER)
    if base in _OWNING:
        return nouns < 1
    if base in {"above", "below"} and (following[:1].isalpha() and following not in _JOINS):
        return False
    if base in _HERE:
        return base != "there" or following not in {"is", "are", "was", "were", "will"}
    return (
        base in _POINTING and following not in _TIMES and not (base == "that" and nouns and _joins(before, following))
    )


def _joins(before: str, following: str) -> bool:
    """Whether a "that" between two words is a conjunction or relative pronoun rather than a demonstrative."""
    if following in _AFTER_PRONOUN and before not in _REPORTED:
        return False
    noun = before.isalnum() and before not in STOP_WORDS | ADVERBS and not _is_verb(before)
    return (before in _REPORTED or noun) and following[:1].isalpha() and following not in _AFTER_POINTING
