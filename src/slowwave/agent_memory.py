"""AgentMemory: the front of the house. It hands every verb to its pipeline."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast

from slowwave.errors import InputError, NotFoundError
from slowwave.model.context import Scene
from slowwave.model.memory import FACT_KINDS, HOT, KINDS, MESSAGE, PHASES, Kind, Memory
from slowwave.model.message import Message
from slowwave.model.mind import Fact
from slowwave.model.names import checked_count, checked_id, optional_conversation, optional_count, optional_names
from slowwave.model.operations import RejectFact
from slowwave.model.plan import Event, Receipt, Run
from slowwave.model.query import Context, Hit, Where
from slowwave.model.status import LinkRow, Status
from slowwave.ports import Ports
from slowwave.telemetry import traced
from slowwave.upkeep import Upkeep

if TYPE_CHECKING:
    from slowwave.pipelines.admin.costs import CostReport, Estimate
    from slowwave.pipelines.admin.explain import Explanation
    from slowwave.pipelines.ingest.distil import ConsolidationResult


class Knowledge:
    """The facts of a memory, as `MemoryConsolidator` takes them."""

    def __init__(self) -> None:
        self._memory: AgentMemory | None = None

    @property
    def memory(self) -> "AgentMemory":
        """The memory these facts belong to."""
        if self._memory is None:
            raise InputError("this knowledge belongs to no memory yet: pass it to AgentMemory(knowledge=...)")
        return self._memory

    def attach(self, memory: "AgentMemory") -> None:
        """Belong to a memory from now on."""
        self._memory = memory


SAID: Final = frozenset({"active", "cold"})
"""The phases of messages that stand; the others were taken back or are under review."""


LISTED: Final = 10
"""Conversations that are named where one is not known."""


class AgentMemory(Upkeep):
    """A memory for agents: keeps every message, distils facts, lets the unimportant fade, finds what matters.

    Open one with `AgentMemory.open("agent.db")`; use it as a context manager. One handle may be shared by threads.

    >>> with AgentMemory.open(":memory:", embedder="none") as memory:
    ...     _ = memory.add("Alice owns the deploy pipeline", category="person")
    ...     memory.search("who owns deploys?")[0].text
    'Alice owns the deploy pipeline'
    """

    def __init__(self, knowledge: Knowledge | None = None, *, ports: Ports | None = None, strict: bool = False) -> None:
        super().__init__(ports=ports, strict=strict)
        self.knowledge = knowledge or Knowledge()
        self.knowledge.attach(self)

    # ---- writing

    def add_message(self, message: Message, conversation: str | None = None) -> Receipt:
        """Store one message, durable and searchable when this returns. See `add_messages`."""
        return self.add_messages([message], conversation)

    @traced("create_memory")
    def add_messages(self, messages: Sequence[Message], conversation: str | None = None) -> Receipt:
        """Store up to 10,000 messages, whole or not at all; idempotent by their ids.

        Args:
            messages: in the order they were said.
            conversation: its name; None means the one written to last, else "default".

        Raises:
            InputError: naming the message that cannot be stored.
            ConflictError: if an id is known with other content.
        """
        from slowwave.pipelines.ingest.observe import observe
        from slowwave.pipelines.ingest.triggers import run_triggers

        ports = self._run_ports
        name = self._conversation(conversation)
        receipt = run_triggers(ports, observe(ports, messages, name), name)
        self._background.after_messages(self._ports, name)
        return self._told(self._ingested(receipt))

    @traced("upsert_memory")
    def add(
        self,
        text: str,
        *,
        category: str = "other",
        kind: str = "semantic",
        subject: str | None = None,
        importance: float | None = None,
        metadata: dict[str, str] | None = None,
    ) -> Receipt:
        """State a fact. It meets what is known as a distilled fact does, and is stored whatever a model says."""
        from slowwave.pipelines.ingest.add import add_fact, checked_fact

        fact = checked_fact(
            Fact(
                text=text,
                category=category,
                kind=cast("Kind", kind),  # `checked_fact` refuses others
                subject=subject,
                importance=importance,
                metadata=metadata or {},
            )
        )
        return self._told(self._ingested(add_fact(self._run_ports, (fact,))))

    @traced("upsert_memory")
    def consolidate(self, conversation: str | None = None, *, force: bool = False) -> "ConsolidationResult":
        """Distil what is new in a conversation and reconcile it with what is known.

        Args:
            conversation: its name; None means the one written to last.
            force: also when there are fewer than `min_messages`.

        Raises:
            NotFoundError: for a conversation in which nothing was said, naming those there are.
        """
        from slowwave.pipelines.ingest.distil import consolidate

        conversation = optional_conversation(conversation)
        self._check_known(conversation)
        result = consolidate(self._run_ports, conversation, force=force)
        self._raise_if_strict(result.problems)
        return result

    def _check_known(self, conversation: str | None) -> None:
        """Raise NotFoundError for a conversation that nobody has written to."""
        ports = self._open_ports
        if conversation is None or ports.store.conversation(ports.scope, conversation) is not None:
            return
        known = [found.name for found in ports.store.conversations(ports.scope) if found.name]
        listed = ", ".join(map(repr, known[:LISTED])) + (f" and {len(known) - LISTED} more" if known[LISTED:] else "")
        raise NotFoundError(
            f"no conversation {conversation!r} in scope {ports.scope}: there {'is' if len(known) == 1 else 'are'} {listed or 'none'}"
        )

    def end_conversation(self, conversation: str | None = None) -> "ConsolidationResult":
        """The conversation is over: consolidate whatever is left of it."""
        return self.consolidate(conversation, force=True)

    @traced("update_memory")
    def update(self, memory_id: str, text: str, *, category: str | None = None) -> Receipt:
        """New words for a fact; the old ones stay in its history, and so do its sources where they do not say it."""
        from slowwave.pipelines.admin.edit import update

        return self._told(update(self._open_ports, memory_id, text, category))

    @traced("delete_memory")
    def delete(self, memory_id: str) -> Receipt:
        """Take a memory back. It is retracted, not destroyed: `revive` and `undo` bring it back."""
        from slowwave.pipelines.admin.edit import delete

        return self._told(delete(self._open_ports, memory_id))

    @traced("update_memory")
    def pin(self, memory_id: str) -> Receipt:
        """Exempt a memory from everything automatic, and keep it in every context."""
        from slowwave.pipelines.admin.edit import pin

        return self._told(pin(self._open_ports, memory_id, on=True))

    @traced("update_memory")
    def unpin(self, memory_id: str) -> Receipt:
        """Pinned no longer."""
        from slowwave.pipelines.admin.edit import pin

        return self._told(pin(self._open_ports, memory_id, on=False))

    @traced("update_memory")
    def revive(self, memory_id: str) -> Receipt:
        """Bring back what is cold, superseded or retracted."""
        from slowwave.pipelines.admin.edit import revive

        return self._told(revive(self._open_ports, memory_id))

    @traced("update_memory")
    def record_retrieval(self, hits: Iterable[Hit | Memory], *, session: str | None = None) -> int:
        """Say which memories were really used: they are strengthened. Returns how many.

        Args:
            hits: what `search` returned, or memories.
            session: uses under one name count as one session; an int, such as a chat's numeric id, becomes its digits.
                None means one session a day.

        Raises:
            InputError: for a session of any other type, and text that no store keeps.
        """
        from slowwave.pipelines.recall.record_use import use

        return use(self._open_ports, hits, session=session)[0]

    # ---- asking

    @traced("search_memory")
    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        categories: Collection[str] | None = None,
        kinds: Collection[str] | None = None,
        conversation: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        deep: bool = False,
    ) -> list[Hit]:
        """The best memories for a question, best first. A pure read: nothing is counted or changed.

        Args:
            query: the question, in words.
            top_k: how many places.
            categories: only facts of these categories.
            kinds: only these kinds, of "message", "episodic", "semantic", "procedural", "summary".
            conversation: only what belongs to this conversation.
            since: only what was said or true from then on.
            until: only what was said or true until then.
            as_of: what was true then, whatever became of it.
            known_at: what this memory knew then, as it knew it.
            deep: also search what is cold, superseded or retracted, each marked.

        Raises:
            InputError: for an empty question, or a filter that cannot be meant.
        """
        from slowwave.pipelines.recall.search import Search, search

        asked = Search(
            text=query,
            top_k=top_k,
            categories=categories,
            kinds=kinds,
            conversation=conversation,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            deep=deep,
        )
        return search(self._open_ports, asked)

    def search_knowledge(self, query: str, top_k: int = 5) -> list[Hit]:
        """The best facts for a question; messages take no place."""
        return self.search(query, top_k=top_k, kinds=FACT_KINDS)

    @traced("search_memory")
    def context(
        self,
        query: str = "",
        *,
        conversation: str | None = None,
        budget_tokens: int = 1500,
        profile: str = "plain",
        scene: Scene | None = None,
    ) -> Context:
        """What to put before a model for this question: `str(context)` is prompt text within the budget.

        Its first section, "Known about the user", shows what was promoted by use, pinned, or is protected by its category,
        and only what the user said; `core` ranks all facts, and so may name others. Every line of lower trust names its
        source in brackets (docs/context.md). The newest message is always shown, cut if it is very
        long, unless the budget leaves no room for its first words.

        Args:
            query: the question, or what is about to be talked of.
            conversation: whose past and latest messages; None means the one written to last. One in which nothing was
                said yet has neither.
            budget_tokens: what it may cost, at least 64.
            profile: "plain"; "chat", which also gives `.messages`, of which only the user's and the assistant's own words
                stand outside a fenced block; or "s4", a text for base models that ends where the
                agent goes on.
            scene: for "s4": who the agent is and what is around it.
        """
        from slowwave.pipelines.recall.context import ContextRequest, context

        scene = scene or Scene()
        wanted = ContextRequest(
            question=query, conversation=conversation, budget_tokens=budget_tokens, profile=profile, scene=scene
        )
        return context(self._open_ports, wanted)

    @traced("search_memory")
    def core(self, top_k: int = 5, min_retrievals: int = 0) -> list[Memory]:
        """The facts that matter most now: strength + 0.1 ln(1 + uses), over all hot facts, whatever they are about.

        Not the first section of `context`: that shows what was promoted by use, pinned, or is protected by its
        category, at any strength, in this same order.
        """
        from slowwave.pipelines.recall.core_memory import core

        top_k, least = checked_count(top_k, "top_k"), checked_count(min_retrievals, "min_retrievals")
        return core(self._open_ports, top_k=top_k, min_retrievals=least)

    def get(self, memory_id: str) -> Memory:
        """One memory, whatever its phase.

        Raises:
            NotFoundError: if this handle can see none of that id.
        """
        ports = self._open_ports
        found = ports.store.get(ports.scopes, [checked_id(memory_id)])
        if not found:
            raise NotFoundError(f"no memory {memory_id!r} in scope {ports.scope}: ids are printed by recall and facts")
        return found[0]

    def get_all(
        self,
        *,
        kinds: Collection[str] | None = None,
        categories: Collection[str] | None = None,
        phases: Collection[str] | None = None,
        limit: int | None = None,
    ) -> list[Memory]:
        """Memories as they stand, oldest first: by default hot facts, without messages and cascade summaries."""
        kinds, phases = optional_names(kinds, "kinds"), optional_names(phases, "phases")
        for name, given, known in (("kinds", kinds, KINDS), ("phases", phases, PHASES)):
            if unknown := set(given or ()) - set(known):
                raise InputError(f"unknown {name} {', '.join(sorted(unknown))}: use {', '.join(known)}")
        where = Where(
            kinds=frozenset(FACT_KINDS if kinds is None else kinds),
            categories=optional_names(categories, "categories"),
            phases=frozenset(HOT if phases is None else phases),
            limit=optional_count(limit, "limit"),
        )
        return self._open_ports.store.select((self._ports.scope,), where)

    def get_conversation_messages(self, conversation: str | None = None) -> list[Message]:
        """The messages of a conversation in order, without those taken back; None means the one written to last."""
        name = self._conversation(conversation)
        where = Where(kinds=frozenset({MESSAGE}), phases=frozenset(SAID), conversation=name, order="seq")
        return [
            Message(role=m.role or "user", content=m.text, speaker=m.speaker, at=m.at, id=m.ref or m.id)
            for m in self._open_ports.store.select((self._ports.scope,), where)
        ]

    @property
    def conversation(self) -> "ConversationView":
        """The conversation written to last."""
        return ConversationView(self)

    def strength(self, memory_id: str) -> float:
        """How strong a memory is now, in (0, 1]: by the clock, from its anchors, never a stored number."""
        from slowwave.policy.retention.policies import strength

        return strength(self.get(memory_id), self._ports.config, self._ports.now())

    def summaries(self, conversation: str | None = None) -> list[Memory]:
        """The cascade summaries of a conversation (None: of all, by name): first its eras, then the stretches they are made of.

        Each in the order of their spans: `.depth` is 2 for an era and 1 for a stretch, `.span` the numbers of the first and
        the last message, both inclusive. The spans of either depth tile the conversation from its first message on.
        """
        name = optional_conversation(conversation)
        where = Where(kinds=frozenset({"summary"}), phases=frozenset(HOT), conversation=name, cascade=True)
        found = self._open_ports.store.select((self._ports.scope,), where)
        return sorted(found, key=lambda one: (one.conversation or "", -one.depth, one.span or (0, 0)))

    def explain(self, memory_id: str) -> "Explanation":
        """All about one memory: its strength and parts, when it fades, what would keep it, and where it came from."""
        from slowwave.pipelines.admin.explain import explain

        return explain(self._open_ports, self.get(memory_id))

    def history(self, memory_id: str) -> list[Event]:
        """Everything that ever happened to a memory, oldest first."""
        return self._open_ports.store.history(self.get(memory_id).scope, memory_id)

    def refused(self, limit: int | None = 50) -> list[RejectFact]:
        """The facts that were proposed and not stored, newest first, each with its quote and the reason."""
        return self._open_ports.store.refused(self._ports.scope, optional_count(limit, "limit"))

    def links(self, memory_id: str) -> list[LinkRow]:
        """What a memory is joined with."""
        return self._open_ports.store.links(self.get(memory_id).scope, [memory_id])

    def runs(self, limit: int | None = 20) -> list[Run]:
        """The latest runs, newest first."""
        return self._open_ports.store.runs(self._ports.scope, optional_count(limit, "limit"))

    def status(self) -> Status:
        """How this scope stands, and what went wrong in the background lately."""
        from slowwave.pipelines.admin.status import status

        return replace(status(self._open_ports), problems=self._background.problems)

    def cost(self, since: datetime | None = None) -> "CostReport":
        """What thinking has cost since an instant (None: ever), in all and by the cause of the runs, by the journal."""
        from slowwave.pipelines.admin.costs import costs

        return costs(self._open_ports, since)

    def estimate(self, conversation: str | None = None) -> "Estimate":
        """What consolidating the unread messages of a conversation, or with None of all, would cost at most.

        About four characters are taken for a token in English, fewer elsewhere; no model is asked.
        """
        from slowwave.pipelines.admin.costs import estimate

        return estimate(self._open_ports, conversation)


class ConversationView:
    """The conversation a memory was written to last."""

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory

    def get_messages(self) -> list[Message]:
        """Its messages in order."""
        return self._memory.get_conversation_messages()
