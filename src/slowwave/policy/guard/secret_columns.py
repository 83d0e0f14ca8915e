"""Finds secrets in the columns of tables: of Markdown, and of lines with commas, semicolons, tabs or bars.

A column is one of secrets if its head is the name of a secret ("| host | user | password |"). The head is the first line of
the table, and the following lines have as many cells. Each line is read once.
"""

from collections.abc import Iterator
from typing import Final

from slowwave.policy.guard.secret_statements import fits, table_of
from slowwave.policy.text.lazy_regex import lazy_regex

_MARKS: Final = "|\t;,"
_RULE: Final = lazy_regex(r"[\s|:+-]*")
_LONGEST_HEAD: Final = 400
"""Characters of the longest head of a table."""
_PADDING: Final = " \t\"'`*"


def found(text: str) -> Iterator[tuple[int, int, str]]:
    """The values in the columns of secrets, as begin, end and kind."""
    at, before, mark = 0, "", ""
    columns: dict[int, str] = {}
    for line in text.splitlines(keepends=True):
        if columns and line.count(mark) == before.count(mark):
            yield from _values(line, at, mark, columns)
        else:
            mark, columns = _head(line, before)
        before, at = line, at + len(line)


def _head(line: str, before: str) -> tuple[str, dict[int, str]]:
    """The mark between the cells of the first line of a table, and the columns of secrets with the tables of their names."""
    for mark in _MARKS if len(line) <= _LONGEST_HEAD else "":
        if mark in line and line.count(mark) != before.count(mark):
            tables = {place: table_of(line[a:b]) for place, (a, b) in enumerate(_cells(line, mark))}
            if columns := {place: table for place, table in tables.items() if table}:
                return mark, columns
    return "", {}


def _values(line: str, at: int, mark: str, columns: dict[int, str]) -> Iterator[tuple[int, int, str]]:
    cells = [] if _RULE.fullmatch(line) else _cells(line, mark)
    for place, table in columns.items() if cells else ():
        begin, end = cells[place]
        if fits(line[begin:end], table, or_word=mark != ","):
            yield at + begin, at + end, "secret"


def _cells(line: str, mark: str) -> list[tuple[int, int]]:
    """Begin and end of the text in each cell of a line."""
    cells, at = [], 0
    for cell in line.rstrip("\r\n").split(mark):
        begin = at + len(cell) - len(cell.lstrip(_PADDING))
        cells.append((begin, max(begin, at + len(cell.rstrip(_PADDING)))))
        at += len(cell) + 1
    return cells
