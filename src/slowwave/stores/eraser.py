"""Destroys memories inside a transaction: rows, entries, links, journal rows, and the reasons that may quote them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import Any, Final

from slowwave.model.codec import COLUMNS, SEQ, SPAN, TEXT, Row, content_key, dumps, loads
from slowwave.model.operations import Erase
from slowwave.model.plan import Group
from slowwave.policy.text.spellings import Phrase
from slowwave.stores.connection import Connection
from slowwave.stores.reasons import BLANK, blanked_reasons, parse_reasons
from slowwave.stores.rows import checked, journal_checksum
from slowwave.stores.sql import bounds
from slowwave.stores.stored_texts import stored_texts

_CONVERSATION: Final = COLUMNS.index("conversation")
_BETWEEN: Final = "\x1f"
"""Separates texts that are joined for one search."""
_MEMORIES: Final = (
    *("erase_journal", "erase_links_from", "erase_links_to"),
    *("erase_entries", "erase_gists", "erase_memories", "erase_snapshot"),
)
"""Statements that delete memories, in this order: rows of `memories` are needed to find their journal rows and entries."""


class StalePlanError(Exception):  # not an error of the caller: the group is dropped with this message
    """A group was planned on a state that has changed."""


class Eraser:
    """Destroys what the Erase operations of one group name. Each statement covers all of them.

    Args:
        db: the connection, in a transaction.
        token: the token of the scope.
        planned_on: `Plan.sequence`; None: what other writers have derived since is not looked for.
        scope: the path of the scope.
        at: the time of the plan in microseconds.
    """

    def __init__(self, db: Connection, token: int, planned_on: int | None, scope: str, at: int) -> None:
        self._db = db
        self._token = token
        self._planned_on = planned_on
        self._scope = scope
        self._at = at
        self._blanked: set[tuple[int, int]] = set()

    def erased(self, operations: Sequence[Erase]) -> list[Erase]:
        """Destroy. Returns those operations that found something to destroy."""
        memories = self._memories(list(dict.fromkeys(one.memory for one in operations if one.memory)))
        words = {word for word in dict.fromkeys(word for one in operations for word in one.words) if self._word(word)}
        names = [one.conversation for one in operations if one.conversation is not None]
        conversations = self._conversations(names) if names else set()
        is_forgotten = any(one.scope for one in operations) and self._forget_scope()
        effective = []
        for operation in operations:
            if (
                operation.memory in memories
                or operation.conversation in conversations
                or not words.isdisjoint(operation.words)
                or (operation.scope and is_forgotten)
            ):
                effective.append(operation)
                memories.discard(operation.memory)  # a second operation on it finds nothing
        return effective

    def _forget_scope(self) -> bool:
        """Replace the path of the scope by a hash if nothing is stored in it, also in keys, which are revoked."""
        if self._db.run("forget_scope", {"scope": self._token}).get is None:
            return False
        self._db.run("forget_prefix", {"path": self._scope, "at": self._at})
        return True

    def _memories(self, ids: Sequence[str]) -> set[str]:
        ids_json = dumps(ids)
        found: list[Any] = self._db.run("memories_with_key", (self._token, ids_json)).fetchall() if ids else []
        rows: list[Row] = [checked(row) for row in found]
        if not rows:
            return set()
        values = {"scope": self._token, "ids": ids_json}
        self._blank_groups(self._db.run("groups_of_memories", values).fetchall())
        for statement in _MEMORIES:
            self._db.run(statement, values)
        last: dict[str, int] = {}
        for row in rows:
            if row[SEQ] is not None:
                name = str(row[_CONVERSATION])
                last[name] = max(int(str(row[SEQ])), last.get(name, 0))
        kept = [{"scope": self._token, "name": name, "seq": seq} for name, seq in last.items()]
        self._db.run_many("keep_seq", kept)
        self._check_nothing_derived(rows)
        keys = dumps([content_key(str(row[TEXT])) for row in rows])
        for statement in ("erase_holds", "cut_held"):  # plain hashes: tombstones with a key replace them
            self._db.run(statement, {"scope": self._token, "keys": keys})
        self._refusals([str(row[TEXT]) for row in rows])
        return {str(row[0]) for row in rows}

    def _check_nothing_derived(self, rows: Sequence[Row]) -> None:
        """Raise StalePlanError if another writer has derived something from these memories since the erase was planned.

        Such a fact, summary or replacement would keep the erased words, because the plan does not name it.
        """
        if self._planned_on is None:
            return
        low, high = bounds(self._token)
        values = {"scope": self._token, "after": low + self._planned_on, "high": high}
        erased = [str(row[0]) for row in rows]
        for first, last, name, texts in self._db.run("derived_since", values).fetchall():
            is_covered = first is not None and any(_is_in_span(row, name, first, last) for row in rows)
            if is_covered or any(identity in texts for identity in erased):
                raise StalePlanError("another writer derived a memory from what is to be erased: erase again")

    def _refusals(self, texts: Sequence[str]) -> None:
        """Delete the facts that were proposed from these texts and refused."""
        rows: list[Any] = self._db.run("refused", (self._token,)).fetchall()
        refused = [(key, *loads(payload)[:2]) for key, payload in rows]
        erased, proposals = _BETWEEN.join(texts), _BETWEEN.join(proposed for _, proposed, _ in refused)
        proposed_texts = [text for text in texts if text in proposals]
        self._cut(
            key
            for key, proposed, quote in refused
            if (quote and quote in erased) or proposed in erased or any(text in proposed for text in proposed_texts)
        )

    def _cut(self, keys: Iterable[int]) -> None:
        self._db.run_many("erase_journal_row", [(key,) for key in keys])

    def _blank_groups(self, groups: Iterable[tuple[int, int, str | None, str]]) -> None:
        """Blank the reasons of groups that changed what is erased: their own, and those of their other operations."""
        parts: dict[int, set[int]] = {}
        runs: dict[int, tuple[int, str, str]] = {}
        for run, part, because, details in groups:
            # The run of the present group is not written yet; its reason says what the caller of the erase wrote.
            if because is not None and (run, part) not in self._blanked:
                self._blanked.add((run, part))
                parts.setdefault(run, set()).add(part)
                runs[run] = run, because, details
        self._blank_runs(runs.values(), lambda run, part, _: part in parts[run])
        if parts:
            places = [f"{run}.{part}" for run, some in parts.items() for part in some]
            values = {"scope": self._token, "runs": dumps(list(parts)), "groups": dumps(places), "blank": BLANK}
            self._blank_rows(self._db.run("reasons_of_groups", values).fetchall())

    def _blank_rows(self, rows: Iterable[Any]) -> None:
        blank = [
            (BLANK, journal_checksum(op, memory, other, BLANK, payload), key)
            for key, op, memory, other, payload in rows
        ]
        self._db.run_many("put_reason", blank)

    def _word(self, word: str) -> bool:
        """Blank the reasons that contain a word in any spelling, and delete the refused facts that do.

        Returns whether there were any.
        """
        low, high = bounds(self._token)
        phrase = Phrase(word)
        refused: list[Any] = self._db.run("refused", (self._token,)).fetchall()
        quoting = [key for key, payload in refused if any(map(phrase.is_in, stored_texts(payload)))]
        self._cut(quoting)
        contains = cache(phrase.is_in)  # most reasons occur many times
        reasons = self._db.run("all_reasons", {"low": low, "high": high})
        rows = [row[:-1] for row in reasons if contains(row[-1])]
        self._blank_rows(rows)
        runs: list[Any] = self._db.run("all_run_reasons", {"low": low, "high": high}).fetchall()
        blanked = self._blank_runs(runs, lambda _run, _part, group: _contains(group, phrase))
        titled = self._titles_with(phrase)
        return bool(quoting or rows or blanked or titled)

    def _titles_with(self, phrase: Phrase) -> bool:
        """Blank the titles that contain a phrase, the present ones and those in the journal."""
        low, high = bounds(self._token)
        rows: list[Any] = self._db.run("title_rows", {"low": low, "high": high}).fetchall()
        found = False
        for key, op, memory, other, because, payload in rows:
            name, *titles = loads(payload)
            kept = [None if title and phrase.is_in(title) else title for title in titles]
            if kept != titles:
                found, blanked = True, dumps([name, *kept])
                self._db.run("reseal_journal", (blanked, journal_checksum(op, memory, other, because, blanked), key))
        titled: list[Any] = self._db.run("titles", (self._token,)).fetchall()
        blanked_names = [(None, self._token, name) for name, title in titled if phrase.is_in(title)]
        self._db.run_many("put_title", blanked_names)
        return found

    def _blank_runs(self, runs: Iterable[tuple[int, str, str]], may_quote: Callable[[int, int, Group], bool]) -> int:
        """Blank the reasons of runs, with their details, where `may_quote` holds. Returns of how many runs.

        Args:
            runs: key and the columns `because` and `details`.
            may_quote: is called with the key of the run, the place of the group in it, and the group.
        """
        changed = []
        for run, because, details in runs:
            groups = parse_reasons(because, details)
            marks = [may_quote(run, part, group) for part, group in enumerate(groups)]
            if any(marks):
                changed.append((*blanked_reasons(because, details, marks), run))
        self._db.run_many("put_run_because", changed)
        return len(changed)

    def _conversations(self, names: Sequence[str]) -> set[str]:
        """Delete the names of conversations without messages, and their cursors."""
        low, high = bounds(self._token)
        values = {"scope": self._token, "names": dumps(names), "low": low, "high": high}
        used = self._db.run("someone_in_conversations", values).get
        if used is not None:
            raise StalePlanError(f"the conversation {used!r} has new messages")
        rows: list[Any] = self._db.run("conversations_of", values).fetchall()
        for statement in ("erase_conversations", "erase_cursors", "erase_refusals_of", "erase_advances"):
            self._db.run(statement, values)
        runs: list[Any] = self._db.run("runs_of_conversations", (low, high)).fetchall()
        erased = set(names)
        self._blank_runs(runs, lambda _run, _part, group: not erased.isdisjoint(group.conversations))
        return {name for (name,) in rows}


def _is_in_span(row: Row, conversation: str, first: int, last: int) -> bool:
    """Whether a summary of these messages of a conversation covers an erased message, or follows an erased summary."""
    if row[_CONVERSATION] != conversation:
        return False
    seq, span = row[SEQ], row[SPAN]
    return (seq is not None and first <= int(str(seq)) <= last) or (span is not None and last >= int(str(span)))


def _contains(group: Group, phrase: Phrase) -> bool:
    """Whether the reason of a group, or a name in its details, contains a phrase."""
    texts: Collection[str] = (group.because, group.count_of, *group.conversations)
    return any(phrase.is_in(text) for text in texts if text)
