"""PgBouncer in transaction mode, with the version that is installed: programs and workers behind it lose nothing."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from tests.ports import free_port
from tests.waiting import LONGEST, until

from slowwave import Message, Slowwave
from slowwave.worker import SCHEMA, queue_status

PROGRAM = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"  # where Debian puts it, which is not in the path of users
CONNECTIONS = 3
THREADS = 8
USERS = 12
ROUNDS = 6
LONG_AGO = datetime.now(UTC) - timedelta(days=1)  # so that the conversations have ended
SETTINGS = """
[databases]
* = host={folder} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
"""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path(PROGRAM).exists(), reason="no PgBouncer here: apt-get install pgbouncer"),
]


@pytest.fixture
def pooled(own: str) -> Iterator[str]:
    """The address of the database `own`, behind PgBouncer."""
    place = urlsplit(own)
    server = parse_qs(place.query)["host"][0]
    keeper = Path(server).stat()
    folder = Path(mkdtemp(prefix="slowwave-pgbouncer-"))
    os.chown(folder, keeper.st_uid, keeper.st_gid)  # PgBouncer refuses to run as root
    user = {"user": keeper.st_uid, "group": keeper.st_gid} if os.geteuid() == 0 else {}
    with free_port() as port, (folder / "log").open("w") as log:
        settings = SETTINGS.format(folder=server, user=place.username, port=port, connections=CONNECTIONS)
        (folder / "pgbouncer.ini").write_text(settings)
        pooler = subprocess.Popen([PROGRAM, folder / "pgbouncer.ini"], stderr=log, stdout=log, **user)
        address = f"postgresql://{place.username}@127.0.0.1:{port}{place.path}"
        try:
            until(lambda: answers(address, pooler, folder / "log"))
            yield address
        finally:
            pooler.terminate()
            pooler.wait(LONGEST)
            shutil.rmtree(folder)


def answers(address: str, pooler: "subprocess.Popen[bytes]", log: Path) -> bool:
    assert pooler.poll() is None, log.read_text()
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


def test_programs_behind_a_pooler_in_transaction_mode_find_what_they_wrote_and_nothing_of_others(pooled: str) -> None:
    with Slowwave.open(pooled, llm=None, embedder="static") as store, ThreadPoolExecutor(THREADS) as threads:

        def turn(number: int) -> None:
            user = f"user{number % USERS}"
            memory = store.within("users", user)
            memory.add_messages(Message(role="user", content=f"{user} keeps bicycle {number} in the cellar"), "chat")
            hits = memory.search(f"where is bicycle {number}?")
            assert hits[0].text == f"{user} keeps bicycle {number} in the cellar"
            assert all(hit.text.startswith(f"{user} ") for hit in hits)
            assert f"bicycle {number}" in str(memory.context(f"bicycle {number}", conversation="chat"))

        list(threads.map(turn, range(USERS * ROUNDS)))  # raises what a turn raised
        assert [scope.messages for scope in store.scopes("users")] == [ROUNDS] * USERS
        assert store.within("users", "user3").erase(scope=True).problems == ()
        assert store.within("users", "user3").search("bicycle") == []


def test_workers_behind_a_pooler_sleep_every_scope_once_also_when_one_of_them_is_killed(pooled: str) -> None:
    names = [f"users/{number}" for number in range(USERS)]
    with Slowwave.open(pooled, llm=None, embedder="none") as store:
        for name in names:
            said = [
                Message(role="user", content=f"I have {number} green boats", at=LONG_AGO) for number in range(2, 10)
            ]
            store.within(name).add_messages(said, "chat")
        command = [sys.executable, "-m", "slowwave", "worker", "--store", pooled, "--every", "1s"]
        workers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        try:
            ends = time.monotonic() + LONGEST
            while not any(store.within(name).runs(cause="sleep/distil") for name in names):
                assert time.monotonic() < ends, queue_status(pooled)
                time.sleep(0.05)
            workers[0].kill()
            while not all(store.within(name).runs(cause="sleep/distil") for name in names):
                assert time.monotonic() < ends, queue_status(pooled)
                time.sleep(0.2)
        finally:
            for one in workers:
                one.terminate()
        output = "".join(one.communicate()[1] for one in workers)
        assert " error " not in output, output
        assert [len(store.within(name).runs(cause="sleep/distil")) for name in names] == [1] * USERS
        assert not [name for name, record in store.failing().items() if record.dead]
        with psycopg.connect(pooled) as db:
            dead = db.execute(f"SELECT count(*) FROM {SCHEMA}.workflow_status WHERE status = 'ERROR'".encode())
            assert dead.fetchone() == (0,)
