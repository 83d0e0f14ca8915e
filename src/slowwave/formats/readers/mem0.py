"""Mem0: the result of `get_all()` or an export. Each memory becomes a fact with its times; histories are ignored."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from slowwave.formats.json_stream import Json
from slowwave.formats.readers.builders import (
    NO_OBJECT,
    as_label,
    as_mapping,
    changed_at,
    imported_fact,
    simple_metadata,
)
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import ImportedFact, Item, SkippedItem

RECORDS_TRIED = 100
"""Records by which a file is recognised: the first ones may be empty or damaged."""
_LISTS = ("results", "memories")
_OWN = frozenset({"hash", "user_id", "agent_id", "run_id", "app_id", "actor_id"})
_NAMES = ("id", "user_id", "agent_id", "run_id", "app_id")


def fits(element: Json) -> bool:
    """Whether a JSON value is a memory of Mem0, or an object with a list of them."""
    if not isinstance(element, Mapping):
        return False
    inside = _inside(element)
    if inside is not None:
        return not inside or any(map(fits, inside[:RECORDS_TRIED]))
    row = _row(element)
    return _text(row) is not None and bool(_OWN & row.keys())


def read(element: Json, place: str) -> Iterator[Item]:
    """The facts of one element: a memory, or an object with many."""
    inside = _inside(element)
    if inside is None:
        yield _memory(element, place)
        return
    for count, entry in enumerate(inside, 1):
        yield _memory(entry, f"memory {count}")
    if element.get("relations"):
        yield SkippedItem(where="relations", why="a graph of entities: only memories are imported")


def _inside(element: Json) -> list[Json] | None:
    if not isinstance(element, Mapping):
        return None
    return next((element[name] for name in _LISTS if isinstance(element.get(name), list)), None)


def _memory(element: Json, where: str) -> Item:
    if not isinstance(element, Mapping):
        return SkippedItem(where=where, why=NO_OBJECT)
    row = _row(element)
    extra = as_mapping(row.get("metadata"))
    categories = row.get("categories")
    categories = categories if isinstance(categories, list) else [extra.get("category")]
    metadata = simple_metadata(extra) | {f"mem0_{name}": value for name in _NAMES if (value := as_label(row.get(name)))}
    fact = imported_fact(
        _text(row),
        where=where,
        category=as_label(next(iter(categories), None)),
        subject=as_label(row.get("user_id")),
        valid_from=changed_at(row),
        expires_at=instant(row.get("expiration_date")),
        metadata=metadata,
        trust="user" if as_label(row.get("user_id")) and row.get("role", "user") == "user" else "import",
    )
    return replace(fact, user=as_label(row.get("user_id"))) if isinstance(fact, ImportedFact) else fact


def _row(element: Mapping[str, Json]) -> Mapping[str, Json]:
    """The fields of the memory, which a point of its vector store has as payload."""
    payload = element.get("payload")
    return {"id": element.get("id"), **payload} if isinstance(payload, Mapping) else element


def _text(row: Mapping[str, Json]) -> str | None:
    text = row.get("memory", row.get("data"))
    return text if isinstance(text, str) else None
