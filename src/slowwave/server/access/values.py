"""Checks of values in requests that a description as JSON schema means and pydantic would convert."""

from typing import Any, Final

from pydantic import BaseModel

VISIBLE: Final = r"[^\s\x1c-\x1f\x85\ufeff]"
"""A text holds a character that is no white space. The pattern names the characters of which the engines of JSON schema,
Rust and Python differ in `\\s`, so that a client's check of the description and the server's own have one result."""


def without_nulls(model: type[BaseModel], value: object) -> object:
    """A request without the optional fields that are null: programs send null for what is not set.

    A field whose default is null keeps it.
    """
    if not isinstance(value, dict):
        return value
    return {name: given for name, given in value.items() if given is not None or not _has_other_default(model, name)}


def nullable(model: type[BaseModel], schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a request, whose optional fields may be null as `without_nulls` takes them."""
    for name, described in schema.get("properties", {}).items():
        if _has_other_default(model, name):
            kept = {key: described.pop(key) for key in ("title", "description", "default") if key in described}
            schema["properties"][name] = {"anyOf": [described, {"type": "null"}], **kept}
    return schema


def _has_other_default(model: type[BaseModel], name: object) -> bool:
    """Whether a field has a default that is not null."""
    field = model.model_fields.get(name) if isinstance(name, str) else None
    return field is not None and not field.is_required() and field.get_default(call_default_factory=True) is not None


def only_number(value: object) -> object:
    """Refuse texts and booleans in place of whole numbers; 5.0 is one.

    Raises:
        ValueError: it is a text or a boolean.
    """
    if isinstance(value, bool | str):
        raise ValueError("write a whole number")  # noqa: TRY004 - pydantic reports a ValueError
    return value
