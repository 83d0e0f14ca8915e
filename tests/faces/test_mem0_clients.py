"""mem0's own clients, which reach Slowwave by another host.

`make test-faces` installs both in an environment of its own.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.faces.conftest import NODE as FACES, Guarded

ROOT = Path(__file__).parents[2]
MODULES = Path(FACES, "node_modules")
NODE = shutil.which("node")


needs_mem0 = pytest.mark.skipif(find_spec("mem0") is None, reason="mem0ai is not installed: run `make test-faces`")


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    """The connections of mem0's client, which never closes those that it opens itself."""
    with httpx.Client(timeout=60) as opened:
        yield opened


@pytest.fixture
def client(guarded: Guarded, http: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - mem0's
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    return import_module("mem0").MemoryClient(api_key=guarded.key, host=f"{guarded.address}/mem0", client=http)


@needs_mem0
def test_the_python_client_adds_searches_lists_changes_and_deletes(client: Any) -> None:  # noqa: ANN401 - mem0's
    said = [{"role": "user", "content": "I work at Acme Corp."}, {"role": "assistant", "content": "Noted."}]
    assert client.add(said, user_id="alice")["event_id"]
    client.add("Alice prefers dark mode.", user_id="alice", metadata={"source": "x"}, infer=False)
    listed = client.get_all(filters={"AND": [{"user_id": "alice"}]}, page=1, page_size=10)
    assert listed["count"] == 2
    known = {one["memory"]: one["id"] for one in listed["results"]}
    dark = known["Alice prefers dark mode."]
    found = client.search("dark mode", filters={"user_id": "alice"}, top_k=1)["results"]
    assert [one["id"] for one in found] == [dark]
    assert client.search("dark mode", filters={"user_id": "bob"})["results"] == []
    assert client.get(dark)["metadata"] == {"source": "x"}
    assert client.update(dark, text="Alice prefers light mode.")["memory"] == "Alice prefers light mode."
    assert [one["event"] for one in client.history(dark)] == ["ADD", "UPDATE"]
    assert client.feedback(dark, feedback="POSITIVE")["feedback"] == "POSITIVE"
    assert client.users()["results"][0]["name"] == "alice"
    client.batch_update([{"memory_id": one, "text": f"Alice likes {one}"} for one in known.values()])
    client.batch_delete([{"memory_id": dark}])
    assert client.get_all(filters={"user_id": {"in": ["alice"]}})["count"] == 1
    client.delete_all(user_id="alice")
    assert client.get_all(filters={"user_id": "alice"})["count"] == 0
    client.add("Bob plays chess", user_id="bob", infer=False)
    client.delete_users(user_id="bob")
    assert client.users()["results"] == []


@needs_mem0
def test_the_python_client_reads_our_errors(client: Any, guarded: Guarded, http: httpx.Client) -> None:  # noqa: ANN401 - mem0's
    errors = import_module("mem0.exceptions")
    with pytest.raises(errors.ValidationError):
        client.get("nonsense")
    with pytest.raises(errors.MemoryNotFoundError):
        client.delete("7f3e6c4c-3c2d-4a37-9d3b-df9f6d0a9a11")
    with pytest.raises(Exception, match="does not serve"):
        client.get_webhooks("p")
    with pytest.raises(ValueError, match="unknown, revoked or expired"):
        type(client)(api_key="bad", host=f"{guarded.address}/mem0", client=http)


SCRIPT = """
const { default: MemoryClient } = await import(process.env.MEM0);
const client = new MemoryClient({ apiKey: process.env.KEY, host: process.env.HOST });
const out = {};
await client.add([{ role: "user", content: "I work at Acme Corp." }], { userId: "alice" });
await client.add([{ role: "user", content: "Alice prefers dark mode." }], { userId: "alice", infer: false });
const all = await client.getAll({ filters: { user_id: "alice" } });
out.count = all.count ?? all.results.length;
const dark = all.results.find((one) => one.memory.includes("dark"));
out.found = (await client.search("dark mode", { filters: { user_id: "alice" }, topK: 1 })).results[0].id === dark.id;
await client.update(dark.id, { text: "Alice prefers light mode." });
out.text = (await client.get(dark.id)).memory;
out.history = (await client.history(dark.id)).map((one) => one.event);
out.users = (await client.users()).results.map((one) => one.name);
await client.delete(dark.id);
out.gone = await client.get(dark.id).then(() => false, () => true);
await client.deleteAll({ userId: "alice" });
out.left = (await client.getAll({ filters: { user_id: "alice" } })).results.length;
console.log(JSON.stringify(out));
"""


@pytest.mark.skipif(
    NODE is None or not (MODULES / "mem0ai").is_dir(), reason="mem0ai of npm is not installed: run `make test-faces`"
)
def test_the_npm_client_adds_searches_lists_changes_and_deletes(guarded: Guarded, tmp_path: Path) -> None:
    script = tmp_path / "client.mjs"
    script.write_text(SCRIPT, encoding="utf-8")
    package = json.loads((MODULES / "mem0ai" / "package.json").read_text(encoding="utf-8"))
    entry = MODULES / "mem0ai" / package["exports"]["."]["import"]
    values = {"MEM0": entry.as_uri(), "KEY": guarded.key, "HOST": f"{guarded.address}/mem0", "MEM0_TELEMETRY": "false"}
    assert NODE is not None
    run = subprocess.run(
        [NODE, str(script)], capture_output=True, text=True, check=False, env={**os.environ, **values}, timeout=120
    )
    assert run.returncode == 0, run.stderr[-4_000:]
    assert json.loads(run.stdout.splitlines()[-1]) == {
        "count": 2,
        "found": True,
        "text": "Alice prefers light mode.",
        "history": ["ADD", "UPDATE"],
        "users": ["alice"],
        "gone": True,
        "left": 0,
    }
