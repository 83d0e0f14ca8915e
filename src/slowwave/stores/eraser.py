"""Destroying inside a transaction: rows, entries, links, journal rows, and whatever sentence may quote them."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from slowwave.model.codec import COLUMNS, SEQ, TEXT, Row, dumps, loads
from slowwave.model.operations import Erase
from slowwave.stores.connection import Connection
from slowwave.stores.rows import checked, journal_checksum
from slowwave.stores.sql import SQL, bounds

BLANK: Final = "erased"
"""What stands where a sentence stood that may have quoted what was erased."""

_CONVERSATION: Final = COLUMNS.index("conversation")
_BETWEEN: Final = "\x1f"
"""Stands between texts that are looked through as one."""
_MEMORIES: Final = (
    *("erase_journal", "erase_links_from", "erase_links_to"),
    *("erase_entries", "erase_gists", "erase_memories", "erase_snapshot"),
)
"""What goes with memories, in this order: memories tell where their journal and entries are."""


class StalePlanError(Exception):  # not an error: the group is dropped with these words
    """What a group was planned on no longer holds."""


class Eraser:
    """Destroys for one group of operations, many at a time: each statement is about all of them."""

    def __init__(self, db: Connection, token: int) -> None:
        self._db = db
        self._token = token
        self._blanked: set[tuple[int, int]] = set()

    def erased(self, operations: Sequence[Erase]) -> list[Erase]:
        """Destroy. Returns those operations that found something to destroy."""
        memories = self._memories(list(dict.fromkeys(one.memory for one in operations if one.memory)))
        words = {word for word in dict.fromkeys(word for one in operations for word in one.words) if self._word(word)}
        named = [one.conversation for one in operations if one.conversation is not None]
        conversations = self._conversations(named) if named else set()
        found = []
        for one in operations:
            if one.memory in memories or one.conversation in conversations or not words.isdisjoint(one.words):
                found.append(one)
                memories.discard(one.memory)  # the same once more finds nothing
        return found

    def _memories(self, ids: Sequence[str]) -> set[str]:
        asked = dumps(ids)
        found: list[Any] = self._db.execute(SQL["memories_with_key"], (self._token, asked)).fetchall() if ids else []
        rows: list[Row] = [checked(row) for row in found]
        if not rows:
            return set()
        place = {"scope": self._token, "ids": asked}
        self._blank_groups(self._db.execute(SQL["groups_of_memories"], place).fetchall())
        for statement in _MEMORIES:
            self._db.execute(SQL[statement], place)
        last: dict[str, int] = {}
        for row in rows:
            if row[SEQ] is not None:
                name = str(row[_CONVERSATION])
                last[name] = max(int(str(row[SEQ])), last.get(name, 0))
        kept = [{"scope": self._token, "name": name, "seq": seq} for name, seq in last.items()]
        self._db.executemany(SQL["keep_seq"], kept)
        self._refusals([str(row[TEXT]) for row in rows])
        return {str(row[0]) for row in rows}

    def _refusals(self, texts: Sequence[str]) -> None:
        """Facts that were proposed from these words and refused."""
        told: list[Any] = self._db.execute(SQL["refused"], (self._token,)).fetchall()
        refused = [(key, *loads(payload)[:2]) for key, payload in told]
        said, proposals = _BETWEEN.join(texts), _BETWEEN.join(proposed for _, proposed, _ in refused)
        within = [text for text in texts if text in proposals]
        self._cut(
            key
            for key, proposed, quote in refused
            if (quote and quote in said) or proposed in said or any(text in proposed for text in within)
        )

    def _cut(self, keys: Iterable[int]) -> None:
        self._db.executemany(SQL["erase_journal_row"], [(key,) for key in keys])

    def _blank_groups(self, found: Iterable[tuple[int, int, str | None]]) -> None:
        """The sentences of groups that dealt with what is erased: their own, and those of their other operations."""
        parts: dict[int, list[int]] = {}
        reasons: dict[int, str] = {}
        for run, part, because in found:
            # Without sentences: this very group, whose words are its own.
            if because is not None and (run, part) not in self._blanked:
                self._blanked.add((run, part))
                parts.setdefault(run, []).append(part)
                reasons[run] = because
        self._blank_runs(
            (run, because, [part in parts[run] and one != BLANK for part, one in enumerate(loads(because))])
            for run, because in reasons.items()
        )
        if parts:
            groups = [f"{run}.{part}" for run, some in parts.items() for part in some]
            values = {"scope": self._token, "runs": dumps(list(parts)), "groups": dumps(groups)}
            self._blank_rows(self._db.execute(SQL["reasons_of_groups"], values).fetchall())

    def _blank_rows(self, rows: Iterable[Any]) -> None:
        blank = [
            (BLANK, journal_checksum(op, memory, other, BLANK, payload), key)
            for key, op, memory, other, payload in rows
        ]
        self._db.executemany(SQL["put_reason"], blank)

    def _word(self, word: str) -> bool:
        """Take a word out of the sentences of the journal, and the refused facts that hold it."""
        low, high = bounds(self._token)
        values = {"low": low, "high": high, "word": word, "escaped": dumps(word)[1:-1]}
        refused: list[Any] = self._db.execute(SQL["refused_with_words"], values).fetchall()
        self._cut(key for (key,) in refused)
        rows: list[Any] = self._db.execute(SQL["reasons_with_words"], values).fetchall()
        self._blank_rows(rows)
        runs: list[Any] = self._db.execute(SQL["runs_with_words"], values).fetchall()
        folded = word.casefold()
        self._blank_runs((key, because, [folded in one.casefold() for one in loads(because)]) for key, because in runs)
        return bool(refused or rows or runs)

    def _blank_runs(self, runs: Iterable[tuple[int, str, Sequence[bool]]]) -> None:
        """Sentences of runs, where they are marked."""
        self._db.executemany(
            SQL["put_run_because"],
            [
                (dumps([BLANK if gone else one for one, gone in zip(loads(because), marks, strict=True)]), key)
                for key, because, marks in runs
                if any(marks)
            ],
        )

    def _conversations(self, names: Sequence[str]) -> set[str]:
        """Forget the names of conversations that hold nothing any more, and how far they were read."""
        low, high = bounds(self._token)
        place = {"scope": self._token, "names": dumps(names), "low": low, "high": high}
        someone = self._db.execute(SQL["someone_in_conversations"], place).get
        if someone is not None:
            raise StalePlanError(f"the conversation {someone!r} has new messages")
        there: list[Any] = self._db.execute(SQL["conversations_of"], place).fetchall()
        for statement in ("erase_conversations", "erase_cursors", "erase_refusals_of", "erase_advances"):
            self._db.execute(SQL[statement], place)
        runs: list[Any] = self._db.execute(SQL["runs_of_conversations"], (low, high)).fetchall()
        gone, most = set(names), max(len(name.split(" ")) for name in names)
        self._blank_runs(
            (key, because, [_mentions_conversation(one, gone, most) for one in loads(because)]) for key, because in runs
        )
        return {name for (name,) in there}


def _mentions_conversation(sentence: str, names: Collection[str], most: int) -> bool:
    """Whether a sentence of our own making tells of one of these conversations, whose names have so many words at most."""
    words = sentence.split(" ")
    return any(
        " ".join(words[place + 1 : place + 2 + more]) in names
        for place, word in enumerate(words)
        if word == "of"
        for more in range(most)
    )
