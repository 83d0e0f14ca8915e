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
SHORT, LONG = "examples,fuzzing", "examples,coverage,fuzzing"
LEAST = {"/v1": 120, "/mem0": 40}
"""The number of cases that a short run has at least."""


def cases(guarded: Guarded, root: str, phases: str, examples: int, folder: Path) -> int:
    """Run these phases in a folder, for its cache, with up to so many examples of each route; the number of cases.

    The short form makes the same cases in every run, so that a check of a change judges that change; the long form tries
    other ones each time.
    """
    chosen = ("--seed", "1") if phases == SHORT else ()
    assert PROGRAM is not None
    run = subprocess.run(
        [
            *(PROGRAM, "--config-file", str(CONFIG), "run", f"{guarded.address}{root}/openapi.json"),
            *("--url", f"{guarded.address}{root}", "--header", f"Authorization: Bearer {guarded.key}"),
            *("--max-examples", str(examples), "--exclude-path-regex", EXCLUDED, "--phases", phases),
            *("--continue-on-failure", "--generation-database", "none", "--no-color"),
            *chosen,
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
@pytest.mark.parametrize("root", LEAST)
def test_a_few_examples_of_each_route_find_nothing(guarded: Guarded, root: str, tmp_path: Path) -> None:
    """The phase `coverage` tries each limit of each parameter: 2,000 cases, a minute of processor time for `/v1`."""
    assert cases(guarded, root, SHORT, 3, tmp_path) > LEAST[root]


@pytest.mark.long
@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not installed: run `make test-faces`")
def test_five_thousand_cases_find_nothing(guarded: Guarded, tmp_path: Path) -> None:
    assert sum(cases(guarded, root, LONG, 120, tmp_path) for root in LEAST) >= 5_000
