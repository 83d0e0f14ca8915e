"""Adds Slowwave to the settings of coding agents, and removes it again. Only entries of Slowwave are changed."""

import dataclasses
import difflib
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from slowwave.errors import InputError
from slowwave.formats.settings_file import replace
from slowwave.hooks import jsonc, toml_entry
from slowwave.hooks.clients import CLIENTS, NAME, Client, Command, Folders

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of a settings file; a larger one is none."""
BACKUP: Final = ".before-slowwave"
"""The ending of the copy of a settings file as it was before the last change."""
HOOKS: Final = "hooks"
_HOOK_WORDS: Final = (NAME, "hook")

Edit = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One settings file before and after. `before` is None if it does not exist, `after` if the file is removed."""

    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """The change as a unified diff with one line of context; empty if there is none."""
        old, new = (self.before or "").splitlines(keepends=True), (self.after or "").splitlines(keepends=True)
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path), n=1)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def plan_install(client_name: str, command: Command, folders: Folders, *, hooks: bool) -> list[FileChange]:
    """The changes that add our MCP server, and our hooks, to the settings of an agent.

    Args:
        client_name: one of `CLIENTS`.
        command: the program and its arguments, such as `["slowwave"]`, without "mcp" and "hook".
        folders: where the settings are.
        hooks: also add the hooks.

    Raises:
        InputError: a file cannot be changed safely, or the agent has no hooks; nothing is written.
    """
    client = CLIENTS[client_name]
    if hooks and client.hooks is None:
        known = ", ".join(name for name, one in CLIENTS.items() if one.hooks)
        raise InputError(f"{client.title} has no hooks that Slowwave knows: use --hooks with {known}")
    project = [] if client.project is None else ["--project", client.project]
    entry = client.entry([*command, "mcp", *project])
    changes = [_change(_settings_path(client, folders), folders, lambda text: _with_server(client, text, entry))]
    if hooks and client.hooks is not None:
        words = shlex.join([*command, "hook"])
        changes.append(_change(folders.home / client.hooks, folders, lambda text: _with_hooks(client, text, words)))
    return changes


def plan_uninstall(client_name: str, folders: Folders) -> list[FileChange]:
    """The changes that remove our MCP server and our hooks from the settings of an agent.

    A file that only has what the installation wrote is as it was before it: a file that was made then is removed.

    Raises:
        InputError: a file cannot be changed safely; nothing is written.
    """
    client = CLIENTS[client_name]
    edits: list[tuple[Path, Edit, Edit]] = [
        (
            _settings_path(client, folders),
            lambda text: _without_server(client, text),
            lambda text: text if client.toml else _without_empty(text, client.place, ""),
        )
    ]
    if client.hooks is not None:
        edits.append((folders.home / client.hooks, _without_hooks, lambda text: _without_empty(text, (HOOKS,), "")))
    return [
        _as_it_was(_change(path, folders, edit), without_empty)
        for path, edit, without_empty in edits
        if path.exists() or path.is_symlink()
    ]


def _as_it_was(change: FileChange, without_empty: Edit) -> FileChange:
    """A removal that restores the file of before the installation, if nothing else has changed since.

    The removal leaves out an object that it empties, also if the object was empty before.
    """
    former = _read(_backup(change.path))
    if not (former or "").strip() and change.before != change.after and (change.after or "").strip() in {"", "{}"}:
        return dataclasses.replace(change, after=former)  # None: a copy of a file is kept whenever there was one
    if former is not None and former.strip() and without_empty(former) == change.after:
        return dataclasses.replace(change, after=former)
    return change


def carry_out(changes: Sequence[FileChange]) -> list[Path]:
    """Write the changed files, each completely or not at all, with a copy of the former one beside it.

    A file that becomes what its copy is needs the copy no more.

    Returns:
        The files that were written.

    Raises:
        InputError: a file was changed by another program in the meantime, or cannot be written.
    """
    written = []
    for change in changes:
        if not change.diff:
            continue
        if _read(change.path) != change.before:
            raise InputError(f"{change.path} was changed by another program: run the command again")
        try:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            _write(change, _backup(change.path))
        except OSError as error:
            raise InputError(f"{change.path} cannot be written ({error.strerror})") from error
        written.append(change.path)
    return written


