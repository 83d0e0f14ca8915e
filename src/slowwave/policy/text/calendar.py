"""Names of months, weekdays and seasons, in the languages whose dates can be read."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache, wraps
from types import MappingProxyType
from typing import Final, TypeVar

from slowwave.policy.text.lexicon import table_lines, table_words, word_numbers

MONTHS: Final = tuple(word for line in table_lines("months") for word in line)
"""January to December."""
WEEKDAYS: Final = table_lines("weekdays")[0]
"""Monday to Sunday."""
LOWER_MONTHS: Final = tuple(map(str.lower, MONTHS))
LOWER_WEEKDAYS: Final = tuple(map(str.lower, WEEKDAYS))

MONTH_NUMBERS: Final[Mapping[str, int]] = MappingProxyType(
    {word: number for number, line in enumerate(table_lines("month_names"), 1) for word in line}
)
"""Lower-case name or abbreviation of a month -> 1..12.

In English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish and Russian.
"""
AMBIGUOUS_MONTHS: Final = table_words("ambiguous_months")
"""Month names that are also words or first names: alone they count only with a capital and after a preposition."""
WEEKDAY_NUMBERS: Final[Mapping[str, int]] = MappingProxyType(
    {word: number for number, line in enumerate(table_lines("weekday_names")) for word in line}
)
"""English weekdays and their abbreviations -> 0 (Monday) .. 6."""
NEAR_DAYS: Final = word_numbers("near_days")
"""Yesterday, today and tomorrow in other languages than English -> days from the day of the message."""
SEASONS: Final[Mapping[str, int]] = word_numbers("seasons")
"""Seasons -> their first month in the northern hemisphere."""

Found = TypeVar("Found")


def cached_by_clock(function: Callable[[str, datetime], Found]) -> Callable[[str, datetime], Found]:
    """A function of a text and the time at which it was said, with a cache of 64 results.

    Equal instants in two zones are one key of a cache, but two days. So the function is called with the reading of the local
    clock, without its zone.
    """
    cached = lru_cache(maxsize=64)(function)

    @wraps(function)
    def of_clock(text: str, at: datetime) -> Found:
        return cached(text, at.replace(tzinfo=None))

    return of_clock
