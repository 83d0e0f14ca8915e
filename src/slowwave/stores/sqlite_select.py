"""From a Where to one SELECT over the rows of a scope, so that each condition can use its index."""

from slowwave.model.codec import dumps, to_micros
from slowwave.model.memory import HOT, MESSAGE
from slowwave.model.query import Where
from slowwave.stores.rows import MEMORY_COLUMNS

COLUMN_LIST = ", ".join(MEMORY_COLUMNS)
_LIVE = frozenset(HOT)
_ORDER = {
    "recorded": "key",
    "newest": "key DESC",
    "seq": "coalesce(seq, span_first), key",
    "due": "due_at, key",
}
_SEQ_ORDER = {"recorded": "key", "newest": "key DESC", "seq": "seq", "due": "due_at, key"}


def selected(where: Where) -> tuple[str, dict[str, object]]:
    """The statement and its values, but for `:scope`."""
    terms = ["scope = :scope", *_family(where)]
    values: dict[str, object] = {}
    for column, wanted in (("phase", where.phases), ("category", where.categories)):
        if wanted is not None:
            terms.append(_among(column, wanted, values))
    if where.phases is not None:  # in the words of the partial indexes
        terms += ["phase IN ('active', 'core')"] if where.phases <= _LIVE else []
        terms += ["phase <> 'active'"] if "active" not in where.phases else []
    first, last = ("seq", "seq") if _spoken(where) else ("coalesce(seq, span_first)", "coalesce(seq, span_last)")
    for term, name, value in (
        ("conversation = :conversation", "conversation", where.conversation),
        (f"{first} > :after", "after", where.after_seq),
        (f"{last} <= :until", "until", where.until_seq),
        ("due_at <= :due", "due", where.due_before and to_micros(where.due_before)),
        ("flags IS NOT NULL AND instr(flags, :flag)", "flag", where.flag and dumps(where.flag)),
        ("content = :content", "content", where.key),
        ("instr(folded(text), folded(:text))", "text", where.text),
        ("ref = :ref", "ref", where.ref),
    ):
        if value is not None:
            terms.append(term)
            values[name] = value
    if where.pinned is not None:
        terms.append(f"pinned = {int(where.pinned)}")
    order = (_SEQ_ORDER if _spoken(where) else _ORDER)[where.order]
    limit = "" if where.limit is None else f" LIMIT {where.limit:d}"
    return f"SELECT {COLUMN_LIST} FROM memories WHERE {' AND '.join(terms)} ORDER BY {order}{limit}", values  # noqa: S608  # constants only


def _spoken(where: Where) -> bool:
    return where.kinds == {MESSAGE}


def _family(where: Where) -> list[str]:
    """Messages, facts, cascade summaries: each has its partial indexes."""
    if _spoken(where):
        return ["seq IS NOT NULL"]
    terms = [] if where.kinds is None else [f"kind IN ({', '.join(repr(kind) for kind in sorted(where.kinds))})"]
    if where.kinds is not None and MESSAGE not in where.kinds:
        terms.append("seq IS NULL")
    if where.cascade is not None:
        terms.append("span_first IS NOT NULL" if where.cascade else "span_first IS NULL")
    return terms


def _among(column: str, wanted: frozenset[str], values: dict[str, object]) -> str:
    names = [f"{column}_{place}" for place in range(len(wanted))]
    values.update(zip(names, sorted(wanted), strict=True))
    return f"{column} IN ({', '.join(':' + name for name in names)})"
