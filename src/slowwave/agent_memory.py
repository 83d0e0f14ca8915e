"""AgentMemory: the public facade. Each method delegates to a pipeline."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Never, Self, TextIO, cast

from slowwave import settings
from slowwave.composition import build_ports
from slowwave.errors import InputError, NotFoundError, SlowwaveError
from slowwave.model.config import Config
from slowwave.model.context import Scene
from slowwave.model.memory import FACT_KINDS, HOT, KINDS, PHASES, SUMMARY, Kind, Memory
from slowwave.model.message import Message
from slowwave.model.mind import Fact
from slowwave.model.names import checked_count, checked_id, optional_conversation, optional_count, optional_names
from slowwave.model.operations import RejectFact
from slowwave.model.plan import Event, Plan, Receipt, Run
from slowwave.model.query import Context, Hit, Where
from slowwave.model.scope import DEFAULT_SCOPE, checked_scope
from slowwave.model.status import LinkRow, Status
from slowwave.ports import LLM, Clock, Embedder, Mind, Ports, Progress
from slowwave.session import MemorySession, refuse_open_store, refuse_unknown_arguments
from slowwave.telemetry import traced
from slowwave.views import ConversationView, Knowledge, conversation_messages

if TYPE_CHECKING:
    from slowwave.pipelines.admin.checks import Check
    from slowwave.pipelines.admin.costs import CostReport, Estimate
    from slowwave.pipelines.admin.erase import ErasureReceipt
    from slowwave.pipelines.admin.explain import Explanation
    from slowwave.pipelines.admin.health import Health
    from slowwave.pipelines.exchange.import_ import ImportReport
    from slowwave.pipelines.exchange.vault import VaultImport
    from slowwave.pipelines.ingest.distil import ConsolidationResult
    from slowwave.pipelines.sleep.compact_now import Compaction
    from slowwave.pipelines.sleep.compact_topic import TopicCompaction
    from slowwave.pipelines.sleep.report import SleepReport


class FromSettings:
    """The default of arguments for which None has a meaning of its own."""

    def __repr__(self) -> str:
        return "from settings"


FROM_SETTINGS: Final = FromSettings()


class AgentMemory:
    """A memory for agents. It stores every message, extracts facts, archives what is not used, and finds what matters.

    Open one with `AgentMemory.open("agent.db")` and use it as a context manager. Threads may share one object. Every
    method raises ClosedError after `close()`, and StoreError if the file or the server fails.

    >>> with AgentMemory.open(":memory:", embedder="none") as memory:
    ...     _ = memory.add("Alice owns the deploy pipeline", category="person")
    ...     memory.search("who owns deploys?")[0].text
    'Alice owns the deploy pipeline'

    Args:
        knowledge: the object that `MemoryConsolidator` takes as the facts of this memory; None: a new one.
        ports: the store, mind, embedder, clock and config to use; None: a store in RAM, without a model.
        strict: raise PortError if a model or embedder fails, instead of reporting it in the result.
    """

    def __init__(self, knowledge: Knowledge | None = None, *, ports: Ports | None = None, strict: bool = False) -> None:
        self._session = MemorySession(ports or build_ports(":memory:", DEFAULT_SCOPE), strict=strict)
        self.knowledge: Knowledge = knowledge or Knowledge()
        self.knowledge.attach(self)

    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        scope: str | None = None,
        inherit: bool = False,
        llm: str | LLM | Mind | None | FromSettings = FROM_SETTINGS,
        embedder: str | Embedder | None | FromSettings = FROM_SETTINGS,
        config: Config | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        create: bool = True,
        **unknown: Never,
    ) -> Self:
        """Open a memory. A store that does not exist is created, unless `create` is False.

        Args:
            store: a file, ":memory:", or "postgresql://…"; None: SLOWWAVE_STORE, else a file in the user's data folder.
            scope: the path that owns the memories, such as "acme/alice"; None: SLOWWAVE_SCOPE, else "default".
            inherit: also read the memories of the parent scopes ("acme" for "acme/alice"). They are never written.
            llm: "openai:gpt-5-mini", "ollama:llama3", a URL, an object with `.complete(messages=...)`, or a Mind. None:
                the offline rules, no model. By default SLOWWAVE_LLM, else the offline rules.
            embedder: "static", "minilm", "openai:MODEL", or an object with `name` and `embed`. "none" or None: search
                by words only. By default SLOWWAVE_EMBEDDER, else "static".
            config: the numbers of all policies; None: those of the settings file, else the defaults.
            clock: a function that returns the present time, with a time zone; None: the system's clock.
            strict: raise PortError if a model or embedder fails, instead of reporting it in the result.
            sleep_every: run a sleep pass this often on a thread of its own: a timedelta, seconds, or text such as "8h".
                `health()` reports its failures. None: only `sleep` and `Config.sleep_every_ingests` run one.
            create: False: raise NotFoundError if there is no store.
            unknown: no other argument is accepted; the error says where fields of Config belong.

        Raises:
            InputError: the store, scope or `sleep_every` is invalid, an argument is unknown, or there is no store.
            SettingsError: the kind of store, model or embedder is unknown, or an extra is not installed.
            StoreError: the store cannot be opened; each subclass says what to do.
        """
        from slowwave.pipelines.sleep.background import seconds

        refuse_unknown_arguments(unknown, cls.open)
        known = settings.read()
        if store is not None and not str(store).strip():
            raise InputError("store='' names no file: give a path, ':memory:', or None for the one of the settings")
        pause = seconds(sleep_every) if sleep_every is not None else None
        ports = build_ports(
            str(store) if store is not None else known.store or settings.default_store(),
            checked_scope(scope if scope is not None else known.scope or DEFAULT_SCOPE),
            inherit=inherit,
            llm=known.llm if isinstance(llm, FromSettings) else llm,
            embedder=(known.embedder or "static") if isinstance(embedder, FromSettings) else embedder,
            config=config or known.config,
            clock=clock,
            known=known,
            create=create,
        )
        memory = cls(ports=ports, strict=strict)
        if pause is not None:
            memory._session.start_sleeper(pause)
        return memory

    @classmethod
    def in_memory(cls, *, llm: LLM | None = None, embedder: Embedder | str | None = "static") -> Self:
        """Open a memory in RAM. Its content is lost when it is closed. `llm` and `embedder` are as in `open`."""
        return cls.open(":memory:", llm=llm, embedder=embedder)

    default = in_memory
    """The name of `in_memory` in earlier documents."""

    def close(self) -> None:
        """Close the store and stop the background threads. Idempotent.

        A sleep pass and a summary under way in the background each get up to 5 seconds to end.
        """
        self._session.close()

    def __enter__(self) -> Self:
        """Return the memory itself.

        Raises:
            ClosedError: the memory was closed.
        """
        _ = self.ports
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        """Close the memory; errors pass through."""
        self.close()
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session.store_name!r}, scope={self._session.scope!r})"

    @property
    def ports(self) -> Ports:
        """The store, mind, embedder, clock and config behind this memory, for code that calls pipelines."""
        return self._session.ports

    # ---- write

    def add_message(self, message: Message, conversation: str | None = None) -> Receipt:
        """Store one message. See `add_messages`."""
        return self.add_messages([message], conversation)

    @traced("create_memory")
    def add_messages(self, messages: Sequence[Message], conversation: str | None = None) -> Receipt:
        """Store up to 10,000 messages in one transaction. They are durable and searchable when this returns.

        A message whose id is known in the conversation, with the same content, is not stored again.

        Args:
            messages: in the order of the conversation.
            conversation: its name; None: the one written to last, else "default".

        Raises:
            InputError: a message cannot be stored; the error names it, and none of them is stored.
            ConflictError: an id is known with other content.
        """
        from slowwave.pipelines.ingest.observe import observe
        from slowwave.pipelines.ingest.triggers import run_triggers

        ports = self.ports.start_run()
        name = self._session.conversation_name(conversation)
        receipt = run_triggers(ports, observe(ports, messages, name), name)
        self._session.background.after_messages(self.ports, name)
        return self._session.after_write(receipt)

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
        """Store a fact. It is reconciled with the known facts: it may update, supersede or repeat one of them.

        If the model fails, the fact is stored all the same, and `receipt.waiting` counts it: a sleep pass asks again.

        Args:
            text: the fact as one sentence.
            category: decides how fast it fades (docs/tuning.md).
            kind: "semantic", "episodic" or "procedural".
            subject: whom or what the fact is about; None: taken from the text.
            importance: from 0 to 1; None: computed from the text.
            metadata: the caller's own values, stored with it.

        Raises:
            InputError: an argument is invalid.
        """
        from slowwave.pipelines.ingest.add import add_fact, checked_fact

        fact = Fact(
            text=text,
            category=category,
            kind=cast("Kind", kind),  # `checked_fact` refuses others
            subject=subject,
            importance=importance,
            metadata=metadata or {},
        )
        return self._session.after_write(add_fact(self.ports.start_run(), (checked_fact(fact),)))

    @traced("upsert_memory")
    def consolidate(
        self,
        conversation: str | None = None,
        *,
        force: bool = False,
        progress: Progress | None = None,
    ) -> "ConsolidationResult":
        """Extract facts from the unread messages of a conversation, and reconcile them with the known facts.

        If the model fails, the messages stay unread, and the result's `skipped_reason` says why.

        Args:
            conversation: its name; None: the one written to last.
            force: also read fewer than `Config.min_messages` messages.
            progress: called after each part with the number of messages that were read, and of all to read.

        Raises:
            NotFoundError: the conversation has no messages; the error lists those that exist.
        """
        from slowwave.pipelines.ingest.distil import consolidate

        conversation = optional_conversation(conversation)
        self._session.check_conversation(conversation)
        result = consolidate(self.ports.start_run(), conversation, force=force, progress=progress)
        self._session.raise_if_strict(result.problems)
        return result

    def end_conversation(self, conversation: str | None = None) -> "ConsolidationResult":
        """Consolidate all unread messages of a conversation: `consolidate(conversation, force=True)`."""
        return self.consolidate(conversation, force=True)

    @traced("update_memory")
    def record_retrieval(self, hits: Iterable[Hit | Memory], *, session: str | None = None) -> int:
        """Record that memories were used: their strength counts from now, and they fade more slowly.

        Args:
            hits: hits of `search`, or memories.
            session: uses under one name count as one session; an int becomes its digits. None: one session a day.

        Returns:
            How many memories were recorded as used.

        Raises:
            InputError: the session is of another type, or a text that cannot be stored.
        """
        from slowwave.pipelines.recall.record_use import use

        return use(self.ports, hits, session=session)[0]

    # ---- read

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
        """Return the best memories for a question, best first. Nothing is written; see `record_retrieval`.

        Args:
            query: the question, in words.
            top_k: how many hits at most; at least 1.
            categories: only facts of these categories.
            kinds: only these kinds: "message", "episodic", "semantic", "procedural", "summary".
            conversation: only memories of this conversation.
            since: only what was said or true at this time or later.
            until: only what was said or true at this time or earlier.
            as_of: what was true at this time, also if it was superseded later.
            known_at: what this memory contained at this time, in the words of that time.
            deep: also search archived (cold), superseded and retracted memories; `hit.deep` and `hit.stale` mark them.

        Raises:
            InputError: the question is empty, or a filter is invalid. Times need a time zone.
        """
        from slowwave.pipelines.recall.search import Search, search

        request = Search(
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
        return search(self.ports, request)

    def search_knowledge(self, query: str, top_k: int = 5) -> list[Hit]:
        """Return the best facts and summaries for a question: `search` without messages."""
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
        """Build the text to put before a model for a question. `str(context)` is the prompt text within the budget.

        The first section, "Known about the user", contains facts that were promoted by use, pinned, or are protected by
        their category, and only those that the user stated. (`core` ranks all facts, and may name others.) Each line of
        lower trust names its source in brackets (docs/context.md). The newest message is always included, and shortened
        if it is very long, unless the budget is too small for its first words.

        Args:
            query: the question, or the topic of the next turn.
            conversation: the source of summaries and latest messages; None: the one written to last. A conversation
                without messages adds neither.
            budget_tokens: the size limit in tokens, estimated; at least 64.
            profile: "plain"; "chat", which also fills `.messages`, where only the words of the user and the assistant
                are outside of a fenced block; or "s4", a text for base models that ends where the agent continues.
            scene: for "s4": who the agent is, and what surrounds it.

        Raises:
            InputError: an argument is invalid.
        """
        from slowwave.pipelines.recall.context import ContextRequest, context

        request = ContextRequest(
            question=query,
            conversation=conversation,
            budget_tokens=budget_tokens,
            profile=profile,
            scene=scene or Scene(),
        )
        return context(self.ports, request)

    @traced("search_memory")
    def core(self, top_k: int = 5, min_retrievals: int = 0) -> list[Memory]:
        """Return the most important facts now, of all topics: ordered by strength + 0.1 ln(1 + uses).

        This is not the first section of `context`, which shows facts that were promoted, pinned or protected, at any
        strength, in the same order.

        Args:
            top_k: how many facts at most.
            min_retrievals: only facts with at least this number of recorded uses.
        """
        from slowwave.pipelines.recall.core_memory import core

        top_k, least = checked_count(top_k, "top_k"), checked_count(min_retrievals, "min_retrievals")
        return core(self.ports, top_k=top_k, min_retrievals=least)

    def get(self, memory_id: str) -> Memory:
        """Return one memory in any phase.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        ports = self.ports
        memories = ports.store.get(ports.scopes, [checked_id(memory_id)])
        if not memories:
            raise NotFoundError(f"no memory {memory_id!r} in scope {ports.scope}: check the id and the scope")
        return memories[0]

    def find_id(self, beginning: str) -> str:
        """Return the id of the memory whose id begins with a text of at least 6 characters.

        Raises:
            NotFoundError: no id begins so.
            InputError: the text is too short, or several ids begin so; the error lists them.
        """
        from slowwave.pipelines.admin.find_id import find_memory_id

        return find_memory_id(self.ports, beginning)

    def find_run_id(self, beginning: str) -> str:
        """Return the id of the run whose id begins with a text of at least 6 characters. Raises as `find_id`."""
        from slowwave.pipelines.admin.find_id import find_run_id

        return find_run_id(self.ports, beginning)

    def unknown_names(
        self, *, conversation: str | None = None, categories: Collection[str] | None = None
    ) -> tuple[str, ...]:
        """Return a sentence for the scope, the conversation and each category that has no memories.

        Each sentence lists the most similar names that exist. Reads with such names are no errors: they find nothing.
        """
        from slowwave.pipelines.admin.known_names import unknown_names

        return unknown_names(self.ports, conversation=conversation, categories=categories)

    def get_all(
        self,
        *,
        kinds: Collection[str] | None = None,
        categories: Collection[str] | None = None,
        phases: Collection[str] | None = None,
        limit: int | None = None,
    ) -> list[Memory]:
        """Return memories, oldest first. By default all facts in use, without messages and conversation summaries.

        Args:
            kinds: of "message", "episodic", "semantic", "procedural", "summary"; None: all but "message".
            categories: only these categories.
            phases: of "quarantined", "active", "core", "cold", "superseded", "retracted"; None: "active" and "core".
            limit: how many at most.

        Raises:
            InputError: a kind or phase is unknown, or an argument is invalid.
        """
        kinds, phases = optional_names(kinds, "kinds"), optional_names(phases, "phases")
        for name, values, known in (("kinds", kinds, KINDS), ("phases", phases, PHASES)):
            if unknown := set(values or ()) - set(known):
                raise InputError(f"unknown {name} {', '.join(sorted(unknown))}: use {', '.join(known)}")
        where = Where(
            kinds=frozenset(FACT_KINDS if kinds is None else kinds),
            categories=optional_names(categories, "categories"),
            phases=frozenset(HOT if phases is None else phases),
            limit=optional_count(limit, "limit"),
        )
        return self.ports.store.select((self.ports.scope,), where)

    def get_conversation_messages(self, conversation: str | None = None) -> list[Message]:
        """Return the messages of a conversation in order; None: of the one written to last.

        Messages that were taken back, and those under review, are left out.
        """
        return conversation_messages(self._session, conversation)

    @property
    def conversation(self) -> ConversationView:
        """The conversation written to last."""
        return ConversationView(self._session)

    def summaries(self, conversation: str | None = None) -> list[Memory]:
        """Return the summaries of a conversation, or with None of all conversations, ordered by name.

        Long-term summaries (`.depth` 2) come first, then the short-term summaries (`.depth` 1) they are made of, each
        in the order of `.span`: the numbers of the first and the last message, both inclusive. The spans of each depth
        cover the conversation from its first message on, without gaps or overlap.
        """
        name = optional_conversation(conversation)
        where = Where(kinds=frozenset({SUMMARY}), phases=frozenset(HOT), conversation=name, cascade=True)
        summaries = self.ports.store.select((self.ports.scope,), where)
        return sorted(summaries, key=lambda memory: (memory.conversation or "", -memory.depth, memory.span or (0, 0)))

    def strength(self, memory_id: str) -> float:
        """Return how strong a memory is now, above 0 and at most 1. It is computed from its uses, never stored.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.policy.retention.policies import strength

        return strength(self.get(memory_id), self.ports.config, self.ports.now())

    def strengths(self, memories: Sequence[Memory]) -> list[float]:
        """Return how strong these memories are now, in their order. See `strength`."""
        from slowwave.policy.retention.policies import strength

        now, config = self.ports.now(), self.ports.config
        return [strength(memory, config, now) for memory in memories]

    # ---- sleep

    @traced("upsert_memory")
    def sleep(self, *, dry_run: bool = False, think: bool = True, progress: Progress | None = None) -> "SleepReport":
        """Run one sleep pass: read what is unread, merge, summarise and archive what is due.

        Args:
            dry_run: plan and change nothing. The model is asked as in a real pass. `apply(report.plan)` carries it out.
            think: False: ask no model; work that needs one stays due.
            progress: called before each stage with the number of stages that were run, and of all.
        """
        from slowwave.pipelines.sleep.night import sleep

        report = sleep(
            self.ports.start_run(), self._session.sleep_state, dry_run=dry_run, think=think, progress=progress
        )
        self._session.raise_if_strict(report.problems)
        return report

    tick = sleep
    """The name of `sleep` in other memory systems."""

    def sleep_due(
        self,
        *,
        think: bool = True,
        limit: int = 1000,
        told: Callable[[str, "SleepReport"], None] | None = None,
    ) -> dict[str, "SleepReport"]:
        """Run a sleep pass for each scope of the store that is due, of all tenants. Returns reports by scope.

        Many machines may do so at once: a lease admits one of them to each scope.

        Args:
            think: False: ask no model; work that needs one stays due.
            limit: how many scopes at most; those that slept least recently come first.
            told: called with scope and report after each pass.
        """
        from slowwave.pipelines.sleep.all_scopes import sleep_due

        reports: dict[str, SleepReport] = {}
        for scope, report in sleep_due(self.ports, think=think, limit=checked_count(limit, "limit")):
            reports[scope] = report
            if told:
                told(scope, report)
        return reports

    @traced("upsert_memory")
    def apply(self, plan: Plan) -> tuple[Receipt, ...]:
        """Carry out a plan of a dry run. A group whose memories changed since is dropped, and the receipt says so."""
        from slowwave.pipelines.sleep.night import apply

        return apply(self.ports, plan)

    def save_plan(self, plan: Plan, path: str | Path) -> None:
        """Write the plan of a dry run to a new JSON file, for `load_plan`.

        Raises:
            InputError: the file exists, or cannot be written.
        """
        from slowwave.formats import plan_file

        plan_file.write(path, plan)

    def load_plan(self, path: str | Path) -> Plan:
        """Read a plan from a file of `save_plan`, to print it or to `apply` it.

        Raises:
            InputError: the file is not a plan, is damaged, or belongs to another scope.
        """
        from slowwave.formats import plan_file
        from slowwave.pipelines.sleep.night import findable

        ports = self.ports
        refuse_open_store(path)
        plan = plan_file.read(path)
        if any(part.scope != ports.scope for part in (plan, *plan.parts)):
            raise InputError(
                f"{path} is a plan for scope {plan.scope}, not {ports.scope}: open the memory of that scope"
            )
        return findable(ports, plan)

    @traced("upsert_memory")
    def compact_topic(self, topic: str, *, dry_run: bool = False) -> "TopicCompaction":
        """Summarise the facts about a topic now, in one or a few summaries, instead of when they fade.

        Facts that are pinned, core or protected are not touched. Each summary keeps the names, numbers and dates of its
        facts and supersedes them in one transaction. `undo` of the run restores them.

        Args:
            topic: in words, such as "deploys".
            dry_run: plan and change nothing. `apply(result.plan)` carries it out.

        Raises:
            InputError: the topic is empty.
        """
        from slowwave.pipelines.sleep.compact_topic import compact_topic

        result = compact_topic(self.ports.start_run(), topic, dry_run=dry_run)
        self._session.raise_if_strict(result.problems)
        return result

    compact = compact_topic
    """The former name of `compact_topic`."""

    @traced("upsert_memory")
    def compact_conversation(self, conversation: str | None = None, *, force: bool = True) -> "Compaction":
        """Summarise a conversation now, except its latest `Config.immediate_window` messages. Repeating it does nothing.

        Args:
            conversation: its name; None: the one written to last.
            force: also summarise fewer than `Config.recent_window` messages; False: only what is due.

        Raises:
            NotFoundError: there is no conversation of that name.
        """
        from slowwave.pipelines.conversations import latest_conversation
        from slowwave.pipelines.sleep.compact_now import compact_conversation

        name = optional_conversation(conversation) or latest_conversation(self.ports)
        result = compact_conversation(self.ports.start_run(), name, force=force)
        self._session.raise_if_strict(result.problems)
        return result

    compact_memories = compact_conversation
    """The former name of `compact_conversation`."""

    def command(self, text: str) -> str:
        """Carry out a command that an agent typed, and return its answer as text.

        "@memory-status" prints the state of a conversation's summaries, "@compact-memories" summarises it now; either
        may be followed by the name of a conversation.

        Raises:
            InputError: the command is unknown.
        """
        from slowwave.pipelines.admin.agent_commands import handle_agent_command

        return handle_agent_command(self.ports.start_run(), text)

    # ---- inspect

    def status(self) -> Status:
        """Return the counts of this scope, what is due, and the recent failures of background work."""
        from slowwave.pipelines.admin.status import status

        return replace(status(self.ports), problems=self._session.background.problems)

    def unembedded(self, limit: int = 1000) -> int:
        """Count the memories without a vector of the embedder, up to a limit. Vector search misses them; see `reembed`."""
        ports = self.ports
        return len(ports.store.unembedded(ports.scope, ports.embedder.name, limit)) if ports.embedder else 0

    def summary_coverage(self, conversation: str) -> list[str]:
        """Return lines about a conversation: its messages, what is summarised and what is not, the newest summaries."""
        from slowwave.pipelines.admin.agent_commands import summary_coverage

        return summary_coverage(self.ports, optional_conversation(conversation))

    def health(self) -> "Health":
        """Return what needs a person: contradictions, facts that wait, damage, and growth. Nothing is written.

        `health.ok` is True if nothing is wrong and nothing waits for a person. `str(health)` is readable.
        """
        from slowwave.pipelines.admin.health import health

        sleeper = self._session.sleeper
        return health(self.ports, troubles=(sleeper.problem,) if sleeper else ())

    def explain(self, memory_id: str) -> "Explanation":
        """Return the strength of a memory and its parts, when it fades, what would keep it, and its sources.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.explain import explain

        return explain(self.ports, self.get(memory_id))

    def history(self, memory_id: str) -> list[Event]:
        """Return every journaled operation on a memory, oldest first.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        return self.ports.store.history(self.get(memory_id).scope, memory_id)

    def links(self, memory_id: str) -> list[LinkRow]:
        """Return the links between a memory and others.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        return self.ports.store.links(self.get(memory_id).scope, [memory_id])

    def refused(self, limit: int | None = 50) -> list[RejectFact]:
        """Return proposed facts that were not stored, newest first, each with its quote and the reason."""
        return self.ports.store.refused(self.ports.scope, optional_count(limit, "limit"))

    def review(self) -> list[Memory]:
        """Return memories that read as an instruction to a model and do not come from the user.

        They are stored, but no search, fact, summary or context uses them until a person calls `release` or `reject`.
        `memory.reason` says what they look like.
        """
        from slowwave.pipelines.ingest.review import review

        return review(self.ports)

    def runs(self, limit: int | None = 20) -> list[Run]:
        """Return the latest runs, newest first; with None all of them. `undo` takes the id of one."""
        return self.ports.store.runs(self.ports.scope, optional_count(limit, "limit"))

    def cost(self, since: datetime | None = None) -> "CostReport":
        """Return what models have cost since a time (None: in all), as a total and by cause, from the journal."""
        from slowwave.pipelines.admin.costs import costs

        return costs(self.ports, since)

    def estimate(self, conversation: str | None = None) -> "Estimate":
        """Return what it would cost at most to consolidate a conversation, or with None all. No model is asked.

        Tokens are estimated: about four characters each in English, fewer in other languages.
        """
        from slowwave.pipelines.admin.costs import estimate

        return estimate(self.ports, conversation)

    def plot(self, kind: str = "forgetting", *, text: bool = False) -> str:
        """Draw a chart, as SVG.

        Args:
            kind: "forgetting" (strengths and uses of the top facts), "growth" (facts over time) or "sleep" (the latest
                sleep passes).
            text: draw with characters for a terminal, instead of SVG.

        Raises:
            InputError: the kind is unknown.
        """
        from slowwave.pipelines.admin.plot import plot
        from slowwave.policy.charts import to_svg, to_text

        picture = plot(self.ports, kind)
        return to_text(picture) if text else to_svg(picture)

    def doctor(self, *, deep: bool = False, repair: bool = False) -> list[str]:
        """Check the whole store. Returns the problems as sentences; an empty list if there are none.

        Args:
            deep: also check every row against its checksum, and replay the journal of every scope.
            repair: first recompute the checksums of damaged rows, in all scopes, where a replay of the journal proves
                their content. The list then begins with what was repaired, and why other rows were not.
        """
        store = self.ports.store
        repaired = store.repair() if repair else None
        lines = [*([str(repaired)] if repaired else []), *(repaired.refused if repaired is not None else ())]
        return [*lines, *store.check(deep=deep)]

    def checks(self, *, deep: bool = False, repair: bool = False) -> "list[Check]":
        """Check the store, the model and the embedder one by one; the embedder is called, the model is not.

        Args:
            deep: as of `doctor`.
            repair: as of `doctor`.
        """
        from slowwave.pipelines.admin.checks import checks

        return checks(self.ports, deep=deep, repair=repair)

    # ---- correct

    @traced("update_memory")
    def update(self, memory_id: str, text: str, *, category: str | None = None) -> Receipt:
        """Change the text, and if given the category, of a fact. The former text stays in its history.

        Sources that do not support the new text are dropped from the fact, and stay in its history.

        Raises:
            NotFoundError: this scope has no memory of that id.
            InputError: the memory is a message, or the text is empty.
        """
        from slowwave.pipelines.admin.edit import update

        return self._session.checked(update(self.ports, memory_id, text, category))

    @traced("delete_memory")
    def delete(self, memory_id: str) -> Receipt:
        """Retract a memory. It is not destroyed (see `erase`): `revive`, or `undo` of the run, brings it back.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import delete

        return self._session.checked(delete(self.ports, memory_id))

    @traced("update_memory")
    def pin(self, memory_id: str) -> Receipt:
        """Exempt a memory from all automatic changes, and include it in every context.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import pin

        return self._session.checked(pin(self.ports, memory_id, on=True))

    @traced("update_memory")
    def unpin(self, memory_id: str) -> Receipt:
        """Undo `pin`: the memory fades like others from now on.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import pin

        return self._session.checked(pin(self.ports, memory_id, on=False))

    @traced("update_memory")
    def revive(self, memory_id: str) -> Receipt:
        """Make an archived (cold), superseded or retracted memory active again.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import revive

        return self._session.checked(revive(self.ports, memory_id))

    @traced("update_memory")
    def release(self, memory_id: str) -> Receipt:
        """Accept a memory that `review` lists: it is used like any other from now on.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import release

        return self._session.checked(release(self.ports, memory_id))

    @traced("update_memory")
    def reject(self, memory_id: str) -> Receipt:
        """Retract a memory that `review` lists. The same text is not stored again.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import reject

        return self._session.checked(reject(self.ports, memory_id))

    @traced("update_memory")
    def undo(self, run_id: str, *, cascade: bool = False) -> tuple[Receipt, ...]:
        """Reverse a run.

        Args:
            run_id: of `receipt.run_id` or `runs()`.
            cascade: first reverse the later runs that depend on it.

        Raises:
            NotFoundError: this scope has no run of that id.
            ConflictError: later runs depend on it, and `cascade` is False; the error names them.
            InputError: the run is an erase.
        """
        from slowwave.pipelines.admin.undo import undo

        return undo(self.ports, run_id, cascade=cascade)

    @traced("delete_memory")
    def erase(
        self,
        *,
        id: str | None = None,  # noqa: A002 - the word every caller would use
        source: str | None = None,
        conversation: str | None = None,
        text: str | None = None,
        scope: bool = False,
        rewrite: bool | None = None,
        dry_run: bool = False,
    ) -> "ErasureReceipt":
        """Destroy memories and everything derived from them, and verify it. It cannot be undone; `delete` can.

        Choose exactly one of `id`, `source`, `conversation`, `text` and `scope`. Memories that an erased summary
        replaced become active again. Later imports do not store the erased words again.

        Args:
            id: of one memory.
            source: the caller's own id of a message.
            conversation: the name of a conversation.
            text: every memory that contains or ever contained this text, in upper or lower case.
            scope: True: everything in this scope.
            rewrite: whether the file or the tables may be rewritten, which removes the erased bytes from free space and
                locks others out meanwhile. True: at any size; False: never; None: up to 64 MB.
            dry_run: change nothing; the receipt says what would be destroyed and restored.

        Raises:
            InputError: none or several of them are given, or one is invalid.
            NotFoundError: nothing matches.
        """
        from slowwave.pipelines.admin.erase import EraseTarget, erase, preview

        target = EraseTarget(memory_id=id, source=source, conversation=conversation, text=text, scope=scope)
        return preview(self.ports, target) if dry_run else erase(self.ports, target, rewrite=rewrite)

    @traced("update_memory")
    def reembed(self, *, progress: Progress | None = None) -> int:
        """Compute vectors for all memories that have none of the present embedder. Resumable. Returns how many.

        Args:
            progress: called after each batch with the number of texts that were read, and of all.
        """
        from slowwave.pipelines.ingest.reembed import reembed

        return reembed(self.ports, progress=progress)

    # ---- move

    @traced("upsert_memory")
    def import_(
        self,
        path: str | Path,
        format: str = "auto",  # noqa: A002 - the word of the command line
        *,
        dry_run: bool = False,
        trust_export: bool = False,
        told: Callable[[int], None] | None = None,
    ) -> "ImportReport":
        """Import the conversations or facts of a file. Known items are skipped. It is one run, which `undo` reverses.

        Args:
            path: the file; exports of ChatGPT and Claude as they were downloaded.
            format: "jsonl", "locomo", "beam", "chatgpt", "claude", "mem0", "letta", or "auto" to detect it.
            dry_run: count only.
            trust_export: accept trust, pins, phases, uses and flags of an export of another store. An export of this
                scope proves itself; without this, any other is trusted as an imported file.
            told: called after each batch with the number of items read.

        Raises:
            InputError: the file is not of the format, or is the file of the open store.
            KeyboardInterrupt: Ctrl-C; its argument is the ImportReport of what was stored.
        """
        from slowwave import formats
        from slowwave.pipelines.exchange.import_ import incoming

        ports = self.ports.start_run()
        refuse_open_store(path)
        proof = formats.Proof(secret=ports.store.secret, scopes=ports.scopes)
        items = formats.read(path, format, proof=proof)
        return incoming(ports, items, dry_run=dry_run, trust_export=trust_export, told=told)

    def export(self, path: str | Path | TextIO, *, overwrite: bool = False) -> int:
        """Write this scope to a file of JSON lines, completely or not at all. Returns the number of records.

        A text stream instead of a path is written to as it is; it must encode as UTF-8.

        The last line contains a code by which this store, and copies of it, recognise the file as unchanged.

        Raises:
            InputError: the file exists and `overwrite` is False, or it cannot be written.
        """
        from slowwave import formats
        from slowwave.pipelines.exchange.export import outgoing

        ports = self.ports
        records, secret = outgoing(ports), ports.store.secret
        if not isinstance(path, str | Path):
            return formats.write_lines(path, records, scope=ports.scope, at=ports.now(), secret=secret)
        return formats.write(path, records, scope=ports.scope, at=ports.now(), secret=secret, overwrite=overwrite)

    def backup(self, path: str | Path) -> None:
        """Write a copy of the whole store, with every scope and its journal, to a new file. Writers may continue.

        The copy is checked as by `doctor(deep=True)`. Only its owner can read it. It is opened like any store.

        Args:
            path: a file that does not exist.

        Raises:
            InputError: the file exists, or the store is in Postgres: use `pg_dump` or `slowwave copy`.
            StoreError: the copy cannot be written, or fails the check; no file remains.
        """
        self.ports.store.backup(str(path))

    def export_vault(
        self, folder: str | Path, *, force: bool = False, told: Callable[[str], None] | None = None
    ) -> tuple[str, ...]:
        """Write facts, core memory, summaries and a log of sleep passes as Markdown pages, for Obsidian or any editor.

        A page with a person's words that are not in memory is moved to the folder `kept` before it is replaced. Nothing
        else in the folder is touched. The settings in its `config/memory_compaction.md` apply to this object from now on.

        Args:
            folder: the folder of the vault; created if it does not exist.
            force: also replace the pages of another store's vault.
            told: called with a sentence for each page that was kept or not replaced.

        Returns:
            The pages that changed, by path.

        Raises:
            InputError: the vault belongs to another memory, or cannot be written.
        """
        from slowwave.formats.vault import files, front_matter, render
        from slowwave.pipelines.exchange.vault import vault_contents

        folder = Path(folder)
        self._check_vault_owner(folder, force=force)
        self._session.replace_config(front_matter.compaction(folder))
        return files.write(folder, render.Holding(**vault_contents(self.ports)), told=told)

    @traced("upsert_memory")
    def import_vault(self, folder: str | Path, *, dry_run: bool = True, force: bool = False) -> "VaultImport":
        """Import a person's edits of a vault as one run: edited lines update facts, new lines add facts.

        A line whose text is known changes nothing, so an import can be repeated. A missing line deletes nothing.

        Args:
            folder: the folder of the vault.
            dry_run: plan and change nothing; the default. The model is asked as in a real import.
            force: also accept more than five changes that are more than a fifth of the facts, and a vault of another
                store.

        Raises:
            InputError: there is no vault, it belongs to another memory, or the changes need `force`.
        """
        from slowwave.formats.vault import files, front_matter
        from slowwave.pipelines.exchange.vault import take

        folder = Path(folder)
        self._check_vault_owner(folder, force=force)
        pages = files.read(folder)
        self._session.replace_config(front_matter.compaction(folder))
        report = take(self.ports.start_run(), pages.lines, gone=pages.gone, dry_run=dry_run, force=force)
        report = replace(report, conflicts=(*report.conflicts, *pages.unread))
        self._session.raise_if_strict(report.problems)
        return report

    def sync_vault(self, folder: str | Path, *, force: bool = False) -> "VaultImport":
        """Import the edits of a vault, then write its pages again. In an empty or new folder a vault is created.

        Raises:
            InputError: as `import_vault` and `export_vault`; nothing was changed.
            SlowwaveError: the edits were imported, and then the pages could not be written; the error names the run.
        """
        from slowwave.formats.vault import files
        from slowwave.pipelines.exchange.vault import VaultImport

        folder = Path(folder)
        report, notes = VaultImport(dry_run=False), list[str]()
        if folder.is_dir() and any(folder.iterdir()):
            self._check_vault_owner(folder, force=force)
            files.check_writable(folder)
            report = self.import_vault(folder, dry_run=False, force=force)
        try:
            pages = self.export_vault(folder, force=force, told=notes.append)
        except InputError as error:
            if report.run_id is None:
                raise
            raise SlowwaveError(f"{error}; what you changed was taken in before that, sync again:\n{report}") from error
        return replace(report, pages=pages, notes=tuple(dict.fromkeys((*report.notes, *notes))))

    def _check_vault_owner(self, folder: Path, *, force: bool) -> None:
        """Raise InputError if the vault in a folder belongs to another memory."""
        from slowwave.formats.vault import files
        from slowwave.pipelines.exchange.vault import check_owner

        if baseline := files.baseline(folder):
            ids = tuple(baseline.facts)
            check_owner(self.ports, baseline.owner, ids, what=f"the vault {folder}", force=force)
