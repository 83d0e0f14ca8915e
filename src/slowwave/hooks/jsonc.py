"""Edits of JSON settings that keep all other bytes: comments, order, indentation and trailing commas stay as they are.

A new member or element is written first in its object or array, so that no comma of another line changes. Removing it
gives back the bytes that were there before. Each result is read again and compared with the wanted value: an edit that
would make another one is refused.
"""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from slowwave.errors import InputError

_SPACE: Final = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*[\s\S]*?\*/)+")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_INDENT: Final = re.compile(r"\n([ \t]+)\S")
DEEPEST: Final = 200
"""Levels of nesting; settings have fewer than ten."""

Path = Sequence[str]


@dataclass(slots=True)
class Node:
    """A value with its place in the text.

    Attributes:
        start: where it begins.
        end: where it ends.
        value: the value as Python has it.
        members: the values of an object by key; the last of two equal keys counts.
        items: where each member of an object begins, with its key, or each element of an array, and its value.
    """

    start: int
    end: int = 0
    value: Any = None
    members: "dict[str, Node]" = field(default_factory=dict)
    items: "list[tuple[int, Node]]" = field(default_factory=list)


def parse(text: str) -> Node:
    """The value of a text in JSON with comments and trailing commas.

    Raises:
        InputError: it is none; the error names the line.
    """
    reader = _Reader(text)
    start = reader.space(1 if text.startswith("\ufeff") else 0)
    node = reader.value(start, 0)
    if (rest := reader.space(node.end)) != len(text):
        raise reader.error(rest)
    return node


def with_member(text: str, path: Path, key: str, value: object) -> str:
    """The text with a member set in the object at a path; objects that are missing are created.

    Raises:
        InputError: a value on the path is not an object, or the text has a form that cannot be changed here.
    """
    root = parse(text)
    node, missing = _descend(root, path)
    if missing:
        for name in reversed([*missing[1:], key]):
            value = {name: value}
        key = missing[0]
    if key in node.members:
        old = node.members[key]
        changed = text[: old.start] + _dumped(text, value, _indent_of(text, old.start)) + text[old.end :]
    else:
        changed = _inserted(text, node, f"{json.dumps(key)}: ", value)
    node.value[key] = value
    return _checked(text, changed, root.value)


def with_element(text: str, path: Path, value: object) -> str:
    """The text with an element added to the array at a path, which is created if it is missing.

    Raises:
        InputError: a value on the path is of another type, or the text has a form that cannot be changed here.
    """
    root = parse(text)
    parent, missing = _descend(root, path[:-1])
    if missing or path[-1] not in parent.members:
        return with_member(text, path[:-1], path[-1], [value])
    array = parent.members[path[-1]]
    if not isinstance(array.value, list):
        raise InputError(f"{'.'.join(path)} is not a list")
    changed = _inserted(text, array, "", value)
    array.value.insert(0, value)
    return _checked(text, changed, root.value)


def without_member(text: str, path: Path, key: str) -> str:
    """The text without a member of the object at a path; unchanged if there is none.

    Raises:
        InputError: a value on the path is not an object, or the text has a form that cannot be changed here.
    """
    root = parse(text)
    node, missing = _descend(root, path)
    if missing or key not in node.members:
        return text
    index = next(index for index, (_, value) in enumerate(node.items) if value is node.members[key])
    changed = _removed(text, node, index)
    del node.value[key]
    return _checked(text, changed, root.value)


def without_element(text: str, path: Path, index: int) -> str:
    """The text without one element of the array at a path.

    Raises:
        InputError: the text has a form that cannot be changed here.
    """
    root = parse(text)
    parent, _ = _descend(root, path[:-1])
    array = parent.members[path[-1]]
    changed = _removed(text, array, index)
    del array.value[index]
    return _checked(text, changed, root.value)


def _checked(before: str, text: str, wanted: object) -> str:
    """The changed text.

    Raises:
        InputError: it has another value than the wanted one, or is no longer JSON without comments, as it was before.
    """
    readers: list[Callable[[str], object]] = [lambda one: parse(one).value]
    with suppress(ValueError):
        json.loads(before)
        readers.append(json.loads)
    try:
        found = [read(text) for read in readers]
    except (InputError, ValueError):
        found = []
    if not found or any(value != wanted for value in found):
        raise InputError("it is written in a form that cannot be changed here: edit the file by hand")
    return text


