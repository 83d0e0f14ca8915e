"""Schemathesis against the descriptions of `/v1` and `/mem0`: no undocumented answer, no failure of the server.

It needs the package schemathesis, which `make test-faces` installs in an environment of its own.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faces.conftest import Guarded

CONFIG = Path(__file__).with_name("http.schemathesis.toml")
PROGRAM = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
EXCLUDED = "events$|^/keys"
"""A stream ends with its job; a fuzzer that may manage keys revokes its own."""


def cases(guarded: Guarded, root: str, examples: int, folder: Path) -> int:
    """Run it in a folder, for its cache, with up to this many examples for each route; the number of cases."""
    assert PROGRAM is not None
    run = subprocess.run(
        [
            *(PROGRAM, "--config-file", str(CONFIG), "run", f"{guarded.address}{root}/openapi.json"),
            *("--url", f"{guarded.address}{root}", "--header", f"Authorization: Bearer {guarded.key}"),
            *(
                "--max-examples",
                str(examples),
                "--exclude-path-regex",
                EXCLUDED,
                "--phases",
                "examples,coverage,fuzzing",
            ),
            *("--continue-on-failure", "--generation-database", "none", "--no-color"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    counted = re.search(r"([\d,]+) generated", run.stdout)
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr[-2_000:]
    assert counted is not None
    return int(counted[1].replace(",", ""))


@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not installed: run `make test-faces`")
@pytest.mark.parametrize("root", ["/v1", "/mem0"])
def test_a_few_examples_of_each_route_find_nothing(guarded: Guarded, root: str, tmp_path: Path) -> None:
    assert cases(guarded, root, 3, tmp_path) > 200


@pytest.mark.long
@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not installed: run `make test-faces`")
def test_five_thousand_cases_find_nothing(guarded: Guarded, tmp_path: Path) -> None:
    assert cases(guarded, "/v1", 120, tmp_path) + cases(guarded, "/mem0", 120, tmp_path) >= 5_000
