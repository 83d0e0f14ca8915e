"""The doors: what Slowwave asks of a mind, a model, an embedder, a store and a clock."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from slowwave.model.config import Config
from slowwave.model.index_entry import IndexEntry
from slowwave.model.memory import Memory
from slowwave.model.message import checked_time
from slowwave.model.mind import Fact, MindAnswer, ReconcileCase, Summary, SummaryRequest, Transcript, Verdict
from slowwave.model.operations import RejectFact
from slowwave.model.plan import FREE, Cost, Event, Plan, Receipt, Run
from slowwave.model.query import Query, Ranked, Where
from slowwave.model.status import Conversation, DecayClass, FadingFact, LinkRow, Repaired

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class LLM(Protocol):
    """Any chat model."""

    def complete(self, *, messages: Sequence[Mapping[str, str]]) -> str:
        """The model's answer to `[{"role": ..., "content": ...}, ...]`."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Text to vectors. It may carry `similarity = {"duplicate": …, "group": …, "related": …}`."""

    name: str
    """The fingerprint stored with each vector; the width is read off the first result."""

    def embed(self, texts: Sequence[str], /) -> "NDArray[np.float32]":
        """Unit rows (n, dim), float32; a row of zeros means "no vector". Never called with no texts, or a blank one."""
        ...


@runtime_checkable
class Mind(Protocol):
    """Whoever thinks. It proposes; code checks; a store writes. Failing raises ModelError, never an empty answer."""

    name: str

    def distil(self, transcript: Transcript, /) -> MindAnswer[tuple[Fact, ...]]:
        """Durable facts out of a stretch of conversation, each with the message and quote it rests on."""
        ...

    def decide(self, cases: Sequence[ReconcileCase], /) -> MindAnswer[tuple[Verdict, ...]]:
        """What each new fact does to what is known."""
        ...

    def summarise(self, brief: SummaryRequest, /) -> MindAnswer[Summary]:
        """Fewer words for many memories."""
        ...


@runtime_checkable
class Counting(Mind, Protocol):
    """A mind that counts what it is asked, and stops where a run or a day has had enough."""

    price: tuple[float, float]
    """Money for a million tokens in and a million tokens out; 0 where it is not known."""

    def start_run(self, today: Callable[[], Cost], /) -> Mind:
        """The same mind for one run; `today` is what the runs since midnight UTC have cost."""
        ...


class Clock(Protocol):
    """What time it is."""

    def __call__(self) -> datetime:
        """Now, aware."""
        ...


