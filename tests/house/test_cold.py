"""A cold start: a question loads what answers it, and nothing that thinks, imports or maintains."""

import subprocess
import sys

ASKING = """
import sys
from slowwave import AgentMemory
with AgentMemory.open(":memory:", llm=None) as memory:
    memory.search("who owns deploys?")
print(*sys.modules)
"""
HEAVY = (
    "httpx2", "rapidfuzz", "rich", "slowwave.formats", "slowwave.minds.llm.mind",
    "slowwave.minds.offline.decide", "slowwave.minds.offline.distil", "slowwave.minds.offline.statements",
    "slowwave.pipelines.ingest.distil", "slowwave.pipelines.admin.erase", "slowwave.pipelines.sleep.sleep_pass", "slowwave.pipelines.exchange.import_",
    "slowwave.policy.text.dates", "slowwave.policy.comparison.vetoes",
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
    "typer", "click.testing", "click.shell_completion", "rich", "opentelemetry", "platformdirs", "tomllib", "logging", "tempfile", "traceback",
    "snowballstemmer", "numpy.ma",
    "slowwave.cli.write_cmds", "slowwave.cli.maintenance_cmds",
)  # fmt: skip
"""What a question on the command line once waited for, each for a few milliseconds or many."""


def loaded(program: str) -> set[str]:
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(finished.stdout.split())


def test_a_search_imports_no_mind_no_importer_and_no_maintenance_module() -> None:
    assert not loaded(ASKING).intersection(HEAVY)


def test_a_question_on_the_command_line_imports_no_module_it_does_not_use() -> None:
    assert not loaded(COMMAND).intersection((*HEAVY, *SLOW))


def test_a_context_imports_no_maintenance_module() -> None:
    asked = ASKING.replace("memory.search", "memory.context")
    assert not loaded(asked).intersection(
        f"slowwave.pipelines.{room}"
        for room in ("ingest.distil", "admin.erase", "sleep.sleep_pass", "exchange.import_")
    )


def test_the_command_group_does_not_import_numpy() -> None:
    assert "numpy" not in loaded("import sys, slowwave; print(*sys.modules)")
