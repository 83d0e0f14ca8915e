"""A store as a reader sees it who may not review: without what waits for review or was rejected."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from slowwave.model.memory import Memory
from slowwave.model.operations import Link, Operation
from slowwave.model.plan import Event, Run, memories_of
from slowwave.model.query import Where

if TYPE_CHECKING:
    from slowwave.ports import Store


class Shown:
    """A store as a reader sees it who may not review: nothing that waits for review, or was rejected, is in it.

    It decides by the present phase, and in the journal by the state before and after each change. Every door to memories
    reads through it, and `whole` is for what plans changes: that must know what waits.

    Args:
        store: the store.
    """

    def __init__(self, store: "Store") -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of the store
        """What contains no words of memories is read from the store itself."""
        return getattr(self._store, name)

    def shown(self) -> "Store":
        """This store."""
        return cast("Store", self)

    def whole(self) -> "Store":
        """The store with what is withheld."""
        return self._store

    def get(self, scopes: Sequence[str], ids: Iterable[str]) -> list[Memory]:
        """As of the store; withheld memories are skipped like unknown ids."""
        return [memory for memory in self._store.get(scopes, ids) if not memory.is_withheld]

    def short_ids(self, scopes: Sequence[str], part: str, limit: int) -> list[str]:
        """As of the store."""
        found = self._store.short_ids(scopes, part, limit)
        known = {memory.id for memory in self.get(scopes, found)}
        return [identity for identity in found if identity in known]

    def select(self, scopes: Sequence[str], where: Where) -> list[Memory]:
        """As of the store."""
        return self._store.select(scopes, replace(where, withheld=False))

    def select_each(self, scope: str, selections: Sequence[Where]) -> list[list[Memory]]:
        """As of the store."""
        return self._store.select_each(scope, [replace(where, withheld=False) for where in selections])

    def pages(self, scope: str, where: Where) -> Iterator[list[Memory]]:
        """As of the store."""
        return self._store.pages(scope, replace(where, withheld=False))

    def folders(self, scope: str, where: Where) -> list[str]:
        """As of the store."""
        return self._store.folders(scope, replace(where, withheld=False))

    def history(self, scope: str, memory: str) -> list[Event]:
        """As of the store; nothing of a withheld memory, and of another one nothing of the time when it waited."""
        if not self.get((scope,), [memory]):
            return []
        return [
            event
            for event in self._store.history(scope, memory)
            if not any(one.is_withheld for one in memories_of(event.operation))
        ]

    def run(self, scope: str, run_id: str) -> Run | None:
        """As of the store, without the operations on withheld memories."""
        found = self._store.run(scope, run_id)
        return None if found is None else self._told(scope, [found])[0]

    def children(self, scope: str, run_id: str) -> list[Run]:
        """As of the store, without the operations on withheld memories."""
        return self._told(scope, self._store.children(scope, run_id))

    def runs(self, scope: str, *arguments: Any, **keywords: Any) -> list[Run]:  # noqa: ANN401 - of the store
        """As of the store, without the operations on withheld memories."""
        return self._told(scope, self._store.runs(scope, *arguments, **keywords))

    def _told(self, scope: str, runs: Sequence[Run]) -> list[Run]:
        named = {identity for run in runs for one in run.plan.operations for identity in _named(one)}
        withheld = {memory.id for memory in self._store.get((scope,), named) if memory.is_withheld}
        return [replace(run, plan=run.plan.shown(withheld)) for run in runs]


def _named(operation: Operation) -> tuple[str, ...]:
    """The memories that an operation is about, by id."""
    if isinstance(operation, Link):
        return operation.source, operation.target
    return tuple(memory.id for memory in memories_of(operation))
