"""The texts inside a stored JSON field, in which a string may be JSON again, such as metadata in the journal."""

from collections.abc import Iterator
from typing import Any, Final

from slowwave.model.codec import loads

_OPENS: Final = ("{", "[")


def stored_texts(field: str, *, names: bool = True) -> Iterator[str]:
    """All texts, numbers and names in a JSON field, at any depth. `names`: whether those of the outermost object count.

    >>> list(stored_texts('["a",{"b":"[7,8]"}]'))
    ['a', 'b', '[7,8]', '7', '8']
    """
    try:
        value: Any = loads(field)
    except (ValueError, RecursionError):
        yield field
        return
    rest: list[Any] = list(value.values()) if isinstance(value, dict) and not names else [value]
    rest.reverse()
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest += [part for name, part in reversed(value.items()) for part in (part, name)]
        elif isinstance(value, list):
            rest += reversed(value)
        elif value is not None:
            yield str(value)
            if isinstance(value, str) and value.startswith(_OPENS):
                rest.append(_parsed(value))


def _parsed(text: str) -> Any:  # noqa: ANN401 - JSON is any value
    """The list or object of a JSON text; None for any other text."""
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None
