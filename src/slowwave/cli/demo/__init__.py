"""The bundled conversation, replayed on its own dates: eight talks in spring, a quiet summer, questions in December."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory
    from slowwave.model.plan import Receipt
    from slowwave.pipelines.distil import ConsolidationResult
    from slowwave.pipelines.sleep import SleepReport

CONVERSATION: Final = Path(__file__).with_name("conversation.jsonl")
HUSHED: Final = "foghorn solo"
SUMMER: Final = (datetime(2026, 6, 20, 3, tzinfo=UTC), datetime(2026, 7, 19, 3, tzinfo=UTC))
DECEMBER: Final = datetime(2026, 12, 1, 18, tzinfo=UTC)
QUESTIONS: Final = (
    "When is the permit application due?",
    "What is Juno allergic to?",
    "Who owns the ferry?",
)


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
        from slowwave.model.transfer import Said  # noqa: PLC0415

        said = [item for item in read(CONVERSATION, "jsonl") if isinstance(item, Said)]
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

    def summer(self) -> "list[SleepReport]":
        """Nobody says anything; two nights are slept."""
        reports = []
        for night in SUMMER:
            self.clock.now = night
            reports.append(self.memory.sleep())
        return reports

    def december(self) -> None:
        """The day of the questions."""
        self.clock.now = DECEMBER


@contextmanager
def replay(store: str = ":memory:") -> Iterator[Replay]:
    """A fresh replay: by default in RAM, by rules and the bundled embedder, whatever the settings say."""
    from slowwave.agent_memory import AgentMemory  # noqa: PLC0415 - `--help` does without

    clock = MovingClock(datetime(2026, 3, 2, tzinfo=UTC))
    with AgentMemory.open(store, llm=None, embedder="static", clock=clock) as memory:
        yield Replay(memory, clock)
