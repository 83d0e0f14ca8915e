"""Routes of messages, conversations, facts and what they are found by."""

from typing import Annotated

from fastapi import APIRouter, Body, Query

from slowwave.agent_memory import AgentMemory
from slowwave.model.memory import Kind, Phase
from slowwave.model.mind import Fact
from slowwave.model.plan import Event
from slowwave.model.query import Context
from slowwave.server.access.values import VISIBLE
from slowwave.server.http import requests as ask, responses as view
from slowwave.server.http.dependencies import (
    After,
    Id,
    Limit,
    Named,
    Reading,
    RepeatableRoute,
    Telling,
    Time,
    Writing,
)

router = APIRouter(prefix="/scopes/{scope}", route_class=RepeatableRoute)


# ---- messages


@router.post("/messages", status_code=201, tags=["messages"])
def add_messages(memory: Writing, tell: Telling, asked: ask.NewMessages) -> view.Done:
    """Store messages of a conversation. They are durable and searchable when this is answered."""
    messages = [message.model_dump(exclude_unset=True) for message in asked.messages]
    return tell(memory.add_messages(messages, asked.conversation))


@router.get("/conversations", tags=["messages"])
def conversations(memory: Reading, after: After = None, limit: Limit = 50) -> view.Conversations:
    """List the conversations, the one with the latest message first."""
    found = memory.conversations(after=after, limit=limit + 1)
    page = found[:limit]
    return view.Conversations(
        items=[view.ConversationView.model_validate(one) for one in page],
        next=page[-1].name if len(found) > limit else None,
    )


@router.get("/conversations/{name}/messages", tags=["messages"])
def messages(
    memory: Reading,
    name: Named,
    last: Annotated[int, Query(ge=1, le=10_000)] = 100,
    withheld: Annotated[bool, Query(description="Also the places of messages under review, without text.")] = False,
) -> view.Messages:
    """List the latest messages of a conversation in their order."""
    found = memory.messages(name, last=last, withheld=withheld)
    return view.Messages(items=[view.MessageView.model_validate(message) for message in found])


# ---- facts


@router.post("/facts", status_code=201, tags=["facts"])
def add_fact(memory: Writing, tell: Telling, asked: ask.NewFact) -> view.Done:
    """State a fact. It may update, supersede or repeat a known one: `outcomes` says which."""
    return tell(memory.add(**asked.model_dump()))


@router.post("/facts:batch", status_code=201, tags=["facts"])
def add_facts(memory: Writing, tell: Telling, asked: ask.NewFacts) -> view.Done:
    """State several facts as one run, which one undo reverses."""
    facts = [
        Fact(
            text=fact.text,
            category=fact.category,
            kind=fact.kind,
            subject=fact.subject,
            importance=fact.importance,
            metadata=fact.metadata,
            trust=fact.trust,
            ref=fact.id,
            valid_from=fact.at,
            expires_at=fact.expires_at,
        )
        for fact in asked.facts
    ]
    return tell(memory.add_all(facts))


@router.get("/facts", tags=["facts"])
def facts(
    memory: Reading,
    category: Annotated[list[ask.Name] | None, Query(max_length=100)] = None,
    phase: Annotated[list[Phase] | None, Query(max_length=6)] = None,
    kind: Annotated[list[Kind] | None, Query(max_length=6)] = None,
    conversation: Annotated[ask.Name | None, Query()] = None,
    order: Annotated[str, Query(pattern="^-?(recorded|at|strength)$")] = "recorded",
    after: Annotated[str | None, Query(min_length=1, max_length=64)] = None,
    limit: Limit = 50,
) -> view.Memories:
    """List facts. By default those in use, in the order in which they were stored. `quarantined` needs the right `review`."""
    found = memory.get_all(
        kinds=kind,
        categories=category,
        phases=phase,
        conversation=conversation,
        order=order,
        after=after,
        limit=limit + 1,
    )
    return view.memories(found, limit)


@router.get("/facts/{fact_id}", tags=["facts"])
def fact(memory: Reading, fact_id: Id) -> view.MemoryView:
    """Read one memory in any phase. One that waits for review needs the right `review`."""
    return view.MemoryView.model_validate(memory.get(fact_id))


@router.patch("/facts/{fact_id}", tags=["facts"])
def update_fact(memory: Writing, tell: Telling, fact_id: Id, asked: ask.FactChange) -> view.Done:
    """Change the text, the category or the metadata. The former values stay in the history."""
    return tell(memory.update(fact_id, asked.text, category=asked.category, metadata=asked.metadata))


@router.delete("/facts/{fact_id}", tags=["facts"])
def delete_fact(memory: Writing, tell: Telling, fact_id: Id) -> view.Done:
    """Retract a memory. It is not destroyed: `undo` of the run restores it."""
    return tell(memory.delete(fact_id))


