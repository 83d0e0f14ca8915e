"""MemoryConsolidator: the four methods of the memory-consolidation page, on top of the facade."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from slowwave.agent_memory import AgentMemory, Knowledge
from slowwave.composition import with_mind
from slowwave.model.codec import content_key
from slowwave.model.config import Config
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.message import Message, clean
from slowwave.model.query import Where
from slowwave.pipelines.ingest.distil import ConsolidationResult, consolidate
from slowwave.pipelines.recall.record_use import use
from slowwave.pipelines.sleep.fade import forget
from slowwave.policy.retention.core import rank
from slowwave.policy.retention.policies import strength
from slowwave.ports import LLM, Mind, Ports

__all__ = ["ConsolidationResult", "DistilledFact", "InMemoryVectorStore", "MemoryConsolidator", "SemanticMemory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilledFact:
    """A fact in the words of the memory-consolidation page; `strength` and `retrievals` are as of when it was read."""

    text: str
    category: str = "other"
    confidence: float = 1.0
    timestamp: float = 0.0
    strength: float = 1.0
    retrievals: int = 0


class InMemoryVectorStore:
    """Says that facts shall live in RAM; what holds them is the memory itself."""


class SemanticMemory(Knowledge):
    """The facts of a memory. Pass it to `AgentMemory(knowledge=...)`; every `memory.knowledge` is one already."""

    def __init__(self, vector_store: InMemoryVectorStore | None = None) -> None:
        super().__init__()
        self.vector_store = vector_store or InMemoryVectorStore()


class MemoryConsolidator:
    """Distil conversations, let facts decay, and keep the core in view.

    Args:
        llm: any object with `.complete(messages=...)`, or None to work by rules alone.
        max_facts_per_pass: the most facts of one pass.
        min_messages: shorter conversations wait.
        confidence_threshold: less certain facts are dropped.
        forgetting_threshold: `decay` prunes what is weaker; a lower one keeps a longer tail.
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
        self._numbers = Config(
            max_facts_per_pass=max_facts_per_pass,
            min_messages=min_messages,
            confidence_threshold=confidence_threshold,
            forgetting_threshold=forgetting_threshold,
            consolidation_retention_threshold=_above(forgetting_threshold),
        )

    def consolidate(self, *, memory: AgentMemory, recent_messages: Sequence[Message]) -> ConsolidationResult:
        """Distil the memory's conversation and reconcile the facts; messages it does not hold yet are added first."""
        ports = self._ports(memory)
        self._add_missing(memory, recent_messages)
        if self._llm is not None:
            ports = with_mind(ports, self._llm)
        return consolidate(ports.start_run(), None)

    def decay(self, knowledge: Knowledge, *, half_life_days: float = 14.0, prune: bool = True) -> int:
        """Count and put into cold storage the facts whose strength has fallen below the threshold.

        Strength is 0.5 ** (days since it was recorded or last used / half_life_days): calling this daily, twice or
        never gives the same strengths. Pruned means cold, found by a deep search. Returns how many; 0 without `prune`.
        """
        ports = self._ports(knowledge.memory)
        config = replace(ports.config, retention_policy="half_life", half_life_days=half_life_days)
        return forget(replace(ports, config=config)) if prune else 0

    def core_memory(self, knowledge: Knowledge, *, top_k: int = 5, min_retrievals: int = 0) -> list[str]:
        """The strongest and most used facts, for the system prompt: strength + 0.1 ln(1 + retrievals)."""
        ports = self._ports(knowledge.memory)
        ranked = rank(_facts(ports), ports.config, ports.now(), top_k=top_k, min_retrievals=min_retrievals)
        return [memory.text for memory in ranked]

    def record_retrieval(self, knowledge: Knowledge, fact_texts: Iterable[str]) -> int:
        """Strengthen the facts that were just found useful, by their texts. Returns how many."""
        ports = self._ports(knowledge.memory)
        keys = {content_key(text) for text in fact_texts}
        return use(ports, [memory for memory in _facts(ports) if content_key(memory.text) in keys])[0]

    def distilled(self, memory: AgentMemory) -> list[DistilledFact]:
        """The hot facts as this page's records."""
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
        ports = memory.ports
        config = replace(
            ports.config,
            max_facts_per_pass=self._numbers.max_facts_per_pass,
            min_messages=self._numbers.min_messages,
            confidence_threshold=self._numbers.confidence_threshold,
            forgetting_threshold=self._numbers.forgetting_threshold,
            consolidation_retention_threshold=max(
                ports.config.consolidation_retention_threshold, self._numbers.consolidation_retention_threshold
            ),
        )
        return replace(ports, config=config)

    def _add_missing(self, memory: AgentMemory, recent: Sequence[Message]) -> None:
        """Messages without an id are known by their words: those after the longest known beginning are new."""
        ports = memory.ports
        name = next((found.name for found in ports.store.conversations(ports.scope) if found.name), None)
        where = Where(kinds=frozenset({MESSAGE}), conversation=name, order="seq")
        held = ports.store.select((ports.scope,), where) if name is not None else []
        known = {message.ref or message.id for message in held}
        fresh = [message for message in recent if message.id is None or message.id not in known]
        said = [(message.role, message.text) for message in held]
        words = [(message.role, clean(message.content)) for message in fresh]
        if any(said[start : start + len(words)] == words for start in range(len(said) - len(words) + 1)):
            return
        overlap = next((n for n in range(min(len(said), len(words)), 0, -1) if said[-n:] == words[:n]), 0)
        if fresh[overlap:]:
            memory.add_messages(fresh[overlap:])


def _above(threshold: float) -> float:
    """A threshold of compressing above that of forgetting: the standard one, or half-way from there to 1."""
    standard = Config().consolidation_retention_threshold
    return standard if threshold < standard else (1.0 + threshold) / 2


def _facts(ports: Ports) -> list[Memory]:
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT))
    return ports.store.select((ports.scope,), where)
