"""BEAM: batches of turns of a chat with an assistant, with dates at some turns; one file is one conversation."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from slowwave.formats.json_stream import Json
from slowwave.formats.readers.builders import NO_OBJECT, MessageBuilder, as_label
from slowwave.formats.readers.timestamps import anchor_time
from slowwave.model.exchange import Item, SkippedItem
from slowwave.model.message import role_of

_TRAILER: Final = "->->"
"""Each user message ends in "->-> 1,1", an annotation of the benchmark."""

_BEGINS = datetime(2024, 1, 1, tzinfo=UTC)
_STEP = timedelta(minutes=1)


def fits(element: Json) -> bool:
    """Whether a JSON value is a batch of BEAM."""
    return isinstance(element, Mapping) and isinstance(element.get("turns"), list)


class Chat:
    """One chat: the time advances a minute per message, and to each date."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._now = _BEGINS

    def read(self, element: Json, number: int, builder: MessageBuilder) -> Iterator[Item]:
        """The messages of one batch."""
        place = f"batch {number}"
        if not fits(element):
            yield SkippedItem(where=place, why="no turns in it")
            return
        for count, turn in enumerate(element["turns"], 1):
            for message in turn if isinstance(turn, list) else [turn]:
                where = f"{place}, turn {count}"
                if not isinstance(message, Mapping):
                    yield SkippedItem(where=where, why=NO_OBJECT)
                    continue
                if anchor := anchor_time(message.get("time_anchor")):
                    self._now = max(self._now, anchor)
                self._now += _STEP
                yield from builder.messages(
                    self._name,
                    role_of(message.get("role")),
                    _without_trailer(message.get("content")),
                    where=where,
                    at=self._now,
                    ref=as_label(message.get("id")),
                )


def _without_trailer(content: Json) -> Json:
    return content.partition(_TRAILER)[0].rstrip() if isinstance(content, str) and _TRAILER in content else content
