"""AgentMemory: the public facade. Each method delegates to a pipeline."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Never, Self, TextIO, get_args
from uuid import UUID

from slowwave.errors import InputError, NotFoundError, SlowwaveError
from slowwave.model.arguments import check_fields, checked_class
from slowwave.model.config import Config
from slowwave.model.context import Scene
from slowwave.model.filters import Condition
from slowwave.model.memory import FACT_KINDS, HOT, SUMMARY, JsonValue, Kind, Memory, Trust
from slowwave.model.message import Message, MessageLike
from slowwave.model.names import (
    checked_count,
    checked_id,
    checked_name,
    optional_conversation,
    optional_count,
    optional_name,
)
from slowwave.model.note import Note
from slowwave.model.operations import RejectFact
from slowwave.model.plan import Event, Plan, Receipt, Run, RunParts, in_zone
from slowwave.model.query import Context, Hit, Where
from slowwave.model.scope import ScopeName
from slowwave.model.status import Conversation, LinkRow, Status
from slowwave.model.suggestions import suggests_names
from slowwave.model.zone import local
from slowwave.ports import LLM, Clock, Embedder, Mind, Ports, Progress
from slowwave.session import (
    FROM_SETTINGS,
    FromSettings,
    MemorySession,
    StoreSession,
    open_store,
    refuse_open_store,
    refuse_unknown_arguments,
)
from slowwave.telemetry import traced
from slowwave.views import ConversationView, Knowledge

if TYPE_CHECKING:
    from slowwave.aio import AsyncAgentMemory
    from slowwave.pipelines.admin.checks import Check
    from slowwave.pipelines.admin.costs import CostReport, Estimate
    from slowwave.pipelines.admin.erase import ErasureReceipt
    from slowwave.pipelines.admin.explain import Explanation
    from slowwave.pipelines.admin.health import Health
    from slowwave.pipelines.exchange.import_report import ImportReport
    from slowwave.pipelines.exchange.vault import VaultImport
    from slowwave.pipelines.ingest.add import FactLike
    from slowwave.pipelines.ingest.distil import ConsolidationResult
    from slowwave.pipelines.sleep.compact_now import Compaction
    from slowwave.pipelines.sleep.compact_topic import TopicCompaction
    from slowwave.pipelines.sleep.report import SleepReport
    from slowwave.policy.summaries.pages import Page


@suggests_names
@checked_class
class AgentMemory:
    """A memory for agents. It stores every message, extracts facts, archives what is not used, and finds what matters.

    Open one with `AgentMemory.open("agent.db")` and use it as a context manager; `AgentMemory("agent.db")` is the same.
    Threads may share one object. Every method raises ClosedError after `close()`, and StoreError if the file or the
    server fails. For many users open the store once with `Slowwave.open`: its memories share one connection.

    >>> with AgentMemory.open(":memory:", embedder="none") as memory:
    ...     _ = memory.add("Alice owns the deploy pipeline", category="person")
    ...     memory.search("who owns deploys?")[0].text
    'Alice owns the deploy pipeline'

    Args:
        store: as in `open`. With `knowledge` or `ports`, None is a store in RAM, which is lost when it is closed.
        knowledge: the object that `MemoryConsolidator` takes as the facts of this memory; None: a new one. It may also
            be the first argument.
        ports: the store, mind, embedder, clock and config to use, in place of all arguments but `knowledge`, `strict`
            and `sleep_every`. Closing the memory closes their store.

    The other arguments and the errors are those of `open`.
    """

    def __init__(
        self,
        store: str | Path | Knowledge | None = None,
        *,
        knowledge: Knowledge | None = None,
        ports: Ports | None = None,
        scope: ScopeName | None = None,
        inherit: bool = False,
        llm: str | LLM | Mind | None | FromSettings = FROM_SETTINGS,
        embedder: str | Embedder | None | FromSettings = FROM_SETTINGS,
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        create: bool = True,
        **unknown: Never,
    ) -> None:
        refuse_unknown_arguments(unknown, type(self).open)
        if isinstance(store, Knowledge):
            store, knowledge = None, store
        if store is None and knowledge is not None:
            store = ":memory:"  # the interface that has a `knowledge` keeps everything in RAM
        pause = None
        if sleep_every is not None:
            from slowwave.pipelines.sleep.background import seconds

            pause = seconds(sleep_every)
        session = (
            StoreSession(ports, strict=strict)
            if ports is not None
            else open_store(
                store,
                scope=scope,
                inherit=inherit,
                llm=llm,
                embedder=embedder,
                config=config,
                zone=zone,
                clock=clock,
                strict=strict,
                create=create,
            )
        )
        self._start(MemorySession(session, session.ports, owner=True), knowledge)
        if pause is not None:
            self._session.start_sleeper(pause)

    def _start(self, session: MemorySession, knowledge: Knowledge | None = None) -> None:
        self._session = session
        self._knowledge = knowledge
        self._async: AsyncAgentMemory | None = None
        if knowledge is not None:
            knowledge.attach(self)

    @classmethod
    def of_session(cls, session: MemorySession) -> Self:
        """A memory of a session of an open store. `Slowwave.within` and `within` call it. Nothing is read or loaded."""
        memory = cls.__new__(cls)
        memory._start(session)  # noqa: SLF001 - a new object of this class
        return memory

    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        scope: ScopeName | None = None,
        inherit: bool = False,
        llm: str | LLM | Mind | None | FromSettings = FROM_SETTINGS,
        embedder: str | Embedder | None | FromSettings = FROM_SETTINGS,
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        create: bool = True,
        **unknown: Never,
    ) -> Self:
        """Open a memory. A store that does not exist is created, unless `create` is False.

        It is `Slowwave.open` and `within` in one call: closing the memory closes its store.

        Args:
            store: a file, ":memory:", or "postgresql://…"; None: SLOWWAVE_STORE, else a file in the user's data folder.
            scope: the path that owns the memories, such as "acme/alice"; None: SLOWWAVE_SCOPE, else "default".
            inherit: also read the memories of the parent scopes ("acme" for "acme/alice"). They are never written.
            llm: "openai:gpt-5-mini", "ollama:llama3", "http://host/v1#MODEL" (without #MODEL the only model that this
                server lists), an object with `.complete(messages=...)`, or a Mind. None: the offline rules, no model. By
                default SLOWWAVE_LLM, else the offline rules.
            embedder: "static", "minilm", "openai:MODEL", or an object with `name` and `embed`. "none" or None: search
                by words only. By default SLOWWAVE_EMBEDDER, else "static".
            config: the numbers of all policies; None: those of the settings file, else the defaults.
            zone: the time zone of times without one and of messages without a time, such as "Europe/Berlin" or "+09:00". A
                message counts "today" and "tomorrow" in the offset of its own time. None: that of `config`, else UTC.
            clock: a function that returns the present time, with a time zone; None: the system's clock.
            strict: raise PortError if a model or embedder fails, instead of reporting it in the result.
            sleep_every: run a sleep pass this often on a separate thread: a timedelta, seconds, or text such as "8h".
                `health()` reports its failures. None: only `sleep` and `Config.sleep_every_ingests` run one.
            create: False: raise NotFoundError if there is no store.
            unknown: no other argument is accepted; the error says where fields of Config belong.

        Raises:
            InputError: the store, scope, zone or `sleep_every` is invalid, an argument is unknown, or there is no store.
            SettingsError: the kind of store, model or embedder is unknown, or an extra is not installed.
            StoreError: the store cannot be opened; each subclass says what to do.
        """
        return cls(
            store,
            scope=scope,
            inherit=inherit,
            llm=llm,
            embedder=embedder,
            config=config,
            zone=zone,
            clock=clock,
            strict=strict,
            sleep_every=sleep_every,
            create=create,
            **unknown,
        )

    @classmethod
    def in_memory(
        cls,
        *,
        scope: ScopeName | None = None,
        llm: str | LLM | Mind | None = None,
        embedder: str | Embedder | None = "static",
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        **unknown: Never,
    ) -> Self:
        """Open a memory in RAM, such as for tests. Its content is lost when it is closed.

        The arguments and errors are those of `open`. SLOWWAVE_LLM and SLOWWAVE_EMBEDDER are not read: by default no model
        is asked, and the embedder is "static".
        """
        refuse_unknown_arguments(unknown, cls.in_memory)
        return cls(
            ":memory:",
            scope=scope,
            llm=llm,
            embedder=embedder,
            config=config,
            zone=zone,
            clock=clock,
            strict=strict,
            sleep_every=sleep_every,
        )

    default = in_memory
    """Another name of `in_memory`."""

    def trusting(self, trust: Trust, *, review: bool | None = None) -> Self:
        """Return this memory with a ceiling: nothing that is written through the returned handle is trusted more.

        Pass the handle to code that acts for a model, a tool or a web page. Both handles share the open store; closing
        the returned one leaves it open. Its facts, notes, imports and messages have at most this trust, whatever their
        role or their `trust` says, and what reads as an instruction waits for review.

        The handle changes, deletes and supersedes only memories that are trusted no more than the ceiling; other
        facts it states are stored beside those that they contradict. It undoes only runs that added such memories. It
        may not pin, release, reject, erase, compact a topic, apply a plan, import the edits of a vault, or bring back
        what was deleted: these raise TrustError. What waits for review, or was rejected, is not shown by anything that
        the handle reads, and it may not change it.

        Args:
            trust: "user", "assistant", "tool", "import", "web" or "llm", from the most trusted to the least. A handle
                with a ceiling keeps it: `trusting("user")` of it does not raise it.
            review: whether the handle shows what waits for review; None: if its ceiling is "user". A handle that does
                not show it never does again.

        Raises:
            InputError: there is no such kind of source.
        """
        return self.of_session(self._session.view(self.ports.trusting(trust, review=review)))

    def within(self, *names: str | int | UUID, inherit: bool = False, zone: str | None = None) -> Self:
        """Return the memory of a scope below this one, in the same open store. Nothing is read or loaded.

        `memory.within("notes")` of scope "acme/alice" has the scope "acme/alice/notes". Each name is one part of the
        path, whatever it contains: see `Slowwave.within`.

        Args:
            names: one or more texts, ints or UUIDs.
            inherit: also read the memories of the parent scopes. They are never written.
            zone: the time zone of times without one and of messages without a time, as in `open`. None: that of this memory.

        Raises:
            InputError: there is no name, one is invalid, the path is too long, or the zone is unknown.
        """
        return self.of_session(self._session.within(names, inherit=inherit, zone=zone))

    def close(self) -> None:
        """Close this memory. One that was opened by `open` also closes its store and stops the background threads.

        A memory of `within` leaves the store open. Closing the store closes all its memories. Idempotent. A sleep pass
        and a summary under way in the background each get up to 5 seconds to end.
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
    def scope(self) -> str:
        """The path of the scope, such as "acme/alice"."""
        return self._session.scope

    def now(self) -> datetime:
        """Return the present time of this memory's clock, in UTC."""
        return self.ports.now()

    @property
    def knowledge(self) -> Knowledge:
        """The facts of this memory, as `MemoryConsolidator` takes them."""
        if self._knowledge is None:
            self._knowledge = Knowledge()
            self._knowledge.attach(self)
        return self._knowledge

    @property
    def aio(self) -> "AsyncAgentMemory":
        """This memory for async code: the same methods, to be awaited. It is always the same object."""
        from slowwave.aio import AsyncAgentMemory

        if self._async is None:
            self._async = AsyncAgentMemory(self)
        return self._async

    @property
    def ports(self) -> Ports:
        """The store, mind, embedder, clock and config behind this memory, for code that calls pipelines."""
        return self._session.ports

    # ---- write

    def add_message(self, message: MessageLike, conversation: str | int | None = None) -> Receipt:
        """Store one message. See `add_messages`."""
        return self.add_messages([message], conversation)

    @traced("create_memory")
    def add_messages(
        self, messages: MessageLike | Sequence[MessageLike], conversation: str | int | None = None
    ) -> Receipt:
        """Store up to 10,000 messages in one transaction. They are durable and searchable when this returns.

        A message whose id is known in the conversation, with the same content, is not stored again. A message without
        text, such as one that only calls a tool, is not stored; `receipt.notes` names it, and each field that is not
        stored.

        Args:
            messages: in the order of the conversation: each a Message, or a mapping as chat APIs take it, with "role",
                "content" (a text, or a list of parts), and optionally "name" or "speaker", "id", "at" and "metadata".
                A single one needs no list. Roles of other programs ("developer", "function", "human", "ai", "model",
                "chatbot") become system, tool, user or assistant.
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
        self._session.after_messages(name)
        return self._session.after_write(receipt)

    @traced("upsert_memory")
    def add(
        self,
        text: "str",  # in quotation marks: the pipeline refuses other types, and names `add_messages` for messages
        *,
        category: str = "other",
        kind: Kind = "semantic",
        subject: str | None = None,
        importance: float | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
        trust: Trust = "user",
        id: str | None = None,  # noqa: A002 - the word every caller would use
        at: datetime | None = None,
        expires_at: datetime | None = None,
    ) -> Receipt:
        """Store a fact. It is reconciled with the known facts: it may update, supersede or repeat one of them.

        `receipt.outcomes[0]` says which, and names the memory that holds the fact now. If the model fails, the fact is stored nevertheless, and `receipt.waiting` counts it: a sleep pass asks again.

        Args:
            text: the fact as one sentence.
            category: decides how fast it fades (docs/tuning.md).
            kind: "semantic", "episodic" or "procedural".
            subject: whom or what the fact is about; None: taken from the text.
            importance: from 0 to 1; None: computed from the text.
            metadata: JSON values of the caller by name, stored with it, at most 1,000,000 characters as JSON. If the fact
                updates or repeats a known one, that one keeps its own and takes these, which replace those of equal names.
            trust: who states it: "user", "assistant", "tool", "import", "web" or "llm". What anyone but the user states
                and reads as an instruction to a model is kept for `review`, and it never changes or supersedes a memory
                that is trusted more.
            id: the caller's own id, unique among the facts of the scope. The same id with the same text changes nothing,
                so that a call can be repeated.
            at: since when it is true, with a time zone; None: now.
            expires_at: when it ends, with a time zone: from then on no normal search finds it, and a sleep pass archives
                it. None: by its category.

        Raises:
            InputError: an argument is invalid.
            ConflictError: the id is known with another text.
        """
        from slowwave.model.mind import Fact
        from slowwave.pipelines.ingest.add import add_facts, checked_fact

        fact = Fact(
            text=text,
            category=category,
            kind=kind,
            subject=subject,
            importance=importance,
            metadata={} if metadata is None else metadata,
            trust=trust,
            ref=id,
            valid_from=at,
            expires_at=expires_at,
        )
        return self._session.after_write(add_facts(self.ports.start_run(), (checked_fact(fact, self.ports.zone),)))

    @traced("upsert_memory")
    def add_all(self, facts: "Iterable[FactLike]") -> Receipt:
        """Store up to 10,000 facts as one run, which one `undo` reverses. See `add`.

        If one of them is invalid, none is stored. Each batch of 20 is reconciled and stored in one transaction. After an
        interruption the same call stores the rest.

        Args:
            facts: each a text, a Fact, or a mapping with the arguments of `add` ("text", "category", "id", …).

        Returns:
            A receipt whose `outcomes` has one item for each fact, in their order.

        Raises:
            InputError: one of them is invalid; the error names its place, counted from 0.
            ConflictError: an id is known with another text.
        """
        from slowwave.pipelines.ingest.add import add_all

        return self._session.after_write(add_all(self.ports.start_run(), facts))

    @traced("upsert_memory")
    def consolidate(
        self,
        conversation: str | int | None = None,
        *,
        force: bool = False,
        on_progress: Progress | None = None,
    ) -> "ConsolidationResult":
        """Extract facts from the unread messages of a conversation, and reconcile them with the known facts.

        `sleep` does so too. Fewer than `Config.min_messages` unread messages wait until the conversation has been idle for
        an hour; `force` and `end_conversation` read them at once. If the model fails, the messages stay unread, and the result's `skipped_reason` says why.

        Args:
            conversation: its name; None: the one written to last.
            force: read however few messages are unread.
            on_progress: called after each part with the number of messages that were read, and of all to read.

        Raises:
            NotFoundError: the conversation has no messages; the error lists those that exist.
        """
        from slowwave.pipelines.conversations import known_conversation
        from slowwave.pipelines.ingest.distil import consolidate

        conversation = optional_conversation(conversation)
        if conversation is not None:
            known_conversation(self.ports, conversation)
        result = consolidate(self.ports.start_run(), conversation, force=force, on_progress=on_progress)
        self._session.raise_if_strict(result.problems)
        return result

    @traced("upsert_memory")
    def consolidate_all(
        self,
        *,
        force: bool = False,
        on_progress: Progress | None = None,
    ) -> "ConsolidationResult":
        """Extract facts from all conversations with unread messages, the one that was idle longest first.

        It is one run, which `undo` reverses whole. A conversation at which the model fails stays unread. If the model does not
        answer about other words either, the call stops: the facts so far are stored, and the other messages stay unread.
        `skipped_reason` contains the first reason, and `left` the reason for each conversation that was not read.

        Args:
            force: read however few messages are unread.
            on_progress: called after each conversation with the number visited so far and the number in all.
        """
        from slowwave.pipelines.ingest.distil_all import consolidate_all

        result = consolidate_all(self.ports.start_run(), force=force, on_progress=on_progress)
        self._session.raise_if_strict(result.problems)
        return result

    def end_conversation(self, conversation: str | int | None = None) -> "ConsolidationResult":
        """Consolidate all unread messages of a conversation that has ended: `consolidate(conversation, force=True)`."""
        return self.consolidate(conversation, force=True)

    @traced("update_memory")
    def record_retrieval(
        self,
        hits: Context | Hit | Memory | str | Iterable[Context | Hit | Memory | str],
        *,
        session: str | int | None = None,
    ) -> int:
        """Record that memories were used: their strength counts from now, and they fade more slowly.

        Args:
            hits: a context (every memory that it shows for its question), a hit of `search`, a memory, an id, or several of these.
            session: uses under one name count as one session; an int becomes its digits. None: one session a day.

        Returns:
            How many memories were recorded as used.

        Raises:
            InputError: the session is of another type, or a text that cannot be stored; or a value is none of these.
            NotFoundError: no memory has a given id.
        """
        from slowwave.pipelines.recall.record_use import use

        return use(self.ports.whole, hits, session=session)[0]

    def once(self, name: str, request: str, call: Callable[[], str]) -> str:
        """Call a function and keep its answer for 24 hours; the same name then returns it without another call.

        It makes a call safe to repeat for a caller that does not know whether the first one arrived. The answers of a scope
        are deleted by every erase in it.

        Args:
            name: the name of the request in this scope, 1 to 256 characters.
            request: everything that the request depends on. Only its hash is stored.
            call: carries out the request and returns its answer. If it raises, the name is free again.

        Raises:
            ReusedNameError: the name was used for another request.
            ConflictError: the first request with this name is still being carried out.
        """
        from slowwave.pipelines.admin.access import answer_once

        return answer_once(self.ports, name, request, call)

    # ---- read

    @traced("search_memory")
    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        categories: Collection[str] | None = None,
        kinds: Collection[str] | None = None,
        conversation: str | int | None = None,
        except_conversation: str | int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        deep: bool = False,
        where: Mapping[str, object] | Condition | None = None,
        folder: str | None = None,
        min_relevance: float | None = None,
    ) -> list[Hit]:
        """Return the best memories for a question, best first. Nothing is written; see `record_retrieval`.

        Args:
            query: the question, in words.
            top_k: how many hits at most; at least 1.
            categories: only facts of these categories.
            kinds: only these kinds: "message", "episodic", "semantic", "procedural", "summary", "note".
            conversation: only memories of this conversation.
            except_conversation: leave out the messages and summaries of this conversation, such as the present one,
                where the question itself would be the best hit. Facts that were extracted from it are found.
            since: only memories that were said or true at this time or later.
            until: only memories that were said or true at this time or earlier.
            as_of: what was true at this time, also if it was superseded later.
            known_at: what this memory contained at this time, in the words of that time.
            deep: also search archived (cold), superseded and retracted memories; `hit.deep` and `hit.stale` mark them.
            where: only memories whose metadata (of a note first its data) pass, such as {"a.b": 3}; or a function of both.
            folder: only notes in this folder and in those below it; "" means all notes.
            min_relevance: only hits of at least this `hit.relevance`, 0 to 1; None: all, also those that only fill `top_k`.

        Raises:
            InputError: the question is empty, or a filter is invalid. Times need a time zone.
        """
        from slowwave.pipelines.recall.asked import Search
        from slowwave.pipelines.recall.search import search

        request = Search(
            text=query,
            top_k=top_k,
            categories=categories,
            kinds=kinds,
            conversation=optional_conversation(conversation),
            except_conversation=optional_name(except_conversation, "except_conversation", numbers=True),
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            deep=deep,
            where=where,
            folder=folder,
            min_relevance=min_relevance,
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
        conversation: str | int | None = None,
        except_conversation: str | int | None = None,
        budget_tokens: int = 1500,
        profile: str = "plain",
        scene: Scene | None = None,
        related_only: bool = False,
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
            except_conversation: leave out the messages and summaries of this conversation: for a model that sees the
                present one anyway. Facts that were extracted from it are shown. Without `conversation` the latest messages
                of no conversation are shown.
            budget_tokens: the size limit in tokens, estimated; at least 64.
            profile: "plain"; "chat", which also fills `.messages`, where only the words of the user and the assistant
                are outside of a fenced block; or "agent", a text for base models that ends where the agent continues.
            scene: for "agent": who the agent is, and what surrounds it.
            related_only: only hits for the question of a relevance of at least 0.01, without those of `conversation`:
                for a model that sees the present conversation anyway. The text is empty if there are none.

        Raises:
            InputError: an argument is invalid.
        """
        from slowwave.pipelines.recall.context import ContextRequest, context

        request = ContextRequest(
            question=query,
            conversation=conversation,
            except_conversation=except_conversation,
            budget_tokens=budget_tokens,
            profile=profile,
            scene=scene or Scene(),
            related_only=related_only,
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
            TrustError: it waits for review or was rejected, and this handle does not show such memories.
        """
        from slowwave.pipelines.recall.reading import named

        return named(self.ports, memory_id)

    def find_id(self, part: str) -> str:
        """Return the id of the memory whose id begins or ends with a text of at least 6 characters.

        Ids begin with their time: the last 6 characters tell those apart that were made together.

        Raises:
            NotFoundError: no id begins or ends so.
            InputError: the text is too short, or several ids begin or end so; the error lists them.
        """
        from slowwave.pipelines.admin.find_id import find_memory_id

        return find_memory_id(self.ports, part)

    def find_run_id(self, part: str) -> str:
        """Return the id of the run whose id begins or ends with a text of at least 6 characters. Raises as `find_id`."""
        from slowwave.pipelines.admin.find_id import find_run_id

        return find_run_id(self.ports, part)

    def find_conversation(self, wanted: str | int, *, beginnings: bool = True) -> str | None:
        """Return the name of a conversation by its name, its title, or a beginning of either; None if there is none.

        An exact name comes first, then a title that only one conversation has, then a beginning of at least 6
        characters that only one name or title has.

        Args:
            wanted: the name, the title or the beginning.
            beginnings: False: only whole names and titles.

        Raises:
            InputError: several conversations have this title or begin so; the error lists them.
        """
        from slowwave.pipelines.conversations import find_conversation

        name = checked_name(wanted, "conversation", numbers=True)
        return find_conversation(self.ports, name, beginnings=beginnings)

    def unknown_names(
        self, *, conversation: str | int | None = None, categories: Collection[str] | None = None
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
        conversation: str | int | None = None,
        order: str = "recorded",
        after: Memory | str | None = None,
        limit: int | None = None,
        where: Mapping[str, object] | Condition | None = None,
    ) -> list[Memory]:
        """Return memories, in pages if `limit` is given. By default all facts in use, without messages.

        The next page begins after the last memory of the page before: `get_all(after=page[-1], limit=50)`. In the orders
        by time, pages neither skip nor repeat a memory while others write.

        Args:
            kinds: of "message", "episodic", "semantic", "procedural", "summary", "note"; None: all facts, which are
                neither "message" nor "note".
            categories: only these categories.
            phases: of "quarantined", "active", "core", "cold", "superseded", "retracted"; None: "active" and "core".
            conversation: only facts with a source message in this conversation; with the kind "message" in `kinds`,
                also its messages.
            order: "recorded" (in the order in which they were stored), "at" (by the time at which they were said or
                true) or "strength" (weakest first). A minus reverses it: "-recorded", "-at", "-strength".
            after: only what follows this memory, or the memory of this id, in the order.
            limit: how many at most.
            where: only memories whose metadata pass, as in `search`.

        Raises:
            InputError: a kind, a phase or the order is unknown, or an argument is invalid.
            NotFoundError: the memory of `after` was erased.
        """
        from slowwave.pipelines.recall.listing import Listing, listed

        asked = Listing(
            kinds=kinds,
            categories=categories,
            phases=phases,
            conversation=conversation,
            order=order,
            after=after,
            limit=limit,
            where=where,
        )
        return listed(self.ports, asked)

    def pages(self) -> "list[Page]":
        """Return the facts in use as topic pages: one for each person or thing and each category of facts about it.

        Pages are made when they are read. They are not stored, and neither `search` nor `context` shows them.
        """
        from slowwave.policy.summaries.pages import pages

        return pages(self.get_all(), self.ports.now())

    def conversations(
        self, *, after: Conversation | str | int | None = None, limit: int | None = None
    ) -> list[Conversation]:
        """Return the conversations, the one with the latest message first, each with its title and its numbers of messages.

        A conversation of which all messages were retracted or erased is left out.

        Args:
            after: the last conversation of the page before, for the next page. Pages neither skip nor repeat a
                conversation while others write. A name is accepted too; then a conversation that was written to since
                may be skipped: it has moved to the first page.
            limit: how many at most.

        Raises:
            InputError: an argument is invalid.
        """
        if isinstance(after, Conversation):
            check_fields(after, "after")
        else:
            after = optional_name(after, "after", numbers=True)
        most, now = optional_count(limit, "limit"), self.ports.now()
        found = self.ports.store.listed_conversations(self.ports.scope, most, after, now=now)
        zone = self.ports.zone
        return [replace(one, first_at=local(one.first_at, zone), last_at=local(one.last_at, zone)) for one in found]

    @traced("update_memory")
    def set_title(self, conversation: str | int, title: str | None) -> Receipt:
        """Set the title of a conversation, for people to read; None removes it. `undo` of the run reverses it.

        Raises:
            NotFoundError: there is no conversation of that name.
            InputError: the title is not a text of 1 to 256 characters.
        """
        from slowwave.pipelines.admin.titles import set_title

        name = checked_name(conversation, "conversation", numbers=True)
        return self._session.checked(set_title(self.ports.whole, name, title))

    def messages(
        self, conversation: str | int | None = None, *, last: int | None = None, withheld: bool = False
    ) -> list[Message]:
        """Return the messages of a conversation in order, without retracted ones.

        Args:
            conversation: its name; None: the one written to last. One that does not exist has no messages
                (`unknown_names` says so): a chat reads its history before its first message.
            last: only this number of the latest messages; None: all.
            withheld: include the messages under review in their places, without their text; False: leave them out.

        Raises:
            InputError: an argument is invalid.
        """
        from slowwave.pipelines.conversations import messages

        name = self._session.conversation_name(conversation)
        return messages(self.ports, name, last=optional_count(last, "last"), withheld=withheld)

    def get_conversation_messages(
        self, conversation: str | int | None = None, *, withheld: bool = False
    ) -> list[Message]:
        """Return the messages of a conversation: `messages(conversation, withheld=withheld)`."""
        return self.messages(conversation, withheld=withheld)

    @property
    def conversation(self) -> ConversationView:
        """The conversation written to last."""
        return ConversationView(self._session)

    def summaries(self, conversation: str | int | None = None) -> list[Memory]:
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
        if any(not isinstance(memory, Memory) for memory in memories):
            raise InputError("memories contains other values than memories: pass a list of slowwave.Memory")
        return [strength(memory, config, now) for memory in memories]

    # ---- notes

    def note(
        self,
        name: str,
        text: str = "",
        *,
        folder: str = "",
        data: JsonValue = None,
        metadata: Mapping[str, JsonValue] | None = None,
        expires_at: datetime | None = None,
        if_version: int | None = None,
    ) -> Receipt:
        """Store a text or JSON data under a name. It is read back exactly, and nothing merges, rewords or fades it.

        A note of this name is replaced whole; the former content stays in its history, and `undo` restores it. The same
        content changes nothing.

        Args:
            name: 1 to 512 characters, unique in the folder.
            text: up to 1,000,000 characters. With "", search uses the texts in `data`, or else the name.
            folder: up to 512 characters; "/" separates a folder from those below it, and "" is the root.
            data: any JSON value, at most 1,000,000 characters as JSON; None: no data.
            metadata: JSON values of the caller by name.
            expires_at: until when the note is read, listed and found; the next sleep pass after it archives the note.
                None: until it is removed.
            if_version: store it only if the present note has this version, 0 if there is none; None: in any case.

        Raises:
            InputError: an argument is invalid, or `expires_at` has passed.
            VersionError: the present note has another version than `if_version`.
        """
        from slowwave.pipelines.ingest.notes import put_notes

        note = Note(name=name, folder=folder, text=text, data=data, metadata=metadata or {}, expires_at=expires_at)
        return self._session.checked(
            put_notes(self.ports.whole, [note], if_version=optional_count(if_version, "if_version"))
        )

    @traced("upsert_memory")
    def put_notes(self, notes: Iterable[Note], *, remove: Iterable[Note] = (), if_unchanged: bool = False) -> Receipt:
        """Store and remove up to 5,000 notes in one transaction, as `note` and `remove_note` do.

        Args:
            notes: those to store. Only name, folder, text, data, metadata and expires_at count.
            remove: those to remove. Only name and folder count, and names without a note are skipped.
            if_unchanged: only if each present note still has the `version` of the one passed here, 0 for a note that does
                not exist: for notes that were read before. False: in any case.

        Raises:
            InputError: a note is invalid, or a name occurs twice; nothing is stored.
            VersionError: with `if_unchanged`, a note was changed meanwhile; nothing is stored.
        """
        from slowwave.pipelines.ingest.notes import put_notes

        return self._session.checked(put_notes(self.ports.whole, notes, remove=remove, if_unchanged=if_unchanged))

    @traced("search_memory")
    def read_note(self, name: str, *, folder: str = "") -> Note | None:
        """Return the note of exactly this name and folder; None if there is none, or if it has expired.

        With `inherit`, notes of the parent scopes are read too; that of the nearest scope is returned.
        """
        from slowwave.pipelines.ingest.notes import read_note

        return read_note(self.ports, name, folder)

    @traced("search_memory")
    def notes(
        self,
        folder: str = "",
        *,
        below: bool = False,
        where: Mapping[str, object] | Condition | None = None,
        after: str | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Note]:
        """Return the notes of a folder, ordered by folder and name (by code point), without those that have expired.

        Args:
            folder: the folder; "" is the root.
            below: also those of the folders below it.
            where: only notes that pass, such as {"status": "open", "score": {"$gte": 2}}: a field is looked up in the data
                of the note, and if it is not there, in its metadata. Its operators are in docs/notes.md. Or a function
                of the data and the metadata that returns whether a note passes.
            after: the `id` of the last note of the page before; None: from the first.
            offset: how many of the notes that pass are left out first. `after` is faster for the pages of a long list.
            limit: how many at most; None: all.

        Raises:
            InputError: the filter or another argument is invalid.
            NotFoundError: `after` is the id of no note of this scope.
        """
        from slowwave.pipelines.ingest.notes import NoteListing, list_notes

        request = NoteListing(folder=folder, below=below, where=where, after=after, offset=offset, limit=limit)
        return list_notes(self.ports, request)

    @traced("search_memory")
    def note_folders(
        self,
        folder: str = "",
        *,
        where: Mapping[str, object] | Condition | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """Return this folder and those below it that have notes, in code point order. Expired notes do not count.

        Args:
            folder: the folder; "" means all.
            where: only folders with a note that passes, as in `notes`.
            after: the last folder of the page before; None: from the first.
            limit: how many at most; None: all.

        Raises:
            InputError: the filter or another argument is invalid.
        """
        from slowwave.pipelines.ingest.notes import list_folders

        return list_folders(self.ports, folder, where=where, after=after, limit=limit)

    @traced("delete_memory")
    def remove_note(self, name: str, *, folder: str = "", if_version: int | None = None) -> Receipt:
        """Retract a note. It is not destroyed (see `erase`): `undo` of the run brings it back.

        Args:
            name: its name.
            folder: its folder.
            if_version: retract it only if it has this version; None: in any case.

        Raises:
            NotFoundError: there is no note of this name in this folder, or it has expired.
            VersionError: it has another version than `if_version`.
        """
        from slowwave.pipelines.ingest.notes import remove_note

        return self._session.checked(
            remove_note(self.ports.whole, name, folder, if_version=optional_count(if_version, "if_version"))
        )

    # ---- sleep

    @traced("upsert_memory")
    def sleep(self, *, dry_run: bool = False, think: bool = True, on_progress: Progress | None = None) -> "SleepReport":
        """Run one sleep pass: consolidate what is unread, merge, summarise and archive what is due.

        The conversation that was idle longest is read first. Fewer than `Config.min_messages` unread messages of a
        conversation wait until it has been idle for an hour; `end_conversation` reads them at once. A model that fails leaves
        its messages unread, and the next pass tries again.

        Args:
            dry_run: plan and change nothing. The model is asked as in a real pass. `apply(report.plan)` carries it out.
            think: False: ask no model; work that needs one stays due.
            on_progress: called before each stage with the number of stages that were run, and of all.
        """
        from slowwave.pipelines.sleep.sleep_pass import sleep

        report = sleep(
            self.ports.start_run(), self._session.sleep_state, dry_run=dry_run, think=think, on_progress=on_progress
        )
        self._session.raise_if_strict(report.problems)
        return report

    tick = sleep
    """The name of `sleep` in other memory systems."""

    def sleep_due(
        self,
        *,
        think: bool = True,
        limit: int | None = None,
        on_progress: Callable[[str, "SleepReport"], None] | None = None,
    ) -> dict[str, "SleepReport"]:
        """Run a sleep pass for each scope of the store that is due, of all tenants. Returns reports by scope.

        Many machines may do so at once: a lease admits one of them to each scope. A scope whose pass failed is due again
        after a pause that grows with each failure in a row: 15 minutes, 1 hour, 6 hours, 24 hours.

        Args:
            think: False: ask no model; work that needs one stays due.
            limit: how many scopes at most; those with the oldest sleep pass come first. None: all that are due.
            on_progress: called with scope and report after each pass.
        """
        from slowwave.pipelines.sleep.all_scopes import sleep_due

        reports: dict[str, SleepReport] = {}
        for scope, report in sleep_due(self.ports.whole, think=think, limit=optional_count(limit, "limit")):
            reports[scope] = report
            if on_progress:
                on_progress(scope, report)
        return reports

    @traced("upsert_memory")
    def apply(self, plan: Plan) -> tuple[Receipt, ...]:
        """Carry out a plan of a dry run. A group whose memories changed since is dropped, and the receipt says so."""
        from slowwave.pipelines.sleep.sleep_pass import apply

        return apply(self.ports.whole, plan)

    def save_plan(self, plan: Plan, path: str | Path) -> None:
        """Write the plan of a dry run to a new JSON file, for `load_plan`.

        Raises:
            InputError: the file exists, or cannot be written.
        """
        from slowwave.formats import plan_file

        check_fields(plan, "plan")
        plan_file.write(path, plan)

    def load_plan(self, path: str | Path) -> Plan:
        """Read a plan from a file of `save_plan`, to print it or to `apply` it.

        Raises:
            InputError: the file is not a plan, is damaged, or belongs to another scope.
        """
        from slowwave.formats import plan_file
        from slowwave.pipelines.sleep.sleep_pass import findable

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
    """Another name of `compact_topic`."""

    @traced("upsert_memory")
    def compact_conversation(self, conversation: str | int | None = None, *, force: bool = True) -> "Compaction":
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
    """Another name of `compact_conversation`."""

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

        return replace(status(self.ports), problems=self._session.background_problems)

    def unembedded(self, limit: int = 1000) -> int:
        """Count the memories without a vector of the embedder, up to a limit. Vector search misses them; see `reembed`."""
        ports = self.ports
        return len(ports.store.unembedded(ports.scope, ports.space, limit)) if ports.embedder else 0

    def summary_coverage(self, conversation: str | int) -> list[str]:
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
        return in_zone(self.ports.store.history(self.get(memory_id).scope, memory_id), self.ports.zone)

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

    def runs(
        self,
        limit: int | None = 20,
        *,
        cause: str | None = None,
        after: Run | str | None = None,
        parts: RunParts = "stages",
    ) -> list[Run]:
        """Return the latest runs, newest first. `undo` takes the id of one.

        An import, a consolidation of many conversations and its undo are one entry: `run.totals` counts the operations of
        all their parts. `run(id)` returns a run with its parts.

        Args:
            limit: how many at most; None: all.
            cause: only runs of this cause, such as "import", or whose cause begins with it and a slash.
            after: only runs that were written before this one, or the one of this id, for the next page.
            parts: which runs that are parts of another are listed: "stages" (those of sleep passes), "all" or "none".

        Raises:
            InputError: an argument is invalid.
            NotFoundError: there is no run of the id `after`.
        """
        store, scope = self.ports.store, self.ports.scope
        if parts not in get_args(RunParts):
            raise InputError(f"parts={parts!r}: use {', '.join(get_args(RunParts))}")
        cursor = None if after is None else self.run(after.id if isinstance(after, Run) else after).id
        most, cause = optional_count(limit, "limit"), optional_name(cause, "cause")
        return in_zone(store.runs(scope, most, cause, parts=parts, after=cursor), self.ports.zone)

    def run(self, run_id: str) -> Run:
        """Return one run with its plan and, in `parts`, the runs that are parts of it.

        Raises:
            NotFoundError: this scope has no run of that id.
        """
        ports = self.ports
        run = ports.store.run(ports.scope, checked_id(run_id, "run_id"))
        if run is None:
            raise NotFoundError(f"no run {run_id!r} in scope {ports.scope}: `runs` lists those that exist")
        parts = ports.store.children(ports.scope, run.id) if run.part_count else ()
        (shown,) = in_zone([replace(run, parts=tuple(in_zone(parts, ports.zone)))], ports.zone)
        return shown

    def cost(self, since: datetime | None = None) -> "CostReport":
        """Return what models have cost since a time (None: in all), as a total and by cause, from the journal."""
        from slowwave.pipelines.admin.costs import costs

        return costs(self.ports, since)

    def estimate(self, conversation: str | int | None = None) -> "Estimate":
        """Return the expected cost of consolidating a conversation, or with None all. No model is asked.

        Tokens are estimated: about four characters each in English, fewer in other languages.
        """
        from slowwave.pipelines.admin.costs import estimate

        return estimate(self.ports, conversation)

    def plot(self, kind: str = "forgetting", *, memory_id: str | None = None, text: bool = False) -> str:
        """Draw a chart, as SVG.

        Args:
            kind: "forgetting" (strengths and uses of the top facts), "growth" (facts over time) or "sleep" (the latest
                sleep passes).
            memory_id: with "forgetting", draw only this memory.
            text: draw with characters for a terminal, instead of SVG.

        Raises:
            InputError: the kind is unknown, or is not "forgetting" although `memory_id` is given.
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.plot import plot
        from slowwave.policy.charts import to_svg, to_text

        picture = plot(self.ports, kind, None if memory_id is None else self.get(memory_id))
        return to_text(picture) if text else to_svg(picture)

    def doctor(
        self, *, deep: bool = False, repair: bool = False, scopes: Sequence[ScopeName] | int | None = None
    ) -> list[str]:
        """Check the whole store. Returns the problems as sentences; an empty list if there are none.

        Args:
            deep: also check every row against its checksum, and replay the journal of every scope.
            repair: first recompute the checksums of damaged rows, in all scopes, where a replay of the journal proves
                their content. The list then begins with what was repaired, and why other rows were not.
            scopes: the paths of scopes, or the size of a random sample of scopes: only their rows are read.
        """
        store = self.ports.store
        repaired = store.repair() if repair else None
        lines = [*([str(repaired)] if repaired else []), *(repaired.refused if repaired is not None else ())]
        return [*lines, *store.check(deep=deep, scopes=scopes)]

    def checks(
        self, *, deep: bool = False, repair: bool = False, scopes: Sequence[ScopeName] | int | None = None
    ) -> "list[Check]":
        """Check the store, the model and the embedder one by one; the embedder is called, the model is not.

        Args:
            deep: as of `doctor`.
            repair: as of `doctor`.
            scopes: as of `doctor`.
        """
        from slowwave.pipelines.admin.checks import checks

        return checks(self.ports, deep=deep, repair=repair, scopes=scopes)

    # ---- correct

    @traced("update_memory")
    def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        category: str | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> Receipt:
        """Change the text, the category or the metadata of a fact, or the metadata of a message. None changes nothing.

        The former values stay in its history. Sources that do not support the new text are dropped from the fact.

        Args:
            memory_id: the memory to change.
            text: the new text of a fact.
            category: its new category.
            metadata: JSON values by name that replace all present ones; {} removes them.

        Raises:
            NotFoundError: this scope has no memory of that id.
            InputError: no change is given, the text is empty, the memory is a note, or it is a message and text or
                category are given.
        """
        from slowwave.pipelines.admin.edit import update

        return self._session.checked(update(self.ports.whole, memory_id, text, category, metadata))

    @traced("delete_memory")
    def delete(self, memory_id: str | Memory | Iterable[str | Memory]) -> Receipt:
        """Retract one memory or several, as one run. They are not destroyed (see `erase`): `undo` of the run restores them.

        `revive` brings back one of them. The source messages of a fact stay, and a context may still show them: the
        receipt's notes count them.

        Args:
            memory_id: an id or a memory, or up to 10,000 of them.

        Raises:
            NotFoundError: this scope has no memory of one of the ids; nothing was deleted.
        """
        from slowwave.pipelines.admin.edit import delete

        return self._session.checked(delete(self.ports.whole, memory_id))

    @traced("update_memory")
    def pin(self, memory_id: str) -> Receipt:
        """Exempt a memory from all automatic changes, and include it in every context.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import pin

        return self._session.checked(pin(self.ports.whole, memory_id, on=True))

    @traced("update_memory")
    def unpin(self, memory_id: str) -> Receipt:
        """Undo `pin`: the memory fades like others from now on.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import pin

        return self._session.checked(pin(self.ports.whole, memory_id, on=False))

    @traced("update_memory")
    def revive(self, memory_id: str) -> Receipt:
        """Make an archived (cold), superseded or retracted memory active again.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import revive

        return self._session.checked(revive(self.ports.whole, memory_id))

    @traced("update_memory")
    def release(self, memory_id: str) -> Receipt:
        """Accept a memory that `review` lists: it is used like any other from now on.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import release

        return self._session.checked(release(self.ports.whole, memory_id))

    @traced("update_memory")
    def reject(self, memory_id: str) -> Receipt:
        """Retract a memory that `review` lists. The same text is not stored again.

        Raises:
            NotFoundError: this scope has no memory of that id.
        """
        from slowwave.pipelines.admin.edit import reject

        return self._session.checked(reject(self.ports.whole, memory_id))

    @traced("update_memory")
    def undo(self, run_id: str | Receipt | Run, *, cascade: bool = False) -> tuple[Receipt, ...]:
        """Reverse a run.

        Args:
            run_id: of `receipt.run_id` or `runs()`; or the receipt or run itself. A run with parts, such as an import, is reversed whole; its undo is
                one run too.
            cascade: first reverse the later runs that depend on it.

        Raises:
            NotFoundError: this scope has no run of that id.
            ConflictError: later runs depend on it, and `cascade` is False; the error names them.
            InputError: the run is an erase.
        """
        from slowwave.pipelines.admin.undo import undo

        if isinstance(run_id, Receipt):
            run_id = run_id.run_id
        return undo(self.ports.whole, run_id.id if isinstance(run_id, Run) else run_id, cascade=cascade)

    @traced("delete_memory")
    def erase(
        self,
        *,
        id: str | None = None,  # noqa: A002 - the word every caller would use
        source: str | None = None,
        conversation: str | int | None = None,
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
            text: every memory that contains or ever contained this text, in any spelling (docs/inspecting.md).
            scope: True: everything in this scope.
            rewrite: whether the file or the tables may be rewritten, which removes the erased bytes from free space and
                locks others out meanwhile. True: at any size; False: never; None: in a store of up to 64 MB. Where they
                are not, the rows of the scope are proved, and the receipt says what is pending.
            dry_run: change nothing; the receipt says what would be destroyed and restored.

        Raises:
            InputError: none or several of them are given, or one is invalid.
            NotFoundError: nothing matches.
            EraseInterruptedError: Ctrl-C was pressed. It is a KeyboardInterrupt, and its `receipt` says what was destroyed.
        """
        from slowwave.pipelines.admin.erase import EraseTarget, erase, preview

        name = optional_conversation(conversation)
        target = EraseTarget(memory_id=id, source=source, conversation=name, text=text, scope=scope)
        return preview(self.ports.whole, target) if dry_run else erase(self.ports.whole, target, rewrite=rewrite)

    @traced("update_memory")
    def reembed(self, *, on_progress: Progress | None = None) -> int:
        """Compute vectors for all memories that have none of the present embedder. Resumable. Returns how many.

        Args:
            on_progress: called after each batch with the number of texts that were read, and of all.
        """
        from slowwave.pipelines.ingest.reembed import reembed

        return reembed(self.ports.whole, on_progress=on_progress)

    # ---- move

    @traced("upsert_memory")
    def import_(
        self,
        path: str | Path,
        format: str = "auto",  # noqa: A002 - the word of the command line
        *,
        dry_run: bool = False,
        trust_export: bool = False,
        trust: Literal["import", "user"] = "import",
        user: str | None = None,
        on_progress: Progress | None = None,
    ) -> "ImportReport":
        """Import the conversations or facts of a file, or a folder of notes. Known items are skipped.

        It is one run, which `undo` reverses. After an interruption, import the same file again to continue.

        Args:
            path: the file; exports of ChatGPT, Claude and Gemini as they were downloaded. Of notes also a folder
                (docs/formats.md).
            format: "jsonl", "chatgpt", "claude", "gemini", "mem0", "letta", "langgraph", "server-memory", "markdown",
                "text", "locomo", "beam", or "auto" to detect it.
            dry_run: store nothing; the report has the counts of an import. The model is asked as in an import. A fact that
                would update an earlier one of the same file counts as new, unless both are in one batch of 20.
            trust_export: accept trust, pins, phases, uses and flags of an export of another store. An export of this
                scope proves itself; without this, any other is trusted as an imported file.
            trust: "user" if you vouch that the words of the user in the file are the user's own: messages of the role
                user, and facts that the file attributes to the user, have the trust "user", those of the assistant
                "assistant", and what tools said stays as it is. Known messages of an earlier import get it too, and are read
                for facts again. Records of an export need `trust_export` instead. A handle with a ceiling cannot vouch.
            user: of an export of Mem0 with several users, the one whose memories are imported.
            on_progress: called after each batch with the bytes read so far, and the bytes of the file.

        Raises:
            InputError: the file is not of the format, is the file of the open store, or contains memories of several
                users and `user` is None.
            ImportInterruptedError: Ctrl-C was pressed. It is a KeyboardInterrupt, and its `report` says what is stored.
        """
        from slowwave import formats
        from slowwave.pipelines.exchange.import_ import incoming

        ports = self.ports.start_run()
        refuse_open_store(path)
        proof = formats.Proof(secret=ports.store.secret, scopes=ports.scopes)
        meter = formats.Meter()
        report = None if on_progress is None else lambda: on_progress(meter.done, meter.total)
        # An error keeps the iterator of the items alive; `closing` closes the file at once all the same.
        with closing(formats.read(path, format, proof=proof, user=optional_name(user, "user"), meter=meter)) as items:
            return incoming(ports, items, dry_run=dry_run, trust_export=trust_export, trust=trust, on_progress=report)

    def export(
        self,
        path: str | Path | TextIO,
        format: str = "jsonl",  # noqa: A002 - the word of the command line
        *,
        overwrite: bool = False,
        user: str | None = None,
        reasoning: bool = False,
    ) -> int:
        """Write this scope to a file, completely or not at all. Returns the number of records.

        A text stream instead of a path is written to as it is; it must encode as UTF-8.

        Args:
            path: the file, which only its owner can read.
            format: "jsonl" has everything, and its last line contains a code by which this store, and copies of it,
                recognise the file as unchanged. "mem0" has the facts in use as `get_all()` of Mem0 returns them;
                "markdown" is a page with the facts in use, the notes and the conversations.
            overwrite: replace the content of a file that exists.
            user: of "mem0", the `user_id` of facts that were not imported from Mem0; None: the last name of the scope.
            reasoning: of "jsonl", also what assistants thought before their messages.

        Raises:
            InputError: the format is unknown, the file exists and `overwrite` is False, or it cannot be written.
        """
        from slowwave.formats import write_file
        from slowwave.formats.writing import writer
        from slowwave.pipelines.exchange.export import Contents

        write = writer(Contents(self.ports, reasoning=reasoning), format, user=optional_name(user, "user"))
        return write_file(path, write, overwrite=overwrite) if isinstance(path, str | Path) else write(path)

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
        self, folder: str | Path, *, force: bool = False, on_progress: Callable[[str], None] | None = None
    ) -> tuple[str, ...]:
        """Write facts, core memory, summaries and a log of sleep passes as Markdown pages, for Obsidian or any editor.

        A page with a person's words that are not in memory is moved to the folder `kept` before it is replaced. Nothing
        else in the folder is touched. The settings in its `config/memory_compaction.md` apply to this object from now on.

        Args:
            folder: the folder of the vault; created if it does not exist.
            force: also replace the pages of another store's vault.
            on_progress: called with a sentence for each page that was kept or not replaced.

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
        return files.write(folder, render.Holding(**vault_contents(self.ports)), on_progress=on_progress)

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
            pages = self.export_vault(folder, force=force, on_progress=notes.append)
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
