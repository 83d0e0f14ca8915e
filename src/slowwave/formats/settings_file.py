"""Changes one line of a settings file in TOML, and leaves the others as a person wrote them."""

import json
import re
import tomllib
from pathlib import Path

from slowwave.errors import InputError
from slowwave.formats.atomic_file import replacing


def changed(text: str, table: str, name: str, value: str | None) -> str:
    """The text with a setting in a table, or at the top level if there is no such table; None removes the setting.

    Raises:
        InputError: the file has a form that cannot be changed here, such as a value that takes several lines.
    """
    lines = text.removesuffix("\n").split("\n") if text else []
    start, end = _section(lines, table)
    pattern = re.compile(rf"\s*{re.escape(name)}\s*=")
    places = [place for place in range(start, end) if pattern.match(lines[place])]
    new = [] if value is None else [f"{name} = {_as_toml(value)}"]
    if places:
        lines[places[0] : places[0] + 1] = new
    else:
        after = max((place + 1 for place in range(start, end) if lines[place].strip()), default=start)
        lines[after:after] = new
    result = "".join(f"{line}\n" for line in lines)
    try:
        wanted, found = tomllib.loads(text), tomllib.loads(result)
        settings = wanted[table] if start else wanted
        settings.pop(name, None)
        settings |= tomllib.loads("\n".join(new))
    except (tomllib.TOMLDecodeError, KeyError):
        wanted, found = {}, None
    if found != wanted:
        raise InputError(f"{name} cannot be changed here, because of the form of the settings: edit the file")
    return result


def _section(lines: list[str], table: str) -> tuple[int, int]:
    """The lines of a table, without its header, or of the top level: up to the next header."""
    headers = [place for place, line in enumerate(lines) if re.match(r"\s*\[", line)]
    own = [place for place in headers if re.match(rf"\s*\[\s*{re.escape(table)}\s*\]", lines[place])]
    start = own[0] + 1 if own else 0
    return start, next((place for place in headers if place >= start), len(lines))


def _as_toml(value: str) -> str:
    """The value as TOML: as it is if it is a value of TOML on one line, else as a text."""
    try:
        content = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return json.dumps(value, ensure_ascii=False)
    return value if [*content] == ["value"] and "\n" not in value else json.dumps(value, ensure_ascii=False)


def replace(path: Path, text: str) -> None:
    """Write a file completely or not at all. A new file can be read by its owner only; a link stays a link."""
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    with replacing(target, mode=mode) as file:
        file.write(text)
