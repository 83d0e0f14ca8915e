"""The pages of the dashboard. Each reads through the public methods of a memory and changes nothing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Final, cast

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from slowwave.agent_memory import AgentMemory
from slowwave.errors import NotFoundError
from slowwave.model.access import AccessKey
from slowwave.model.memory import FACT_KINDS, HOT, PHASES, STATEMENT_KINDS, SUMMARY
from slowwave.model.plan import Run
from slowwave.model.scope import Scope
from slowwave.model.zone import local
from slowwave.pipelines.admin.plot import plot
from slowwave.pipelines.admin.undo import undone_runs
from slowwave.policy.ranking.relevance import FAIR
from slowwave.server.access.authentication import Caller
from slowwave.server.dashboard import rows
from slowwave.server.dashboard.templating import Chart, chart_of
from slowwave.server.dashboard.visit import DashboardState, Visit, checked_number, counts_by_phase
from slowwave.server.dashboard.words import PAIRS

PAGE_SIZE: Final = 50
ELSEWHERE: Final = 6
"""Scopes with content that the page of an empty scope shows."""
PASSES: Final = 20
"""Runs on one page. Each is read with its parts."""
BUDGETS: Final = (300, 500, 800, 1500, 3000)
SHOWN: Final = {
    "all": None,
    "facts": FACT_KINDS,
    "messages": ("message",),
    "summaries": (SUMMARY,),
    "notes": ("note",),
}
"""The kinds of memories by the words of the list. A list of "all" without a question has facts and summaries."""
LISTED: Final = frozenset(PAIRS) | {"quarantined"}
"""The findings that the review shows in sections of their own."""
ALL_PHASES: Final = tuple(phase for phase in PHASES if phase != "quarantined")

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


def visit(request: Request) -> Visit:
    """The visit of a request, after a check that the browser may read the scope."""
    found = bare_visit(request)
    found.memory("read")
    return found


def bare_visit(request: Request) -> Visit:
    """The visit of a request, without a check of rights."""
    return Visit(cast("DashboardState", request.app.state.dashboard), request)


Reader = Annotated[Visit, Depends(visit)]
Text = Annotated[str, Query(max_length=4000)]


@router.get("/")
def today(visit: Reader) -> HTMLResponse:
    """What the last sleep pass did, what needs a decision, and how many memories there are."""
    memory = visit.memory("read")
    status = memory.status()
    last = next(iter(memory.runs(1, cause="sleep", parts="none")), None)
    undone = undone_runs(memory.ports)
    counts, cost = status.counts, status.cost
    return visit.render(
        "today.html",
        status=status,
        last=_whole_run(memory, last.id, undone) if last else None,
        findings=rows.finding_rows(memory, memory.health()),
        cards=(
            ("Facts in use", counts_by_phase(counts, STATEMENT_KINDS, *HOT), "a search finds them", "/memories"),
            (
                "Archived",
                counts_by_phase(counts, STATEMENT_KINDS, "cold"),
                "a deep search finds them",
                "/memories?deep=1",
            ),
            (
                "Messages",
                counts_by_phase(counts, ("message",), *ALL_PHASES),
                f"{status.unread:,} not read for facts yet" if status.unread else "all read for facts",
                "/conversations",
            ),
            (
                "Model calls",
                cost.calls,
                f"{cost.tokens_in + cost.tokens_out:,} tokens" if cost.calls else "facts come from rules",
                "/passes",
            ),
        ),
        charts=(_chart(memory, "forgetting"), _chart(memory, "growth")),
        elsewhere=_scopes_with_content(visit.caller) if not counts else (),
        now=local(memory.ports.now(), memory.ports.zone),
    )


def _chart(memory: AgentMemory, kind: str, memory_id: str | None = None) -> Chart | None:
    return chart_of(plot(memory.ports, kind, memory.get(memory_id) if memory_id else None))


def _scopes_with_content(caller: Caller) -> list[Scope]:
    """Scopes that the caller may read and that contain something, the last written first: to go to from an empty one."""
    below = caller.check_scope(caller.key.prefix) if caller.key.prefix else ""
    found = [scope for scope in caller.store.scopes(below, limit=PAGE_SIZE) if scope.facts or scope.messages]
    oldest = datetime.min.replace(tzinfo=UTC)
    return sorted(found, key=lambda scope: scope.last_written or oldest, reverse=True)[:ELSEWHERE]


@router.get("/memories")
def memories(visit: Reader, q: Text = "", deep: str = "", kind: str = "all", after: str = "") -> HTMLResponse:
    """All memories by strength, or the hits of a search with the parts of their scores."""
    memory, is_deep = visit.memory("read"), bool(deep)
    kind = kind if kind in SHOWN else "all"
    kinds = SHOWN[kind]
    if q.strip():
        hits = memory.search(q, top_k=25, deep=is_deep, kinds=kinds)
        found = rows.hit_rows(memory, [hit for hit in hits if hit.relevance >= FAIR])
        unlikely = rows.hit_rows(memory, [hit for hit in hits if hit.relevance < FAIR])
        following = None
    else:
        phases = ALL_PHASES if is_deep else None
        order = "-at" if kind in {"messages", "notes"} else "-strength"
        listed = memory.get_all(kinds=kinds, phases=phases, order=order, after=after or None, limit=PAGE_SIZE)
        found, unlikely = rows.memory_rows(memory, listed), []
        following = listed[-1].id if len(listed) == PAGE_SIZE else None
    return visit.render(
        "memories.html",
        q=q,
        deep=is_deep,
        kind=kind,
        kinds=tuple(SHOWN),
        rows=found,
        unlikely=unlikely,
        following=following,
    )


@router.get("/memories/{memory_id}")
def one_memory(visit: Reader, memory_id: str) -> HTMLResponse:
    """One memory: its sources, its strength over time, its history, and what can be done with it."""
    memory = visit.memory("read")
    found = memory.explain(memory_id)
    is_fact = found.memory.kind in FACT_KINDS
    others = [link.other(memory_id) for link in found.links]
    linked = rows.texts_of(memory, others)
    return visit.render(
        "memory.html",
        found=found,
        memory=found.memory,
        quoted=rows.quoted(found.memory, found.sources),
        chart=_chart(memory, "forgetting", memory_id) if is_fact else None,
        history=rows.history_rows(found.history),
        linked=[(link, linked[other]) for link, other in zip(found.links, others, strict=True)],
        is_fact=is_fact,
        by=rows.memory_rows(memory, [found.memory])[0].by,
    )


@router.get("/context")
def context(visit: Reader, q: Text = "", budget: str = "") -> HTMLResponse:
    """The context that a model would be given for a question, line by line."""
    tokens = checked_number(budget, "budget", 50, 20_000, 800)
    built = visit.memory("read").context(q, budget_tokens=tokens)
    return visit.render("context.html", q=q, budget=tokens, budgets=BUDGETS, context=built)


@router.get("/passes")
def passes(visit: Reader, after: str = "", every: str = "") -> HTMLResponse:
    """The sleep passes, newest first, each with what it did and an undo; with `every`, all runs."""
    memory = visit.memory("read")
    cause = None if every else "sleep"
    runs = memory.runs(PASSES, cause=cause, after=after or None, parts="none")
    undone = undone_runs(memory.ports)
    running = next((job for job in visit.state.jobs.list(visit.scope) if not job.has_ended), None)
    return visit.render(
        "passes.html",
        runs=[_whole_run(memory, run.id, undone) for run in runs],
        every=bool(every),
        following=runs[-1].id if len(runs) == PASSES else None,
        running=running,
        chart=_chart(memory, "sleep"),
    )


@router.get("/passes/plan/{plan_id}")
def planned_pass(visit: Reader, plan_id: str) -> HTMLResponse:
    """What a sleep pass would do now, as differences with their reasons."""
    memory = visit.memory("read")
    plan = visit.state.plans.get(memory, plan_id).shown()
    texts = rows.texts_of(memory, rows.linked_ids([plan]))
    stages = rows.stage_rows(plan, texts)
    return visit.render("plan.html", plan=plan, stages=stages, counted=rows.count_changes(stages))


@router.get("/passes/jobs/{job_id}")
def running_pass(visit: Reader, job_id: str) -> HTMLResponse:
    """How far a sleep pass is that was started here; once it has ended, what it reported."""
    memory, jobs = visit.memory("read"), visit.state.jobs
    job = jobs.get(memory, job_id).now()
    return visit.render("job.html", job=job, told=jobs.told(memory, job))


@router.get("/runs/{run_id}")
def one_run(visit: Reader, run_id: str) -> HTMLResponse:
    """One run as differences, with the undo of it."""
    memory = visit.memory("read")
    return visit.render("run.html", row=_whole_run(memory, run_id, undone_runs(memory.ports)))


@router.get("/review")
def review(visit: Reader) -> HTMLResponse:
    """What waits for a decision: withheld memories, pairs of facts that may contradict each other, refused facts."""
    memory = visit.memory("read")
    findings = rows.finding_rows(memory, memory.health())
    return visit.render(
        "review.html",
        withheld=rows.memory_rows(memory, memory.review() if visit.may("review") else []),
        pairs=[(row.finding.kind, *pair) for row in findings if row.finding.kind in PAIRS for pair in row.examples],
        findings=[row for row in findings if row.examples and row.finding.kind not in LISTED],
        refused=memory.refused(30),
    )


@router.get("/conversations")
def conversations(visit: Reader, after: str = "") -> HTMLResponse:
    """The conversations, the one written to last first."""
    found = visit.memory("read").conversations(after=after or None, limit=PAGE_SIZE)
    following = found[-1].name if len(found) == PAGE_SIZE else None
    return visit.render("conversations.html", conversations=found, following=following)


@router.get("/conversations/{name:path}")
def one_conversation(visit: Reader, name: str, after: str = "") -> HTMLResponse:
    """The messages of a conversation, each with the facts that were drawn from it."""
    memory = visit.memory("read")
    listed = memory.get_all(
        kinds=("message",),
        phases=PHASES if visit.may("review") else ALL_PHASES,
        conversation=name,
        order="at",
        after=after or None,
        limit=PAGE_SIZE,
    )
    if not listed and not after:
        raise NotFoundError(f"no conversation {name!r} in this scope: choose one of the list")
    facts = memory.get_all(conversation=name)
    return visit.render(
        "conversation.html",
        name=name,
        said=rows.said_rows(listed, facts),
        summaries=memory.summaries(name),
        following=listed[-1].id if len(listed) == PAGE_SIZE else None,
        estimate=memory.estimate(name),
    )


@router.get("/pages")
def topic_pages(visit: Reader) -> HTMLResponse:
    """The topic pages, by the person or thing that they are about."""
    return visit.render("pages.html", subjects=rows.pages_by_subject(visit.memory("read").pages()))


@router.get("/scopes")
def scopes(visit: Reader, after: str = "", q: Text = "") -> HTMLResponse:
    """The scopes of the store that this browser may read, with the counts of their content."""
    caller = visit.caller
    below = caller.check_scope(q.strip("/ ") or caller.key.prefix) if q.strip("/ ") or caller.key.prefix else ""
    found = caller.store.scopes(below, after=after or None, limit=PAGE_SIZE)
    return visit.render(
        "scopes.html",
        q=q,
        scopes=found,
        keys=_keys(caller) if caller.may("admin") else None,
        following=found[-1].path if len(found) == PAGE_SIZE else None,
        now=visit.memory("read").ports.now(),
    )


def _keys(caller: Caller) -> list[AccessKey]:
    """The keys that the holder of an admin key may manage."""
    return [key for key in caller.store.list_keys() if caller.key.reaches(key.prefix)]


def _whole_run(memory: AgentMemory, run_id: str, undone: Mapping[str, str]) -> rows.RunRow:
    """A run with its parts, as a row."""
    run = memory.run(run_id)
    texts = rows.texts_of(memory, rows.linked_ids(each.plan for each in (run, *run.parts)))
    return rows.run_row(run, undone, texts, _count_undos(memory, run))


def _count_undos(memory: AgentMemory, run: Run) -> int:
    """How many undos lead from a run to the first one that undid nothing."""
    count = 0
    while run.undoes:
        run, count = memory.run(run.undoes), count + 1
    return count
