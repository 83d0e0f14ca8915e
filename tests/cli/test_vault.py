"""The commands compact, vault and context --explain."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from slowwave import AgentMemory, Message
from slowwave.cli.app import app


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "memory.db")
    with AgentMemory.open(path, scope="default", llm=None, embedder="none") as memory:
        messages = [Message(role="user", content=f"I watered the roses of bed {n}") for n in range(80)]
        memory.add_messages(messages, conversation="garden")
        memory.add("Alice owns the deploy pipeline", category="person")
    return path


def _run(store: str, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(
        app, ["--store", store, "--scope", "default", "--llm", "none", "--embedder", "none", *words]
    )
    return result.exit_code, result.output


def test_compact_summarises_a_conversation_at_once(store: str) -> None:
    code, text = _run(store, "compact")
    assert (code, "compacted garden: 1 short-term" in text) == (0, True)
    assert "nothing to compact" in _run(store, "compact", "--conversation", "garden")[1]
    assert json.loads(_run(store, "compact", "--json")[1])["summaries"] == 0


def test_edits_of_an_exported_vault_are_imported(store: str, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    code, text = _run(store, "vault", "export", str(folder))
    assert (code, "pages written" in text) == (0, True)
    assert json.loads(_run(store, "vault", "export", str(folder), "--json")[1]) == []
    page = folder / "facts/person.md"
    page.write_text(page.read_text().replace("Alice", "Alice Costa"))
    text = _run(store, "vault", "import", str(folder), "--dry-run")[1]
    assert "would change 1 fact\n" in text
    assert f"to do it: `slowwave vault import {folder} --apply" in text
    assert _run(store, "vault", "import", str(folder))[1] == text
    assert _run(store, "vault", "import", str(folder), "--apply", "--dry-run")[0] == 2
    code, text = _run(store, "vault", "import", str(folder), "--apply")
    assert (code, "changed 1 fact\n" in text) == (0, True)
    assert "nothing new, 1 line already known" in _run(store, "vault", "import", str(folder), "--apply")[1]
    run_id = text.split("slowwave undo ")[1].split("`")[0]
    assert "undone" in _run(store, "undo", run_id)[1]
    text = _run(store, "vault", "sync", str(folder))[1]
    assert "changed 1 fact\n" in text
    assert f"1 page written to {folder}" in text
    assert _run(store, "vault", "import", str(tmp_path / "none"))[0] == 2


def test_a_sync_removes_empty_pages_and_its_help_names_the_limit_of_changes(store: str, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    _run(store, "vault", "sync", str(folder))
    (fact,) = json.loads(_run(store, "facts", "--json")[1])
    _run(store, "delete", fact["id"])
    assert "1 with nothing left removed" in _run(store, "vault", "sync", str(folder))[1]
    assert json.loads(_run(store, "vault", "sync", str(folder), "--json")[1])["pages"] == []
    for command in ("import", "sync"):
        assert "more than 5 changes" in " ".join(_run(store, "vault", command, "--help")[1].replace("│", " ").split())


def test_an_empty_question_is_refused(store: str) -> None:
    code, text = _run(store, "recall", " ")
    assert (code, "the question is empty: give the words" in text) == (2, True)


def test_context_explain_shows_the_origin_and_tokens_of_each_line(store: str) -> None:
    code, text = _run(store, "context", "who owns deploys?", "--explain")
    assert code == 0
    assert "person fact" in text
    assert "tokens" in text
    assert "~Agent>" in _run(store, "context", "who owns deploys?", "--profile", "agent")[1]


def test_edited_text_is_kept_and_the_vault_of_another_store_is_refused(store: str, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    _run(store, "vault", "export", str(folder))
    core = folder / "core.md"
    core.write_text(core.read_text() + "My words\n")
    code, text = _run(store, "vault", "export", str(folder))
    assert code == 0
    assert "1 page written to" in text
    assert "core.md held words of yours that are not in memory: kept in kept/core-" in text
    core.write_text(core.read_text() + "Other words\n")
    assert "kept in kept/core-" in _run(store, "vault", "export", str(folder), "--json")[1]
    other = str(tmp_path / "other.db")
    AgentMemory.open(other, embedder="none").close()
    for words in (["export"], ["import"], ["import", "--apply"], ["sync"]):
        code, text = _run(other, "vault", words[0], str(folder), *words[1:])
        assert (code, "was written from another store: name another folder" in text) == (2, True)
        code, text = _run(store, "vault", words[0], str(folder), *words[1:], "--scope", "u")
        assert (code, "shows the scope default, not u" in text) == (2, True)
    assert _run(other, "vault", "export", str(folder), "--force")[0] == 0


def test_a_dry_run_with_many_changes_names_force(store: str, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    _run(store, "vault", "export", str(folder))
    page = folder / "facts/person.md"
    page.write_text(page.read_text() + "".join(f"- Server {n * 7} stands in rack {n * 13}\n" for n in range(6)))
    code, text = _run(store, "vault", "import", str(folder))
    assert (code, "6 changes in a vault of 1 fact: so many are made only with `force`" in text) == (0, True)
    assert f"to do it: `slowwave vault import {folder} --apply --force" in text
    assert _run(store, "vault", "import", str(folder), "--apply")[0] == 2


def test_a_sync_that_cannot_write_pages_names_the_run_and_exits_with_1(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "vault"
    _run(store, "vault", "export", str(folder))
    page = folder / "facts/person.md"
    page.write_text(page.read_text().replace("Alice", "Alice Costa"))

    def fail(path: Path, _: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "replace", fail)
    code, text = _run(store, "vault", "sync", str(folder))
    assert code == 1
    assert "No space left on device; what you changed was taken in before that, sync again:" in text
    assert "becomes 'Alice Costa owns the deploy pipeline'" in text
    assert "which `undo` reverses" in text


def test_compact_topic_plans_and_summarises(store: str) -> None:
    for text in ("Deploys are frozen on Fridays", "Ada reviews all deploys"):
        assert _run(store, "add", text, "--category", "project")[0] == 0
    assert "would write 1 summary" in _run(store, "compact", "--topic", "deploys", "--dry-run")[1]
    code, text = _run(store, "compact", "--topic", "deploys")
    assert (code, "2 memories about 'deploys'" in text) == (0, True)
    assert json.loads(_run(store, "compact", "--topic", "deploys", "--json")[1])["problems"] == []
    assert "nothing to compact about 'deploys'" in _run(store, "compact", "--topic", "deploys")[1]
    assert _run(store, "compact", "--dry-run")[0] == 2
    assert _run(store, "compact", "--topic", "x", "--conversation", "y")[0] == 2


def test_only_the_owner_can_enter_new_folders_of_a_vault_and_read_a_saved_plan(store: str, tmp_path: Path) -> None:
    folder, plan = tmp_path / "new" / "vault", tmp_path / "plan.json"
    assert _run(store, "vault", "export", str(folder))[0] == 0
    assert _run(store, "sleep", "--dry-run", "--save", str(plan))[0] == 0
    assert {place.stat().st_mode & 0o777 for place in (folder.parent, folder, folder / "facts")} == {0o700}
    assert plan.stat().st_mode & 0o777 == 0o600


def test_the_permissions_of_a_folder_that_exists_do_not_change(store: str, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    assert _run(store, "vault", "export", str(folder))[0] == 0
    assert folder.stat().st_mode & 0o777 == 0o755
