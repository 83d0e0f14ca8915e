"""The tables of other languages, read from the TOML files beside this module; `docs/languages.md` describes their format."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pkgutil import get_data
from typing import Any, Final

from slowwave.model.memory import Kind

LANGUAGES: Final = ("german", "french", "spanish")
"""The tables, by the names of their files."""
_PLACES: Final[Mapping[str, str]] = {
    "{name}": r"(?P<name>(?-i:[A-ZÀ-ÖØ-Þ][\w'’.-]+)(?: (?:(?:von|van|de|da|del|della|la|le|du|der|den|zu|y|e) ){0,2}(?-i:[A-ZÀ-ÖØ-Þ][\w'’.-]+)){0,3})",
    "{number}": r"(?P<number>\d{1,3})",
    "{rest}": r"(?P<rest>\S.*)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way to state something.

    Attributes:
        says: Matches a whole clause, in any case.
        fact: The fact in the third person with {who} and the named groups of `says`; empty if the clause is quoted.
        verbs: The verb as said -> in the third person, for {verb}.
        category, kind: Those of the fact.
        words: The least number of words of the clause.
        wish: Whether it is a wish about answers.
        opens: Whether it counts at the beginning of a message only ("I'm Ida").
    """

    says: re.Pattern[str]
    fact: str
    verbs: Mapping[str, str]
    category: str
    kind: Kind
    words: int
    wish: bool
    opens: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One language: the words that show it, what is not a statement, and the ways to state something."""

    name: str
    who: str
    quoted: str
    wish: str
    words: frozenset[str]
    joint: re.Pattern[str]
    opening: re.Pattern[str]
    first: re.Pattern[str]
    also_first: re.Pattern[str]
    second: re.Pattern[str]
    unsure: re.Pattern[str]
    foreign: re.Pattern[str]
    forms: tuple[Form, ...]


@cache
def tables() -> tuple[Table, ...]:
    """Every table, in the order of `LANGUAGES`."""
    return tuple(map(_read, LANGUAGES))


def parse(text: str) -> Table:
    """A table from the text of its file.

    Raises:
        KeyError: if an entry is missing.
        re.error: if an entry is no regular expression.
    """
    entries: dict[str, Any] = tomllib.loads(text)
    return Table(
        name=entries["name"],
        who=entries["who"],
        quoted=entries["quoted"],
        wish=entries["wish"],
        words=frozenset(entries["words"].split()),
        joint=_words(
            rf"(?:\s{{0,9}}[,;]\s{{0,9}}(?:(?:{entries['joins']})\s{{1,9}})?|\s{{1,9}}(?:{entries['joins']})\s{{1,9}})(?=(?:{entries['subjects']})(?<!['’])\b|(?:{entries['subjects']})(?<=['’]))"
        ),
        opening=_words(rf"(?:(?:{entries['openers']})(?!\w)[\s,:;.!–—-]*)+"),
        first=_words(rf"(?<!\w)(?:{entries['first']})(?!\w)"),
        also_first=_words(rf"(?<!\w)(?:{entries['also_first']})(?!\w)"),
        second=_words(rf"(?<!\w)(?:{entries['second']})(?!\w)"),
        unsure=_words(rf"(?<!\w)(?:{entries['unsure']})(?!\w)"),
        foreign=_words(rf"(?<!\w)(?:{entries['foreign']})"),
        forms=tuple(_form(each) for each in entries["statement"]),
    )


def _read(language: str) -> Table:
    data = get_data("slowwave.minds.offline.languages", f"{language}.toml")
    assert data is not None
    return parse(data.decode())


def _form(entry: Mapping[str, Any]) -> Form:
    says = entry["says"]
    for place, pattern in _PLACES.items():
        says = says.replace(place, pattern)
    return Form(
        says=_words(says),
        fact=entry.get("fact", ""),
        verbs=entry.get("verbs", {}),
        category=entry["category"],
        kind=entry.get("kind", "semantic"),
        words=entry.get("words", 0),
        wish=entry.get("wish", False),
        opens=entry.get("opens", False),
    )


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
