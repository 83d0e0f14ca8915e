"""The ports: the protocols of mind, model, embedder, store and clock, and `Ports`, which pipelines work with."""

from __future__ import annotations  # the types of all ports take 15 ms to import, which each process would wait for

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from slowwave.errors import InputError
from slowwave.model.index_entry import fingerprint
from slowwave.model.message import checked_time
from slowwave.model.plan import FREE, Cost, Event, Plan, Receipt, Run, RunParts, Written
from slowwave.model.zone import zone_of
from slowwave.policy.guard.trust import checked_trust, least
from slowwave.upkeep import Leases, ModelLimits, Scheduler, Scrubber

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import tzinfo

    import numpy as np
    from numpy.typing import NDArray

    from slowwave.model.access import AccessKey, StoredAnswer
    from slowwave.model.config import Config
    from slowwave.model.index_entry import IndexEntry
    from slowwave.model.memory import Memory, Trust
    from slowwave.model.mind import Fact, MindAnswer, ReconcileCase, Summary, SummaryRequest, Transcript, Verdict
    from slowwave.model.operations import RejectFact
    from slowwave.model.query import Query, Ranked, Where
    from slowwave.model.schema import SchemaState
    from slowwave.model.scope import Scope, ScopeName
    from slowwave.model.status import Conversation, ConversationState, LinkRow, Repaired


@runtime_checkable
class LLM(Protocol):
    """A chat model."""

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the model's answer to `[{"role": ..., "content": ...}, ...]`."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. It may have `similarity = {"duplicate": …, "group": …, "related": …}`, cosines.

    It may have `english_only = True`: then a question in another language is searched without vectors. It may have
    `is_local`. True: texts do not leave this process, so that it gets them with their secrets, which others get without
    (`Config.redact_to_model`). False: `embed` waits for a server, so that messages are stored before it is called.
    """

    name: str
    """Stored with each vector, beside its width. Vectors of another name or width are ignored."""

    def embed(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return one row for each text: (n, dim), float32, unit length; a row of zeros means "no vector".

        It is never called without texts or with a blank text.
        """
        ...


@runtime_checkable
class Mind(Protocol):
    """A reasoning backend. It returns proposals, which callers validate before they are stored.

    A failure raises ModelError. It is never an empty answer.
    """

    name: str

    def distil(self, transcript: Transcript, /) -> MindAnswer[tuple[Fact, ...]]:
        """Extract durable facts from messages, each with its source message and a quote."""
        ...

    def decide(self, cases: Sequence[ReconcileCase], /) -> MindAnswer[tuple[Verdict, ...]]:
        """Decide what each new fact does to the known facts."""
        ...

    def summarise(self, brief: SummaryRequest, /) -> MindAnswer[Summary]:
        """Summarise memories."""
        ...


@runtime_checkable
class Counting(Mind, Protocol):
    """A mind that counts its model calls, and refuses more than the limits of a run and of a day."""

    price: tuple[float, float]
    """Money per million tokens in and per million tokens out; 0 if unknown."""

    resumes: datetime | None
    """When the provider or the budget of the store admits calls again, if the last one was refused; otherwise None."""

    def start_run(self, today: Callable[[], Cost], store: ModelLimits, now: Callable[[], datetime], /) -> Mind:
        """Return the same mind for one run.

        Args:
            today: returns what the runs of the scope since midnight UTC have cost.
            store: the limits and pauses that all processes of the store share.
            now: the present time.
        """
        ...


class Clock(Protocol):
    """The present time."""

    def __call__(self) -> datetime:
        """Return the present time, with a time zone."""
        ...


Progress: TypeAlias = Callable[[float, float | None], None]
"""Is called with the finished amount and the total (None: unknown), in any unit."""


