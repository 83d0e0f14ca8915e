"""Embedders that stall, flood, send elsewhere, repeat the key or answer anything: a message is stored, found and repaired later."""

import json
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from tests.transport.conftest import KEY, LIMIT, Within

from slowwave import AgentMemory, Message
from slowwave.testing import OpenAIServer, Served, hostile_server as hostile
from slowwave.testing.hostile_server import MEGABYTE, HostileServer, Script

SAID: Final = ("The auth service uses Argon2 with a 12-byte salt.", "Alice owns the deploy pipeline.")
MEMORY: Final = 60 * MEGABYTE
"""The most that a call may allocate; the limit of a body is below it."""
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


def raw(*pieces: bytes) -> Script:
    """These bytes, whatever was asked."""
    return lambda _: pieces


def endless_chunks(_: bytes) -> Iterator[bytes]:
    """Chunks of one byte, without end."""
    yield _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    while True:
        yield b"1\r\n \r\n" * 1000


def rows(*given: object, index: Callable[[int], object] = lambda place: place) -> Served:
    """An answer with these embeddings."""
    data = [{"object": "embedding", "index": index(place), "embedding": row} for place, row in enumerate(given)]
    return Served(body=json.dumps({"object": "list", "data": data}))


def nested(depth: int) -> Served:
    return Served(body='{"data": ' + "[" * depth + "]" * depth + "}")