def _descend(node: Node, path: Path) -> tuple[Node, list[str]]:
    """The deepest object on a path, and the keys behind it that do not exist."""
    for number, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise InputError(f"{'.'.join(path[:number]) or 'the file'} is not an object")
        if key not in node.members:
            return node, list(path[number:])
        node = node.members[key]
    if not isinstance(node.value, dict):
        raise InputError(f"{'.'.join(path) or 'the file'} is not an object")
    return node, []


def _inserted(text: str, node: Node, prefix: str, value: object) -> str:
    """The text with something written first in an object or array."""
    outer = _indent_of(text, node.start)
    inner = outer + _step(text)
    written = f"{_newline(text)}{inner}{prefix}{_dumped(text, value, inner)}"
    opened = node.start + 1
    if node.items:
        return f"{text[:opened]}{written},{text[opened:]}"
    rest = text[opened : node.end - 1]
    closing = rest if rest.strip() else _newline(text) + outer
    return f"{text[:opened]}{written}{closing}{text[node.end - 1 :]}"


def _removed(text: str, node: Node, index: int) -> str:
    """The text without one member or element of a node, and without its comma."""
    start, end = node.items[index][0], node.items[index][1].end
    reader = _Reader(text)
    after = reader.space(end)
    if text[after : after + 1] == ",":
        end = after + 1
        if not text[node.start + 1 : start].strip():
            return text[: node.start + 1] + text[end:]
        return text[:start] + text[end:].lstrip(" \t\r\n")
    if index == 0:
        inside = text[node.start + 1 : start] + text[end : node.end - 1]
        return text[: node.start + 1] + (inside if inside.strip() else "") + text[node.end - 1 :]
    comma = reader.space(node.items[index - 1][1].end)
    between = text[comma + 1 : start]  # a comment in it ends with its line
    return text[:comma] + (between if between.strip() else "") + text[end:]


def _dumped(text: str, value: object, indent: str) -> str:
    written = json.dumps(value, indent=_step(text), ensure_ascii=False)
    return written.replace("\n", _newline(text) + indent)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _step(text: str) -> str:
    """The indentation of one level: that of the first indented line."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _indent_of(text: str, place: int) -> str:
    """The white space at the beginning of the line of a place."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


class _Reader:
    """A recursive reader of JSON with comments."""

    def __init__(self, text: str) -> None:
        self.text = text

    def space(self, place: int) -> int:
        """The place behind white space and comments."""
        found = _SPACE.match(self.text, place)
        return found.end() if found else place

    def error(self, place: int) -> InputError:
        """The error of a place."""
        return InputError(f"it is not valid JSON at line {self.text.count(chr(10), 0, place) + 1}")

    def value(self, place: int, depth: int) -> Node:
        """The value at a place."""
        mark = self.text[place : place + 1]
        if depth > DEEPEST:
            raise self.error(place)
        if mark == "{":
            return self._object(place, depth)
        if mark == "[":
            return self._array(place, depth)
        found = (_STRING if mark == '"' else _PLAIN).match(self.text, place)
        if found is None:
            raise self.error(place)
        try:
            return Node(start=place, end=found.end(), value=json.loads(found[0]))
        except ValueError as error:
            raise self.error(place) from error

    def _object(self, place: int, depth: int) -> Node:
        node = Node(start=place, value={})
        place = self.space(place + 1)
        while self.text[place : place + 1] != "}":
            key = self.value(place, depth)
            colon = self.space(key.end)
            if not isinstance(key.value, str) or self.text[colon : colon + 1] != ":":
                raise self.error(place)
            value = self.value(self.space(colon + 1), depth + 1)
            node.members[key.value], node.value[key.value] = value, value.value
            node.items.append((key.start, value))
            place = self._after(value.end, "}")
        node.end = place + 1
        return node

    def _array(self, place: int, depth: int) -> Node:
        node = Node(start=place, value=[])
        place = self.space(place + 1)
        while self.text[place : place + 1] != "]":
            element = self.value(place, depth + 1)
            node.items.append((place, element))
            node.value.append(element.value)
            place = self._after(element.end, "]")
        node.end = place + 1
        return node

    def _after(self, place: int, closing: str) -> int:
        """The place of the next member or element, or of the closing mark."""
        place = self.space(place)
        mark = self.text[place : place + 1]
        if mark == ",":
            return self.space(place + 1)
        if mark != closing:
            raise self.error(place)
        return place
