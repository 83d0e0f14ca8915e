"""Anthropic's memory tool (`memory_20250818`) on notes: a folder of files that a model reads and edits, with their history."""

from asyncio import to_thread
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from posixpath import normpath
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar
from urllib.parse import unquote

from slowwave import Add, AgentMemory, InputError, Note, SlowwaveError, VersionError
from slowwave.adapters import missing

try:
    from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
except ImportError as error:
    raise missing(__name__, error) from error

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand as Create,
        BetaMemoryTool20250818DeleteCommand as Delete,
        BetaMemoryTool20250818InsertCommand as Insert,
        BetaMemoryTool20250818RenameCommand as Rename,
        BetaMemoryTool20250818StrReplaceCommand as StrReplace,
        BetaMemoryTool20250818ViewCommand as View,
    )

    from slowwave.model.memory import JsonValue

Cache: TypeAlias = "BetaCacheControlEphemeralParam | None"
P = ParamSpec("P")
R = TypeVar("R")

ROOT: Final = "/memories"
LINES_MOST: Final = 999_999
AROUND: Final = 2
"""Lines that are shown before and after an edit."""
LEVELS: Final = 2
"""Levels of folders that a view of a folder shows."""
PART: Final = 1_000_000
"""Characters of a note. The rest of a longer file is in notes of the same folder, named FILE/1, FILE/2 and so on."""
BATCH: Final = 5000
"""Notes that are stored and removed in one transaction."""
TRIES: Final = 5
"""How often a command is carried out again if another writer changed the same file meanwhile."""
UNIT: Final = 1024
DECODED_MOST: Final = 5
"""How often a path is decoded to see where it would lead."""


def _command(
    method: Callable[Concatenate["SlowwaveMemoryTool", P], R],
) -> Callable[Concatenate["SlowwaveMemoryTool", P], R]:
    """Carry out a command again if a file was changed meanwhile, and report what fails as the answer of the tool."""

    @wraps(method)
    def carry_out(self: "SlowwaveMemoryTool", /, *args: P.args, **options: P.kwargs) -> R:
        for _ in range(TRIES):
            try:
                return method(self, *args, **options)
            except VersionError:
                continue
            except InputError as error:
                raise ToolError(f"Nothing was changed: {error}") from error
            except SlowwaveError as error:
                raise ToolError(f"The memory cannot be used now ({type(error).__name__}).") from error
        raise ToolError("Others change this file at the same time. Nothing was changed. View it and try again.")

    return carry_out


