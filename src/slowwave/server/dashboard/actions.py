"""The actions of the dashboard: each checks the form token and the right, calls one method of a memory, and shows the result."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from slowwave.agent_memory import AgentMemory
from slowwave.errors import ConflictError, InputError, shown
from slowwave.model.access import Right
from slowwave.pipelines.admin.erase import ErasureReceipt
from slowwave.server.access.errors import UnauthorizedError
from slowwave.server.dashboard.pages import bare_visit
from slowwave.server.dashboard.visit import Visit
from slowwave.server.work.jobs import Report

SIGN_IN: Final = "/sign-in"
ACTIONS: Final[Mapping[str, tuple[tuple[Right, ...], Callable[[AgentMemory, str], object]]]] = {
    "pin": (("write",), AgentMemory.pin),
    "unpin": (("write",), AgentMemory.unpin),
    "delete": (("write",), AgentMemory.delete),
    "revive": (("write",), AgentMemory.revive),
    "release": (("review", "write"), AgentMemory.release),
    "reject": (("review", "write"), AgentMemory.reject),
}
"""The rights and the method of each button that needs no further input."""


class FormRoute(APIRoute):
    """A route of a form. It finds the key of the browser before it reads the form, which only the page to sign in is without."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, after the browser was admitted."""
        handle = super().get_route_handler()

        async def admitted(request: Request) -> Response:
            if self.path != SIGN_IN:
                await run_in_threadpool(lambda: bare_visit(request).caller)
            return await handle(request)

        return admitted


router = APIRouter(include_in_schema=False, route_class=FormRoute)

AnyVisit = Annotated[Visit, Depends(bare_visit)]
Token = Annotated[str, Form(max_length=200)]
Word = Annotated[str, Form(max_length=100)]
Words = Annotated[str, Form(max_length=100_000)]
RightNames = Annotated[Sequence[str], Form()]


@router.post("/memories/{memory_id}/do")
def change_memory(
    visit: AnyVisit, memory_id: str, token: Token = "", action: Word = "", back: Word = ""
) -> RedirectResponse:
    """Pin, unpin, delete, revive, release or reject one memory."""
    if action not in ACTIONS:
        raise InputError(f"unknown action {shown(action)}: use {', '.join(ACTIONS)}")
    rights, method = ACTIONS[action]
    memory = visit.act(token, *rights)
    method(memory, memory_id)
    return visit.go("/review" if back == "review" else f"/memories/{memory_id}")


@router.post("/memories/{memory_id}/update")
def reword_memory(visit: AnyVisit, memory_id: str, token: Token = "", text: Words = "") -> RedirectResponse:
    """Replace the words of one memory. The earlier words stay in its history."""
    memory = visit.act(token, "write")
    memory.update(memory_id, text)
    return visit.go(f"/memories/{memory_id}")


@router.post("/memories")
def add_memory(visit: AnyVisit, token: Token = "", text: Words = "") -> RedirectResponse:
    """Store a fact that a person states, after it was reconciled with what is known."""
    memory = visit.act(token, "write")
    receipt = memory.add(text)
    stored = next((outcome.memory_id for outcome in receipt.outcomes if outcome.memory_id), None)
    return visit.go(f"/memories/{stored}" if stored else "/memories")


@router.post("/memories/{memory_id}/erase", response_model=None)
def erase_memory(
    visit: AnyVisit, memory_id: str, token: Token = "", sure: Word = ""
) -> HTMLResponse | RedirectResponse:
    """Show what an erase of one memory would destroy; with `sure`, destroy it and show the proof."""
    receipt = _erase(visit, token, sure, memory_id=memory_id)
    return visit.render(
        "erase.html",
        receipt=receipt,
        action=f"/memories/{memory_id}/erase",
        back=f"/memories/{memory_id}",
        what="this memory",
    )


@router.post("/erase/conversation", response_model=None)
def erase_conversation(visit: AnyVisit, token: Token = "", name: Words = "", sure: Word = "") -> HTMLResponse:
    """Show what an erase of one conversation would destroy; with `sure`, destroy it and show the proof."""
    receipt = _erase(visit, token, sure, conversation=name)
    return visit.render(
        "erase.html",
        receipt=receipt,
        action="/erase/conversation",
        back=f"/conversations/{name}",
        what=f"the conversation {name}",
        name=name,
    )


@router.post("/passes/plan")
def plan_pass(visit: AnyVisit, token: Token = "") -> RedirectResponse:
    """Plan a sleep pass without carrying it out."""
    memory = visit.act(token, "write")
    report = visit.state.plans.make(memory, lambda: memory.sleep(dry_run=True), visit.caller.tenant(memory.scope))
    return visit.go(f"/passes/plan/{report.plan.id}")


