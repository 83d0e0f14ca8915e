"""Which memory belongs to a folder."""

import os
import subprocess
from pathlib import Path

import pytest

from slowwave import AgentMemory
from slowwave.hooks.place import is_off, project_memory, project_name, project_root


def _git(folder: Path, *words: str) -> None:
    options = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", str(folder), *options, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "harbour"
    (root / "src" / "deep").mkdir(parents=True)
    _git(root, "init")
    return root


def test_every_folder_of_a_repository_has_the_memory_of_its_root(repository: Path) -> None:
    assert project_root(repository / "src" / "deep") == repository
    assert project_name(repository / "src" / "deep") == project_name(repository)
    assert project_name(repository).startswith("harbour-")


def test_two_repositories_of_one_name_have_different_memories(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "harbour"
    other.mkdir(parents=True)
    _git(other, "init")
    assert project_name(other) != project_name(repository)


def test_a_worktree_has_the_memory_of_its_repository(repository: Path, tmp_path: Path) -> None:
    _git(repository, "commit", "--allow-empty", "-m", "a")
    _git(repository, "worktree", "add", str(tmp_path / "second"), "-b", "b")
    assert project_root(tmp_path / "second") == repository


def test_a_git_file_that_names_a_foreign_repository_does_not_open_its_memory(repository: Path, tmp_path: Path) -> None:
    _git(repository, "commit", "--allow-empty", "-m", "a")
    _git(repository, "worktree", "add", str(tmp_path / "second"), "-b", "b")
    trap = tmp_path / "trap"
    trap.mkdir()
    for named in (repository / ".git", repository / ".git" / "worktrees" / "second", tmp_path / "nowhere"):
        (trap / ".git").write_text(f"gitdir: {named}\n")
        assert project_root(trap) == trap


def test_a_git_file_that_leads_to_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    named = tmp_path / "other" / "worktrees" / "second"
    named.mkdir(parents=True)
    os.mkfifo(named / "gitdir")
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / ".git").write_text(f"gitdir: {named}\n")
    assert project_root(trap) == trap


def test_outside_of_a_repository_a_folder_is_its_own_project(tmp_path: Path) -> None:
    assert project_root(tmp_path) == tmp_path


def test_a_file_switches_the_hooks_off_in_its_folder_and_below(repository: Path) -> None:
    assert not is_off(repository / "src")
    (repository / ".no-slowwave").touch()
    assert is_off(repository / "src" / "deep")


def test_a_project_reads_the_memory_of_the_user_and_no_other_project(tmp_path: Path) -> None:
    with AgentMemory.open(":memory:", scope="alice", llm=None, embedder="none") as user:
        user.add("Alice owns the ferry")
        first, second = (project_memory(user, tmp_path / name) for name in ("first", "second"))
        first.add("The harbour opens at nine")
        assert first.scope == f"alice/code/{project_name(tmp_path / 'first')}"
        found = {
            memory: {hit.text for hit in memory.search("Who owns the ferry and the harbour?")}
            for memory in (first, second)
        }
        assert found[first] == {"Alice owns the ferry", "The harbour opens at nine"}
        assert found[second] == {"Alice owns the ferry"}