@router.post("/facts:delete", tags=["facts"])
def delete_facts(memory: Writing, tell: Telling, asked: ask.Ids) -> view.Done:
    """Retract several memories as one run."""
    return tell(memory.delete(asked.ids))


@router.post("/facts/{fact_id}:pin", tags=["facts"])
def pin(memory: Writing, tell: Telling, fact_id: Id) -> view.Done:
    """Exempt a memory from all automatic changes, and include it in every context."""
    return tell(memory.pin(fact_id))


@router.post("/facts/{fact_id}:unpin", tags=["facts"])
def unpin(memory: Writing, tell: Telling, fact_id: Id) -> view.Done:
    """End the exemption of `pin`."""
    return tell(memory.unpin(fact_id))


@router.post("/facts/{fact_id}:revive", tags=["facts"])
def revive(memory: Writing, tell: Telling, fact_id: Id) -> view.Done:
    """Make an archived, superseded or retracted memory active again. One that waits for review needs the right `review`."""
    return tell(memory.revive(fact_id))


@router.post("/facts/{fact_id}:use", tags=["facts"])
def use(memory: Writing, fact_id: Id, asked: Annotated[ask.UseOf | None, Body()] = None) -> view.Used:
    """Record that a memory was used: it fades more slowly."""
    return view.Used(recorded=memory.record_retrieval(fact_id, session=asked.session if asked else None))


@router.get("/facts/{fact_id}/history", tags=["facts"])
def history(memory: Reading, fact_id: Id) -> view.History:
    """List what happened to a memory, oldest first."""
    return view.History(items=[_event(event) for event in memory.history(fact_id)])


@router.get("/facts/{fact_id}/explanation", tags=["facts"])
def explanation(memory: Reading, fact_id: Id) -> view.ExplanationView:
    """Explain a memory: its strength and its parts, when it fades, and its sources."""
    found = memory.explain(fact_id)
    return view.ExplanationView(
        memory=view.MemoryView.model_validate(found.memory),
        strength=found.strength,
        parts=dict(found.parts),
        fades_at=found.fades_at,
        expires_at=found.expires_at,
        kept_because=found.kept_because,
        sources=[view.MemoryView.model_validate(source) for source in found.sources],
        text=str(found),
    )


# ---- search and context


@router.get("/search", tags=["recall"])
def search(
    memory: Reading,
    q: Annotated[str, Query(min_length=1, max_length=20_000, pattern=VISIBLE)],
    top_k: Annotated[int, Query(ge=1, le=100)] = 10,
    deep: bool = False,
    conversation: Annotated[ask.Name | None, Query()] = None,
    since: Time = None,
    until: Time = None,
    as_of: Time = None,
    min_relevance: Annotated[float | None, Query(ge=0, le=1)] = None,
) -> view.Hits:
    """Find the best memories for a question. Nothing is written."""
    return _search(
        memory,
        ask.Question(
            query=q,
            top_k=top_k,
            deep=deep,
            conversation=conversation,
            since=since,
            until=until,
            as_of=as_of,
            min_relevance=min_relevance,
        ),
    )


@router.post("/search", tags=["recall"])
def search_with_filters(memory: Reading, asked: ask.Question) -> view.Hits:
    """Find the best memories for a long question, or with all filters. Nothing is written."""
    return _search(memory, asked)


@router.post("/context", tags=["recall"])
def context(memory: Reading, asked: ask.ContextQuestion) -> view.ContextView:
    """Build the text to put before a model for a question."""
    return _context(
        memory.context(
            asked.query,
            conversation=asked.conversation,
            budget_tokens=asked.budget_tokens,
            profile=asked.profile,
        )
    )


def _search(memory: AgentMemory, asked: ask.Question) -> view.Hits:
    values = asked.model_dump(exclude={"query"})
    return view.Hits(items=[view.HitView.of(hit) for hit in memory.search(asked.query, **values)])


def _context(found: Context) -> view.ContextView:
    return view.ContextView(
        text=str(found),
        tokens=found.tokens,
        left=found.left,
        messages=list(found.messages),
        memory_ids=[memory.id for memory in found.memories],
        sections=[
            view.ContextSectionView(
                name=section.name,
                instructions=section.instructions,
                items=[
                    view.ContextItemView(
                        text=item.text,
                        tokens=item.tokens,
                        memory_id=item.memory.id if item.memory else None,
                        because=item.because,
                        outdated=item.outdated,
                    )
                    for item in section.items
                ],
            )
            for section in found.sections
        ],
    )


def _event(event: Event) -> view.EventView:
    operation = event.operation
    memory = getattr(operation, "after", None) or getattr(operation, "memory", None)
    text = getattr(memory, "text", None)
    return view.EventView(run_id=event.run_id, cause=event.cause, at=event.at, because=operation.because, text=text)
