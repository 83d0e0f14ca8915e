"""The graph of the official server-memory as notes: its operations on lists, and the notes that keep the lists.

Each entity and each relation is a note whose data are the object itself. The order of both lists is that in which the notes
were first stored, as in the file of the official server. Its rules are kept to the letter: names are compared as they are,
and two entities of one name that are created in one call are both kept.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from slowwave.agent_memory import AgentMemory
from slowwave.errors import InputError
from slowwave.model.graph import ENTITIES, RELATIONS, entity_text, note_names, relation_text
from slowwave.model.note import Note


class Entity(BaseModel):
    """A node of the graph."""

    name: Annotated[str, Field(description="The name of the entity")]
    entityType: Annotated[str, Field(description="The type of the entity")]  # noqa: N815 - the name in the protocol
    observations: Annotated[list[str], Field(description="An array of observation contents associated with the entity")]

    @property
    def text(self) -> str:
        """The words by which a search finds it."""
        return entity_text(self.name, self.entityType, self.observations)


class Relation(BaseModel):
    """A directed edge of the graph."""

    model_config = ConfigDict(populate_by_name=True)

    start: Annotated[str, Field(alias="from", description="The name of the entity where the relation starts")]
    to: Annotated[str, Field(description="The name of the entity where the relation ends")]
    relationType: Annotated[str, Field(description="The type of the relation")]  # noqa: N815 - the name in the protocol

    @property
    def text(self) -> str:
        """The words by which a search finds it."""
        return relation_text(self.start, self.relationType, self.to)


@dataclass(slots=True)
class Graph:
    """The lists of the official server, each element with the name of its note."""

    entities: dict[str, Entity] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)

    def around(self, entities: Iterable[Entity]) -> "tuple[list[Entity], list[Relation]]":
        """These entities, and the relations that begin or end at one of them."""
        found = list(entities)
        names = {entity.name for entity in found}
        return found, [one for one in self.relations.values() if one.start in names or one.to in names]


class GraphNotes:
    """Reads and writes the graph of one memory. Calls of one object that write follow each other.

    Args:
        lock: shared by all objects that may write the same graph.
    """

    def __init__(self, memory: AgentMemory, lock: Lock) -> None:
        self._memory = memory
        self._lock = lock

    def read(self) -> Graph:
        """The whole graph, in the order in which its parts were created."""
        graph = Graph()
        for note in self._notes(ENTITIES):
            with suppress(ValidationError):  # another writer may have stored any note in the folder
                graph.entities[note.name] = Entity.model_validate(note.data)
        for note in self._notes(RELATIONS):
            with suppress(ValidationError):
                graph.relations[note.name] = Relation.model_validate(note.data)
        return graph

    def create_entities(self, entities: Sequence[Entity]) -> list[Entity]:
        """Store those whose name no entity has, and return them."""
        with self._lock:
            graph = self.read()
            known = {entity.name for entity in graph.entities.values()}
            new = [entity for entity in entities if entity.name not in known]
            _refuse_withheld(self._put(_named(ENTITIES, new, graph.entities)))
        return new

    def create_relations(self, relations: Sequence[Relation]) -> list[Relation]:
        """Store those that do not exist, and return them."""
        with self._lock:
            graph = self.read()
            known = list(graph.relations.values())
            new = [relation for relation in relations if relation not in known]
            _refuse_withheld(self._put(_named(RELATIONS, new, graph.relations)))
        return new

    def add_observations(self, added: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """Add to each named entity the observations that it lacks, and return these by name.

        Raises:
            InputError: there is no entity of a name; nothing is stored.
        """
        results: list[tuple[str, list[str]]] = []
        with self._lock:
            graph = self.read()
            changed: dict[str, Entity] = {}
            for name, contents in added:
                place = _place_of(graph, name)
                if place is None:
                    raise InputError(f"Entity with name {name} not found")
                entity = graph.entities[place]
                new = [content for content in contents if content not in entity.observations]
                entity.observations.extend(new)
                changed[place] = entity
                results.append((name, new))
            _refuse_withheld(self._put([_note(ENTITIES, place, entity) for place, entity in changed.items()]))
        return results

    def delete_entities(self, names: Collection[str]) -> None:
        """Remove all entities of these names, and the relations that begin or end at one of them."""
        with self._lock:
            graph = self.read()
            gone = [_gone(ENTITIES, place) for place, entity in graph.entities.items() if entity.name in names]
            gone += [
                _gone(RELATIONS, place)
                for place, relation in graph.relations.items()
                if relation.start in names or relation.to in names
            ]
            self._put((), remove=gone)

    def delete_observations(self, deletions: Iterable[tuple[str, Collection[str]]]) -> None:
        """Remove observations from the first entity of each name; unknown names are skipped."""
        with self._lock:
            graph = self.read()
            changed: dict[str, Entity] = {}
            for name, observations in deletions:
                if (place := _place_of(graph, name)) is not None:
                    entity = graph.entities[place]
                    entity.observations = [one for one in entity.observations if one not in observations]
                    changed[place] = entity
            self._put([_note(ENTITIES, place, entity) for place, entity in changed.items()])

    def delete_relations(self, relations: Collection[Relation]) -> None:
        """Remove these relations."""
        with self._lock:
            known = self.read().relations.items()
            self._put((), remove=[_gone(RELATIONS, place) for place, relation in known if relation in relations])

    def _notes(self, folder: str) -> list[Note]:
        return sorted(self._memory.notes(folder), key=lambda note: note.id)

    def _put(self, notes: Sequence[Note], *, remove: Sequence[Note] = ()) -> int:
        """Write and remove notes in one run. Returns how many of them wait for review."""
        if not notes and not remove:
            return 0
        receipt = self._memory.put_notes(notes, remove=remove)
        return sum(note.startswith("kept for review") for note in receipt.notes)


def _refuse_withheld(count: int) -> None:
    """Raise InputError if something was withheld: the answers of the official server have no word for it."""
    if count:
        raise InputError(
            f"{count} of these read as instructions to a model: they are kept for a person's review, and not shown until "
            "then; all others are stored"
        )


def _place_of(graph: Graph, name: str) -> str | None:
    """The name of the note of the first entity of a name; None if there is none."""
    return next((place for place, entity in graph.entities.items() if entity.name == name), None)


def _named(folder: str, new: Iterable[Entity | Relation], known: Mapping[str, object]) -> list[Note]:
    """The notes of new elements, under names that no other note has."""
    taken, notes = set(known), []
    for one in new:
        words = one.name if isinstance(one, Entity) else one.text
        wanted = next(name for name in note_names(words) if name not in taken)
        taken.add(wanted)
        notes.append(_note(folder, wanted, one))
    return notes


def _note(folder: str, name: str, one: Entity | Relation) -> Note:
    return Note(name=name, folder=folder, text=one.text, data=one.model_dump(by_alias=True))


def _gone(folder: str, name: str) -> Note:
    return Note(name=name, folder=folder)
