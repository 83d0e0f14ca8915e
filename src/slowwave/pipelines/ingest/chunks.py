"""Splits a conversation into the chunks that a mind reads at once; a message that is too long is read in pieces."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil
from typing import Final

from slowwave.model.memory import MESSAGE, Memory, Phase
from slowwave.model.mind import Transcript, Turn
from slowwave.model.operations import Change, MoveCursor, Operation
from slowwave.model.progress import (
    DISTIL_CURSOR,
    FAILED_CURSOR,
    RELEASED,
    UNREADABLE,
    FailedReading,
    PieceCursor,
    is_unreadable_by,
    released_flags,
    released_offset,
    unreadable_flags,
    without_released,
    without_unreadable,
)
from slowwave.model.query import Where
from slowwave.model.status import ConversationState
from slowwave.policy.guard.fence import remove_fenced_blocks
from slowwave.policy.guard.redaction import secret_around
from slowwave.policy.ranking.packing import estimate
from slowwave.ports import Counting, Ports

CURSOR: Final = DISTIL_CURSOR
"""The cursor of the last message that was read to its end."""
OFFSET_CURSOR: Final = "distil/piece"
"""The cursor of a place inside the message after it, as `PieceCursor` packs it."""
MESSAGES: Final = 30
TOKENS: Final = 6000
PIECE: Final = 20_000
"""Characters of a message that are read at once; a prompt shows more of one text than that."""
BEFORE: Final = 3
"""How many messages before a chunk a model sees for context."""
BEFORE_FOR_RULES: Final = 100
"""The same for the rules, which read for nothing and must know of a scene that began long before."""
EARLIER: Final = 1000
"""The last characters of each of them that it sees."""
_MESSAGES_PER_LIMIT: Final = 8  # rules cost nothing, so that a long pass may give more facts than a short one
_TOKENS_PER_LIMIT: Final = 1_000
_BREAKS: Final = ("\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", " ")
_HIDDEN: Final = frozenset[Phase]({"quarantined", "retracted"})
_VALID: Final = frozenset[Phase]({"active", "core", "cold"})

RELEASED_MESSAGES: Final = Where(kinds=frozenset({MESSAGE}), phases=_VALID, flag=RELEASED, order="seq")
"""Messages that a person released after the cursor had passed them, in order."""
UNREADABLE_MESSAGES: Final = replace(RELEASED_MESSAGES, flag=UNREADABLE)
"""Messages that a mind could not read, and that the cursor has passed, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Messages to read, or a piece of one long message.

    Attributes:
        conversation: their conversation.
        messages: the messages, in order.
        texts: what is read of each message: without the blocks that this program put into a prompt.
        start: the first character of the piece.
        end: the character after the piece; 0 for whole messages.
        ends: whether the piece is the last one of its message.
        released: the messages lie before the cursor: they were under review when it passed them.
    """

    conversation: ConversationState
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
    def position(self) -> float:
        """How far the conversation is read with it, in messages; a piece is a part of its message."""
        last = self.messages[-1].seq or 0
        return last if self.ends else last - 1 + self.end / max(1, len(self.texts[-1]))

    @property
    def more(self) -> bool:
        """Whether something unread follows it."""
        return not self.ends or self.conversation.last_seq > self.span[1]

    def same(self, other: "Chunk") -> bool:
        """Whether the other chunk has the same texts to read."""
        return (self.conversation.name, self.span, self.start, self.texts) == (
            other.conversation.name,
            other.span,
            other.start,
            other.texts,
        )

    def __str__(self) -> str:
        first, last = self.span[0] + 1, self.span[1]
        if self.released and not self.start and self.ends:
            return f"released messages {', '.join(str(message.seq) for message in self.messages)} of {self.conversation.name}"
        if self.start or not self.ends:
            return f"characters {self.start + 1:,} to {self.end:,} of message {last} of {self.conversation.name}"
        return f"messages {first} to {last} of {self.conversation.name}"

    def first(self, messages: int) -> "Chunk":
        """The chunk with its first messages only; itself if it has no more, or is a piece of one message."""
        if len(self.messages) <= messages:
            return self
        return replace(self, messages=self.messages[:messages], texts=self.texts[:messages])

    def moves(self, because: str) -> tuple[Operation, ...]:
        """The operations that record it as read: a cursor moves, or released messages lose their flags."""
        if self.released:
            read = [
                Change(before=message, after=self._without_flags(message), because=because) for message in self.messages
            ]
            return (*read, *self._no_failure(because))
        name, after = CURSOR, self.messages[-1].seq
        if not self.ends:
            name, after = OFFSET_CURSOR, PieceCursor(message=after, offset=self.end).pack()
        return (self._move(name, after, because), *self._no_failure(because))

    def passed_over(self, mind: str, because: str) -> tuple[Operation, ...]:
        """The operations that mark its only message as one that this mind could not read, and go on behind it."""
        (message,) = self.messages
        flags = unreadable_flags(message.flags, mind)
        mark = Change(before=message, after=replace(message, flags=flags, version=message.version + 1), because=because)
        whole = replace(self, start=0, end=0, ends=True)
        return (mark, *self._no_failure(because)) if self.released else (*whole.moves(because), mark)

    def failed(self, at: datetime, because: str) -> MoveCursor:
        """The operation that records a failure of the mind at this conversation, which then pauses."""
        last = FailedReading.unpack(self.conversation.cursor(FAILED_CURSOR))
        failed = FailedReading(at=at, failures=last.failures + 1 if last else 1)
        return self._move(FAILED_CURSOR, failed.pack(), because)

    def _no_failure(self, because: str) -> tuple[MoveCursor, ...]:
        """The operation that ends the pause of a conversation of which something is read, if it has one."""
        return (self._move(FAILED_CURSOR, 0, because),) if self.conversation.cursor(FAILED_CURSOR) else ()

    def _move(self, cursor: str, after: int, because: str) -> MoveCursor:
        conversation, before = self.conversation.name, self.conversation.cursor(cursor)
        return MoveCursor(conversation=conversation, cursor=cursor, before=before, after=after, because=because)

    def _without_flags(self, message: Memory) -> Memory:
        remaining = frozenset[str]() if self.ends else released_flags(self.end)
        return replace(message, flags=without_released(message.flags) | remaining, version=message.version + 1)


def is_partly_read(conversation: ConversationState) -> bool:
    """Whether a long message was read in part: then the rest of it is due."""
    return PieceCursor.unpack(conversation.cursor(OFFSET_CURSOR)).message > conversation.cursor(CURSOR)


def next_chunk(ports: Ports, conversation: ConversationState) -> Chunk | None:
    """The next messages that fit together, or the next piece of a message that does not fit; None if all is read."""
    cursor = conversation.cursor(CURSOR)
    released, unread = ports.store.select_each(
        ports.scope,
        [
            replace(RELEASED_MESSAGES, conversation=conversation.name),
            Where(
                kinds=frozenset({MESSAGE}),
                conversation=conversation.name,
                after_seq=cursor,
                order="seq",
                limit=MESSAGES,
            ),
        ],
    )
    if released:
        return _first_chunk(conversation, released[:MESSAGES], released_offset(released[0].flags), released=True)
    if not unread:
        return None
    piece = PieceCursor.unpack(conversation.cursor(OFFSET_CURSOR))
    start = piece.offset if piece.message == unread[0].seq else 0
    return _first_chunk(conversation, unread, start, released=False)


def released_messages(ports: Ports, conversation: str | None = None) -> list[Memory]:
    """Messages that a person released after the cursor had passed them, of one conversation or of all, in order."""
    return ports.store.select((ports.scope,), replace(RELEASED_MESSAGES, conversation=conversation))


def unreadable_messages(ports: Ports, conversation: str | None = None) -> list[Memory]:
    """Messages that a mind could not read, of one conversation or of all, in order."""
    return ports.store.select((ports.scope,), replace(UNREADABLE_MESSAGES, conversation=conversation))


def read_again(ports: Ports, messages: Iterable[Memory], *, by_any: bool = False) -> tuple[Operation, ...]:
    """The operations after which messages that a mind could not read are due as released ones.

    Args:
        ports: the present mind, which reads them again if it is another one.
        messages: the messages.
        by_any: also those that the present mind could not read.
    """
    because = "to be read again"
    return tuple(
        Change(
            before=one,
            after=replace(one, flags=without_unreadable(one.flags) | {RELEASED}, version=one.version + 1),
            because=because,
        )
        for one in messages
        if by_any or not is_unreadable_by(one.flags, ports.mind.name)
    )


def _first_chunk(conversation: ConversationState, unread: Sequence[Memory], start: int, *, released: bool) -> Chunk:
    """The first messages that fit together, or a piece of the first one from the character `start`."""
    text = without_injected_blocks(unread[0])
    end = piece_end(text, start)
    if start or end < len(text):
        return Chunk(
            conversation=conversation,
            messages=(unread[0],),
            texts=(text[start:end],),
            start=start,
            end=end,
            ends=end >= len(text),
            released=released,
        )
    texts = first_batch(map(without_injected_blocks, unread))
    return Chunk(conversation=conversation, messages=tuple(unread[: len(texts)]), texts=texts, released=released)


def first_batch(texts: Iterator[str]) -> tuple[str, ...]:
    """The first texts that a mind reads together: at least one, and no further one that is longer than a piece."""
    chosen: list[str] = []
    spent = 0
    for text in texts:
        spent += estimate(text)
        if chosen and (spent > TOKENS or len(text) > PIECE):
            break
        chosen.append(text)
    return tuple(chosen)


def piece_end(text: str, start: int) -> int:
    """Where the piece that begins at `start` ends: after a paragraph, line, sentence or word, if one ends near the limit.

    It ends before a secret that the limit would divide, because a part of a secret is not recognised.
    """
    window = text[start : start + PIECE]
    while (tokens := estimate(window)) > TOKENS:
        window = window[: max(1, len(window) * TOKENS // (tokens + 1))]
    if start + len(window) >= len(text):
        return len(text)
    places = ((mark, window.rfind(mark, len(window) * 3 // 4)) for mark in _BREAKS)
    end = start + next((place + len(mark) for mark, place in places if place >= 0), len(window))
    secret = secret_around(text, end)
    return secret[0] if secret and secret[0] > start else end


def _ending(text: str) -> str:
    """The last characters of a text, without a part of a secret at their begin."""
    cut = max(0, len(text) - EARLIER)
    secret = secret_around(text, cut) if cut else None
    return text[secret[1] if secret else cut :]


def transcript(ports: Ports, chunk: Chunk) -> Transcript:
    """The chunk as a mind reads it, with the end of the text before it."""
    turns = tuple(
        Turn(number=number, memory=replace(message, text=text))
        for number, (message, text) in enumerate(zip(chunk.messages, chunk.texts, strict=True), 1)
        if text and message.phase not in _HIDDEN
    )
    return Transcript(
        conversation=chunk.conversation.name,
        turns=turns,
        most=_facts_max(ports, turns),
        before=tuple(_before(ports, chunk)),
        speakers=ports.store.speakers(ports.scope),
    )


def _facts_max(ports: Ports, turns: Sequence[Turn]) -> int:
    """How many facts a pass may give: `max_facts_per_pass` for each 1,000 tokens, and without a model for each eight messages."""
    if isinstance(ports.mind, Counting):
        parts = sum(estimate(turn.memory.text) for turn in turns) / _TOKENS_PER_LIMIT
    else:
        parts = len(turns) / _MESSAGES_PER_LIMIT
    return ports.config.max_facts_per_pass * max(1, ceil(parts))


def _before(ports: Ports, chunk: Chunk) -> Sequence[Memory]:
    """The end of the text before the chunk, for context."""
    if chunk.start:
        (message,) = chunk.messages
        return [replace(message, text=_ending(without_injected_blocks(message)[: chunk.start]))]
    cursor = chunk.messages[0].seq - 1
    if not cursor:
        return []
    where = Where(
        kinds=frozenset({MESSAGE}),
        conversation=chunk.conversation.name,
        after_seq=max(0, cursor - (BEFORE if isinstance(ports.mind, Counting) else BEFORE_FOR_RULES)),
        until_seq=cursor,
        order="seq",
    )
    shortened = [
        replace(message, text=_ending(without_injected_blocks(message)))
        for message in ports.store.select((ports.scope,), where)
        if message.phase not in _HIDDEN and UNREADABLE not in message.flags  # it would be refused here as well
    ]
    return [message for message in shortened if message.text]


def without_injected_blocks(message: Memory) -> str:
    """The words of a message without the blocks that this program put into a prompt."""
    return remove_fenced_blocks(message.text).strip()