@router.post("/passes/plan/{plan_id}/apply")
def apply_plan(visit: AnyVisit, plan_id: str, token: Token = "") -> RedirectResponse:
    """Carry out a plan. Groups whose memories have changed since are dropped."""
    memory = visit.act(token, "write")
    plan = visit.state.plans.get(memory, plan_id)
    memory.apply(plan)
    visit.state.plans.drop(plan_id)
    return visit.go(f"/runs/{plan.id}")


@router.post("/passes/plan/{plan_id}/discard")
def discard_plan(visit: AnyVisit, plan_id: str, token: Token = "") -> RedirectResponse:
    """Forget a plan. Nothing was changed by it."""
    memory = visit.act(token, "write")
    visit.state.plans.get(memory, plan_id)
    visit.state.plans.drop(plan_id)
    return visit.go("/passes")


@router.post("/passes/run")
def run_pass(visit: AnyVisit, token: Token = "") -> RedirectResponse:
    """Start a sleep pass, and show how far it is."""
    memory = visit.act(token, "write")
    tenant = visit.caller.tenant(memory.scope)
    job = visit.state.jobs.start(memory, "sleep", lambda report: _sleep(memory, report), tenant)
    return visit.go(f"/passes/jobs/{job.id}")


@router.post("/runs/{run_id}/undo", response_model=None)
def undo_run(visit: AnyVisit, run_id: str, token: Token = "", cascade: Word = "") -> HTMLResponse | RedirectResponse:
    """Reverse a run. If later runs depend on it, ask first whether to reverse them too."""
    memory = visit.act(token, "write")
    try:
        receipts = memory.undo(run_id, cascade=cascade == "yes")
    except ConflictError as error:
        return visit.render("conflict.html", code=409, run_id=run_id, sentence=str(error))
    return visit.go(f"/runs/{receipts[-1].run_id}")


@router.post("/conversations/consolidate")
def consolidate(visit: AnyVisit, token: Token = "", name: Words = "") -> RedirectResponse:
    """Read the unread messages of a conversation for facts now."""
    memory = visit.act(token, "write")
    memory.consolidate(name, force=True)
    return visit.go(f"/conversations/{name}")


@router.post(SIGN_IN, response_model=None)
def sign_in(visit: AnyVisit, token: Token = "", key: Word = "") -> HTMLResponse | RedirectResponse:
    """Join a key to this browser's session."""
    visit.check_token(token)
    try:
        visit.state.authenticator.holder(key.strip())
    except UnauthorizedError as error:
        return visit.render("sign_in.html", code=401, problem=str(error))
    visit.renew()
    visit.state.sessions.sign_in(visit.session, key.strip())
    return visit.go("/")


@router.post("/sign-out")
def sign_out(visit: AnyVisit, token: Token = "") -> RedirectResponse:
    """End this browser's session."""
    visit.check_token(token)
    visit.state.sessions.sign_out(visit.session)
    return visit.go("/sign-in")


@router.post("/keys", response_model=None)
def add_key(
    visit: AnyVisit, token: Token = "", label: Word = "", prefix: Words = "", right: RightNames = ()
) -> HTMLResponse:
    """Make a key, and show its secret this once."""
    visit.act(token, "admin")
    caller = visit.caller
    below = caller.check_scope(prefix.strip() or caller.key.prefix) if prefix.strip() or caller.key.prefix else ""
    if not caller.store.has_keys() and "admin" not in right:
        raise InputError("the first key needs the right 'admin', because from then on only a key opens this page")
    made = caller.store.add_key(
        label, prefix=below, rights=right or ("read",), trust=caller.key.trust, made_by=caller.key_id
    )
    return visit.render("key.html", made=made)


@router.post("/keys/{key_id}/revoke")
def revoke_key(visit: AnyVisit, key_id: str, token: Token = "") -> RedirectResponse:
    """Revoke a key: from now on it opens nothing."""
    visit.act(token, "admin")
    visit.caller.check_key(key_id)
    visit.caller.store.revoke_key(key_id)
    return visit.go("/scopes")


def _erase(
    visit: Visit, token: str, sure: str, *, memory_id: str | None = None, conversation: str | None = None
) -> ErasureReceipt:
    """Show an erase, or carry it out. A key without the right to read is shown no words."""
    memory = visit.act(token, "erase")
    receipt = memory.erase(id=memory_id, conversation=conversation, dry_run=sure != "yes")
    return receipt if visit.may("read") else replace(receipt, first_words=())


def _sleep(memory: AgentMemory, report: Report) -> dict[str, object]:
    """Run a sleep pass as a job. Returns the id of its run, None if it changed nothing, and its problems."""
    done = memory.sleep(on_progress=report)
    return {"run_id": done.plan.id if done.receipts else None, "problems": list(done.problems)}
