"""Vaults: a memory as Markdown pages that Obsidian opens, and what a person changed in them."""

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from slowwave.errors import InputError
from slowwave.model.memory import Memory
from slowwave.model.plan import Run, tally
from slowwave.model.vault import Line
from slowwave.policy.fence import escape, unescape

SETTINGS: Final = "config/memory_compaction.md"
"""Where S4 keeps the windows and the profile of the cascade."""
_NAMES: Final = {"immediate_window": "immediate_window", "recent_window": "recent_window", "profile": "summary_profile"}
_CORE: Final = (
    "What stands in every context: what you pinned, what is used often, and what is protected by its category.",
    'Change it on the pages in facts/: edit a line, move it to another page, or add one that begins with "- "; then sync.',
    "",
)
_NUMBERS: Final = "These numbers hold for every sync of this folder, and wherever the setting SLOWWAVE_VAULT names it."
_BASELINE: Final = ".slowwave-vault.json"
_REASONS: Final = 3
"""Of one run that are told in the sleep log."""
_LARGEST: Final = 10_000_000
_SLUG: Final = re.compile(r"[^a-z0-9]+")
_SLUG_LONGEST: Final = 40
_DEVICE: Final = re.compile(r"con|prn|aux|nul|com\d|lpt\d")
"""Names that Windows keeps for itself."""
_LINE: Final = re.compile(r"- (?P<text>.*?)(?: \^(?P<id>[0-9a-z]{4,64}))?\s*")
_FRONT: Final = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What a vault shows: hot facts, those of core, cascade summaries in order, and the latest runs."""

    facts: Sequence[Memory]
    core: Sequence[Memory]
    summaries: Sequence[Memory]
    runs: Sequence[Run] = ()
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """What a vault was found to hold, and the ids that were exported and stand in it no more."""

    lines: tuple[Line, ...]
    gone: tuple[str, ...] = ()


def safe(name: str) -> str:
    """A name that every file system takes, and that is another's only if the names are the same."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    slug = _SLUG.sub("-", plain).strip("-")[:_SLUG_LONGEST].strip("-")
    if slug and slug == name and not _DEVICE.fullmatch(slug):
        return slug
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{slug}-{digest}" if slug else digest


def pages(holding: Holding) -> dict[str, str]:
    """Every page by its path; the same holding gives the same bytes."""
    found = {"core.md": _facts("core", holding.core, linked=False, told=_CORE)}
    by_category: dict[str, list[Memory]] = {}
    for fact in sorted(holding.facts, key=lambda fact: (fact.recorded_at, fact.id)):
        by_category.setdefault(fact.category, []).append(fact)
    found |= {f"facts/{safe(name)}.md": _facts(name, facts) for name, facts in by_category.items()}
    talks: dict[str, list[Memory]] = {}
    for summary in holding.summaries:
        talks.setdefault(summary.conversation or "", []).append(summary)
    for name, summaries in talks.items():
        found |= _talk(name, summaries)
    found["sleep-log.md"] = _page(
        {"slowwave": "sleep log"},
        [line for run in holding.runs for line in _logged(run)],
    )
    if holding.settings:
        known = {shown: holding.settings[name] for shown, name in _NAMES.items() if name in holding.settings}
        found[SETTINGS] = _page(known, [_NUMBERS])
    return found


def write(folder: Path, holding: Holding) -> tuple[str, ...]:
    """Write the pages that differ from what is there, each whole or not at all; returns the paths of those that changed.

    A page that was written here before and has nothing left goes, if it is byte for byte as it was written. All else in
    the folder is a person's and left alone, a settings page that is there already too.

    Raises:
        InputError: the folder cannot be written, or leads elsewhere.
    """
    wanted = pages(holding)
    if (folder / SETTINGS).exists():
        wanted.pop(SETTINGS, None)
    before = _baseline(folder).pages if (folder / _BASELINE).is_file() else {}
    facts = {fact.id: (fact.category, fact.text) for fact in holding.facts}
    after = {path: _digest(text) for path, text in wanted.items() if path != SETTINGS}
    try:
        changed = [path for path, text in wanted.items() if _written(folder, path, text)]
        changed += [path for path, digest in before.items() if path not in wanted and _removed(folder, path, digest)]
        baseline = json.dumps({"facts": facts, "pages": after}, ensure_ascii=True, sort_keys=True)
        return (*changed, *((_BASELINE,) if _written(folder, _BASELINE, baseline) else ()))
    except OSError as error:
        raise InputError(f"cannot write the vault {folder}: {error.strerror or error}") from error


def read(folder: Path) -> Pages:
    """The facts that stand in a vault.

    Raises:
        InputError: there is no vault, or a page cannot be read.
    """
    if not (folder / _BASELINE).is_file():
        raise InputError(f"{folder} is no vault of ours: slowwave vault export makes one")
    exported = _baseline(folder).facts
    lines: list[Line] = []
    for path in sorted((folder / "facts").glob("*.md")):
        text = _text(path)
        category = _front(text).get("category")
        if not isinstance(category, str):
            continue
        for row in _FRONT.sub("", text, count=1).splitlines():
            told = _LINE.fullmatch(row)
            if told and told["text"].strip():
                was, known = exported.get(told["id"] or "", (None, None))
                words = _worded(told["text"], known)
                lines.append(Line(text=words, category=category, id=told["id"], exported=known, exported_category=was))
    present = {line.id for line in lines}
    return Pages(lines=tuple(lines), gone=tuple(identity for identity in exported if identity not in present))


