"""Chunks: the next stretch of a conversation that a mind reads at once. A message too long for that is read in pieces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.mind import Transcript, Turn
from slowwave.model.operations import Change, MoveCursor, Operation
from slowwave.model.query import Where
from slowwave.model.status import Conversation
from slowwave.policy.guard.fence import remove_fenced_blocks
from slowwave.policy.ranking.packing import estimate
from slowwave.ports import Ports

CURSOR: Final = "distil"
"""The last message that was read to its end."""
OFFSET_CURSOR: Final = "distil/piece"
"""How far the message after it was read: its number and the characters read, in one number that only grows."""
RELEASED: Final = "released"
"""The flag of a message that was passed over while it was under review, and is to be read after all."""
MESSAGES: Final = 30
TOKENS: Final = 6000
PIECE: Final = 20_000
"""Characters of a message that are read at once; a prompt shows more of one text than that."""
BEFORE: Final = 3
"""How many messages before a chunk a mind sees for context."""
EARLIER: Final = 1000
"""The last characters of each of them that it sees."""
_OFFSET_BITS: Final = 32
_BREAKS: Final = ("\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", " ")
_HIDDEN: Final = frozenset({"quarantined", "retracted"})
_STANDING: Final = frozenset({"active", "core", "cold"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Messages to read, or characters [start, end) of one long message, of which `ends` says whether they are the last.

    `texts` is what there is to read of each message: without what this system itself put into a prompt. `released`
    messages lie behind the cursor: they were passed over while they were under review.
    """

    conversation: Conversation
    messages: tuple[Memory, ...]
    texts: tuple[str, ...]
    start: int = 0
    end: int = 0
    ends: bool = True
    released: bool = False

    @property
    def span(self) -> tuple[int, int]:
        """The cursor before it, and the number of its last message."""
        return self.conversation.cursor(CURSOR), self.messages[-1].seq

    @property
    def more(self) -> bool:
        """Whether something was unread behind it."""
        return not self.ends or self.conversation.last_seq > self.span[1]

    def same(self, other: "Chunk") -> bool:
        """Whether the other reads the same words."""
        return (self.conversation.name, self.span, self.start, self.texts) == (
            other.conversation.name,
            other.span,
            other.start,
            other.texts,
        )

    def __str__(self) -> str:
        first, last = self.span[0] + 1, self.span[1]
        if self.released and not self.start and self.ends:
            return f"released messages {', '.join(str(one.seq) for one in self.messages)} of {self.conversation.name}"
        if self.start or not self.ends:
            return f"characters {self.start + 1:,} to {self.end:,} of message {last} of {self.conversation.name}"
        return f"messages {first} to {last} of {self.conversation.name}"

    def moves(self, because: str) -> tuple[Operation, ...]:
        """What tells that it is read: a cursor moves, or released messages are so no longer."""
        if self.released:
            return tuple(Change(before=one, after=self._read(one), because=because) for one in self.messages)
        return (self._advance(because),)

    def _read(self, message: Memory) -> Memory:
        marks = {flag for flag in message.flags if flag.startswith(RELEASED)}
        left = frozenset() if self.ends else frozenset({RELEASED, f"{RELEASED}/{self.end}"})
        return replace(message, flags=(message.flags - marks) | left, version=message.version + 1)

    def _advance(self, because: str) -> MoveCursor:
        found, last = self.conversation, self.messages[-1].seq
        name, after = (CURSOR, last) if self.ends else (OFFSET_CURSOR, last << _OFFSET_BITS | self.end)
        return MoveCursor(conversation=found.name, cursor=name, before=found.cursor(name), after=after, because=because)


def is_partly_read(found: Conversation) -> bool:
    """Whether a long message was read in part: then the rest is due."""
    return found.cursor(OFFSET_CURSOR) >> _OFFSET_BITS > found.cursor(CURSOR)


