"""From a Where to one SELECT over the rows of a scope, so that each condition can use its index."""

from slowwave.model.codec import dumps, to_micros
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, NOTE
from slowwave.model.query import Where
from slowwave.stores.rows import MEMORY_COLUMNS

COLUMN_LIST = ", ".join(MEMORY_COLUMNS)
_LIVE = frozenset(HOT)
_BELOW = "(conversation = :below OR (conversation > :below || '/' AND conversation < :below || '0'))"
"""A folder and those below it, as a range of the index: "0" is the character after "/"."""
_ORDER = {
    "recorded": "key",
    "newest": "key DESC",
    "seq": "coalesce(seq, span_first), key",
    "due": "due_at, key",
    "-recorded": "key DESC",
    "at": "valid_from, key",
    "-at": "valid_from DESC, key DESC",
    "name": "conversation, ref, key",
}
_BY_TIME = frozenset({"at", "-at"})
_TALK_ORDER = {**_ORDER, "newest": "seq DESC", "seq": "seq"}
"""Within one conversation, where an index is sorted by seq."""
_SPAN_ORDER = {**_ORDER, "newest": "span_first DESC, key DESC", "seq": "span_first, key"}
"""The same for its summaries, by where their spans begin."""


def selected(where: Where) -> tuple[str, dict[str, object]]:
    """The statement and its values, but for `:scope`, `:low` and `:high`, the scope's token and bounds."""
    values: dict[str, object] = {}
    terms = ["scope = :scope" if _indexed(where) else "key BETWEEN :low AND :high", *_family(where)]
    for column, wanted in (
        ("kind", where.kinds),
        ("phase", where.phases),
        ("category", where.categories),
        ("trust", where.trusts),
        ("ref", where.refs),
    ):
        if wanted is not None:
            terms.append(_among(column, wanted, values))
    if where.phases is not None:  # in the words of the partial indexes
        terms += ["phase IN ('active', 'core')"] if where.phases <= _LIVE else []
        terms += ["phase <> 'active'"] if "active" not in where.phases else []
    terms += _page(where, values)
    first, last = _places(where)
    for term, name, value in (
        ("conversation = :conversation", "conversation", where.conversation),
        (f"{first} > :after", "after", where.after_seq),
        (f"{last} <= :until", "until", where.until_seq),
        ("due_at <= :due", "due", where.due_before and to_micros(where.due_before)),
        ("flags IS NOT NULL AND instr(flags, :flag)", "flag", where.flag and dumps(where.flag)),
        ("content = :content", "content", where.key),
        ("instr(folded(text), folded(:text))", "text", where.text),
        ("ref = :ref", "ref", where.ref),
        (_BELOW, "below", where.below or None),
    ):
        if value is not None:
            terms.append(term)
            values[name] = value
    if where.ref is not None and where.kinds is not None and where.kinds <= frozenset(FACT_KINDS):
        terms.append("kind <> 'note'")  # in the words of the index of the ids of facts
    if where.with_metadata:
        terms.append("metadata IS NOT NULL")
    if where.pinned is not None:
        terms.append(f"pinned = {int(where.pinned)}")
    order = _orders(where)[where.order]
    limit = "" if where.limit is None else f" LIMIT {where.limit:d}"
    return f"SELECT {COLUMN_LIST} FROM memories WHERE {' AND '.join(terms)} ORDER BY {order}{limit}", values  # noqa: S608  # constants only


def _page(where: Where, values: dict[str, object]) -> list[str]:
    """The condition with which the next page of a listing begins."""
    if where.after_name is not None:
        values["after_folder"], values["after_ref"] = where.after_name
        return ["(conversation, ref) > (:after_folder, :after_ref)"]
    if where.after is None:
        return []
    values["after_id"] = where.after
    columns = "(valid_from, key)" if where.order in _BY_TIME else "key"
    place = f"(SELECT {columns.strip('()')} FROM memories WHERE scope = :scope AND id = :after_id)"  # noqa: S608  # constants only
    return [f"{columns} {'<' if where.order[0] == '-' else '>'} {place}"]


def _places(where: Where) -> tuple[str, str]:
    """Where in its conversation a memory begins and ends, in the words of its index."""
    if _spoken(where):
        return "seq", "seq"
    return ("span_first", "span_last") if where.cascade else ("coalesce(seq, span_first)", "coalesce(seq, span_last)")


def _orders(where: Where) -> dict[str, str]:
    if where.conversation is None:
        return _ORDER
    return _TALK_ORDER if _spoken(where) else _SPAN_ORDER if where.cascade else _ORDER


def _spoken(where: Where) -> bool:
    return where.kinds == frozenset({MESSAGE})


def _indexed(where: Where) -> bool:
    """Whether a condition has its index; else the scope's rows are read in the order they lie in."""
    told = (where.conversation, where.due_before, where.flag, where.key, where.ref, where.pinned, where.below)
    facts_only = where.kinds is not None and MESSAGE not in where.kinds
    put_away = where.phases is not None and "active" not in where.phases and _spoken(where)
    return facts_only or put_away or where.with_metadata or bool(where.cascade) or any(one is not None for one in told)


def _family(where: Where) -> list[str]:
    """Messages, facts, cascade summaries: each has its partial indexes."""
    if _spoken(where):
        return ["seq IS NOT NULL"]
    if where.kinds == frozenset({NOTE}):
        return ["seq IS NULL", "kind = 'note'"]
    terms = ["seq IS NULL"] if where.kinds is not None and MESSAGE not in where.kinds else []
    if where.cascade is not None:
        terms.append("span_first IS NOT NULL" if where.cascade else "span_first IS NULL")
    return terms


def _among(column: str, wanted: frozenset[str], values: dict[str, object]) -> str:
    names = [f"{column}_{place}" for place in range(len(wanted))]
    values.update(zip(names, sorted(wanted), strict=True))
    return f"{column} IN ({', '.join(':' + name for name in names)})"
