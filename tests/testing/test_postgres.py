"""The private Postgres server of tests: how long it may take to start."""

from types import SimpleNamespace
from typing import Any

from slowwave.testing.postgres import START_SECONDS, wait_longer


def test_a_server_may_take_longer_to_start_than_the_wheel_waits() -> None:
    given: list[dict[str, Any]] = []
    module = SimpleNamespace(pgexec=lambda _, **options: given.append(options))
    for _ in range(2):
        wait_longer(module)
    module.pgexec("pg_ctl", timeout=10, user="postgres")
    module.pgexec("initdb", user="postgres")
    assert given == [{"timeout": START_SECONDS, "user": "postgres"}, {"user": "postgres"}]
