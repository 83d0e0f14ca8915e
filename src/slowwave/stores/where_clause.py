"""Builds the SELECT of a `Where` over the rows of one scope, worded so that each condition can use its index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from slowwave.model.codec import dumps, to_micros
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, NOTE, REJECTED
from slowwave.model.query import Where
from slowwave.stores.rows import MEMORY_COLUMNS
from slowwave.stores.sql import bounds

COLUMN_LIST: Final = ", ".join(MEMORY_COLUMNS)
ROWS_MOST: Final = 2**62
_LIVE: Final = frozenset(HOT)
_PERHAPS_WITHHELD: Final = frozenset({"quarantined", "retracted"})
"""Phases of which some memories are withheld."""
_SHOWN: Final = f"phase <> 'quarantined' AND (phase <> 'retracted' OR coalesce(reason, '') <> '{REJECTED}')"
"""That a row is not withheld, as `model.memory.is_withheld` decides."""
_BELOW: Final = "(conversation = {0} OR (conversation > {0} || '/' AND conversation < {0} || '0'))"
"""A folder and those below it, as a range of the index: "0" is the character after "/"."""
_ORDER: Final = {
    "recorded": "key",
    "newest": "key DESC",
    "seq": "coalesce(seq, span_first){nulls_first}, key",
    "due": "due_at{nulls_first}, key",
    "-recorded": "key DESC",
    "at": "valid_from, key",
    "-at": "valid_from DESC, key DESC",
    "name": "conversation, ref, key",
    "folder": "conversation",
}
PLACES: Final = {
    "recorded": ("key",),
    "-recorded": ("key",),
    "at": ("valid_from", "key"),
    "-at": ("valid_from", "key"),
    "name": ("conversation", "ref", "key"),
}
"""The columns that tell the place of a row in an order; the next page begins after the place of the last row."""
_CONVERSATION_ORDER: Final = {**_ORDER, "newest": "seq DESC", "seq": "seq"}
"""Orders of the messages of one conversation: the index is sorted by seq."""
_SPAN_ORDER: Final = {**_ORDER, "newest": "span_first DESC, key DESC", "seq": "span_first, key"}
"""Orders of the summaries of one conversation: the index is sorted by the beginning of their spans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a backend words what differs between SQLite and Postgres.

    Attributes:
        mark: what begins a numbered placeholder.
        nulls_first: what makes NULL sort first, where it does not by itself.
        contains: whether a text contains another one, for `str.format(text, piece)`.
        key_in_scope: the rows of one scope, which its keys tell, for `str.format`.
        key_parameters: the names in it, of "scope", "low" and "high".
    """

    mark: str
    nulls_first: str
    contains: str
    key_in_scope: str
    key_parameters: tuple[str, ...]


class Parameters:
    """The values of a composed statement, numbered in the order of their first use.

    Args:
        mark: what begins a placeholder: "?" or "$".
        known: values by name; those that are not used are left out.
    """

    def __init__(self, mark: str, known: Mapping[str, object]) -> None:
        self._mark = mark
        self._known = known
        self._used: dict[str, str] = {}

    def place(self, name: str) -> str:
        """The placeholder of a value."""
        if name not in self._used:
            self._used[name] = f"{self._mark}{len(self._used) + 1}"
        return self._used[name]

    @property
    def values(self) -> list[object]:
        """The values that are used, in the order of their placeholders."""
        return [self._known[name] for name in self._used]


def selected(
    where: Where, token: int, dialect: Dialect, columns: str = COLUMN_LIST, *, place_of_last: Sequence[str | int] = ()
) -> tuple[str, list[object]]:
    """The statement that selects from the scope of this token, and its values in order. `passes` is not in it.

    `place_of_last` are the values of PLACES of the row after which a page begins.
    """
    low, high = bounds(token)
    first, last = _span_columns(where)
    conditions = (
        ("conversation = {}", "conversation", where.conversation),
        (f"{first} > {{}}", "after", where.after_seq),
        (f"{last} <= {{}}", "until", where.until_seq),
        ("due_at <= {}", "due", where.due_before and to_micros(where.due_before)),
        (f"flags IS NOT NULL AND {dialect.contains.format('flags', '{}')}", "flag", where.flag and dumps(where.flag)),
        ("content = {}", "content", where.key),
        (dialect.contains.format("folded(text)", "folded({})"), "text", where.text),
        ("ref = {}", "ref", where.ref),
        (_BELOW, "below", where.below or None),
        ("(expires_at IS NULL OR expires_at >= {})", "current", where.current_at and to_micros(where.current_at)),
    )
    lists = _lists(where)
    values = {name: value for _, name, value in conditions}
    values["after_id"] = where.after
    values["after_folder"], values["after_ref"] = where.after_name or (None, None)
    values |= {f"place_{number}": value for number, value in enumerate(place_of_last)}
    values |= {f"{column}_{number}": value for column, some in lists for number, value in enumerate(some)}
    parameters = Parameters(dialect.mark, {"scope": token, "low": low, "high": high, **values})
    place = parameters.place
    keys = {name: place(name) for name in (("scope",) if _indexed(where) else dialect.key_parameters)}
    terms = ["scope = {scope}".format(**keys) if _indexed(where) else dialect.key_in_scope.format(**keys)]
    terms += _index_conditions(where)
    for column, some in lists:
        places = [place(f"{column}_{number}") for number in range(len(some))]
        terms.append(f"{column} IN ({', '.join(places) or 'NULL'})")
    terms += [condition.format(place(name)) for condition, name, value in conditions if value is not None]
    terms += _page(where, parameters)
    if place_of_last:
        places = [place(f"place_{number}") for number in range(len(place_of_last))]
        terms.append(_later(where, ", ".join(places)))
    if not where.withheld and (where.phases is None or where.phases & _PERHAPS_WITHHELD):
        terms.append(_SHOWN)
    if where.pinned is not None:
        terms.append(f"pinned = {int(where.pinned)}")
    order = _orders(where)[where.order].format(nulls_first=dialect.nulls_first)
    limit = "" if where.limit is None and not where.offset else f" LIMIT {_rows(where)} OFFSET {where.offset:d}"
    statement = f"SELECT {columns} FROM memories WHERE {' AND '.join(terms)} ORDER BY {order}{limit}"  # noqa: S608  # constants only
    return statement, parameters.values


def _rows(where: Where) -> int:
    """The most rows to read. Only Postgres has an OFFSET without LIMIT."""
    return ROWS_MOST if where.limit is None else where.limit


def _lists(where: Where) -> list[tuple[str, list[str]]]:
    """The columns of which only some values are selected, and these values."""
    columns = (
        ("kind", where.kinds),
        ("phase", where.phases),
        ("category", where.categories),
        ("trust", where.trusts),
        ("ref", where.refs),
    )
    return [(column, sorted(values)) for column, values in columns if values is not None]


def _page(where: Where, parameters: Parameters) -> list[str]:
    """The condition with which the next page of a listing begins."""
    place = parameters.place
    if where.after_name is not None and where.order == "folder":
        return [f"conversation > {place('after_folder')}"]
    if where.after_name is not None:
        return [f"(conversation, ref) > ({place('after_folder')}, {place('after_ref')})"]
    if where.after is None:
        return []
    columns = ", ".join(PLACES[where.order])
    known = f"SELECT {columns} FROM memories WHERE scope = {place('scope')} AND id = {place('after_id')}"  # noqa: S608  # constants only
    return [_later(where, known)]


def _later(where: Where, place: str) -> str:
    """The condition that a row comes after a place in the order of the selection."""
    return f"({', '.join(PLACES[where.order])}) {'<' if where.order[0] == '-' else '>'} ({place})"


def _span_columns(where: Where) -> tuple[str, str]:
    """The columns of the beginning and end of a memory in its conversation, worded as in its index."""
    if _only_messages(where):
        return "seq", "seq"
    return ("span_first", "span_last") if where.cascade else ("coalesce(seq, span_first)", "coalesce(seq, span_last)")


def _orders(where: Where) -> dict[str, str]:
    if where.conversation is None:
        return _ORDER
    return _CONVERSATION_ORDER if _only_messages(where) else _SPAN_ORDER if where.cascade else _ORDER


def _only_messages(where: Where) -> bool:
    return where.kinds == frozenset({MESSAGE})


def _indexed(where: Where) -> bool:
    """Whether a condition has an index; otherwise the rows of the scope are read in the order of their keys."""
    conditions = (where.conversation, where.due_before, where.flag, where.key, where.ref, where.pinned, where.below)
    only_facts = where.kinds is not None and MESSAGE not in where.kinds
    archived_messages = where.phases is not None and "active" not in where.phases and _only_messages(where)
    return (
        only_facts
        or archived_messages
        or where.with_metadata
        or bool(where.cascade)
        or any(value is not None for value in conditions)
    )


def _index_conditions(where: Where) -> list[str]:
    """The conditions of the partial indexes that fit: messages, notes, facts, cascade summaries, phases."""
    terms = []
    if _only_messages(where):
        terms.append("seq IS NOT NULL")
    elif where.kinds == frozenset({NOTE}):
        terms += ["seq IS NULL", "kind = 'note'"]
    else:
        if where.kinds is not None and MESSAGE not in where.kinds:
            terms.append("seq IS NULL")
        if where.cascade is not None:
            terms.append("span_first IS NOT NULL" if where.cascade else "span_first IS NULL")
    if where.ref is not None and where.kinds is not None and where.kinds <= frozenset(FACT_KINDS):
        terms.append("kind <> 'note'")
    if where.with_metadata:
        terms.append("metadata IS NOT NULL")
    if where.phases is not None:
        if where.phases <= _LIVE:
            terms.append("phase IN ('active', 'core')")
        if "active" not in where.phases:
            terms.append("phase <> 'active'")
    return terms
