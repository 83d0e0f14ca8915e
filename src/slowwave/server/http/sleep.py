"""Routes of sleep passes, consolidation, imports, jobs, plans, runs and undo."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import anyio
from anyio import to_thread
from fastapi import APIRouter, Body, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from slowwave.agent_memory import AgentMemory
from slowwave.errors import InputError
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.server.access.errors import OverloadedError
from slowwave.server.access.guards import IMPORT_MOST, allow_body
from slowwave.server.access.handlers import Problem
from slowwave.server.access.problems import TYPE
from slowwave.server.access.values import VISIBLE
from slowwave.server.http import requests as ask, responses as view
from slowwave.server.http.dependencies import (
    After,
    Id,
    JobsOf,
    Limit,
    PlansOf,
    Reading,
    RepeatableRoute,
    RequestCaller,
    StreamsOf,
    Telling,
    Writing,
)
from slowwave.server.work.jobs import Job, Report
from slowwave.server.work.plans import Plans
from slowwave.server.work.streams import ALIVE, COMMENT, STREAM_HEADERS, Streams, event_text

router = APIRouter(prefix="/scopes/{scope}", route_class=RepeatableRoute)
POLL: Final = 0.1
"""Seconds between two looks at a job."""
PIECE: Final = 1024 * 1024
LISTED: Final = 100
"""Jobs of a list."""
ACCEPTED: Final[dict[int | str, dict[str, Any]]] = {
    202: {"description": "The job was accepted; `Location` is its address.", "model": view.JobView}
}


@router.post("/sleep", status_code=202, tags=["sleep"], responses=ACCEPTED)
def sleep(
    memory: Writing,
    caller: RequestCaller,
    jobs: JobsOf,
    plans: PlansOf,
    response: Response,
    asked: Annotated[ask.Sleep | None, Body()] = None,
) -> view.JobView:
    """Run a sleep pass, or with `dry_run` plan one: `result.plan.id` names the plan to apply."""
    asked, tenant = asked or ask.Sleep(), caller.tenant(memory.scope)

    def work(report: Report) -> dict[str, Any]:
        return _sleep(memory, plans, asked, report, tenant)

    return _accepted(memory, jobs.start(memory, "sleep", work, tenant), response)


@router.post("/consolidate", status_code=202, tags=["sleep"], responses=ACCEPTED)
def consolidate(
    memory: Writing,
    caller: RequestCaller,
    jobs: JobsOf,
    response: Response,
    asked: Annotated[ask.Consolidation | None, Body()] = None,
) -> view.JobView:
    """Extract facts from unread messages, of one conversation or of all."""
    asked = asked or ask.Consolidation()

    def work(report: Report) -> dict[str, Any]:
        return _consolidate(memory, asked, report)

    return _accepted(memory, jobs.start(memory, "consolidate", work, caller.tenant(memory.scope)), response)


@router.post(
    "/imports",
    status_code=202,
    tags=["sleep"],
    responses=ACCEPTED,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def import_file(
    memory: Writing,
    caller: RequestCaller,
    jobs: JobsOf,
    request: Request,
    response: Response,
    name: Annotated[
        str,
        Query(pattern="^[A-Za-z0-9_.-]{1,100}$", description="The name of the file; its ending may say the format."),
    ] = "import.jsonl",
    format: Annotated[str, Query(pattern="^[a-z0-9-]{1,20}$")] = "auto",  # noqa: A002 - as in the library
    dry_run: bool = False,
    trust: Annotated[
        Literal["import", "user"],
        Query(description="user: vouch for the words of the user in the file; only a key with the trust user can."),
    ] = "import",
    user: Annotated[str | None, Query(min_length=1, max_length=256)] = None,
) -> view.JobView:
    """Import a file, which is the body. Known items are skipped; one undo reverses the run."""
    allow_body(request.scope, IMPORT_MOST, "import it in several files")
    folder = Path(await to_thread.run_sync(tempfile.mkdtemp, "", "slowwave-"))
    path = folder / f"file-{name}"
    try:
        await _receive(request, path)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_remove, path)
        raise

    def work(report: Report) -> dict[str, Any]:
        try:
            found = memory.import_(path, format, dry_run=dry_run, trust=trust, user=user, on_progress=report)
        finally:
            _remove(path)
        return view.plain(found, leave_out={"examples", "broken", "titles"})

    try:
        job = jobs.start(memory, "import", work, caller.tenant(memory.scope))
    except OverloadedError:
        await to_thread.run_sync(_remove, path)
        raise
    return _accepted(memory, job, response)


# ---- jobs


@router.get("/jobs", tags=["jobs"])
def list_jobs(memory: Reading, jobs: JobsOf) -> view.JobList:
    """List the jobs that the server remembers, the latest first. It forgets them when it ends."""
    return view.JobList(
        items=[_job(memory, job, jobs.told(memory, job)) for job in map(Job.now, jobs.present(memory.scope, LISTED))]
    )


@router.get("/jobs/{job_id}", tags=["jobs"])
def job(memory: Reading, jobs: JobsOf, job_id: Id) -> view.JobView:
    """Read the state of a job, and its result once it has one."""
    found = jobs.get(memory, job_id).now()
    return _job(memory, found, jobs.told(memory, found))


@router.get(
    "/jobs/{job_id}/events",
    tags=["jobs"],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    memory: Reading,
    caller: RequestCaller,
    jobs: JobsOf,
    streams: StreamsOf,
    job_id: Id,
    last_event_id: Annotated[str, Header(pattern="^[0-9]{1,9}$")] = "0",
) -> StreamingResponse:
    """Follow a job as server-sent events. `Last-Event-ID` continues after an interruption."""
    found, tenant = await to_thread.run_sync(jobs.get, memory, job_id), caller.tenant(memory.scope)
    streams.check_room(tenant)
    return StreamingResponse(
        _events(found, int(last_event_id), streams, tenant), media_type="text/event-stream", headers=STREAM_HEADERS
    )


# ---- plans


@router.get("/plans/{plan_id}", tags=["sleep"])
def plan(memory: Reading, plans: PlansOf, plan_id: Id) -> view.PlanView:
    """Read the plan of a dry run."""
    return view.PlanView.of(plans.get(memory, plan_id).shown())


@router.post("/plans/{plan_id}:apply", tags=["sleep"])
def apply(memory: Writing, tell: Telling, plans: PlansOf, plan_id: Id) -> view.DoneParts:
    """Carry out the plan of a dry run. A group whose memories changed since is dropped, and `dropped` says so."""
    receipts = memory.apply(plans.get(memory, plan_id))
    if receipts:  # a plan that changes nothing makes no run, to which a repeated request could be led
        plans.drop(plan_id)
    return view.DoneParts(receipts=[tell(receipt) for receipt in receipts])


@router.delete("/plans/{plan_id}", status_code=204, tags=["sleep"])
def discard(memory: Writing, plans: PlansOf, plan_id: Id) -> None:
    """Forget a plan."""
    plans.get(memory, plan_id)
    plans.drop(plan_id)


# ---- runs


@router.get("/runs", tags=["runs"])
def runs(
    memory: Reading,
    cause: Annotated[str | None, Query(min_length=1, max_length=256, pattern=VISIBLE)] = None,
    parts: Annotated[str, Query(pattern="^(stages|all|none)$")] = "none",
    after: After = None,
    limit: Limit = 20,
) -> view.Runs:
    """List what changed memories, newest first."""
    found = memory.runs(limit + 1, cause=cause, after=after, parts=view.run_parts(parts))
    page = found[:limit]
    return view.Runs(items=[view.RunView.of(run) for run in page], next=page[-1].id if len(found) > limit else None)


@router.get("/runs/{run_id}", tags=["runs"])
def run(memory: Reading, run_id: Id) -> view.RunView:
    """Read one run with its parts."""
    return view.RunView.of(memory.run(run_id))


@router.post("/runs/{run_id}:undo", tags=["runs"])
def undo(
    memory: Writing, tell: Telling, run_id: Id, asked: Annotated[ask.Undo | None, Body()] = None
) -> view.DoneParts:
    """Reverse a run. The undo is a run too, which can be undone."""
    receipts = memory.undo(run_id, cascade=asked.cascade if asked else False)
    return view.DoneParts(receipts=[tell(receipt) for receipt in receipts])


def _sleep(memory: AgentMemory, plans: Plans, asked: ask.Sleep, report: Report, tenant: str) -> dict[str, Any]:
    def sleep() -> SleepReport:
        return memory.sleep(dry_run=asked.dry_run, think=asked.think, on_progress=report)

    found = plans.make(memory, sleep, tenant) if asked.dry_run else sleep()
    plan = found.plan.shown()  # whoever may read, and not review, may ask for the job
    shown = view.PlanView.of(plan, str(replace(found, plan=plan)))
    receipts = [view.Done.of(receipt).model_dump(mode="json") for receipt in found.receipts]
    return {
        "run_id": None if asked.dry_run or not found.receipts else found.plan.id,
        "dry_run": asked.dry_run,
        "plan": shown.model_dump(mode="json"),
        "receipts": receipts,
        "left": dict(found.left),
        "problems": list(found.problems),
        "cost": view.CostView.model_validate(found.cost).model_dump(),
    }


def _consolidate(memory: AgentMemory, asked: ask.Consolidation, report: Report) -> dict[str, Any]:
    if asked.conversation is None:
        found = memory.consolidate_all(force=asked.force, on_progress=report)
    else:
        found = memory.consolidate(asked.conversation, force=asked.force, on_progress=report)
    return {
        "run_id": found.run_id,
        "facts": [fact.id for fact in found.facts],
        "refused": [{"text": one.text, "reason": one.reason} for one in found.rejected],
        "skipped_reason": found.skipped_reason,
        "left": dict(found.left),
        "waiting": found.waiting,
        "problems": list(found.problems),
        "notes": list(found.notes),
        "cost": view.CostView.model_validate(found.cost).model_dump(),
    }


def _accepted(memory: AgentMemory, job: Job, response: Response) -> view.JobView:
    from urllib.parse import quote  # noqa: PLC0415 - one use

    response.headers["location"] = f"/v1/scopes/{quote(job.scope, safe='')}/jobs/{job.id}"
    return _job(memory, job, {})


def _job(memory: AgentMemory, job: Job, told: Mapping[str, Any]) -> view.JobView:
    """A job with what it said, read from the store. Facts are shown as they are now, to who may read them."""
    result, problem = told.get("result"), None
    if job.failure is not None:
        problem = Problem(
            type=f"{TYPE}{job.failure.name}",
            title=job.failure.title,
            status=job.failure.status,
            detail=told.get("detail", "the job failed unexpectedly: the log of the server has the error"),
        )
    if result is not None and job.kind == "consolidate":
        facts = memory.ports.store.get((memory.scope,), result["facts"])
        result["facts"] = [view.MemoryView.model_validate(fact).model_dump(mode="json") for fact in facts]
    return view.JobView(
        id=job.id,
        scope=job.scope,
        kind=job.kind,
        state=job.state,
        done=job.done,
        total=job.total,
        created_at=job.created_at,
        result=result,
        problem=problem,
    )


async def _events(job: Job, number: int, streams: Streams, tenant: str) -> AsyncIterator[str]:
    """The events of a job after a number, as they come."""
    quiet = 0.0
    with streams.one(tenant):
        while True:
            found, ended = job.events_after(number)
            for event in found:
                number = event.number
                yield event_text(event.name, event.values, event.number)
            if ended or streams.have_ended:
                return
            quiet = 0.0 if found else quiet + POLL
            if quiet >= ALIVE:
                quiet = 0.0
                yield COMMENT
            await anyio.sleep(POLL)


async def _receive(request: Request, path: Path) -> None:
    """Write the body to a file, piece by piece."""
    async with await anyio.open_file(path, "wb") as file:
        async for piece in request.stream():
            await file.write(piece)
        if not await file.tell():
            raise InputError("the body is empty: send the file to import as the body")


def _remove(path: Path) -> None:
    """Delete an imported file and its folder."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
        path.parent.rmdir()
