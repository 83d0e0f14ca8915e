"""Processes that fork with an open memory: children have separate connections, caches and locks."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory, forks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
PROGRAM = [sys.executable, "-W", "ignore::DeprecationWarning", str(Path(__file__).with_name("forking.py"))]
SOON = 20.0
"""Seconds within which a child answers or refuses, on a machine that may be busy: fewer than a store waits for a lock."""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The location of a store: a file, or an empty database without TLS."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return without_tls(request.getfixturevalue("own"))


def without_tls(address: str) -> str:
    """The same address without TLS, whose records would break before a foreign answer is read."""
    return f"{address}{'&' if '?' in address else '?'}sslmode=disable"


def run(name: str, *arguments: object, seconds: float = 300) -> Any:  # noqa: ANN401 - JSON
    ended = subprocess.run(
        [*PROGRAM, name, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=seconds
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return json.loads(ended.stdout)


def stored(place: str, ids: list[str]) -> int:
    """The number of these memories, in a store that passes its check."""
    with AgentMemory.open(place, scope="acme", llm=None, embedder="none") as memory:
        assert memory.doctor(deep=True) == []
        return len(memory.ports.store.get(("acme",), ids))


def search_in_children(place: str, starts: int, searches: int) -> None:
    total = {"right": 0, "foreign": 0, "errors": 0, "hung": 0}
    for _ in range(starts):
        outcome = run("preloaded", place, 4, searches)
        for report in outcome["children"]:
            for what in total:
                total[what] += int(report.get(what, 0))
        assert outcome["parent"] == {"right": 16, "foreign": 0, "errors": 0}
    assert total == {"right": starts * 4 * searches, "foreign": 0, "errors": 0, "hung": 0}


def test_the_children_of_a_preloaded_parent_find_their_own_tenants_only(place: str) -> None:
    search_in_children(place, starts=1, searches=30)


@pytest.mark.long
def test_a_hundred_preloaded_parents_answer_36000_searches_correctly(own: str) -> None:
    search_in_children(without_tls(own), starts=100, searches=90)


def test_children_answer_and_write_while_a_thread_of_the_parent_writes(place: str) -> None:
    outcome = run("busy", place, 12)
    children = outcome["children"]
    assert [one for one in children if one.get("hung") or one["seconds"] > SOON] == []
    assert [one for one in children if not one.get("found")] == []
    ids = [identity for one in children for identity in one["ids"]]
    assert outcome["seen"] == len(ids), "the parent sees what its children wrote"
    assert stored(place, ids + outcome["acknowledged"]) == len(ids) + len(outcome["acknowledged"])


def test_a_child_forked_during_a_long_write_refuses_and_damages_nothing(tmp_path: Path) -> None:
    outcome = run("stuck", tmp_path / "memory.db")
    used, anew, ended = outcome["children"]
    assert "was forked while another thread was using SQLite" in used["refused"]
    assert "was forked while another thread was using SQLite" in anew["refused"]
    assert max(one["seconds"] for one in (used, anew, ended)) < SOON
    assert (outcome["found"], outcome["doctor"]) == (2, [])
    assert stored(str(tmp_path / "memory.db"), outcome["acknowledged"]) == 1


def test_writes_of_a_child_after_its_parent_has_closed_the_store_are_durable(place: str) -> None:
    (child,) = run("parent_closes", place)["children"]
    assert len(child["ids"]) == 2
    assert stored(place, child["ids"]) == 2


def test_a_child_that_closes_the_store_and_exits_does_not_affect_its_parent(place: str) -> None:
    outcome = run("child_closes", place)
    closing, idle = outcome["children"]
    assert "hung" not in idle
    assert outcome["doctor"] == []
    ids = closing["ids"] + outcome["acknowledged"]
    assert stored(place, ids) == len(ids)


def test_the_session_of_the_parent_at_the_server_outlives_its_children(own: str) -> None:
    outcome = run("session", without_tls(own))
    assert outcome["children"][0]["session"] != outcome["before"]
    assert outcome["after"] == outcome["before"]


def test_a_handle_that_was_not_used_before_the_fork_works_in_children_and_a_closed_one_stays_closed(place: str) -> None:
    first, second, closed = run("unused", place)["children"]
    assert (first["found"], second["found"]) == (1, 2)
    assert "closed" in closed["refused"]


def test_the_async_facade_works_in_a_child(place: str) -> None:
    outcome = run("asynchronous", place)
    assert outcome["children"][0]["found"] == 2
    assert outcome["parent"]["found"] == 3


def test_a_child_neither_renews_nor_gives_back_the_lease_of_its_parent(place: str) -> None:
    held, orphaned = run("sleeping", place)["children"]
    assert (held["renewed"], held["taken"]) == (False, False)
    assert (held["still"], held["other"]) == (True, False)
    assert (held["woken"], held["trouble"]) == (False, None)
    assert "has ended" in orphaned["trouble"]


def test_a_fork_whose_wait_was_interrupted_does_not_count_as_quiet() -> None:
    class Interrupted:
        def before_fork(self, _ends: float) -> bool:
            raise KeyboardInterrupt

        def after_fork_in_parent(self) -> None:
            """It locked nothing."""

        def after_fork(self) -> None:
            """It has no state."""

    hooks, target = forks._Forks(), Interrupted()
    forks.pause(target)
    with pytest.raises(KeyboardInterrupt):
        hooks.before()
    hooks.in_parent()
    assert not hooks._none_busy


def test_a_memory_in_ram_is_copied_to_the_child() -> None:
    (child,) = run("parent_closes", ":memory:")["children"]
    assert len(child["ids"]) == 2


def test_a_child_has_new_locks_and_connections_of_models_and_background_work() -> None:
    outcome = run("locked", "")
    (child,) = outcome["children"]
    del child["seconds"]
    assert child == {"unconnected": True, "calls": 0, "alone": True, "rest": None}
    assert outcome["requests"] == 3


def test_a_model_on_an_event_loop_of_the_parent_is_refused_in_the_child() -> None:
    (child,) = run("lent_model", "")["children"]
    assert "event loop" in child["refused"]
