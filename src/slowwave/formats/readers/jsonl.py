"""JSON lines: each line is a message, a fact, a record of a Slowwave export, or an item of another memory's file."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import BinaryIO

from slowwave.errors import InputError, shown
from slowwave.formats.export_records import from_line
from slowwave.formats.json_stream import BrokenError, Json, lines
from slowwave.formats.readers import langgraph, mem0, server_memory
from slowwave.formats.readers.builders import (
    NO_OBJECT,
    MessageBuilder,
    as_label,
    as_mapping,
    checked_fact,
    first_field,
    first_time,
)
from slowwave.formats.readers.dating import filled
from slowwave.formats.seal import Proof
from slowwave.model.content import is_of_tool
from slowwave.model.exchange import (
    ExportedCursor,
    ExportedLink,
    ExportedMemory,
    ImportedFact,
    Item,
    SkippedItem,
)
from slowwave.model.memory import STATEMENT_KINDS
from slowwave.model.message import role_of
from slowwave.model.mind import Fact

VERSION = 1
"""The version of the export format."""

_TIMES = ("at", "timestamp", "created_at", "time")
_MESSAGE = frozenset({"content", "parts", "text", "role", "sender", "speaker"})
UNKNOWN = "its format is not known: it has neither `content` with a `role`, nor `fact`, `memory` or `messages`"
_CONVERSATIONS = ("conversation", "conversation_id", "session_id", "thread_id")


def fits(value: Json) -> bool:
    """Whether a JSON value is a line that this reader accepts."""
    known = {"content", "text", "fact", "memory", "slowwave", "messages"}
    return isinstance(value, Mapping) and bool(known & value.keys())


class JsonlReader:
    """Reads the lines of one file in order.

    Args:
        name: the default name of the conversation.
        builder: builds the messages.
        proof: what an export must match so that its records are marked as proven; None marks none.
    """

    def __init__(self, name: str, builder: MessageBuilder, proof: Proof | None = None) -> None:
        self._name = name
        self._builder = builder
        self._proof = proof
        self._graph = server_memory.GraphReader()
        self._proven = False
        self._is_export = False
        self._declared: int | None = None
        self._records = 0

    def file(self, stream: BinaryIO) -> Iterator[Item]:
        """The items of a file of lines."""
        number, usable, refused = 0, False, False
        try:
            self._proven = self._proof is not None and self._proof.holds(stream)
            for number, value in lines(stream):
                for item in self.line(value, f"line {number}"):
                    usable = usable or not isinstance(item, SkippedItem)
                    refused = refused or isinstance(item, SkippedItem)
                    yield item
        except BrokenError as error:
            yield SkippedItem(where=f"after line {number}", why=str(error), broken=True)
            return
        if not usable and not self._is_export and (refused or number == 0):
            yield SkippedItem(where="the file", why="it holds no line that can be taken in", broken=True)
        if self._is_export and self._declared is None:
            yield SkippedItem(
                where=f"after line {number}", why="the export's last line is missing: it was cut off", broken=True
            )
        elif self._is_export and self._declared != self._records:
            why = f"the export says it holds {self._declared} records, and {self._records} are there"
            yield SkippedItem(where=f"line {number}", why=why, broken=True)

    def line(self, value: Json, where: str) -> Iterator[Item]:
        """The items of one line."""
        if isinstance(value, ValueError):
            yield SkippedItem(where=where, why=str(value))
        elif not isinstance(value, Mapping):
            yield SkippedItem(where=where, why=NO_OBJECT)
        elif "slowwave" in value:
            yield from self._header(value, where)
        elif self._is_export and "type" in value:
            yield from self._record(value, where)
        else:
            yield from self._item(value, where)

    def _item(self, value: Mapping[str, Json], where: str) -> Iterator[Item]:
        """The items of a line that is no record of an export."""
        if isinstance(value.get("messages"), list):
            yield from self._conversation(value, where)
        elif mem0.fits(value):
            yield from mem0.read(value, where)
        elif server_memory.fits(value):
            yield self._graph.read(value, where)
        elif langgraph.fits(value):
            yield from langgraph.read(value, where)
        elif isinstance(text := first_field(value, ("fact", "memory")), str):
            yield _fact(value, text, where)
        elif _MESSAGE.isdisjoint(value) and not is_of_tool(value):
            yield SkippedItem(where=where, why=UNKNOWN)
        else:
            yield from self._messages(value, where, self._name, first_time(value, _TIMES))

    def _header(self, value: Mapping[str, Json], where: str) -> Iterator[Item]:
        if value.get("slowwave") != "export" or value.get("version") != VERSION:
            why = f"an export of version {shown(value.get('version'))}, and this Slowwave reads version {VERSION}: update it"
            yield SkippedItem(where=where, why=why, broken=True)
        else:
            self._is_export = True

    def _record(self, value: Mapping[str, Json], where: str) -> Iterator[Item]:
        if value["type"] == "end":
            records = value.get("records")
            self._declared = records if isinstance(records, int) else -1
            return
        self._records += 1
        try:
            item = from_line(value, where, "")
            if self._proven and isinstance(item, ExportedMemory | ExportedLink | ExportedCursor):
                item = replace(item, proven=True)
            yield item
        except InputError as error:
            yield SkippedItem(where=where, why=str(error))

    def _conversation(self, value: Mapping[str, Json], where: str) -> Iterator[Item]:
        line = where.rpartition(" ")[2]
        name = as_label(first_field(value, (*_CONVERSATIONS, "id"))) or f"{self._name}-{line}"
        own = [first_time(as_mapping(message), _TIMES) for message in value["messages"]]
        times = filled(own, first_time(value, (*_TIMES, "updated_at", "create_time", "update_time")))
        for count, (message, (at, time_of)) in enumerate(zip(value["messages"], times, strict=True), 1):
            place = f"{where}, message {count}"
            if isinstance(message, Mapping):
                yield from self._messages(message, place, name, at, time_of)
            else:
                yield SkippedItem(where=place, why=NO_OBJECT)

    def _messages(
        self, value: Mapping[str, Json], where: str, conversation: str, at: datetime | None, time_of: str = ""
    ) -> Iterator[Item]:
        speaker = as_label(value.get("speaker"))
        role = first_field(value, ("role", "sender"))
        yield from self._builder.messages(
            as_label(first_field(value, _CONVERSATIONS)) or conversation,
            "user" if role is None and speaker else role_of(role),
            first_field(value, ("content", "parts", "text")),
            where=where,
            at=at,
            speaker=speaker,
            ref=as_label(value.get("id")),
            metadata=as_mapping(value.get("metadata")),
            fields=value,
            time_of=time_of,
        )


def _fact(value: Mapping[str, Json], text: str, where: str) -> ImportedFact | SkippedItem:
    kind = value.get("kind")
    number = value.get("importance")
    importance = float(number) if isinstance(number, int | float) and 0 <= number <= 1 else None
    fact = Fact(
        text=text,
        category=as_label(value.get("category")) or "other",
        kind=kind if kind in STATEMENT_KINDS else "semantic",
        subject=as_label(value.get("subject")),
        importance=importance,
        valid_from=first_time(value, _TIMES),
        metadata=as_mapping(value.get("metadata")),
    )
    return checked_fact(fact, where)
