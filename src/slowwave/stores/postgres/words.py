"""From the statements that the stores share to the words of Postgres."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from slowwave.stores.connection import Values
from slowwave.stores.sql import SQL, filled

OWN: Final = {SQL[name]: text for name, text in filled("postgres").items() if name in SQL}
"""What Postgres says instead, by the shared statement."""

APART: Final = frozenset(
    {SQL[name] for name in ("add_memory", "add_entry", "add_journal", "add_run", "add_conversation")}
)
"""Inserts of rows of their own: none of them looks at what another has written."""

STRICT: Final = frozenset({SQL["add_memory"], SQL["add_run"]})
"""Statements that leave a row out when it clashes with one that is stored: an error would end the transaction."""

_CHANGES = (
    (re.compile(r"SELECT value FROM json_each\((\?|:\w+)\)"), r"SELECT jsonb_array_elements_text(CAST(\1 AS jsonb))"),
    (
        re.compile(r"SELECT CAST\(value AS integer\) FROM json_each\((\?|:\w+)\)"),
        r"SELECT CAST(jsonb_array_elements_text(CAST(\1 AS jsonb)) AS bigint)",
    ),
    (re.compile(r"\bLIMIT (:limit)\b"), r"LIMIT nullif(\1, -1)"),
    (re.compile(r"(:\w+) IS NULL"), r"CAST(\1 AS bigint) IS NULL"),
    (re.compile(r"ORDER BY (due_at|coalesce\(seq, span_first\)), key"), r"ORDER BY \1 NULLS FIRST, key"),
    (re.compile(r"\bIN \(\)"), "IN (NULL)"),
    (re.compile(r"\bchar\(10\)"), "chr(10)"),
)
_TOLD: Final = re.compile(r"\b((?:\w\.)?)key (=|<=|BETWEEN) (\$\d+)")
_WHOSE: Final = re.compile(r"\bscope = (\$\d+(?: >> 40)?)")
_OTHERS: Final = re.compile(r"\b((?:\w\.)?)key (?==|IN)(?!= \$)")
_PLACE: Final = re.compile(r"\?|(?<!:):([a-z]\w*)")
_NUMBER: Final = re.compile(rb"\$(\d+)")


@dataclass(frozen=True, slots=True)
class Words:
    """A statement as the server takes it.

    Attributes:
        text: with $1, $2 … for values.
        names: of the values, in this order; none if they come in order themselves.
        answers: whether it gives rows.
    """

    text: bytes
    names: tuple[str, ...]
    answers: bool

    def values(self, given: Values) -> Sequence[Any]:
        """The values in order."""
        return [given[name] for name in self.names] if isinstance(given, Mapping) else given


@lru_cache(maxsize=1024)
def words(statement: str) -> Words:
    """The statement in words that Postgres understands."""
    return _numbered(OWN.get(statement, statement))


@lru_cache(maxsize=len(STRICT))
def plain(statement: str) -> Words:
    """A strict statement that fails, and ends the transaction, if a row clashes."""
    return _numbered(statement)


@lru_cache(maxsize=256)
def together(texts: Sequence[bytes], last: bytes) -> bytes:
    """Inserts into different rows, and a query at the end, as one statement; their values follow each other."""
    shift, parts = 0, []
    for text in (*texts, last):
        pieces = _NUMBER.split(text)  # every second one is a number
        pieces[1::2] = [b"$%d" % (int(number) + shift) for number in pieces[1::2]]
        parts.append(b"".join(pieces))
        shift += len(set(_NUMBER.findall(text)))
    inserts = b", ".join(b"w%d AS (%s)" % (place, part) for place, part in enumerate(parts[:-1]))
    return b"WITH %s %s" % (inserts, parts[-1])


def _numbered(text: str) -> Words:
    for pattern, instead in _CHANGES:
        text = pattern.sub(instead, text)
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[1] is None or found[1] not in names:
            names.append(found[1] or "")
        return f"${names.index(found[1]) + 1 if found[1] else len(names)}"

    text = _PLACE.sub(number, text)
    text = _scoped(text)
    answers = text.startswith(("SELECT", "WITH")) or " RETURNING " in text
    return Words(text.encode(), tuple(names), answers)


def _scoped(text: str) -> str:
    """With the scope beside every key: the server then looks into one partition of a table that has some.

    A key tells it by its upper bits. Where it is that of another row, both are of the one scope that is asked about.
    """
    text = _TOLD.sub(r"\1scope = \3 >> 40 AND \1key \2 \3", text)
    whose = _WHOSE.search(text)
    return _OTHERS.sub(rf"\1scope = {whose[1]} AND \1key ", text) if whose else text
