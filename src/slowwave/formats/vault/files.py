"""Vaults: a memory as Markdown pages that Obsidian opens, and what a person changed in them, which is never lost."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from slowwave.errors import InputError
from slowwave.formats.vault.front_matter import SETTINGS, page_text
from slowwave.formats.vault.parse import Exported, FactSheet, sheet
from slowwave.formats.vault.render import Holding, facts_page, pages
from slowwave.model.codec import content_key
from slowwave.model.exchange import VaultLine, VaultOwner

KEPT: Final = "kept"
"""The folder for a person's version of a page that is written anew; nothing in it is read."""
_BASELINE: Final = ".slowwave-vault.json"
_HEADLESS: Final = "its head, between two lines ---, names no category"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultPages:
    """What a vault was found to hold.

    `gone` are the ids that were exported and stand in it no more, `unread` why pages could not be read.
    """

    lines: tuple[VaultLine, ...]
    gone: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportBaseline:
    """What was last written to a vault: of whom, the facts by their id, and the digest of each page.

    `owner` is None in vaults of the first versions.
    """

    facts: Exported = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    owner: VaultOwner | None = None


def baseline(folder: Path) -> ExportBaseline | None:
    """What was last written to a vault; None if there is none.

    Raises:
        InputError: it is damaged.
    """
    if not (folder / _BASELINE).is_file():
        return None
    damaged = f"{folder / _BASELINE} is damaged: export the vault anew, into another folder"
    held = page_text(folder / _BASELINE)
    try:
        told = json.loads(held)
        if not isinstance(told.get("facts", {}), dict):
            raise InputError(damaged)
        if "facts" not in told:  # the first form: words by id
            return ExportBaseline(facts={identity: (None, str(text)) for identity, text in told.items()})
        facts = {identity: (str(category), str(text)) for identity, (category, text) in told["facts"].items()}
        written = {str(path): str(digest) for path, digest in told["pages"].items()}
        owner = told.get("owner")
        return ExportBaseline(facts=facts, pages=written, owner=VaultOwner(**owner) if owner else None)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise InputError(damaged) from error


def read(folder: Path) -> VaultPages:
    """The facts that stand in a vault; pages that cannot be read are passed over and named.

    Raises:
        InputError: there is no vault.
    """
    before = baseline(folder)
    if before is None:
        raise InputError(f"{folder} is no vault of ours: slowwave vault export makes one")
    lines: list[VaultLine] = []
    unread: dict[str, str] = {}
    for path in sorted((folder / "facts").glob("*.md")):
        name = f"facts/{path.name}"
        found, trouble = _sheet(folder, name, before)
        if found:
            lines += found.lines
        elif trouble != _HEADLESS or name in before.pages:
            unread[name] = f"{name} cannot be read as a page and stays as it is: {trouble}"
    present = {line.id for line in lines}
    gone = [
        identity
        for identity, (category, _) in before.facts.items()
        if identity not in present and (category is None or facts_page(category) not in unread)
    ]
    return VaultPages(lines=tuple(lines), gone=tuple(gone), unread=tuple(unread.values()))


def check_writable(folder: Path) -> None:
    """Raise InputError unless files can be made in every folder of a vault."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for place in (folder, *(folder / name for name in ("facts", "config", KEPT)), *folder.glob("summaries/*")):
            if place.is_dir():
                _check_inside(folder, place)
                trial = place / _passing()
                trial.touch(exist_ok=False)
                trial.unlink()
    except OSError as error:
        raise InputError(f"cannot write the vault {folder}: {error.strerror or error}") from error


def write(folder: Path, holding: Holding, *, told: Callable[[str], None] | None = None) -> tuple[str, ...]:
    """Write the pages that differ from what is there, each whole or not at all; returns the paths of those that changed.

    No page is written over or removed while a person's words stand in it that are not in memory: those of a page of
    facts that are no lines stay in it, and else the page as it was goes to the folder `kept`. A page that was written
    here before and has nothing left goes. All else in the folder is a person's and left alone, a settings page that is
    there already too.

    Args:
        folder: where.
        holding: what to show.
        told: called with each sentence on what was kept or left alone.

    Raises:
        InputError: the folder cannot be written, or leads elsewhere.
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
        writing.look()
        for path, text in wanted.items():
            writing.page(path, text)
        for path in writing.before.pages:
            if path not in wanted:
                writing.ended(path)
        writing.put(_BASELINE, _bytes(json.dumps(writing.after(holding, wanted), sort_keys=True)))
    except OSError as error:
        raise InputError(f"cannot write the vault {folder}: {error.strerror or error}") from error
    if told:
        for sentence in (*writing.told, *holding.left_out):
            told(sentence)
    return tuple(writing.changed)


