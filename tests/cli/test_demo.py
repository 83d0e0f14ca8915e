"""The demo prints every step it promises, quickly and within any width; and how a command ends when interrupted."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from slowwave.cli.demo.replay import CONVERSATION, QUESTIONS
from slowwave.cli.endings import INTERRUPTED, run_command
from slowwave.formats import read
from slowwave.model.exchange import ImportedMessage

SECONDS = 5.0
SLOWWAVE = str(Path(sys.executable).with_name("slowwave"))


def test_the_bundled_conversation_can_be_read() -> None:
    items = list(read(CONVERSATION))
    assert all(isinstance(item, ImportedMessage) for item in items)
    assert len({item.message.id for item in items if isinstance(item, ImportedMessage)}) == len(items)


def test_the_demo_shows_every_step_of_its_story(
    run: Callable[..., Any],
) -> None:
    start = time.process_time()
    result = run("demo")
    assert time.process_time() - start < SECONDS
    assert result.code == 0
    assert result.err == ""
    for text in (
        "+ Juno: I'm allergic to walnuts",
        "“Oh, and I'm allergic to walnuts.”",
        "= said before: Juno: I'm allergic to walnuts",
        "~ no longer current: Juno: The permit application is due on 14 April [14 April 2026]",
        "“Don't tell Bas”",
        "retracted, and remembered as such",
        "5 fading memories become one",
        "03 Aug  faded  Juno: I submitted the permit application today [20 April 2026]",
        "never used in 104 days",
        "nights found nothing due",
        "“The permit. The permit application is due on 14 April. It is eleven pages",
        "→ permit application due on 14 April; eleven pages and page nine wants to know about goats",
        "words were said and",
        "words in common",
        "Juno: I submitted the permit application today [20 April 2026], with a…  cold, faded",
        "it is active again: strength 0.01 → 1.00.",
        "$ slowwave undo ",
        "+ Juno: I painted the stairs to the cellar yesterday [7 March 2026]  cold, as it was",
        "The next sleep pass leaves it at that: a person decided.",
        "outdated:",
        "Your turn",
        *QUESTIONS,
    ):
        assert text in result.out, text


def test_the_demo_stores_nothing_and_ignores_the_settings(
    run: Callable[..., Any], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_LLM", "openai:none-such")
    story = run("demo", "--json").json
    assert not store.exists()
    assert sum(talk["messages"] for talk in story["talks"]) == len(list(read(CONVERSATION)))
    firsts = {entry["question"]: entry["hits"][0] for entry in [*story["questions"], story["deep"]]}
    answers = {question: [hit["memory"]["text"]] for question, hit in firsts.items()}
    assert answers == {
        "When is the permit application due?": [
            "News from the town hall! The permit application is now due on 21 April instead of 14 April."
        ],
        "What is Juno allergic to?": ["Juno: I'm allergic to walnuts"],
        "How many steps do the stairs have?": ["The stairs have 212 steps. It says so on the postcard."],
        "Which drawing went with the permit application?": [
            "Juno: I submitted the permit application today [20 April 2026], with a drawing of Admiral in a safety vest"
        ],
    }
    assert sorted(memory["phase"] for memory in story["undone"]) == ["active", "active", "active", "cold", "cold"]


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_demo_keeps_within_a_terminal_of_any_width(
    columns: int, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", run("demo").out).splitlines()
    commands = [line for line in lines if line.startswith("  slowwave ")]  # never divided, so that they can be copied
    assert max(len(line) for line in lines if line not in commands) <= min(columns, 100)
    assert any("import conversations.zip" in line for line in commands)


def test_a_closed_pipe_ends_the_command_without_an_error(store: Path) -> None:
    command = f"{SLOWWAVE} --store {store} add 'Odile owns the ferry' && {SLOWWAVE} --store {store} runs --json | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0
    assert done.stderr == f"created a new store at {store}\n"


def test_ctrl_c_is_one_sentence_and_code_130(tmp_path: Path) -> None:
    script = (
        "import signal, os, threading\n"
        "from slowwave.cli import demo\n"
        "from slowwave.cli.endings import run_command\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background job ignores SIGINT
        "def run():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    threading.Event().wait(10)\n"
        "raise SystemExit(run_command(run, json=False, verbose=False))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr == "slowwave: interrupted; what was acknowledged is kept\n"


def test_the_parser_loads_neither_numpy_nor_a_store() -> None:
    script = (
        "import json, sys\nfrom slowwave.cli.app import app\n"
        "print(json.dumps([name for name in ('numpy', 'apsw', 'openai', 'tokenizers', 'pydantic') if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_the_demo_ends_with_commands_that_can_be_copied(tmp_path: Path) -> None:
    for path, typed in ((str(Path(SLOWWAVE).parent), "slowwave"), (str(tmp_path), os.path.relpath(SLOWWAVE))):
        env = {**os.environ, "PATH": path}
        result = subprocess.run([SLOWWAVE, "demo"], env=env, capture_output=True, text=True, check=True)
        assert f"  {typed} remember " in result.stdout


def test_an_aborted_confirmation_is_an_interruption(capsys: pytest.CaptureFixture[str]) -> None:
    def abort() -> None:
        raise click.Abort

    assert run_command(abort, json=False, verbose=False) == INTERRUPTED
    assert capsys.readouterr().err == "slowwave: interrupted; what was acknowledged is kept\n"


def test_the_shell_completes_commands_and_options() -> None:
    completion = {"_SLOWWAVE_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    for words, completed in (("slowwave sea", ["plain,search"]), ("slowwave --sc", ["plain,--scope"])):
        result = subprocess.run(
            [SLOWWAVE],
            env={**os.environ, **completion, "COMP_WORDS": words},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.stdout.split() == completed
