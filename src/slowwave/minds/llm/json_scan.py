"""Finds JSON values in the reply of a model. Incomplete values are skipped, never repaired; a comma too many is ignored."""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slowwave.errors import ModelError

LONGEST: Final = 1_000_000  # characters; a normal reply has fewer than a hundredth of them
_EFFORT: Final = 20  # limit of characters read without finding a value, in lengths of the reply
_FAILURES_MAX: Final = 2_000  # failed decodings; each one costs a pass over the text to count its lines
_DIGITS: Final = 18  # an integer with more digits is read as infinity, which no field accepts

_OPENING: Final = re.compile(r'\{(?=\s*["}])|\[')
_COMMAS_MAX: Final = 100
_PIECE: Final = 100_000
"""How many commas before a closing bracket are ignored in one value, and in how many characters: each costs a pass over them."""
_STRINGS_MAX: Final = 5
"""JSON texts of JSON texts that are unwrapped."""
_REASONING: Final = re.compile(
    r"[<\[◁][|｜]?(?P<name>/?[\w:▁]{0,20}(?:think|thought|reason|reflect|analysis|scratchpad)[\w▁]{0,8})[|｜]?[>\]▷]"
    r"|<\|?channel\|?>\s*(?P<channel>\w*)(?:\s*<\|message\|>)?",
    re.IGNORECASE,
)
"""Marks around reasoning, in the brackets that models use, and the channels of an answer in several."""
_REASONS: Final = re.compile(r"think|thought|reason|analysis", re.IGNORECASE)
_CLOSES: Final = re.compile(r"/|end", re.IGNORECASE)
_PAIR: Final = re.compile(r"[<\[◁][|｜]?(?P<close>/?)(?P<name>[A-Za-z][\w:▁-]{0,30})[|｜]?[>\]▷]")
_FENCE: Final = re.compile(r"(?:```|~~~)[^\n`{\[]*")
_SEPARATOR: Final = re.compile(r"[\s,]*")
_BARE_LIST: Final = re.compile(r"\s*\[(?=\s*\{)")
_CLOSED: Final = re.compile(r"[}\[][\s,]*\][\s}`~]*\Z")
_NEXT_OBJECT: Final = re.compile(r'\}[\s,]*(?=\{\s*["}])')


class DuplicateKeyError(dict[str, Any]):
    """An object that has one key twice with different values, so that its meaning is ambiguous."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A JSON value and its position in the reply."""

    start: int
    end: int
    data: Any


def unwrapped(text: str) -> str:
    """The text that a JSON text contains, if the whole reply is one."""
    for _ in range(_STRINGS_MAX):
        if not text.lstrip().startswith('"'):
            break
        try:
            inner = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            break
        if not isinstance(inner, str):
            break
        text = inner
    return text


