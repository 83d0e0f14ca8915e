"""The entry of an MCP server in settings in TOML. All other lines stay as they are, which is checked before writing."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from slowwave.errors import InputError

_HEADER: Final = re.compile(r"\s*\[")


def with_entry(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with the table `[TABLE.NAME]`, which replaces one of that name.

    Raises:
        InputError: the text is not valid TOML, or the table is written in another form than with a header.
    """
    bare = without_entry(text, table, name)
    ending = "" if not bare or bare.endswith("\n") else "\n"
    values = "".join(f"{key} = {_toml(value)}\n" for key, value in entry.items())
    separator = "\n" if bare.strip() else ""
    changed = f"{bare}{ending}{separator}[{table}.{name}]\n{values}"
    wanted = _parsed(bare)
    _check(changed, {**wanted, table: {**wanted.get(table, {}), name: dict(entry)}})
    return changed


def without_entry(text: str, table: str, name: str) -> str:
    """The text without the table `[TABLE.NAME]` and those below it; unchanged if there is none.

    Raises:
        InputError: the text is not valid TOML, or the table is written in another form than with a header.
    """
    content = _parsed(text)
    servers = content.get(table, {})
    if not isinstance(servers, dict):
        raise InputError(f"{table} is not a table")
    if name not in servers:
        return text
    own = re.compile(rf"\s*\[\s*{re.escape(table)}\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*[\].]")
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            inside = bool(own.match(line))
            if inside and kept and not kept[-1].strip():
                kept.pop()  # the empty line before our table
        if not inside:
            kept.append(line)
    rest = {key: value for key, value in servers.items() if key != name}
    wanted = {key: value for key, value in content.items() if key != table} | ({table: rest} if rest else {})
    changed = "".join(kept)
    _check(changed, wanted)
    return changed


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"it is not valid TOML ({error})") from error


def _check(text: str, wanted: Mapping[str, Any]) -> None:
    """Raise InputError unless a changed text has the wanted content: its form is one that is not understood here."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        found = None
    if found != wanted:
        raise InputError("its MCP servers are written in a form that cannot be changed here: edit the file by hand")


def _toml(value: object) -> str:
    """A text or a list of texts in TOML, whose strings are a superset of those of JSON without escaped slashes."""
    return json.dumps(value, ensure_ascii=False)
