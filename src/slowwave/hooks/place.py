"""Which memory belongs to a folder: that of its project, and nothing where a person has switched memory off."""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slowwave.files import check_regular

if TYPE_CHECKING:
    from slowwave.agent_memory import AgentMemory

OFF: Final = ".no-slowwave"
"""A file of this name switches the hooks off in its folder and in all folders below it."""
CODE: Final = "code"
"""The name of the scope, below the user's, that contains the projects."""
_GIT: Final = ".git"
_NAME_LONGEST: Final = 64
_HASH_BYTES: Final = 4


def is_off(folder: Path) -> bool:
    """Whether a person has switched the hooks off for a folder."""
    return any((place / OFF).exists() for place in _upwards(folder))


def project_root(folder: Path) -> Path:
    """The root of the git repository of a folder; the folder itself outside of a repository.

    All worktrees of a repository have the root of its main one. A `.git` file is followed only if the repository that it
    names lists this worktree: a file that anybody can put into an archive would otherwise open the memory of another project.
    """
    folder = folder.resolve()
    for place in _upwards(folder):
        git = place / _GIT
        if git.is_dir():
            return place
        if git.is_file():
            return _main_worktree(git) or place
    return folder


def project_name(folder: Path) -> str:
    """The name of the scope of a folder's project: the name of its root, and a hash of the root's path.

    Two projects of one name therefore have different memories.
    """
    root = project_root(folder)
    digest = blake2b(str(root).encode("utf-8", "surrogateescape"), digest_size=_HASH_BYTES).hexdigest()
    name = root.name.encode("utf-8", "replace").decode()[:_NAME_LONGEST]
    return f"{name or 'root'}-{digest}"


def project_memory(memory: "AgentMemory", folder: Path) -> "AgentMemory":
    """The memory of a folder's project, below the user's, which it also reads."""
    return memory.within(CODE, project_name(folder), inherit=True)


def _upwards(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.parents


def _main_worktree(git_file: Path) -> Path | None:
    """The root of the main worktree of a linked one; None if the two do not name each other."""
    named = _read_path(git_file, "gitdir:")
    if named is None or named.parent.name != "worktrees":
        return None
    back = _read_path(named / "gitdir")
    common = named.parent.parent
    if back is None or back.resolve() != git_file.resolve() or common.name != _GIT or not common.is_dir():
        return None
    return common.parent


def _read_path(file: Path, prefix: str = "") -> Path | None:
    """The path in the first line of a file, behind a prefix, relative to the folder of the file."""
    try:
        check_regular(file)
        with file.open(encoding="utf-8", errors="surrogateescape") as opened:
            line = opened.readline(4096).strip()
    except OSError:
        return None
    if not line.startswith(prefix) or not (words := line.removeprefix(prefix).strip()) or "\x00" in words:
        return None
    return (file.parent / words).resolve()
