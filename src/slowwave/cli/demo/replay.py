"""Replays the bundled conversations on their own dates: eight in spring, a sleep pass each night to December, questions."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slowwave.model.memory import FACT_KINDS
from slowwave.model.operations import Change

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory
    from slowwave.model.memory import Memory
    from slowwave.model.plan import Receipt
    from slowwave.model.query import Hit
    from slowwave.pipelines.ingest.distil import ConsolidationResult
    from slowwave.pipelines.sleep.report import SleepReport

CONVERSATION: Final = Path(__file__).with_name("conversation.jsonl")
RETRACTED: Final = "foghorn solo"
"""Words of the fact that its speaker retracts."""
DECEMBER: Final = datetime(2026, 12, 1, 18, tzinfo=UTC)
DAY: Final = timedelta(days=1)
HOT_WORDS: Final = 500
"""Words that may stay hot, of about 900 in messages and facts: low enough to shorten messages in the demo."""
QUESTIONS: Final = (
    "When is the permit application due?",
    "What is Juno allergic to?",
    "How many steps do the stairs have?",
)
FORGOTTEN: Final = "Which drawing went with the permit application?"
"""A question whose fact has faded by December."""


class MovingClock:
    """A clock at the time of the story."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The present time of the story."""
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation and its consolidation. `retraction` is the receipt of the fact its speaker retracted by hand."""

    name: str
    at: datetime
    messages: int
    result: "ConsolidationResult"
    retraction: "Receipt | None" = None


class Replay:
    """Plays the story on a memory."""

    def __init__(self, memory: "AgentMemory", clock: MovingClock) -> None:
        self.memory = memory
        self.clock = clock

    def play_conversations(self) -> Iterator[Session]:
        """Store and consolidate each conversation on its day, and run a sleep pass after it."""
        from slowwave.formats import read  # noqa: PLC0415 - only a replay needs it
        from slowwave.model.exchange import ImportedMessage  # noqa: PLC0415

        items = [item for item in read(CONVERSATION, "jsonl") if isinstance(item, ImportedMessage)]
        for name, group in groupby(items, key=lambda item: item.conversation):
            messages = [item.message for item in group]
            at = messages[-1].at or self.clock.now
            self.clock.now = at + timedelta(minutes=5)
            self.memory.add_messages(messages, name)
            result = self.memory.end_conversation(name)
            yield Session(
                name=name,
                at=at,
                messages=len(messages),
                result=result,
                retraction=self._retract(result, messages[-2].content),
            )
            self.clock.now += timedelta(hours=6)
            self.memory.sleep()

    def _retract(self, result: "ConsolidationResult", last: str) -> "Receipt | None":
        secret = next((fact for fact in result.facts if RETRACTED in fact.text), None)
        return self.memory.delete(secret.id) if secret and "Don't tell" in last else None

    def sleep_until_december(self) -> "Iterator[SleepReport]":
        """Run a sleep pass each night until December, without new messages."""
        self.clock.now = (self.clock.now + DAY).replace(hour=3, minute=0)
        while self.clock.now < DECEMBER:
            yield self.memory.sleep()
            self.clock.now += DAY

    def begin_december(self) -> None:
        """Set the clock to the day of the questions."""
        self.clock.now = DECEMBER

    def revive(self) -> "Revival":
        """Find a cold fact by a deep search, and record that it was used."""
        (plain,) = self.memory.search(FORGOTTEN, top_k=1)
        (deep,) = self.memory.search(FORGOTTEN, top_k=1, deep=True, kinds=FACT_KINDS)
        fact = deep.memory
        before = self.memory.strength(fact.id)
        self.memory.record_retrieval([deep])
        return Revival(plain=plain, deep=deep, before=before, after=self.memory.strength(fact.id))

    def undo(self, run_id: str) -> "tuple[list[Memory], SleepReport]":
        """Undo the run of a summary. Returns its members in their order, and the report of the next sleep pass."""
        receipts = self.memory.undo(run_id)
        changed = [
            operation.after for receipt in receipts for operation in receipt.applied if isinstance(operation, Change)
        ]
        members = sorted(
            (memory for memory in changed if not memory.members), key=lambda memory: (memory.valid_from, memory.text)
        )
        self.clock.now += DAY
        return members, self.memory.sleep()


@dataclass(frozen=True, slots=True, kw_only=True)
class Revival:
    """The first hit of a plain and of a deep search, and the strength of the fact before and after its use."""

    plain: "Hit"
    deep: "Hit"
    before: float
    after: float


@contextmanager
def replay(store: str = ":memory:") -> Iterator[Replay]:
    """A replay on an empty store, in RAM by default. It uses the rules and the bundled embedder, not the settings."""
    from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - `--help` does without
    from slowwave.model.config import Config  # noqa: PLC0415

    clock, config = MovingClock(datetime(2026, 3, 2, tzinfo=UTC)), Config(hot_words_max=HOT_WORDS)
    with AgentMemory.open(store, llm=None, embedder="static", clock=clock, config=config) as memory:
        yield Replay(memory, clock)
