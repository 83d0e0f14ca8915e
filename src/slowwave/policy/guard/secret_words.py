"""Reads the words around secrets in about thirty languages: names, verbs, prepositions, and words that are no value.

They are tables in `policy/data/secret_words.json`; each line of a table has the words of some languages. A language is added
by its words there.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pkgutil import get_data


@cache
def _tables() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    data = get_data("slowwave.policy", "data/secret_words.json")
    assert data is not None
    lines: Mapping[str, list[str]] = json.loads(data)
    return {
        name: tuple(tuple(word.strip() for word in line.split(",")) for line in table) for name, table in lines.items()
    }


def lines_of(name: str) -> tuple[tuple[str, ...], ...]:
    """The words of each line of a table, in the order of the file; KeyError if there is no such table."""
    return _tables()[name]


@cache
def words_of(name: str) -> tuple[str, ...]:
    """All words of a table, in the order of the file; KeyError if there is no such table."""
    return tuple(word for line in lines_of(name) for word in line)


@cache
def word_set(name: str) -> frozenset[str]:
    """All words of a table as a set; KeyError if there is no such table."""
    return frozenset(words_of(name))


def choice(*names: str) -> str:
    """A pattern of the words of some tables, the longest first; KeyError if there is no such table."""
    return choice_of(word for name in names for word in words_of(name))


def choice_of(words: Iterable[str]) -> str:
    """A pattern of some words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def words_about_secrets() -> frozenset[str]:
    """The names of secrets, and the verbs and possessives around them, as single words."""
    tables = ("passwords", "codes", "keys", "recovery_codes", "identities", "copulas", "owners")
    return frozenset(part for table in tables for name in words_of(table) for part in name.split())
