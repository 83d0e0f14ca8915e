"""The event stream of a scope over the application of `slowwave serve`."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra `server` is not installed")

from starlette.testclient import TestClient
from tests.ports import free_port
from tests.server.conftest import Server
from tests.waiting import LONGEST, until

from slowwave import Slowwave
from slowwave.server.app import Serving, build_app
from slowwave.server.http import changes
from slowwave.server.work import streams

EVENTS = "/v1/scopes/alice/events"
Sent = tuple[str, dict[str, Any]]


def parsed(text: str) -> list[tuple[str | None, str, Any]]:
    """Number, name and values of each event."""
    found = []
    for block in text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            found.append((fields.get("id"), fields["event"], json.loads(fields["data"])))
    return found


def known(server: Server, after: int | None, **more: Any) -> list[tuple[str | None, str, Any]]:  # noqa: ANN401 - headers
    """The events that are known by now."""
    headers = {} if after is None else {"last-event-id": str(after)}
    answer = server.client.get(EVENTS, params={"seconds": 0}, headers={**headers, **more})
    assert answer.status_code == 200, answer.text
    return parsed(answer.text)


def test_runs_are_sent_in_the_order_of_their_writes_and_continue_after_the_last_one_seen(server: Server) -> None:
    alice = server.store.within("alice")
    added = [alice.add(text).run_id for text in ("Alice rows", "Alice owns a kiln", "Alice lives in Bergen")]
    undone = alice.undo(added[1])[0].run_id
    first, *runs, last = known(server, 0)
    assert first == ("0", "open", {"scope": "alice", "sequence": 0})
    assert [values["run_id"] for _, _, values in runs] == [*added, undone]
    assert (runs[0][2]["cause"], runs[3][2]["undoes"]) == ("add", added[1])
    assert runs[0][2]["totals"]["add"] == 1
    assert last[1] == "end"
    numbers = [int(number or 0) for number, _, _ in runs]
    assert numbers == sorted(set(numbers))
    assert known(server, numbers[1])[1:-1] == runs[2:]
    assert [name for _, name, _ in known(server, None)] == ["open", "end"]  # without a number it begins now
    assert [name for _, name, _ in known(server, 10**9)] == ["open", "end"]


def test_no_event_has_a_word_of_a_memory(server: Server) -> None:
    server.store.within("alice").add("Alice hides the walnuts", subject="walnuts")
    assert "walnut" not in server.client.get(EVENTS, params={"seconds": 0}, headers={"last-event-id": "0"}).text


def test_a_stream_of_a_scope_needs_the_right_to_read_it(server: Server) -> None:
    reading, writing = server.key("alice", "read"), server.key("alice", "write")
    assert [name for _, name, _ in known(server, 0, **reading)] == ["open", "end"]
    for headers in (writing, server.key("bob", "read")):
        assert server.client.get(EVENTS, params={"seconds": 0}, headers=headers).status_code == 403
    assert server.client.get(EVENTS).status_code == 401
    own = server.client.get("/v1/events", params={"seconds": 0}, headers=reading)
    assert parsed(own.text)[0][2]["scope"] == "alice"


def test_too_many_streams_are_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "STREAMS_MOST", 0)
    answer = server.client.get(EVENTS, params={"seconds": 0})
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:slowwave:problem:overloaded")


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator["Followed"]:
    """An open stream of a store in a file, which another program writes to."""
    monkeypatch.setattr(changes, "POLL", 0.02)
    monkeypatch.setattr(changes, "CHECK", 0.0)
    sent: list[Sent] = []
    event_text = changes.event_text

    def noted(name: str, values: dict[str, Any], *number: int) -> str:
        sent.append((name, values))
        return event_text(name, values, *number)

    monkeypatch.setattr(changes, "event_text", noted)
    path = tmp_path / "m.db"
    serving = Serving()
    with (
        Slowwave.open(path, llm=None, embedder="none") as store,
        Slowwave.open(path, llm=None, embedder="none") as other,
        TestClient(build_app(store, serving), base_url="http://localhost") as client,
    ):
        yield Followed(client, serving, other, sent)
        serving.streams.end()


class Followed:
    """A client that reads a stream to its end, on a thread. `sent` has each event, with its values, as it is sent."""

    def __init__(self, client: TestClient, serving: Serving, other: Slowwave, sent: "list[Sent]") -> None:
        self.client, self.serving, self.other, self.sent = client, serving, other, sent
        self.text = ""

    def begin(self, **headers: str) -> threading.Thread:
        def read() -> None:
            self.text = self.client.get(EVENTS, headers={"last-event-id": "0", **headers}).text

        thread = threading.Thread(target=read)
        thread.start()
        until(lambda: self.sent)
        return thread


def test_what_another_program_writes_is_sent_and_the_end_of_the_server_ends_the_stream(followed: Followed) -> None:
    thread = followed.begin()
    run = followed.other.within("alice").add("Alice rows").run_id
    followed.other.within("bob").add("Bob rows")
    until(lambda: any(name == "run" for name, _ in followed.sent))
    followed.serving.streams.end()
    thread.join(LONGEST)
    events = parsed(followed.text)
    assert [name for _, name, _ in events] == ["open", "run", "end"]
    assert (events[1][2]["run_id"], events[2][2]["reason"]) == (run, streams.STOPPED)
    assert followed.serving.streams._open.total() == 0


def test_a_stream_ends_with_its_key(followed: Followed) -> None:
    followed.other.add_key("keeper")
    key = followed.other.add_key("guest", prefix="alice")
    thread = followed.begin(authorization=f"Bearer {key.secret}")
    followed.other.revoke_key(key.key.id)
    thread.join(LONGEST)
    assert not thread.is_alive()
    assert "key" in parsed(followed.text)[-1][2]["reason"]


def test_the_first_key_ends_the_streams_without_one(followed: Followed) -> None:
    thread = followed.begin()
    followed.other.add_key("keeper")
    thread.join(LONGEST)
    assert not thread.is_alive()


def test_the_jobs_of_the_server_are_sent_as_they_happen(followed: Followed) -> None:
    followed.other.within("alice").add_message({"role": "user", "content": "I own a kiln."}, "c")
    thread = followed.begin()
    accepted = followed.client.post("/v1/scopes/alice/consolidate")
    until(lambda: any(values.get("state") == "done" for _, values in followed.sent))
    followed.serving.streams.end()
    thread.join(LONGEST)
    jobs = [values for _, name, values in parsed(followed.text) if name == "job"]
    assert {values["job_id"] for values in jobs} == {accepted.json()["id"]}
    assert jobs[-1]["state"] == "done"


@pytest.mark.long
def test_a_server_that_is_stopped_does_not_wait_for_a_client_that_follows(tmp_path: Path) -> None:
    store = str(tmp_path / "m.db")
    words = ["serve", "--store", store, "--embedder", "none", "--llm", "none", "--port"]
    with free_port() as port, subprocess.Popen([sys.executable, "-m", "slowwave", *words, str(port)]) as server:
        try:
            line = _connected(port)
            stream = line.getresponse()
            _read_until(stream, b"event: open")
            write = [sys.executable, "-m", "slowwave", "add", "Alice rows", "--store", store, "--scope", "alice"]
            subprocess.run([*write, "--embedder", "none"], check=True, capture_output=True)
            _read_until(stream, b"event: run")
            server.terminate()
            _read_until(stream, b"event: end")
            assert server.wait(LONGEST) == 0
            stream.close()
            line.close()
        finally:
            server.kill()


def _connected(port: int) -> HTTPConnection:
    """A connection that asks for the stream of a server that is starting."""

    def asked() -> HTTPConnection | None:
        line = HTTPConnection("127.0.0.1", port, timeout=LONGEST)
        try:
            line.request("GET", EVENTS, headers={"Last-Event-ID": "0"})
        except ConnectionRefusedError:
            line.close()
            return None
        return line

    line = until(asked)
    assert line is not None
    return line


def _read_until(stream: HTTPResponse, beginning: bytes) -> None:
    while not (line := stream.readline()).startswith(beginning):
        assert line, f"the stream ended before {beginning!r}"
