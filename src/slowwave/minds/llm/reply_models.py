"""The items of a model's answer: their fields, the checks that read them, and their JSON schemas.

A doubtful optional field falls back to its default. A doubtful required field, `message` or `quote` refuses the item.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Self

from slowwave.model.memory import STATEMENT_KINDS
from slowwave.model.mind import Relation
from slowwave.model.plain_text import tidy

TEXT_LONGEST: Final = 1_000  # characters; a fact is one sentence
QUOTE_LONGEST: Final = 4_000
WORD_LONGEST: Final = 200
CONFIDENCE: Final = 0.7  # default of a fact
HOURS_MAX: Final = 24 * 365 * 100.0
OPS: Final = ("ADD", "UPDATE", "DELETE", "NOOP")
RELATIONS: Final[dict[str, Relation]] = {
    "ADD": "compatible",
    "NOOP": "subsumed",
    "UPDATE": "subsumes",
    "DELETE": "contradictory",
}
"""The relation that each operation implies."""

_INTEGER: Final = re.compile(r"\s*[0-9]{1,9}\s*")
_LETTER: Final = re.compile(r"^\s*[KF](?=[0-9])", re.IGNORECASE)

Fields = Mapping[str, Any]


class ItemError(ValueError):
    """An item cannot be used; the message names the field and what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactItem:
    """One distilled fact as a model writes it. Only its text, category, messages and quote are asked for."""

    text: str
    messages: tuple[int, ...]
    quote: str | None
    category: str
    kind: str | None
    subject: str | None
    confidence: float
    importance: float | None
    valid_from: datetime | None
    expires_in_hours: float | None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """The item of a JSON object; ItemError if it cannot be used."""
        kind = _label(fields.get("kind"))
        confidence, importance, hours = (
            _number(fields.get(name)) for name in ("confidence", "importance", "expires_in_hours")
        )
        return cls(
            text=_sentence(fields, "text"),
            messages=_integers(fields, "messages") or _integers(fields, "message"),
            quote=None if fields.get("quote") is None else _bounded(_text(fields, "quote"), "quote", QUOTE_LONGEST),
            category=_label(fields.get("category")),
            kind=kind if kind in STATEMENT_KINDS else None,
            subject=_word(fields.get("subject")),
            confidence=CONFIDENCE if confidence is None else min(1.0, max(0.0, confidence)),
            importance=importance if importance is not None and 0.0 <= importance <= 1.0 else None,
            valid_from=_instant(fields.get("valid_from")),
            expires_in_hours=hours if hours is not None and 0.0 < hours <= HOURS_MAX else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictItem:
    """One verdict as a model writes it."""

    fact: int
    op: str
    memory: int | None
    text: str | None
    relation: str
    because: str

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """The item of a JSON object; ItemError if it cannot be used."""
        because = fields.get("because")
        return cls(
            fact=_numbered(fields, "fact"),
            op=_operation(fields, "op"),
            memory=None if fields.get("memory") is None else _numbered(fields, "memory"),
            text=None if fields.get("text") is None else _sentence(fields, "text"),
            relation=_label(fields.get("relation")),
            because=tidy(because)[:TEXT_LONGEST] if isinstance(because, str) else "",
        )


def _present(fields: Fields, name: str) -> object:
    if name not in fields:
        raise ItemError(f"{name} is missing")
    return fields[name]


def _text(fields: Fields, name: str) -> str:
    value = _present(fields, name)
    if not isinstance(value, str):
        raise ItemError(f"{name} is not a text")
    return tidy(value)


def _sentence(fields: Fields, name: str) -> str:
    text = _text(fields, name)
    if not any(character.isalnum() for character in text):
        raise ItemError(f"{name} has no words")
    return _bounded(text, name, TEXT_LONGEST)


def _bounded(text: str, name: str, longest: int) -> str:
    if len(text) > longest:
        raise ItemError(f"{name} is longer than {longest:,} characters")
    return text


def _integer(fields: Fields, name: str) -> int:
    """A whole number as models write it: 3, 3.0 or "3"."""
    value = _present(fields, name)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ItemError(f"{name} is not a whole number")
    return value


def _numbered(fields: Fields, name: str) -> int:
    """The number of a line, also with the letter that the prompt shows before it: 3, "3", "K3" or "F3"."""
    value = _present(fields, name)
    return _integer({name: _LETTER.sub("", value)} if isinstance(value, str) else fields, name)


def _integers(fields: Fields, name: str) -> tuple[int, ...]:
    """The whole numbers of a list, or one number; none if the field is missing, null or empty."""
    value = fields.get(name)
    if isinstance(value, list | tuple):
        return tuple(number for each in value for number in _nested(each, name))
    return () if value is None else (_integer(fields, name),)


def _nested(value: object, name: str) -> tuple[int, ...]:
    return _integers({name: value}, name) if isinstance(value, list | tuple) else (_integer({name: value}, name),)


def _operation(fields: Fields, name: str) -> str:
    if (op := _label(_present(fields, name)).upper()) not in OPS:
        raise ItemError(f"{name} is none of {', '.join(OPS)}")
    return op


def _number(value: object) -> float | None:
    """A finite number, also when written as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _instant(value: object) -> datetime | None:
    """An ISO date or time, with or without a zone."""
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        return None


def _word(value: object) -> str | None:
    """A short word or name, or None."""
    word = tidy(value) if isinstance(value, str) else ""
    return word if 0 < len(word) <= WORD_LONGEST else None


def _label(value: object) -> str:
    return (_word(value) or "").casefold()


def _list_schema(key: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return _object_schema({key: {"type": "array", "items": _object_schema(properties)}})


def _object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _nullable(kind: str) -> dict[str, Any]:
    return {"type": [kind, "null"]}


def _one_of(names: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(names)}


SCHEMAS: Final[Mapping[str, dict[str, Any]]] = MappingProxyType(
    {
        "facts": _list_schema(
            "facts",
            {
                "text": {"type": "string"},
                "category": {"type": "string"},
                "messages": {"type": "array", "items": {"type": "integer"}},
                "quote": {"type": "string"},
            },
        ),
        "verdicts": _object_schema(
            {
                "reviewed": {"type": "integer"},
                "changes": {
                    "type": "array",
                    "items": _object_schema(
                        {
                            "fact": {"type": "integer"},
                            "op": _one_of(OPS),
                            "memory": _nullable("integer"),
                            "text": _nullable("string"),
                            "relation": _one_of(tuple(RELATIONS.values())),
                            "because": {"type": "string"},
                        }
                    ),
                },
            }
        ),
    }
)
"""The JSON schema of each reply, for providers that enforce one: every field is named, optional ones may be null."""
