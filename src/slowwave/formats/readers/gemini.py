"""Gemini's conversations in Google Takeout: the records of "My Activity", each a prompt and its answer, newest first.

The records name no conversation, so the prompts of one day (in UTC) are one. Their fields are those of the schema of My
Activity in Google's Data Portability API.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from slowwave.formats.html_text import html_text
from slowwave.formats.json_stream import Json
from slowwave.formats.readers.builders import NO_OBJECT, MessageBuilder, as_list
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import Item, SkippedItem

_PRODUCTS: Final = ("gemini", "bard")
"""Words in the name of the product in every language."""
_PROMPT: Final = re.compile(r"(?:Prompted with:|Prompted|Asked Gemini:|Asked Bard:|Asked|Said)\s+", re.IGNORECASE)
_OTHER_PRODUCT: Final = "an activity of another product than Gemini"
_NO_PROMPT: Final = "an activity that is not a prompt, such as feedback or a document"
_MORE_ANSWERS: Final = "another answer to the same prompt"
_ATTACHED: Final = "its attachments: only text is imported"
_LONGEST_DAY: Final = 10_000
"""Records that are in memory at once; a longer day is read in parts."""


def fits(element: Json) -> bool:
    """Whether a JSON value is a record of the activity of Gemini."""
    is_record = isinstance(element, Mapping) and "title" in element and "time" in element
    return is_record and _is_gemini(element)


class ActivityReader:
    """Reads the records of one file, and yields those of a day in order of time once another day begins."""

    def __init__(self, builder: MessageBuilder, name: str) -> None:
        self._builder = builder
        self._name = name
        self._day: str | None = None
        self._records: list[tuple[datetime, int, Mapping[str, Json]]] = []

    def read(self, element: Json, number: int) -> Iterator[Item]:
        """Take one record, and yield the messages of the day before it if that is complete."""
        where = f"activity {number}"
        if not isinstance(element, Mapping):
            yield SkippedItem(where=where, why=NO_OBJECT)
            return
        if not _is_gemini(element):
            yield SkippedItem(where=where, why=_OTHER_PRODUCT)
            return
        at = instant(element.get("time"))
        day = at.date().isoformat() if at else self._name
        if self._records and (day != self._day or len(self._records) >= _LONGEST_DAY):
            yield from self.end()
        self._day = day
        self._records.append((at or datetime.min.replace(tzinfo=UTC), -number, element))

    def end(self) -> Iterator[Item]:
        """The messages of the last day."""
        records, self._records = sorted(self._records, key=lambda record: record[:2]), []
        for _, number, record in records:
            yield from self._messages(record, f"activity {-number}")

    def _messages(self, record: Mapping[str, Json], where: str) -> Iterator[Item]:
        answers = [text for text in map(_answer, as_list(record.get("safeHtmlItem"))) if text]
        title = record.get("title")
        prompt = _PROMPT.match(title) if isinstance(title, str) else None
        if not isinstance(title, str) or not (prompt or answers):
            yield SkippedItem(where=where, why=_NO_PROMPT)
            return
        at, conversation = instant(record.get("time")), f"gemini-{self._day}"
        words = title[prompt.end() :] if prompt else title  # in other languages the verb stays
        yield from self._builder.messages(conversation, "user", words, where=where, at=at)
        if answers:
            yield from self._builder.messages(conversation, "assistant", answers[0], where=where, at=at)
        for _ in answers[1:]:
            yield SkippedItem(where=where, why=_MORE_ANSWERS)
        if record.get("attachedFiles") or record.get("imageFile") or record.get("audioFiles"):
            yield SkippedItem(where=where, why=_ATTACHED)


def _is_gemini(record: Mapping[str, Json]) -> bool:
    names = [record.get("header"), *as_list(record.get("products"))]
    return any(product in name.lower() for name in names if isinstance(name, str) for product in _PRODUCTS)


def _answer(item: Json) -> str:
    html = item.get("html") if isinstance(item, Mapping) else None
    return html_text(html) if isinstance(html, str) else ""
