"""Decides whether a newer statement supersedes an older one: the same relation of the same holder with another value.

Whether a relation has one value at a time depends on the values: "lives in" has one city, but "likes" has many values. The
functions of `_CAPACITY` answer this for each relation.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from slowwave.policy.comparison.statements import ARTICLES, Attribution, Relation, formed, plain, stems
from slowwave.policy.comparison.subjects import NOT_NAMES
from slowwave.policy.comparison.values import PERHAPS, mentions
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import NUMBER_WORDS, table_words

Capacity = Literal["one", "maybe"] | None
"""How many values a relation has at a time: "one"; "maybe" more; None: surely more, so that nothing is superseded."""

# Attributes with one value at a time. For other attributes only numbers, times and names supersede each other.
_LABELS: Final = table_words("single_valued_labels")
# Relations of which somebody may have several: a second sister does not supersede the first.
_SEVERAL: Final = table_words("repeatable_relations")
# Countries and states: "lives in Belgium" and "lives in Ghent" can both be true.
_WIDE: Final = table_words("regions")
_WORD: Final = lazy_regex(r"\w+")
# Units of `values.ValueMention` that are times.
_TIMES: Final = frozenset({"date", "weekday", "clock", "year"})
_DAYS: Final = lazy_regex(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bevery\b", re.IGNORECASE)
# Words that begin a tail which does not restrict the statement.
_HARMLESS: Final = frozenset({"with", "since", "because", "and", "but", "where", "which", "so"})
_FAVOURITES: Final = frozenset({"favourite", "favorite", "preferred", "default", "main", "primary"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """A newer statement gives another value than an older one.

    Attributes:
        certain: whether the newer statement says that its value is new, and contains everything else of the older one. Only
            then it supersedes the older one; otherwise both stay and are linked.
        new_value: the value of the newer statement.
        old_value: the value of the older statement.
        because: an explanation for a person.
    """

    certain: bool
    new_value: str
    old_value: str
    because: str

    @property
    def explanation(self) -> str:
        """The explanation, which begins with `PERHAPS` if the supersession is not certain."""
        return self.because if self.certain else f"{PERHAPS}: {self.because[0].lower()}{self.because[1:]}"


def supersedes(new: str, old: str, *, called: Collection[str] = ()) -> Supersession | None:
    """Whether a newer fact gives a new value for the relation that an older one states.

    Both must be plain English statements of the same holder and of a relation with one value at a time. The result is certain
    only if the newer one says that its value is new (now, new, moved, switched, changed …) and the older one says nothing else.
    Relations with several values (tastes, visits, pets, tools) are never superseded. The caller must ensure that `new` is
    the later one.

    Args:
        new: The newer fact.
        old: The older one.
        called: Names that are known to mean the same subject.

    Returns:
        Both values and whether it is certain; None if both statements can be true.

    >>> supersedes("Ann now lives in Rome", "Ann lives in Bern").certain  # type: ignore[union-attr]
    True
    """
    names = tuple(called)
    later, earlier = formed(new, called=names), formed(old, called=names)
    if later is None or earlier is None or later.holder != earlier.holder:
        return None
    shared = later.relations & earlier.relations
    if not shared or not _differ(later, earlier):
        return None
    capacities = {_CAPACITY[relation](later, earlier) for relation in shared}
    capacity: Capacity = "one" if "one" in capacities else "maybe" if "maybe" in capacities else None
    if capacity is None or (capacity == "maybe" and not later.new) or _can_both_hold(later, earlier):
        return None
    if not (plain(new) and plain(old)):
        return None
    value, old_value = " ".join(later.value), " ".join(earlier.value)
    certain = capacity == "one" and later.new and later.sure and not earlier.event and _keeps_all(later, earlier)
    because = f"A later statement says {value} where this one says {old_value}: “{new.strip()}”"
    return Supersession(certain=certain, new_value=value, old_value=old_value, because=because)


def _differ(later: Attribution, earlier: Attribution) -> bool:
    """Whether the values differ: neither is a part of the other, and the newer statement does not also contain the older value.

    A change that names the value before it must name the older value.
    """
    left, right = stems(later.value), stems(earlier.value)
    if later.before and stems(later.before) != right:
        return False
    in_tail = stems(_WORD.findall(later.tail))
    return bool(left and right) and not (left <= right or right <= left or right <= in_tail | left)


def _keeps_all(later: Attribution, earlier: Attribution) -> bool:
    """Whether the older statement has no detail that would be lost, and the newer one no restriction."""
    if later.tail == earlier.tail:
        return True
    return not earlier.tail and (not later.tail or _tail_opening(later) in _HARMLESS)


def _can_both_hold(later: Attribution, earlier: Attribution) -> bool:
    """Whether both may be true for different times or circumstances: a tail restricts one, and the newer one is not new."""
    if later.event and earlier.event:
        return bool(later.tail or earlier.tail)
    if (later.value_first or earlier.value_first) and not later.new:
        return True
    restricted = any(s.tail and _tail_opening(s) not in _HARMLESS for s in (later, earlier))
    return not later.new and restricted and later.tail != earlier.tail


def _tail_opening(statement: Attribution) -> str:
    return "and" if statement.tail[0] in ",;(–—-" else statement.tail.split()[0].casefold()


def _value_words(statement: Attribution) -> list[str]:
    return [word for word in statement.value if word.casefold() not in ARTICLES]


def _are_names(*statements: Attribution) -> bool:
    """Whether each value is a name: its first word has a capital and is not in `NOT_NAMES`."""
    first = [_value_words(s)[0] for s in statements]
    return all(word[0].isupper() and word.casefold() not in NOT_NAMES for word in first)


def _is_number(word: str) -> bool:
    return any(c.isdigit() for c in word) or word.casefold() in NUMBER_WORDS


def _differ_in_numbers(later: Attribution, earlier: Attribution) -> bool:
    """Whether the values differ only in numbers."""
    left, right = ([w.casefold() for w in _value_words(s)] for s in (later, earlier))
    pairs = list(zip(left, right, strict=False))
    return len(left) == len(right) and all(a == b or (_is_number(a) and _is_number(b)) for a, b in pairs)


def _are_alternatives(later: Attribution, earlier: Attribution) -> bool:
    """Whether the values exclude each other, or end with the same word (dark mode, light mode)."""
    from slowwave.policy.comparison import vetoes  # noqa: PLC0415 - most questions do without
    from slowwave.policy.comparison.alignment import prepare  # noqa: PLC0415

    left, right = _value_words(later), _value_words(earlier)
    same = len(left) > 1 and len(right) > 1 and left[-1].casefold() == right[-1].casefold()
    return same or vetoes.opposite(prepare(" ".join(left)), prepare(" ".join(right)))


def _place(later: Attribution, earlier: Attribution) -> Capacity:
    if not _are_names(later, earlier):
        return "maybe"
    wide = [not _WIDE.isdisjoint(word.casefold() for word in s.value) for s in (later, earlier)]
    return "one" if wide[0] == wide[1] else "maybe"


def _employer(later: Attribution, earlier: Attribution) -> Capacity:
    if _are_names(later, earlier):
        return "one"
    return None if later.event or earlier.event else "maybe"


def _taste(later: Attribution, earlier: Attribution) -> Capacity:
    return "one" if _are_alternatives(later, earlier) else "maybe"


def _tool(later: Attribution, earlier: Attribution) -> Capacity:
    return "one" if _differ_in_numbers(later, earlier) else "maybe"


def _count(later: Attribution, earlier: Attribution) -> Capacity:
    return "one" if _is_number(later.value[0]) and _differ_in_numbers(later, earlier) else None


def _attribute(later: Attribution, earlier: Attribution) -> Capacity:
    """The relation "be": numbers, times and names have one value; traits and roles of a person may have several."""
    if any(_DAYS.search(" ".join(s.value)) for s in (later, earlier)):
        return "maybe"
    if _differ_in_numbers(later, earlier):
        return "one"
    a_person = len(later.holder) == 1
    if not a_person and _are_of_one_kind(later, earlier):
        return None if _are_names(later) and later.holder[-1] in _SEVERAL else "one"
    return "maybe" if _are_alternatives(later, earlier) else None


def _are_of_one_kind(later: Attribution, earlier: Attribution) -> bool:
    """Whether both values are times, both have numbers, both are names, or the holder has one value at a time."""
    for kind in (_is_time, _has_numbers, _are_names):
        if kind(later) or kind(earlier):
            return kind(later) and kind(earlier)
    return later.holder[-1] in _LABELS or not _FAVOURITES.isdisjoint(later.holder)


def _has_numbers(statement: Attribution) -> bool:
    return any(map(_is_number, statement.value))


def _is_time(statement: Attribution) -> bool:
    return any(mention.unit & _TIMES for mention in mentions(" ".join(statement.value)))


def _whereabouts(later: Attribution, earlier: Attribution) -> Capacity:
    return "maybe" if _are_names(later, earlier) else None


def _part(later: Attribution, earlier: Attribution) -> Capacity:
    """The relation "is a": a person may have several roles (a student, a nurse)."""
    return "maybe" if len(later.holder) == 1 else _attribute(later, earlier)


def _always_one(_: Attribution, __: Attribution) -> Capacity:
    return "one"


def _always_maybe(_: Attribution, __: Attribution) -> Capacity:
    return "maybe"


_CAPACITY: Final[Mapping[Relation, Callable[[Attribution, Attribution], Capacity]]] = MappingProxyType(
    {
        "live": _place,
        "from": _place,
        "work": _employer,
        "role": _always_one,
        "prefer": _taste,
        "report": _always_one,
        "study": _always_maybe,
        "use": _tool,
        "drive": _always_maybe,
        "have": _count,
        "in": _whereabouts,
        "a": _part,
        "be": _attribute,
    }
)
