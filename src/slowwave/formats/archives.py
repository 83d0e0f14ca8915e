"""Opens a file, or the conversations inside a zip archive. Nothing is unpacked to disk."""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from slowwave.errors import InputError
from slowwave.files import check_regular
from slowwave.formats.json_stream import MEMBER_MOST, MEMBERS_MOST, RATIO_MOST, UNREADABLE, BrokenError
from slowwave.model.exchange import SkippedItem
from slowwave.model.plain_text import clean, tidy

_ENCRYPTED = 0x1
_NO_DATE = (1981, 1, 1, 0, 0, 0)
"""Before it lie the dates that programs write if they know none."""
_PACKED = b"PK\x03\x04"
_MEGA = 1 << 20
_NAME_MOST = 200
_HTML = "HTML: choose JSON for My Activity in Google Takeout"
_OTHER_FILE = "another file of the archive: only conversations are imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One readable stream: a file, or a member of an archive.

    Args:
        name: the name of the file without folders and suffix: the default name of its conversations.
        where: its name in messages; empty for the file itself.
        open: opens the stream at its beginning.
        size: its bytes, unpacked.
        at: when it was last changed.
    """

    name: str
    where: str
    open: Callable[[], AbstractContextManager[BinaryIO]]
    size: int = 0
    at: datetime


def parts(path: Path) -> Iterator[Part | SkippedItem]:
    """The readable parts of a file, and the skipped members of an archive.

    Raises:
        InputError: the file cannot be opened, or is an archive that cannot be read.
    """
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder: name the file in it, e.g. {path / 'conversations.json'}")
        check_regular(path)
        archive = zipfile.is_zipfile(path)
        with path.open("rb") as stream:
            beginning = stream.read(len(_PACKED))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if not archive:
        if beginning == _PACKED:
            raise InputError(f"{path} is a zip archive that was cut off: download it again")
        yield Part(
            name=_name(path), where="", open=lambda: path.open("rb"), size=path.stat().st_size, at=_changed(path)
        )
        return
    yield from _members(path)


def _changed(path: Path, member: zipfile.ZipInfo | None = None) -> datetime:
    """When a file, or a member of an archive, was last changed. A member has no time zone, and may have no date."""
    with suppress(ValueError):
        if member is not None and member.date_time > _NO_DATE:
            return datetime(*member.date_time, tzinfo=UTC)
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _name(path: Path) -> str:
    """The name of the file; for `chat.json`, which every export has, the name of its folder."""
    return clean(path.resolve().parent.name if path.stem == "chat" and path.resolve().parent.name else path.stem)


def _members(path: Path) -> Iterator[Part | SkippedItem]:
    try:
        archive = zipfile.ZipFile(path)  # stays open, because its list of members is read again at each opening
        members = archive.infolist()
    except UNREADABLE as error:
        raise InputError(f"{path} looks like a zip archive and cannot be read: {error}") from error
    if len(members) > MEMBERS_MOST:
        raise InputError(f"{path} holds {len(members):,} files, more than {MEMBERS_MOST:,}: unpack it and name one")
    chosen = [member for member in members if _is_conversations(member)]
    if not chosen and any(_is_gemini(member, ".html") for member in members):
        raise InputError(f"{path} holds Gemini's activity as HTML: choose JSON for My Activity in Google Takeout")
    for member in members:
        if not _is_conversations(member) and not _is_folder(member):
            yield SkippedItem(where=_shown(member), why=_why_not(member))
    if not chosen:
        raise InputError(f"{path} holds no conversations*.json or *.jsonl: unpack it and name the file to import")
    for member in sorted(chosen, key=lambda member: member.filename):
        if why := _refusal(member):
            yield SkippedItem(where=_shown(member), why=why, broken=True)
        else:
            name = clean(PurePosixPath(member.filename).stem)
            yield Part(
                name=name,
                where=_shown(member),
                open=_opener(archive, member),
                size=member.file_size,
                at=_changed(path, member),
            )


def _is_folder(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a folder; `is_dir` fails on an empty name."""
    return member.filename.endswith("/")


def _shown(member: zipfile.ZipInfo) -> str:
    """The name of a member on one line. An archive can name its members as it likes."""
    return tidy(clean(member.filename))[:_NAME_MOST] or "a member without a name"


def _is_conversations(member: zipfile.ZipInfo) -> bool:
    name = PurePosixPath(member.filename.replace("\\", "/")).name.lower()
    shards = name.startswith("conversations") and name.endswith(".json")
    return not _is_folder(member) and (shards or name.endswith((".jsonl", ".ndjson")) or _is_gemini(member, ".json"))


def _is_gemini(member: zipfile.ZipInfo, suffix: str) -> bool:
    """Whether a member is the activity of Gemini, whose folder and file have names of the account's language."""
    name = member.filename.lower()
    return "gemini" in name and name.endswith(suffix)


def _why_not(member: zipfile.ZipInfo) -> str:
    """Why a member is not read."""
    if member.filename.lower().endswith((".zip", ".gz", ".7z", ".tar")):
        return "an archive inside the archive: unpack it and import it by itself"
    return _HTML if _is_gemini(member, ".html") else _OTHER_FILE


def _refusal(member: zipfile.ZipInfo) -> str | None:
    if member.flag_bits & _ENCRYPTED:
        return "it is encrypted: unpack it with its password and import the file"
    if member.file_size > MEMBER_MOST:
        size = member.file_size // _MEGA
        return f"{size:,} MB unpacked, more than {MEMBER_MOST // _MEGA}: unpack it and import the file"
    if member.file_size > RATIO_MOST * max(1, member.compress_size):
        return f"it unpacks to more than {RATIO_MOST} times its size, which no real text does"
    return None


def _opener(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[], AbstractContextManager[BinaryIO]]:
    return lambda: _Member(archive, member)


class _Member(AbstractContextManager[BinaryIO]):
    """A context manager that opens a member of an archive. `zipfile` returns no more bytes than its header states."""

    def __init__(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
        self._archive = archive
        self._member = member
        self._stream: BinaryIO | None = None

    def __enter__(self) -> BinaryIO:
        try:
            self._stream = cast("BinaryIO", self._archive.open(self._member))
        except UNREADABLE as error:
            raise BrokenError(f"it cannot be unpacked: {error}") from error
        return self._stream

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()
