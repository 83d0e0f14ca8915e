"""A server and its tenants: large bodies, foreign ids, many streams and jobs, two lengths, and kills in repeatable requests."""

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from tests.attack.campaign import Place, opened, sound, words
from tests.ports import free_port

from slowwave import Slowwave
from slowwave.server.access.guards import BODY_MOST

MINE, OTHER = "acme", "beta"
STARTS: Final = 120.0
"""Seconds in which a server answers at the latest."""
MANY: Final = 60
"""Streams or jobs that one tenant asks for at once: more than its share."""
PATHS: Final = (
    "/v1/scopes/{scope}/notes/imports",
    "/v1/scopes/{scope}/notes/f%2Fimports",
    "/v1/scopes/{scope}/facts",
    "/v1/scopes/{scope}/messages",
    "/v1/scopes/{scope}/search",
    "/v1/notes/imports",
    "/mem0/v1/memories/",
    "/mem0/v1/imports",
    "/mcp",
    "/memories",
    "/imports",
)
FOREIGN: Final = (
    "facts/{id}",
    "facts/{id}/history",
    "facts/{id}/explanation",
    "facts",
    "search?q=ferry&deep=true",
    "notes?below=true",
    "conversations",
    "conversations/talk/messages",
    "runs",
    "runs/{run}",
    "plans/{plan}",
    "jobs/{job}",
    "jobs",
    "review",
    "health",
    "events?seconds=0",
)
"""What one tenant asks of the scope of another, and of its own scope with the other's ids."""


