"""Interfaces of other memory systems on top of AgentMemory: a memory consolidator, and a unified update pipeline."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from slowwave.agent_memory import AgentMemory
from slowwave.composition import with_mind
from slowwave.errors import InputError
from slowwave.model.arguments import checked_arguments, checked_class
from slowwave.model.codec import content_key
from slowwave.model.config import Config
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.message import Message, as_messages, checked_message
from slowwave.model.mind import Fact
from slowwave.model.names import checked_count, texts_of
from slowwave.model.plan import Receipt
from slowwave.model.query import Item, Section, Where
from slowwave.pipelines.ingest.add import add_facts, checked_fact
from slowwave.pipelines.ingest.distil import ConsolidationResult, consolidate
from slowwave.pipelines.recall.core_memory import core_facts
from slowwave.pipelines.recall.record_use import use
from slowwave.pipelines.sleep.fade import forget
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.policy.guard.fence import fence_tag, render
from slowwave.policy.guard.labels import label
from slowwave.policy.retention.core import rank
from slowwave.policy.retention.policies import strength
from slowwave.ports import LLM, Mind, Ports
from slowwave.views import Knowledge

_CANDIDATE_FIELDS: Final = frozenset({"content", "subject", "category", "kind", "importance", "metadata"})


# ---- memory consolidator


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilledFact:
    """A fact as `MemoryConsolidator.distilled` returns it.

    Args:
        text: the fact.
        category: its category.
        confidence: from 0 to 1.
        timestamp: when it was recorded, in seconds since 1970 UTC.
        strength: above 0 and at most 1, when the fact was read.
        retrievals: its recorded uses, when the fact was read.
    """

    text: str
    category: str = "other"
    confidence: float = 1.0
    timestamp: float = 0.0
    strength: float = 1.0
    retrievals: int = 0


class InMemoryVectorStore:
    """A placeholder for programs that pass a vector store. The memory itself stores the vectors."""


@checked_class
class SemanticMemory(Knowledge):
    """The facts of a memory. Pass it to `AgentMemory(knowledge=...)`.

    Args:
        vector_store: accepted and kept, but not used.
    """

    def __init__(self, vector_store: InMemoryVectorStore | None = None) -> None:
        super().__init__()
        self.vector_store = vector_store or InMemoryVectorStore()


@checked_class
class MemoryConsolidator:
    """Extracts facts from conversations, archives weak facts, and lists the core facts.

    Args:
        llm: an object with `.complete(messages=...)`, a Mind, "openai:MODEL" and the like; None: the memory's own mind.
        max_facts_per_pass: how many facts a call of the model may propose for each 1,000 tokens that it reads.
        min_messages: conversations with fewer unread messages are not read.
        confidence_threshold: facts of lower confidence are not stored; from 0 to 1.
        forgetting_threshold: `decay` archives facts of lower strength; above 0 and below 1.
    """

    def __init__(
        self,
        *,
        llm: LLM | Mind | str | None,
        max_facts_per_pass: int = 8,
        min_messages: int = 6,
        confidence_threshold: float = 0.5,
        forgetting_threshold: float = 0.1,
    ) -> None:
        self._llm = llm
        self._config = Config(
            max_facts_per_pass=max_facts_per_pass,
            min_messages=min_messages,
            confidence_threshold=confidence_threshold,
            forgetting_threshold=forgetting_threshold,
            consolidation_retention_threshold=_compression_threshold(forgetting_threshold),
        )

    def consolidate(self, *, memory: AgentMemory, recent_messages: Sequence[Message]) -> ConsolidationResult:
        """Store the messages the memory does not contain yet, and extract facts from the conversation written to last.

        Messages without an id are compared by role and text.
        """
        ports = self._ports(memory)
        self._add_missing(memory, recent_messages)
        if self._llm is not None:
            ports = with_mind(ports, self._llm)
        return consolidate(ports.start_run(), None)

    def decay(self, knowledge: Knowledge, *, half_life_days: float = 14.0, prune: bool = True) -> int:
        """Archive the facts whose strength is below the threshold. A deep search still finds them.

        Strength is 0.5 ** (days since the fact was recorded or last used / half_life_days). It does not depend on how
        often this is called.

        Returns:
            How many facts were archived; always 0 with `prune=False`.
        """
        ports = self._ports(knowledge.memory)
        config = replace(ports.config, retention_policy="half_life", half_life_days=half_life_days)
        return forget(replace(ports, config=config)) if prune else 0

    def core_memory(self, knowledge: Knowledge, *, top_k: int = 5, min_retrievals: int = 0) -> list[str]:
        """Return the texts of the strongest and most used facts, ordered by strength + 0.1 ln(1 + retrievals)."""
        ports = self._ports(knowledge.memory)
        top_k, min_retrievals = checked_count(top_k, "top_k"), checked_count(min_retrievals, "min_retrievals")
        ranked = rank(_facts(ports), ports.config, ports.now(), top_k=top_k, min_retrievals=min_retrievals)
        return [memory.text for memory in ranked]

    def record_retrieval(self, knowledge: Knowledge, fact_texts: Iterable[str]) -> int:
        """Record that facts were used, by their texts. Returns how many facts have one of these texts."""
        ports = self._ports(knowledge.memory)
        keys = {content_key(text) for text in texts_of(fact_texts, "fact_texts")}
        return use(ports, [memory for memory in _facts(ports) if content_key(memory.text) in keys])[0]

    def distilled(self, memory: AgentMemory) -> list[DistilledFact]:
        """Return the facts in use, without archived ones."""
        ports = self._ports(memory)
        return [
            DistilledFact(
                text=fact.text,
                category=fact.category,
                confidence=fact.confidence,
                timestamp=fact.recorded_at.timestamp(),
                strength=strength(fact, ports.config, ports.now()),
                retrievals=fact.accesses,
            )
            for fact in _facts(ports)
        ]

    def _ports(self, memory: AgentMemory) -> Ports:
        """The ports of a memory with the numbers of this consolidator."""
        ports = memory.ports.whole
        config = replace(
            ports.config,
            max_facts_per_pass=self._config.max_facts_per_pass,
            min_messages=self._config.min_messages,
            confidence_threshold=self._config.confidence_threshold,
            forgetting_threshold=self._config.forgetting_threshold,
            consolidation_retention_threshold=max(
                ports.config.consolidation_retention_threshold, self._config.consolidation_retention_threshold
            ),
        )
        return replace(ports, config=config)

    def _add_missing(self, memory: AgentMemory, recent: Sequence[Message]) -> None:
        """Store those of the recent messages that the conversation written to last does not contain.

        Messages with an id are compared by id. Of the others, the longest beginning that the conversation ends with is
        known, and so are all of them if they occur in it in one piece. Those that wait for review are known too.
        """
        ports = memory.ports.whole
        names = (conversation.name for conversation in ports.store.conversations(ports.scope) if conversation.name)
        name = next(names, None)
        where = Where(kinds=frozenset({MESSAGE}), conversation=name, order="seq")
        stored = ports.store.select((ports.scope,), where) if name is not None else []
        ids = {message.ref or message.id for message in stored}
        places = ((f"message {number}", message) for number, message in enumerate(recent))
        split = [(place, one) for place, message in places for one in as_messages(message, place)]
        given = [checked_message(one, place, zone=ports.zone) for place, one in split]
        new = [message for message in given if message.id is None or message.id not in ids]
        stored_texts = [(message.role, message.text) for message in stored]
        texts = [(message.role, message.content) for message in new]
        starts = range(len(stored_texts) - len(texts) + 1)
        if any(stored_texts[start : start + len(texts)] == texts for start in starts):
            return
        lengths = range(min(len(stored_texts), len(texts)), 0, -1)
        overlap = next((length for length in lengths if stored_texts[-length:] == texts[:length]), 0)
        if new[overlap:]:
            memory.add_messages(new[overlap:])


def _compression_threshold(forgetting_threshold: float) -> float:
    """The default threshold of compression if it is above that of forgetting, else half-way from there to 1."""
    default = Config().consolidation_retention_threshold
    is_between = default <= forgetting_threshold < 1  # Config refuses a number that is not below 1
    return (1.0 + forgetting_threshold) / 2 if is_between else default


def _facts(ports: Ports) -> list[Memory]:
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT))
    return ports.store.select((ports.scope,), where)


# ---- unified update pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """The result of `update_memory`.

    Args:
        operation: "ADD", "UPDATE", "DELETE" or "NOOP". It is "NOOP" if the model failed: no known fact changed.
        memory: the memory that holds the candidate now.
        receipt: the operations and the run to undo. If `receipt.waiting` is not 0, the candidate is stored and waits
            for a decision of the model.
    """

    operation: str
    memory: Memory
    receipt: Receipt


@checked_arguments
def update_memory(
    memory: AgentMemory, llm: LLM | Mind | str | None, model: str | None, candidate: str | Fact | Mapping[str, Any]
) -> Updated:
    """Store one fact. The model sees similar facts and decides once what to do with them.

    Args:
        memory: the memory to write to.
        llm: an object with `.complete(messages=...)`, a provider such as "openai", or None for the memory's own mind.
        model: the name of the model, for a provider or for a `complete` that takes `model`; else None.
        candidate: the text of the fact, a Fact, or a mapping with "content" and optionally "subject", "category",
            "kind", "importance", "metadata".

    Raises:
        InputError: the candidate is invalid, or is of lower trust and a person deleted it.
    """
    ports = _run_ports(memory, llm, model)
    receipt = add_facts(ports, (checked_fact(_fact(candidate), ports.zone),))
    (outcome,) = receipt.outcomes
    if outcome.memory_id is None:
        raise InputError(f"the fact was not stored: {outcome.reason}")
    operation = "NOOP" if receipt.waiting else "ADD" if outcome.operation == "REVIEW" else outcome.operation
    (held,) = ports.store.get((ports.scope,), [outcome.memory_id])
    return Updated(operation=operation, memory=held, receipt=receipt)


@checked_arguments
def extract_memories(
    memory: AgentMemory, llm: LLM | Mind | str | None, model: str | None, messages: Sequence[Message] = ()
) -> ConsolidationResult:
    """Store messages, and extract facts from all unread messages of the conversation written to last.

    `llm` and `model` are as in `update_memory`.
    """
    if messages:
        memory.add_messages(messages)
    return consolidate(_run_ports(memory, llm, model), None, force=True)


@checked_arguments
def consolidate_and_cleanup(memory: AgentMemory) -> SleepReport:
    """Merge duplicates, archive what expired or faded, and decide about waiting facts: `memory.sleep()`."""
    return memory.sleep()


@checked_arguments
def format_for_prompt(memory: AgentMemory, message: str = "", *, top_k: int | None = None) -> str:
    """Return facts as text for a prompt: the core facts, then facts that are relevant to a message.

    Args:
        memory: the memory to read.
        message: the user's message; empty: only the core facts.
        top_k: how many facts at most; None: `Config.injection_top_k`.

    Returns:
        One fact on each line, in a fenced block; an empty text if there are no facts.
    """
    ports = memory.ports
    limit = ports.config.injection_top_k if top_k is None else checked_count(top_k, "top_k")
    facts = {fact.id: fact for fact in core_facts(ports)[:limit]}
    hits = memory.search_knowledge(message, top_k=limit) if message.strip() and limit > len(facts) else []
    facts |= {hit.memory.id: hit.memory for hit in hits}
    items = tuple(_prompt_item(fact) for fact in list(facts.values())[:limit])
    if not items:
        return ""
    return render((Section(name="Known facts", items=items),), fence_tag(ports.store.secret, ports.scope, None))


def _run_ports(memory: AgentMemory, llm: LLM | Mind | str | None, model: str | None) -> Ports:
    """The ports of a memory for one run, with this model."""
    if llm is None:
        return memory.ports.start_run()
    if isinstance(llm, str):
        return with_mind(memory.ports, f"{llm}:{model}" if model else llm).start_run()
    return with_mind(memory.ports, _ModelClient(llm, model) if model and _takes_model(llm) else llm).start_run()


class _ModelClient:
    """A client of many models, bound to one of them."""

    def __init__(self, llm: Any, model: str) -> None:  # noqa: ANN401 - a client whose `complete` takes `model`
        self._llm, self.model = llm, model

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> Any:  # noqa: ANN401 - the mind reads every type
        """The model's answer."""
        return self._llm.complete(messages=messages, model=self.model)


def _takes_model(llm: object) -> bool:
    complete = getattr(llm, "complete", None)
    return callable(complete) and "model" in inspect.signature(complete).parameters


def _fact(candidate: str | Fact | Mapping[str, Any]) -> Fact:
    if isinstance(candidate, Fact):
        return candidate
    values = {"content": candidate} if isinstance(candidate, str) else dict(candidate)
    if "content" not in values or values.keys() - _CANDIDATE_FIELDS:
        optional = ", ".join(sorted(_CANDIDATE_FIELDS - {"content"}))
        raise InputError(
            f"a candidate with {sorted(map(str, values))}: pass a text, or a mapping with content and any of {optional}"
        )
    return Fact(text=values.pop("content"), **values)


def _prompt_item(memory: Memory) -> Item:
    text = f"{label(memory.trust)}[{memory.category}] {memory.text} ({memory.at:%Y-%m-%d})"
    return Item(text=text, tokens=0, memory=memory)