@dataclass(slots=True, kw_only=True)
class _Writing:
    """A vault being written: what changed, which pages are left alone, and what is to be told of it."""

    folder: Path
    before: ExportBaseline
    known: frozenset[str]
    disputed: frozenset[str] = frozenset()
    changed: list[str] = field(default_factory=list)
    left: set[str] = field(default_factory=set)
    told: list[str] = field(default_factory=list)

    def look(self) -> None:
        """Find the ids whose lines say different things that are not in memory: a person is to choose, on these pages."""
        words: dict[str, set[str]] = {}
        for path in (self.folder / "facts").glob("*.md"):
            found, _ = _sheet(self.folder, f"facts/{path.name}", self.before)
            for line in found.unknown(self.before.facts, self.known) if found else ():
                if line.id:
                    words.setdefault(line.id, set()).add(line.text)
        self.disputed = frozenset(identity for identity, said in words.items() if len(said) > 1)

    def page(self, name: str, text: str) -> None:
        """Write a page; what a person changed in it stays, in it or in a copy."""
        if not self._fit(name):
            return
        held = self._held(name)
        if held is not None and not self._ours(name, held):
            found = self._sheet(name)
            if name in self.left:
                return
            text = found.around(text) if found else text
            if held != _bytes(text) and (found is None or found.unknown(self.before.facts, self.known)):
                self._keep(name, held)
        self.put(name, _bytes(text))

    def ended(self, name: str) -> None:
        """Remove a page that was written here and has nothing left, and its folder if that was the last in it."""
        path = self.folder / name
        inside = path.parent.resolve().is_relative_to(self.folder.resolve())
        if not inside or path.is_symlink() or not path.is_file():
            return
        held = path.read_bytes()
        if not self._ours(name, held):
            found = self._sheet(name)
            if name in self.left:
                return
            if found is None or found.worded or found.unknown(self.before.facts, self.known):
                self._keep(name, held)
        path.unlink()
        self.changed.append(name)
        if path.parent != self.folder and not any(path.parent.iterdir()):
            path.parent.rmdir()

    def put(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all, if it differs; with the rights that any new file has."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        _check_inside(self.folder, path.parent)
        if self._held(name) == data:
            return
        passing = path.parent / _passing()
        try:
            with passing.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            passing.replace(path)
        finally:
            passing.unlink(missing_ok=True)
        self.changed.append(name)

    def after(self, holding: Holding, wanted: Mapping[str, str]) -> dict[str, Any]:
        """The next baseline; of pages that were left alone it says what it said before."""
        facts = {fact.id: (fact.category, fact.text) for fact in holding.facts}
        shown = {one: told for one, told in facts.items() if facts_page(told[0]) not in self.left}
        old = {
            one: (category, text)
            for one, (category, text) in self.before.facts.items()
            if one not in shown and category is not None and facts_page(category) in self.left
        }
        written = {name: _digest(_bytes(text)) for name, text in wanted.items() if name not in {SETTINGS, *self.left}}
        unwritten = {name: digest for name, digest in self.before.pages.items() if name in self.left}
        owner = {"store": holding.owner.store, "scope": holding.owner.scope}
        return {"owner": owner, "facts": old | shown, "pages": unwritten | written}

    def _fit(self, name: str) -> bool:
        """Whether a page can be written; a link and what is no file are left alone."""
        path = self.folder / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            self._leave(name, "it is a link" if path.is_symlink() else "it is no file")
            return False
        return True

    def _leave(self, name: str, trouble: str) -> None:
        self.left.add(name)
        self.told.append(f"{name} stays as it is: {trouble}")

    def _held(self, name: str) -> bytes | None:
        path = self.folder / name
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None

    def _ours(self, name: str, held: bytes) -> bool:
        """Whether it is as we wrote it, whatever ends its lines."""
        wrote = self.before.pages.get(name)
        return wrote is not None and wrote in {_digest(held), _digest(held.replace(b"\r\n", b"\n"))}

    def _sheet(self, name: str) -> FactSheet | None:
        """A page of facts that a person changed; None for any other page.

        One that cannot be read, or on which a person has yet to choose, is left alone.
        """
        if not name.startswith("facts/"):
            return None
        found, trouble = _sheet(self.folder, name, self.before)
        lines = found.unknown(self.before.facts, self.known) if found else []
        if disputed := [line.id for line in lines if line.id in self.disputed]:
            trouble = f"the lines of {disputed[0]} differ; leave one of them"
        if trouble:
            self._leave(name, trouble)
        return found

    def _keep(self, name: str, held: bytes) -> None:
        """A person's version of a page that will be written anew, under a name that says which it is."""
        copy = f"{KEPT}/{name.removesuffix('.md').replace('/', '-')}-{_digest(held)[:8]}.md"
        self.put(copy, held)
        self.told.append(f"{name} held words of yours that are not in memory: kept in {copy}")


def _sheet(folder: Path, name: str, before: ExportBaseline) -> tuple[FactSheet | None, str]:
    """A page of facts, or why it cannot be read."""
    path = folder / name
    if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
        return None, "it is a link"
    try:
        text = page_text(path)
    except InputError as error:
        return None, str(error)
    found = sheet(text, before.facts)
    return found, "" if found else _HEADLESS


def _check_inside(folder: Path, place: Path) -> None:
    if not place.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{place} leads out of the vault {folder}")


def _passing() -> str:
    """The name of a file that will have another, or none."""
    return f".slowwave-{uuid4().hex}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
