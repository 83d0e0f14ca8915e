"""Reads texts without the names of those who speak, so that no part of a name is checked as if a text claimed it.

The rules that write facts and summaries name the speaker: "ada99 lives in Berlin", "Agent 007: bought a bicycle". The checks
look for numbers, dates and negations that no message contains, and would find them in such names: the number 99,
the year of "Ann 2024", the negation of "Dr. No". Every fact and summary of these speakers would be refused.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from slowwave.policy.guard.labels import bare_name
from slowwave.policy.text.calendar import LOWER_MONTHS
from slowwave.policy.text.lazy_regex import lazy_regex

_ANONYMOUS: Final = "The user"
"""What replaces a name: the words with which facts name a user whose name is not known. Inside a line they have no capital."""
_STRIPPED: Final = " \t\n,;:-–—.!"
"""Marks that the writer of facts removes from both ends of a text, and therefore from a name that begins it."""
_OBJECT: Final = lazy_regex(r"\b(?:me|us|myself|ourselves|mine|ours)\b", re.IGNORECASE)
_DAY: Final = lazy_regex(r"\b\d{1,2}(?:st|nd|rd|th)? \Z")
"""The number of a day: a month after it is no name."""
_DAY_LONGEST: Final = 6


def without_people(text: str, people: Iterable[str], sources: Iterable[str] = ()) -> str:
    """The text with "The user" for the names of these people.

    A name that has both letters and digits is replaced wherever it stands, any other name where a writer puts the speaker: at
    the beginning of a line, before a possessive ending, and as often as the sources say "me" or "us". Elsewhere "no", "May"
    and "7" are words of the text.

    Args:
        text: a fact or a summary.
        people: names of speakers.
        sources: the messages from which the text was written.

    >>> without_people("ada99 has 2 cats", ["ada99"]), without_people("7: it has 7 rooms", ["7"])
    ('The user has 2 cats', 'The user: it has 7 rooms')
    """
    found = _pattern(frozenset(people))
    if found is None or found.search(text) is None:
        return text
    objects = sum(len(_OBJECT.findall(source)) for source in sources)

    def replaced(match: re.Match[str]) -> str:
        nonlocal objects
        before = text[max(0, match.start() - _DAY_LONGEST) : match.start()]
        if match.lastgroup == "object" and match[0].lower() in LOWER_MONTHS and _DAY.search(before):
            return match[0]
        objects -= match.lastgroup == "object"
        if match.lastgroup == "object" and objects < 0:
            return match[0]
        begins = not match.start() or text[match.start() - 1] == "\n"
        return _ANONYMOUS if begins else _ANONYMOUS.lower()

    return found.sub(replaced, text)


@lru_cache(maxsize=64)  # the facts of one conversation have the same few speakers
def _pattern(people: frozenset[str]) -> re.Pattern[str] | None:
    forms = sorted({form for name in people for form in _forms(name)}, key=len, reverse=True)
    if not forms:
        return None
    names = "|".join(map(re.escape, forms))
    mixed = "|".join(map(re.escape, filter(_is_mixed, forms)))
    parts = [rf"^(?:{names})(?=['’]|\W|$)", rf"(?<!\w)(?:{names})(?=['’]s?\b)"]
    parts += [rf"(?<!\w)(?:{mixed})(?!\w)"] if mixed else []
    return re.compile("|".join([*parts, rf"(?P<object>(?<!\w)(?:{names})(?!\w))"]), re.MULTILINE)


def _forms(name: str) -> frozenset[str]:
    """A name as facts and as the labels of summaries write it."""
    written = {form for each in (name, bare_name("user", name) or "") for form in (each, each.strip(_STRIPPED))}
    lines = {" ".join(form.split()) for form in written}
    return frozenset(form for each in lines for form in (each, each[:1].upper() + each[1:]) if form)


def _is_mixed(name: str) -> bool:
    return any(mark.isdigit() for mark in name) and any(mark.isalpha() for mark in name)