class SlowwaveMemoryTool(BetaAbstractMemoryTool):
    """The memory tool for `client.beta.messages.tool_runner(tools=[tool], ...)`. Each file is a note, whose history is kept.

    What the model writes is trusted as "assistant": it changes no note of the user, and a text that reads as an order to a
    model waits for review. An answer of the tool is a text; a command that fails raises ToolError, which the runner reports
    to the model. Threads may share one tool.

    Args:
        memory: the memory of the user. Give each user a memory with a scope of its own (`Slowwave.within`).
        folder: the folder of the notes. `/memories/a/b.txt` is the note "b.txt" of the folder "memories/a".
        cache_control: as of every tool of Anthropic.

    Raises:
        InputError: the memory is not an AgentMemory, or the folder is empty or no text.
    """

    def __init__(self, memory: AgentMemory, *, folder: str = "memories", cache_control: Cache = None) -> None:
        super().__init__(cache_control=cache_control)
        if not isinstance(memory, AgentMemory):
            raise InputError(f"memory is of type {type(memory).__name__}: pass an AgentMemory")
        if not isinstance(folder, str) or not folder.strip("/"):
            raise InputError("the folder is empty: pass the name of a folder of notes, such as 'memories'")
        self._memory = memory.trusting("assistant")
        self._folder = folder.strip("/")

    @_command
    def view(self, command: "View") -> str:
        """The lines of a file with their numbers, or the files and folders of a folder with their sizes."""
        path = _checked(command.path)
        if notes := self._file(path):
            return _shown_file(path, _text(notes), getattr(command, "view_range", None))
        files = self._below(path)
        if not files and path != ROOT:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return _shown_folder(path, {name: len(_text(notes).encode()) for name, notes in files.items()})

    @_command
    def create(self, command: "Create") -> str:
        """Store a new file. A file or a folder that exists is not replaced."""
        path, text = _checked(command.path), _string(command.file_text, "file_text")
        if path == ROOT or self._exists(path):
            raise ToolError(f"File {path} already exists")
        self._check_parents(path)
        self._write(self._notes(path, text))
        return f"File created successfully at: {path}"

    @_command
    def str_replace(self, command: "StrReplace") -> str:
        """Replace a text that occurs once in a file."""
        path, old = _checked(command.path), _string(command.old_str, "old_str")
        new = _string(getattr(command, "new_str", None) or "", "new_str")
        notes = self._existing_file(path)
        text = _text(notes)
        lines = _lines_with(text, old)
        if not lines:
            raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        if len(lines) > 1:
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{', '.join(map(str, lines))}. Please ensure it is unique"
            )
        changed = text.replace(old, new)
        self._write(self._notes(path, changed, notes), notes)
        shown = _numbered(changed.split("\n"), lines[0] - AROUND, lines[0] + AROUND)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    @_command
    def insert(self, command: "Insert") -> str:
        """Insert a text after a line of a file; 0 is its beginning. The file ends with a line break afterwards."""
        path, added = _checked(command.path), _string(command.insert_text, "insert_text")
        notes, number = self._existing_file(path), command.insert_line
        lines = _text(notes).removesuffix("\n").split("\n") if _text(notes) else []
        if not isinstance(number, int) or not 0 <= number <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {number}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(number, added.rstrip("\n"))
        self._write(self._notes(path, "\n".join(lines).removesuffix("\n") + "\n", notes), notes)
        return f"The file {path} has been edited."

    @_command
    def delete(self, command: "Delete") -> str:
        """Retract a file, or a folder with all files in it. `undo` of the run restores them."""
        path = _checked(command.path)
        if path == ROOT:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        notes = self._file(path) or [note for notes in self._below(path).values() for note in notes]
        if not notes:
            raise ToolError(f"The path {path} does not exist")
        self._remove(notes)
        return f"Successfully deleted {path}"

    @_command
    def rename(self, command: "Rename") -> str:
        """Move a file, or a folder with all files in it, in one transaction."""
        old, new = _checked(command.old_path), _checked(command.new_path)
        if old == ROOT:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        files = {old: notes} if (notes := self._file(old)) else self._below(old)
        if not files:
            raise ToolError(f"The path {old} does not exist")
        if new == ROOT or self._exists(new):
            raise ToolError(f"The destination {new} already exists")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Cannot move {old} into itself")
        self._check_parents(new)
        moved = [note for path, notes in files.items() for note in self._moved(notes, new + path[len(old) :])]
        self._write(moved, [note for notes in files.values() for note in notes])
        return f"Successfully renamed {old} to {new}"

    @_command
    def clear_all_memory(self) -> str:
        """Retract all files. `undo` of the runs restores them."""
        self._remove(self._memory.notes(self._folder, below=True))
        return "All memory cleared"

    def _place(self, path: str) -> tuple[str, str]:
        """The folder and the name of the note of a file."""
        folder, _, name = (self._folder + path.removeprefix(ROOT)).rpartition("/")
        return folder, name

    def _file(self, path: str) -> list[Note]:
        """The notes that hold a file, in order; empty if there is no such file."""
        folder, name = self._place(path)
        first = self._memory.read_note(name, folder=folder) if path != ROOT else None
        if first is None:
            return []
        if not (isinstance(first.data, dict) and "parts" in first.data):
            return [first]
        parts = [note for note in self._memory.notes(folder) if note.name.startswith(f"{name}/")]
        return [first, *sorted(parts, key=_part)]

    def _existing_file(self, path: str) -> list[Note]:
        if notes := self._file(path):
            return notes
        if path == ROOT or self._exists(path):
            raise ToolError(f"The path {path} is not a file.")
        raise ToolError(f"The path {path} does not exist. Please provide a valid path.")

    def _below(self, path: str) -> dict[str, list[Note]]:
        """The notes of each file in a folder and below it, by path."""
        found: dict[str, list[Note]] = {}
        for note in self._memory.notes(self._folder + path.removeprefix(ROOT), below=True):
            name = note.name.partition("/")[0]
            found.setdefault(f"{ROOT}{note.folder[len(self._folder) :]}/{name}", []).append(note)
        return {path: sorted(notes, key=_part) for path, notes in found.items()}

    def _exists(self, path: str) -> bool:
        """Whether there is a file or a folder."""
        return bool(self._file(path) or self._memory.notes(self._folder + path.removeprefix(ROOT), below=True, limit=1))

    def _check_parents(self, path: str) -> None:
        """Raise ToolError if a folder of the path is a file."""
        parent = path.rpartition("/")[0]
        while parent != ROOT:
            if self._file(parent):
                raise ToolError(f"The path {parent} is not a directory.")
            parent = parent.rpartition("/")[0]

    def _notes(self, path: str, text: str, present: Sequence[Note] = ()) -> list[Note]:
        """The notes that hold a text as a file, with the versions of those that are present."""
        folder, name = self._place(path)
        versions = {note.name: note.version for note in present}
        texts = [text[start : start + PART] for start in range(0, len(text), PART)] or [""]
        names = [name, *(f"{name}/{number}" for number in range(1, len(texts)))]
        first: JsonValue = {"parts": len(texts)} if len(texts) > 1 else None
        return [
            Note(name=each, folder=folder, text=part, data=None if number else first, version=versions.get(each, 0))
            for number, (each, part) in enumerate(zip(names, texts, strict=True))
        ]

    def _moved(self, notes: Sequence[Note], path: str) -> list[Note]:
        """The notes of a file under another path."""
        folder, name = self._place(path)
        names = [name, *(f"{name}/{number}" for number in range(1, len(notes)))]
        return [replace(note, folder=folder, name=each, version=0) for note, each in zip(notes, names, strict=True)]

    def _write(self, notes: Sequence[Note], present: Sequence[Note] = ()) -> None:
        """Store notes, and remove the present ones that are none of them, in one transaction."""
        kept = {(note.folder, note.name) for note in notes}
        gone = [note for note in present if (note.folder, note.name) not in kept]
        if len(notes) + len(gone) > BATCH:
            raise ToolError(f"That changes more than {BATCH:,} notes at once. Do it in parts.")
        receipt = self._memory.put_notes(notes, remove=gone, if_unchanged=True)
        if not any(isinstance(each, Add) and each.memory.phase == "quarantined" for each in receipt.applied):
            return
        if len(notes) + len(gone) > 1:  # the others were stored, and a file without one of its parts is another file
            known = {(note.folder, note.name) for note in present}
            new = [note for note in notes if (note.folder, note.name) not in known]
            self._memory.put_notes(present, remove=new)
        raise ToolError(
            "The text reads as instructions to a model. It was not stored: a person has to review it first."
        )

    def _remove(self, notes: Sequence[Note]) -> None:
        for start in range(0, len(notes), BATCH):
            self._memory.put_notes([], remove=notes[start : start + BATCH], if_unchanged=True)