class Store(Protocol):
    """Where memory lives: a few reads, and `apply`, the only write.

    Every read names the scopes it may see; a store never looks sideways or down. Reads of several scopes come in
    the order of the scopes.
    """

    name: str
    unreached: tuple[str, ...]
    """What an erase does not reach here, in words."""

    @property
    def secret(self) -> bytes:
        """32 random bytes made with the store: the key of the marks around contexts."""
        ...

    def apply(self, plan: Plan) -> Receipt:
        """Each group in one transaction: rows, indexes and journal. Groups that no longer hold are dropped."""
        ...

    def get(self, scopes: Sequence[str], ids: Iterable[str]) -> list[Memory]:
        """The memories of these ids, in their order; unknown ones are left out."""
        ...

    def select(self, scopes: Sequence[str], where: Where) -> list[Memory]:
        """The memories that match."""
        ...

    def count(self, scope: str) -> dict[tuple[str, str], int]:
        """How many memories there are, by kind and phase. A cascade summary counts as kind "cascade"."""
        ...

    def search(self, scopes: Sequence[str], query: Query) -> list[Ranked]:
        """The best places for a query, best first. Another scope's rows change no score."""
        ...

    def wording(self, scopes: Sequence[str], question: str) -> str:
        """The question without the names of known speakers: what to embed for `Query.vector`."""
        ...

    def frequencies(self, scope: str) -> tuple[Callable[[str], int], int]:
        """Document frequency of a stem, and the number of documents, over the scope's messages and facts."""
        ...

    def speakers(self, scope: str) -> frozenset[str]:
        """Every name that a message of the scope was spoken by."""
        ...

    def conversations(self, scope: str) -> list[Conversation]:
        """Every conversation, the one written to last first."""
        ...

    def conversation(self, scope: str, name: str) -> Conversation | None:
        """One conversation, or None."""
        ...

    def links(self, scope: str, ids: Collection[str] | None, kinds: Collection[str] | None = None) -> list[LinkRow]:
        """The joins that touch any of these memories, with a weight above 0; with None for ids all of the scope."""
        ...

    def runs(
        self, scope: str, limit: int | None = None, cause: str | None = None, since: datetime | None = None
    ) -> list[Run]:
        """The latest runs, newest first; with a cause only those whose cause is it or begins with it and a slash.

        `since` leaves out runs at or before that instant.
        """
        ...

    def run(self, scope: str, run_id: str) -> Run | None:
        """One run with its plan, or None."""
        ...

    def children(self, scope: str, run_id: str) -> list[Run]:
        """The runs that belong to a run, in order."""
        ...

    def history(self, scope: str, memory: str) -> list[Event]:
        """Everything that ever happened to a memory, oldest first."""
        ...

    def later(self, scope: str, run: Run) -> list[Run]:
        """Later runs that changed (not merely used) a memory that this run added or changed, newest first.

        So do runs that added a fact which rests on a memory that this run added, and which was not taken back since.
        """
        ...

    def suppressed_keys(self, scope: str, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys that a person's undo holds."""
        ...

    def due(self, scope: str, now: datetime) -> int:
        """How many facts have their `due_at` at or before now. One index read when none has."""
        ...

    def decay_classes(self, scope: str) -> list[DecayClass]:
        """Every lane: hot facts that share pace and number of uses. A few index steps a lane."""
        ...

    def facts_in_class(self, scope: str, pace: int, accesses: int, limit: int) -> list[tuple[str, datetime, float]]:
        """Ids, anchors and confidences of the facts of a lane: latest anchor first, then the surest, then by id."""
        ...

    def fading_facts(self, scope: str, lane: tuple[int, int], until: datetime, limit: int) -> list[FadingFact]:
        """Active facts of a lane, none of them pinned, whose anchor lies no later: the weakest first."""
        ...

    def cold_faded_facts(self, scope: str, sort: tuple[str, str], embedder: str, limit: int) -> list[FadingFact]:
        """Those of the newest cold facts of one kind and category that are there because they faded, none pinned.

        With their vectors; those that have none of this embedder are left out.
        """
        ...

    def facts_without_schedule(self, scope: str, low: int, high: int, limit: int) -> tuple[list[Memory], int]:
        """Hot facts without a pace, or with one outside low..high (planned with other numbers), and how many there are."""
        ...

    def refused(self, scope: str, limit: int | None = None) -> list[RejectFact]:
        """The facts that were proposed and not stored, newest first."""
        ...

    def sequence(self, scope: str) -> int:
        """A number that grows with every journaled operation of the scope: the same number, nothing changed."""
        ...

    def changed(self, scope: str, after: int, limit: int) -> tuple[list[str], int]:
        """The facts added or changed since a sequence, oldest first and each once, and the sequence they reach to."""
        ...

    def entries(self, scope: str, ids: Iterable[str]) -> dict[str, IndexEntry]:
        """What recall knows of these memories."""
        ...

    def vectors(self, scope: str, ids: Iterable[str], embedder: str) -> dict[str, bytes]:
        """The vector of each of these memories that has one of this embedder: float32, little-endian."""
        ...

    def unembedded(
        self, scope: str, embedder: str | None, limit: int | None = None, *, gists: bool = False
    ) -> list[Memory]:
        """Memories whose vector is missing or belongs to another embedder, oldest first.

        With `gists`, those messages of which what is left of their wording has no vector of it.
        """
        ...

    def index(self, scope: str, entries: Mapping[str, IndexEntry], *, gists: bool = False) -> int:
        """Write what recall derives from texts: no memory changes, nothing is journaled. Returns how many.

        With `gists`, they are of what is left of these memories' wording; those that have lost none are left out.
        """
        ...

    def costs(self, scope: str, since: datetime | None = None) -> dict[str, Cost]:
        """What thinking has cost by cause, over the runs of the scope from an instant on; None means over all."""
        ...

    def about(self) -> list[tuple[str, bool, str]]:
        """What the store runs on: what was looked at, whether it is well, and what was found, with what to do."""
        ...

    def check(self, *, deep: bool = False) -> list[str]:
        """What is wrong with the store, in sentences; empty when all is well. Deep also replays the journal."""
        ...

    def backup(self, path: str) -> None:
        """Write a verified copy of the whole store into a new file, while others go on writing.

        Raises:
            InputError: there is a file of this name, or the store is backed up by other means; the message says which.
            StoreError: it cannot be written, or the copy is not sound; no file is left.
        """
        ...

    def repair(self) -> Repaired:
        """Compute the checksums of damaged rows anew where a replay of the journal agrees with what they hold."""
        ...

    def lease(
        self,
        scope: str,
        holder: str,
        seconds: float,
        now: datetime,
        ended: Callable[[str], bool] | None = None,
    ) -> int | None:
        """Take or renew the right to sleep a scope for so long, or with 0 seconds give it back.

        Args:
            scope: what is slept.
            holder: who asks, in words that nobody else uses.
            seconds: how long it holds without being renewed.
            now: the instant.
            ended: told another's words while the lease is theirs; if it answers True, it is theirs no longer.

        Returns:
            A token that grows with every new holder, or None while another holds it.
        """
        ...

    def slept(self, scope: str, holder: str, run: int) -> None:
        """A night is over that has seen everything up to this run. Until then the scope stays due.

        Nothing happens unless `holder` holds the lease still.
        """
        ...

    def last_run(self, scope: str) -> int:
        """The key of the latest run of a scope, 0 if there is none; it grows."""
        ...

    def ingests(self, scope: str) -> int:
        """How often something was observed or added since what the last night has seen."""
        ...

    def scopes_due(self, now: datetime, limit: int) -> list[str]:
        """Scopes where a fact is due or something came in since they were last slept, the longest unslept first.

        One where a fact waits for a mind is due again a quarter of an hour after it was last slept.

        The one read over all scopes: a few index steps for each, for whoever sleeps them all.
        """
        ...

    def rewrite_erased(self, *, rewrite: bool | None = None, again: bool = False) -> tuple[str, ...]:
        """Make the bytes of what was erased vanish from files and logs. Returns what was rewritten, in words.

        Args:
            rewrite: whether files or tables may be rewritten, which locks others out; None: small ones.
            again: an earlier erase may have left bytes anywhere, not only where this thread erased.

        Raises:
            BusyError: others are at work, or what has to be rewritten may not be.
        """
        ...

    def mentions(self, scope: str, text: str) -> list[str]:
        """Memories of which a field, or an earlier version, holds a text in any case, by id."""
        ...

    def find_traces(self, texts: Sequence[str], ids: Sequence[str] = (), /) -> list[str]:
        """Where the bytes of erased words still lie, in sentences; words that some memory still holds are no trace.

        Texts of fewer than 8 bytes are not looked for: they stand anywhere by chance. `ids` are of what was erased: a
        store of tables looks for them too, but where the journal says that they were.
        """
        ...

    def close(self) -> None:
        """Let go of the file or server. Idempotent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Everything a pipeline works with, for one scope.

    `embed` is the checked way to call the embedder: (n, dim) unit rows, a row of zeros where a text has no vector;
    it raises EmbedderError. `scopes` are those the pipeline may read, its own first.
    """

    store: Store
    mind: Mind
    embedder: Embedder | None
    embed: "Callable[[Sequence[str]], NDArray[np.float32]]"
    clock: Clock
    config: Config
    scope: str
    scopes: tuple[str, ...]

    @property
    def ports(self) -> "Ports":
        """These ports: a traced function takes either ports or an object that has some."""
        return self

    def now(self) -> datetime:
        """The clock's time, checked to be aware, in UTC."""
        return checked_time(self.clock(), "the clock's time")

    def start_run(self) -> "Ports":
        """These ports for one run. A mind that counts its calls starts at 0, with the cost of today from the journal."""
        # getattr: isinstance() with a protocol looks up every member of it, on each write
        start: Callable[[Callable[[], Cost]], Mind] | None = getattr(self.mind, "start_run", None)
        return self if start is None else replace(self, mind=start(self._today))

    def _today(self) -> Cost:
        midnight = self.now().replace(hour=0, minute=0, second=0, microsecond=0)
        return sum(self.store.costs(self.scope, midnight).values(), FREE)
