"""Reads of a store that need no search index: rows by id or by condition, and the state of a scope."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, cast

from slowwave.errors import CorruptError
from slowwave.model.codec import COLUMNS, Row, data_and_metadata, dumps, from_micros, from_row, to_micros
from slowwave.model.index_entry import IndexEntry, name_and_width
from slowwave.model.memory import MESSAGE, UNRECONCILED, Memory
from slowwave.model.pass_record import LONGEST_WAIT, PassRecord
from slowwave.model.progress import DISTIL_CURSOR, RELEASED
from slowwave.model.query import Where
from slowwave.model.scope import PATH_BYTES, Scope, names_of
from slowwave.model.status import (
    OPENING,
    Conversation,
    ConversationState,
    DecayClass,
    FadingFact,
    LinkRow,
    opening_words,
)
from slowwave.stores.connection import Asked, Composed, StoreBase
from slowwave.stores.rows import ADVICE, MEMORY_COLUMNS, checked, entry_of, last_place, memory_of
from slowwave.stores.shown import Shown
from slowwave.stores.sql import bounds
from slowwave.stores.where_clause import COLUMN_LIST, PLACES, selected

if TYPE_CHECKING:
    from slowwave.model.fleet import Backlog
    from slowwave.ports import Store

RETRY_SECONDS: Final = 15 * 60
"""A scope with a fact that waits for a mind is due again this many seconds after its last sleep pass."""
_LONGEST_WAIT: Final = LONGEST_WAIT // timedelta(microseconds=1)
_LAST: Final = 2**62
"""Later than every time, in microseconds."""
LAST_CHARACTER: Final = "\U0010ffff"
"""Sorts after every other character, by code points and by the bytes of UTF-8."""
_LAST_PATH: Final = LAST_CHARACTER * (PATH_BYTES // 4 + 1)
"""Greater than every path: the last character of Unicode, once more than fits in a path."""
PAGE: Final = 500
"""Rows that are read at once where a filter decides how many are needed."""
FOLDER = COLUMNS.index("conversation")
_CLASSES_CACHED = 16
"""The number of scopes whose decay classes are cached."""


class Reader(StoreBase):
    """Reads that need no search index."""

    def shown(self) -> "Store":
        """This store as a reader sees it who may not review."""
        return cast("Store", Shown(cast("Store", self)))

    def whole(self) -> "Store":
        """This store."""
        return cast("Store", self)

    def get(self, scopes: Sequence[str], ids: Iterable[str]) -> list[Memory]:
        """The memories with these ids, in the order of the ids; unknown ids are skipped."""
        wanted = list(ids)
        found: dict[str, Memory] = {}
        if not wanted:
            return []
        with self._guard:
            for scope, token in self._readable(scopes):
                if len(wanted) == 1:
                    rows = self._all("memory", (token, wanted[0]))
                else:
                    rows = self._all("memories", (token, dumps(wanted)))
                for row in rows:
                    found.setdefault(row[0], memory_of(scope, row))
        return [found[identity] for identity in wanted if identity in found]

    def short_ids(self, scopes: Sequence[str], part: str, limit: int) -> list[str]:
        """The ids of memories that begin so, in order; if there are none, those that end so."""
        return self._short_ids("memory_ids", scopes, part, limit)

    def short_run_ids(self, scope: str, part: str, limit: int) -> list[str]:
        """The ids of runs that begin so, in order; if there are none, those that end so."""
        return self._short_ids("run_ids", [scope], part, limit)

    def _short_ids(self, what: str, scopes: Sequence[str], part: str, limit: int) -> list[str]:
        with self._guard:
            tokens = [token for _, token in self._readable(scopes)]
            values: list[Any] = [(token, part, part + LAST_CHARACTER, limit) for token in tokens]
            rows = [row for one in values for row in self._all(f"{what}_with_prefix", one)]
            if not rows:  # a person names few ids, so that all of a scope may be compared
                values = [{"scope": token, "ending": part, "limit": limit} for token in tokens]
                rows = [row for one in values for row in self._all(f"{what}_with_ending", one)]
        return [row[0] for row in rows][:limit]

    def select(self, scopes: Sequence[str], where: Where) -> list[Memory]:
        """The memories that match."""
        memories: list[Memory] = []
        with self._guard:
            for scope, token in self._readable(scopes):
                memories += [from_row(scope, row) for row in self._matching(scope, token, where)]
        if where.after_seq is not None and any(memory.seq <= where.after_seq for memory in memories):
            # A loop that reads a conversation page by page would not end.
            raise CorruptError(f"the order of a conversation {ADVICE}")
        return memories if where.limit is None else memories[: where.limit]

    def pages(self, scope: str, where: Where) -> Iterator[list[Memory]]:
        """The memories that match, in pages, each from one committed state. The order is one of PLACES."""
        passes = where.passes
        for rows in self._pages(scope, replace(where, limit=PAGE)):
            with self._guard:
                found = map(checked, rows)
                page = [from_row(scope, row) for row in found if passes is None or passes(*data_and_metadata(row))]
            yield page

    def select_each(self, scope: str, selections: Sequence[Where]) -> list[list[Memory]]:
        """The memories that match each selection. Postgres reads them in one round trip, from one committed state."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return [[] for _ in selections]
            if any(where.passes is not None for where in selections):
                return [[from_row(scope, row) for row in self._matching(scope, token, where)] for where in selections]
            asked = [Composed(*selected(where, token, self._db.dialect)) for where in selections]
            return [[memory_of(scope, row) for row in rows] for rows in self._together(asked)]

    def folders(self, scope: str, where: Where) -> list[str]:
        """The folders of notes that match, in code point order; `limit` and `after_name` count and name folders."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return []
            where = replace(where, order="folder")
            if where.passes is None:
                statement = selected(where, token, self._db.dialect, "DISTINCT conversation")
                return [row[0] for row in self._db.execute(*statement).fetchall()]
            notes = self._matching(scope, token, replace(where, limit=None))
            return list(islice(dict.fromkeys(str(row[FOLDER]) for row in notes), where.limit))

    def _matching(self, scope: str, token: int, where: Where) -> Iterator[Row]:
        """The checked rows that match. With a filter they are read in pages, where the order has a cursor."""
        if where.passes is None:
            yield from map(checked, self._db.execute(*selected(where, token, self._db.dialect)).fetchall())
            return
        if where.limit is None or where.order not in PLACES:
            every = replace(where, offset=0, limit=None)
            rows: Iterable[Row] = self._db.execute(*selected(every, token, self._db.dialect)).fetchall()
        else:
            rows = chain.from_iterable(self._pages(scope, replace(where, offset=0, limit=PAGE)))
        passing = (row for row in map(checked, rows) if where.passes(*data_and_metadata(row)))
        yield from islice(passing, where.offset, where.limit and where.offset + where.limit)

    def _pages(self, scope: str, where: Where) -> Iterator[list[Row]]:
        """The rows that match, `where.limit` at a time; each page begins after the place of the last row.

        Raises:
            CorruptError: for places that do not increase: in a damaged table there would be no last page.
        """
        columns, descending = f"{COLUMN_LIST}, {', '.join(PLACES[where.order])}", where.order[0] == "-"
        rows: list[Row] = []
        last: tuple[Any, ...] = ()
        while not last or len(rows) == where.limit:
            with self._guard:
                token = self._tokens.scope(scope)
                if token is None:
                    return
                rows = self._db.execute(
                    *selected(where, token, self._db.dialect, columns, place_of_last=last)
                ).fetchall()
            if not rows:
                return
            places = [tuple(row[len(MEMORY_COLUMNS) :]) for row in rows]
            last = last_place([last, *places] if last else places, descending=descending)
            yield rows

    def count(self, scope: str) -> dict[tuple[str, str], int]:
        """How many memories there are, by kind and phase. A cascade summary counts as kind "cascade"."""
        counts: Counter[tuple[str, str]] = Counter()
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return {}
            # Each statement reads an index only, or the few rows that it is about.
            names = ("count_facts", "count_cascades", "count_messages", "count_messages_off")
            facts, cascades, ((messages,),), messages_off = self._together([(name, (token,)) for name in names])
            for kind, phase, number in facts:
                counts[kind, phase] = number
            for kind, phase, number in cascades:
                counts["cascade", phase] = number
                counts[kind, phase] -= number
            counts[MESSAGE, "active"] = messages
            for phase, number in messages_off:
                counts[MESSAGE, phase] = number
                counts[MESSAGE, "active"] -= number
        return dict(+counts)

    def due(self, scope: str, now: datetime) -> int:
        """How many facts have their `due_at` at or before now. One index read when none has."""
        with self._guard:
            token = self._tokens.scope(scope)
            return 0 if token is None else int(self._one("due", (token, to_micros(now)))[0])

    def decay_classes(self, scope: str) -> list[DecayClass]:
        """All decay classes: hot facts with equal pace and number of uses. A few index steps a class, cached until a commit."""
        with self._guard:
            state = self._state()
            since, known = self._lanes
            if state is None or state != since or len(known) > _CLASSES_CACHED:
                known = {}
            if scope not in known:
                token = self._tokens.scope(scope)
                rows = [] if token is None else self._all("lanes", {"scope": token})
                known[scope] = [DecayClass(row[0], row[1], row[2] and from_micros(row[2])) for row in rows]
                self._lanes = (state, known)
            return known[scope]

    def facts_in_class(self, scope: str, pace: int, accesses: int, limit: int) -> list[tuple[str, datetime, float]]:
        """(id, last use or recording, confidence) of the facts of a class, ordered by time and confidence descending, id."""
        with self._guard:
            token = self._tokens.scope(scope)
            rows = [] if token is None else self._all("lane", (token, pace, accesses, limit))
            return [(row[0], from_micros(row[1]), row[2]) for row in rows]

    def fading_facts(self, scope: str, lane: tuple[int, int], until: datetime, limit: int) -> list[FadingFact]:
        """Active, unpinned facts of a decay class that were last used or recorded by `until`, the weakest first."""
        with self._guard:
            token = self._tokens.scope(scope)
            rows = [] if token is None else self._all("faint", (token, *lane, to_micros(until), limit))
        return [FadingFact(*row) for row in rows]

    def cold_faded_facts(self, scope: str, sort: tuple[str, str], embedder: str, limit: int) -> list[FadingFact]:
        """The newest unpinned facts of one kind and category that are cold because they faded, with their vectors.

        Facts without a vector of this embedder are skipped.
        """
        with self._guard:
            token = self._tokens.scope(scope)
            space = None if token is None else self._space(token, embedder)
            rows = [] if space is None else self._all("gone_faint", (token, *sort, limit, space))
        return [FadingFact(*row) for row in rows]

    def facts_without_schedule(self, scope: str, low: int, high: int, limit: int) -> tuple[list[Memory], int]:
        """Hot facts with no pace or one outside low..high (written with another configuration), and their total number."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return [], 0
            values = {"scope": token, "low": low, "high": high}
            rows = self._all("unpaced", {**values, "limit": limit})
            many = self._one("count_unpaced", values)[0] if len(rows) == limit else len(rows)
            return [memory_of(scope, row) for row in rows], many

    def conversations(self, scope: str) -> list[ConversationState]:
        """All conversations, the most recently written first."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return []
            return conversations_of(*self._together([("cursors", (token,)), ("conversations", (token,))]))

    def conversation(self, scope: str, name: str) -> ConversationState | None:
        """One conversation, or None."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return None
            rows, positions = self._together(
                [("conversation", {"scope": token, "name": name}), ("cursors_of", (token, name))]
            )
            if not rows and not positions:
                return None
            cursors: dict[str, int] = dict(positions)
            last_seq, last_at, title = rows[0] if rows else (0, 0, None)
            return ConversationState(
                name=name, last_seq=last_seq, last_at=from_micros(last_at), cursors=cursors, title=title
            )

    def listed_conversations(
        self,
        scope: str,
        limit: int | None = None,
        after: Conversation | str | None = None,
        *,
        now: datetime | None = None,
    ) -> list[Conversation]:
        """A page of the conversations with messages that were not undone, the one with the latest message first.

        The place of a conversation holds the last memory at the time of the first page: later messages move nothing. A
        message that lies more than a day after `now` has the time of the message that was stored before it.
        """
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return []
            low, high = bounds(token)
            snapshot = self._one("last_memory", {"low": low, "high": high})[0] or low
            latest = _LAST if now is None else to_micros(now) + _LONGEST_WAIT
            asked: dict[str, Any] = {
                "scope": token,
                "low": low,
                "latest": latest,
                "snapshot": snapshot,
                "at": None,
                "before": None,
            }
            if isinstance(after, Conversation):
                asked |= {"snapshot": low + after.place[0], "at": after.place[1], "before": low + after.place[2]}
            elif after is not None:
                places = self._all("conversation_places", {**asked, "name": after, "limit": 1})
                if not places:
                    return []
                asked |= dict(zip(("at", "before"), places[0][2:], strict=True))
            snapshot = asked["snapshot"]
            count = -1 if limit is None else limit
            rows = self._all("conversation_places", {**asked, "name": None, "limit": count})
            values = {"scope": token, "names": dumps([name for name, *_ in rows]), "length": OPENING}
            found = self._all("conversation_counts", values)
            counts = {name: numbers for name, *numbers in found}
            unread = self._unread(token)
            return [
                Conversation(
                    name=name,
                    title=title,
                    messages=counts[name][0],
                    unread=unread.get(name, 0),
                    withheld=int(counts[name][1]),
                    first_at=from_micros(counts[name][2]),
                    last_at=from_micros(counts[name][3]),
                    opening=opening_words(counts[name][4] or ""),
                    place=(snapshot - low, at, key - low),
                )
                for name, title, at, key in rows
            ]

    def unread(self, scope: str, conversation: str | None = None) -> dict[str, int]:
        """How many messages are not distilled yet, by conversation; those undone or under review are not counted.

        With `conversation`, only those of this one are counted.
        """
        with self._guard:
            token = self._tokens.scope(scope)
            return {} if token is None else self._unread(token, conversation)

    def _unread(self, token: int, conversation: str | None = None) -> dict[str, int]:
        return unread_counts(*self._together(unread_statements(token, conversation)))

    def links(self, scope: str, ids: Collection[str] | None, kinds: Collection[str] | None = None) -> list[LinkRow]:
        """Links with a weight above 0 that touch any of these memories; with None for ids, all links of the scope."""
        found: dict[tuple[str, str, str], LinkRow] = {}
        with self._guard:
            token = self._tokens.scope(scope)
            asked: list[Asked] = [("every_link", (token,))]
            if ids is not None:
                asked = [("links_of", {"scope": token, "id": identity}) for identity in ids]
            for rows in self._together(asked) if token is not None else ():
                for source, target, kind, weight, at in rows:
                    if weight > 0 and (kinds is None or kind in kinds):
                        found[source, target, kind] = LinkRow(
                            source=source, target=target, kind=kind, weight=weight, at=from_micros(at)
                        )
        return list(found.values())

    def last_run(self, scope: str) -> int:
        """The key of the latest run. Keys only grow."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return 0
            low, high = bounds(token)
            return int(self._one("last_run", (low, low, high))[0])

    def ingests(self, scope: str) -> int:
        """How many runs observed messages or added facts since the state that the last sleep pass has seen."""
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return 0
            low, high = bounds(token)
            return int(self._one("ingests", {"scope": token, "low": low, "high": high})[0])

    def scopes_due(self, now: datetime, limit: int) -> list[str]:
        """Scopes with a due fact, one that waits for a mind, or content or work since the last pass; the oldest pass first."""
        with self._guard:
            self._see_every_scope()
            return [str(row[0]) for row in self._all("scopes_due", {**_due_at(now), "limit": limit})]

    def is_due(self, scope: str, now: datetime) -> bool:
        """Whether `scopes_due` would return this scope."""
        with self._guard:
            token = self._tokens.scope(scope)
            return token is not None and bool(self._all("is_due", {**_due_at(now), "scope": token}))

    def pass_record(self, scope: str) -> PassRecord:
        """How the last sleep passes of a scope ended."""
        with self._guard:
            token = self._tokens.scope(scope)
            row = None if token is None else self._one("pass_record", (token,))
            return PassRecord() if row is None else _pass_record(row)

    def failing_passes(self, least: int, limit: int) -> list[tuple[str, PassRecord]]:
        """The scopes of which at least so many sleep passes failed in a row, those with the most first."""
        with self._guard:
            self._see_every_scope()
            return [(str(path), _pass_record(row)) for path, *row in self._all("failing_passes", (least, limit))]

    def backlog(self, now: datetime) -> "Backlog":
        """How many scopes are due, and since when the oldest of them is."""
        from slowwave.model.fleet import Backlog  # noqa: PLC0415 - only an operator asks

        with self._guard:
            self._see_every_scope()
            number, oldest = self._one("backlog", _due_at(now))
            return Backlog(due=int(number), oldest=from_micros(int(oldest)) if number else None)

    def scope_count(self) -> int:
        """How many scopes the store has."""
        with self._guard:
            self._see_every_scope()
            return int(self._one("scope_count", ())[0])

    def scopes(self, prefix: str, after: str, limit: int) -> list[Scope]:
        """The first scopes at or below a prefix whose path is greater than `after`, in order of path."""
        found: list[Scope] = []
        with self._guard:
            self._see_every_scope()
            for low, high in _at_or_below(prefix):
                values = {"after": after, "low": low, "high": high, "limit": limit - len(found)}
                for path, messages, facts, at in self._all("scopes_page", values) if len(found) < limit else ():
                    written = None if at is None else from_micros(at)
                    scope = Scope(path=path, names=names_of(path), messages=messages, facts=facts, last_written=written)
                    found.append(scope)
        return found

    def scope_of(self, memory: str, prefix: str) -> str | None:
        """The first scope at or below a prefix that has a memory of this id, or None. One index step for each scope."""
        with self._guard:
            self._see_every_scope()
            for low, high in _at_or_below(prefix):
                row = self._one("scope_of_memory", {"id": memory, "low": low, "high": high})
                if row is not None:
                    return str(row[0])
        return None

    def suppressed_keys(self, scope: str, keys: Iterable[str]) -> frozenset[str]:
        """The keys among these that a person's undo has suppressed."""
        with self._guard:
            token, wanted = self._tokens.scope(scope), list(dict.fromkeys(keys))
            rows = self._all("held_among", (token, dumps(wanted))) if token is not None and wanted else []
        return frozenset(str(row[0]) for row in rows)

    def suppressed_beginning(self, scope: str, beginning: str) -> list[str]:
        """The suppressed keys that begin with a text, in order. The text is ASCII."""
        with self._guard:
            token = self._tokens.scope(scope)
            rows = [] if token is None else self._all("held_beginning", (token, beginning, beginning + "\x7f"))
        return [str(row[0]) for row in rows]

    def suppressed_by(self, scope: str, keys: Iterable[str]) -> dict[str, tuple[datetime, str]]:
        """When and by which run each suppressed key among these was suppressed last. It reads all of the scope's journal."""
        held = self.suppressed_keys(scope, keys)
        if not held:
            return {}
        with self._guard:
            low, high = bounds(int(self._tokens.scope(scope) or 0))
            rows = self._all("held_since", {"low": low, "high": high, "keys": dumps(sorted(held))})
            return {str(key): (from_micros(at), str(run)) for key, at, run in rows}

    def entries(self, scope: str, ids: Iterable[str]) -> dict[str, IndexEntry]:
        """The index entries of these memories."""
        with self._guard:
            token = self._tokens.scope(scope)
            rows = [] if token is None else self._all("entries", (token, dumps(list(ids))))
            return {str(row[0]): entry_of(row[1], row[2:-1], row[-1]) for row in rows}

    def vectors(self, scope: str, ids: Iterable[str], embedder: str) -> dict[str, bytes]:
        """The vectors of this embedder for these memories: float32, little-endian. Memories without one are skipped."""
        with self._guard:
            token = self._tokens.scope(scope)
            space = None if token is None else self._space(token, embedder)
            rows = [] if space is None else self._all("vectors", (token, dumps(list(ids)), space))
        return {str(row[0]): bytes(row[1]) for row in rows}

    def other_width(self, scope: str, fingerprint: str) -> int | None:
        """The width of vectors that a scope has of the same embedder but another fingerprint; None without any."""
        name, width = name_and_width(fingerprint)
        with self._guard:
            others = {found: other for found, other in self._tokens.widths(name).items() if other not in {0, width}}
            token = self._tokens.scope(scope) if others else None
            return next((others[one] for one in others if token and self._one("has_vectors_of", (token, one))[0]), None)

    def _space(self, token: int, embedder: str | None) -> int | None:
        """The token of a fingerprint; of a name alone, that of the newest vectors that the scope has of it."""
        if embedder is None or name_and_width(embedder)[1] is not None:
            return self._tokens.embedder(embedder)
        spaces = self._tokens.widths(embedder)
        if len(spaces) < 2:  # noqa: PLR2004 - one is the newest
            return next(iter(spaces), None)
        low, high = bounds(token)
        found = self._one("newest_vectors", {"low": low, "high": high, "spaces": dumps(list(spaces))})[0]
        return max(spaces) if found is None else int(found)

    def unembedded(
        self, scope: str, embedder: str | None, limit: int | None = None, *, gists: bool = False
    ) -> list[Memory]:
        """Memories whose vector is missing or belongs to another embedder, oldest first.

        Without an embedder, memories without an index entry. With `gists`, messages whose trimmed text has no vector of
        the embedder.
        """
        with self._guard:
            token = self._tokens.scope(scope)
            if token is None:
                return []
            full, shortened = self._unembedded(token, embedder, -1 if limit is None else limit)
            return [memory_of(scope, row) for row in self._all(*(shortened if gists else full))]

    def _unembedded(
        self, token: int, embedder: str | None, limit: int
    ) -> tuple[tuple[str, Mapping[str, Any]], tuple[str, Mapping[str, Any]]]:
        """The statements for the memories, and for the shortened texts, that have no vector of an embedder."""
        low, high = bounds(token)
        space = self._space(token, embedder)
        values = {"scope": token, "token": space, "low": low, "high": high, "limit": limit}
        if embedder is None:
            which = "nothing_derived"
        elif space is None:  # the store has no vector of it
            which = "first_memories"
        else:
            which = "without_vector_of" if self._tells_embedders_apart() else "without_vector"
        return (which, values), ("gists_without_vector_of", values)


