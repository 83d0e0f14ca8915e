"""Decides whether a value in a text is one of the quantity that a question asks for: what is counted or named, and of which item."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

_END: Final = (
    r"(?= (?:have|has|had|do|does|did|are|is|am|was|were|can|could|will|would|should|in|on|at|of|for|per|that|which|who|to|with|from|after|before|when"
    r"|while|used|using|given|set|included|i|we|you|he|she|they)\b|[?,.;!]|$)"
)
_COUNTED: Final = lazy_regex(rf"\bhow (?:many|much) (?P<what>.{{1,200}}?){_END}")
_NAMED: Final = lazy_regex(
    rf"\bwhat(?:'s|’s| is| are| was| were) (?:(?:my|our|the|his|her|their|its) )?(?P<what>.{{1,200}}?){_END}"
)
_OTHER_VALUE: Final = lazy_regex(
    r"\bhow (?:long|often|old|far|big|large|high|fast)\b|\bwhen (?:is|are|does|do|did|will|was|were|should|can|shall)\b|\bwhich [a-z]+\b|\bwhat (?:time|date|day|score|percentage|rate|price|amount|number)\b|\bdeadline\b"
)
_GENERAL: Final = frozenset(
    map(
        stem,
        word_set("total different overall current currently new number exact actual latest now many much amount value"),
    )
)
"""Words of a question that do not tell one quantity from another."""
_PERCENT: Final = frozenset(map(stem, word_set("percentage percent rate accuracy share ratio")))
_PERIODS: Final = {
    stem(form): period
    for period, forms in (
        ("second", "second seconds"),
        ("minute", "minute minutes"),
        ("hour", "hour hours hourly"),
        ("day", "day days daily"),
        ("week", "week weeks weekly"),
        ("month", "month months monthly"),
        ("year", "year years yearly annual annually"),
    )
    for form in word_set(forms)
}
_ORDINALS: Final = {
    form: number
    for number, forms in (
        ("1", "first 1st one initial"),
        ("2", "second 2nd two"),
        ("3", "third 3rd three"),
        ("4", "fourth 4th four"),
        ("5", "fifth 5th five"),
        ("last", "last final"),
        ("next", "next"),
    )
    for form in word_set(forms)
}
_ITEMS: Final = "sprint|phase|milestone|round|quarter|stage|release|semester|draft|module|iteration|exam|test|quiz|trip|race|interview|appointment|meeting"
_LABEL: Final = lazy_regex(
    rf"\b(?P<before>{'|'.join(_ORDINALS)}) (?:[a-z-]+ )?(?:{_ITEMS})s?\b|\b(?:{_ITEMS}) (?:#|no\. ?)?(?P<after>\d{{1,2}}|{'|'.join(_ORDINALS)})\b"
)


@dataclass(frozen=True, slots=True)
class AskedQuantity:
    """What a question asks the value of.

    Args:
        named: The content stems of the quantity: "conditional probability problems".
        counted: Whether the question counts it ("how many"), so that each of its words matters.
        is_value: Whether the question asks for a value at all.
        item: The number of the item that it is about ("the first sprint": "1"); empty without one.
    """

    named: frozenset[str]
    counted: bool
    is_value: bool
    item: str

    def fits(self, unit: frozenset[str], context: frozenset[str]) -> bool:
        """Whether a value with this unit and these words around it is of the quantity."""
        if self.counted:
            return self.named <= unit | context and (not unit or bool(self.named & unit))
        if not self.named:
            return self.is_value
        if self.named & _PERCENT:
            return bool(unit & _SHARES)
        asked, said = _periods(self.named), _periods(unit)
        if asked and said and not asked & said:
            return False
        return bool(unit & _KINDS) or bool(self.named & (unit or context))

    def may_be(self, unit: frozenset[str]) -> bool:
        """Whether a value with this unit may be of the quantity: a share is no count."""
        return not self.counted or bool(self.named & _PERCENT) or not unit & _SHARES


_SHARES: Final = frozenset({"percent", "fraction"})
_KINDS: Final = frozenset({"date", "weekday", "clock", "money", "percent", "fraction", "year"})
"""The units of values that are no plain numbers."""


@lru_cache(maxsize=256)
def asked_quantity(question: str) -> AskedQuantity:
    """What a question asks the value of.

    >>> sorted(asked_quantity("How many project cards are in my gallery?").named)
    ['card', 'project']
    >>> asked_quantity("When does my first sprint end?").item
    '1'
    """
    asked = question.lower()
    counted = _COUNTED.search(asked)
    named = counted or _NAMED.search(asked)
    what = frozenset(stem(word) for word in words(named["what"]) if word not in STOP_WORDS) if named else frozenset()
    return AskedQuantity(
        named=what - _GENERAL,
        counted=counted is not None and bool(what - _GENERAL),
        is_value=named is not None or _OTHER_VALUE.search(asked) is not None,
        item=item_at(asked, 0),
    )


def item_at(sentence: str, place: int) -> str:
    """The number of the numbered item to which a place of a sentence belongs: the nearest one before it, else the next one.

    >>> item_at("sprint 2 ends on april 19, and sprint 1 ended on march 29", 17)
    '2'
    """
    places, labels = _labels(sentence)
    if not labels:
        return ""
    label = labels[max(0, bisect_right(places, place) - 1)]
    return _ORDINALS.get(label, label)


@lru_cache(maxsize=1)  # a sentence has many places
def _labels(sentence: str) -> tuple[list[int], list[str]]:
    """Where the numbers of items are in a sentence, in order, and these numbers."""
    found = [(match.start(), match["before"] or match["after"]) for match in _LABEL.finditer(sentence.lower())]
    return [place for place, _ in found], [label for _, label in found]


def _periods(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(_PERIODS[word] for word in stems if word in _PERIODS)
