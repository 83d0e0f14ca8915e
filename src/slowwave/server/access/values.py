"""Checks of values in requests that a description as JSON schema means and pydantic would convert."""


def only_number(value: object) -> object:
    """Refuse texts and booleans in place of whole numbers; 5.0 is one.

    Raises:
        ValueError: it is a text or a boolean.
    """
    if isinstance(value, bool | str):
        raise ValueError("write a whole number")  # noqa: TRY004 - pydantic reports a ValueError
    return value
