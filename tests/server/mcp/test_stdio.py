"""`slowwave mcp`: the protocol over the streams of a process."""

import json
import subprocess
import sys
from pathlib import Path


def test_stdout_carries_the_protocol_and_nothing_else(tmp_path: Path) -> None:
    requests = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "remember", "arguments": {"fact": "Odile owns the ferry"}},
        },
    ]
    words = ["-m", "slowwave", "mcp", "--store", str(tmp_path / "m.db"), "--embedder", "none"]
    with subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        for request in requests:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            if "id" in request:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(30) == 0
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["outcome"] == "ADD"
    assert rest == ""


def test_an_import_needs_the_profile_that_reads_it(tmp_path: Path) -> None:
    words = ["-m", "slowwave", "mcp", "--import", str(tmp_path / "memory.jsonl")]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, "--profile graph" in done.stderr) == (2, True)
