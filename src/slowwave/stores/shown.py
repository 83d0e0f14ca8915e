"""A store as a reader sees it who may not review: without what waits for review or was rejected."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from slowwave.model.memory import Memory
from slowwave.model.operations import Add, Change, Link, Operation, Use
from slowwave.model.plan import Event, Group, Run
from slowwave.model.query import Where

if TYPE_CHECKING:
    from slowwave.ports import Store

WITHHELD: Final = "a change of what needs a person's review"
"""The reason of a group that a reader who may not review sees without some of its operations."""


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

    def ids_with_prefix(self, scopes: Sequence[str], prefix: str, limit: int) -> list[str]:
        """As of the store."""
        found = self._store.ids_with_prefix(scopes, prefix, limit)
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
        return [event for event in self._store.history(scope, memory) if not _tells(event.operation, ())]

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
        return [
            replace(run, plan=replace(run.plan, groups=tuple(_without(group, withheld) for group in run.plan.groups)))
            for run in runs
        ]


def _without(group: Group, withheld: Collection[str]) -> Group:
    """A group without the operations on these memories, and without those on memories while they were withheld.

    Its reason goes with them: that of a stated fact is its text.
    """
    kept = tuple(one for one in group.operations if not _tells(one, withheld))
    if len(kept) == len(group.operations):
        return group
    return replace(group, operations=kept, because=WITHHELD, count_of="")


def _tells(operation: Operation, withheld: Collection[str]) -> bool:
    """Whether an operation has words of a withheld memory: it is on one of these, or on one that was withheld then."""
    if isinstance(operation, Link):
        return operation.source in withheld or operation.target in withheld
    return any(memory.is_withheld or memory.id in withheld for memory in _states(operation))


def _named(operation: Operation) -> tuple[str, ...]:
    """The memories that an operation is about, by id."""
    if isinstance(operation, Link):
        return operation.source, operation.target
    return tuple(memory.id for memory in _states(operation))


def _states(operation: Operation) -> tuple[Memory, ...]:
    """The memories of an operation, as they were before and after it."""
    match operation:
        case Add():
            return (operation.memory,)
        case Change():
            return operation.before, operation.after
        case Use():
            return operation.used_version, operation.after
        case _:
            return ()
