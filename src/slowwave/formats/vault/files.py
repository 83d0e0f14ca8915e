"""Reads and writes vaults: a memory as Markdown pages for Obsidian. Edits of a person are never lost."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from slowwave.errors import InputError
from slowwave.files import has_other_names
from slowwave.formats.vault.front_matter import SETTINGS, page_text
from slowwave.formats.vault.parse import Exported, FactSheet, sheet
from slowwave.formats.vault.render import Holding, facts_page, pages
from slowwave.model.codec import content_key
from slowwave.model.exchange import VaultLine, VaultOwner

KEPT: Final = "kept"
"""The folder for a person's version of an overwritten page; a sync does not read it."""
_PRIVATE: Final = 0o700
"""The permissions of new folders."""
_BASELINE: Final = ".slowwave-vault.json"
_LARGEST: Final = 4 << 30
"""Limit of the bytes of the baseline and of a page of facts, which grow with the store."""
_HEADLESS: Final = "its head, between two lines ---, names no category"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultPages:
    """The content of a vault.

    `gone` are the ids that were exported and are no longer in it, `unread` the reasons why pages could not be read.
    """

    lines: tuple[VaultLine, ...]
    gone: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportBaseline:
    """The last export to a vault: its owner, the facts by id, and the digest of each page.

    `owner` is None in vaults of the first versions.
    """

    facts: Exported = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    owner: VaultOwner | None = None


def baseline(folder: Path) -> ExportBaseline | None:
    """The last export to a vault; None if there is none.

    Raises:
        InputError: its file is damaged.
    """
    if not (folder / _BASELINE).is_file():
        return None
    damaged = f"{folder / _BASELINE} is damaged: export the vault again, into another folder"
    text = page_text(folder / _BASELINE, _LARGEST)
    try:
        data = json.loads(text)
        if not isinstance(data.get("facts", {}), dict):
            raise InputError(damaged)
        if "facts" not in data:  # the first version of the file: text by id
            return ExportBaseline(facts={identity: (None, str(text)) for identity, text in data.items()})
        facts = {identity: (str(category), str(text)) for identity, (category, text) in data["facts"].items()}
        written = {str(path): str(digest) for path, digest in data["pages"].items()}
        owner = data.get("owner")
        return ExportBaseline(facts=facts, pages=written, owner=VaultOwner(**owner) if owner else None)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise InputError(damaged) from error


def read(folder: Path) -> VaultPages:
    """The facts in a vault, and the pages that cannot be read.

    Raises:
        InputError: the folder is not a vault.
    """
    before = baseline(folder)
    if before is None:
        raise InputError(f"{folder} is not a vault: export a vault to it first")
    lines: list[VaultLine] = []
    unread: dict[str, str] = {}
    for path in sorted((folder / "facts").glob("*.md")):
        name = f"facts/{path.name}"
        facts, problem = _sheet(folder, name, before)
        if facts:
            lines += facts.lines
        elif problem != _HEADLESS or name in before.pages:
            unread[name] = f"{name} cannot be read as a page and stays as it is: {problem}"
    present = {line.id for line in lines}
    gone = [
        identity
        for identity, (category, _) in before.facts.items()
        if identity not in present and (category is None or facts_page(category) not in unread)
    ]
    return VaultPages(lines=tuple(lines), gone=tuple(gone), unread=tuple(unread.values()))


def check_writable(folder: Path) -> None:
    """Raise InputError unless files can be created in every folder of a vault."""
    try:
        _create_folder(folder)
        for place in (folder, *(folder / name for name in ("facts", "config", KEPT)), *folder.glob("summaries/*")):
            if place.is_dir():
                _check_inside(folder, place)
                probe = place / _temporary_name()
                probe.touch(exist_ok=False)
                probe.unlink()
    except OSError as error:
        raise InputError(f"cannot write the vault {folder}: {error.strerror or error}") from error


def write(folder: Path, holding: Holding, *, on_progress: Callable[[str], None] | None = None) -> tuple[str, ...]:
    """Write the pages that changed, each atomically; returns their paths.

    Text that a person wrote and that is not in memory is never lost: on a page of facts, text outside the lines stays on the
    page; otherwise a copy of the old page goes to the folder `kept`. An exported page without content is removed. Files that no
    export wrote stay unchanged, and so does an existing settings page.

    Args:
        folder: the folder of the vault.
        holding: the content.
        on_progress: called with each sentence about a page that was kept or not written.

    Raises:
        InputError: the folder cannot be written, or leads outside the vault.
    """
    wanted = pages(holding)
    if os.path.lexists(folder / SETTINGS):
        wanted.pop(SETTINGS, None)
    writing = _Writing(
        folder=folder,
        before=baseline(folder) or ExportBaseline(),
        known=frozenset(content_key(fact.text) for fact in holding.facts),
    )
    try:
        writing.find_disputed()
        for path, text in wanted.items():
            writing.page(path, text)
        for path in writing.before.pages:
            if path not in wanted:
                writing.remove(path)
        writing.put(_BASELINE, _bytes(json.dumps(writing.after(holding, wanted), sort_keys=True)))
    except OSError as error:
        raise InputError(f"cannot write the vault {folder}: {error.strerror or error}") from error
    if on_progress:
        for sentence in (*writing.notes, *holding.left_out):
            on_progress(sentence)
    return tuple(writing.changed)