def _write(change: FileChange, backup: Path) -> None:
    if change.after is None:
        change.path.unlink()
        return
    is_restored = _read(backup) == change.after
    if change.before is not None and not is_restored:
        replace(backup, change.before)
        backup.chmod(change.path.stat().st_mode & 0o777)
    replace(change.path, change.after)
    if is_restored:
        backup.unlink()


def _settings_path(client: Client, folders: Folders) -> Path:
    path = (folders.project if client.in_project else folders.home) / client.file
    commented = path.with_suffix(".jsonc")  # opencode reads either
    return commented if commented.exists() and not path.exists() else path


def _change(path: Path, folders: Folders, edit: Edit) -> FileChange:
    _refuse_links(path, folders)
    before = _read(path)
    try:
        return FileChange(path=path, before=before, after=edit(before or ""))
    except InputError as error:
        raise InputError(f"{path} was not changed: {error}") from error


def _refuse_links(path: Path, folders: Folders) -> None:
    """Raise InputError if the file, its copy or a folder on the way is a symbolic link, which may lead anywhere."""
    base = next((base for base in (folders.home, folders.project) if path.is_relative_to(base)), path.parent)
    within = [parent for parent in path.parents if parent.is_relative_to(base) and parent != base]
    for place in (path, _backup(path), *within):
        if place.is_symlink():
            raise InputError(f"{place} is a symbolic link: add the entry to the file that it names by hand")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a file")


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def _read(path: Path) -> str | None:
    """The text of a file; None if there is none."""
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} has more than {LARGEST:,} bytes: it is not a settings file")
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({getattr(error, 'strerror', None) or 'it is not UTF-8'})") from error


def _with_server(client: Client, text: str, entry: Mapping[str, Any]) -> str:
    if client.toml:
        return toml_entry.with_entry(text, client.place[0], NAME, entry)
    text = text if text.strip() else "{}\n"
    present = _at(jsonc.parse(text).value, (*client.place, NAME))
    return text if present == entry else jsonc.with_member(text, client.place, NAME, entry)


def _without_server(client: Client, text: str) -> str:
    if client.toml:
        return toml_entry.without_entry(text, client.place[0], NAME)
    if not text.strip():
        return text
    return _without_empty(jsonc.without_member(text, client.place, NAME), client.place, text)


def _with_hooks(client: Client, text: str, words: str) -> str:
    """The text with our hook for each event; one with another command is replaced."""
    text = text if text.strip() else "{}\n"
    for event, seconds in client.events.items():
        hook = {"type": "command", "command": words, "timeout": seconds}
        entry = {"hooks": [hook]}
        if entry not in _entries(text, event):
            text = jsonc.with_element(_without_event(text, event), (HOOKS, event), entry)
    return text


def _without_hooks(text: str) -> str:
    if not text.strip():
        return text
    events = _at(jsonc.parse(text).value, (HOOKS,))
    for event in events if isinstance(events, dict) else ():
        text = _without_event(text, event)
    return text


def _without_event(text: str, event: str) -> str:
    """The text without our entries of one event. An entry that also has the hook of another program stays."""
    before = text
    for index in reversed(range(len(_entries(text, event)))):
        if _is_ours(_entries(text, event)[index]):
            text = jsonc.without_element(text, (HOOKS, event), index)
    if text == before:
        return text
    return _without_empty(_without_empty(text, (HOOKS, event), before), (HOOKS,), before)


def _entries(text: str, event: str) -> list[Any]:
    entries = _at(jsonc.parse(text).value, (HOOKS, event))
    return entries if isinstance(entries, list) else []


def _is_ours(entry: object) -> bool:
    """Whether all hooks of an entry call `slowwave hook`."""
    hooks = entry.get(HOOKS) if isinstance(entry, dict) else None
    return isinstance(hooks, list) and bool(hooks) and all(map(_calls_us, hooks))


def _calls_us(hook: object) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    return words[-1:] == [_HOOK_WORDS[1]] and any(Path(word).name.startswith(NAME) for word in words)


def _without_empty(text: str, path: Sequence[str], before: str) -> str:
    """The text without the object or array at a path if a removal has emptied it."""
    if text != before and _at(jsonc.parse(text).value, path) in ({}, []):
        return jsonc.without_member(text, path[:-1], path[-1])
    return text


def _at(value: object, path: Sequence[str]) -> Any:  # noqa: ANN401 - a value of JSON
    """The value at a path; None if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
