"""Finds memories and runs by the beginning or the end of their ids."""

from collections.abc import Sequence
from typing import Final

from slowwave.errors import InputError, NotFoundError
from slowwave.model.names import checked_id
from slowwave.model.zone import local
from slowwave.pipelines.planning import ID_LENGTH
from slowwave.ports import Ports

PART_MIN: Final = 6
"""Characters that a shortened id has at least. Ids begin with their time: those of a few minutes share the first six, and
hardly any two have the same last six."""
CANDIDATES_SHOWN: Final = 5
"""Ids that the error for an ambiguous part lists."""
WORDS_SHOWN: Final = 60
"""Characters of each of these memories that it shows."""


def find_memory_id(ports: Ports, part: str) -> str:
    """The id of the memory whose id is this, or begins or ends so.

    Raises:
        NotFoundError: there is none.
        InputError: the part is shorter than 6 characters, or several ids begin or end so; the error lists them.
    """
    text = checked_id(part)
    if _is_whole(text):
        return text
    found = ports.store.short_ids(ports.scopes, text, CANDIDATES_SHOWN + 1)
    if not found:
        raise NotFoundError(f"no memory {part!r} in scope {ports.scope}: check the id and the scope")
    words = {memory.id: " ".join(memory.text.split())[:WORDS_SHOWN] for memory in ports.store.get(ports.scopes, found)}
    return _only(text, found, [f"{memory} ({words[memory]})" for memory in found if memory in words])


def find_run_id(ports: Ports, part: str) -> str:
    """The id of the run whose id is this, or begins or ends so.

    Raises:
        NotFoundError: there is none.
        InputError: the part is shorter than 6 characters, or several ids begin or end so; the error lists them.
    """
    text = checked_id(part, "run_id")
    if _is_whole(text):
        return text
    found = ports.store.short_run_ids(ports.scope, text, CANDIDATES_SHOWN + 1)
    if not found:
        raise NotFoundError(f"no run {part!r} in scope {ports.scope}: check the id and the scope")
    runs = [ports.store.run(ports.scope, found_id) for found_id in found]
    return _only(
        text,
        found,
        [f"{run.id} ({run.cause}, {local(run.at, ports.zone):%Y-%m-%d %H:%M})" for run in runs if run is not None],
    )


def _is_whole(text: str) -> bool:
    return len(text) >= ID_LENGTH


def _only(part: str, found: Sequence[str], described: Sequence[str]) -> str:
    """The only id that was found, or the one that equals the text."""
    if part in found:
        return part
    if len(part) < PART_MIN:
        raise InputError(f"{part!r} is too short for an id: give its last {PART_MIN} characters, or more")
    if len(found) == 1:
        return found[0]
    more = " and others" if len(found) > CANDIDATES_SHOWN else ""
    raise InputError(
        f"several ids begin or end with {part!r}: {', '.join(described[:CANDIDATES_SHOWN])}{more}; give the last {PART_MIN} characters of one"
    )