class AsyncSlowwaveMemoryTool(BetaAsyncAbstractMemoryTool):
    """`SlowwaveMemoryTool` for an async client, with the same arguments. Each command runs on a thread."""

    def __init__(self, memory: AgentMemory, *, folder: str = "memories", cache_control: Cache = None) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = SlowwaveMemoryTool(memory, folder=folder)

    async def view(self, command: "View") -> str:
        """See `SlowwaveMemoryTool.view`."""
        return await to_thread(self._tool.view, command)

    async def create(self, command: "Create") -> str:
        """See `SlowwaveMemoryTool.create`."""
        return await to_thread(self._tool.create, command)

    async def str_replace(self, command: "StrReplace") -> str:
        """See `SlowwaveMemoryTool.str_replace`."""
        return await to_thread(self._tool.str_replace, command)

    async def insert(self, command: "Insert") -> str:
        """See `SlowwaveMemoryTool.insert`."""
        return await to_thread(self._tool.insert, command)

    async def delete(self, command: "Delete") -> str:
        """See `SlowwaveMemoryTool.delete`."""
        return await to_thread(self._tool.delete, command)

    async def rename(self, command: "Rename") -> str:
        """See `SlowwaveMemoryTool.rename`."""
        return await to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """See `SlowwaveMemoryTool.clear_all_memory`."""
        return await to_thread(self._tool.clear_all_memory)