class MemoryReader(Protocol):
    """Reads of memories. Reads of several scopes return results in the order of the scopes."""

    def get(self, scopes: Sequence[str], ids: Iterable[str]) -> list[Memory]:
        """Return the memories of these ids, in their order, without unknown ones."""
        ...

    def select(self, scopes: Sequence[str], where: Where) -> list[Memory]:
        """Return the memories that match."""
        ...

    def pages(self, scope: str, where: Where) -> Iterator[list[Memory]]:
        """Return the memories that match a page at a time, in an order that has places (`stores.where_clause.PLACES`)."""
        ...

    def select_each(self, scope: str, selections: Sequence[Where]) -> list[list[Memory]]:
        """Return the memories that match each selection, from one committed state."""
        ...

    def folders(self, scope: str, where: Where) -> list[str]:
        """Return the folders of the notes that match, in code point order.

        `limit` counts folders, and of `after_name` only the folder counts: those after it are returned.
        """
        ...

    def short_ids(self, scopes: Sequence[str], part: str, limit: int) -> list[str]:
        """Return the first ids of memories that begin with a text, in order; if there are none, those that end with it."""
        ...

    def count(self, scope: str) -> dict[tuple[str, str], int]:
        """Count memories by kind and phase. A conversation summary has the kind "cascade" here."""
        ...

    def speakers(self, scope: str) -> frozenset[str]:
        """Return the names of all speakers of messages."""
        ...

    def conversations(self, scope: str) -> list[ConversationState]:
        """Return all conversations, the one written to last first."""
        ...

    def conversation(self, scope: str, name: str) -> ConversationState | None:
        """Return one conversation, or None."""
        ...

    def listed_conversations(
        self,
        scope: str,
        limit: int | None = None,
        after: Conversation | str | None = None,
        *,
        now: datetime | None = None,
    ) -> list[Conversation]:
        """Return a page of the conversations, the one with the latest message first. See `AgentMemory.conversations`.

        A message that lies more than a day after `now` was stored while the clock was wrong, and counts as of the time of the
        message that was stored before it. None: no message does.
        """
        ...

    def unread(self, scope: str, conversation: str | None = None) -> dict[str, int]:
        """Count the messages that are not distilled yet, by conversation. Conversations without any are left out.

        With `conversation`, only those of this one are counted.

        Retracted messages and messages under review are not counted; released ones are.
        """
        ...

    def links(self, scope: str, ids: Collection[str] | None, kinds: Collection[str] | None = None) -> list[LinkRow]:
        """Return the links with a weight above 0 of any of these memories; None: of all memories of the scope."""
        ...

    def mentions(self, scope: str, text: str) -> list[str]:
        """Return the ids of memories of which a field, or an earlier version, contains a text in any spelling."""
        ...

    def former_bases(self, scope: str) -> dict[str, set[str]]:
        """Return the ids of the sources and members that earlier versions of a memory had, by its id.

        Memories whose sources and members never changed are left out.
        """
        ...


class Reading(Protocol):
    """What one thread reads for a search or a context: announced in advance, so that few round trips carry it."""

    def begin(self, selections: Iterable[Where] = (), conversation: str | None = None) -> bool:
        """Bring the search indexes up to date, and read in the same round trip what is announced.

        Embed the question before: from here on the store may hold a transaction open.

        Args:
            selections: what `select` will be asked of the first scope.
            conversation: the name that `conversation` will be asked for.

        Returns:
            Whether the indexes may have other speakers than before, so that `wording` may give another text.
        """
        ...

    def want(self, ids: Iterable[str]) -> None:
        """Announce memories: they are read with their links and with the memories that they name."""
        ...

    def rank(self, query: Query) -> None:
        """Announce that `search` will be asked this of the scopes, and the rows of its results."""
        ...

    def select(self, selections: Iterable[Where] = (), conversation: str | None = None) -> None:
        """Announce more of it: it is read in the next round trip."""
        ...


class Searcher(Protocol):
    """Search, and the data that search derives from texts."""

    def reading(self, scopes: Sequence[str]) -> AbstractContextManager[Reading]:
        """Read what a search or a context needs from one committed state, as far as it is announced.

        Inside the block, and in its thread, `search` also announces the rows of its results. A block inside another one is
        part of it.
        """
        ...

    def search(self, scopes: Sequence[str], query: Query) -> list[Ranked]:
        """Return the best memories for a query, best first. Rows of other scopes do not change a score."""
        ...

    def prepare_search(self, scope: str) -> None:
        """Derive now what the next search of a scope that is too large for RAM would derive first."""
        ...

    def wording(self, scopes: Sequence[str], question: str) -> str:
        """Return the question without the names of known speakers: the text to embed for `Query.vector`."""
        ...

    def frequencies(self, scope: str) -> tuple[Callable[[str], int], int]:
        """Return the document frequency by stem, and the number of documents: the scope's messages and facts."""
        ...

    def entries(self, scope: str, ids: Iterable[str]) -> dict[str, IndexEntry]:
        """Return the index entries of these memories."""
        ...

    def vectors(self, scope: str, ids: Iterable[str], embedder: str) -> dict[str, bytes]:
        """Return the vectors of this fingerprint, or name of an embedder, by id: float32, little-endian. Memories without one are left out."""
        ...

    def unembedded(
        self, scope: str, embedder: str | None, limit: int | None = None, *, gists: bool = False
    ) -> list[Memory]:
        """Return memories without a vector of this embedder, oldest first.

        Args:
            scope: the scope to read.
            embedder: the fingerprint of its vectors, or its name; None: no embedder.
            limit: how many at most.
            gists: instead, messages with a shortened text (`gist`) that has no vector of this embedder.
        """
        ...

    def other_width(self, scope: str, fingerprint: str) -> int | None:
        """Return the width of vectors that a scope has of the same embedder but another fingerprint; None without any."""
        ...

    def index(self, scope: str, entries: Mapping[str, IndexEntry], *, gists: bool = False) -> int:
        """Store index entries by id. No memory changes and nothing is journaled. Returns how many were stored.

        With `gists` they are entries of shortened texts; memories without a shortened text are left out.
        """
        ...


