"""The difference of two versions of a text: by words, or by lines for lists such as topic pages."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

Piece = tuple[Literal["same", "del", "ins", "gap"], str]
"""A part of a text: one that stays, goes or comes, or a sentence about lines that stay and are not shown."""

ALIKE_LEAST: Final = 0.4
"""Below this share of common words a reader understands the two whole texts better than their difference."""
_WORD: Final = re.compile(r"\s+|[^\s]+")


def differences(before: str, after: str) -> tuple[Piece, ...]:
    r"""The parts of two versions of a text, in order; empty if they have too little in common.

    Texts of several lines are compared line by line, and runs of lines that stay are counted instead of shown.

    >>> differences("Ada bakes rye bread", "Ada bakes spelt bread")
    (('same', 'Ada bakes '), ('del', 'rye'), ('ins', 'spelt'), ('same', ' bread'))
    >>> differences("Ada: work\n- bakes\n- rows", "Ada: work\n- bakes\n- rows\n- sings")
    (('gap', '3 lines stay'), ('ins', '- sings'))
    """
    if "\n" in before and "\n" in after:
        return tuple(_by_lines(before.splitlines(), after.splitlines()))
    old, new = _WORD.findall(before), _WORD.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return tuple(_pieces(matcher, old, new, "")) if matcher.ratio() >= ALIKE_LEAST else ()


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for kind, text in _pieces(SequenceMatcher(None, old, new, autojunk=False), old, new, "\n"):
        lines = text.count("\n") + 1
        if kind == "same":
            yield "gap", "1 line stays" if lines == 1 else f"{lines} lines stay"
        else:
            yield kind, text


def _pieces(matcher: "SequenceMatcher[str]", old: Sequence[str], new: Sequence[str], between: str) -> Iterator[Piece]:
    for change, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if change == "equal":
            yield "same", between.join(old[old_from:old_to])
            continue
        if old_to > old_from:
            yield "del", between.join(old[old_from:old_to])
        if new_to > new_from:
            yield "ins", between.join(new[new_from:new_to])
