"""A question that was asked of a memory: the request, and what its stages read from."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from slowwave.model.filters import Filter
from slowwave.model.memory import Memory
from slowwave.model.query import Hit, Query
from slowwave.ports import Ports


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A request; `AgentMemory.search` explains each field."""

    text: str
    top_k: int = 10
    categories: Collection[str] | None = None
    kinds: Collection[str] | None = None
    conversation: str | None = None
    except_conversation: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    deep: bool = False
    min_relevance: float | None = None
    where: object = None
    folder: str | None = None
    passes: Filter | None = None
    """The checked filter of `where`."""

    @property
    def is_of_the_past(self) -> bool:
        """Whether it asks for another time than now."""
        return self.as_of is not None or self.known_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request while it is answered.

    Attributes:
        ports: the store and the settings.
        request: the checked request.
        query: what the store ranks by.
        known: every memory as it was at `request.known_at`, by id; None for the present.
        rank: ranks another query and returns its hits, best first.
        words: the words of the question in lower case.
    """

    ports: Ports
    request: Search
    query: Query
    known: Mapping[str, Memory] | None
    rank: Callable[[Query], list[Hit]]
    words: frozenset[str]


Stage: TypeAlias = Callable[[Asked, list[Hit]], list[Hit]]
"""A step from hits to hits."""
