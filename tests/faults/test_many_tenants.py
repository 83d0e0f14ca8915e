"""The program that loads, searches, sleeps, erases, dumps and restores many tenants, with a few of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from slowwave.testing.postgres import PostgresServer

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "bench" / "fleet.py"


@pytest.mark.long
def test_many_tenants_are_loaded_searched_slept_erased_dumped_and_restored_alike(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    sizes = ["--scopes=60", "--messages=8", "--number=4"]
    where = [f"--folder={tmp_path}", f"--programs={Path(postgres.program('pg_dump')).parent}"]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), postgres.database(), *sizes, *where],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{PROGRAM.parent}"},
    )
    found = {line["phase"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert found["load"]["memories"] == 100 * 8  # with those of 40 templates
    assert found["search cold"]["n"] == found["add"]["n"] == found["sleep"]["scopes"] == 4
    assert found["erase"]["verified"] == 4
    assert found["doctor"]["problems"] == found["doctor --deep --sample 100"]["problems"] == 0
    assert found["restore"]["same"]
    assert found["restore"]["memories"] >= (100 - 4) * 8  # with the facts of four passes
    assert found["restore"]["problems"] == 0
    assert found["prove pending"]["pending"] == 0