class JournalReader(Protocol):
    """Reads of the journal."""

    def runs(
        self,
        scope: str,
        limit: int | None = None,
        cause: str | None = None,
        since: datetime | None = None,
        *,
        parts: RunParts = "all",
        after: str | None = None,
    ) -> list[Run]:
        """Return the latest runs, newest first.

        Args:
            scope: the scope to read.
            limit: how many at most.
            cause: only runs whose cause is this, or begins with this and a slash.
            since: only runs after this time.
            parts: which runs that are part of another are listed: "all", "stages" (of sleep passes), "none".
            after: only runs that were written before the run of this id.
        """
        ...

    def run(self, scope: str, run_id: str) -> Run | None:
        """Return one run with its plan, or None."""
        ...

    def short_run_ids(self, scope: str, part: str, limit: int) -> list[str]:
        """Return the first ids of runs that begin with a text, in order; if there are none, those that end with it."""
        ...

    def children(self, scope: str, run_id: str) -> list[Run]:
        """Return the child runs of a run, in order."""
        ...

    def undos(self, scope: str) -> list[tuple[str, str, str | None]]:
        """Return the id, the undone run, and the parent of each undo, newest first. No operation is read."""
        ...

    def later(self, scope: str, run: Run, *, known: Container[str] = frozenset()) -> list[Run]:
        """Return the later runs that depend on a run, newest first.

        A run depends on another if it changed (not only used) a memory that the other added or changed. It also depends on it
        if it added a fact with a source that the other added and that was not retracted since.

        Args:
            scope: the scope of the run.
            run: the run on which the others depend.
            known: ids of runs that are left out and not read.
        """
        ...

    def history(self, scope: str, memory: str) -> list[Event]:
        """Return every journaled operation on a memory, oldest first."""
        ...

    def refused(self, scope: str, limit: int | None = None) -> list[RejectFact]:
        """Return proposed facts that were not stored, newest first."""
        ...

    def suppressed_keys(self, scope: str, keys: Iterable[str]) -> frozenset[str]:
        """Return those of the keys that an undo, a deletion or an erase suppresses."""
        ...

    def suppressed_beginning(self, scope: str, beginning: str) -> list[str]:
        """Return the suppressed keys that begin with an ASCII text, in order."""
        ...

    def suppressed_by(self, scope: str, keys: Iterable[str]) -> Mapping[str, tuple[datetime, str]]:
        """Return when, and by the run of which id, each of these keys was suppressed last; absent are those that are not."""
        ...

    def sequence(self, scope: str) -> int:
        """Return a number that grows with every journaled operation of the scope. Equal numbers: nothing changed."""
        ...

    def changed(self, scope: str, after: int, limit: int) -> tuple[list[str], int]:
        """Return the ids of facts added or changed after a sequence, oldest first, and the sequence that was reached."""
        ...

    def written(self, scope: str, after: int, limit: int) -> tuple[list[Written], int]:
        """Return what runs wrote after a sequence, and the sequence that was reached.

        At most `limit` operations are read, so that a run that wrote more is returned again by the next call. Runs are in the
        order of their last operation; a run without operations, such as a whole of parts, is not returned.
        """
        ...

    def last_run(self, scope: str) -> int:
        """Return the key of the latest run, which grows; 0 if there is none."""
        ...

    def ingests(self, scope: str) -> int:
        """Return how many writes of messages or facts the latest sleep pass has not seen."""
        ...

    def costs(self, scope: str, since: datetime | None = None, until: datetime | None = None) -> dict[str, Cost]:
        """Return the cost of models by cause, over the runs from one time to another; None: no limit."""
        ...


