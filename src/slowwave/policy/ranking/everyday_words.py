"""Compares a question and texts in another language than English by the everyday subjects that their words belong to.

"Wo bin ich angestellt?" and "ich arbeite in einer Bank" share no word. The table `policy/data/everyday_words.toml` has for each
language the words of 25 subjects, such as home, work, food and health.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pkgutil import get_data
from typing import Final

from slowwave.policy.text.languages import UNSPACED, content_words, languages
from slowwave.policy.text.tokens import fold, is_unspaced, words

LONGEST: Final = 2_000
"""The characters that are read of one text."""
_UNSPACED_TABLES: Final = ("Japanese",)
"""The tables for questions in a script without spaces, whose words are looked for anywhere in a text."""


def subject_shares(question: str, texts: Sequence[str]) -> list[float] | None:
    """The share of the question's subjects that each text has words of, 0 to 1; None if the question has none.

    Args:
        question: A question in another language than English.
        texts: The texts, in the language of the question.

    >>> subject_shares("Wo bin ich angestellt?", ["Ich arbeite in einer Bank.", "Es regnet."])
    [1.0, 0.0]
    """
    found = languages(words(question))
    names = _UNSPACED_TABLES if UNSPACED in found else sorted(found & _tables().keys())
    tables = [table for name in names for table in _tables()[name].items()]
    asked = _subjects(question if UNSPACED in found else " ".join(content_words(question)[0]), tables)
    if not asked:
        return None
    wanted = [table for table in tables if table[0] in asked]
    return [len(_subjects(text[:LONGEST], wanted)) / len(asked) for text in texts]


def _subjects(text: str, tables: Iterable[tuple[str, "_Words"]]) -> frozenset[str]:
    """The subjects of these that a text has a word of."""
    folded, found = fold(text), frozenset(words(text))
    return frozenset(
        subject
        for subject, (beginnings, whole, characters) in tables
        if not whole.isdisjoint(found)
        or any(word.startswith(beginnings) for word in found)
        or any(each in folded for each in characters)
    )


_Words = tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]
"""Beginnings of words, whole words, and characters of a script without spaces."""


@cache
def _tables() -> Mapping[str, Mapping[str, _Words]]:
    import tomllib  # noqa: PLC0415 - few questions read the tables

    data = get_data("slowwave.policy", "data/everyday_words.toml")
    assert data is not None
    return {
        language: {subject: _read(line) for subject, line in table.items()}
        for language, table in tomllib.loads(data.decode()).items()
    }


def _read(line: str) -> _Words:
    entries = line.split()
    unspaced = tuple(entry for entry in entries if is_unspaced(entry[:2]))
    spaced = [entry for entry in entries if not is_unspaced(entry[:2])]
    whole = frozenset(entry.removesuffix(".") for entry in spaced if entry.endswith("."))
    return tuple(entry for entry in spaced if not entry.endswith(".")), whole, unspaced
