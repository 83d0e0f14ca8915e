"""Web servers and task queues as they are really run: forked after the store was used, with TLS and without."""

import http.client
import json
import os
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from tests.ports import free_port
from tests.waiting import LONGEST, until

from slowwave.testing.postgres import PostgresServer
from slowwave.testing.postgres_tls import with_tls

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
TENANTS = ("acme", "bolt", "crux", "dune")
CLIENTS, WORKERS = 6, 4
GUNICORN = (
    "gunicorn",
    "--preload",
    "--workers",
    str(WORKERS),
    "--threads",
    "4",
    "--timeout",
    str(int(LONGEST)),
    "--log-level",
    "error",
    "web_app:wsgi",
)
UVICORN = ("uvicorn", "--workers", "2", "--log-level", "error", "web_app:asgi")


@pytest.fixture(params=[False, True], ids=["plain", "tls"])
def address(request: pytest.FixtureRequest, shared_postgres: PostgresServer, tmp_path: Path) -> Iterator[str]:
    """An empty database, over TLS or not."""
    with ExitStack() as stack:
        plain = shared_postgres.database()
        yield stack.enter_context(with_tls(plain, tmp_path)) if request.param else f"{plain}&sslmode=disable"


@contextmanager
def served(command: tuple[str, ...], address: str) -> Iterator[int]:
    """A web server in a process of its own. Gives its port."""
    if find_spec(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    with free_port() as port:
        place = ("--bind", f"127.0.0.1:{port}") if command[0] == "gunicorn" else ("--port", str(port))
        server = subprocess.Popen(
            [sys.executable, "-m", *command, *place],
            cwd=Path(__file__).parent,
            env={**os.environ, "WEB_STORE": address},
        )
        try:
            until(lambda: _answers(port, server))
            yield port
        finally:
            server.terminate()
            server.wait(LONGEST)


def _answers(port: int, server: "subprocess.Popen[bytes]") -> bool:
    assert server.poll() is None, "the web server ended"
    try:
        socket.create_connection(("127.0.0.1", port), timeout=LONGEST).close()
    except OSError:
        return False
    return True


def client(port: int, requests: int, seed: int) -> Counter[str]:
    """Ask for tenants in a random order, and sometimes add. Counts the rows of the tenant, of others, and failures."""
    chance, counts = Random(seed), Counter[str]()
    for number in range(requests):
        tenant = chance.choice(TENANTS)
        added = f"&add=The+tenant+{tenant}+keeps+ledger+{seed}-{number}" if chance.random() < 0.1 else ""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST)
        connection.request("GET", f"/?tenant={tenant}{added}")
        response = connection.getresponse()
        body = response.read()
        connection.close()
        if response.status != 200:
            counts["failed"] += 1
            continue
        for text in json.loads(body):
            counts["own" if tenant in text else "foreign"] += 1
    return counts


def asked(command: tuple[str, ...], address: str, requests: int) -> Counter[str]:
    with served(command, address) as port, ThreadPoolExecutor(CLIENTS) as threads:
        parts = [threads.submit(client, port, requests // CLIENTS, seed) for seed in range(CLIENTS)]
        return sum((part.result() for part in parts), Counter[str]())


@pytest.mark.parametrize(
    "command", [pytest.param(GUNICORN, id="gunicorn"), pytest.param(UVICORN, id="uvicorn", marks=pytest.mark.long)]
)
def test_a_web_server_shows_each_tenant_its_own_rows(command: tuple[str, ...], address: str) -> None:
    counts = asked(command, address, 60)
    assert (counts["foreign"], counts["failed"], counts["own"]) == (0, 0, 300)


@pytest.mark.long
@pytest.mark.parametrize("command", [GUNICORN, UVICORN], ids=["gunicorn", "uvicorn"])
def test_a_web_server_shows_each_tenant_its_own_rows_36000_times(command: tuple[str, ...], address: str) -> None:
    counts = asked(command, address, 7200)
    assert (counts["foreign"], counts["failed"], counts["own"]) == (0, 0, 36_000)


def prefork(address: str, tasks: int) -> Counter[str]:
    """A process that imports the application and then forks workers, as Celery does."""
    program = (
        "import json, multiprocessing, web_app\n"
        "def task(tenant):\n"
        "    texts = web_app.answer(f'tenant={tenant}')[1]\n"
        "    return [sum(tenant in text for text in texts), sum(tenant not in text for text in texts)]\n"
        f"with multiprocessing.get_context('fork').Pool({WORKERS}) as pool:\n"
        f"    found = pool.map(task, [web_app.TENANTS[n % 4] for n in range({tasks})], chunksize=5)\n"
        "print(json.dumps([sum(column) for column in zip(*found)]))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program],
        cwd=Path(__file__).parent,
        env={**os.environ, "WEB_STORE": address},
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    own, foreign = json.loads(ended.stdout)
    return Counter(own=own, foreign=foreign)


@pytest.mark.long
def test_workers_of_a_task_queue_see_their_own_rows(address: str) -> None:
    assert prefork(address, 120) == Counter(own=600, foreign=0)


@pytest.mark.long
def test_workers_of_a_task_queue_see_their_own_rows_36000_times(address: str) -> None:
    assert prefork(address, 7200) == Counter(own=36_000, foreign=0)