class Server:
    """`slowwave serve` in a process of its own, on a port that stays."""

    def __init__(self, address: str, port: int) -> None:
        self.port = port
        options = ["--store", address, "--embedder", "none", "--llm", "none", "--request-seconds", "10"]
        self._command = [sys.executable, "-m", "slowwave", "serve", *options, "--port", str(port)]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ends = time.monotonic() + STARTS
        while time.monotonic() < ends:
            with suppress(OSError):
                if self.ask("GET", "/healthz")[0] == 200:
                    return
            assert self.process.poll() is None, "the server has ended"
            time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()

    def ask(self, method: str, path: str, key: str = "", body: bytes | None = None, **headers: str) -> tuple[int, str]:
        """The status and the text of an answer."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=STARTS)
        try:
            sent = {
                "Content-Type": "application/json",
                **{name.replace("_", "-"): one for name, one in headers.items()},
            }
            line.request(method, path, body, {**sent, "Authorization": f"Bearer {key}"} if key else sent)
            answer = line.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        finally:
            line.close()

    def open(self, path: str, key: str) -> tuple[socket.socket, bytes]:
        """A connection that has asked for a path, and the status code of its answer."""
        line = socket.create_connection(("127.0.0.1", self.port), STARTS)
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
        return line, line.recv(12)[9:12]


class Tenants:
    """A server with two tenants, and what the second one has."""

    def __init__(
        self, place: Place, server: Server, keys: Mapping[str, str], ids: Mapping[str, str], word: str
    ) -> None:
        self.place, self.server, self.keys, self.ids, self.word = place, server, keys, ids, word
        self.before = self.listed()

    def listed(self) -> str:
        """What the second tenant reads of its scope."""
        return "".join(
            self.server.ask("GET", f"/v1/scopes/{OTHER}/{what}", self.keys[OTHER])[1] for what in ("facts", "runs")
        )


def _large(tenants: Tenants) -> int:
    chance, server = tenants.place.chance, tenants.server
    path, method = chance.choice(PATHS).format(scope=MINE), chance.choice(["PUT", "POST", "PATCH"])
    key = tenants.keys[chance.choice([MINE, "reader"])]
    with suppress(ConnectionError):  # the server closes a connection of which it does not read the rest
        status, _ = server.ask(method, path, key, b'{"text": "' + b"a" * BODY_MOST + b'"}')
        assert status in {401, 403, 404, 405, 413}, (method, path, status)
    return 1


def _foreign(tenants: Tenants) -> int:
    for what in FOREIGN:
        for scope in (OTHER, MINE, f"{MINE}%2F..%2F{OTHER}", f"{OTHER}%2Fx"):
            path = f"/v1/scopes/{scope}/{what.format(**tenants.ids)}"
            status, text = tenants.server.ask("GET", path, tenants.keys[MINE])
            assert tenants.word not in text, path
            assert status < 500, (path, status)
    return 4 * len(FOREIGN)


def _streams(tenants: Tenants) -> int:
    with ExitStack() as stack:
        lines = [tenants.server.open(f"/v1/scopes/{MINE}/events", tenants.keys["reader"]) for _ in range(MANY)]
        for line, _ in lines:
            stack.enter_context(line)
        assert {code for _, code in lines} == {b"200", b"503"}
        status, _ = tenants.server.ask("GET", f"/v1/scopes/{OTHER}/events?seconds=0", tenants.keys[OTHER])
        assert status == 200
    return MANY


def _jobs(tenants: Tenants) -> int:
    path = f"/v1/scopes/{MINE}/{tenants.place.chance.choice(['sleep', 'consolidate'])}"
    codes = {tenants.server.ask("POST", path, tenants.keys[MINE], b"{}")[0] for _ in range(MANY)}
    assert codes <= {202, 503}, codes
    status, _ = tenants.server.ask("POST", f"/v1/scopes/{OTHER}/sleep", tenants.keys[OTHER], b'{"dry_run": true}')
    assert status == 202
    return MANY


def _two_lengths(tenants: Tenants) -> int:
    head = f"POST /v1/scopes/{MINE}/facts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {tenants.keys[MINE]}\r\n"
    smuggled = f"GET /v1/scopes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {tenants.keys[MINE]}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", tenants.server.port), STARTS) as line:
        line.sendall(f"{head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}".encode())
        got = b""
        with suppress(ConnectionResetError):
            while came := line.recv(4096):
                got += came
    assert (got[9:12], got.count(b"HTTP/1.1 ")) == (b"400", 1), got
    return 1


def _killed(tenants: Tenants) -> int:
    """The server is killed in a repeatable request; the same request afterwards stores its messages once."""
    chance, server, name = tenants.place.chance, tenants.server, words("talk", tenants.place.chance)
    said = [{"role": "user", "content": f"{name} {number}"} for number in range(400)]
    body = json.dumps({"messages": said, "conversation": name}).encode()

    def store() -> int:
        path = f"/v1/scopes/{MINE}/messages"
        return server.ask("POST", path, tenants.keys[MINE], body, Idempotency_Key=name)[0]

    def first() -> None:
        with suppress(OSError, http.client.HTTPException):
            store()

    thread = threading.Thread(target=first)
    thread.start()
    time.sleep(chance.random() * 0.6)
    server.kill()
    thread.join()
    server.start()
    assert [store(), store()] == [201, 201]
    path = f"/v1/scopes/{MINE}/conversations/{name}/messages?last=10000"
    assert server.ask("GET", path, tenants.keys[MINE])[1].count('"content"') == len(said)
    return 1


ACTS: Final[tuple[Callable[[Tenants], int], ...]] = (_large, _foreign, _streams, _jobs, _two_lengths, _killed)


@contextmanager
def _served(place: Place) -> Iterator[tuple[str, Tenants]]:
    address, word = place.store(), words("zq", place.chance)
    with Slowwave.open(address, llm=None, embedder="none") as store:
        rights: dict[str, Any] = {"rights": ["read", "write", "review"]}
        keys = {name: store.add_key(name, prefix=name, **rights).secret for name in (MINE, OTHER)}
        keys["reader"] = store.add_key("reader", prefix=MINE, rights=["read"]).secret
        beta = store.within(OTHER)
        added = beta.add(f"The {word} ferry is red")
        beta.add_message({"role": "user", "content": f"I take the {word} ferry"}, "talk")
    with free_port() as port:
        server = Server(address, port)
        try:
            made = json.loads(server.ask("POST", f"/v1/scopes/{OTHER}/sleep", keys[OTHER], b'{"dry_run": true}')[1])[
                "id"
            ]
            ids = {"id": added.ids[0], "run": added.run_id, "job": made, "plan": made}
            yield address, Tenants(place, server, keys, ids, word)
        finally:
            server.kill()


def served(place: Place) -> int:
    """Hostile requests of one tenant in random order: the server goes on, and another tenant loses and shows nothing."""
    tried = 0
    with _served(place) as (address, tenants):
        for _ in place.times(12):
            tried += place.chance.choice(ACTS)(tenants)
            assert tenants.server.process.poll() is None, "the server has ended"
            assert tenants.listed() == tenants.before
    with opened(address, MINE) as memory:
        sound(memory)
    return tried
