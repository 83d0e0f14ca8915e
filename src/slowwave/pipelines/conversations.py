"""Looks up conversations, their messages and their summaries."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from slowwave.errors import InputError, NotFoundError
from slowwave.model.memory import HOT, MESSAGE, SUMMARY, Memory, Phase
from slowwave.model.message import Message
from slowwave.model.plain_text import tidy
from slowwave.model.query import Where
from slowwave.model.status import ConversationState
from slowwave.policy.summaries.spans import ERA_SIZE
from slowwave.ports import Ports

READABLE: Final = frozenset[Phase]({"active", "cold"})
"""Phases of messages that a conversation shows: not retracted ones or those under review."""
UNDER_REVIEW: Final[Phase] = "quarantined"
WITHHELD: Final = "[withheld for review]"
"""Replaces the text of a message under review, which may try to instruct a model."""
BEGINNING_MIN: Final = 6
"""Characters that the beginning of a name or a title has at least, like that of an id."""
IDLE: Final = timedelta(hours=1)
"""Time without a new message after which a conversation is idle."""
NAMED = 5
"""Names of conversations that an error lists."""
SIMILAR: Final = 0.5
"""The least similarity of a name that is suggested, from 0 to 1, as difflib measures it."""
NEWEST_SUMMARIES = 2 * ERA_SIZE + 4
"""How many summaries the last full era, the next one and their stretches can be."""

NEWEST_MESSAGE: Final = Where(kinds=frozenset({MESSAGE}), order="newest", limit=1)


def latest_conversation(ports: Ports) -> str | None:
    """The conversation written to last; one index read."""
    newest = ports.store.select((ports.scope,), NEWEST_MESSAGE)
    return newest[0].conversation if newest else None


def messages(ports: Ports, name: str, *, last: int | None = None, withheld: bool = False) -> list[Message]:
    """The messages of a conversation in order, without retracted ones.

    Args:
        ports: the store and the scope.
        name: the conversation.
        last: only so many of the latest messages; None: all.
        withheld: keep the place of a message under review, with `WITHHELD` as its text and without its speaker, so that
            a tool call keeps its output; False: leave it out.
    """
    phases = READABLE | {UNDER_REVIEW} if withheld else READABLE
    where = Where(
        kinds=frozenset({MESSAGE}),
        phases=frozenset(phases),
        conversation=name,
        order="seq" if last is None else "newest",
        limit=last,
    )
    store = ports.whole.store if withheld else ports.store  # their places only: no word of them is returned
    found = store.select((ports.scope,), where)
    return [_message(memory) for memory in (found if last is None else reversed(found))]


def _message(memory: Memory) -> Message:
    hidden = memory.phase == UNDER_REVIEW
    return Message(
        role=memory.role or "user",
        content=WITHHELD if hidden else memory.text,
        speaker=None if hidden else memory.speaker,
        at=memory.at,
        id=memory.ref or memory.id,
        metadata={} if hidden else memory.metadata,
        reasoning=None if hidden else memory.reasoning,
    )


def find_conversation(ports: Ports, text: str, *, beginnings: bool = True) -> str | None:
    """The name of the conversation of this name, else of this title, else whose name or title begins so; or None.

    Args:
        ports: the store and the scope.
        text: a name, a title, or the beginning of one.
        beginnings: False: only whole names and titles.

    Raises:
        InputError: several conversations have this title or begin so; the error lists them.
    """
    if ports.store.conversation(ports.scope, text) is not None:
        return text
    known = [conversation for conversation in ports.store.conversations(ports.scope) if conversation.name]
    found = [conversation for conversation in known if conversation.title == text]
    if not found and beginnings and len(text) >= BEGINNING_MIN:
        found = [
            conversation
            for conversation in known
            if conversation.name.startswith(text) or (conversation.title or "").startswith(text)
        ]
    if len(found) > 1:
        shown = ", ".join(
            f"{conversation.name} ({conversation.title})" if conversation.title else conversation.name
            for conversation in found[:NAMED]
        )
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        raise InputError(f"several conversations are called {text!r}, or begin so: {shown}{more}; give a whole name")
    return found[0].name if found else None


def known_conversation(ports: Ports, name: str) -> ConversationState:
    """The state of a conversation.

    Raises:
        NotFoundError: it has no messages; the error lists similar names.
    """
    found = ports.store.conversation(ports.scope, name)
    if found is None:
        raise NotFoundError(unknown_conversation(ports, name))
    return found


def unknown_conversation(ports: Ports, name: str) -> str:
    """The sentence for a conversation that does not exist, with the most similar names of those that do."""
    names = [conversation.name for conversation in ports.store.conversations(ports.scope) if conversation.name]
    return f"no conversation {name!r}: {listed_names(name, names)}"


def listed_names(name: str, known: Sequence[str]) -> str:
    """The names that are similar to an unknown one, else the first ones, in words and on one line."""
    import difflib  # noqa: PLC0415 - only for an error

    if not known:
        return "there is none yet"
    similar = difflib.get_close_matches(name, known, n=NAMED, cutoff=SIMILAR)
    shown = [tidy(one) for one in similar or known[:NAMED]]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return f"there are {', '.join(shown)}{more}" if len(known) > 1 else f"there is {shown[0]}"


def conversation_summaries(ports: Ports, name: str, limit: int | None = None) -> list[Memory]:
    """The hot summaries of stretches of a conversation, oldest first; of more than `limit` the newest."""
    return ports.store.select((ports.scope,), summaries_of(name, limit))[::-1]


def summaries_of(name: str, limit: int | None) -> Where:
    """What the summaries of a conversation are selected by."""
    return Where(
        kinds=frozenset({SUMMARY}),
        phases=frozenset(HOT),
        conversation=name,
        cascade=True,
        order="newest",
        limit=limit,
    )


def idle_from(ports: Ports, conversation: ConversationState, now: datetime) -> datetime:
    """When a conversation is idle if no message follows. Imported talk is idle by the times of its messages.

    A message that was stored in the future was stored while the clock was wrong: its conversation is idle at once.
    """
    if now - conversation.last_at >= IDLE:  # the sum may lie after the end of the calendar
        return conversation.last_at + IDLE
    where = Where(kinds=frozenset({MESSAGE}), conversation=conversation.name, order="newest", limit=1)
    newest = ports.store.select((ports.scope,), where)
    last = min((min(message.at, message.recorded_at) for message in newest), default=conversation.last_at)
    return last + IDLE if last <= now else now
