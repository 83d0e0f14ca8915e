"""The file of the official server-memory: JSON lines with the entities and relations of a graph, which become notes."""

from collections.abc import Mapping
from typing import Final

from slowwave.formats.json_stream import Json
from slowwave.formats.readers.builders import NO_OBJECT, imported_note
from slowwave.model.exchange import ImportedNote, SkippedItem
from slowwave.model.graph import ENTITIES, RELATIONS, entity_text, note_names, relation_text
from slowwave.model.note import Note

_FIELDS: Final = {"entity": ("name", "entityType"), "relation": ("from", "relationType", "to")}


def fits(value: Json) -> bool:
    """Whether a JSON value is an entity or a relation of server-memory, be it a damaged one."""
    sort = value.get("type") if isinstance(value, Mapping) else None
    return isinstance(sort, str) and any(field in value for field in _FIELDS.get(sort, ()))


class GraphReader:
    """Reads the elements of one file. Relations with the same words get different names, in the order of the file."""

    def __init__(self) -> None:
        self._relations: dict[str, Mapping[str, str]] = {}

    def read(self, value: Json, where: str) -> ImportedNote | SkippedItem:
        """The note of an entity or a relation, or the reason why it is skipped."""
        if not isinstance(value, Mapping):
            return SkippedItem(where=where, why=NO_OBJECT)
        if not fits(value):
            return SkippedItem(where=where, why="neither an entity nor a relation of server-memory")
        sort = value["type"]
        fields: dict[str, Json] = {field: value.get(field) for field in _FIELDS[sort]}
        if not all(isinstance(text, str) for text in fields.values()):
            return SkippedItem(where=where, why=f"its {', '.join(fields)} are not all texts")
        return (
            self._relation(fields, where) if sort == "relation" else _entity(fields, value.get("observations"), where)
        )

    def _relation(self, fields: Mapping[str, str], where: str) -> ImportedNote | SkippedItem:
        text = relation_text(fields["from"], fields["relationType"], fields["to"])
        name = next(name for name in note_names(text) if self._relations.setdefault(name, fields) == fields)
        return imported_note(Note(name=name, folder=RELATIONS, text=text, data=dict(fields)), where)


def _entity(fields: Mapping[str, str], observations: Json, where: str) -> ImportedNote | SkippedItem:
    if not isinstance(observations, list) or not all(isinstance(text, str) for text in observations):
        return SkippedItem(where=where, why="its observations are not a list of texts")
    lines = list(dict.fromkeys(observations))
    text = entity_text(fields["name"], fields["entityType"], lines)
    note = Note(
        name=next(note_names(fields["name"])), folder=ENTITIES, text=text, data={**fields, "observations": lines}
    )
    return imported_note(note, where, lines="observations")
