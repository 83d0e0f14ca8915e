"""A cache of a number for each word, for checks in which the number of most words is 0."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Final

KEY: Final = 4
"""Letters of the beginning of a word by which it is looked up."""
_MOST_KNOWN: Final = 20_000
"""Words that a `WordCache` keeps. If there are more, all of them are removed."""
_LONGEST_KNOWN: Final = 40
"""Letters of the longest word that a `WordCache` keeps."""


class WordCache(dict[str, int]):
    """A number for each word, such as bits that say what it is; computed once, as most words of a text were in others.

    Args:
        compute: the number of a word.
    """

    def __init__(self, compute: Callable[[str], int]) -> None:
        super().__init__()
        self._compute = compute
        self._zero: set[str] = set()

    def __missing__(self, word: str) -> int:
        found = self._compute(word)
        if len(word) <= _LONGEST_KNOWN:
            if len(self) >= _MOST_KNOWN:
                self.clear()
                self._zero.clear()
            self[word] = found
            if not found:
                self._zero.add(word)
        return found

    def telling(self, words: frozenset[str]) -> frozenset[str]:
        """The words whose number is not known to be 0. That of most words is 0."""
        return words - self._zero

    def of(self, words: frozenset[str]) -> int:
        """The bits of all these words together."""
        return reduce(or_, map(self.__getitem__, self.telling(words)), 0)
