"""The profile `graph`: the nine tools of the official server-memory, with its names, descriptions and answers.

A user of that server changes one line of configuration, and gains undo, history and a store that survives a crash. The
tools follow `@modelcontextprotocol/server-memory` 2026.8.31, which names itself "memory-server" 0.6.3.
"""

import json
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Annotated, Any, Final

from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from slowwave.server.mcp.graph_notes import Entity, GraphNotes, Relation
from slowwave.server.mcp.problems import as_tool_errors
from slowwave.server.mcp.protocol import MemoryServer
from slowwave.server.mcp.tools import OpenMemory

NAME: Final = "memory-server"
VERSION: Final = "0.6.3"
"""What the official server answers."""

READS: Final = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
REMOVES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


class ObservationsToAdd(BaseModel):
    """New observations of one entity."""

    entityName: Annotated[str, Field(description="The name of the entity to add the observations to")]  # noqa: N815 - as there
    contents: Annotated[list[str], Field(description="An array of observation contents to add")]


class ObservationsToDelete(BaseModel):
    """Observations of one entity to delete."""

    entityName: Annotated[str, Field(description="The name of the entity containing the observations")]  # noqa: N815 - as there
    observations: Annotated[list[str], Field(description="An array of observations to delete")]


class Entities(BaseModel):
    """The answer of `create_entities`."""

    entities: list[Entity]


class Relations(BaseModel):
    """The answer of `create_relations`."""

    relations: list[Relation]


class KnowledgeGraph(BaseModel):
    """The answer of the tools that read."""

    entities: list[Entity]
    relations: list[Relation]


class AddedObservations(BaseModel):
    """The observations that were added to one entity."""

    entityName: str  # noqa: N815 - as there
    addedObservations: list[str]  # noqa: N815 - as there


class Results(BaseModel):
    """The answer of `add_observations`."""

    results: list[AddedObservations]


class Success(BaseModel):
    """The answer of the tools that delete."""

    success: bool
    message: str


def build_graph_server(memory: OpenMemory, memory_to_write: OpenMemory, *, read_only: bool) -> MemoryServer:
    """The server of the profile `graph`.

    Args:
        memory: gives the memory of a request that reads.
        memory_to_write: gives the memory of a request that writes, or refuses it.
        read_only: leave out the tools that write.
    """
    server = MemoryServer(NAME, version=VERSION, log_level="WARNING")
    lock = Lock()
    _add_reads(server, lambda: GraphNotes(memory(), lock))
    if not read_only:
        _add_creations(server, lambda: GraphNotes(memory_to_write(), lock))
        _add_deletions(server, lambda: GraphNotes(memory_to_write(), lock))
    return server


def _add_creations(server: MemoryServer, graph: Callable[[], GraphNotes]) -> None:
    def create_entities(entities: list[Entity]) -> Annotated[CallToolResult, Entities]:
        """Create multiple new entities in the knowledge graph."""
        return _answer("entities", graph().create_entities(entities))

    def create_relations(relations: list[Relation]) -> Annotated[CallToolResult, Relations]:
        """Create multiple new relations between entities in the knowledge graph. Relations should be in active voice."""
        return _answer("relations", graph().create_relations(relations))

    def add_observations(observations: list[ObservationsToAdd]) -> Annotated[CallToolResult, Results]:
        """Add new observations to existing entities in the knowledge graph."""
        added = graph().add_observations([(one.entityName, one.contents) for one in observations])
        return _answer("results", [AddedObservations(entityName=name, addedObservations=new) for name, new in added])

    _register(server, [create_entities, create_relations, add_observations], ADDS)


def _add_deletions(server: MemoryServer, graph: Callable[[], GraphNotes]) -> None:
    def delete_entities(
        entityNames: Annotated[list[str], Field(description="An array of entity names to delete")],  # noqa: N803 - as there
    ) -> Annotated[CallToolResult, Success]:
        """Delete multiple entities and their associated relations from the knowledge graph."""
        graph().delete_entities(entityNames)
        return _success("Entities deleted successfully")

    def delete_observations(deletions: list[ObservationsToDelete]) -> Annotated[CallToolResult, Success]:
        """Delete specific observations from entities in the knowledge graph."""
        graph().delete_observations([(one.entityName, one.observations) for one in deletions])
        return _success("Observations deleted successfully")

    def delete_relations(
        relations: Annotated[list[Relation], Field(description="An array of relations to delete")],
    ) -> Annotated[CallToolResult, Success]:
        """Delete multiple relations from the knowledge graph."""
        graph().delete_relations(relations)
        return _success("Relations deleted successfully")

    _register(server, [delete_entities, delete_observations, delete_relations], REMOVES)


def _add_reads(server: MemoryServer, graph: Callable[[], GraphNotes]) -> None:
    def read_graph() -> Annotated[CallToolResult, KnowledgeGraph]:
        """Read the entire knowledge graph."""
        whole = graph().read()
        return _graph(list(whole.entities.values()), list(whole.relations.values()))

    def search_nodes(
        query: Annotated[
            str, Field(description="The search query to match against entity names, types, and observation content")
        ],
    ) -> Annotated[CallToolResult, KnowledgeGraph]:
        """Search for nodes in the knowledge graph based on a query."""
        whole, wanted = graph().read(), query.lower()
        matching = (
            entity
            for entity in whole.entities.values()
            if any(wanted in text.lower() for text in (entity.name, entity.entityType, *entity.observations))
        )
        return _graph(*whole.around(matching))

    def open_nodes(
        names: Annotated[list[str], Field(description="An array of entity names to retrieve")],
    ) -> Annotated[CallToolResult, KnowledgeGraph]:
        """Open specific nodes in the knowledge graph by their names."""
        whole = graph().read()
        return _graph(*whole.around(entity for entity in whole.entities.values() if entity.name in names))

    _register(server, [read_graph, search_nodes, open_nodes], READS)

    @server.resource(
        "memory://knowledge-graph", name="knowledge-graph", title="Knowledge Graph", mime_type="application/json"
    )
    def knowledge_graph() -> str:
        """The full knowledge graph with all entities and relations."""
        whole = graph().read()
        return _text(_dumped(entities=list(whole.entities.values()), relations=list(whole.relations.values())))


def _register(
    server: MemoryServer, functions: Sequence[Callable[..., CallToolResult]], annotations: ToolAnnotations
) -> None:
    for function in functions:
        title = function.__name__.replace("_", " ").title()
        description = (function.__doc__ or "").removesuffix(".")
        server.tool(title=title, description=description, annotations=annotations)(as_tool_errors(function))


def _answer(name: str, items: Sequence[BaseModel]) -> CallToolResult:
    content = _dumped(**{name: items})
    return _result(_text(content[name]), content)


def _graph(entities: Sequence[Entity], relations: Sequence[Relation]) -> CallToolResult:
    content = _dumped(entities=entities, relations=relations)
    return _result(_text(content), content)


def _success(message: str) -> CallToolResult:
    return _result(message, {"success": True, "message": message})


def _result(text: str, content: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)


def _dumped(**items: Sequence[BaseModel]) -> dict[str, Any]:
    return {name: [item.model_dump(by_alias=True) for item in some] for name, some in items.items()}


def _text(content: object) -> str:
    """JSON as the official server writes it."""
    return json.dumps(content, indent=2, ensure_ascii=False)