def next_chunk(ports: Ports, found: Conversation) -> Chunk | None:
    """What is to be read next: messages that fit together, or a piece of one that fits with none. None if all is read."""
    if waiting := released_messages(ports, found.name):
        offsets = [int(flag.rpartition("/")[2]) for flag in waiting[0].flags if flag.startswith(f"{RELEASED}/")]
        return _first(found, waiting[:MESSAGES], max(offsets, default=0), released=True)
    where = Where(
        kinds=frozenset({MESSAGE}), conversation=found.name, after_seq=found.cursor(CURSOR), order="seq", limit=MESSAGES
    )
    waiting = ports.store.select((ports.scope,), where)
    if not waiting:
        return None
    number, offset = divmod(found.cursor(OFFSET_CURSOR), 1 << _OFFSET_BITS)
    return _first(found, waiting, offset if number == waiting[0].seq else 0, released=False)


def released_messages(ports: Ports, conversation: str | None = None) -> list[Memory]:
    """Messages that a person released after they were passed over, of one conversation or of all, in their order."""
    where = Where(kinds=frozenset({MESSAGE}), phases=_STANDING, flag=RELEASED, conversation=conversation, order="seq")
    return ports.store.select((ports.scope,), where)


def _first(found: Conversation, waiting: Sequence[Memory], start: int, *, released: bool) -> Chunk:
    """The first messages that fit together, or a piece of the very first, from a character on."""
    text = without_injected_blocks(waiting[0])
    end = piece_end(text, start)
    if start or end < len(text):
        return Chunk(
            conversation=found,
            messages=(waiting[0],),
            texts=(text[start:end],),
            start=start,
            end=end,
            ends=end >= len(text),
            released=released,
        )
    texts = first_batch(map(without_injected_blocks, waiting))
    return Chunk(conversation=found, messages=tuple(waiting[: len(texts)]), texts=texts, released=released)


def first_batch(texts: Iterator[str]) -> tuple[str, ...]:
    """The first texts that a mind reads together: at least one, none of the others longer than a piece."""
    chosen: list[str] = []
    spent = 0
    for text in texts:
        spent += estimate(text)
        if chosen and (spent > TOKENS or len(text) > PIECE):
            break
        chosen.append(text)
    return tuple(chosen)


def piece_end(text: str, start: int) -> int:
    """Where the piece that starts there ends: behind a paragraph, line, sentence or word, if any is near the limit."""
    window = text[start : start + PIECE]
    while (tokens := estimate(window)) > TOKENS:
        window = window[: max(1, len(window) * TOKENS // (tokens + 1))]
    if start + len(window) >= len(text):
        return len(text)
    late = len(window) * 3 // 4
    found = ((mark, window.rfind(mark, late)) for mark in _BREAKS)
    return start + next((place + len(mark) for mark, place in found if place >= 0), len(window))


def transcript(ports: Ports, chunk: Chunk) -> Transcript:
    """What the mind reads."""
    turns = tuple(
        Turn(number=number, memory=replace(message, text=text))
        for number, (message, text) in enumerate(zip(chunk.messages, chunk.texts, strict=True), 1)
        if text and message.phase not in _HIDDEN
    )
    return Transcript(
        conversation=chunk.conversation.name,
        turns=turns,
        most=ports.config.max_facts_per_pass,
        before=tuple(_before(ports, chunk)),
        speakers=ports.store.speakers(ports.scope),
    )


def _before(ports: Ports, chunk: Chunk) -> Sequence[Memory]:
    """The end of what was said just before."""
    if chunk.start:
        (message,) = chunk.messages
        return [replace(message, text=without_injected_blocks(message)[max(0, chunk.start - EARLIER) : chunk.start])]
    cursor = chunk.messages[0].seq - 1
    where = Where(
        kinds=frozenset({MESSAGE}),
        conversation=chunk.conversation.name,
        after_seq=max(0, cursor - BEFORE),
        until_seq=cursor,
        order="seq",
    )
    found = ports.store.select((ports.scope,), where)
    told = [
        replace(message, text=without_injected_blocks(message)[-EARLIER:])
        for message in found
        if message.phase not in _HIDDEN
    ]
    return [message for message in told if message.text]


def without_injected_blocks(message: Memory) -> str:
    """The words of a message without text that this system itself put into a prompt."""
    return remove_fenced_blocks(message.text).strip()
