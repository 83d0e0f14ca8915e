"""The load of 64 clients on `slowwave serve`: adds, searches and contexts over `/v1`, beside the library called directly.

Run: python bench/serving.py [--seconds 60] [--clients 64]. It starts the server in a process of its own, on a store in a
file, and prints for each kind of request the number, the errors and the latency. At the end it counts what was stored: a
message that was acknowledged and cannot be read back is lost.
"""

import argparse
import json
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection
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
            except (OSError, ValueError) as error:
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=64)
    given = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "served.db")
        with Slowwave.open(path, llm=None) as store:
            key = store.add_key("bench").secret
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        server = subprocess.Popen([sys.executable, "-m", "slowwave", "serve", "--store", path, "--port", str(port)])
        try:
            while True:
                try:
                    urlopen(f"http://127.0.0.1:{port}/readyz").close()
                    break
                except URLError:
                    time.sleep(0.1)
            counted = drive(over_http(port, key), given.clients, given.seconds)
        finally:
            server.terminate()
            server.wait()
        report(f"{given.clients} clients of /v1", counted, given.seconds)
        with Slowwave.open(path, llm=None) as store:
            missing = lost(store, counted)
            print(f"  acknowledged and lost: {missing} of {sum(map(len, counted.stored.values())):,}")
        failed += len(counted.errors) + missing
        with Slowwave.open(str(Path(folder) / "direct.db"), llm=None) as store:
            counted = drive(directly(store), given.clients, given.seconds)
            report(f"{given.clients} threads of the library", counted, given.seconds)
            failed += len(counted.errors) + lost(store, counted)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
