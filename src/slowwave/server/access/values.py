"""Checks of values in requests that a description as JSON schema means and pydantic would convert."""

from typing import Final

VISIBLE: Final = r"[^\s\x1c-\x1f\x85\ufeff]"
"""A text holds a character that is no white space. The pattern names the characters of which the engines of JSON schema,
Rust and Python differ in `\\s`, so that a client's check of the description and the server's own have one result."""


def only_number(value: object) -> object:
    """Refuse texts and booleans in place of whole numbers; 5.0 is one.

    Raises:
        ValueError: it is a text or a boolean.
    """
    if isinstance(value, bool | str):
        raise ValueError("write a whole number")  # noqa: TRY004 - pydantic reports a ValueError
    return value
