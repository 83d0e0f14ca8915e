"""The commands `sleep --due`, copy and backup, and commands on Postgres."""

import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from slowwave import AgentMemory
from slowwave.errors import StoreError
from slowwave.stores.row_transfer import RowTransfer
from slowwave.testing.postgres import PostgresServer

Run = Callable[..., Any]


def test_sleep_due_runs_one_pass_for_each_due_scope(run: Run) -> None:
    for scope in ("acme/alice", "acme/bob"):
        assert run("--scope", scope, "add", f"{scope} owns the deploy pipeline").code == 0
    slept = run("sleep", "--due", "--no-think")
    assert slept.code == 0
    assert "acme/alice: " in slept.out
    assert "acme/bob: " in slept.out
    assert run("sleep", "--due", "--no-think").out == "no scope is due for sleep\n"
    assert run("sleep", "--due", "--dry-run").code == 2


def test_a_store_is_copied_and_the_copy_can_be_repeated(run: Run, store: Path, tmp_path: Path) -> None:
    run("add", "Alice owns the deploy pipeline")
    copy = str(tmp_path / "copy.db")
    first = run("copy", str(store), copy)
    assert first.code == 0
    assert "1 scope copied" in first.out
    assert "same hash" in first.out
    assert run("--json", "copy", str(store), copy).json["known"] == 1
    with AgentMemory.open(copy, embedder="none") as memory:
        assert [fact.text for fact in memory.get_all()] == ["Alice owns the deploy pipeline"]
    assert run("copy", copy, copy).code == 2
    assert run("copy", str(tmp_path / "nobody.db"), copy).code == 2


def test_a_backup_is_a_new_private_file(run: Run, tmp_path: Path) -> None:
    run("add", "Alice owns the deploy pipeline")
    run("--scope", "other", "add", "Bob owns the billing service")
    backup = tmp_path / "backup.db"
    created = run("--json", "backup", str(backup))
    assert (created.code, created.json) == (0, {"path": str(backup), "bytes": backup.stat().st_size})
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert run("backup", str(backup)).code == 2, "it is never overwritten"
    assert "Bob" in run("--store", str(backup), "--scope", "other", "facts").out
    assert run("--store", str(backup), "doctor", "--deep").code == 0
    assert {path.name for path in tmp_path.glob("backup.db*")} == {"backup.db"}
    assert run("--store", str(tmp_path / "nobody.db"), "backup", str(tmp_path / "b.db")).code == 2
    assert not (tmp_path / "nobody.db").exists()


def test_a_backup_of_a_postgres_store_names_pg_dump_and_copy(
    run: Run, postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.database()
    assert run("--store", address, "backup", str(tmp_path / "b.db")).code == 2, "there is no store yet"
    run("--store", address, "add", "Alice owns the deploy pipeline")
    refused = run("--store", address, "backup", str(tmp_path / "b.db"))
    assert (refused.code, "pg_dump" in refused.err, "slowwave copy" in refused.err) == (2, True, True)
    assert not (tmp_path / "b.db").exists()


def test_the_open_store_is_refused_as_an_input_file(run: Run, store: Path) -> None:
    run("add", "Alice owns the deploy pipeline")
    for words in (("import", str(store)), ("remember", "--file", str(store)), ("apply", str(store))):
        refused = run(*words)
        assert (refused.code, "is the file of the open store" in refused.err) == (2, True), words


def test_give_up_discards_an_interrupted_copy(
    run: Run, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", "Alice owns the deploy pipeline")
    copy = str(tmp_path / "copy.db")

    def fails(*_: object) -> None:
        raise StoreError("the power failed")

    with monkeypatch.context() as patch:
        patch.setattr(RowTransfer, "name_scope", fails)
        assert run("copy", str(store), copy).code == StoreError.exit_code
    checked = run("--store", copy, "doctor")
    assert "1 scopes were copied only in part" in checked.out
    assert "`slowwave copy --give-up`" in checked.out
    refused = run("copy", "--give-up", copy)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert run("copy", "--give-up", "--yes", str(store), copy).code == 2
    assert run("copy", "--give-up", "--yes", str(tmp_path / "nobody.db")).code == 2
    assert run("--json", "copy", "--give-up", "--yes", copy).json == {"thrown_away": 1}
    assert run("copy", "--give-up", "--yes", copy).out.startswith("0 partial scopes")
    assert "only in part" not in run("--store", copy, "doctor").out
    assert run("copy", str(store)).code == 2


def test_the_same_commands_work_on_postgres(run: Run, own: str) -> None:
    assert run("--store", own, "add", "Alice owns the deploy pipeline").code == 0
    assert "deploy pipeline" in run("--store", own, "recall", "who owns deploys?").out
    assert "Alice" in run("--store", own, "facts").out
    assert run("--store", own, "sleep", "--due", "--no-think").code == 0
    wrong = [check["check"] for check in run("--json", "--store", own, "doctor", "--deep").json if not check["ok"]]
    assert wrong == ["disk"], "the server of the tests runs with fsync off"
    assert "postgresql://postgres@" in run("--store", own, "status").out


def test_a_memory_is_used_and_erased_on_postgres(own: str) -> None:
    with AgentMemory.open(own, scope="acme/alice", llm=None, embedder="static") as memory:
        memory.add("Alice owns the deploy pipeline", category="person")
        receipt = memory.add("The auth service uses Argon2", category="project")
        memory.update(receipt.ids[0], "The auth service uses Argon2id")
        memory.record_retrieval(memory.search("auth service"))
        assert memory.search("auth service")[0].text == "The auth service uses Argon2id"
        assert "Argon2id" in str(memory.context("what does the auth service use?"))
        memory.sleep()
        memory.undo(receipt.run_id, cascade=True)
        assert [fact.text for fact in memory.get_all()] == ["Alice owns the deploy pipeline"]
        erased = memory.erase(text="Alice")
        assert erased.verified
        assert memory.get_all() == []
        assert memory.doctor(deep=True) == []
        assert memory.runs()[0].at <= datetime.now(UTC)
