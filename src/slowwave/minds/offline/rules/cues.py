"""Patterns that are tried only on texts with one of their words: most messages have none, and a search for a word is cheap."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from slowwave.policy.text.lazy_regex import lazy_regex


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern and the words without which it cannot match.

    Attributes:
        pattern: The pattern.
        needs: Groups of lower-case parts of words; of each group at least one must be in the text.
    """

    pattern: re.Pattern[str]
    needs: tuple[tuple[str, ...], ...]

    def find(self, text: str, lower: str, place: int = 0) -> Iterator[re.Match[str]]:
        """The matches from a place on; `lower` is the text in lower case."""
        if all(any(word in lower for word in group) for group in self.needs):
            yield from self.pattern.finditer(text, place)


def cue(pattern: str, *needs: str, flags: int = re.IGNORECASE) -> Cue:
    """A cue; each of `needs` is a group of words separated by spaces, in which "_" stands for a space."""
    groups = tuple(tuple(word.replace("_", " ") for word in group.split()) for group in needs)
    return Cue(lazy_regex(pattern, flags), groups)
