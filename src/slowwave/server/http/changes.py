"""The event stream of a scope: what runs write, whichever process they run in, and what the jobs of this server do."""

import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final, NamedTuple

import anyio
from anyio import to_thread
from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from slowwave.agent_memory import AgentMemory
from slowwave.errors import SlowwaveError
from slowwave.model.plan import Written
from slowwave.server.access.authentication import Caller
from slowwave.server.http.dependencies import JobsOf, Reading, RequestCaller, StreamsOf, StrictRoute
from slowwave.server.work.jobs import Job, Jobs
from slowwave.server.work.streams import ALIVE, COMMENT, STOPPED, STREAM_HEADERS, Streams, event_text

router = APIRouter(prefix="/scopes/{scope}", route_class=StrictRoute)
POLL: Final = 0.5
"""Seconds between two looks at the journal of the scope."""
CHECK: Final = 5.0
"""Seconds between two looks at the key: a stream may outlive it."""
AT_ONCE: Final = 5000
"""Operations that are read at once; a client that was away for long gets the rest by the next reads."""
_SECONDS_MOST: Final = 86_400


@router.get(
    "/events",
    tags=["runs"],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def scope_events(
    memory: Reading,
    caller: RequestCaller,
    jobs: JobsOf,
    streams: StreamsOf,
    last_event_id: Annotated[str | None, Header(pattern="^[0-9]{1,15}$")] = None,
    seconds: Annotated[
        float | None, Query(ge=0, le=_SECONDS_MOST, description="End after so many seconds; 0: what is known by now.")
    ] = None,
) -> StreamingResponse:
    """Follow what changes in a scope as server-sent events, without the words of memories.

    `open` has the present sequence of the scope. `run` says what a run wrote, by operation; its number is a sequence, and
    `Last-Event-ID` continues after it: 0 begins with the first run. `job` is the state of a job of this server. `end` says
    why the stream ends.
    """
    streams.check_room(caller.tenant(memory.scope))
    follow = _Follow(memory, caller, jobs, streams, None if seconds is None else time.monotonic() + seconds)
    first = None if last_event_id is None else int(last_event_id)
    return StreamingResponse(_events(follow, first), media_type="text/event-stream", headers=STREAM_HEADERS)


class _Follow(NamedTuple):
    """What a stream follows, for whom, and until when by the monotonic clock (None: until the client leaves)."""

    memory: AgentMemory
    caller: Caller
    jobs: Jobs
    streams: Streams
    until: float | None

    def sequence(self) -> int:
        """The present sequence of the scope."""
        return self.memory.ports.store.sequence(self.memory.scope)

    def read(self, after: int) -> tuple[list[Written], int]:
        """What runs wrote after a sequence, and the sequence that was reached."""
        return self.memory.ports.store.written(self.memory.scope, after, AT_ONCE)

    def is_admitted(self) -> bool:
        """Whether the key of the stream is still valid."""
        return self.caller.is_admitted(self.memory.now())

    def changed_jobs(self, seen: dict[str, tuple[object, ...]]) -> list[Job]:
        """The jobs whose state differs from what was seen, the earliest first."""
        changed = []
        for job in reversed(self.jobs.list(self.memory.scope)):
            state = (job.state, job.done, job.total)
            if seen.get(job.id) != state:
                seen[job.id] = state
                changed.append(job)
        return changed


async def _events(follow: _Follow, first: int | None) -> AsyncIterator[str]:
    """The events of a stream. A failure of the store ends it: the client connects again and misses nothing."""
    with follow.streams.one(follow.caller.tenant(follow.memory.scope)):
        try:
            async for text in _followed(follow, first):
                yield text
        except SlowwaveError as error:
            yield event_text("end", {"reason": str(error)})


async def _followed(follow: _Follow, first: int | None) -> AsyncIterator[str]:
    now = await to_thread.run_sync(follow.sequence)
    place = now if first is None else min(first, now)
    yield event_text("open", {"scope": follow.memory.scope, "sequence": place}, place)
    seen: dict[str, tuple[object, ...]] = {}
    pending = [job for job in follow.changed_jobs(seen) if not job.has_ended]
    checked = spoke = time.monotonic()
    while True:
        found, reached = await to_thread.run_sync(follow.read, place)
        is_behind, place = reached - place >= AT_ONCE, reached
        texts = [event_text("run", _run(one), one.sequence) for one in found]
        texts += [event_text("job", _job(job)) for job in (*pending, *follow.changed_jobs(seen))]
        pending = []
        at = time.monotonic()
        if not texts and at - spoke >= ALIVE:
            texts = [COMMENT]
        for text in texts:
            spoke = at
            yield text
        if at - checked >= CHECK:
            checked = at
            if not await to_thread.run_sync(follow.is_admitted):
                yield event_text("end", {"reason": "the key was revoked or has expired: connect with another"})
                return
        if follow.streams.have_ended:
            yield event_text("end", {"reason": STOPPED})
            return
        if follow.until is not None and at >= follow.until and not is_behind:
            yield event_text("end", {"reason": "the time of the request is over"})
            return
        if not is_behind:
            await anyio.sleep(POLL)


def _run(one: Written) -> dict[str, Any]:
    return {
        "run_id": one.run_id,
        "cause": one.cause,
        "at": one.at.isoformat(),
        "parent": one.parent,
        "undoes": one.undoes,
        "totals": dict(one.totals),
    }


def _job(job: Job) -> dict[str, Any]:
    return {"job_id": job.id, "kind": job.kind, "state": job.state, "done": job.done, "total": job.total}
