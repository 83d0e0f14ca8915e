"""Costs of model calls: the sums of the journal, and an estimate for the unread messages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from slowwave.model.memory import MESSAGE, Memory
from slowwave.model.names import optional_conversation
from slowwave.model.plan import FREE, Cost
from slowwave.model.query import Where
from slowwave.model.status import ConversationState
from slowwave.pipelines.ingest.chunks import (
    CURSOR,
    MESSAGES,
    first_batch,
    piece_end,
    released_messages,
    without_injected_blocks,
)
from slowwave.policy.ranking.packing import estimate as tokens
from slowwave.ports import Counting, Ports

PROMPT_TOKENS = 620
"""Of the distilling prompt with its marks and the messages just before a chunk (measured; a test holds it to the prompt)."""
LINE_TOKENS = 4
"""Of number and speaker before each message, and its part of the time above a session (measured)."""
MESSAGES_PER_FACT = 4
"""A model finds about one fact in so many messages of talk (measured on two conversations: 3.4)."""
FACT_TOKENS = 30
"""Of one fact in an answer, out."""
ADVICE_TOKENS = 210
"""The most of a message of an assistant without a name: a model is shown its beginning and end (a test holds it to the prompt)."""
RECONCILE_TOKENS = 320
"""Of the reconciling prompt with its marks (measured; a test holds it to the prompt)."""
COMPARED_TOKENS = 30
"""Of one new fact and its share of the known memories near it, in (measured). Half of the facts have none."""
VERDICT_TOKENS = 20
"""Of the answer about the facts of one chunk, out: most change nothing."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """The cost of model calls since an instant (None: of all runs), in total and by the cause of the runs."""

    total: Cost = FREE
    causes: Mapping[str, Cost] = field(default_factory=dict)
    since: datetime | None = None

    def __str__(self) -> str:
        lines = [_line("in all" if self.since is None else f"since {self.since:%Y-%m-%d %H:%M}", self.total)]
        return "\n".join([*lines, *(f"  {_line(cause, cost)}" for cause, cost in self.causes.items())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The expected cost of consolidating the unread messages; money only where a price is known.

    `calls` is the most that are expected without repairs: one call to distil and one to reconcile for each chunk.
    """

    conversations: int = 0
    messages: int = 0
    chunks: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0

    def __str__(self) -> str:
        what = f"{self.messages:,} unread messages of {self.conversations:,} conversations"
        if not self.calls:
            return f"{what}: no model is asked"
        price = f", about {self.money:.4f}" if self.money else ""
        return f"{what}: up to {self.calls:,} calls, {self.tokens_in:,} tokens in, {self.tokens_out:,} out{price}"


def costs(ports: Ports, since: datetime | None = None) -> CostReport:
    """Sum the costs that the journal holds."""
    since = ports.time(since, "since") if since is not None else None
    causes = ports.store.costs(ports.scope, since)
    return CostReport(total=sum(causes.values(), FREE), causes=causes, since=since)


def estimate(ports: Ports, conversation: str | int | None = None) -> Estimate:
    """Estimate the cost of distilling one conversation, or all of them with None. Calls no model."""
    conversations = _conversations(ports, optional_conversation(conversation))
    released = Counter(message.conversation for message in released_messages(ports))
    counts = [
        (found.last_seq - found.cursor(CURSOR) + released[found.name], list(_chunks(ports, found)))
        for found in conversations
    ]
    counts = [(messages, chunks) for messages, chunks in counts if chunks]
    chunks = [size for _, sizes in counts for size in sizes]
    basis = Estimate(conversations=len(counts), messages=sum(messages for messages, _ in counts), chunks=len(chunks))
    if not isinstance(ports.mind, Counting):
        return basis
    facts = -(-basis.messages // MESSAGES_PER_FACT)
    compared = len(chunks)
    tokens_in = sum(chunks) + compared * RECONCILE_TOKENS + facts * COMPARED_TOKENS
    tokens_out = facts * FACT_TOKENS + compared * VERDICT_TOKENS
    price = ports.mind.price
    return Estimate(
        conversations=basis.conversations,
        messages=basis.messages,
        chunks=basis.chunks,
        calls=len(chunks) + compared,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        money=(tokens_in * price[0] + tokens_out * price[1]) / _MILLION,
    )


def _conversations(ports: Ports, name: str | None) -> list[ConversationState]:
    if name is None:
        return [found for found in ports.store.conversations(ports.scope) if found.name]
    found = ports.store.conversation(ports.scope, name)
    return [found] if found is not None else []


def _chunks(ports: Ports, found: ConversationState) -> Iterator[int]:
    """The tokens of each chunk that would be read: messages released after review, then new ones."""
    released = released_messages(ports, found.name)
    while released:
        sizes, consumed = _sizes(released[:MESSAGES])
        yield from sizes
        released = released[consumed:]
    cursor = found.cursor(CURSOR)
    where = Where(
        kinds=frozenset({MESSAGE}),
        conversation=found.name,
        until_seq=found.last_seq,  # those that others add meanwhile are not counted: else it might not end
        order="seq",
        limit=MESSAGES,
    )
    while page := ports.store.select((ports.scope,), replace(where, after_seq=cursor)):
        sizes, consumed = _sizes(page)
        yield from sizes
        cursor = page[consumed - 1].seq


def _sizes(messages: Sequence[Memory]) -> tuple[list[int], int]:
    """The tokens of the chunks that the first of these messages make, and how many messages these are."""
    texts = [without_injected_blocks(message) for message in messages]
    first, start = texts[0], 0
    if (end := piece_end(first, 0)) == len(first):
        batch = first_batch(iter(texts))
        shown = sum(map(_shown, messages, batch))  # the batch is the first texts, so it may be the shorter of the two
        return [PROMPT_TOKENS + LINE_TOKENS * len(batch) + shown], len(batch)
    sizes = []
    while start < len(first):
        sizes.append(PROMPT_TOKENS + LINE_TOKENS + _shown(messages[0], first[start:end]))
        start, end = end, piece_end(first, end)
    return sizes, 1


def _shown(message: Memory, text: str) -> int:
    """The tokens of what a model is shown of a message."""
    is_advice = message.role == "assistant" and not message.speaker
    return min(tokens(text), ADVICE_TOKENS) if is_advice else tokens(text)


def _line(name: str, cost: Cost) -> str:
    money = f", {cost.money:.4f}" if cost.money else ""
    return f"{name}: {cost.calls:,} calls, {cost.tokens_in:,} tokens in, {cost.tokens_out:,} out{money}, {cost.seconds:.1f} s"
