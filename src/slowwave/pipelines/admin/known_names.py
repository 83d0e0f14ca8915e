"""Says which names of a read do not exist, with similar names that do."""

from collections.abc import Collection, Iterator

from slowwave.model.memory import FACT_KINDS
from slowwave.model.names import optional_conversation, optional_names
from slowwave.model.query import Where
from slowwave.pipelines.conversations import listed_names, unknown_conversation
from slowwave.ports import Ports


def unknown_names(
    ports: Ports, *, conversation: str | int | None = None, categories: Collection[str] | None = None
) -> tuple[str, ...]:
    """A sentence for the scope, if it is empty, for an unknown conversation, and for each unknown category."""
    wanted = sorted(optional_names(categories, "categories") or ())
    return tuple(_sentences(ports, optional_conversation(conversation), wanted))


def _sentences(ports: Ports, conversation: str | None, categories: Collection[str]) -> Iterator[str]:
    if not ports.store.last_run(ports.scope):
        yield f"nothing is stored in scope {ports.scope}"
        return
    if conversation is not None and ports.store.conversation(ports.scope, conversation) is None:
        yield unknown_conversation(ports, conversation)
    if categories:
        known = {
            fact.category
            for fact in ports.store.select((ports.scope,), Where(kinds=frozenset(FACT_KINDS), cascade=None))
        }
        for category in categories:
            if category not in known:
                yield f"no category {category!r}: {listed_names(category, sorted(known))}"