def compaction(folder: Path) -> dict[str, object]:
    """The settings of the cascade that a vault's page names, by the names of Config; empty without a page."""
    path = folder / SETTINGS
    if not path.is_file():
        return {}
    front = _front(_text(path))
    return {_NAMES[name]: value for name, value in front.items() if name in _NAMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Baseline:
    """What was last written to a vault: category and words of each fact by its id, and the digest of each page."""

    facts: Mapping[str, tuple[str | None, str]]
    pages: Mapping[str, str]


def _baseline(folder: Path) -> _Baseline:
    damaged = f"{folder / _BASELINE} is damaged: export the vault anew, into another folder"
    held = _text(folder / _BASELINE)
    try:
        told = json.loads(held)
        if not isinstance(told.get("facts", {}), dict):
            raise InputError(damaged)
        if "facts" not in told:  # the first form: words by id
            return _Baseline(facts={identity: (None, str(text)) for identity, text in told.items()}, pages={})
        facts = {identity: (str(category), str(text)) for identity, (category, text) in told["facts"].items()}
        return _Baseline(facts=facts, pages={str(path): str(digest) for path, digest in told["pages"].items()})
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise InputError(damaged) from error


def _facts(category: str, facts: Iterable[Memory], *, linked: bool = True, told: Sequence[str] = ()) -> str:
    lines = [*told, *(f"- {escape(fact.text)}{f' ^{fact.id}' if linked else ''}" for fact in facts)]
    return _page({"slowwave": "facts", "category": category}, lines)


def _logged(run: Run) -> Iterator[str]:
    """What a run did, and to what; nothing of one that only stands for its parts."""
    if done := tally(run.plan.operations):
        because = [group.because for group in run.plan.groups if tally(group.operations)]
        more = [f"and {len(because) - _REASONS} more"] if len(because) > _REASONS else []
        told = escape("; ".join((*because[:_REASONS], *more)))
        yield f"- {run.at:%Y-%m-%d %H:%M} {run.cause}: {done} ({told}) `{run.id}`"


def _talk(name: str, summaries: Sequence[Memory]) -> dict[str, str]:
    """The pages of one conversation, by the names of S4."""
    folder = f"summaries/{safe(name)}"
    front = {"slowwave": "summary", "conversation": name}
    eras = [one for one in summaries if one.depth > 1]
    stretches = [one for one in summaries if one.depth == 1]
    found = {f"{folder}/longterm.md": _page(front, [_told(era) for era in eras])} if eras else {}
    for one in stretches:
        first, last = one.span or (0, 0)
        stamp = f"{one.recorded_at:%Y%m%d-%H%M%S}"
        told = {**front, "first": first, "last": last, "at": one.recorded_at.isoformat(), **one.metadata}
        found[f"{folder}/recent-{stamp}-{first}-{last}.md"] = _page(told, [_told(one)])
    if stretches:
        found[f"{folder}/recent.md"] = _page(front, [_told(stretches[-1])])
    return found


def _told(summary: Memory) -> str:
    first, last = summary.span or (0, 0)
    return f"{summary.text}\n(memories {first}-{last})\n"


def _page(front: Mapping[str, object], lines: Iterable[str]) -> str:
    head = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items()]
    return "\n".join(["---", *head, "---", "", *lines]).rstrip("\n") + "\n"


def _front(text: str) -> dict[str, object]:
    """Front matter of one `name: value` a line: JSON values, else words; comments and lists are passed over."""
    found = _FRONT.match(text)
    front: dict[str, object] = {}
    for line in found[1].splitlines() if found else ():
        name, colon, value = line.partition(":")
        if colon and value.strip():
            try:
                front[name.strip()] = json.loads(value)
            except json.JSONDecodeError:
                front[name.strip()] = value.strip().strip("'")
    return front


def _worded(text: str, exported: str | None) -> str:
    """What `escape` was given where it had something to escape; else a person's own backslashes stay as they are."""
    return unescape(text.strip()) if exported is not None and escape(exported) != exported else text.strip()


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path} has more than {_LARGEST:,} bytes")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}") from error


def _written(folder: Path, name: str, text: str) -> bool:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{path.parent} leads out of the vault {folder}")
    data = _bytes(text)
    if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
        return False
    with NamedTemporaryFile("wb", dir=path.parent, prefix=".slowwave-", delete=False) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)
    return True


def _removed(folder: Path, name: str, digest: str) -> bool:
    """Remove a page that is still as it was written, and its folder if that was the last in it."""
    path = folder / name
    inside = path.parent.resolve().is_relative_to(folder.resolve())
    if (
        not inside
        or path.is_symlink()
        or not path.is_file()
        or blake2b(path.read_bytes(), digest_size=16).hexdigest() != digest
    ):
        return False
    path.unlink()
    if path.parent != folder and not any(path.parent.iterdir()):
        path.parent.rmdir()
    return True


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _digest(text: str) -> str:
    return blake2b(_bytes(text), digest_size=16).hexdigest()
