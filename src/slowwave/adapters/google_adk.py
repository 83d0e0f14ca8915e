"""Google ADK: a memory service. The events of sessions become messages, and a search returns memories with their ids."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, Final

from slowwave import AgentMemory, Fact, Hit, InputError, Message, Slowwave
from slowwave.adapters import missing, tolerated

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.events import Event
    from google.adk.memory import BaseMemoryService
    from google.adk.memory.base_memory_service import SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions import Session
    from google.genai.types import Content, Part
except ImportError as error:
    raise missing(__name__, error) from error

USER: Final = "user"
"""The author of the user's events."""
UNNAMED: Final = "events"
"""The conversation of events that come without a session."""
LONGEST: Final = 2000
"""Characters of an entry: a long message would fill the prompt into which entries are put."""
BATCH: Final = 5000
"""Events that are stored in one transaction."""


class SlowwaveMemoryService(BaseMemoryService):
    """The memory of all apps and users of a `Runner`: each pair of app and user has the scope APP/USER of the store.

    Errors are raised: a session counts as stored only if `add_session_to_memory` returns. ADK's `preload_memory` logs
    errors of a search; `save_session` logs errors of storing.

    Args:
        store: an open store, or a memory, whose scope is then the beginning of all scopes. It stays open.
        top_k: how many memories a search returns at most.
        min_relevance: only memories of at least this `Hit.relevance`, 0 to 1; None: also those that only fill `top_k`.
    """

    def __init__(self, store: Slowwave | AgentMemory, *, top_k: int = 10, min_relevance: float | None = 0.01) -> None:
        self._store = store
        self._top_k = top_k
        self._min_relevance = min_relevance

    def memory(self, app_name: str, user_id: str) -> AgentMemory:
        """The memory of a user of an app. No name reaches the scope of another app or user.

        Raises:
            InputError: both names together are longer than 2,048 bytes, or one contains a lone surrogate.
        """
        return self._store.within(app_name, user_id)

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that are not stored yet, in the conversation of its id.

        Raises:
            InputError: a name is invalid, or the timestamp of an event is not a time.
            ConflictError: an event of a known id has other words than before.
            SlowwaveError: the store failed; the next call stores what is missing.
        """
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events that are not stored yet, with `custom_metadata` (JSON values). Raises as `add_session_to_memory`."""
        memory = self.memory(app_name, user_id)
        messages = list(_messages(events, custom_metadata or {}, memory.ports.zone))
        for start in range(0, len(messages), BATCH):
            await memory.aio.add_messages(
                messages[start : start + BATCH], UNNAMED if session_id is None else session_id
            )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store facts. One of the author "user" has the trust of the user, any other one that of an assistant.

        Raises:
            InputError: a timestamp is not ISO 8601, or metadata are not JSON values; nothing is stored.
            ConflictError: an id is known with another text.
        """
        facts = [_fact(entry, custom_metadata or {}) for entry in memories if _text(entry.content)]
        if facts:
            await self.memory(app_name, user_id).aio.add_all(facts)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The memories that answer a query, best first. A query without words finds nothing."""
        if not query.strip():
            return SearchMemoryResponse()
        memory = self.memory(app_name, user_id).aio
        hits = await memory.search(query, top_k=self._top_k, min_relevance=self._min_relevance)
        return SearchMemoryResponse(memories=[_entry(hit) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Retract a memory by the id of its entry. Adding its session again does not bring it back; `undo` does.

        Raises:
            InputError: there is no id.
            NotFoundError: this user has no memory of that id.
        """
        if memory_id is None:
            raise InputError("delete_memory without memory_id: pass the id of an entry that search_memory returned")
        await self.memory(app_name, user_id).aio.delete(memory_id)


async def save_session(callback_context: CallbackContext) -> None:
    """An `after_agent_callback` that stores the session. A failure of memory is logged, and the run goes on.

    Raises:
        ValueError: the runner has no memory service.
    """
    with tolerated("storing a session", also_input=True):
        await callback_context.add_session_to_memory()


def _messages(events: Sequence[Event], metadata: Mapping[str, Any], zone: tzinfo) -> Iterator[Message]:
    """The events that have words, without pieces of a reply that is still being streamed."""
    for event in events:
        text = _text(event.content)
        if text and not event.partial:
            said_by_user = event.author == USER
            yield Message(
                role=USER if said_by_user else "assistant",
                content=text,
                speaker=None if said_by_user else event.author or None,
                at=_said_at(event, zone),
                id=event.id,
                metadata=metadata,
            )


def _said_at(event: Event, zone: tzinfo) -> datetime:
    try:
        return datetime.fromtimestamp(event.timestamp, zone)
    except (OverflowError, ValueError, OSError) as error:
        raise InputError(
            f"event {event.id[:40]!r} has the timestamp {event.timestamp}: use seconds since 1970"
        ) from error


def _fact(entry: MemoryEntry, metadata: Mapping[str, Any]) -> Fact:
    return Fact(
        text=_text(entry.content),
        trust=USER if entry.author == USER else "assistant",
        ref=entry.id,
        valid_from=None if entry.timestamp is None else _time(entry.timestamp),
        metadata={**metadata, **entry.custom_metadata},
    )


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"the timestamp {text[:40]!r} is not ISO 8601, such as 2026-03-14T09:30:00+01:00") from error


def _text(content: Content | None) -> str:
    """The words of a content, without thoughts, calls of tools and their results."""
    parts = (content.parts if content else None) or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def _entry(hit: Hit) -> MemoryEntry:
    memory = hit.memory
    return MemoryEntry(
        id=memory.id,
        author=_line(memory.speaker or memory.role or memory.trust),
        timestamp=memory.at.isoformat(),
        content=Content(role=USER, parts=[Part(text=_line(hit.text) + (f" ({hit.because})" if hit.because else ""))]),
        custom_metadata=dict(memory.metadata),
    )


def _line(text: str) -> str:
    """A text on one line without closing tags, cut if it is long: `preload_memory` lists entries in a block with tags."""
    line = " ".join(text.split()).replace("</", "< /")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
