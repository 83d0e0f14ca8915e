"""The words of every language by which the rules know orders, names, scenes and what is not to be kept."""

import re
import tomllib
from functools import cache
from pkgutil import get_data
from typing import Final

from slowwave.policy.text.lexicon import FOREIGN_EVIDENCE

LANGUAGES: Final = ("english", "german", "french", "spanish", "portuguese")
"""The tables, by the names of their files in `languages`; `docs/languages.md` describes the entries."""


@cache
def _entries(entry: str) -> str:
    """The alternatives of an entry in all languages."""
    found = []
    for language in LANGUAGES:
        data = get_data("slowwave.minds.offline.languages", f"{language}.toml")
        assert data is not None
        found.append(tomllib.loads(data.decode())[entry])
    return "|".join(found)


@cache
def anywhere(entry: str) -> re.Pattern[str]:
    """Matches an entry as whole words anywhere in a text."""
    return re.compile(rf"(?<![\w'’])(?:{_entries(entry)})(?!\w)", re.IGNORECASE)


@cache
def at_start(entry: str) -> re.Pattern[str]:
    """Matches an entry at the start of a text, after marks and a word or two of assent."""
    return re.compile(
        rf"[\W_]*(?:(?:ok(?:ay)?|lol|haha|well|so|and|alright|bon|also|gut)\W+){{0,3}}(?:{_entries(entry)})(?!\w)",
        re.IGNORECASE,
    )


@cache
def abroad() -> re.Pattern[str]:
    """Matches a function word of another language."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(sorted(FOREIGN_EVIDENCE))})(?!\w)", re.IGNORECASE)