@dataclass(slots=True, kw_only=True)
class _Writing:
    """The state of one export: the changed pages, the skipped pages, and the notes for the person."""

    folder: Path
    before: ExportBaseline
    known: frozenset[str]
    disputed: frozenset[str] = frozenset()
    changed: list[str] = field(default_factory=list)
    skipped: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def find_disputed(self) -> None:
        """Find the ids with lines of different new texts; a person must choose one, so their pages are skipped."""
        texts: dict[str, set[str]] = {}
        for path in (self.folder / "facts").glob("*.md"):
            facts, _ = _sheet(self.folder, f"facts/{path.name}", self.before)
            for line in facts.unknown(self.before.facts, self.known) if facts else ():
                if line.id:
                    texts.setdefault(line.id, set()).add(line.text)
        self.disputed = frozenset(identity for identity, versions in texts.items() if len(versions) > 1)

    def page(self, name: str, text: str) -> None:
        """Write a page; edits of a person stay on it or go to a copy."""
        if not self._is_writable(name):
            return
        old = self._content(name)
        if old is not None and not self._is_unchanged(name, old):
            facts = self._sheet(name)
            if name in self.skipped:
                return
            text = facts.around(text) if facts else text
            if old != _bytes(text) and (facts is None or facts.unknown(self.before.facts, self.known)):
                self._keep(name, old)
        self.put(name, _bytes(text))

    def remove(self, name: str) -> None:
        """Remove an exported page that has no content now, and its folder if that is empty then."""
        path = self.folder / name
        inside = path.parent.resolve().is_relative_to(self.folder.resolve())
        if not inside or path.is_symlink() or not path.is_file() or has_other_names(path):
            return
        old = path.read_bytes()
        if not self._is_unchanged(name, old):
            facts = self._sheet(name)
            if name in self.skipped:
                return
            if facts is None or facts.has_other_text or facts.unknown(self.before.facts, self.known):
                self._keep(name, old)
        path.unlink()
        self.changed.append(name)
        if path.parent != self.folder and not any(path.parent.iterdir()):
            path.parent.rmdir()

    def put(self, name: str, data: bytes) -> None:
        """Write a file atomically if it differs, with the default permissions of a new file."""
        path = self.folder / name
        _create_folder(path.parent)
        _check_inside(self.folder, path.parent)
        if self._content(name) == data:
            return
        temporary = path.parent / _temporary_name()
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        self.changed.append(name)

    def after(self, holding: Holding, wanted: Mapping[str, str]) -> dict[str, Any]:
        """The next baseline; its entries of skipped pages are those of the last one."""
        facts = {fact.id: (fact.category, fact.text) for fact in holding.facts}
        shown = {identity: fact for identity, fact in facts.items() if facts_page(fact[0]) not in self.skipped}
        old = {
            identity: (category, text)
            for identity, (category, text) in self.before.facts.items()
            if identity not in shown and category is not None and facts_page(category) in self.skipped
        }
        written = {
            name: _digest(_bytes(text)) for name, text in wanted.items() if name not in {SETTINGS, *self.skipped}
        }
        unwritten = {name: digest for name, digest in self.before.pages.items() if name in self.skipped}
        owner = {"store": holding.owner.store, "scope": holding.owner.scope}
        return {"owner": owner, "facts": old | shown, "pages": unwritten | written}

    def _is_writable(self, name: str) -> bool:
        """Whether a page can be written; a link or a folder of this name is skipped."""
        path = self.folder / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            self._skip(name, "it is a link" if path.is_symlink() else "it is not a file")
            return False
        if has_other_names(path):
            self._skip(name, "it is a hard link, which may be a file of another program")
            return False
        return True

    def _skip(self, name: str, problem: str) -> None:
        self.skipped.add(name)
        self.notes.append(f"{name} stays as it is: {problem}")

    def _content(self, name: str) -> bytes | None:
        path = self.folder / name
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None

    def _is_unchanged(self, name: str, content: bytes) -> bool:
        """Whether a page is as the last export wrote it; line ends do not matter."""
        exported = self.before.pages.get(name)
        return exported is not None and exported in {_digest(content), _digest(content.replace(b"\r\n", b"\n"))}

    def _sheet(self, name: str) -> FactSheet | None:
        """A page of facts that a person changed; None for any other page.

        A page that cannot be read, or with disputed lines, is skipped.
        """
        if not name.startswith("facts/"):
            return None
        facts, problem = _sheet(self.folder, name, self.before)
        lines = facts.unknown(self.before.facts, self.known) if facts else []
        if disputed := [line.id for line in lines if line.id in self.disputed]:
            problem = f"the lines of {disputed[0]} differ; leave one of them"
        if problem:
            self._skip(name, problem)
        return facts

    def _keep(self, name: str, content: bytes) -> None:
        """Copy a person's version of a page to the folder `kept`, under a name that contains the name of the page."""
        copy = f"{KEPT}/{name.removesuffix('.md').replace('/', '-')}-{_digest(content)[:8]}.md"
        self.put(copy, content)
        self.notes.append(f"{name} held words of yours that are not in memory: kept in {copy}")


def _sheet(folder: Path, name: str, before: ExportBaseline) -> tuple[FactSheet | None, str]:
    """The page of facts, or None and why it cannot be read."""
    path = folder / name
    if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
        return None, "it is a link"
    try:
        text = page_text(path, _LARGEST)
    except InputError as error:
        return None, str(error)
    facts = sheet(text, before.facts)
    return facts, "" if facts else _HEADLESS


def _check_inside(folder: Path, place: Path) -> None:
    if not place.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{place} leads out of the vault {folder}")


def _create_folder(folder: Path) -> None:
    """Create a folder, and those above it that do not exist, for their owner only: the pages tell about a person."""
    for place in reversed((folder, *folder.parents)):
        if not place.is_dir():
            place.mkdir(mode=_PRIVATE, exist_ok=True)


def _temporary_name() -> str:
    return f".slowwave-{uuid4().hex}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
