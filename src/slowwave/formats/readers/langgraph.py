"""Items of a LangGraph store, as `Item.dict()`, its platform and its table `store` give them. Each becomes a note."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from slowwave.formats.json_stream import Json
from slowwave.formats.readers.builders import NO_OBJECT, changed_at, first_field, imported_note
from slowwave.formats.readers.timestamps import instant
from slowwave.model.exchange import Item, SkippedItem
from slowwave.model.note import Note

RECORDS_TRIED: Final = 100
"""Items by which a file is recognised: the first ones may be empty or damaged."""
FOLDER: Final = "langgraph"
"""The folder of the notes. The labels of a namespace are the folders below it, as the adapter for LangGraph names them."""
_SPACES: Final = ("namespace", "prefix")


def fits(element: Json) -> bool:
    """Whether a JSON value is an item of a LangGraph store, or an object with a list of them."""
    if not isinstance(element, Mapping):
        return False
    if isinstance(element.get("items"), list):
        return not element["items"] or any(map(fits, element["items"][:RECORDS_TRIED]))
    return "key" in element and "value" in element and any(name in element for name in _SPACES)


def read(element: Json, place: str) -> Iterator[Item]:
    """The notes of one element: an item, or an object with many."""
    if isinstance(element, Mapping) and isinstance(element.get("items"), list):
        for count, item in enumerate(element["items"], 1):
            yield _item(item, f"{place}, item {count}")
    else:
        yield _item(element, place)


def _item(item: Json, where: str) -> Item:
    if not isinstance(item, Mapping):
        return SkippedItem(where=where, why=NO_OBJECT)
    key, value, labels = item.get("key"), _value(item.get("value")), _labels(item)
    if not isinstance(key, str) or not isinstance(value, Mapping) or labels is None:
        return SkippedItem(where=where, why="no item of a LangGraph store: it has no namespace, key and value")
    folder = "/".join((FOLDER, *(label.replace("%", "%25").replace("/", "%2F") for label in labels)))
    changed = changed_at(item)
    note = Note(
        name=key, folder=folder, data=dict(value), expires_at=instant(item.get("expires_at")), updated_at=changed
    )
    return imported_note(note, where)


def _labels(item: Mapping[str, Json]) -> Sequence[str] | None:
    """The labels of the namespace: a list, or a text with dots between them, as the tables hold it."""
    space = first_field(item, _SPACES)
    if isinstance(space, str):
        return space.split(".") if space else []
    if isinstance(space, list) and all(isinstance(label, str) for label in space):
        return space
    return None


def _value(value: Json) -> Json:
    """The value of an item, which SQLite's table holds as a text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
