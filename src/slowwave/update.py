"""The unified update pipeline by the names of its page: a candidate fact, one decision, and what a prompt is told."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slowwave.agent_memory import AgentMemory
from slowwave.composition import with_mind
from slowwave.errors import InputError
from slowwave.model.memory import Memory
from slowwave.model.message import Message
from slowwave.model.mind import Fact
from slowwave.model.operations import Add, Change, Use
from slowwave.model.plan import Receipt
from slowwave.model.query import Item, Section
from slowwave.pipelines.ingest.add import add_fact, checked_fact
from slowwave.pipelines.ingest.distil import ConsolidationResult, consolidate
from slowwave.pipelines.recall.core_memory import core_facts
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.policy.guard.fence import fence_tag, render
from slowwave.policy.guard.labels import label
from slowwave.ports import LLM, Mind, Ports

_FIELDS = frozenset({"content", "subject", "category", "kind", "importance", "metadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """What became of a candidate.

    Args:
        operation: "ADD", "UPDATE", "DELETE" or "NOOP". A model that cannot be read is a NOOP on all that is known.
        memory: the memory that holds the candidate now.
        receipt: what was done, and the run to undo; `receipt.waiting` says that the candidate is stored and waits for
            a decision.
    """

    operation: str
    memory: Memory
    receipt: Receipt


def update_memory(
    memory: AgentMemory, llm: LLM | Mind | str | None, model: str | None, candidate: str | Fact | Mapping[str, Any]
) -> Updated:
    """Write one fact: similar memories are looked up, a model decides once what to do, and that is done.

    Args:
        memory: where.
        llm: whoever decides: an object with `.complete(messages=...)`, a provider ("openai"), or None for the
            memory's own mind.
        model: the model's name, handed to a provider, or to a `complete` that takes `model`; else None.
        candidate: the fact: its words, a Fact, or a mapping with "content" and perhaps "subject", "category", "kind",
            "importance", "metadata".

    Raises:
        InputError: for a candidate that cannot be meant.
    """
    ports = _thinking(memory, llm, model)
    receipt = add_fact(ports, (checked_fact(_fact(candidate)),))
    return Updated(operation=_operation(receipt), memory=_holder(ports, receipt), receipt=receipt)


def extract_memories(
    memory: AgentMemory, llm: LLM | Mind | str | None, model: str | None, messages: Sequence[Message] = ()
) -> ConsolidationResult:
    """Store a turn and read what is unread of its conversation; nothing that comes quickly after another is dropped."""
    if messages:
        memory.add_messages(messages)
    return consolidate(_thinking(memory, llm, model), None, force=True)


def consolidate_and_cleanup(memory: AgentMemory) -> SleepReport:
    """Merge what is there twice, let go what is over, and decide what waits: a night of the memory itself."""
    return memory.sleep()


def format_for_prompt(memory: AgentMemory, message: str = "", *, top_k: int | None = None) -> str:
    """What a prompt is told of the facts: what is always in view, then those relevant to this message.

    Args:
        memory: whose facts.
        message: the inbound message; without one only what is always in view is told.
        top_k: at most so many in all; None means `injection_top_k`.

    Returns:
        One fact a line, between marks that say it is data; empty where there is nothing to tell.
    """
    ports = memory.ports
    most = ports.config.injection_top_k if top_k is None else top_k
    known = {one.id: one for one in core_facts(ports)[:most]}
    found = memory.search_knowledge(message, top_k=most) if message.strip() and most > len(known) else []
    known |= {hit.memory.id: hit.memory for hit in found}
    lines = tuple(_line(one) for one in list(known.values())[:most])
    if not lines:
        return ""
    return render((Section(name="Known facts", items=lines),), fence_tag(ports.store.secret, ports.scope, None))


def _thinking(memory: AgentMemory, llm: LLM | Mind | str | None, model: str | None) -> Ports:
    if llm is None:
        return memory.ports.start_run()
    if isinstance(llm, str):
        return with_mind(memory.ports, f"{llm}:{model}" if model else llm).start_run()
    return with_mind(memory.ports, _Model(llm, model) if model and _takes_model(llm) else llm).start_run()


class _Model:
    """A client of many models, as one of them."""

    def __init__(self, llm: Any, model: str) -> None:  # noqa: ANN401 - a client whose `complete` takes `model`
        self._llm, self.model = llm, model

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> Any:  # noqa: ANN401 - read later, whatever it is
        """The model's answer."""
        return self._llm.complete(messages=messages, model=self.model)


def _takes_model(llm: object) -> bool:
    complete = getattr(llm, "complete", None)
    return callable(complete) and "model" in inspect.signature(complete).parameters


def _fact(candidate: str | Fact | Mapping[str, Any]) -> Fact:
    if isinstance(candidate, Fact):
        return candidate
    told = {"content": candidate} if isinstance(candidate, str) else dict(candidate)
    if "content" not in told or told.keys() - _FIELDS:
        raise InputError(f"a candidate with {sorted(told)}: give its words, or content and {sorted(_FIELDS)}")
    return Fact(text=told.pop("content"), **told)


def _operation(receipt: Receipt) -> str:
    if receipt.waiting:
        return "NOOP"
    changes = [one for one in receipt.applied if isinstance(one, Change)]
    if any(one.after.superseded_by or one.after.text != one.before.text for one in changes):
        return "UPDATE"
    if any(one.after.phase == "retracted" for one in changes):
        return "DELETE"
    return "ADD" if receipt.ids else "NOOP"


def _holder(ports: Ports, receipt: Receipt) -> Memory:
    """The memory that was added, else the one that was changed or used instead."""
    touched = [
        one.memory.id if isinstance(one, Add) else one.after.id
        for one in receipt.applied
        if isinstance(one, Add | Change | Use)
    ]
    (found,) = ports.store.get((ports.scope,), [*receipt.ids, *reversed(touched)][:1])
    return found


def _line(memory: Memory) -> Item:
    words = f"{label(memory.trust)}[{memory.category}] {memory.text} ({memory.at:%Y-%m-%d})"
    return Item(text=words, tokens=0, memory=memory)
