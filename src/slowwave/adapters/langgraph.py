"""LangGraph's long-term memory: `SlowwaveStore`, a BaseStore whose items are notes of a memory.

Pass it to `graph.compile(store=SlowwaveStore(memory))`. docs/adapters/langgraph.md has a complete program.
"""

import asyncio
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from itertools import takewhile
from typing import Any, Final, Literal, TypeAlias

from slowwave import Add, AgentMemory, InputError, Memory, Note, ReadOnlyError, TrustError, VersionError
from slowwave.adapters import missing

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise missing(__name__, error) from error

Namespace: TypeAlias = tuple[str, ...]

FOLDER_LONGEST: Final = 512
"""Characters of a folder of notes."""
PUTS_MOST: Final = 5000
"""Notes in one transaction."""
RANKED_LEAST: Final = 20
"""Hits of a search at least, so that small pages of one question are pages of the same ranking."""
TTL_MOST: Final = 1_000_000_000
"""Minutes: 1,900 years, so that every end is a date."""
REFRESHED_AFTER: Final = 0.05
"""The share of its time to live after which a read item gets a new end, so that not every read is a write."""
UNINDEXED: Final = " "
"""The text of a note that no search finds."""
WHOLE: Final = frozenset({"$", ""})
"""Paths of the whole value."""
MARKS: Final = "langgraph"
"""The name in a note's metadata under which this module keeps the time to live and the time of the last put."""

_FILTER_KEY: Final = re.compile(r"[\w .:/@+-]+")


