"""Reads the front matter of a page, and the page of a vault that sets the windows of conversation summaries."""

import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from slowwave.errors import InputError, shown
from slowwave.files import check_regular, has_other_names
from slowwave.model.config import Config
from slowwave.policy.summaries.length import PROFILES

SETTINGS: Final = "config/memory_compaction.md"
"""The page with the windows and the profile of conversation summaries."""
NAMES: Final = {"immediate_window": "immediate_window", "recent_window": "recent_window", "profile": "summary_profile"}
"""The name of a setting on the page -> its name in Config."""
FRONT: Final = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
LARGEST: Final = 10_000_000
"""Limit of the bytes of a page."""
_QUOTED: Final = re.compile(r"'((?:[^']|'')*+)'(?:\s+#.*)?")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")


def front(text: str) -> list[tuple[int, str, object]]:
    """The (line number, name, value) of each line `name: value` of a front matter; a value that is not JSON is a text.

    Comments and lists are ignored.
    """
    match = FRONT.match(text)
    return list(_values(match[1])) if match else []


def _values(head: str) -> Iterator[tuple[int, str, object]]:
    for number, line in enumerate(head.split("\n"), 2):
        name, colon, written = line.partition(":")
        if colon and _without_comment(written) and not line.lstrip().startswith("#"):
            yield number, name.strip(), _value(written.strip())


def _without_comment(written: str) -> str:
    return _COMMENT.sub("", written, count=1).strip()


def _value(written: str) -> object:
    """A value without the comment after it, which begins with a space and "#" as in YAML."""
    try:
        value, end = json.JSONDecoder().raw_decode(written)
    except (ValueError, RecursionError):  # no JSON, a number of more than 4,300 digits, or nested too deeply
        quoted = _QUOTED.fullmatch(written)
        return quoted[1].replace("''", "'") if quoted else _without_comment(written)
    return value if _without_comment(written[end:]) == "" else _without_comment(written)


def compaction(folder: Path) -> dict[str, object]:
    """The settings of the settings page of a vault, by their names in Config; empty without a page.

    Raises:
        InputError: a line is invalid; the message names the page and the line.
    """
    path = folder / SETTINGS
    if not path.is_file():
        return {}
    text = page_text(path)
    if not FRONT.match(text):
        raise InputError(
            f"{path}, line 1: put the settings at the beginning, between two lines ---, or remove the page"
        )
    settings: dict[str, object] = {}
    for number, name, value in front(text):
        if name in NAMES:
            if problem := _problem(name, value):
                raise InputError(f"{path}, line {number}: {problem}; correct the line or remove it")
            settings[NAMES[name]] = value
        elif similar := get_close_matches(name, NAMES, n=1):
            raise InputError(f"{path}, line {number}: {name} is not a setting: write {similar[0]}, or remove the line")
    return settings


def _problem(name: str, value: object) -> str:
    """Why a value is invalid; empty if it is valid."""
    if name == "profile":
        return "" if value in PROFILES else f"profile={shown(value)}: use one of {', '.join(PROFILES)}"
    try:
        Config.from_mapping({NAMES[name]: value})
    except InputError as error:
        return str(error).partition(": ")[2]
    return ""


def page_text(path: Path, most: int = LARGEST) -> str:
    """The text of a page, without a byte-order mark.

    Args:
        path: a regular file. A second name of another file (a hard link) is refused: it may be a file of another program.
        most: the limit of its bytes.

    Raises:
        InputError: it cannot be read, is not a regular file, has several names, is too large, or is not UTF-8.
    """
    try:
        check_regular(path)
        if has_other_names(path):
            raise InputError(f"{path} is a hard link: it is also the file of another name; copy it instead")
        if path.stat().st_size > most:
            raise InputError(f"{path} has more than {most:,} bytes")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