class ScopeReader(Protocol):
    """Reads over the scopes of a store, for the owner of the whole store."""

    def scopes(self, prefix: str, after: str, limit: int) -> list[Scope]:
        """Return the first scopes at or below a prefix whose path is greater than `after`, in order of path.

        It reads the index of paths, and counts the content of the returned scopes only.
        """
        ...

    def scope_count(self) -> int:
        """Return how many scopes the store has."""
        ...

    def scope_of(self, memory: str, prefix: str) -> str | None:
        """Return the first scope at or below a prefix that has a memory of this id, or None. One index step a scope."""
        ...


class AccessStore(Protocol):
    """The keys of a server, and the answers to requests that may be repeated. No memory is read or changed."""

    def add_access_key(self, key: AccessKey, digest: str) -> None:
        """Store a key under the hash of its secret."""
        ...

    def access_keys(self) -> list[AccessKey]:
        """Return all keys, revoked and expired ones included, the oldest first."""
        ...

    def access_key(self, digest: str) -> tuple[AccessKey, str] | None:
        """Return the key of this hash, and the hash as it is stored; None if there is none."""
        ...

    def has_access_keys(self) -> bool:
        """Return whether a key was ever made, also if it was revoked since."""
        ...

    def revoke_access_key(self, key_id: str, at: datetime) -> bool:
        """Revoke a key; False if there is none of this id. The time of an earlier revocation stays."""
        ...

    def claim_answer(self, scope: str, name: str, claim: StoredAnswer, oldest: datetime) -> StoredAnswer | None:
        """Claim a name for a request, or return the request that has the name.

        Args:
            scope: the scope.
            name: the name.
            claim: the request, without an answer.
            oldest: names that were claimed earlier are free again.

        Returns:
            None: the name is claimed. Otherwise the request that has it.
        """
        ...

    def answer(self, scope: str, name: str) -> StoredAnswer | None:
        """Return the request that has a name, with its answer, or None. An erase in the scope deletes it."""
        ...

    def take_claim(self, scope: str, name: str, claim: StoredAnswer, former: str) -> bool:
        """Take over the claim of a process that ended without an answer; False: another process has taken it."""
        ...

    def put_answer(self, scope: str, name: str, holder: str, answer: str | None) -> None:
        """Store the answer of the request that has the name; None: free the name, because nothing was changed."""
        ...


class Store(
    MemoryReader, Searcher, JournalReader, Scheduler, ScopeReader, AccessStore, Leases, ModelLimits, Scrubber, Protocol
):
    """Where memories are stored. `apply` is the only write of memories.

    Every read names the scopes it may see; a store never reads other scopes.
    """

    name: str
    """The path, or the address without a password."""

    def shown(self) -> Store:
        """Return this store as a reader sees it who may not review: without what waits for review or was rejected."""
        ...

    def whole(self) -> Store:
        """Return the store with what `shown` leaves out."""
        ...

    @property
    def secret(self) -> bytes:
        """32 random bytes created with the store: the key of the marks around contexts and of the codes of exports."""
        ...

    def gauges(self) -> dict[str, float]:
        """Return what the store holds in this process now, and what it has done since it was opened, by name.

        `index.scopes`, `index.bytes`, `index.max_bytes` are of the search indexes in RAM; `index.builds`, `index.loads` and
        `index.evictions` count. `connections.in_use`, `connections.waiting` (threads) and `connections.max` are of the pool
        of Postgres. Names of scopes are not among them.
        """
        ...

    def apply(self, plan: Plan) -> Receipt:
        """Apply each group in one transaction: rows, indexes and journal. Groups that are out of date are dropped."""
        ...

    def about(self) -> list[tuple[str, bool, str]]:
        """Check the environment of the store: what was checked, whether it is well, and a finding with advice."""
        ...

    def check(self, *, deep: bool = False, scopes: Collection[ScopeName] | int | None = None) -> list[str]:
        """Return the problems of the store as sentences; empty if there are none. Deep also replays the journal.

        Args:
            deep: also check every row against its checksum, and replay the journal.
            scopes: the paths of scopes, or the size of a random sample of scopes: only their rows are read. None: the
                whole store.
        """
        ...

    def schema_state(self) -> SchemaState:
        """Return the schema that the store has now, beside that of this program."""
        ...

    def repair(self) -> Repaired:
        """Recompute the checksums of damaged rows where a replay of the journal proves their content."""
        ...

    def backup(self, path: str) -> None:
        """Write a verified copy of the whole store to a new file, while other processes write.

        Raises:
            InputError: the file exists, or the store is backed up by other means; the message says which.
            StoreError: the copy cannot be written or fails its checks; no file remains.
        """
        ...

    def close(self) -> None:
        """Close the file or the connections. Idempotent."""
        ...


