"""The actions of the dashboard: each checks the form token and the right, calls one method of a memory, and shows the result."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Form, HTTPException
from fastapi.responses import HTMLResponse, RedirectResponse

from slowwave.agent_memory import AgentMemory
from slowwave.errors import ConflictError
from slowwave.server.dashboard.pages import bare_visit
from slowwave.server.dashboard.visit import Visit

ACTIONS: Final = {
    "pin": ("write", AgentMemory.pin),
    "unpin": ("write", AgentMemory.unpin),
    "delete": ("write", AgentMemory.delete),
    "revive": ("write", AgentMemory.revive),
    "release": ("review", AgentMemory.release),
    "reject": ("review", AgentMemory.reject),
}
"""The right and the method of each button that needs no further input."""

router = APIRouter(include_in_schema=False)

Any_ = Annotated[Visit, Depends(bare_visit)]
Token = Annotated[str, Form(max_length=200)]
Word = Annotated[str, Form(max_length=100)]
Words = Annotated[str, Form(max_length=100_000)]


@router.post("/memories/{memory_id}/do")
def change_memory(
    visit: Any_, memory_id: str, token: Token = "", action: Word = "", back: Word = ""
) -> RedirectResponse:
    """Pin, unpin, delete, revive, release or reject one memory."""
    if action not in ACTIONS:
        raise HTTPException(400, f"unknown action: use {', '.join(ACTIONS)}")
    right, method = ACTIONS[action]
    visit.check_form(token, right)
    method(visit.memory, memory_id)
    return visit.go("/review" if back == "review" else f"/memories/{memory_id}")


@router.post("/memories/{memory_id}/update")
def reword_memory(visit: Any_, memory_id: str, token: Token = "", text: Words = "") -> RedirectResponse:
    """Replace the words of one memory. The earlier words stay in its history."""
    visit.check_form(token, "write")
    visit.memory.update(memory_id, text)
    return visit.go(f"/memories/{memory_id}")


@router.post("/memories")
def add_memory(visit: Any_, token: Token = "", text: Words = "") -> RedirectResponse:
    """Store a fact that a person states, after it was reconciled with what is known."""
    visit.check_form(token, "write")
    receipt = visit.memory.add(text)
    stored = next((outcome.memory_id for outcome in receipt.outcomes if outcome.memory_id), None)
    return visit.go(f"/memories/{stored}" if stored else "/memories")


@router.post("/memories/{memory_id}/erase", response_model=None)
def erase_memory(visit: Any_, memory_id: str, token: Token = "", sure: Word = "") -> HTMLResponse | RedirectResponse:
    """Show what an erase of one memory would destroy; with `sure`, destroy it and show the proof."""
    visit.check_form(token, "erase")
    receipt = visit.memory.erase(id=memory_id, dry_run=sure != "yes")
    return visit.render("erase.html", receipt=receipt, action=f"/memories/{memory_id}/erase", what="this memory")


@router.post("/erase/conversation", response_model=None)
def erase_conversation(visit: Any_, token: Token = "", name: Words = "", sure: Word = "") -> HTMLResponse:
    """Show what an erase of one conversation would destroy; with `sure`, destroy it and show the proof."""
    visit.check_form(token, "erase")
    receipt = visit.memory.erase(conversation=name, dry_run=sure != "yes")
    return visit.render(
        "erase.html", receipt=receipt, action="/erase/conversation", what=f"the conversation {name}", name=name
    )


@router.post("/nights/plan")
def plan_night(visit: Any_, token: Token = "") -> RedirectResponse:
    """Plan a sleep pass without carrying it out."""
    visit.check_form(token, "write")
    return visit.go(f"/nights/plan/{visit.desk.passes.plan(visit.memory)}")


@router.post("/nights/plan/{plan_id}/apply")
def apply_plan(visit: Any_, plan_id: str, token: Token = "") -> RedirectResponse:
    """Carry out a plan. Groups whose memories have changed since are dropped."""
    visit.check_form(token, "write")
    report = visit.desk.passes.planned(visit.scope, plan_id)
    receipts = visit.memory.apply(report.plan)
    visit.desk.passes.discard(visit.scope, plan_id)
    return visit.go(f"/runs/{receipts[0].run_id if len(receipts) == 1 else report.plan.id}")


@router.post("/nights/plan/{plan_id}/discard")
def discard_plan(visit: Any_, plan_id: str, token: Token = "") -> RedirectResponse:
    """Forget a plan. Nothing was changed by it."""
    visit.check_form(token, "write")
    visit.desk.passes.discard(visit.scope, plan_id)
    return visit.go("/nights")


@router.post("/nights/run")
def run_night(visit: Any_, token: Token = "") -> RedirectResponse:
    """Start a sleep pass, and show how far it is."""
    visit.check_form(token, "write")
    visit.desk.passes.start(visit.memory)
    return visit.go("/nights/running")


@router.post("/runs/{run_id}/undo", response_model=None)
def undo_run(visit: Any_, run_id: str, token: Token = "", cascade: Word = "") -> HTMLResponse | RedirectResponse:
    """Reverse a run. If later runs depend on it, ask first whether to reverse them too."""
    visit.check_form(token, "write")
    try:
        receipts = visit.memory.undo(run_id, cascade=cascade == "yes")
    except ConflictError as error:
        return visit.render("conflict.html", code=409, run_id=run_id, sentence=str(error))
    return visit.go(f"/runs/{receipts[-1].run_id}")


@router.post("/conversations/consolidate")
def consolidate(visit: Any_, token: Token = "", name: Words = "") -> RedirectResponse:
    """Read the unread messages of a conversation for facts now."""
    visit.check_form(token, "write")
    visit.memory.consolidate(name, force=True)
    return visit.go(f"/conversations/{name}")


@router.post("/sign-in", response_model=None)
def sign_in(visit: Any_, token: Token = "", key: Word = "") -> HTMLResponse | RedirectResponse:
    """Join a key to this browser's session."""
    gate = visit.desk.gate
    if gate is None:
        return visit.go("/")
    if visit.is_new or token != visit.token or not gate.sign_in(visit.session, key):
        return visit.render(
            "sign_in.html", code=401, problem="This key is not valid here. Check it and enter it again."
        )
    return visit.go("/")


@router.post("/sign-out")
def sign_out(visit: Any_, token: Token = "") -> RedirectResponse:
    """End this browser's session."""
    visit.check_form(token, "read")
    if visit.desk.gate is not None:
        visit.desk.gate.sign_out(visit.session)
    return visit.go("/sign-in")
