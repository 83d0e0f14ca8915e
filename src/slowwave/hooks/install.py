"""Adds Slowwave to the settings of coding agents, and removes it again. Only entries of Slowwave are changed."""

import difflib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
"""The ending of the copy of a settings file as it was before the installation, or before a change that is not undone."""
HOOKS: Final = "hooks"
_HOOK_WORDS: Final = (NAME, "hook")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One settings file before and after a change.

    Attributes:
        path: the file.
        before: its text; None if it does not exist.
        after: its text then; None if it is removed.
        copy: the text that is kept beside it; None if none is.
        note: what a removal could not restore, as a sentence; "" if it restored all.
    """

    path: Path
    before: str | None
    after: str | None
    copy: str | None
    note: str = ""

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
    server = _Server(client, client.entry([*command, "mcp", *project]))
    edits: list[tuple[Path, _Server | _Hooks]] = [(_settings_path(client, folders), server)]
    if hooks and client.hooks is not None:
        edits.append((folders.home / client.hooks, _Hooks(client.events, shlex.join([*command, "hook"]))))
    return [_installed(path, folders, edit) for path, edit in edits]


def plan_uninstall(client_name: str, folders: Folders) -> list[FileChange]:
    """The changes that remove our MCP server and our hooks from the settings of an agent.

    A file that has nothing else than what the installation wrote is as it was before it: a file that was made then is
    removed. Of another one only our entries are removed, and its change has a note.

    Raises:
        InputError: a file cannot be changed safely; nothing is written.
    """
    client = CLIENTS[client_name]
    edits: list[tuple[Path, _Server | _Hooks]] = [(_settings_path(client, folders), _Server(client, {}))]
    if client.hooks is not None:
        edits.append((folders.home / client.hooks, _Hooks(client.events, "")))
    return [_removed(path, folders, edit) for path, edit in edits if path.exists() or path.is_symlink()]


def _installed(path: Path, folders: Folders, edit: "_Server | _Hooks") -> FileChange:
    """The change of one file that adds our entries. The copy beside it is of before the first installation."""
    before, former = _texts(path, folders)
    with _naming(path):
        is_known, origin = _origin(before, former, edit)
        if not is_known:
            return FileChange(path=path, before=before, after=edit.added(before or ""), copy=before)
        copy = former if origin is None else origin
        return FileChange(path=path, before=before, after=edit.added(origin or ""), copy=copy)


def _removed(path: Path, folders: Folders, edit: "_Server | _Hooks") -> FileChange:
    """The change of one file that removes our entries."""
    before, former = _texts(path, folders)
    with _naming(path):
        after = edit.removed(before or "")
        if after == before:
            return FileChange(path=path, before=before, after=before, copy=former)
        is_known, origin = _origin(before, former, edit)
    if is_known:
        return FileChange(path=path, before=before, after=origin, copy=None if origin == former else former)
    if former is None and after.strip() in {"", "{}"}:
        return FileChange(path=path, before=before, after=None, copy=None)  # the agent wrote our file in its own form
    note = f"{path} was changed after the installation: only the entries of Slowwave were removed"
    return FileChange(path=path, before=before, after=after, copy=before, note=f"{note}; {_backup(path)} has all")


def _origin(before: str | None, former: str | None, edit: "_Server | _Hooks") -> tuple[bool, str | None]:
    """Whether it is known what a file was before our entries were added, and what it was; None: it did not exist.

    It was its copy, or nothing, if the same entries make of that what the file is now.
    """
    if before is None or edit.removed(before) == before:
        return True, before
    for origin in (former, None):
        text = origin or ""
        if edit.removed(text) == text and edit.like(before).added(text) == before:
            return True, origin
    return False, None


def carry_out(changes: Sequence[FileChange]) -> list[Path]:
    """Write the changed files, each completely or not at all, with the copy of it that is kept.

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
    if change.copy is not None and change.copy != _read(backup):
        mode = change.path.stat().st_mode & 0o777
        replace(backup, change.copy)
        backup.chmod(mode)
    if change.after is None:
        change.path.unlink()
    else:
        replace(change.path, change.after)
    if change.copy is None:
        backup.unlink(missing_ok=True)


def _settings_path(client: Client, folders: Folders) -> Path:
    path = (folders.project if client.in_project else folders.home) / client.file
    commented = path.with_suffix(".jsonc")  # opencode reads either
    return commented if commented.exists() and not path.exists() else path


def _texts(path: Path, folders: Folders) -> tuple[str | None, str | None]:
    """The text of a file and of the copy beside it, None for what does not exist."""
    _refuse_links(path, folders)
    return _read(path), _read(_backup(path))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in the error of an edit."""
    try:
        yield
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


@dataclass(frozen=True, slots=True)
class _Server:
    """The edit of a file with the MCP servers of an agent."""

    client: Client
    entry: Mapping[str, Any]

    def added(self, text: str) -> str:
        """The text with our server."""
        if not self.client.toml and not text.strip():
            text = "{}\n"
        if self.like(text).entry == self.entry:
            return text
        if self.client.toml:
            return toml_entry.with_entry(text, self.client.place[0], NAME, self.entry)
        return jsonc.with_member(text, self.client.place, NAME, self.entry)

    def removed(self, text: str) -> str:
        """The text without our server."""
        if self.client.toml:
            return toml_entry.without_entry(text, self.client.place[0], NAME)
        if not text.strip():
            return text
        return _without_empty(jsonc.without_member(text, self.client.place, NAME), self.client.place, text)

    def like(self, text: str) -> "_Server":
        """The edit that adds the server that a text has."""
        content = toml_entry.parsed(text) if self.client.toml else jsonc.parse(text).value
        return _Server(self.client, _at(content, (*self.client.place, NAME)))


@dataclass(frozen=True, slots=True)
class _Hooks:
    """The edit of a file with the hooks of an agent: the seconds of each event, and the command."""

    events: Mapping[str, int]
    command: str

    def added(self, text: str) -> str:
        """The text with our hook for each event; one with another command is replaced."""
        text = text if text.strip() else "{}\n"
        for event, seconds in self.events.items():
            entry = {HOOKS: [{"type": "command", "command": self.command, "timeout": seconds}]}
            if entry not in _entries(text, event):
                text = jsonc.with_element(_without_event(text, event), (HOOKS, event), entry)
        return text

    def removed(self, text: str) -> str:
        """The text without our hooks."""
        if not text.strip():
            return text
        events = _at(jsonc.parse(text).value, (HOOKS,))
        for event in events if isinstance(events, dict) else ():
            text = _without_event(text, event)
        return text

    def like(self, text: str) -> "_Hooks":
        """The edit that adds the hooks that a text has."""
        found = {
            event: entry[HOOKS][0]
            for event in (*self.events, *_at(jsonc.parse(text).value, (HOOKS,)))
            for entry in _entries(text, event)
            if _is_ours(entry)
        }
        command = next(iter(found.values()))["command"]
        return _Hooks({event: hook.get("timeout", 0) for event, hook in found.items()}, command)


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
