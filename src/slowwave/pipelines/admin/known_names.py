"""Says which names of a read do not exist, with similar names that do."""

import difflib
from collections.abc import Collection, Iterator
from typing import Final

from slowwave.model.memory import FACT_KINDS
from slowwave.model.names import optional_conversation, optional_names
from slowwave.model.query import Where
from slowwave.ports import Ports

SHOWN: Final = 5
"""Names that a sentence lists."""
SIMILAR: Final = 0.5
"""The least similarity of a name that is suggested, from 0 to 1, as difflib measures it."""


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
                yield f"no category {category!r}: {_listed(category, sorted(known))}"


def unknown_conversation(ports: Ports, name: str) -> str:
    """The sentence for a conversation that does not exist, with the most similar names of those that do."""
    names = [conversation.name for conversation in ports.store.conversations(ports.scope) if conversation.name]
    return f"no conversation {name!r}: {_listed(name, names)}"


def _listed(name: str, known: list[str]) -> str:
    """The similar names, else the first ones, in words."""
    if not known:
        return "there is none yet"
    similar = difflib.get_close_matches(name, known, n=SHOWN, cutoff=SIMILAR)
    shown = similar or known[:SHOWN]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return f"there are {', '.join(shown)}{more}" if len(known) > 1 else f"there is {shown[0]}"
