"""Patterns that are compiled when they are first used: compiling all takes longer than answering a question."""

import re
from typing import Any, cast


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the pattern has it
        """What the pattern has, kept for the next time."""
        found = getattr(re.compile(*self._source), name)
        setattr(self, name, found)
        return found


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, compiled by the first use. Only its methods and attributes may be used.

    >>> late(r"[0-9]+").findall("3 of 10")
    ['3', '10']
    """
    return cast("re.Pattern[str]", _Late(pattern, flags))
