"""What a sleep pass reads of a scope before its stages plan, from one committed state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from slowwave.model.memory import Memory
from slowwave.model.query import Where
from slowwave.model.status import ConversationState


@dataclass(frozen=True, slots=True, kw_only=True)
class StateQuery:
    """What is read with the state of a scope, besides its conversations and its counts.

    Attributes:
        selections: the selections whose memories are read.
        unscheduled: the least and greatest pace of the present settings, and how many facts without a pace between
            them are read at most (`Store.facts_without_schedule`); None: they are not read.
        changed: by cursor of the scope, how many of the facts that changed after it are read at most.
        embedder: the name of the embedder, to learn whether a text has no vector of it; None: not asked.
    """

    selections: Sequence[Where] = ()
    unscheduled: tuple[int, int, int] | None = None
    changed: Mapping[str, int] = field(default_factory=dict)
    embedder: str | None = None


class Changed(NamedTuple):
    """The facts that changed after a cursor, oldest change first, and the sequence that was reached (`Store.changed`)."""

    facts: tuple[Memory, ...] = ()
    reached: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeState:
    """The state of a scope at one instant.

    Attributes:
        last_run: the key of the latest run; 0 if there is none.
        sequence: the number of journaled operations (`Store.sequence`).
        conversations: all conversations, the one written to last first.
        cursors: the positions of the cursors of the scope itself.
        unread: the number of messages that are not distilled yet, by conversation.
        selected: what each selection of the query found.
        unscheduled: facts without a schedule of the present settings, and how many there are in all.
        changed: what changed after each cursor of the query.
        has_unembedded: whether a text, or a shortened one, has no vector of the embedder.
    """

    last_run: int = 0
    sequence: int = 0
    conversations: tuple[ConversationState, ...] = ()
    cursors: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    selected: Mapping[Where, tuple[Memory, ...]] = field(default_factory=dict)
    unscheduled: tuple[tuple[Memory, ...], int] = ((), 0)
    changed: Mapping[str, Changed] = field(default_factory=dict)
    has_unembedded: bool = False
