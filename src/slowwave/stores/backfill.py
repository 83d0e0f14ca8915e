"""Fills columns that a migration adds, from the reasons in words that older versions stored.

This is the only code that reads those words, and it runs once for each store.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from slowwave.model.codec import dumps
from slowwave.model.plan import Group
from slowwave.stores.reasons import details_of, parse_reasons
from slowwave.stores.rows import last_key

Execute: TypeAlias = Callable[[str, Sequence[object]], Any]
"""Runs a statement with `?` for values; what it returns is an iterable of rows."""

_RUNS: Final = "SELECT key, scope, cause, because FROM runs WHERE key > ? ORDER BY key LIMIT 5000"
_UNDO: Final = re.compile(r"undo of (\S+): ")
_UNDOS: Final = re.compile(r"(?:undo of \S+: )*")
_NUMBER: Final = re.compile(r"[\d,]+ (?=.)")
_CONVERSATION: Final = re.compile(
    r"(?:a message|[\d,]+ (?:messages|eras)|(?:released )?messages [\d, to]+|characters [\d,]+ to [\d,]+ of message \d+) of "
)
"""How the reasons begin that name a conversation."""
_OF: Final = re.compile(r"\bof ")
_END: Final = re.compile(r"[ :,]|$")
_NAME_LONGEST: Final = 512  # characters of the name of a conversation


def fill_reasons(execute: Execute) -> None:
    """Fill `runs.undoes` and `runs.details`, inside the transaction that added them."""
    last, scope, names = -1, None, frozenset[str]()
    while rows := list(execute(_RUNS, (last,))):
        for key, token, cause, because in rows:
            if token != scope:
                scope = token
                names = frozenset(row[0] for row in execute("SELECT name FROM conversations WHERE scope = ?", (token,)))
            undoes, details = _columns(str(cause), str(because), names)
            if undoes is not None or details is not None:
                values = (undoes, details or "[]", key, token)
                execute("UPDATE runs SET undoes = ?, details = ? WHERE key = ? AND scope = ?", values)
        last = last_key(rows, last)


def _columns(cause: str, because: str, names: Collection[str]) -> tuple[str | None, str | None]:
    """The columns `undoes` and `details` of a run; None for a column without content."""
    groups = parse_reasons(because, "[]")
    undone = (match[1] for group in groups if (match := _UNDO.match(group.because))) if cause == "undo" else iter(())
    filled = [replace(group, conversations=_named(group.because, names)) for group in groups]
    if cause.startswith("sleep/") and len(groups) > 1:
        filled = [replace(group, count_of=_count_of(group)) for group in filled]
    return next(undone, None), dumps([details_of(group) for group in filled]) if filled != groups else None


def _count_of(group: Group) -> str:
    match = _NUMBER.match(group.because)
    return group.because[match.end() :] if match else ""


def _named(because: str, names: Collection[str]) -> tuple[str, ...]:
    """The conversations that a reason names.

    A reason with an unknown beginning may quote a fact: then every name after an "of" counts, so that an erase of that
    conversation blanks it.
    """
    words = because[_UNDOS.match(because).end() :]  # type: ignore[union-attr]  # it matches the empty text
    if match := _CONVERSATION.match(words):
        return tuple(_longest(words, match.end(), names))
    found = (name for match in _OF.finditer(words) for name in _longest(words, match.end(), names))
    return tuple(dict.fromkeys(found))


def _longest(words: str, start: int, names: Collection[str]) -> Iterator[str]:
    """The longest of these names that is at this place of the words, if there is one."""
    ends = [match.start() for match in _END.finditer(words, start, start + _NAME_LONGEST + 1)]
    yield from [words[start:end] for end in reversed(ends) if words[start:end] in names][:1]