def _checked(path: object) -> str:
    """The path without ".", ".." and a slash at its end, or ToolError if it is not in /memories, however it is decoded."""
    path = _string(path, "path")
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path[:200]}")
    decoded = path
    for _ in range(DECODED_MOST):
        whole = normpath(decoded.replace("\\", "/"))
        if whole != ROOT and not whole.startswith(f"{ROOT}/"):
            raise ToolError(f"Path {path[:200]} would escape {ROOT} directory")
        decoded = unquote(decoded)
    if "\\" in path or any(ord(letter) < ord(" ") or letter == "\x7f" for letter in path):
        raise ToolError(f"Path {path[:200]!r} has a backslash or a control character. Please use another name.")
    return normpath(path)


def _string(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ToolError(f"Invalid `{name}` parameter: it must be a string.")
    return value


def _text(notes: Iterable[Note]) -> str:
    return "".join(note.text for note in notes)


def _part(note: Note) -> int:
    """The number of a part of a file; 0 for the first."""
    number = note.name.partition("/")[2]
    return int(number) if number.isdecimal() else 0


def _lines_with(text: str, wanted: str) -> list[int]:
    """The number of the line at which each occurrence of a text begins; also of those that overlap."""
    if not wanted:
        raise ToolError("Invalid `old_str` parameter: it must not be empty.")
    found: list[int] = []
    place = text.find(wanted)
    while place != -1:
        found.append(text.count("\n", 0, place) + 1)
        place = text.find(wanted, place + 1)
    return found


def _shown_file(path: str, text: str, view_range: Any) -> str:  # noqa: ANN401 - as the model sent it
    lines = text.split("\n")
    if len(lines) > LINES_MOST:
        raise ToolError(f"File {path} exceeds maximum line limit of {LINES_MOST:,} lines.")
    first, last = 1, len(lines)
    if view_range:
        if not isinstance(view_range, list) or [type(each) for each in view_range] != [int, int]:
            raise ToolError("Invalid `view_range` parameter: it must be two line numbers.")
        first, last = view_range[0], view_range[1] if view_range[1] != -1 else len(lines)
    return f"Here's the content of {path} with line numbers:\n{_numbered(lines, first, last)}"


def _numbered(lines: Sequence[str], first: int, last: int) -> str:
    """Lines with their numbers, from the first to the last of them that exist."""
    numbers = range(max(1, first), min(len(lines), last) + 1)
    return "\n".join(f"{number:6d}\t{lines[number - 1]}" for number in numbers)


def _shown_folder(path: str, sizes: dict[str, int]) -> str:
    """The files and folders below a path, up to two levels deep. The size of a folder is that of its files."""
    shown: dict[tuple[str, ...], int] = {}
    for file, size in sizes.items():
        parts = tuple(file[len(path) + 1 :].split("/"))
        if any(part.startswith(".") for part in parts):
            continue
        shown[()] = shown.get((), 0) + size
        for level in range(1, min(LEVELS, len(parts)) + 1):
            place = (*parts[:level], "") if level < len(parts) else parts  # a folder ends with a slash
            shown[place] = shown.get(place, 0) + size
    shown.setdefault((), 0)
    lines = [f"{_size(shown[place])}\t{'/'.join((path, *place))}" for place in sorted(shown)]
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return "\n".join((header, *lines))


def _size(number: float) -> str:
    """A number of bytes as `du -h` prints it.

    >>> _size(0), _size(1023), _size(1536), _size(5 * 1024**3)
    ('0B', '1023B', '1.5K', '5G')
    """
    units = iter("BKMG")
    unit = next(units)
    while number >= UNIT and (larger := next(units, None)) is not None:
        number, unit = number / UNIT, larger
    return f"{int(number)}{unit}" if number == int(number) else f"{number:.1f}{unit}"
