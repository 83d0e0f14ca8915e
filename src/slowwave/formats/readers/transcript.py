"""Plain text of a conversation: "user: …" and "assistant: …" begin messages, which later lines continue."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from slowwave.model.message import ROLES

_OPENS: Final = re.compile(rf"({'|'.join(ROLES)})\s*:\s*", re.IGNORECASE)
TURNS_LEAST: Final = 2
"""Lines with a role from which a text is a conversation, if its first line has one."""


def turns(lines: Iterable[str], role: str) -> Iterator[tuple[str, str]]:
    r"""Role and text of each message. After the first line with a role, lines without one continue the message before.

    >>> list(turns(["user: I live in Graz", "since May", "Assistant: Nice"], "user"))
    [('user', 'I live in Graz\nsince May'), ('assistant', 'Nice')]

    Args:
        lines: The lines of the text.
        role: The role of each line before the first one that names a role.
    """
    current, parts = role, list[str]()
    named = False
    for line in lines:
        if match := _OPENS.match(line):
            yield from _turn(current, parts)
            current, parts, named = match[1].lower(), [line[match.end() :]], True
        elif named:
            parts.append(line)
        else:
            yield from _turn(role, [line])
    yield from _turn(current, parts)


def is_transcript(text: str) -> bool:
    r"""Whether a text is a conversation: its first words name a role, and so does a later line.

    >>> is_transcript("user: hi\nassistant: hello"), is_transcript("user: the person who is logged in")
    (True, False)
    """
    lines = text.lstrip().split("\n")
    return _OPENS.match(lines[0]) is not None and sum(_OPENS.match(line) is not None for line in lines) >= TURNS_LEAST


def _turn(role: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    content = "\n".join(line.rstrip("\r\n") for line in lines).strip()
    if content:
        yield role, content
