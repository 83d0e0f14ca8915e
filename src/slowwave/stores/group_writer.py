"""Writes one group of operations inside its transaction: rows, index entries and journal."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, ClassVar, TypeAlias

from slowwave.errors import ConflictError, InputError
from slowwave.forks import CachedProperty
from slowwave.model.codec import COLUMNS, KIND, SPAN, TEXT, VERSION, Row, dumps, numbered, row_content, to_micros, used
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import COUNTERS, FACT_KINDS, HOT, MESSAGE, NOTE, Memory
from slowwave.model.operations import (
    Add,
    Change,
    Erase,
    Link,
    MoveCursor,
    Operation,
    RejectFact,
    SetTitle,
    Suppress,
    Use,
)
from slowwave.model.plan import Group
from slowwave.stores.connection import Connection, Values as StatementValues, WriteHints
from slowwave.stores.eraser import Eraser, StalePlanError
from slowwave.stores.rows import ENTRY_COLUMNS, MEMORY_COLUMNS, checked
from slowwave.stores.seal import check, fitted, placed, row_of, sealed, sealed_entry, sealed_journal
from slowwave.stores.sql import bounds
from slowwave.stores.tokens import Tokens

_CONTENT_PLACE = 2 + MEMORY_COLUMNS.index("content")
_CONVERSATIONS = 100
"""How many conversations `WriteHints.seqs` may list."""
_identity = itemgetter(*(COLUMNS.index(name) for name in ("id", "conversation", "seq", "ref")))
_STORES_NOTHING = frozenset({Erase, Suppress})
_NOT_PLANNED = {*(COLUMNS.index(name) for name in COUNTERS), VERSION}
_USE_COLUMNS = (COLUMNS.index("accesses"), COLUMNS.index("used_at"))
Values: TypeAlias = tuple[object, ...]
_NO_NOTE = (None, None)


def _note_name(memory: Memory) -> tuple[str | None, str | None]:
    """Folder and name of a current note, which are unique in a scope; `_NO_NOTE` for other memories."""
    return (memory.conversation, memory.ref) if memory.kind == NOTE and memory.phase in HOT else _NO_NOTE


def rests_on(group: Group) -> set[str]:
    """The ids of memories that must be stored for the group to be applied, without those that the group itself adds."""
    needed, added = set(group.rests_on), set()
    for operation in group.operations:
        if isinstance(operation, Add):
            added.add(operation.memory.id)
            needed |= _derived_from(operation.memory)
        elif isinstance(operation, Change):
            needed |= _derived_from(operation.after) - _derived_from(operation.before)
    return needed - added


def read_first(token: int, operations: Sequence[Operation]) -> list[tuple[str, StatementValues]]:
    """The statements with which these operations read what they change, each before it writes: to be read in advance.

    Raises:
        InputError: a cursor or a link has a value that would be read back differently.
    """
    if any(isinstance(operation, Erase) for operation in operations):
        return []  # what an erase deletes is read after it
    ids = _changed_ids(operations)
    found: list[tuple[str, StatementValues]] = [("memories_with_key", (token, dumps(ids)))] if ids else []
    for operation in operations:
        if isinstance(operation, MoveCursor | Link):
            check(operation)  # a value of another type would fail as a statement
        if isinstance(operation, MoveCursor):
            found.append(("cursor", (token, operation.conversation, operation.cursor)))
        elif isinstance(operation, Link):
            found.append(("link_weight", (token, operation.source, operation.target, operation.kind)))
    return found


def _changed_ids(operations: Iterable[Operation]) -> list[str]:
    return [
        operation.before.id if isinstance(operation, Change) else operation.used_version.id
        for operation in operations
        if isinstance(operation, Change | Use)
    ]


def _derived_from(memory: Memory) -> set[str]:
    return {*(source.memory for source in memory.sources), *memory.members}


class GroupWriter:
    """Performs the operations of one group in order. Each instance is used once, between BEGIN and COMMIT.

    Args:
        db: the connection.
        tokens: the tokens of this connection.
        scope: the scope of the group.
        run: the key of the run, 0 if this is its first group.
        part: the index of the group in its run, from 0.
        hints: the hints of the last write, if no other connection has written since; with None they are queried.
        reached: failpoint hook, called with the name of each point that is passed.
        planned_on: `Plan.sequence`.
        at: the time of the plan in microseconds.
    """

    def __init__(
        self,
        db: Connection,
        tokens: Tokens,
        *,
        scope: str,
        run: int,
        part: int,
        hints: WriteHints | None,
        reached: Callable[[str], None] | None,
        planned_on: int | None = None,
        at: int,
    ) -> None:
        self._db = db
        self._tokens = tokens
        self._scope = scope
        self._reached = reached
        self._planned_on = planned_on
        self._at = at
        self.token = tokens.new_scope(scope)
        if hints is None or hints.token != self.token:
            hints = self._query_hints()
        self._next_memory = hints.memory + 1
        self.first_journal = self._next_journal = hints.journal + 1
        self.run = run or hints.run + 2  # the key between is free for the parent run
        self._part = part
        self.performed: list[Operation] = []
        self._added: list[Add] = []
        self._memories: list[Values] = []
        self._entries: list[Values] = []
        self._journal: list[Values] = []
        self._is_new_scope = hints.journal == bounds(self.token)[0]  # nothing was ever written to it
        self._last_run = max(self.run, hints.run)  # another writer may have added runs between two groups of this one
        self._last_seq = hints.seqs.copy()  # a copy: after a rollback the hints must be unchanged
        self._refs: dict[tuple[str, str], Memory] = {}
        self._ahead: dict[str, Any] = {}
        self._erasures: list[Erase] = []
        self._held: dict[str, bool] = {}

    def _query_hints(self) -> WriteHints:
        low, high = bounds(self.token)
        last: Any = self._db.run("last_keys", {"low": low, "high": high}).fetchone()
        memory, journal, run = (key or low for key in last)
        return WriteHints(token=self.token, memory=memory, journal=journal, run=run, seqs={})

    @property
    def hints(self) -> WriteHints | None:
        """The last keys used so far, as hints for the next write; None if something was erased."""
        if "_eraser" in self.__dict__:
            return None
        memory, journal = self._next_memory - 1, self._next_journal - 1
        return WriteHints(token=self.token, memory=memory, journal=journal, run=self._last_run, seqs=self._last_seq)

    @CachedProperty
    def _eraser(self) -> Eraser:
        return Eraser(self._db, self.token, self._planned_on, self._scope, self._at)

    def require(self, ids: Collection[str]) -> None:
        """Raise StalePlanError if one of these memories is not stored."""
        found = self._db.run("count_of_ids", (self.token, dumps(sorted(ids)))).get
        if found != len(ids):
            raise StalePlanError("a memory that this rests on was erased since it was planned")

    def read_ahead(self, operations: Iterable[Operation]) -> None:
        """Read in one query the rows that these operations will change."""
        if ids := _changed_ids(operations):
            rows = self._db.run("memories_with_key", (self.token, dumps(ids))).fetchall()
            self._ahead = {row[0]: row for row in rows}

    def perform(self, operation: Operation) -> None:
        """Perform one operation. New memories are collected and written together, and so are erasures."""
        if isinstance(operation, Erase):
            self._erasures.append(operation)
            return
        if self._erasures and not isinstance(operation, Suppress):
            self.destroy()
        if isinstance(operation, Add):
            self._add(operation)
        else:
            self.flush()
            self._PERFORM[type(operation)](self, operation)

    def finish(self) -> int:
        """Write the collected rows and the journal. Returns the last journal key."""
        self.flush()
        for statement, wanted in (("put_held", True), ("cut_held", False)):
            if keys := [key for key, on in self._held.items() if on is wanted]:
                self._db.run(statement, {"scope": self.token, "keys": dumps(keys)})
        if not _STORES_NOTHING.issuperset(map(type, self.performed)):
            self._db.run("name_scope", {"scope": self.token, "path": self._scope})
        self._failpoint("apply.rows")
        self._write_journal()
        self._failpoint("apply.journal")
        return self._next_journal - 1

    def _write_journal(self) -> None:
        self._db.run_many("add_journal", self._journal)
        self._journal.clear()

    def _failpoint(self, point: str) -> None:
        if self._reached:
            self._reached(point)

    def _record(
        self, operation: Operation, op: str, payload: object, memory: str | None = None, other: str | None = None
    ) -> None:
        self.performed.append(operation)
        self._add_journal_row(op, memory, other, operation.because, None if payload is None else dumps(payload))

    def _add_journal_row(
        self, op: str, memory: str | None, other: str | None, because: str, payload: str | None
    ) -> None:
        """Collect a row of the journal."""
        key, total = self._next_journal, sealed_journal(op, memory, other, because, payload)
        self._journal.append((key, self.token, self.run, self._part, op, memory, other, because, payload, total))
        self._next_journal = key + 1

    # ---- adding

    def _add(self, operation: Add) -> None:
        memory = operation.memory
        if memory.kind == MESSAGE:
            if memory.ref is not None and self._is_stored(memory):
                return
            last = self._last_seq_of(str(memory.conversation))
            if not memory.seq:
                memory = numbered(memory, last + 1)
                operation = Add(memory=memory, because=operation.because, entry=operation.entry)
            self._last_seq[str(memory.conversation)] = max(last, memory.seq)
        row = row_of(placed(memory))
        text, total = sealed(row)
        content = row_content(row)
        self._memories.append((self._next_memory, self.token, *row, content, total, self._next_journal))
        self._entries.append(self._entry(self._next_memory, operation.entry))
        self._added.append(operation)
        self._next_memory += 1
        self.performed.append(operation)
        self._add_journal_row("add", memory.id, None, operation.because, text)

    def _is_stored(self, memory: Memory) -> bool:
        """Whether a message with this ref is stored or in this group; ConflictError if its content differs."""
        place = (str(memory.conversation), str(memory.ref))
        said = (memory.role, memory.text, memory.speaker)
        if twin := self._refs.get(place):
            known, identity = (twin.role, twin.text, twin.speaker), twin.id
        else:
            self._refs[place] = memory
            found = self._db.run("known_message", (self.token, memory.ref, memory.conversation)).fetchone()
            if found is None:
                return False
            identity, *rest = found
            known = tuple(rest)
        if known != said:
            raise ConflictError(
                f"a message with the id {memory.ref!r} is stored in the conversation {memory.conversation!r} with other "
                f"content (memory {identity}); nothing of the batch was stored: give the new message another id"
            )
        return True

    def _last_seq_of(self, name: str) -> int:
        """The last seq of a conversation. Inserts the row of a new conversation."""
        last = self._last_seq.get(name)
        if last is None:
            if len(self._last_seq) >= _CONVERSATIONS:
                self._last_seq = {}
            place = {"scope": self.token, "name": name}
            found: Any = None if self._is_new_scope else self._db.run("last_seq", place).get
            if found is None:
                self._db.run("add_conversation", (self.token, name))
            last = found or 0
        return last

    def _entry(self, key: int, entry: IndexEntry | None) -> Values:
        if entry is None:
            return (key, self.token, *(None,) * (2 + len(ENTRY_COLUMNS)))
        return (key, self.token, self._tokens.new_embedder(entry.embedder), *sealed_entry(entry))

    def flush(self) -> None:
        """Write the new memories collected so far."""
        if not self._added:
            return
        try:
            self._db.run_many("add_memory", self._memories)
        except self._db.clash as error:
            raise StalePlanError(self._violation() or f"a new memory violates a constraint: {error}") from error
        self._failpoint("apply.memories")
        self._db.run_many("add_entry", self._entries)
        self._failpoint("apply.entries")
        self._refs.clear()
        for gathered in (self._memories, self._entries, self._added):
            gathered.clear()

    def _violation(self) -> str | None:
        """Which new memory violates a unique index, as a sentence. Reads only rows from before this flush."""
        ids: set[str] = set()
        contents: dict[object, str] = {}
        names: set[tuple[str | None, str | None]] = set()
        for operation, row in zip(self._added, self._memories, strict=True):
            memory, content = operation.memory, row[_CONTENT_PLACE] if operation.memory.phase in HOT else None
            if memory.id in ids:
                return f"{memory.id} is added twice"
            if content in contents and content is not None:
                return f"the same fact is added twice, as {contents[content]} and {memory.id}"
            name = _note_name(memory)
            if name in names and name != _NO_NOTE:
                return f"two notes of the group have the name {memory.ref!r} in the folder {memory.conversation!r}"
            ids.add(memory.id)
            names.add(name)
            contents[content] = memory.id
            for query, values, words in (
                ("key_of", (memory.id,), f"{memory.id} exists already"),
                ("live_fact", (content,), "the same fact is known already, as {}"),
                ("live_note", name, "a note of this name is stored already, as {}"),
                (
                    "fact_ref",
                    (memory.ref if memory.kind in FACT_KINDS else None,),
                    f"a fact with the id {memory.ref!r} is stored already, as {{}}",
                ),
                (
                    "seq_taken",
                    (memory.conversation, memory.seq or None),
                    f"message {memory.seq} is already there, as {{}}",
                ),
            ):
                found = self._db.run(query, (self.token, *values)).get
                if found is not None and row[0] != found and memory.id != found:
                    return words.format(found)
        return None

    # ---- changing

    def _stored(self, identity: str) -> tuple[int, Row] | None:
        found: Any = self._ahead.pop(identity, None)  # once: a second change of it must read the new row
        if found is None:
            found = self._db.run("memory_with_key", (self.token, identity)).fetchone()
        return None if found is None else (found[-1], checked(found))

    def _write(self, key: int, old: Row, new: Row) -> dict[str, list[object]]:
        """Write the values that differ. Returns them as the journal stores them: {column: [old, new]}."""
        delta = [i for i, value in enumerate(old) if value != new[i]]
        columns, values = [COLUMNS[i] for i in delta], [new[i] for i in delta]
        if TEXT in delta or SPAN in delta:
            columns.append("content")
            values.append(row_content(new))
        try:
            self._db.update_memory((*columns, "checksum"), (*values, sealed(new)[1]), key)
        except self._db.clash as error:
            if new[KIND] == NOTE:
                found = self._db.run("live_note", (self.token, *_identity(new)[1::2])).get
                raise StalePlanError(f"a note of this name is stored already, as {found}") from error
            found = self._db.run("live_fact", (self.token, row_content(new))).get
            raise StalePlanError(f"the same fact is known already, as {found}") from error
        return {COLUMNS[i]: [old[i], new[i]] for i in delta}

    def _change(self, operation: Change) -> None:
        before, after = row_of(operation.before), row_of(placed(operation.after, operation.before))
        if _identity(before) != _identity(after):
            raise InputError(
                f"a change of {operation.before.id} may not move it: id, conversation, seq and ref are fixed"
            )
        found = self._stored(operation.before.id)
        if found is None:
            raise StalePlanError(f"{operation.before.id} is gone")
        key, old = found
        if old[VERSION] != operation.before.version:
            raise StalePlanError(f"{operation.before.id} was changed since this was planned")
        if operation.unless_used and any(old[i] != before[i] for i in _USE_COLUMNS):
            raise StalePlanError(f"{operation.before.id} was used since this was planned")
        new = [after[i] if before[i] != after[i] and i not in _NOT_PLANNED else value for i, value in enumerate(old)]
        new[VERSION] = operation.before.version + 1
        payload = self._write(key, old, tuple(new))
        if "gist" in payload:
            self._gist(key, operation)
        elif operation.entry is not None:
            self._db.run("put_entry", self._entry(key, operation.entry))
        elif "text" in payload:
            self._db.run("clear_entry", (key, self.token))
        self._failpoint("apply.change")
        if operation.after.version != new[VERSION]:
            operation = replace(operation, after=replace(operation.after, version=operation.before.version + 1))
        self._record(operation, "change", payload, operation.before.id)

    def _gist(self, key: int, operation: Change) -> None:
        """Write or delete the index entry of a trimmed text. Without it, search uses the full text."""
        if operation.after.gist is None or operation.entry is None:
            self._db.run("cut_gist", (key,))
        else:
            self._db.run("put_gist", self._entry(key, operation.entry))

    def _use(self, operation: Use) -> None:
        found = self._stored(operation.used_version.id)
        if found is None:
            return
        key, old = found
        seen, after = fitted(row_of(operation.used_version)), row_of(operation.after)
        payload = {name: [seen[i], after[i]] for i, name in enumerate(COLUMNS) if seen[i] != after[i] and i != VERSION}
        self._write(key, old, used(old, payload))
        self._failpoint("apply.use")
        self._record(operation, "use", payload, operation.used_version.id)

    def _link(self, operation: Link) -> None:
        check(operation)
        place = (self.token, operation.source, operation.target, operation.kind)
        weight = self._db.run("link_weight", place).get or 0.0
        if weight != operation.before:
            raise StalePlanError(
                f"the link {operation.kind!r} of {operation.source} and {operation.target} weighs {weight}, "
                f"not {operation.before}"
            )
        if operation.weight:
            self._db.run("put_link", (*place, operation.weight, to_micros(operation.at)))
        else:
            self._db.run("cut_link", place)
        self._failpoint("apply.link")
        payload = {
            "kind": operation.kind,
            "weight": [operation.before, operation.weight],
            "at": to_micros(operation.at),
        }
        self._record(operation, "link", payload, operation.source, operation.target)

    def _move_cursor(self, operation: MoveCursor) -> None:
        check(operation)
        place = (self.token, operation.conversation, operation.cursor)
        stored = self._db.run("cursor", place).get or 0
        if stored != operation.before:
            raise StalePlanError(
                f"the cursor {operation.cursor!r} of {operation.conversation!r} is at {stored}, not {operation.before}"
            )
        self._db.run("put_cursor", (*place, operation.after))
        self._failpoint("apply.advance")
        payload = [operation.conversation, operation.cursor, operation.before, operation.after]
        self._record(operation, "advance", payload)

    def _set_title(self, operation: SetTitle) -> None:
        check(operation)
        place = (self.token, operation.conversation)
        found = self._db.run("title", place).fetchone()
        if found is None:
            raise StalePlanError(f"the conversation {operation.conversation!r} is gone")
        if found[0] != operation.before:
            raise StalePlanError(f"the title of {operation.conversation!r} was changed since this was planned")
        self._db.run("put_title", (operation.after, *place))
        self._failpoint("apply.title")
        self._record(operation, "title", [operation.conversation, operation.before, operation.after])

    def _suppress(self, operation: Suppress) -> None:
        check(operation)
        self._held[operation.key] = operation.on
        self._failpoint("apply.hold")
        self._record(operation, "hold", [operation.key, operation.on])

    def _reject_fact(self, operation: RejectFact) -> None:
        check(operation)
        self._record(operation, "refuse", [operation.text, operation.quote, operation.reason])

    # ---- destroying

    def destroy(self) -> None:
        """Perform the collected erasures."""
        if not self._erasures:
            return
        self.flush()
        self._write_journal()  # the eraser must also find the rows of this group
        self._ahead.clear()
        self._last_seq = {}
        for operation in self._eraser.erased(self._erasures):
            kept = replace(
                operation, conversation=None, words=(), scope=False
            )  # the journal may not contain the erased words
            self._record(kept, "erase", None, operation.memory or None)
        self._erasures.clear()
        self._failpoint("apply.erase")

    _PERFORM: ClassVar[dict[type, Callable[..., None]]] = {
        Change: _change,
        Use: _use,
        Link: _link,
        MoveCursor: _move_cursor,
        SetTitle: _set_title,
        Suppress: _suppress,
        RejectFact: _reject_fact,
    }
