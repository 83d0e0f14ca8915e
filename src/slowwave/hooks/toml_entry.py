"""The entry of an MCP server in settings in TOML. All other lines stay as they are, which is checked before writing."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from slowwave.errors import InputError

_HEADER: Final = re.compile(r"[ \t]*\[")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_OPAQUE: Final = re.compile(r'"""(?:[^\\]|\\[\s\S])*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*')
"""Texts and comments. A line that begins within a text of several lines is no header."""


def with_entry(text: str, table: str, name: str, entry: Mapping[str, Any]) -> str:
    """The text with the table `[TABLE.NAME]`, which replaces one of that name.

    Raises:
        InputError: the text is not valid TOML, or the table is written in another form than with a header.
    """
    bare = without_entry(text, table, name)
    newline = "\r\n" if "\r\n" in bare else "\n"
    ending = "" if not bare or bare.endswith("\n") else newline
    values = "".join(f"{key} = {_toml(value)}{newline}" for key, value in entry.items())
    separator = newline if bare else ""
    changed = f"{bare}{ending}{separator}[{table}.{name}]{newline}{values}"
    wanted = parsed(bare)
    _check(changed, {**wanted, table: {**wanted.get(table, {}), name: dict(entry)}}, table)
    return changed


def without_entry(text: str, table: str, name: str) -> str:
    """The text without the table `[TABLE.NAME]` and those below it; unchanged if there is none.

    Raises:
        InputError: the text is not valid TOML, or the table is written in another form than with a header.
    """
    content = parsed(text)
    servers = content.get(table, {})
    if not isinstance(servers, dict):
        raise InputError(f"{table} is not a table")
    if name not in servers:
        return text
    own = re.compile(rf"\s*\[\s*{re.escape(table)}\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*[\].]")
    texts = [match.span() for match in _OPAQUE.finditer(text) if "\n" in match[0]]
    kept: list[str] = []
    last = None  # in `kept`, the place behind the last header or value of our table, while a line is in it
    for match in _LINE.finditer(text):
        line = match[0]
        starts = not any(start < match.start() < end for start, end in texts)
        if starts and _HEADER.match(line):
            if own.match(line):
                if kept and not kept[-1].strip():
                    kept.pop()  # the empty line before our table
                last = len(kept)
                continue
            last = None
        if last is None or (starts and line.lstrip()[:1] in {"", "#"}):
            kept.append(line)  # comments behind our values may be about the next table
        else:
            del kept[last:]
    changed = "".join(kept)
    _check(changed, {**content, table: {key: value for key, value in servers.items() if key != name}}, table)
    return changed


def parsed(text: str) -> dict[str, Any]:
    """The content, with floating-point numbers as texts, so that equal ones compare as equal, NaN too.

    Raises:
        InputError: the text is not valid TOML.
    """
    try:
        return tomllib.loads(text, parse_float=str)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"it is not valid TOML ({error})") from error


def _check(text: str, wanted: Mapping[str, Any], table: str) -> None:
    """Raise InputError unless a changed text has the wanted content: its form is one that is not understood here.

    A table without entries is the same as none, because its header may stay or not.
    """
    try:
        found = parsed(text)
    except InputError:
        found = None
    if found is None or {table: {}, **found} != {table: {}, **wanted}:
        raise InputError("its MCP servers are written in a form that cannot be changed here: edit the file by hand")


def _toml(value: object) -> str:
    """A text or a list of texts in TOML, whose strings are a superset of those of JSON without escaped slashes."""
    return json.dumps(value, ensure_ascii=False)
