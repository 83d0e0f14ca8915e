"""From the statements that the stores share to the words of Postgres and psycopg."""

import re
from functools import lru_cache
from typing import Final

from slowwave.stores.statements import SQL, filled

OWN: Final = {SQL[name]: text for name, text in filled("postgres").items() if name in SQL}
"""What Postgres says instead, by the shared statement."""

STRICT: Final = frozenset({SQL["add_memory"], SQL["add_run"]})
"""Statements that leave a row out when it clashes with one that is stored: an error would end the transaction."""

_CHANGES = (
    (re.compile(r"SELECT value FROM json_each\((\?|:\w+)\)"), r"SELECT jsonb_array_elements_text(CAST(\1 AS jsonb))"),
    (re.compile(r"\bLIMIT (:limit)\b"), r"LIMIT nullif(\1, -1)"),
    (re.compile(r"(:\w+) IS NULL"), r"CAST(\1 AS bigint) IS NULL"),
    (re.compile(r"ORDER BY (due_at|coalesce\(seq, span_first\)), key"), r"ORDER BY \1 NULLS FIRST, key"),
    (re.compile(r"\bIN \(\)"), "IN (NULL)"),
    (re.compile(r"\bchar\(10\)"), "chr(10)"),
    (re.compile("%"), "%%"),
    (re.compile(r"\?"), "%s"),
    (re.compile(r":([a-z]\w*)"), r"%(\1)s"),
)


@lru_cache(maxsize=1024)
def words(statement: str) -> str:
    """The statement as psycopg takes it."""
    text = OWN.get(statement, statement)
    for pattern, instead in _CHANGES:
        text = pattern.sub(instead, text)
    return text
