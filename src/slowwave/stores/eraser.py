"""Destroying inside a transaction: rows, entries, links, journal rows, and whatever sentence may quote them."""

from collections.abc import Iterable
from typing import Any, Final

from slowwave.model.codec import COLUMNS, SEQ, TEXT, Row, dumps, loads
from slowwave.model.operation import Erase
from slowwave.stores.base import Connection
from slowwave.stores.rows import checked, journal_checksum
from slowwave.stores.statements import SQL, bounds

BLANK: Final = "erased"
"""What stands where a sentence stood that may have quoted what was erased."""

_CONVERSATION: Final = COLUMNS.index("conversation")


class Stale(Exception):  # noqa: N818  # not an error: the group is dropped with these words
    """What a group was planned on no longer holds."""


class Eraser:
    """Destroys for one group of operations."""

    def __init__(self, db: Connection, token: int) -> None:
        self._db = db
        self._token = token
        self._blanked: set[tuple[int, int]] = set()

    def erased(self, operation: Erase) -> bool:
        """Whether there was anything to destroy."""
        done = bool(operation.memory) and self._memory(operation.memory)
        done = self._words(operation.words) or done
        return (operation.conversation is not None and self._conversation(operation.conversation)) or done

    def _memory(self, identity: str) -> bool:
        found: Any = self._db.execute(SQL["memory_with_key"], (self._token, identity)).fetchone()
        if found is None:
            return False
        row: Row = checked(found)
        place = {"scope": self._token, "id": identity}
        touched: list[Any] = self._db.execute(SQL["runs_of_memory"], place).fetchall()
        for run, part in touched:
            self._blank_group(run, part)
        for statement in (
            "erase_journal",
            "erase_links",
            "erase_entry",
            "erase_gist",
            "erase_memory",
            "erase_snapshot",
        ):
            self._db.execute(SQL[statement], place)
        if row[SEQ] is not None:
            self._db.execute(SQL["keep_seq"], {"scope": self._token, "name": row[_CONVERSATION], "seq": row[SEQ]})
        self._refusals(str(row[TEXT]))
        return True

    def _refusals(self, text: str) -> None:
        """Facts that were proposed from these words and refused."""
        refusals: list[Any] = self._db.execute(SQL["refused"], (self._token,)).fetchall()
        for key, payload in refusals:
            proposed, quote, _ = loads(payload)
            if (quote and quote in text) or proposed in text or text in proposed:
                self._db.execute(SQL["erase_journal_row"], (key,))

    def _blank_group(self, run: int, part: int) -> None:
        """The sentences of a group that dealt with what is erased: its own, and those of its other operations."""
        if (run, part) in self._blanked:
            return
        self._blanked.add((run, part))
        found: Any = self._db.execute(SQL["run_because"], (run,)).fetchone()
        if found is None:  # this very group, whose sentences are its own
            return
        because, first, last = found
        sentences = loads(because)
        if part < len(sentences):
            sentences[part] = BLANK
            self._db.execute(SQL["put_run_because"], (dumps(sentences), run))
        self._blank_rows(self._db.execute(SQL["reasons_of_group"], (first, last, run, part)).fetchall())

    def _blank_rows(self, rows: Iterable[Any]) -> None:
        for key, op, memory, other, payload in rows:
            total = journal_checksum(op, memory, other, BLANK, payload)
            self._db.execute(SQL["put_reason"], (BLANK, total, key))

    def _words(self, words: Iterable[str]) -> bool:
        """Take words out of the sentences of the journal, and the refused facts that hold them."""
        low, high = bounds(self._token)
        done = False
        for word in words:
            values = {"low": low, "high": high, "word": word, "escaped": dumps(word)[1:-1]}
            refused: list[Any] = self._db.execute(SQL["refused_with_words"], values).fetchall()
            for (key,) in refused:
                self._db.execute(SQL["erase_journal_row"], (key,))
            rows: list[Any] = self._db.execute(SQL["reasons_with_words"], values).fetchall()
            self._blank_rows(rows)
            runs: list[Any] = self._db.execute(SQL["runs_with_words"], values).fetchall()
            for key, because in runs:
                held = [BLANK if word.casefold() in one.casefold() else one for one in loads(because)]
                self._db.execute(SQL["put_run_because"], (dumps(held), key))
            done = done or bool(refused or rows or runs)
        return done

    def _conversation(self, name: str) -> bool:
        """Forget the name of a conversation that holds nothing any more, and how far it was read."""
        place = {"scope": self._token, "name": name}
        if self._db.execute(SQL["someone_in_conversation"], place).get is not None:
            raise Stale(f"the conversation {name!r} has new messages")
        there = self._db.execute(SQL["conversation_exists"], place).get is not None
        low, high = bounds(self._token)
        for statement in ("erase_conversation", "erase_cursors", "erase_refusals_of", "erase_advances"):
            self._db.execute(SQL[statement], {**place, "low": low, "high": high})
        runs: list[Any] = self._db.execute(SQL["runs_of_conversation"], {**place, "low": low, "high": high}).fetchall()
        for key, because in runs:
            held = [BLANK if _names(one, name) else one for one in loads(because)]
            self._db.execute(SQL["put_run_because"], (dumps(held), key))
        return there


def _names(sentence: str, name: str) -> bool:
    """Whether a sentence of our own making tells of the conversation."""
    return f" of {name} " in f"{sentence} "
