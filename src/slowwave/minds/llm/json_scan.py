"""Finds the JSON in what a model said, and never completes it: a value stands in the reply whole, or it is not there."""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slowwave.errors import ModelError

LONGEST: Final = 1_000_000  # characters; what a model is asked for fits into a hundredth of it
_EFFORT: Final = 20  # how often a reply's length may be read in vain before it counts as tangled
_VAIN: Final = 2_000  # and from how many beginnings: each error counts the lines before it
_DIGITS: Final = 18  # an integer of more digits is no number that was asked for

_OPENING: Final = re.compile(r'\{(?=\s*["}])|\[')
_THOUGHT: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE: Final = re.compile(r"(?:```|~~~)[^\n`{\[]*")
_BETWEEN: Final = re.compile(r"[\s,]*")
_BARE_LIST: Final = re.compile(r"\s*\[(?=\s*\{)")
_AFTER_ONE: Final = re.compile(r'\}[\s,]*(?=\{\s*["}])')


class DuplicateKeyError(dict[str, Any]):
    """An object that names one key twice with different values: which one is meant cannot be known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A JSON value and where in the reply it stands."""

    start: int
    end: int
    data: Any


def values(text: str) -> list[Value]:
    """Every complete object or list of the reply, outermost ones only, in order.

    Raises:
        ModelError: the reply is too long, too deeply nested or too tangled to be read.
    """
    if len(text) > LONGEST:
        raise ModelError(f"the reply has {len(text):,} characters, more than {LONGEST:,}")
    found, place, effort, vain = [], 0, _EFFORT * len(text), 0
    while opening := _OPENING.search(text, place):
        start = opening.start()
        data, place, spent = _decoded(text, start)
        effort -= spent
        vain += spent > 0
        if effort < 0 or vain > _VAIN:
            raise ModelError("the reply is too tangled to be read")
        if place > start:
            found.append(Value(start=start, end=place, data=data))
        else:
            place = start + 1
    return found


def strip_reasoning(text: str, found: Sequence[Value]) -> tuple[int, int]:
    """What was said rather than thought: after a thought that was ended, before one that was not.

    Marks inside a value's strings are words, not marks.
    """
    begin, end = 0, len(text)
    for mark in _outside(_THOUGHT.finditer(text), found):
        if mark.group(1):
            begin, end = mark.end(), len(text)
        else:
            end = min(end, mark.start())
    return begin, max(begin, end)


def last_fenced_block(
    text: str, span: tuple[int, int], found: Sequence[Value], fits: Callable[[Value], bool]
) -> tuple[int, int]:
    """The inside of the last fenced block in which a value that fits stands, or the whole span."""
    fences = _outside(_FENCE.finditer(text, *span), found)
    fitting = [value for value in found if fits(value)]
    for place in range((len(fences) - 1) // 2 * 2, -1, -2):
        inside = fences[place].end()
        until = fences[place + 1].start() if place + 1 < len(fences) else span[1]
        if any(inside <= value.start and value.end <= until for value in fitting):
            return inside, until
    return span


def salvage_items(text: str, key: str, span: tuple[int, int], found: Sequence[Value]) -> Iterator[Any]:
    """The whole items of broken lists under a key (or of a bare list), and None for each stretch that is no value.

    For replies that were cut off or have a fault in one item. Nothing is repaired: an item is decoded as it
    stands, or it is lost. Lists inside complete values are none of these.
    """
    place, end = span
    named = re.compile(rf'"{re.escape(key)}"\s*:\s*\[')
    starts = [mark.end() for mark in _outside(named.finditer(text, place, end), found)]
    if not starts and (bare := _BARE_LIST.match(text, place, end)):
        starts = [bare.end()]
    for start in starts:
        if start >= place:
            place = yield from _items(text, start, end)


def _items(text: str, place: int, end: int) -> Generator[Any, None, int]:
    while True:
        place = _BETWEEN.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing, too
        if place >= end or text[place] == "]":
            return place
        data, after, _ = _decoded(text, place)
        if after > place:
            place = after
            yield data
        else:
            yield None
            place = _next_object(text, place + 1, end)


def _next_object(text: str, place: int, end: int) -> int:
    """Where the next whole object begins that follows another one, or the end. One inside a torn item follows a colon."""
    for opening in _AFTER_ONE.finditer(text, place, end):
        if _decoded(text, opening.end())[1] > opening.end():
            return opening.end()
    return end


def _outside(marks: Iterator[re.Match[str]], found: Sequence[Value]) -> list[re.Match[str]]:
    starts = [value.start for value in found]

    def inside(place: int) -> bool:
        before = bisect_right(starts, place)
        return before > 0 and place < found[before - 1].end

    return [mark for mark in marks if not inside(mark.start())]


def _decoded(text: str, start: int) -> tuple[Any, int, int]:
    """The value that begins here, where it ends (its start if there is none), and how much was read in vain."""
    try:
        data, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        cut = error.msg.startswith("Unterminated string")  # named by where it begins, but read to the end
        return None, start, (len(text) if cut else error.pos + 1) - start
    except RecursionError:
        raise ModelError("the reply is nested too deeply to be read") from None
    return data, end, 0


def _object(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs) or all(made[key] == value for key, value in pairs):
        return made
    return DuplicateKeyError(made)


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS else math.inf


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    strict=False,  # a line break inside a string is untidy, not doubtful
)
