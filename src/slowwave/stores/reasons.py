"""The reasons of a run as stored: `runs.because` holds their words for a person, `runs.details` what code needs of them.

`details` also holds a checksum of each group's words and details, and with the first group one of the run's own values.
`runs.seal` says so. Runs of older versions have none of them, or none for some groups, and no `seal`: an older program may
write them after a newer one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from zlib import crc32

from slowwave.errors import CorruptError
from slowwave.model.codec import dumps, loads
from slowwave.model.plan import Group
from slowwave.stores.rows import REPAIRABLE, RUN_COLUMNS

BLANK: Final = "erased"
"""Replaces words that may have quoted what was erased."""
LOST: Final = "lost: the record of this change was damaged"
"""Replaces words that failed their checksum."""
_BLANK_GROUP: Final = Group(operations=(), because=BLANK)
SEAL: Final = 1
"""The version of the checksums that runs are written with, in `runs.seal`."""
_GROUP_SUM, _RUN_SUM = "checksum", "run_checksum"
_NAMES: Final = frozenset({"conversations", "count_of", _GROUP_SUM, _RUN_SUM})
_OWN: Final = tuple(RUN_COLUMNS.index(name) for name in ("id", "cause", "at", "parent", "undoes", "cost"))
_BECAUSE, _DETAILS, _SEAL = (RUN_COLUMNS.index(name) for name in ("because", "details", "seal"))


def details_of(group: Group) -> dict[str, Any]:
    """What code needs of a group's reason, without a checksum."""
    details: dict[str, Any] = {}
    if group.conversations:
        details["conversations"] = list(group.conversations)
    if group.count_of:
        details["count_of"] = group.count_of
    return details


def sealed_details(group: Group) -> dict[str, Any]:
    """What `runs.details` holds of a group, with its checksum."""
    details = details_of(group)
    return {**details, _GROUP_SUM: _checksum(group.because, details)}


def sealed_reasons(group: Group, own: Sequence[object]) -> tuple[str, str]:
    """The columns `because` and `details` of a run with one group.

    Args:
        group: the first group of the run.
        own: the id, cause, time, parent, undone run and cost of the run, as stored.
    """
    details = {**sealed_details(group), _RUN_SUM: _own_checksum(own, SEAL)}
    return f"[{dumps(group.because)}]", f"[{dumps(details)}]"


def parse_reasons(because: str, details: str) -> list[Group]:
    """The groups of a run without their operations, from the columns `because` and `details`.

    A run of an older version has no details.
    """
    return [
        Group(
            operations=(),
            because=text,
            conversations=tuple(values.get("conversations", ())),
            count_of=values.get("count_of", ""),
        )
        for text, values in _pairs(because, details)
    ]


def checked_reasons(row: Sequence[Any]) -> list[Group]:
    """The groups of a run, as `parse_reasons` gives them, from a row of RUN_COLUMNS.

    Raises:
        CorruptError: the row fails a checksum.
    """
    because, details = row[_BECAUSE], row[_DETAILS]
    try:
        pairs = _pairs(because, details)
        sound = all(_is_sound(text, values) for text, values in pairs)
        if sound and pairs and (row[_SEAL] is not None or _RUN_SUM in pairs[0][1]):
            sound = pairs[0][1].get(_RUN_SUM) == _own_checksum([row[place] for place in _OWN], row[_SEAL])
            sound &= all(_GROUP_SUM in values for _, values in pairs)
    except (AttributeError, TypeError, ValueError):  # damage can turn a value into another type
        sound = False
    if not sound:
        raise CorruptError(f"the run {row[RUN_COLUMNS.index('id')]!r} {REPAIRABLE}")
    return parse_reasons(because, details)


def rewritten_reasons(row: Sequence[Any], groups: int) -> tuple[str, str]:
    """The columns `because` and `details` of a damaged run: of groups that fail their checksum the reason is LOST.

    Args:
        row: a row of RUN_COLUMNS.
        groups: how many groups the journal has of the run.
    """
    try:
        pairs = _pairs(row[_BECAUSE], row[_DETAILS])
        sound = [_GROUP_SUM in values and _is_sound(text, values) for text, values in pairs]
    except (AttributeError, TypeError, ValueError):
        pairs, sound = [], []
    kept = [text if is_sound else LOST for (text, _), is_sound in zip(pairs, sound, strict=True)]
    kept += [LOST] * (groups - len(kept))
    details = [
        {name: value for name, value in pairs[place][1].items() if name != _RUN_SUM}
        if text is not LOST
        else sealed_details(Group(operations=(), because=LOST))
        for place, text in enumerate(kept)
    ]
    if details:
        details[0] = {**details[0], _RUN_SUM: _own_checksum([row[place] for place in _OWN], SEAL)}
    return dumps(kept), dumps(details)


def blanked_reasons(because: str, details: str, blank: Sequence[bool]) -> tuple[str, str]:
    """The columns `because` and `details` of a run, with these groups blanked."""
    words, stored = [], []
    for (text, values), gone in zip(_pairs(because, details), blank, strict=True):
        kept = {_RUN_SUM: values[_RUN_SUM]} if _RUN_SUM in values else {}
        words.append(BLANK if gone else text)
        stored.append({**sealed_details(_BLANK_GROUP), **kept} if gone else values)
    return dumps(words), dumps(stored)


def _pairs(because: str, details: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The words and the details of each group."""
    words, stored = loads(because), loads(details)
    stored += [{}] * (len(words) - len(stored))
    return list(zip(words, stored, strict=True))


def _is_sound(text: str, values: Mapping[str, Any]) -> bool:
    if not _NAMES.issuperset(values):
        return False
    rest = {name: value for name, value in values.items() if name not in {_GROUP_SUM, _RUN_SUM}}
    return _GROUP_SUM not in values or values[_GROUP_SUM] == _checksum(text, rest)


def _checksum(text: str, details: Mapping[str, Any]) -> int:
    """A CRC-32 of the words and the details of a group."""
    return crc32(f"{text}\x1f{dumps(details) if details else '{}'}".encode("utf-8", "surrogatepass"))


def _own_checksum(own: Sequence[object], seal: int | None) -> int:
    """A CRC-32 of the values of a run that do not change."""
    values = own if seal is None else (*own, seal)
    return crc32("\x1f".join("" if value is None else str(value) for value in values).encode("utf-8", "surrogatepass"))
