"""The JSON schemas of the answers, for providers that can hold a model to one: every field named, options nullable."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from slowwave.minds.llm.interpret import RELATIONS
from slowwave.minds.llm.reply_models import KINDS, OPS


def _list_of(key: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return _object({key: {"type": "array", "items": _object(properties)}})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _optional(kind: str) -> dict[str, Any]:
    return {"type": [kind, "null"]}


def _one_of(names: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(names)}


SCHEMAS: Final[Mapping[str, dict[str, Any]]] = MappingProxyType(
    {
        "facts": _list_of(
            "facts",
            {
                "text": {"type": "string"},
                "category": {"type": "string"},
                "confidence": {"type": "number"},
                "message": {"type": "integer"},
                "quote": {"type": "string"},
                "subject": _optional("string"),
                "kind": _one_of(KINDS),
                "importance": _optional("number"),
                "valid_from": _optional("string"),
                "expires_in_hours": _optional("number"),
            },
        ),
        "verdicts": _list_of(
            "verdicts",
            {
                "fact": {"type": "integer"},
                "op": _one_of(OPS),
                "memory": _optional("integer"),
                "text": _optional("string"),
                "relation": _one_of(tuple(RELATIONS.values())),
                "because": {"type": "string"},
            },
        ),
    }
)
