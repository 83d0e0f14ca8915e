"""Processes that are killed at every failpoint, and many that write to one file at the same time."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from slowwave.model.query import Where
from slowwave.stores.sqlite.store import SqliteStore
from slowwave.testing import Failpoint
from slowwave.testing.builders import SCOPE, add, fact, plan

WORKER = [sys.executable, str(Path(__file__).with_name("worker.py"))]
POINTS = (
    *("migrate.begun", "migrate.before_commit", "migrate.committed"),
    *("apply.before_begin", "apply.begun", "apply.memories", "apply.entries", "apply.rows", "apply.journal"),
    *("apply.change", "apply.use", "apply.link", "apply.advance", "apply.hold", "apply.erase"),
    *("apply.before_commit", "apply.committed"),
)


def passed(path: Path) -> dict[str, int]:
    counter = Failpoint()
    store = SqliteStore(str(path), reached=counter)
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        from worker import every_kind  # noqa: PLC0415  # a script beside this file, not a package

        every_kind(store)
    finally:
        sys.path.pop(0)
        store.close()
    return counter.passed


def test_the_list_of_failpoints_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(passed(tmp_path / "memory.db")) == set(POINTS)
    assert capsys.readouterr().out.count("ack") == 3


@pytest.mark.parametrize("point", POINTS)
def test_a_process_killed_at_a_failpoint_loses_nothing_acknowledged_and_the_next_one_finishes(
    point: str, tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    at = 1 if point.startswith("migrate") else 2
    killed = subprocess.run(
        [*WORKER, str(path), "every_kind", point, str(at)], capture_output=True, text=True, check=False
    )
    assert killed.returncode == -9, killed.stderr
    lines = [line.split() for line in killed.stdout.splitlines()]
    store = SqliteStore(str(path))
    assert store.check(deep=True) == []
    for word, identity in lines:
        (found,) = store.get([SCOPE], [identity])
        assert found.version >= (2 if word == "changed" else 1)
    store.close()
    again = subprocess.run([*WORKER, str(path), "every_kind"], capture_output=True, text=True, check=False)
    assert again.stdout.endswith("done\n"), again.stderr
    store = SqliteStore(str(path))
    assert store.check(deep=True) == []
    assert [one.seq for one in store.select([SCOPE], Where(kinds=frozenset({"message"}), order="seq"))] == [
        *range(1, 10)
    ]
    facts = store.select([SCOPE], Where(kinds=frozenset({"semantic"})))
    assert [(one.id, one.version, one.accesses) for one in facts] == [(f"f{turn}", 2, 1) for turn in range(3)]
    assert store.conversations(SCOPE)[0].cursors == {"distil": 9}
    store.close()


def run_together(path: Path, processes: int, rounds: int) -> None:
    workers = [
        subprocess.Popen(
            [*WORKER, str(path), "mixed", f"p{number}", str(rounds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    outputs = [worker.communicate(timeout=500) for worker in workers]
    acknowledged = []
    for output, problems in outputs:
        assert output.endswith("done\n"), problems
        acknowledged += [line.split()[1] for line in output.splitlines() if line.startswith("ack")]
    store = SqliteStore(str(path))
    everything = processes * rounds
    assert len(store.get([SCOPE], acknowledged)) == len(acknowledged) == everything
    messages = store.select([SCOPE], Where(kinds=frozenset({"message"}), order="seq"))
    assert [one.seq for one in messages] == [*range(1, everything + 1)]
    (shared,) = store.get([SCOPE], ["shared"])
    assert (shared.accesses, shared.metadata["count"], shared.version) == (everything, str(everything), everything + 1)
    assert len(store.select([SCOPE], Where(kinds=frozenset({"semantic"})))) == rounds + 1
    assert store.check(deep=True) == []
    store.close()


def test_eight_processes_open_a_new_file_at_once_and_lose_nothing(tmp_path: Path) -> None:
    run_together(tmp_path / "memory.db", processes=8, rounds=20)


@pytest.mark.long
def test_sixteen_processes_write_for_a_long_time(tmp_path: Path) -> None:
    run_together(tmp_path / "memory.db", processes=16, rounds=350)


def test_the_same_fact_from_32_threads_is_one_memory(tmp_path: Path) -> None:
    stores = [SqliteStore(str(tmp_path / "memory.db")) for _ in range(4)]
    reasons: list[str] = []

    def state(number: int) -> None:
        for turn in range(5):
            receipt = stores[number % 4].apply(
                plan(add(fact(f"The deploy is on Friday {turn}", id=f"{number}.{turn}")))
            )
            reasons.extend(one.reason for one in receipt.dropped)

    threads = [threading.Thread(target=state, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    live = stores[0].select([SCOPE], Where())
    assert sorted(one.text[-1] for one in live) == ["0", "1", "2", "3", "4"]
    assert len(reasons) == 31 * 5
    assert {reason.removeprefix("the same fact is known already, as ") for reason in reasons} == {
        one.id for one in live
    }
    for store in stores:
        store.close()


def test_a_commit_of_another_process_while_the_mark_of_the_log_is_taken_back_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (SqliteStore(str(tmp_path / "memory.db")) for _ in range(2))
    after_commit = first._log.after_commit

    def between(*given: object) -> None:
        second.apply(plan(add(fact("Bob owns the ferry", id="b"))))
        after_commit(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(first._log, "after_commit", between)
    first.apply(plan(add(fact("Ann owns the mill", id="a"))))
    monkeypatch.undo()
    first.apply(plan(add(fact("Cem owns the kiosk", id="c"))))
    assert {one.id for one in second.get([SCOPE], ["a", "b", "c"])} == {"a", "b", "c"}
    assert second.check(deep=True) == []
    first.close()
    second.close()
