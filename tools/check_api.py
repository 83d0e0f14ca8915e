"""Compares the public API with that of the last release: `python tools/check_api.py [COMMIT]`.

Prints what was removed or changed so that a program could fail. It ends with code 1 if the version in pyproject.toml promises
that nothing was: the MAJOR number is that of the last release, and before 1.0 the MINOR number too. The last release is the latest tag
`v…`; without one it is the last commit whose pyproject.toml has another version. What is public: docs/project/versioning.md.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import griffe

import slowwave

ROOT = Path(__file__).parents[1]
PUBLIC_MODULES = ("testing", "worker", "compat", "probes", "adapters")
"""Modules below `slowwave` of which every name without an underscore is public."""
COLOURS = re.compile(r"\x1b\[\d+m")
VERSION = re.compile(r'^version = "(.+)"$', re.MULTILINE)


def git(*arguments: str) -> str:
    """The output of a command of git."""
    command = [shutil.which("git") or "git", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def version_at(commit: str) -> str | None:
    """The version that pyproject.toml has at a commit; None if it has none there."""
    found = VERSION.search(git("show", f"{commit}:pyproject.toml"))
    return found[1] if found else None


def last_release() -> str:
    """The commit or tag to compare with."""
    tags = git("tag", "--list", "v*", "--sort=-version:refname", "--merged", "HEAD").split()
    if tags:
        return tags[0]
    for commit in git("log", "--first-parent", "--format=%H", "--", "pyproject.toml").split():
        if version_at(commit) not in {slowwave.__version__, None}:
            return commit
    raise SystemExit(
        "there is neither a tag v… nor a commit with another version in pyproject.toml: nothing to compare with"
    )


def promised(version: str | None) -> list[str]:
    """The numbers of a version within which nothing public is removed: MAJOR, before 1.0 also MINOR."""
    numbers = (version or "").split(".")
    return numbers[: 2 if numbers[0] == "0" else 1]


def is_public(path: str) -> bool:
    """Whether a griffe path such as `slowwave.agent_memory.AgentMemory.search` is part of the public API."""
    if any(part.startswith(("_", "test_")) and part != "__init__" for part in path.split(".")):
        return False
    exported = {f"slowwave.{name}" for name in slowwave.__all__}
    defined = {f"slowwave.{module}.{name}" for name, module in slowwave._MODULES.items()}  # noqa: SLF001 - the table of public names
    modules = {f"slowwave.{module}" for module in PUBLIC_MODULES}
    return any(path == name or path.startswith((f"{name}.", f"{name}(")) for name in exported | defined | modules)


def main() -> None:
    """Compare, and print what breaks."""
    against = sys.argv[1] if len(sys.argv) > 1 else last_release()
    old = griffe.load_git("slowwave", ref=against, repo=ROOT, search_paths=["src"])
    new = griffe.load("slowwave", search_paths=[ROOT / "src"])
    broken = [change for change in griffe.find_breaking_changes(old, new) if is_public(change.obj.path)]
    for change in broken:
        print(COLOURS.sub("", change.explain(griffe.ExplanationStyle.ONE_LINE)))
    print(f"{len(broken)} changes of the public API since {against[:12]} can break a program")
    raise SystemExit(1 if broken and promised(version_at(against)) == promised(slowwave.__version__) else 0)


if __name__ == "__main__":
    main()