class SlowwaveStore(BaseStore):
    """A LangGraph store in a Slowwave memory: the key is a note's name, the value its data, the namespace its folder.

    Every put and delete is journaled and can be undone. Searches are Slowwave's: by words, and by meaning if the memory
    has an embedder. `SearchItem.score` orders the items of one search; it is no cosine. Threads and tasks may share one object.

    Args:
        memory: the memory that holds the items; it stays open. No namespace reaches outside of its scope.
        index: LangGraph's configuration. `fields` names the paths to search by; without it, all texts of a value. `embed`
            and `dims` are not used: the vectors come from the embedder of the memory.
        ttl: LangGraph's configuration: `default_ttl` in minutes, and `refresh_on_read`. Items that have expired are never
            returned, and a sleep pass archives them: `sweep_interval_minutes` and `omit_expired` are not used.
        folder: the folder of notes below which all namespaces are, apart from the notes of other programs.
        trust: how far the items are trusted in contexts: "assistant" by default, because a model decides what an agent
            stores. A value below "user" that reads as an order to the model is kept for review, and the put raises
            TrustError. Pass "user" for values that only your own code states, such as prompts.

    Raises:
        InputError: the memory is not an AgentMemory, or `folder` or `trust` is invalid.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AgentMemory,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        folder: str = "langgraph",
        trust: Literal["user", "assistant", "tool", "web"] = "assistant",
    ) -> None:
        if not isinstance(memory, AgentMemory):
            raise InputError(f"memory is of type {type(memory).__name__}: pass an AgentMemory")
        if not isinstance(folder, str) or not folder or len(folder) > FOLDER_LONGEST // 2:
            raise InputError(f"folder={folder!r}: use the name of a folder of 1 to {FOLDER_LONGEST // 2} characters")
        if index and "embed" in index:
            unused = "index['embed'] is not used: the vectors come from the embedder of the memory (AgentMemory.open)"
            warnings.warn(unused, stacklevel=2)
        self.index_config = index
        self.ttl_config = ttl
        self._memory = memory.trusting(trust)
        self._fields = (index or {}).get("fields") or ["$"]
        self._root = folder

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations. Reads see the state before the puts of the batch; of several puts of a key the last counts.

        The puts and deletes are one transaction, if they are at most 5,000.

        Raises:
            InvalidNamespaceError: a namespace is invalid or too long; nothing is written.
            ValueError: a filter, a time to live, a key or a value is invalid; nothing is written.
            TrustError: a value was kept for review; the other values are stored.
        """
        asked = list(ops)
        for op in asked:
            self._check(op)
        puts = {(tuple(op.namespace), op.key): op for op in asked if isinstance(op, PutOp)}
        results = [self._read(op) for op in asked]
        self._write(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` on a thread of its own."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _check(self, op: Op) -> None:
        """Raise if an operation cannot be carried out, before anything is written."""
        validate_op_namespace(op)
        match op:
            case GetOp():
                self._folder(op.namespace)
            case PutOp():
                self._folder(op.namespace)
                _check_put(op)
            case SearchOp():
                self._folder(op.namespace_prefix)
                _check_page(op.limit, op.offset)
                for key, wanted in (op.filter or {}).items():
                    _check_filter(key, wanted)
            case ListNamespacesOp():
                _check_page(op.limit, op.offset)
            case _:
                raise InputError(f"{type(op).__name__} is not an operation of a store")

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                note = self._memory.read_note(op.key, folder=self._folder(op.namespace))
                if note is None or not isinstance(note.data, dict):
                    return None
                if op.refresh_ttl:
                    self._refresh(note)
                return Item(**self._fields_of(note))
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._list_namespaces(op)
            case _:
                return None

    def _write(self, puts: list[PutOp]) -> None:
        """Store and remove the notes of these operations, of which each names another key."""
        notes = [self._note(op) for op in puts]
        withheld: list[Memory] = []
        for start in range(0, len(notes), PUTS_MOST):
            part = notes[start : start + PUTS_MOST]
            kept = [note for note in part if note.data is not None]
            receipt = self._memory.put_notes(kept, remove=[note for note in part if note.data is None])
            added = (operation.memory for operation in receipt.applied if isinstance(operation, Add))
            withheld += [memory for memory in added if memory.phase == "quarantined"]
        if withheld:
            raise TrustError(
                f"{len(withheld)} of {len(puts)} values read as orders to a model and wait for review, the first with the "
                f"id {withheld[0].id} ({withheld[0].reason}); all others are stored. Accept it with `release` of the memory, "
                "or pass trust='user' to a store of values that only your own code states"
            )

    def _note(self, op: PutOp) -> Note:
        """The note to store, or without data the one to remove."""
        folder = self._folder(op.namespace)
        if op.value is None:
            return Note(name=op.key, folder=folder)
        value, marks, expires_at = dict(op.value), dict[str, Any](), None
        if op.ttl is not None:
            now = self._memory.now()
            marks, expires_at = {MARKS: {"ttl": op.ttl, "put": now.isoformat()}}, now + timedelta(minutes=op.ttl)
        words = self._words(op, value)
        return Note(name=op.key, folder=folder, text=words, data=value, metadata=marks, expires_at=expires_at)

    def _words(self, op: PutOp, value: dict[str, Any]) -> str:
        """The text to search by: "" for all texts of the value, white space for none."""
        paths = self._fields if op.index is None else op.index or []
        if not WHOLE.isdisjoint(paths):
            return ""
        found = [text for path in paths for text in get_text_at_path(value, tokenize_path(path))]
        return "\n".join(filter(str.strip, found)) or UNINDEXED

    def _refresh(self, item: Note) -> None:
        """Begin the time to live of an item again. A change by another writer since it was read comes first."""
        marks = item.metadata.get(MARKS)
        if not isinstance(marks, Mapping) or item.expires_at is None:
            return
        whole = timedelta(minutes=_number(marks.get("ttl")) or 0.0)
        end = self._memory.now() + whole
        if end - item.expires_at < REFRESHED_AFTER * whole:
            return
        note = item if item.version else self._memory.read_note(item.name, folder=item.folder)  # hits have no version
        if note is None:
            return
        try:
            self._memory.note(
                note.name,
                note.text,
                folder=note.folder,
                data=note.data,
                metadata=note.metadata,
                expires_at=end,
                if_version=note.version,
            )
        except (VersionError, TrustError, ReadOnlyError):
            return  # a read succeeds also where its item may not be written

    def _search(self, op: SearchOp) -> list[SearchItem]:
        folder, most = self._folder(op.namespace_prefix), op.offset + op.limit
        found: list[tuple[Note, float | None]] = []
        if op.query and op.query.strip():
            top_k = max(RANKED_LEAST, most)
            hits = self._memory.search(op.query, top_k=top_k, kinds=["note"], folder=folder, where=_passing(op))
            found = [(_note_of(hit.memory), hit.score) for hit in hits[:most]]
            if len(found) < most:
                known = {(note.folder, note.name) for note, _ in found}
                items = self._memory.notes(folder, below=True, where=_passing(op), limit=most)
                found += [(note, None) for note in items if (note.folder, note.name) not in known]
            found = found[op.offset : most]
        else:
            page = self._memory.notes(folder, below=True, where=_passing(op), offset=op.offset, limit=op.limit)
            found = [(note, None) for note in page]
        if op.refresh_ttl:
            for note, _ in found:
                self._refresh(note)
        return [SearchItem(**self._fields_of(note), score=score) for note, score in found]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        prefixes = (tuple(one.path) for one in conditions if one.match_type == "prefix")
        longest = max((tuple(takewhile(lambda label: label != "*", path)) for path in prefixes), key=len, default=())
        folders = self._memory.note_folders(self._folder(longest), where=_is_item)
        all_found = {self._namespace(folder) for folder in folders}
        matching = {one[: op.max_depth] for one in all_found if all(_matches(each, one) for each in conditions)}
        return sorted(matching)[op.offset : op.offset + op.limit]

    def _folder(self, namespace: Iterable[str]) -> str:
        """The folder of a namespace. A slash in a label is encoded, so that different namespaces have different folders."""
        folder = "/".join((self._root, *(label.replace("%", "%25").replace("/", "%2F") for label in namespace)))
        if len(folder) > FOLDER_LONGEST:
            raise InvalidNamespaceError(f"a namespace has more than {FOLDER_LONGEST} characters: use shorter labels")
        try:
            folder.encode()
        except UnicodeEncodeError as error:
            raise InvalidNamespaceError("a namespace holds a lone surrogate, which no store keeps") from error
        return folder

    def _namespace(self, folder: str) -> Namespace:
        labels = folder.removeprefix(self._root).split("/")[1:]
        return tuple(label.replace("%2F", "/").replace("%25", "%") for label in labels)

    def _fields_of(self, note: Note) -> dict[str, Any]:
        marks = note.metadata.get(MARKS)
        put = marks.get("put") if isinstance(marks, Mapping) else None
        return {
            "value": note.data,
            "key": note.name,
            "namespace": self._namespace(note.folder),
            "created_at": note.created_at,
            "updated_at": put or note.updated_at,  # a refreshed time to live is no update
        }


def _note_of(memory: Memory) -> Note:
    return Note(
        name=memory.ref or "",
        folder=memory.conversation or "",
        data=memory.data,
        metadata=memory.metadata,
        expires_at=memory.expires_at,
        created_at=memory.recorded_at,
        updated_at=memory.valid_from,
    )


def _is_item(data: object, metadata: object = None) -> bool:
    """Whether a note has the data of an item; notes that were written without data are none."""
    del metadata
    return isinstance(data, dict)


def _passing(op: SearchOp) -> Callable[[Any, Mapping[str, Any]], bool]:
    """Whether a note is an item that passes the filter."""
    wanted = (op.filter or {}).items()
    return lambda data, _: _is_item(data) and all(_passes(_at(data, key), one) for key, one in wanted)


def _check_put(op: PutOp) -> None:
    ttl, index = op.ttl, op.index
    is_number = isinstance(ttl, int | float) and not isinstance(ttl, bool)
    if ttl is not None and not (is_number and 0 < ttl <= TTL_MOST):
        raise InputError(f"ttl={ttl!r}: use minutes above 0 and at most {TTL_MOST:,}, or None for no end")
    if index is not None and index is not False and not isinstance(index, list | tuple):
        raise InputError(f"index={index!r}: use a list of paths such as 'text' and 'tags[*]', False, or None")
    if op.value is not None and not isinstance(op.value, Mapping):
        raise InputError(
            f"a value of type {type(op.value).__name__} is not an item: use a mapping of names to JSON values"
        )


def _check_page(limit: object, offset: object) -> None:
    for name, number in (("limit", limit), ("offset", offset)):
        if not isinstance(number, int) or number < 0:
            raise InputError(f"{name}={number!r}: use a whole number from 0")


def _check_filter(key: object, wanted: object) -> None:
    if not isinstance(key, str) or not _FILTER_KEY.fullmatch(key):
        raise InputError(f"Invalid filter key {key!r}: use the name of a field, or names joined by dots")
    for name in _operators(wanted):
        if name not in _OPERATORS:
            raise InputError(f"filter[{key!r}] has the unknown operator {name!r}: use {', '.join(_OPERATORS)}")


def _operators(wanted: object) -> list[str]:
    """The names of a condition if it has operators, as `{"$gt": 3}`; a value to compare with has none."""
    names = list(wanted) if isinstance(wanted, Mapping) else []
    return names if any(str(name).startswith("$") for name in names) else []


def _at(value: Mapping[str, Any], key: str) -> object:
    """The value of a field: of the name as it is written, else of the path of its parts; None if there is none."""
    if key in value:
        return value[key]
    found: object = value
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _passes(value: object, wanted: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether a field passes, as in LangGraph's InMemoryStore: of an object, the fields that are named must be equal."""
    if names := _operators(wanted):
        return all(_OPERATORS[name](value, wanted[name]) for name in names)
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and all(_passes(value.get(name), one) for name, one in wanted.items())
    if isinstance(wanted, list | tuple):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(_passes, value, wanted))
    return bool(value == wanted)


def _order(value: object, other: object) -> int | None:
    """-1, 0 or 1 for two numbers, or texts of numbers, and for two other texts; None for values without an order."""
    one, two = _number(value), _number(other)
    if one is not None and two is not None:
        return (one > two) - (one < two) if one == one and two == two else None  # noqa: PLR0124 - NaN has no order
    if isinstance(value, str) and isinstance(other, str):
        return (value > other) - (value < other)
    return None


def _number(value: object) -> float | None:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) else None


_OPERATORS: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "$eq": lambda value, other: value == other,
    "$ne": lambda value, other: value != other,
    "$gt": lambda value, other: _order(value, other) == 1,
    "$gte": lambda value, other: _order(value, other) in {0, 1},
    "$lt": lambda value, other: _order(value, other) == -1,
    "$lte": lambda value, other: _order(value, other) in {0, -1},
}


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    """Whether a namespace begins or ends with the labels of a condition, of which "*" is any label."""
    path = tuple(condition.path)
    if condition.match_type not in {"prefix", "suffix"}:
        raise InputError(f"{condition.match_type!r} is not a condition on namespaces: use 'prefix' or 'suffix'")
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return len(namespace) >= len(path) and all(label in {"*", one} for label, one in zip(path, part, strict=True))