def parsed(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """The JSON value that a whole text is, also within a fence; None if it is none."""
    if (fence := _FENCE.match(text.lstrip())) is not None:
        text = text.lstrip()[fence.end() :].rstrip().removesuffix(fence.group()[:3])
    data, end, _ = _decoded(text, len(text) - len(text.lstrip()))
    return data if data is not None and not text[end:].strip() else None


def values(text: str) -> list[Value]:
    """The complete objects and lists of the reply in order, without those inside others.

    Raises:
        ModelError: the reply is too long, too deeply nested, or has too many broken values.
    """
    if len(text) > LONGEST:
        raise ModelError(f"the reply has {len(text):,} characters, more than {LONGEST:,}")
    found, place, effort, failures = [], 0, _EFFORT * len(text), 0
    while opening := _OPENING.search(text, place):
        start = opening.start()
        data, place, spent = _decoded(text, start)
        effort -= spent
        failures += spent > 0
        if effort < 0 or failures > _FAILURES_MAX:
            raise ModelError("the reply has too many broken JSON values to be read")
        if place > start:
            found.append(Value(start=start, end=place, data=data))
        else:
            place = start + 1
    return found


def strip_reasoning(
    text: str, found: Sequence[Value], fits: Callable[[Value], bool] = lambda _: False
) -> tuple[int, int]:
    """The span of the reply without its reasoning: after the last closing mark, before an opening mark after it.

    Of marks in pairs whose name does not say what they are around, it begins after the last one that a value that fits
    follows. Marks inside the strings of a value are ignored.
    """
    begin, end = 0, len(text)
    for mark in _outside(_REASONING.finditer(text), found):
        name, channel = mark.group("name", "channel")
        if _CLOSES.match(name) if name else not _REASONS.search(channel):
            begin, end = mark.end(), len(text)
        else:
            end = min(end, mark.start())
    end = max(begin, end)
    last = max((value.start for value in found if fits(value) and begin <= value.start < end), default=begin)
    pairs = _outside(_PAIR.finditer(text, begin, last), found)
    open_ones = [mark.group("name") for mark in pairs if not mark.group("close")]
    for mark in pairs:
        name = mark.group("name")
        if mark.group("close") and name in open_ones and open_ones.count(name) == 1:
            begin = mark.end()
    return begin, end


def last_fenced_block(
    text: str, span: tuple[int, int], found: Sequence[Value], fits: Callable[[Value], bool]
) -> tuple[int, int]:
    """The inside of the last fenced block that contains a value that fits, or the whole span."""
    fences = _outside(_FENCE.finditer(text, *span), found)
    fitting = [value for value in found if fits(value)]
    for place in range((len(fences) - 1) // 2 * 2, -1, -2):
        inside = fences[place].end()
        until = fences[place + 1].start() if place + 1 < len(fences) else span[1]
        if any(inside <= value.start and value.end <= until for value in fitting):
            return inside, until
    return span


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvaged:
    """The complete items of broken lists, None for each stretch that is no value, and whether the last list is cut off."""

    items: tuple[Any, ...]
    cut: bool


def salvage_items(text: str, key: str, span: tuple[int, int], found: Sequence[Value]) -> Salvaged:
    """The complete items of broken lists under a key (or of a bare list).

    For replies that were cut off or have an error in one item. Nothing is repaired: an item is decoded unchanged or
    lost. Lists inside complete values are ignored. A list is cut off if nothing after its last item closes it.
    """
    place, end = span
    key_pattern = re.compile(rf'"{re.escape(key)}"\s*:\s*\[')
    starts = [mark.end() for mark in _outside(key_pattern.finditer(text, place, end), found)]
    if not starts and (bare := _BARE_LIST.match(text, place, end)):
        starts = [bare.end()]
    items: list[Any] = []
    for start in starts:
        if start >= place:
            more, place = _items(text, start, end)
            items += more
    return Salvaged(items=tuple(items), cut=bool(starts) and place >= end and not _CLOSED.search(text, 0, end))


def _items(text: str, place: int, end: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while True:
        place = _SEPARATOR.match(text, place).end()  # type: ignore[union-attr]  # it also matches the empty string
        if place >= end or text[place] == "]":
            return items, place
        data, after, _ = _decoded(text, place)
        if after > place:
            place = after
            items.append(data)
        else:
            items.append(None)
            place = _next_object(text, place + 1, end)


def _next_object(text: str, place: int, end: int) -> int:
    """Where the next complete object begins that follows another object, or the end.

    An object that follows a colon is part of a broken item and is skipped.
    """
    for opening in _NEXT_OBJECT.finditer(text, place, end):
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
    """The value that begins at `start`, its end (`start` if there is none), and the characters read without a value."""
    try:
        return *_DECODER.raw_decode(text, start), 0
    except json.JSONDecodeError as error:
        if (end := _without_commas(text, start, error.pos)) is not None:
            return end
        # The position of an unterminated string is its start, but the decoder read to the end of the text.
        unterminated = error.msg.startswith("Unterminated string")
        return None, start, (len(text) if unterminated else error.pos + 1) - start
    except RecursionError:
        raise ModelError("the reply is nested too deeply to be read") from None


def _without_commas(text: str, start: int, failed: int) -> tuple[Any, int, int] | None:
    """The value that begins at `start`, read without the commas before a closing bracket; None if more is wrong with it."""
    piece, place = text[start : start + _PIECE], failed - start
    for _ in range(_COMMAS_MAX):
        if piece[place : place + 1] in {"}", "]"}:  # newer versions of Python name the comma, older ones the bracket
            place = len(piece[:place].rstrip()) - 1
        if place < 1 or piece[place : place + 1] != "," or piece[place + 1 :].lstrip()[:1] not in {"}", "]"}:
            return None
        piece = f"{piece[:place]} {piece[place + 1 :]}"  # of the same length: positions stay
        try:
            data, end = _DECODER.raw_decode(piece)
        except json.JSONDecodeError as error:
            place = error.pos
        else:
            return data, start + end, 0
    return None


def _object(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    data = dict(pairs)
    if len(data) == len(pairs) or all(data[key] == value for key, value in pairs):
        return data
    return DuplicateKeyError(data)


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS else math.inf


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    strict=False,  # models write line breaks inside strings
)