def conversations_of(positions: Sequence[Any], rows: Sequence[Any]) -> list[ConversationState]:
    """The conversations of these rows, with the positions of their cursors."""
    cursors: dict[str, dict[str, int]] = {}
    for name, cursor, seq in positions:
        cursors.setdefault(name, {})[cursor] = seq
    return [
        ConversationState(name=name, last_seq=seq, last_at=from_micros(at), cursors=cursors.get(name, {}), title=title)
        for name, seq, at, title in rows
    ]


def unread_statements(token: int, conversation: str | None = None) -> list[Asked]:
    """The statements that count unread messages by conversation; `unread_counts` adds their rows up."""
    values = {"scope": token, "cursor": DISTIL_CURSOR, "name": conversation}
    return [
        ("after_cursor", values),
        ("hidden_after_cursor", values),
        ("released_before_cursor", {**values, "released": dumps(RELEASED)}),
    ]


def unread_counts(after: Sequence[Any], hidden: Sequence[Any], released: Sequence[Any]) -> dict[str, int]:
    """The unread messages by conversation: those after the cursor, without hidden ones, and released ones before it."""
    counts = Counter(dict(after))
    counts.subtract(dict(hidden))
    counts.update(dict(released))
    return dict(+counts)


def _at_or_below(prefix: str) -> tuple[tuple[str, str], ...]:
    """The ranges of paths, from a first one to before a last one, that are a path or begin with it and a slash.

    No part contains a character below "!", and "0" follows the slash.
    """
    return ((prefix, f"{prefix}!"), (f"{prefix}/", f"{prefix}0")) if prefix else (("!", _LAST_PATH),)


def _due_at(now: datetime) -> dict[str, Any]:
    """The values by which a statement selects what is due now."""
    at = to_micros(now)
    slept = at - RETRY_SECONDS * 1_000_000
    return {"now": at, "slept": slept, "latest": at + _LONGEST_WAIT, "waits": dumps(UNRECONCILED)}


def _pass_record(row: Sequence[Any]) -> PassRecord:
    ended, failures, next_try, error = row
    return PassRecord(
        ended=None if ended is None else from_micros(ended),
        failures=failures,
        next_try=from_micros(next_try) if failures else None,
        error=error,
    )
