"""Reads the replies of a model: lists of items, one item at a time, and summaries."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from slowwave.errors import ModelError
from slowwave.minds.llm.calls import Content, response_text
from slowwave.minds.llm.json_scan import (
    DuplicateKeyError,
    Value,
    last_fenced_block,
    parsed,
    salvage_items,
    strip_reasoning,
    unwrapped,
    values,
)
from slowwave.minds.llm.reply_models import FactItem, Fields, ItemError, VerdictItem
from slowwave.model.mind import Rejected, SummaryRequest
from slowwave.model.plain_text import tidy
from slowwave.policy.text.tokens import STOP_WORDS, words

LISTED: Final = 50
"""The number of refused items that are listed one by one; the others are counted by reason."""

_SHOWN: Final = 200  # characters of a refused text
_DEPTH: Final = 8  # levels of objects, lists and JSON texts around an answer
_OPENINGS: Final = ("{", "[", '"', "```")
_JSON_MARKS: Final = frozenset('{}[]"')

Item = TypeVar("Item", bound=FactItem | VerdictItem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape(Generic[Item]):
    """The form of an answer: a list of items under a key. An object with the required fields is an item.

    `former` is the key of an earlier form of the answer, which is still read. `count` names the number of reviewed things
    beside the list. `evidence` are fields that only an item has.
    """

    key: str
    read: Callable[[Fields], Item]
    required: frozenset[str]
    evidence: frozenset[str]
    former: str = ""
    count: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply(Generic[Item]):
    """The readable items of a reply, the refused ones with reasons, and whether the reply ends before its list does.

    `reviewed` is how many things the reply says it reviewed; None if it does not say, or if it was cut off.
    """

    items: tuple[Item, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    cut: bool = False
    reviewed: int | None = None


FACTS: Final = Shape(
    key="facts",
    read=FactItem.read,
    required=frozenset({"text"}),
    evidence=frozenset({"quote", "category", "messages"}),
)
VERDICTS: Final = Shape(
    key="changes",
    read=VerdictItem.read,
    required=frozenset({"fact", "op"}),
    evidence=frozenset({"fact", "op"}),
    former="verdicts",
    count="reviewed",
)


def read(reply: str | Mapping[str, Any] | Sequence[Any], shape: Shape[Item]) -> ParsedReply[Item]:
    """The items of a reply, which is a text that contains JSON, or parsed JSON.

    An empty list under the key is an answer; a reply without a list is not.

    Raises:
        ModelError: the reply contains no answer; the message says what is wrong with it.
    """
    if not isinstance(reply, str):
        whole = [Value(start=0, end=0, data=reply)]
        checked = _checked(_present(_listed(whole, "", shape), str(reply), shape), shape)
        return replace(checked, reviewed=_reviewed(whole, shape))
    reply = unwrapped(reply)
    found = values(reply)
    spoken = strip_reasoning(reply, found, lambda value: _wrapped(value.data, shape) is not None)
    span = last_fenced_block(reply, spoken, found, lambda value: _items_of(value.data, shape) is not None)
    inside = [value for value in found if span[0] <= value.start and value.end <= span[1]]
    listed = _listed(inside, _around(reply, span, inside), shape)
    if listed is not None:
        earlier = [value for value in found if spoken[0] <= value.start and value.end <= span[0]]
        before = (item for value in earlier for item in _items_of(value.data, shape) or ())
        return replace(_checked(listed, shape, before), reviewed=_reviewed(inside, shape))
    salvaged = salvage_items(reply, shape.key, span, found)
    checked = _checked(_present(salvaged.items or None, reply[slice(*spoken)], shape), shape)
    return replace(checked, cut=salvaged.cut)


def _reviewed(found: Sequence[Value], shape: Shape[Item]) -> int | None:
    """How many things the values with a list say were reviewed; None if one of them does not say."""
    holders = [_holder(value.data, shape) for value in found] if shape.count else []
    numbers = [holder.get(shape.count) for holder in holders if holder is not None]
    whole = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool)]
    return sum(whole) if whole and len(whole) == len(numbers) else None


def counted(rejected: Iterable[Rejected]) -> tuple[Rejected, ...]:
    """The first LISTED refused items, and one item for each reason that counts the rest."""
    items = list(rejected)
    more = Counter(item.reason for item in items[LISTED:])
    rest = (Rejected(text="", reason=f"{reason} ({number:,} more)") for reason, number in more.items())
    return (*items[:LISTED], *rest)


def _listed(found: Sequence[Value], around: str, shape: Shape[Item]) -> Sequence[Any] | None:
    """The raw items of the values: those under the key, else bare ones if only prose surrounds them."""
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
    """The list under the key; a single item instead of a list counts as a list of one."""
    holder = _holder(data, shape)
    under = None if holder is None else holder.get(shape.key, holder.get(shape.former))
    return [under] if isinstance(under, Mapping) else under


def _holder(data: object, shape: Shape[Item], depth: int = _DEPTH) -> Mapping[str, Any] | None:
    """The object with the list under the key: the value, or the only one inside it, also inside a JSON text of it.

    Servers put an answer into an object ("answer", "data"), a list of parts, or the arguments of a call. An item contains
    no answer: its text may quote one.
    """
    if isinstance(data, str):
        data = parsed(data) if depth and data.lstrip().startswith(_OPENINGS) else None
    if isinstance(data, Mapping):
        under = data.get(shape.key, data.get(shape.former))
        listed = isinstance(under, list | tuple) or (isinstance(under, Mapping) and shape.required <= under.keys())
        if isinstance(data, DuplicateKeyError) or shape.evidence & data.keys() or listed:
            return data if listed and not isinstance(data, DuplicateKeyError) else None
    inside = data.values() if isinstance(data, Mapping) else data if isinstance(data, list | tuple) else ()
    holders = [found for each in inside if depth and (found := _holder(each, shape, depth - 1)) is not None]
    return holders[0] if len(holders) == 1 else None


def _bare(data: object, shape: Shape[Item]) -> Sequence[Any] | None:
    """Items without the object that should contain them."""
    if isinstance(data, Mapping):
        return [data] if shape.required <= data.keys() else None
    if isinstance(data, list | tuple) and any(isinstance(i, Mapping) and shape.required <= i.keys() for i in data):
        return data
    return None


def _around(reply: str, span: tuple[int, int], inside: Sequence[Value]) -> str:
    """The text of the span outside the values."""
    edges = [span[0], *(edge for value in inside for edge in (value.start, value.end)), span[1]]
    return "".join(reply[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2))


def _present(raw: Sequence[Any] | None, reply: str, shape: Shape[Item]) -> Sequence[Any]:
    """The raw items; ModelError in plain words if there are none: an empty answer, a refusal, or no JSON."""
    if raw is not None:
        return raw
    if not reply.strip():
        raise ModelError("the model answered with an empty text")
    if _REFUSAL.match(reply.strip()):
        raise ModelError(f"the model refused to answer: {tidy(reply)[:_SHOWN]!r}")
    fields = ", ".join(f'"{name}"' for name in sorted(shape.required))
    raise ModelError(f'no complete JSON object {{"{shape.key}": [...]}} whose items have {fields} was found')


def _checked(raw: Sequence[Any], shape: Shape[Item], earlier: Iterable[Any] = ()) -> ParsedReply[Item]:
    items: dict[Item, None] = {}
    rejected = [_rejected(item, "is before the last block") for item in earlier]
    for candidate in raw:
        item, reason = _item(candidate, shape)
        if item is not None and item not in items:
            items[item] = None
        else:
            rejected.append(_rejected(candidate, reason or "repeated"))
    if raw and not items:
        reasons = ", ".join(dict.fromkeys(item.reason for item in rejected))
        raise ModelError(f'none of the {len(raw):,} items under "{shape.key}" can be used: {reasons[:_SHOWN]}')
    return ParsedReply(items=tuple(items), rejected=tuple(rejected))


def _item(raw: object, shape: Shape[Item]) -> tuple[Item | None, str]:
    if not isinstance(raw, Mapping):
        return None, "cut off, garbled or no object"
    if isinstance(raw, DuplicateKeyError):
        return None, "names one key twice"
    try:
        return shape.read(raw), ""
    except ItemError as error:
        return None, str(error)


def _rejected(raw: object, reason: str) -> Rejected:
    fields = raw if isinstance(raw, Mapping) else {}
    text, quote = (fields.get(name) for name in ("text", "quote"))
    return Rejected(
        text=tidy(text)[:_SHOWN] if isinstance(text, str) else "",
        reason=reason,
        quote=tidy(quote)[:_SHOWN] if isinstance(quote, str) else "",
    )


_SHORTEST: Final = 8  # characters; less is a word, not a summary
_CHARACTERS_PER_WORD, _EXTRA_CHARACTERS = 30, 500  # limit: about five times the requested length
_SENTENCE_SHORTEST: Final = 12  # characters; shorter ones ("Yes.") may be repeated
_REPETITIONS: Final = 3

_PREFACE: Final = re.compile(
    r"^(?:(?:sure|certainly|of course|okay|ok|here(?:'s| is| are)|below is|the following)\b[^.\n]{0,120}:\s*\n"
    r"|\**(?:summary|zusammenfassung|résumé|resumen|摘要|总结)\**\s*[:：]\**\s*)+",
    re.IGNORECASE,
)
_REFUSAL: Final = re.compile(
    r"^(?:(?:i['’]m |i am |we are )?(?:very |so |really )?sorry\b|i (?:can(?:no|['’])t|am (?:not able|unable)|won['’]t)|i['’]m (?:not able|unable)"
    r"|as an? (?:ai|language model)|unfortunately)[^.!?\n]*?"
    r"\b(?:help|assist|comply|provide|summari[sz]e|fulfil|process|complete|do that|answer|generate|create|request|extract|read)",
    re.IGNORECASE,
)
_ECHO: Final = re.compile(r"Task: summarise|memory-[0-9a-f]{8}>|SUMMARY:", re.IGNORECASE)
_CLOSING: Final = re.compile(
    r"(?<=[.!?。])\s+(?:i hope (?:this|that|it)|let me know|feel free|would you like|is there anything)\b[^.!?]*[.!?]*$",
    re.IGNORECASE,
)
_YAML: Final = re.compile(r"^-\s+\w+:\s")
_ENDS: Final = ".!?…。！？"
_AFTER_END: Final = "\"')]”’»*"
_TAG: Final = re.compile(r"<[^<>]{1,40}>")
_NAME: Final = re.compile(r"[\w.:-]*", re.ASCII)
_WORDS: Final = re.compile(r"\w+\W+\w")
_LITERALS: Final = frozenset({"null", "true", "false", "None", "True", "False"})
_SENTENCE: Final = re.compile(r"[^.!?。！？]+")
_FENCED: Final = re.compile(r"(?:```|~~~)[^\n]*\n(.*?)(?:```|~~~|\Z)", re.DOTALL)


def summary(content: Content, brief: SummaryRequest) -> str:
    """The summary of an answer, on one line.

    Raises:
        ModelError: the answer is empty, a refusal, data instead of prose, the prompt itself, too long, or repeats itself.
    """
    content = _told(content)
    longest = _CHARACTERS_PER_WORD * brief.words + _EXTRA_CHARACTERS
    begin, end = strip_reasoning(content, ())
    text = tidy(_PREFACE.sub("", _plain(content[begin:end].strip())))
    if len(text) > longest:
        raise ModelError(f"{len(text):,} characters where about {brief.words} words were requested")
    if len(text) < _SHORTEST or not any(character.isalpha() for character in text):
        raise ModelError(f"{text!r} is not a summary" if text else "no text at all")
    if _YAML.match(text):
        raise ModelError(f"data instead of a text in plain words: {text[:80]!r}")
    if _REFUSAL.match(text):
        raise ModelError(f"a refusal: {text[:200]!r}")
    if _ECHO.search(text):
        raise ModelError("the prompt again instead of a summary")
    counts = Counter(s.strip().casefold() for s in _SENTENCE.findall(text) if len(s) > _SENTENCE_SHORTEST)
    if max(counts.values(), default=0) >= _REPETITIONS:
        raise ModelError("a text that repeats itself")
    return _complete_sentences(_CLOSING.sub("", text), brief)


def _told(content: Content) -> str:
    """The text of an answer: of data, the only text in it that is no name of something.

    Raises:
        ModelError: it is data with no such text, or with several.
    """
    data: object = content
    if isinstance(content, str):
        found = values(content)
        begin, end = strip_reasoning(content, found)
        inside = [value for value in found if begin <= value.start and value.end <= end]
        if len(inside) != 1 or _WORDS.search(_TAG.sub("", _around(content, (begin, end), inside))):
            return unwrapped(content)
        data = inside[0].data
    told = [text for text in _leaves(data) if not _NAME.fullmatch(text.strip())]
    if len(told) != 1:
        raise ModelError(f"data instead of a text in plain words: {str(content)[:80]!r}")
    return told[0]


def _leaves(data: object, depth: int = _DEPTH) -> Iterator[str]:
    """The texts in a value, also those in a JSON text in it."""
    if isinstance(data, str):
        inner = parsed(data) if depth and data.lstrip().startswith(_OPENINGS) else None
        if inner is None:
            yield data
            return
        data = inner
    if isinstance(data, list | tuple) and (joined := response_text(data)) and isinstance(joined, str):
        yield joined
    elif isinstance(data, Mapping | list | tuple):
        for each in data.values() if isinstance(data, Mapping) else data:
            yield from _leaves(each, depth - 1) if depth else ()


def _complete_sentences(text: str, brief: SummaryRequest) -> str:
    """The text up to its last complete sentence.

    A single sentence without an end mark is accepted if the memories contain its last word, else it was cut off.
    """
    bare = text.rstrip(_AFTER_END)
    last = words(bare)[-1:]
    if bare.endswith(tuple(_ENDS)) or not all(character.lower() != character.upper() for character in "".join(last)):
        return text  # scripts without letter case often have no end marks
    end = max(bare.rfind(f"{mark} ") for mark in _ENDS)
    if end >= _SHORTEST:
        return bare[: end + 1]
    known = {word for memory in brief.memories for word in words(memory.text)} - STOP_WORDS
    if not known.issuperset(last):
        raise ModelError(f"a text that breaks off: {text[-80:]!r}")
    return text


def _plain(text: str) -> str:
    """The text without its fence and quotation marks; ModelError for JSON, markup and tables."""
    if fences := [inside.strip() for inside in _FENCED.findall(text)]:
        text = fences[-1]
    if text.startswith('"') and text.endswith('"'):
        text = text[1:-1]
    text = text.lstrip("\ufeff")
    if text.startswith(("{", "[", "<", "|", "(")) or text in _LITERALS:
        raise ModelError(f"data instead of a text in plain words: {text[:80]!r}")
    return text
