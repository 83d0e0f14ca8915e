"""Arguments that are not UTF-8 give one sentence and exit code 2, never a traceback; and `doctor --repair`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Outcome

BAD = os.fsencode("Z") + b"\xeb"
"""A name in latin-1."""
COMMANDS = (
    ("add", BAD),
    ("remember", BAD),
    ("recall", BAD),
    ("context", BAD),
    ("facts", "--scope", BAD),
    ("status", "--conversation", BAD),
    ("consolidate", "--conversation", BAD),
    ("undo", BAD),
    ("erase", "--text", BAD, "--yes"),
    ("--scope", BAD, "status"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: str(words[0]))
def test_an_argument_that_is_not_utf8_is_refused_in_one_sentence(store: Path, words: tuple[str | bytes, ...]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "from slowwave.cli import main; main()", *words],
        capture_output=True,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"},
    )
    assert ran.returncode == 2, ran.stderr
    assert b"is not valid UTF-8" in ran.stderr
    assert b"Traceback" not in ran.stderr
    assert not store.exists()


def test_an_argument_with_a_surrogate_is_refused_in_process(run: Callable[..., Outcome]) -> None:
    ran = run("recall", os.fsdecode(BAD))
    assert (ran.code, ran.out) == (2, "")
    assert "is not valid UTF-8" in ran.err


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8", "utf-16"])
def test_json_is_the_same_utf8_in_every_encoding_of_the_output(
    run: Callable[..., Outcome], store: Path, encoding: str
) -> None:
    run("add", "The cat is called 咪咪 🐈")
    run("remember", "Lives in Đà Nẵng")
    commands = (
        ("list", "--json"),
        ("search", "cat", "--json"),
        ("context", "cat", "--profile", "chat"),
        ("get", "ÿ咪", "--json"),
    )
    for words in commands:
        ran = subprocess.run(
            [sys.executable, "-c", "from slowwave.cli import main; main()", "--store", str(store), *words],
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONIOENCODING": encoding},
        )
        written = ran.stdout.decode("utf-8") if ran.stdout else ran.stderr.decode(encoding)
        assert "咪" in "".join(str(json.loads(line)) for line in written.splitlines()), words


def test_a_file_name_of_any_bytes_can_be_imported(run: Callable[..., Outcome], tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/Z\xeb.jsonl")
    Path(path).write_text('{"role": "user", "content": "Alice owns the deploy pipeline"}\n', encoding="utf-8")
    assert run("import", path).code == 0
    assert run("recall", "who owns the pipeline?", "--json").json


def test_repair_of_a_sound_store_reports_nothing_to_repair(run: Callable[..., Outcome]) -> None:
    run("add", "Alice owns the deploy pipeline")
    ran = run("doctor", "--repair", "--json")
    assert ran.code == 0
    assert {"check": "repair", "ok": True, "found": "nothing to repair"} in ran.json


def test_doctor_repair_reseals_a_damaged_row(run: Callable[..., Outcome], store: Path) -> None:
    import apsw  # noqa: PLC0415 - only this test needs it

    run("add", "Alice owns the deploy pipeline")
    with apsw.Connection(str(store)) as db:
        db.execute("UPDATE memories SET checksum = 1")
    assert run("facts").code == 4
    ran = run("doctor", "--repair", "--deep")
    assert ran.code == 0, ran.out
    assert "repair: rows re-sealed: 1, because" in ran.out
    assert run("facts").code == 0
