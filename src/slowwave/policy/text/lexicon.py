"""English word tables, read once from `policy/data/english.json`, and the characters of Chinese in `policy/data/hanzi.txt`.

A table of the file is a list of lines; words in a line are separated by spaces. Regular expressions and single short lists
stay in the modules that use them.
"""

import json
from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from types import MappingProxyType
from typing import Final


@cache
def _tables() -> Mapping[str, list[str]]:
    data = get_data("slowwave.policy", "data/english.json")  # importlib.resources takes ten times as long to import
    assert data is not None
    tables: Mapping[str, list[str]] = json.loads(data)
    return tables


@cache
def simplified() -> Mapping[int, str]:
    """The simplified character of each traditional one of Chinese, for `str.translate`; `tools/write_hanzi.py` writes them.

    >>> "廣東".translate(simplified())
    '广东'
    """
    data = get_data("slowwave.policy", "data/hanzi.txt")
    assert data is not None
    traditional, plain = data.decode().splitlines()
    return {ord(character): other for character, other in zip(traditional, plain, strict=True)}


def table_lines(table: str) -> tuple[tuple[str, ...], ...]:
    """The words of each line of a table.

    >>> table_lines("months")[0][:2]
    ('January', 'February')
    """
    return tuple(tuple(line.split()) for line in _tables()[table])


def table_words(table: str) -> frozenset[str]:
    """The words of all lines of a table.

    >>> sorted(table_words("negating_prefixes"))
    ['dis', 'im', 'in', 'ir', 'non', 'un']
    """
    return frozenset(word for line in table_lines(table) for word in line)


def word_numbers(table: str) -> Mapping[str, int]:
    """Word -> number, of a table whose lines begin with the number of their words.

    >>> word_numbers("ordinals")["twice"]
    2
    """
    return MappingProxyType({word: int(number) for number, *words in table_lines(table) for word in words})


PREPOSITIONS: Final = table_words("prepositions")
FORMS_OF_BE: Final = table_words("forms_of_be")
AUXILIARIES: Final = table_words("auxiliaries")
NEGATIONS: Final = table_words("negations")
FUNCTION_WORDS: Final = PREPOSITIONS | AUXILIARIES | NEGATIONS | table_words("other_function_words")
"""Words that carry grammar rather than content. Comparison counts prepositions separately."""
EMPTY_NOUNS: Final = table_words("empty_nouns")
"""Nouns too general to distinguish two facts."""

ENGLISH_EVIDENCE: Final = table_words("english_evidence")
"""Function words of English that no other widely written language has."""
FOREIGN_EVIDENCE: Final = table_words("foreign_evidence") - FUNCTION_WORDS
"""Function words of other languages that are not English words."""

IRREGULAR: Final[Mapping[str, str]] = MappingProxyType(
    {form: line[0] for line in table_lines("irregular_forms") for form in line}
)
"""Irregular form -> the form that is stemmed in its place. Porter's rules cannot derive these."""
PAST: Final = table_words("irregular_past")
"""Past forms that do not end in -ed."""
PARTICIPLES: Final = table_words("irregular_participles")
"""Participles that end neither in -ed nor in -en: they distinguish a passive ("made by") from a place ("standing by")."""

CARDINALS: Final = word_numbers("cardinals")
ORDINALS: Final = word_numbers("ordinals")
"""First to tenth, once and twice."""
NUMBER_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        word: str(number)
        for number_words in (CARDINALS, ORDINALS)
        for word, number in number_words.items()
        if number != 1  # "one" is as often an article or a pronoun, "first" an adverb
    }
)
"""Number word -> its digits, as the comparison of two facts reads them."""

QUANTITIES: Final = table_words("quantities")
COMPARISONS: Final = table_words("comparisons")
MODALS: Final = table_words("modals")
"""Words that make a statement a wish, a doubt, a beginning or an end. A fact and the wish for it are two facts."""
TIME_WORDS: Final = table_words("time_words") - {"may", "sun", "sat", "march", "mar"}
CAPITALISED_TIMES: Final = table_words("capitalised_times")
"""Names of months and weekdays that are also plain words: they count as times only with a capital."""

EXCLUSIVE: Final = tuple(tuple(tuple(place.split("/")) for place in line) for line in table_lines("exclusive_sets"))
"""Sets of words that exclude each other: two facts that differ by words of two places of one set have different meanings.

The words of one place are synonyms; in the file they are joined by "/".
"""
PREFIXES: Final = table_lines("negating_prefixes")[0]