SCRIPTS: Final[Mapping[str, Script]] = {
    "silence": hostile.silence,
    "a body byte by byte": hostile.drip_body,
    "a header byte by byte": hostile.drip_headers,
    "endless 100 Continue": hostile.endless_continue,
    "a gigabyte": hostile.flood(1000),
    "endless chunks": endless_chunks,
    "a compressed bomb": hostile.bomb(1000),
    "the key in an error": hostile.echo("400 Bad"),
    "the key in a page": hostile.echo("500 Oops", "<html><b>{0}</b></html>"),
    "the key as an answer": hostile.echo("200 OK", '{{"data": "{0}"}}'),
    "the key in a redirect": hostile.echo("302 Found", "{0}", "Location"),
    "bytes that are no HTTP": raw(b"\x16\x03\x01\x00\xff" * 100),
    "a header without end": raw(_HEAD + b"X-Long: " + b"x" * 5 * MEGABYTE + b"\r\n\r\n{}"),
    "ten thousand headers": raw(_HEAD + b"X-A: b\r\n" * 10_000 + b"\r\n{}"),
    "less than it says": raw(_HEAD + b'Content-Length: 1000\r\n\r\n{"data": ['),
    "a negative length": raw(_HEAD + b"Content-Length: -1\r\n\r\n{}"),
    "damaged compression": raw(_HEAD + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"),
}
ANSWERS: Final[Mapping[str, Served]] = {
    "another encoding": Served(body="{}", headers={"Content-Encoding": "br"}),
    "too many requests": Served(status=429, headers={"Retry-After": "1000000000"}),
    "no content": Served(status=204),
    "a page": Served(body="<html>", headers={"Content-Type": "text/html"}),
    "nothing": Served(body=""),
    "JSON that is cut off": Served(body='{"data": [{"index": 0, "embedding": [0.1'),
    "deep brackets": nested(100_000),
    "no data": Served(body="{}"),
    "data of another kind": Served(body='{"data": 7}'),
    "one vector too few": rows([1.0, 2.0]),
    "one vector too many": rows([1.0, 2.0], [2.0, 1.0], [1.0, 1.0]),
    "vectors of two widths": rows([1.0, 2.0], [1.0, 2.0, 3.0]),
    "vectors of no width": rows([], []),
    "NaN": rows([float("nan"), 1.0], [1.0, 1.0]),
    "infinity": rows([float("inf"), 1.0], [1.0, 1.0]),
    "zeros": rows([0.0, 0.0], [1.0, 1.0]),
    "numbers whose squares overflow": rows([1e308, 1e308], [1e308, -1e308]),
    "numbers of 400 digits": Served(
        body=json.dumps({"data": [{"index": 0, "embedding": ["N"]}] * 2}).replace('"N"', "9" * 400)
    ),
    "texts": rows(["a", "b"], ["c", "d"]),
    "base64": rows("AACAPwAAgD8=", "AACAPwAAgD8="),
    "null": rows([None, 1.0], [1.0, None]),
    "an index that is no number": rows([1.0, 2.0], [2.0, 1.0], index=lambda place: [None, {}][place]),
}


@dataclass(frozen=True)
class After:
    """What was shown of a memory whose embedder failed, and how many messages have no vector."""

    shown: str
    problems: tuple[str, ...]
    unembedded: int


def stored(url: str, path: Path, environment: pytest.MonkeyPatch) -> After:
    """Store two messages, find them by their words, and return what is shown."""
    environment.setenv("SLOWWAVE_EMBEDDER_URL", url)
    environment.setenv("SLOWWAVE_EMBEDDER_KEY", KEY)
    with AgentMemory.open(path, llm="none", embedder="openai:tiny") as memory:
        receipt = memory.add_messages([Message(role="user", content=text) for text in SAID], "c")
        assert len(receipt.ids) == len(SAID)
        for text in SAID:
            assert text in [hit.text for hit in memory.search(text)]
        shown: list[Any] = [receipt, receipt.problems, memory.status(), memory.runs(), memory.ports, memory.health()]
        return After("\n".join(map(str, shown)), receipt.problems, memory.status().unembedded)


def unharmed(
    server: AbstractContextManager[Any],
    path: Path,
    environment: pytest.MonkeyPatch,
    within: Within,
) -> None:
    """The call ends, needs little memory, shows no key, stores both messages and their vectors once a server answers."""
    with server as hostile:
        tracemalloc.start()
        try:
            after: After = within(lambda: stored(hostile.url, path, environment))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert hostile.received
    assert peak < MEMORY
    assert (after.unembedded, len(after.problems)) == (len(SAID), 1), after.problems
    assert after.problems[0].startswith("stored without vectors, found by words until `reembed`")
    files = [file for file in path.parent.iterdir() if file.is_file()]
    assert "very-secret" not in after.shown + "".join(file.read_bytes().decode("latin-1") for file in files)
    with OpenAIServer() as healthy:
        environment.setenv("SLOWWAVE_EMBEDDER_URL", healthy.url)
        environment.setenv("SLOWWAVE_EMBEDDER_SECONDS", str(LIMIT))
        with AgentMemory.open(path, llm="none", embedder="openai:tiny") as memory:
            memory.reembed()
            assert memory.status().unembedded == 0
            assert memory.doctor(deep=True) == []
            assert [message.content for message in memory.messages("c")] == list(SAID)


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Load the library: its modules and tables take time and memory that are not those of a call."""
    with AgentMemory.open(":memory:", llm="none", embedder="none") as memory:
        memory.add_message(Message(role="user", content=SAID[0]), "c")
        memory.search(SAID[0])


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_server_that_misbehaves_harms_nothing(
    script: Script, tmp_path: Path, environment: pytest.MonkeyPatch, within: Within
) -> None:
    unharmed(HostileServer(script), tmp_path / "memory.db", environment, within)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_without_vectors_harms_nothing(
    answer: Served, tmp_path: Path, environment: pytest.MonkeyPatch, within: Within
) -> None:
    unharmed(OpenAIServer(answer), tmp_path / "memory.db", environment, within)


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_to_another_host_takes_no_words_there(
    status: int, tmp_path: Path, environment: pytest.MonkeyPatch, within: Within
) -> None:
    with OpenAIServer() as other:
        answer = Served(status=status, headers={"Location": f"{other.url}/embeddings"})
        unharmed(OpenAIServer(answer), tmp_path / "memory.db", environment, within)
        assert other.received == []


def test_a_width_that_changes_later_leaves_the_first_vectors(tmp_path: Path, unhurried: pytest.MonkeyPatch) -> None:
    with OpenAIServer(rows([1.0, 2.0]), rows([1.0, 2.0, 3.0])) as server:
        unhurried.setenv("SLOWWAVE_EMBEDDER_URL", server.url)
        with AgentMemory.open(tmp_path / "memory.db", llm="none", embedder="openai:tiny") as memory:
            first, second = (memory.add_message(Message(role="user", content=text), "c") for text in SAID)
            assert (first.problems, len(second.problems), memory.status().unembedded) == ((), 1, 1)
            assert memory.doctor(deep=True) == []
