"""The load of 64 clients on `slowwave serve`: adds, searches and contexts over `/v1` and over `/mcp`, beside the library.

    python bench/serving.py [--seconds 60] [--clients 64] [--over v1 mcp library]

For each interface it starts the server in a process of its own, on a new store in a file, and prints for each kind of request
the number, the errors and the latency. The library is called by as many threads of this process. At the end it counts what
was stored: a message that was acknowledged and cannot be read back is lost. It ends with 1 if there was an error or a loss.
"""

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from slowwave import Slowwave

SCOPES = 16
"""Scopes that the clients share, so that several write to one at once."""
THINGS = ("harbour", "orchard", "bicycle", "violin", "greenhouse", "lighthouse", "kiln", "telescope")
KINDS = ("add", "add", "search", "context")


@dataclass
class Counted:
    """What the clients saw."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    errors: list[str] = field(default_factory=list)
    stored: dict[str, set[str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, kind: str, begun: float) -> None:
        """Count a request that was answered."""
        with self.lock:
            self.seconds[kind].append(time.perf_counter() - begun)

    def keep(self, scope: str, name: str) -> None:
        """Remember a message that was acknowledged."""
        with self.lock:
            self.stored.setdefault(scope, set()).add(name)


def text(dice: random.Random) -> str:
    return f"I saw a {dice.choice(THINGS)} near the {dice.choice(THINGS)} on day {dice.randrange(1000)}"


def over_http(port: int, key: str) -> Callable[[], Callable[[str, str, str, str], None]]:
    """Clients that keep one connection each."""

    def client() -> Callable[[str, str, str, str], None]:
        line = HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

        def ask(kind: str, scope: str, name: str, words: str) -> None:
            bodies = {
                "add": (
                    "messages",
                    {"messages": [{"role": "user", "content": words, "id": name}], "conversation": "c"},
                ),
                "search": ("search", {"query": words, "top_k": 5}),
                "context": ("context", {"query": words, "budget_tokens": 400}),
            }
            path, body = bodies[kind]
            line.request("POST", f"/v1/scopes/{scope}/{path}", json.dumps(body), headers)
            answer = line.getresponse()
            content = answer.read()
            if answer.status not in {200, 201}:
                raise ValueError(f"{answer.status} {content[:200]!r}")

        return ask

    return client


def over_mcp(port: int, key: str) -> Callable[[], Callable[[str, str, str, str], None]]:
    """Clients of MCP that keep one connection each. The server keeps no session, so that each request is whole."""

    def client() -> Callable[[str, str, str, str], None]:
        line = HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }

        def ask(kind: str, scope: str, name: str, words: str) -> None:
            message = {"role": "user", "content": words, "id": name}
            calls = {
                "add": ("keep", {"messages": [message], "conversation": "c"}),
                "search": ("recall", {"question": words, "top_k": 5}),
                "context": ("context", {"question": words, "budget_tokens": 400}),
            }
            tool, arguments = calls[kind]
            call = {"name": tool, "arguments": arguments}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            line.request("POST", f"/mcp?scope={scope}", json.dumps(body), headers)
            answer = line.getresponse()
            content = answer.read()
            if answer.status != HTTPStatus.OK:
                raise ValueError(f"{answer.status} {content[:200]!r}")
            reply = json.loads(content.partition(b"data: ")[2] or content)
            if "error" in reply or reply["result"].get("isError"):
                raise ValueError(f"{content[:300]!r}")

        return ask

    return client


def directly(store: Slowwave) -> Callable[[], Callable[[str, str, str, str], None]]:
    """The same calls of the library, in threads of this process."""

    def ask(kind: str, scope: str, name: str, words: str) -> None:
        memory = store.within(scope)
        if kind == "add":
            memory.add_messages([{"role": "user", "content": words, "id": name}], "c")
        elif kind == "search":
            memory.search(words, top_k=5)
        else:
            memory.context(words, budget_tokens=400)

    return lambda: ask


def drive(make: Callable[[], Callable[[str, str, str, str], None]], clients: int, seconds: float) -> Counted:
    """Let the clients ask until the time is over."""
    counted, ends = Counted(), time.monotonic() + seconds

    def run(number: int) -> None:
        dice, ask, asked = random.Random(number), make(), 0
        while time.monotonic() < ends:
            kind, scope, name = dice.choice(KINDS), f"s{dice.randrange(SCOPES)}", f"{number}-{asked}"
            asked += 1
            begun = time.perf_counter()
            try:
                ask(kind, scope, name, text(dice))
            except (OSError, ValueError, HTTPException) as error:
                with counted.lock:
                    counted.errors.append(f"{kind}: {error}")
                continue
            counted.note(kind, begun)
            if kind == "add":
                counted.keep(scope, name)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counted


def report(title: str, counted: Counted, seconds: float) -> None:
    total = sum(map(len, counted.seconds.values()))
    print(f"{title}: {total:,} requests, {total / seconds:.0f} a second, {len(counted.errors)} errors")
    for kind, taken in counted.seconds.items():
        if taken:
            p95 = statistics.quantiles(taken, n=20)[18] if len(taken) > 1 else taken[0]
            print(
                f"  {kind:8} {len(taken):6,}  p50 {statistics.median(taken) * 1000:7.1f} ms  p95 {p95 * 1000:7.1f} ms"
            )
    for error in counted.errors[:5]:
        print(f"  {error}")


def lost(store: Slowwave, counted: Counted) -> int:
    """How many acknowledged messages cannot be read back."""
    missing = 0
    for scope, names in counted.stored.items():
        missing += len(names - {message.id for message in store.within(scope).messages("c")})
    return missing


FACES: Mapping[str, Callable[[int, str], Callable[[], Callable[[str, str, str, str], None]]]] = {
    "v1": over_http,
    "mcp": over_mcp,
}


def served(face: str, clients: int, seconds: float) -> int:
    """Load one interface of a server; how many requests failed and messages were lost."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "served.db")
        with Slowwave.open(path, llm=None) as store:
            key = store.add_key("bench").secret
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        words = ["serve", "--store", path, "--port", str(port), "--llm", "none"]
        server = subprocess.Popen([sys.executable, "-m", "slowwave", *words], stdout=subprocess.DEVNULL)
        try:
            while True:
                try:
                    urlopen(f"http://127.0.0.1:{port}/readyz").close()
                    break
                except URLError:
                    if server.poll() is not None:
                        sys.exit(f"the server ended with {server.returncode}")
                    time.sleep(0.1)
            counted = drive(FACES[face](port, key), clients, seconds)
        finally:
            server.terminate()
            server.wait()
        report(f"{clients} clients of /{face}", counted, seconds)
        with Slowwave.open(path, llm=None) as store:
            return judged(store, counted)


def called(clients: int, seconds: float) -> int:
    """Load the library in this process; how many calls failed and messages were lost."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Slowwave.open(str(Path(folder) / "direct.db"), llm=None) as store,
    ):
        counted = drive(directly(store), clients, seconds)
        report(f"{clients} threads of the library", counted, seconds)
        return judged(store, counted)


def judged(store: Slowwave, counted: Counted) -> int:
    """Print how many acknowledged messages were lost; the number of failures."""
    missing = lost(store, counted)
    print(f"  acknowledged and lost: {missing} of {sum(map(len, counted.stored.values())):,}", flush=True)
    return missing + len(counted.errors)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--over", nargs="+", choices=(*FACES, "library"), default=(*FACES, "library"))
    given = parser.parse_args()
    failed = 0
    for face in given.over:
        work = (given.clients, given.seconds)
        failed += called(*work) if face == "library" else served(face, *work)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
