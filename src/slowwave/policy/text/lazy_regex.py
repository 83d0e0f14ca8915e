"""Regular expressions that are compiled at first use: compiling all of them takes longer than answering a question."""

import re
from typing import Any, cast


class _LazyRegex:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever type the attribute of the pattern has
        """An attribute of the compiled pattern, stored on this object so that later accesses do not call this method."""
        attribute = getattr(re.compile(*self._source), name)
        setattr(self, name, attribute)
        return attribute


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """An object with the methods of `re.compile(pattern, flags)`, which compiles the pattern at first use.

    Only methods and attributes work: the object cannot be passed to functions of `re`.

    >>> lazy_regex(r"[0-9]+").findall("3 of 10")
    ['3', '10']
    """
    return cast("re.Pattern[str]", _LazyRegex(pattern, flags))
