"""Processes that write to one file at the same time take turns: none waits long while others go on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from slowwave import AgentMemory

PROGRAM = str(Path(__file__).with_name("adding.py"))
PROCESSES, ADDS = 8, 50


@pytest.mark.long
def test_eight_writers_of_one_file_wait_about_as_long_as_each_other(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    writers = [
        subprocess.Popen(
            [sys.executable, PROGRAM, str(path), f"W{number}", str(ADDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    taken = [json.loads(writer.communicate()[0]) for writer in writers]
    every = sorted(seconds for one in taken for seconds in one)
    typical = every[len(every) // 2]
    assert every[-1] < max(5.0, 30 * typical), f"of a typical {typical:.2f} s the longest took {every[-1]:.2f} s"
    sums = sorted(map(sum, taken))
    assert sums[-1] < 3 * sums[0], sums
    with AgentMemory.open(path, scope="s", llm=None, embedder="none") as memory:
        assert len(memory.get_all()) == PROCESSES * (ADDS + 1)
