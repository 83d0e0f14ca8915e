"""Whether a newer statement takes an older one's place: the same thing of the same holder, with another value."""

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

Room = Literal["one", "maybe"] | None
"""How many values a relation has room for: "one" at a time, "maybe" more, None: there is nothing to ask about."""

# What has one value at a time whatever that looks like; of other things figures, times and names count, and traits do not.
_LABELS: Final = table_words("single_valued_labels")
# What one may have several of: a second one is no change.
_SEVERAL: Final = table_words("repeatable_relations")
# A place in which other places lie: who lives in Belgium may well live in Ghent.
_WIDE: Final = table_words("regions")
_WORD: Final = lazy_regex(r"\w+")
_TIMES: Final = frozenset({"date", "weekday", "clock", "year"})
_DAYS: Final = lazy_regex(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bevery\b", re.IGNORECASE)
_HARMLESS: Final = frozenset({"with", "since", "because", "and", "but", "where", "which", "so"})
_FAVOURITES: Final = frozenset({"favourite", "favorite", "preferred", "default", "main", "primary"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """A newer statement gives another value of what an older one says.

    `certain`: it says so in plain words and nothing else of the older one would be lost, so it takes its place; otherwise
    both stay, and a person may look at them. `because` says why, in words.
    """

    certain: bool
    new_value: str
    old_value: str
    because: str

    @property
    def is_uncertain(self) -> str:
        """Why the older one may be outdated; where that is not certain, it is said."""
        return self.because if self.certain else f"{PERHAPS}: {self.because[0].lower()}{self.because[1:]}"


def supersedes(new: str, old: str, *, called: Collection[str] = ()) -> Supersession | None:
    """Tell whether a newer fact gives a new value for what an older one states.

    Both must be plain English statements of one holder and one relation that has room for one value at a time; the newer
    one is certain only if it says so (now, new, moved, switched, changed …), and the older one says nothing besides.
    What one may have several of (tastes, visits, pets, tools) has no successor. That `new` is the later one is for the
    caller to know.

    Args:
        new: The newer fact.
        old: The older one.
        called: Names known to mean one and the same subject.

    Returns:
        Both values and whether it is certain; None if they may well stand side by side.
    """
    names = tuple(called)
    later, earlier = formed(new, called=names), formed(old, called=names)
    if later is None or earlier is None or later.holder != earlier.holder:
        return None
    shared = later.relations & earlier.relations
    if not shared or not _differ(later, earlier):
        return None
    rooms = {_ROOM[relation](later, earlier) for relation in shared}
    room: Room = "one" if "one" in rooms else "maybe" if "maybe" in rooms else None
    if room is None or (room == "maybe" and not later.new) or _aside(later, earlier) or not (plain(new) and plain(old)):
        return None
    value, known = " ".join(later.value), " ".join(earlier.value)
    certain = room == "one" and later.new and later.sure and not earlier.event and _whole(later, earlier)
    because = f"A later statement says {value} where this one says {known}: “{new.strip()}”"
    return Supersession(certain=certain, new_value=value, old_value=known, because=because)


def _differ(later: Attribution, earlier: Attribution) -> bool:
    """Whether neither value is a part of the other, nor the older one said by the newer statement as well.

    A change that says what was before is a change of that.
    """
    left, right = stems(later.value), stems(earlier.value)
    if later.before and stems(later.before) != right:
        return False
    said = stems(_WORD.findall(later.tail))
    return bool(left and right) and not (left <= right or right <= left or right <= said | left)


def _whole(later: Attribution, earlier: Attribution) -> bool:
    """Whether the older statement says nothing that would be lost, and the newer one nothing that narrows it."""
    if later.tail == earlier.tail:
        return True
    return not earlier.tail and (not later.tail or _opening(later) in _HARMLESS)


def _aside(later: Attribution, earlier: Attribution) -> bool:
    """Whether they speak of different times or ways, and nothing says that one is newly so."""
    if later.event and earlier.event:
        return bool(later.tail or earlier.tail)
    if (later.turned or earlier.turned) and not later.new:
        return True
    narrowed = {s.tail for s in (later, earlier) if s.tail and _opening(s) not in _HARMLESS}
    return not later.new and bool(narrowed) and later.tail != earlier.tail


def _opening(said: Attribution) -> str:
    return "and" if said.tail[0] in ",;(–—-" else said.tail.split()[0].casefold()


def _bare(said: Attribution) -> list[str]:
    return [word for word in said.value if word.casefold() not in ARTICLES]


def _proper(*said: Attribution) -> bool:
    """Whether each value is a name: its first word has a capital and is no nationality or the like."""
    first = [_bare(s)[0] for s in said]
    return all(word[0].isupper() and word.casefold() not in NOT_NAMES for word in first)


def _figured(word: str) -> bool:
    return any(c.isdigit() for c in word) or word.casefold() in NUMBER_WORDS


def _recounted(later: Attribution, earlier: Attribution) -> bool:
    """Whether the values differ in figures alone."""
    left, right = ([w.casefold() for w in _bare(s)] for s in (later, earlier))
    pairs = list(zip(left, right, strict=False))
    return len(left) == len(right) and all(a == b or (_figured(a) and _figured(b)) for a, b in pairs)


def _opposed(later: Attribution, earlier: Attribution) -> bool:
    """Whether the values are of one sort: they exclude each other, or end on the same word (dark mode, light mode)."""
    from slowwave.policy.comparison import vetoes  # noqa: PLC0415 - most questions do without
    from slowwave.policy.comparison.alignment import prepare  # noqa: PLC0415

    left, right = _bare(later), _bare(earlier)
    same = len(left) > 1 and len(right) > 1 and left[-1].casefold() == right[-1].casefold()
    return same or vetoes.opposite(prepare(" ".join(left)), prepare(" ".join(right)))


def _place(later: Attribution, earlier: Attribution) -> Room:
    if not _proper(later, earlier):
        return "maybe"
    wide = [not _WIDE.isdisjoint(word.casefold() for word in s.value) for s in (later, earlier)]
    return "one" if wide[0] == wide[1] else "maybe"


def _employer(later: Attribution, earlier: Attribution) -> Room:
    if _proper(later, earlier):
        return "one"
    return None if later.event or earlier.event else "maybe"


def _taste(later: Attribution, earlier: Attribution) -> Room:
    return "one" if _opposed(later, earlier) else "maybe"


def _tool(later: Attribution, earlier: Attribution) -> Room:
    return "one" if _recounted(later, earlier) else "maybe"


def _count(later: Attribution, earlier: Attribution) -> Room:
    return "one" if _figured(later.value[0]) and _recounted(later, earlier) else None


def _attribute(later: Attribution, earlier: Attribution) -> Room:
    """What a thing is: its time, its figures, its name; a trait is one of many, and so is a person's."""
    if any(_DAYS.search(" ".join(s.value)) for s in (later, earlier)):
        return "maybe"
    if _recounted(later, earlier):
        return "one"
    a_person = len(later.holder) == 1
    if not a_person and _one_sort(later, earlier):
        return None if _proper(later) and later.holder[-1] in _SEVERAL else "one"
    return "maybe" if _opposed(later, earlier) else None


def _one_sort(later: Attribution, earlier: Attribution) -> bool:
    """Whether both values are times, both hold figures, both are names, or both are what such a label is written on."""
    for sort in (_time, _has_figures, _proper):
        if sort(later) or sort(earlier):
            return sort(later) and sort(earlier)
    return later.holder[-1] in _LABELS or not _FAVOURITES.isdisjoint(later.holder)


def _has_figures(said: Attribution) -> bool:
    return any(map(_figured, said.value))


def _time(said: Attribution) -> bool:
    return any(m.unit & _TIMES for m in mentions(" ".join(said.value)))


def _whereabouts(later: Attribution, earlier: Attribution) -> Room:
    return "maybe" if _proper(later, earlier) else None


def _part(later: Attribution, earlier: Attribution) -> Room:
    """What somebody or something is one of: a student, a Volvo. Somebody may be several."""
    return "maybe" if len(later.holder) == 1 else _attribute(later, earlier)


def _one(_: Attribution, __: Attribution) -> Room:
    return "one"


def _maybe(_: Attribution, __: Attribution) -> Room:
    return "maybe"


_ROOM: Final[Mapping[Relation, Callable[[Attribution, Attribution], Room]]] = MappingProxyType(
    {
        "live": _place,
        "from": _place,
        "work": _employer,
        "role": _one,
        "prefer": _taste,
        "report": _one,
        "study": _maybe,
        "use": _tool,
        "drive": _maybe,
        "have": _count,
        "in": _whereabouts,
        "a": _part,
        "be": _attribute,
    }
)
