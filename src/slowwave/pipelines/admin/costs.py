"""Costs of model calls: the sums of the journal, and an estimate for the unread messages."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from slowwave.model.memory import FACT_KINDS, MESSAGE, Memory
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
from slowwave.pipelines.sleep.conversation_summary import spans_to_summarise, summarisable_messages
from slowwave.policy.ranking.packing import estimate as tokens
from slowwave.policy.summaries.length import profile
from slowwave.policy.summaries.spans import Span
from slowwave.ports import Counting, Ports

PROMPT_TOKENS = 620
"""Of the distilling prompt with its marks and the messages just before a chunk (measured; a test holds it to the prompt)."""
LINE_TOKENS = 4
"""Of number and speaker before each message, and its part of the time above a session (measured)."""
MESSAGES_PER_FACT = 3
"""A model finds about one fact in so many messages of talk, which is the most that it is asked for (measured: 2.5 to 3.4)."""
FACT_TOKENS = 50
"""Of one fact in an answer, out (measured: 45 to 56)."""
REFUSED = 0.25
"""The share of the facts of a model that code refuses at first (measured on facts that a person wrote as a model would)."""
REPAIR_TOKENS = 270
"""Of the prompt to put refused facts right, with its marks and the time above its messages (a test holds it to the prompt)."""
REFUSED_TOKENS = 220
"""Of one refused fact with its reason and the messages near it, in (measured)."""
ADVICE_TOKENS = 210
"""The most of a message of an assistant without a name: a model is shown its beginning and end (a test holds it to the prompt)."""
RECONCILE_TOKENS = 320
"""Of the reconciling prompt with its marks (measured; a test holds it to the prompt)."""
COMPARED_TOKENS = 30
"""Of one new fact and its share of the known memories near it, in (measured). Half of the facts have none."""
VERDICT_TOKENS = 12
"""Of the answer about the facts of one chunk, out: most change nothing."""
SUMMARY_TOKENS = 230
"""Of the prompt to summarise a stretch, with its marks (a test holds it to the prompt)."""
TOKENS_PER_WORD = 1.4
"""Of a summary, out."""
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
    """The expected cost of consolidating the unread messages and summarising what is due; money only where a price is known.

    `kinds` has the cost of each kind of call: "distil" and "reconcile", one for each chunk, but none
    to reconcile the first facts of a scope; "repair", the question about refused
    facts, for most chunks; "summarise", for each stretch of a conversation that the next sleep pass summarises.
    """

    conversations: int = 0
    messages: int = 0
    chunks: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0
    kinds: Mapping[str, Cost] = field(default_factory=dict)

    def __str__(self) -> str:
        what = f"{self.messages:,} unread messages of {self.conversations:,} conversations"
        if not self.calls:
            return f"{what}: no model is asked"
        price = f", about {self.money:.4f}" if self.money else ""
        total = f"{what}: about {self.calls:,} calls, {self.tokens_in:,} tokens in, {self.tokens_out:,} out{price}"
        kinds = (
            f"  {kind}: {cost.calls:,} calls, {cost.tokens_in:,} tokens in, {cost.tokens_out:,} out"
            for kind, cost in self.kinds.items()
        )
        return "\n".join((total, *kinds))


def costs(ports: Ports, since: datetime | None = None) -> CostReport:
    """Sum the costs that the journal holds."""
    since = ports.time(since, "since") if since is not None else None
    causes = ports.store.costs(ports.scope, since)
    return CostReport(total=sum(causes.values(), FREE), causes=causes, since=since)


def estimate(ports: Ports, conversation: str | int | None = None) -> Estimate:
    """Estimate the cost of distilling one conversation, or all of them with None, and of the summaries due. Calls no model."""
    conversations = _conversations(ports, optional_conversation(conversation))
    released = Counter(message.conversation for message in released_messages(ports))
    counts = [
        (found.last_seq - found.cursor(CURSOR) + released[found.name], list(_chunks(ports, found)))
        for found in conversations
    ]
    counts = [(messages, chunks) for messages, chunks in counts if chunks]
    chunks = [chunk for _, each in counts for chunk in each]
    basis = Estimate(conversations=len(counts), messages=sum(messages for messages, _ in counts), chunks=len(chunks))
    if not isinstance(ports.mind, Counting):
        return basis
    summaries = (_summary(ports, found, span) for found in conversations for span in spans_to_summarise(ports, found))
    price = ports.mind.price
    kinds = {
        kind: Cost(calls=round(calls), tokens_in=round(tokens_in), tokens_out=round(tokens_out))
        for kind, (calls, tokens_in, tokens_out) in (
            *_reading(chunks, knows=_knows(ports)),
            ("summarise", _sum(summaries)),
        )
        if calls
    }
    total = sum(kinds.values(), FREE)
    return replace(
        basis,
        calls=total.calls,
        tokens_in=total.tokens_in,
        tokens_out=total.tokens_out,
        money=(total.tokens_in * price[0] + total.tokens_out * price[1]) / _MILLION,
        kinds=kinds,
    )


_Calls = tuple[float, float, float]
"""Calls, tokens in and tokens out, of which an expected value is no whole number."""


def _knows(ports: Ports) -> bool:
    """Whether the scope has facts with which new ones are compared."""
    return bool(ports.store.select((ports.scope,), Where(kinds=frozenset(FACT_KINDS), limit=1)))


def _reading(chunks: Sequence[tuple[int, int]], *, knows: bool) -> Iterator[tuple[str, _Calls]]:
    """What is expected of each kind of call that reads chunks, of each of which the number of messages and their tokens are given."""
    facts = [messages / MESSAGES_PER_FACT for messages, _ in chunks]
    refused = [REFUSED * each for each in facts]
    repairs = sum(min(1.0, each) for each in refused)
    shown = sum(PROMPT_TOKENS + LINE_TOKENS * messages + size for messages, size in chunks)
    yield "distil", (len(chunks), shown, sum(facts) * FACT_TOKENS)
    yield "repair", (repairs, repairs * REPAIR_TOKENS + sum(refused) * REFUSED_TOKENS, sum(refused) * FACT_TOKENS)
    compared = facts if knows else facts[1:]  # the first facts of a scope meet none, or hardly one, that is like them
    pairs = len(compared) * RECONCILE_TOKENS + sum(compared) * COMPARED_TOKENS
    yield "reconcile", (len(compared), pairs, len(compared) * VERDICT_TOKENS)


def _summary(ports: Ports, found: ConversationState, span: Span) -> _Calls:
    """What is expected of the summary of a stretch."""
    messages = summarisable_messages(ports, found.name, span)
    shown = sum(LINE_TOKENS + tokens(message.text) for message in messages)
    words = profile(ports.config.summary_profile).words
    return (1, SUMMARY_TOKENS + shown, TOKENS_PER_WORD * words) if messages else (0, 0, 0)


def _sum(each: Iterable[_Calls]) -> _Calls:
    calls, tokens_in, tokens_out = 0.0, 0.0, 0.0
    for one in each:
        calls, tokens_in, tokens_out = calls + one[0], tokens_in + one[1], tokens_out + one[2]
    return calls, tokens_in, tokens_out


def _conversations(ports: Ports, name: str | None) -> list[ConversationState]:
    if name is None:
        return [found for found in ports.store.conversations(ports.scope) if found.name]
    found = ports.store.conversation(ports.scope, name)
    return [found] if found is not None else []


def _chunks(ports: Ports, found: ConversationState) -> Iterator[tuple[int, int]]:
    """The messages and their tokens of each chunk that would be read: messages released after review, then new ones."""
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


def _sizes(messages: Sequence[Memory]) -> tuple[list[tuple[int, int]], int]:
    """The messages and tokens of the chunks that the first of these messages make, and how many messages these are."""
    texts = [without_injected_blocks(message) for message in messages]
    first, start = texts[0], 0
    if (end := piece_end(first, 0)) == len(first):
        batch = first_batch(iter(texts))
        shown = sum(map(_shown, messages, batch))  # the batch is the first texts, so it may be the shorter of the two
        return [(len(batch), shown)], len(batch)
    sizes = []
    while start < len(first):
        sizes.append((1, _shown(messages[0], first[start:end])))
        start, end = end, piece_end(first, end)
    return sizes, 1


def _shown(message: Memory, text: str) -> int:
    """The tokens of what a model is shown of a message."""
    is_advice = message.role == "assistant" and not message.speaker
    return min(tokens(text), ADVICE_TOKENS) if is_advice else tokens(text)


def _line(name: str, cost: Cost) -> str:
    money = f", {cost.money:.4f}" if cost.money else ""
    return f"{name}: {cost.calls:,} calls, {cost.tokens_in:,} tokens in, {cost.tokens_out:,} out{money}, {cost.seconds:.1f} s"
