"""The bundled conversation, replayed on its own dates: eight talks in spring, every night to December, then questions."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slowwave.model.operations import Change

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory
    from slowwave.model.memory import Memory
    from slowwave.model.plan import Receipt
    from slowwave.model.query import Hit
    from slowwave.pipelines.ingest.distil import ConsolidationResult
    from slowwave.pipelines.sleep.report import SleepReport

CONVERSATION: Final = Path(__file__).with_name("conversation.jsonl")
HUSHED: Final = "foghorn solo"
DECEMBER: Final = datetime(2026, 12, 1, 18, tzinfo=UTC)
NIGHT: Final = timedelta(days=1)
HOT_WORDS: Final = 500
"""Words that may stay hot in the demo, of about 900 that were said or are facts: so that it shows how wording fades."""
QUESTIONS: Final = (
    "When is the permit application due?",
    "What is Juno allergic to?",
    "How many steps do the stairs have?",
)
FORGOTTEN: Final = "Who owns the ferry?"
"""Its fact has faded by December."""


class MovingClock:
    """A clock that stands where the story is."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The instant of the story."""
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One conversation and what it left behind. `taken_back` is what its speaker then took back by hand."""

    name: str
    at: datetime
    messages: int
    result: "ConsolidationResult"
    taken_back: "Receipt | None" = None


class Replay:
    """The story on a memory in RAM."""

    def __init__(self, memory: "AgentMemory", clock: MovingClock) -> None:
        self.memory = memory
        self.clock = clock

    def spring(self) -> Iterator[Talk]:
        """Each conversation on its day; afterwards it is distilled, and the night is slept."""
        from slowwave.formats import read  # noqa: PLC0415 - only a replay reads
        from slowwave.model.exchange import ImportedMessage  # noqa: PLC0415

        said = [item for item in read(CONVERSATION, "jsonl") if isinstance(item, ImportedMessage)]
        for name, group in groupby(said, key=lambda one: one.conversation):
            messages = [one.message for one in group]
            at = messages[-1].at or self.clock.now
            self.clock.now = at + timedelta(minutes=5)
            self.memory.add_messages(messages, name)
            result = self.memory.end_conversation(name)
            yield Talk(
                name=name,
                at=at,
                messages=len(messages),
                result=result,
                taken_back=self._taken_back(result, messages[-2].content),
            )
            self.clock.now += timedelta(hours=6)
            self.memory.sleep()

    def _taken_back(self, result: "ConsolidationResult", last: str) -> "Receipt | None":
        secret = next((fact for fact in result.facts if HUSHED in fact.text), None)
        return self.memory.delete(secret.id) if secret and "Don't tell" in last else None

    def nights(self) -> "Iterator[SleepReport]":
        """Nobody says anything; every night until December is slept."""
        self.clock.now = (self.clock.now + NIGHT).replace(hour=3, minute=0)
        while self.clock.now < DECEMBER:
            yield self.memory.sleep()
            self.clock.now += NIGHT

    def december(self) -> None:
        """The day of the questions."""
        self.clock.now = DECEMBER

    def revived(self) -> "Revived":
        """What a deep search finds for a question whose fact is cold, and what became of that when it was used."""
        (found,) = self.memory.search(FORGOTTEN, top_k=1)
        (deep,) = self.memory.search(FORGOTTEN, top_k=1, deep=True)
        (fact,) = deep.facts
        before = self.memory.strength(fact.id)
        self.memory.record_retrieval([deep])
        return Revived(found=found, deep=deep, before=before, after=self.memory.strength(fact.id))

    def undone(self, run_id: str) -> "tuple[list[Memory], SleepReport]":
        """Take back the run of a summary; its members as they stand again, in their order, and the night after it."""
        receipts = self.memory.undo(run_id)
        changed = [one.after for receipt in receipts for one in receipt.applied if isinstance(one, Change)]
        members = sorted(
            (memory for memory in changed if not memory.members), key=lambda one: (one.valid_from, one.text)
        )
        self.clock.now += NIGHT
        return members, self.memory.sleep()


@dataclass(frozen=True, slots=True, kw_only=True)
class Revived:
    """The first hit of a search and of a deep one, and the strength of its fact before and after it was used."""

    found: "Hit"
    deep: "Hit"
    before: float
    after: float


@contextmanager
def replay(store: str = ":memory:") -> Iterator[Replay]:
    """A fresh replay: by default in RAM, by rules and the bundled embedder, whatever the settings say."""
    from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - `--help` does without
    from slowwave.model.config import Config  # noqa: PLC0415

    clock, config = MovingClock(datetime(2026, 3, 2, tzinfo=UTC)), Config(hot_words_max=HOT_WORDS)
    with AgentMemory.open(store, llm=None, embedder="static", clock=clock, config=config) as memory:
        yield Replay(memory, clock)
