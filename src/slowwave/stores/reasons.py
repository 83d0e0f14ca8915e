"""The reasons of a run as stored: `runs.because` holds their words for a person, `runs.details` what code needs of them."""

from collections.abc import Sequence
from typing import Final

from slowwave.model.codec import dumps, loads
from slowwave.model.plan import Group

BLANK: Final = "erased"
"""Replaces words that may have quoted what was erased."""


def details_json(group: Group) -> str:
    """What `runs.details` holds of one group."""
    if not group.conversations and not group.count_of:
        return "{}"
    details: dict[str, object] = {}
    if group.conversations:
        details["conversations"] = group.conversations
    if group.count_of:
        details["count_of"] = group.count_of
    return dumps(details)


def reasons_json(groups: Sequence[Group]) -> tuple[str, str]:
    """The columns `because` and `details` of a run."""
    return dumps([group.because for group in groups]), f"[{','.join(map(details_json, groups))}]"


def parse_reasons(because: str, details: str) -> list[Group]:
    """The groups of a run without their operations, from the columns `because` and `details`.

    A run of an older version has no details.
    """
    words, stored = loads(because), loads(details)
    stored += [{}] * (len(words) - len(stored))
    return [
        Group(
            operations=(),
            because=text,
            conversations=tuple(values.get("conversations", ())),
            count_of=values.get("count_of", ""),
        )
        for text, values in zip(words, stored, strict=True)
    ]
