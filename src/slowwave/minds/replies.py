"""Reads what a model answered: each item is accepted as it stands or refused with a reason, never half, never made up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from slowwave.errors import ModelError
from slowwave.minds.items import FactItem, VerdictItem
from slowwave.minds.scanning import Ambiguous, Value, last_block, spoken, torn, values
from slowwave.model.fact import Rejected
from slowwave.model.message import tidy

LISTED: Final = 50
"""How many refused items are listed one by one; the rest are counted by reason."""

_SHOWN: Final = 200  # characters of a refused text
_JSON_MARKS: Final = frozenset('{}[]"')
_WORDS: Final = {"missing": "is missing", "string_type": "is no text", "int_type": "is no whole number"}

Item = TypeVar("Item", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape(Generic[Item]):
    """What a task's answer looks like: a list of items under a key; an item is known by its required fields."""

    key: str
    item: type[Item]
    required: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Generic[Item]):
    """The items of a reply that could be read, and those that could not, with reasons."""

    items: tuple[Item, ...] = ()
    rejected: tuple[Rejected, ...] = ()


FACTS: Final = Shape(key="facts", item=FactItem, required=frozenset({"text"}))
VERDICTS: Final = Shape(key="verdicts", item=VerdictItem, required=frozenset({"fact", "op"}))


def read(reply: str | Mapping[str, Any] | Sequence[Any], shape: Shape[Item]) -> Reading[Item]:
    """The items of a reply: text with JSON somewhere in it, or JSON already parsed.

    An empty list under the key is an answer; a reply in which no list can be found is none.

    Raises:
        ModelError: nothing in the reply can be read as an answer; the sentence says what is wrong with it.
    """
    if not isinstance(reply, str):
        whole = [Value(start=0, end=0, data=reply)]
        return _checked(_listed(whole, "", shape), shape)
    found = values(reply)
    said = spoken(reply, found)
    span = last_block(reply, said, found, lambda value: _items_of(value.data, shape) is not None)
    inside = [value for value in found if span[0] <= value.start and value.end <= span[1]]
    listed = _listed(inside, _around(reply, span, inside), shape)
    if listed is not None:
        passed = [value for value in found if said[0] <= value.start and value.end <= span[0]]
        return _checked(listed, shape, (item for value in passed for item in _items_of(value.data, shape) or ()))
    return _checked(list(torn(reply, shape.key, span, found)) or None, shape)


def counted(rejected: Iterable[Rejected]) -> tuple[Rejected, ...]:
    """The refused items, the first ones listed, the rest counted by reason."""
    every = list(rejected)
    more: dict[str, int] = {}
    for item in every[LISTED:]:
        more[item.reason] = more.get(item.reason, 0) + 1
    rest = (Rejected(text="", reason=f"{reason} ({number:,} more)") for reason, number in more.items())
    return (*every[:LISTED], *rest)


def _listed(found: Sequence[Value], around: str, shape: Shape[Item]) -> Sequence[Any] | None:
    """The raw items of the values: those under the key, else bare ones where nothing but prose stands around them."""
    wrapped = [items for value in found if (items := _wrapped(value.data, shape)) is not None]
    if wrapped:
        return [item for items in wrapped for item in items]
    if _JSON_MARKS.isdisjoint(around):
        bare = [items for value in found if (items := _bare(value.data, shape)) is not None]
        if bare:
            return [item for items in bare for item in items]
        if len(found) == 1 and found[0].data == [] and not around.strip():
            return []
    return None


def _items_of(data: object, shape: Shape[Item]) -> Sequence[Any] | None:
    wrapped = _wrapped(data, shape)
    return _bare(data, shape) if wrapped is None else wrapped


def _wrapped(data: object, shape: Shape[Item]) -> Sequence[Any] | None:
    """The list under the key; one item instead of a list is a list of one."""
    if not isinstance(data, Mapping) or isinstance(data, Ambiguous):
        return None
    under = data.get(shape.key)
    if isinstance(under, Mapping):
        return [under] if shape.required <= under.keys() else None
    return under if isinstance(under, list | tuple) else None


def _bare(data: object, shape: Shape[Item]) -> Sequence[Any] | None:
    """Items that came without their wrapper."""
    if isinstance(data, Mapping):
        return [data] if shape.required <= data.keys() else None
    if isinstance(data, list | tuple) and any(isinstance(i, Mapping) and shape.required <= i.keys() for i in data):
        return data
    return None


def _around(reply: str, span: tuple[int, int], inside: Sequence[Value]) -> str:
    """What stands in the span beside the values."""
    edges = [span[0], *(edge for value in inside for edge in (value.start, value.end)), span[1]]
    return "".join(reply[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2))


def _checked(raw: Sequence[Any] | None, shape: Shape[Item], passed: Iterable[Any] = ()) -> Reading[Item]:
    if raw is None:
        fields = ", ".join(f'"{name}"' for name in sorted(shape.required))
        raise ModelError(f'no complete JSON object {{"{shape.key}": [...]}} whose items have {fields} was found')
    items: dict[Item, None] = {}
    rejected = [_rejected(item, "stands before the last block") for item in passed]
    for one in raw:
        item, reason = _item(one, shape)
        if item is not None and item not in items:
            items[item] = None
        else:
            rejected.append(_rejected(one, reason or "repeated"))
    if raw and not items:
        reasons = ", ".join(dict.fromkeys(one.reason for one in rejected))
        raise ModelError(f'none of the {len(raw):,} items under "{shape.key}" can be used: {reasons[:_SHOWN]}')
    return Reading(items=tuple(items), rejected=tuple(rejected))


def _item(raw: object, shape: Shape[Item]) -> tuple[Item | None, str]:
    if not isinstance(raw, Mapping):
        return None, "cut off, garbled or no object"
    if isinstance(raw, Ambiguous):
        return None, "names one key twice"
    try:
        return shape.item.model_validate(dict(raw)), ""
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        wrong = first.get("ctx", {}).get("error") or _WORDS.get(first["type"], first["msg"])
        return None, f"{first['loc'][0]} {wrong}"


def _rejected(raw: object, reason: str) -> Rejected:
    fields = raw if isinstance(raw, Mapping) else {}
    text, quote = (fields.get(name) for name in ("text", "quote"))
    return Rejected(
        text=tidy(text)[:_SHOWN] if isinstance(text, str) else "",
        reason=reason,
        quote=tidy(quote)[:_SHOWN] if isinstance(quote, str) else "",
    )
