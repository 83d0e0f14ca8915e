"""Messages of the library name methods and arguments; only the command line names commands and options."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import slowwave
from slowwave import AgentMemory, ConflictError, Message
from slowwave.cli.output import format_receipt

SOURCE = Path(slowwave.__file__).parent
SHELL = re.compile(r"`slowwave |(?<![\w-])(?<!pip install )--[a-z]")
Run = Callable[..., Any]


def _texts(path: Path) -> Iterator[str]:
    """The texts of a module, without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    stated = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in stated:
            yield node.value


def test_no_message_of_the_library_names_a_shell_command() -> None:
    named = {
        (str(path.relative_to(SOURCE)), text)
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in {"cli", "hooks", "stores"}
        for text in _texts(path)
        if SHELL.search(text)
    }
    assert named == set()


def test_a_report_names_its_run_and_the_command_line_adds_the_command(store: Path) -> None:
    with AgentMemory.open(store) as memory:
        memory.add_messages([Message(role="user", content=f"Bed {n} has roses") for n in range(80)], "garden")
        done = memory.compact_conversation("garden")
    assert f"run {done.run_id}, which `undo` reverses" in str(done)
    assert "slowwave" not in str(done)
    assert f"undo with `slowwave undo {done.run_id}`" in format_receipt(done)


def test_a_memory_that_contains_the_words_of_a_hint_is_printed_unchanged(run: Run) -> None:
    text = "The manual says: run 0ada6q00h7z9gd4kt3mn, which `undo` reverses"
    run("add", text)
    (fact,) = run("list", "--json").json
    assert run("explain", fact["id"]).out.startswith(text)
    assert run("list").out.startswith(text)


def test_an_undo_of_a_run_that_others_depend_on_names_the_option(run: Run, store: Path) -> None:
    first = run("add", "Odile owns the ferry", "--json").json
    run("update", first["ids"][0], "Odile sold the ferry")
    refused = run("undo", first["run_id"])
    assert refused.code == 2
    assert f"`slowwave undo {first['run_id']} --cascade`" in refused.err
    with AgentMemory.open(store) as memory, pytest.raises(ConflictError, match="`undo` with `cascade`") as error:
        memory.undo(first["run_id"])
    assert "--cascade" not in str(error.value)
    assert run("undo", first["run_id"], "--cascade").code == 0
    assert run("list", "--json").json == []
