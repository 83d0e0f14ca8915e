"""The command line says what it created, and puts the errors of the library in its own words."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import slowwave
from slowwave.cli.endings import SHELL_WORDS

Run = Callable[..., Any]


def test_only_commands_that_store_something_create_a_store_and_they_say_so(run: Run, tmp_path: Path) -> None:
    for number, words in enumerate((["add", "Odile owns the ferry"], ["remember", "Odile owns the ferry"])):
        path = tmp_path / f"new{number}.db"
        assert run(*words, "--store", str(path)).err == f"created a new store at {path}\n"
        assert run(*words, "--store", str(path)).err == ""
    assert run("add", "Tea", "--json", "--store", str(tmp_path / "json.db")).err == ""
    for words in (["sleep"], ["sleep", "--dry-run"], ["sleep", "--due"]):
        path = tmp_path / "none.db"
        assert run(*words, "--store", str(path)).code == 2
        assert not path.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("unbuffered", "words"),
    [
        ("", "the command was carried out, and what it stored is kept, but the output could not be written ("),
        ("1", "; what the command stored is kept: `slowwave runs` lists it"),
    ],
)
def test_a_fact_whose_receipt_cannot_be_printed_is_stored_and_the_error_says_so(
    run: Run, unbuffered: str, words: str
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "slowwave", "add", "Odile owns the ferry"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 1
    assert words in done.stderr
    assert "Odile owns the ferry" in run("list").out


def test_errors_name_options_instead_of_arguments(run: Run, tmp_path: Path) -> None:
    run("add", "Odile owns the ferry")
    (tmp_path / "old.jsonl").touch()
    assert "or replace it with --overwrite" in run("export", str(tmp_path / "old.jsonl")).err
    assert "--store '' names no file" in run("status", "--store", "").err
    assert "`slowwave runs` lists those that exist" in run("run", "0ada6q00h7z9gd4kt3mn").err
    assert "--every 'x': give a number of seconds, or a span such as '8h'" in run("sleep", "--every", "x").err


def test_the_words_that_are_replaced_are_those_of_the_library() -> None:
    source = "".join(path.read_text("utf-8") for path in Path(slowwave.__file__).parent.rglob("*.py"))
    for words in SHELL_WORDS:
        assert source.count(words) > 1, words  # here and in the library


def test_a_consolidation_of_everything_shows_twenty_facts_and_the_number_of_the_others(run: Run) -> None:
    for number in range(23):
        run("remember", f"I am allergic to substance{number}.", "--conversation", f"c{number}")
    done = run("consolidate", "--all").out
    assert done.count("  + [") == 20
    assert "3 more facts: --verbose shows all\n23 facts from 23 conversations" in done
