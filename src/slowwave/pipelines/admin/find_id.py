"""Finds memories and runs by the beginning of their ids."""

from collections.abc import Sequence
from typing import Final

from slowwave.errors import InputError, NotFoundError
from slowwave.model.names import checked_id
from slowwave.model.zone import local
from slowwave.pipelines.planning import ID_LENGTH
from slowwave.ports import Ports

PREFIX_MIN: Final = 6
"""Characters that a shortened id has at least. Ids begin with their time: fewer characters are shared by many."""
CANDIDATES_SHOWN: Final = 5
"""Ids that the error for an ambiguous beginning lists."""
WORDS_SHOWN: Final = 60
"""Characters of each of these memories that it shows."""


def find_memory_id(ports: Ports, prefix: str) -> str:
    """The id of the memory whose id is this, or begins so.

    Raises:
        NotFoundError: there is none.
        InputError: the beginning is shorter than 6 characters, or several ids begin so; the error lists them.
    """
    text = checked_id(prefix)
    if _is_whole(text):
        return text
    found = ports.store.ids_with_prefix(ports.scopes, text, CANDIDATES_SHOWN + 1)
    if not found:
        raise NotFoundError(f"no memory {prefix!r} in scope {ports.scope}: check the id and the scope")
    words = {memory.id: " ".join(memory.text.split())[:WORDS_SHOWN] for memory in ports.store.get(ports.scopes, found)}
    return _only(text, found, [f"{memory} ({words[memory]})" for memory in found if memory in words])


def find_run_id(ports: Ports, prefix: str) -> str:
    """The id of the run whose id is this, or begins so.

    Raises:
        NotFoundError: there is none.
        InputError: the beginning is shorter than 6 characters, or several ids begin so; the error lists them.
    """
    text = checked_id(prefix, "run_id")
    if _is_whole(text):
        return text
    found = ports.store.run_ids_with_prefix(ports.scope, text, CANDIDATES_SHOWN + 1)
    if not found:
        raise NotFoundError(f"no run {prefix!r} in scope {ports.scope}: check the id and the scope")
    runs = [ports.store.run(ports.scope, found_id) for found_id in found]
    return _only(
        text,
        found,
        [f"{run.id} ({run.cause}, {local(run.at, ports.zone):%Y-%m-%d %H:%M})" for run in runs if run is not None],
    )


def _is_whole(text: str) -> bool:
    return len(text) >= ID_LENGTH


def _only(prefix: str, found: Sequence[str], described: Sequence[str]) -> str:
    """The only id that was found, or the one that equals the text."""
    if prefix in found:
        return prefix
    if len(prefix) < PREFIX_MIN:
        raise InputError(f"{prefix!r} is too short for an id: give its first {PREFIX_MIN} characters or more")
    if len(found) == 1:
        return found[0]
    more = " and others" if len(found) > CANDIDATES_SHOWN else ""
    raise InputError(
        f"several ids begin with {prefix!r}: {', '.join(described[:CANDIDATES_SHOWN])}{more}; give more characters"
    )
