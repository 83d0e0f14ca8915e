"""JSON lines: one message a line, or one fact, or a line of our own export."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import BinaryIO

from slowwave.errors import InputError
from slowwave.formats import mem0
from slowwave.formats.decoding import BrokenError, Json, lines
from slowwave.formats.making import FACT_LONGEST, NAME_LONGEST, NO_OBJECT, Maker, first, label, named, role_of, text_of
from slowwave.formats.record import from_line
from slowwave.formats.seal import Proof
from slowwave.formats.times import instant
from slowwave.model.fact import Fact
from slowwave.model.message import clean
from slowwave.model.transfer import Item, Joined, Kept, Said, Skipped, Stated, Worked

VERSION = 1
"""Of our export."""

_TIMES = ("at", "timestamp", "created_at", "time")
_CONVERSATIONS = ("conversation", "conversation_id", "session_id", "thread_id")
_KINDS = ("episodic", "semantic", "procedural")


def fits(value: Json) -> bool:
    """Whether a JSON value looks like a line of ours."""
    known = {"content", "text", "fact", "memory", "slowwave", "messages"}
    return isinstance(value, Mapping) and bool(known & value.keys())


class Reader:
    """Reads the lines of one file in order.

    Args:
        name: what the conversation is called where a line names none.
        maker: makes the messages.
        proof: what an export must match so that its records are marked as proven; None marks none.
    """

    def __init__(self, name: str, maker: Maker, proof: Proof | None = None) -> None:
        self._name = name
        self._maker = maker
        self._proof = proof
        self._proven = False
        self._ours = False
        self._told: int | None = None
        self._read = 0

    def file(self, stream: BinaryIO) -> Iterator[Item]:
        """Everything in a file of lines."""
        number, usable = 0, False
        try:
            self._proven = self._proof is not None and self._proof.holds(stream)
            for number, value in lines(stream):
                for item in self.line(value, f"line {number}"):
                    usable = usable or not isinstance(item, Skipped)
                    yield item
        except BrokenError as error:
            yield Skipped(where=f"after line {number}", why=str(error), broken=True)
            return
        if not usable and not self._ours:
            yield Skipped(where="the file", why="it holds no line that can be taken in", broken=True)
        if self._ours and self._told is None:
            yield Skipped(
                where=f"after line {number}", why="the export's last line is missing: it was cut off", broken=True
            )
        elif self._ours and self._told != self._read:
            why = f"the export says it holds {self._told} records, and {self._read} are there"
            yield Skipped(where=f"line {number}", why=why, broken=True)

    def line(self, value: Json, where: str) -> Iterator[Item]:
        """What one line holds."""
        if isinstance(value, ValueError):
            yield Skipped(where=where, why=str(value))
        elif not isinstance(value, Mapping):
            yield Skipped(where=where, why=NO_OBJECT)
        elif "slowwave" in value:
            yield from self._header(value, where)
        elif self._ours and "type" in value:
            yield from self._record(value, where)
        elif isinstance(value.get("messages"), list):
            yield from self._conversation(value, where)
        elif mem0.fits(value):
            yield from mem0.read(value, where)
        elif isinstance(text := first(value, ("fact", "memory")), str):
            yield _fact(value, text, where)
        else:
            yield self._message(value, where, self._name)

    def _header(self, value: Mapping[str, Json], where: str) -> Iterator[Item]:
        if value.get("slowwave") != "export" or value.get("version") != VERSION:
            why = f"an export of version {value.get('version')!r}, and this Slowwave reads version {VERSION}: update it"
            yield Skipped(where=where, why=why, broken=True)
        else:
            self._ours = True

    def _record(self, value: Mapping[str, Json], where: str) -> Iterator[Item]:
        if value["type"] == "end":
            records = value.get("records")
            self._told = records if isinstance(records, int) else -1
            return
        self._read += 1
        try:
            item = from_line(value, where, "")
            if self._proven and isinstance(item, Kept | Joined | Worked):
                item = replace(item, proven=True)
            yield item
        except InputError as error:
            yield Skipped(where=where, why=str(error))

    def _conversation(self, value: Mapping[str, Json], where: str) -> Iterator[Item]:
        line = where.rpartition(" ")[2]
        name = label(first(value, (*_CONVERSATIONS, "id"))) or f"{self._name}-{line}"
        for count, message in enumerate(value["messages"], 1):
            place = f"{where}, message {count}"
            if isinstance(message, Mapping):
                yield self._message(message, place, name)
            else:
                yield Skipped(where=place, why=NO_OBJECT)

    def _message(self, value: Mapping[str, Json], where: str, conversation: str) -> Said | Skipped:
        written = first(value, _TIMES)
        at = instant(written)
        if written is not None and at is None:
            return Skipped(where=where, why="its time cannot be read: use ISO 8601, or seconds since 1970")
        speaker = label(value.get("speaker"))
        role = first(value, ("role", "sender"))
        return self._maker.said(
            label(first(value, _CONVERSATIONS)) or conversation,
            "user" if role is None and speaker else role_of(role),
            text_of(first(value, ("content", "text")) or ""),
            where=where,
            at=at,
            speaker=speaker,
            ref=label(value.get("id")),
        )


def _fact(value: Mapping[str, Json], text: str, where: str) -> Stated | Skipped:
    if not text.strip() or len(text) > FACT_LONGEST:
        return Skipped(where=where, why=f"a fact of 1 to {FACT_LONGEST:,} characters was expected")
    kind = value.get("kind")
    told = value.get("importance")
    importance = float(told) if isinstance(told, int | float) and 0 <= told <= 1 else None
    fact = Fact(
        text=clean(text).strip(),
        category=(label(value.get("category")) or "other")[:NAME_LONGEST],
        kind=kind if kind in _KINDS else "semantic",
        subject=label(value.get("subject")),
        importance=importance,
        valid_from=instant(first(value, _TIMES)),
    )
    return named(fact, where)
