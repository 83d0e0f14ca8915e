"""Log records: useful ones of every kind, and none that holds what a memory holds."""

import logging
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slowwave import AgentMemory, Config, Message, ModelError
from slowwave.minds.llm.openai import OpenAICompatible
from slowwave.testing import FrozenClock, OpenAIServer
from slowwave.testing.openai_server import fails, says
from slowwave.transport import RetryPolicy

CANARY = "kanarienvogel"
KEY = f"sk-{CANARY}-0123456789"


@pytest.fixture
def written(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, logger="slowwave")
    return caplog


def lines(written: pytest.LogCaptureFixture, name: str, level: int) -> list[str]:
    return [
        record.getMessage()
        for record in written.records
        if (record.name, record.levelno) == (f"slowwave.{name}", level)
    ]


def test_the_life_of_a_memory_is_logged_in_counts_and_without_its_words(
    written: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    clock = FrozenClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    path = tmp_path / "memory.db"
    exported = tmp_path / "export.jsonl"
    with AgentMemory.open(path, scope=f"team/{CANARY}", llm=None, clock=clock) as memory:
        said = [
            Message(role="user", content=f"I live in Ghent with my cat {CANARY}.", speaker=CANARY, at=clock()),
            Message(role="user", content=f"My colleague {CANARY} owns the deploys.", at=clock()),
        ]
        memory.add_messages(said, conversation=CANARY)
        memory.consolidate(CANARY, force=True)
        added = memory.add(f"{CANARY} prefers tea to coffee", category="preference")
        memory.search(f"where does {CANARY} live?")
        memory.context(f"what does {CANARY} drink?")
        clock.advance(days=400)
        memory.sleep()
        memory.undo(added.run_id, cascade=True)
        memory.export(exported)
        with pytest.raises(LookupError):
            memory.undo("5n53jnm0z7rcrtd2d5em")
    with AgentMemory.open(tmp_path / "other.db", llm=None, clock=clock) as other:
        other.import_(exported)
        other.erase(text=CANARY)
    shown = "\n".join(f"{record.getMessage()} {record.args}" for record in written.records)
    assert CANARY not in shown.casefold()
    opened = lines(written, "store", logging.INFO)
    assert f"store opened: {path}" in opened
    assert any(line.startswith(f"{path}: schema") for line in opened)
    assert any("(observe) applied: add 2" in line for line in opened), opened
    assert lines(written, "sleep", logging.INFO)[0].startswith("sleep pass finished: ")
    assert lines(written, "exchange", logging.INFO)[0].startswith("import finished: 2 messages")
    calls = lines(written, "calls", logging.DEBUG)
    assert [line.partition(":")[0] for line in calls if line.startswith(("search", "sleep", "undo"))] == [
        "search",
        "sleep",
        "undo",
        "undo",
    ]
    assert any(line.startswith("undo: failed in ") for line in calls)
    assert lines(written, "recall", logging.DEBUG)


def test_a_failing_model_is_logged_with_its_address_and_status_and_not_with_its_words(
    written: pytest.LogCaptureFixture,
) -> None:
    patience = RetryPolicy(tries=3, sleep=lambda _: None, chance=lambda: 1.0)
    hello = [{"role": "user", "content": f"{CANARY}, hello"}]
    with OpenAIServer(fails(503, f"{CANARY} {KEY}"), says("hi"), fails(429, CANARY)) as server:
        model = OpenAICompatible(CANARY, server.url, KEY, patience=patience)
        model.complete(messages=hello)
        with pytest.raises(ModelError):
            model.complete(messages=hello)
        model.close()
        address = server.url
    assert lines(written, "transport", logging.INFO) == [
        f"{address} answered 503: try 1 of 3 failed, the next one in 0.5 s",
        f"{address} answered 429: try 1 of 3 failed, the next one in 0.5 s",
        f"{address} answered 429: try 2 of 3 failed, the next one in 1.0 s",
    ]
    assert lines(written, "transport", logging.WARNING) == [f"{address} answered 429: given up after 3 tries"]
    assert not [record for record in written.records if CANARY in record.getMessage()]


def test_a_program_without_logging_does_not_load_it_and_one_without_handlers_prints_nothing() -> None:
    program = (
        "import sys\n"
        "{first}"
        "from slowwave.stores.sqlite.store import SqliteStore\n"
        "from slowwave.log import Log\n"
        "Log('store').warning('a warning')\n"
        "print('logging' in sys.modules)\n"
    )
    for first, loaded in (("", "False\n"), ("import logging\n", "True\n")):
        done = subprocess.run(
            [sys.executable, "-c", program.format(first=first)], capture_output=True, text=True, check=True
        )
        assert (done.stdout, done.stderr) == (loaded, "")


def test_records_name_the_line_that_wrote_them(written: pytest.LogCaptureFixture) -> None:
    AgentMemory.open(":memory:", embedder="none", llm=None).close()
    record = next(record for record in written.records if "store opened" in record.getMessage())
    assert Path(record.pathname).parts[-2:] == ("stores", "__init__.py")


def test_no_record_of_a_compaction_holds_a_name_or_a_word(written: pytest.LogCaptureFixture) -> None:
    clock = FrozenClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    config = Config(immediate_window=4, recent_window=4)  # else a summary takes 129 messages
    with AgentMemory.open(":memory:", llm=None, embedder=None, clock=clock, config=config) as memory:
        for name, speaker in ((CANARY, f"{CANARY}99"), (f"talk {CANARY}", CANARY)):
            said = [
                Message(role="user", content=f"On day {n} I fed {CANARY} {n * 37} seeds", speaker=speaker, at=clock())
                for n in range(20)
            ]
            memory.add_messages(said, conversation=name)
        memory.sleep()
    shown = "\n".join(f"{record.getMessage()} {record.args}" for record in written.records)
    assert "[Memory]" in shown
    assert CANARY not in shown
