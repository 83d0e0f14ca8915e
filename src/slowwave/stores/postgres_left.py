"""What a write left behind in its scope, so that the next one need not ask: the last keys, and the last numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from slowwave.stores.base import Values
from slowwave.stores.rows import MEMORY_COLUMNS
from slowwave.stores.statements import SQL

_CONVERSATION: Final = 2 + MEMORY_COLUMNS.index("conversation")
_SEQ: Final = 2 + MEMORY_COLUMNS.index("seq")
_MOST: Final = 100
_KEYS: Final = {SQL["add_memory"]: 0, SQL["add_journal"]: 1, SQL["add_run"]: 2}
"""Statements that give a key out, and which of the last keys it is."""

ASKED_FIRST: Final = frozenset({SQL["last_keys"], SQL["last_seq"]})
"""Questions whose answer, one row at most, is remembered."""

_OTHERS: Final = (
    *("add_entry", "put_entry", "clear_entry", "put_gist", "cut_gist", "add_conversation", "extend_run"),
    *("put_cursor", "put_link", "cut_link", "put_held", "cut_held"),
)
_HARMLESS: Final = frozenset({SQL[name] for name in _OTHERS})
"""Statements that move none of what is remembered."""


class Left:
    """The answers to what every write asks first. They are guesses: others may have written since.

    Whoever uses them must have the server prove that nothing was journaled since (`journal`), and that a message it
    takes for new is new: its index does.
    """

    def __init__(self) -> None:
        self._keys: list[int | None] | None = None
        self._seqs: dict[str, int] = {}
        self.sound = True

    @property
    def journal(self) -> int | None:
        """The last key of the journal when this was so."""
        return self._keys[1] if self._keys else None

    def guess(self, statement: str, values: Values) -> list[tuple[Any, ...]] | None:
        """The rows of a read, or None if only the server knows."""
        if self._keys is None:
            return None
        if statement == SQL["last_keys"]:
            return [tuple(self._keys)]
        if statement == SQL["known_message"]:
            return []
        if statement == SQL["last_seq"] and isinstance(values, Mapping) and values["name"] in self._seqs:
            return [(self._seqs[values["name"]],)]
        return None

    def read(self, statement: str, values: Values, row: Sequence[Any] | None) -> None:
        """Take over what the server answered."""
        if statement == SQL["last_keys"] and row is not None:
            self._keys = list(row)
        elif statement == SQL["last_seq"] and row is not None and isinstance(values, Mapping):
            self._remember(values["name"], row[0])

    def wrote(self, statement: str, rows: Sequence[Values]) -> None:
        """Take over what is being written."""
        place = _KEYS.get(statement)
        if place is None:
            if statement not in _HARMLESS and not statement.startswith("UPDATE memories SET"):
                self.sound = False
            return
        for row in rows if self._keys is not None and isinstance(rows[0], Sequence) else ():
            key = row[0]  # type: ignore[index]  # a sequence, as the first
            self._keys[place] = max(key, self._keys[place] or key)  # type: ignore[index]  # not None, see above
            if not place and row[_SEQ] is not None:  # type: ignore[index]
                self._remember(row[_CONVERSATION], row[_SEQ])  # type: ignore[index]

    def _remember(self, conversation: str, seq: int) -> None:
        if len(self._seqs) >= _MOST and conversation not in self._seqs:
            self._seqs.clear()
        self._seqs[conversation] = max(seq, self._seqs.get(conversation, 0))