@dataclass(slots=True)
class VectorWidth:
    """What an open store knows of the widths of its embedder's vectors.

    Attributes:
        seen: the width that it last answered; None before its first answer.
        agreeing: scopes, with the fingerprint for which they were found to have no vectors of another width.
    """

    seen: int | None = None
    agreeing: set[tuple[str, str]] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Everything a pipeline works with, for one scope.

    Args:
        store: the store.
        mind: the model, or the offline rules.
        embedder: the embedder, or None.
        embed: the checked call of the embedder: (n, dim) unit rows, a row of zeros where a text has no vector. It raises
            EmbedderError.
        clock: the present time; call `now()` instead.
        config: the numbers of all policies.
        scope: the scope to write to.
        scopes: the scopes to read, `scope` first.
        ceiling: the trust that nothing written through these ports exceeds (`AgentMemory.trusting`).
        reviews: whether their reader may see and decide what waits for review. If not, `store` does not show it, and
            `whole` has the ports for what plans a change.
        width: the width of the vectors of the last call of `embed`.
    """

    store: Store
    mind: Mind
    embedder: Embedder | None
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    clock: Clock
    config: Config
    scope: str
    scopes: tuple[str, ...]
    ceiling: Trust = "user"
    reviews: bool = True
    width: VectorWidth = field(default_factory=VectorWidth)

    @property
    def whole(self) -> Ports:
        """These ports with what is withheld: what plans a change must know what waits. It shows none of it."""
        return self if self.reviews else replace(self, store=self.store.whole())

    @property
    def space(self) -> str | None:
        """The fingerprint of the vectors that the embedder makes; its name alone until it was asked. None without one.

        A store takes a name alone for the width of the newest vectors that a scope has of it.
        """
        if self.embedder is None:
            return None
        name, width = self.embedder.name, self.width.seen
        return name if width is None else fingerprint(name, width)

    @property
    def ports(self) -> Ports:
        """These ports: a traced function takes either ports or an object that has some."""
        return self

    def now(self) -> datetime:
        """The present time in UTC, checked to have a time zone."""
        now = self.clock()
        if isinstance(now, datetime) and now.tzinfo is None:
            raise InputError(f"the clock's time {now.isoformat(' ')} has no time zone: use datetime.now(UTC)")
        return checked_time(now, "the clock's time").astimezone(UTC)

    @property
    def zone(self) -> tzinfo:
        """The zone of times without one, and of messages without a time."""
        return zone_of(self.config.zone)

    def time(self, at: datetime, what: str) -> datetime:
        """A checked time of a caller with its offset, in the zone of these ports if it has none. `what` is its name in errors."""
        return checked_time(at, what, self.zone)

    def trusting(self, trust: str, *, review: bool | None = None) -> Ports:
        """These ports with a ceiling: nothing written through them is trusted more. A ceiling is never raised again.

        Args:
            trust: the ceiling.
            review: whether their reader may see what waits for review; None: with the ceiling "user" only. These ports
                must allow it too.

        Raises:
            InputError: there is no such kind of source.
        """
        ceiling = least((self.ceiling, checked_trust(trust)))
        reviews = self.reviews and (ceiling == "user" if review is None else review)
        return replace(self, ceiling=ceiling, reviews=reviews, store=self.store if reviews else self.store.shown())

    def start_run(self) -> Ports:
        """These ports for one run, which plans on all that is stored (`whole`). A mind that counts its calls starts at 0, with the cost of today from the journal."""
        # getattr: isinstance() with a protocol looks up every member of it, on each write
        start: Callable[..., Mind] | None = getattr(self.mind, "start_run", None)
        whole = self.whole
        return whole if start is None else replace(whole, mind=start(self._today, self.store, self.now))

    def _today(self) -> Cost:
        now = self.now()
        first = now.replace(hour=0, minute=0, second=0, microsecond=0)
        last = now.replace(hour=23, minute=59, second=59, microsecond=999_999)  # a clock may have been ahead
        return sum(self.store.costs(self.scope, first, last).values(), FREE)
