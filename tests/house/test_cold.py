"""A cold start: a question loads what answers it, and nothing that thinks, imports or maintains."""

import subprocess
import sys

import pytest

from slowwave import pipelines

ASKING = """
import sys
from slowwave import AgentMemory
with AgentMemory.open(":memory:", llm=None) as memory:
    memory.search("who owns deploys?")
print(*sys.modules)
"""
HEAVY = (
    "openai", "pydantic", "rapidfuzz", "rich", "slowwave.formats", "slowwave.minds.language",
    "slowwave.minds.offline_decide", "slowwave.minds.offline_distil", "slowwave.minds.rules.myself",
    "slowwave.pipelines.distil", "slowwave.pipelines.erase", "slowwave.pipelines.sleep", "slowwave.pipelines.transfer",
    "slowwave.policy.dates", "slowwave.policy.vetoes",
)  # fmt: skip


COMMAND = """
import sys
from slowwave.cli import main
sys.argv = ["slowwave", "recall", "who owns the deploy pipeline now?", "--store", ":memory:", "--llm", "none"]
try:
    main()
except SystemExit:
    print(*sys.modules)
"""
SLOW = (
    "typer", "click", "rich", "pydantic", "opentelemetry", "platformdirs", "tomllib", "logging", "tempfile", "traceback",
    "snowballstemmer", "numpy.ma", "slowwave.policy.retention", "slowwave.policy.curves",
    "slowwave.cli.bringing", "slowwave.cli.keeping",
)  # fmt: skip
"""What a question on the command line once waited for, each for a few milliseconds or many."""


def loaded(program: str) -> set[str]:
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(told.stdout.split())


def test_a_question_loads_no_room_that_thinks_imports_or_maintains() -> None:
    assert not loaded(ASKING).intersection(HEAVY)


def test_a_question_on_the_command_line_waits_for_no_framework_nor_for_what_it_does_not_use() -> None:
    assert not loaded(COMMAND).intersection((*HEAVY, *SLOW))


def test_a_context_loads_no_room_that_maintains() -> None:
    asked = ASKING.replace("memory.search", "memory.context")
    assert not loaded(asked).intersection(
        f"slowwave.pipelines.{room}" for room in ("distil", "erase", "sleep", "transfer")
    )


def test_the_front_door_loads_no_numbers() -> None:
    assert "numpy" not in loaded("import sys, slowwave; print(*sys.modules)")


def test_a_pipeline_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(AttributeError, match="pipelines has no 'dream'"):
        _ = pipelines.dream
