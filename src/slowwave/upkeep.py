"""The ports of a store's upkeep: what is due, leases of sleep passes, limits of model calls, and proofs of erasure."""

from __future__ import annotations  # the types of all ports take 15 ms to import, which each process would wait for

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from slowwave.model.budget import ModelUse, Refusal, StoreBudget
    from slowwave.model.fleet import Backlog, RunningWorker
    from slowwave.model.memory import Memory
    from slowwave.model.pass_record import PassRecord
    from slowwave.model.proof import ErasureProof, PendingProof, StoreProof
    from slowwave.model.scope_state import ScopeState, StateQuery
    from slowwave.model.status import DecayClass, FadingFact


class Scheduler(Protocol):
    """Which facts and which scopes need attention."""

    def due(self, scope: str, now: datetime) -> int:
        """Count the facts whose `due_at` is now or earlier. One index read if there are none."""
        ...

    def decay_classes(self, scope: str) -> list[DecayClass]:
        """Return every decay class: facts in use with the same pace and number of uses. A few index steps each."""
        ...

    def facts_in_class(self, scope: str, pace: int, accesses: int, limit: int) -> list[tuple[str, datetime, float]]:
        """Return id, time of last use (or of recording) and confidence of the facts of a decay class.

        They are ordered by latest time, then by highest confidence, then by id.
        """
        ...

    def fading_facts(self, scope: str, lane: tuple[int, int], until: datetime, limit: int) -> list[FadingFact]:
        """Return active facts of a decay class (pace, uses) last used at a time or earlier, weakest first.

        Pinned facts are left out.
        """
        ...

    def cold_faded_facts(self, scope: str, sort: tuple[str, str], embedder: str, limit: int) -> list[FadingFact]:
        """Return the newest facts of one kind and category that were archived because they faded, with their vectors.

        Pinned facts, and those without a vector of this embedder, are left out.
        """
        ...

    def facts_without_schedule(self, scope: str, low: int, high: int, limit: int) -> tuple[list[Memory], int]:
        """Return facts in use without a pace, or with a pace outside low..high, and how many there are in all.

        A pace outside these limits was computed with another configuration.
        """
        ...

    def scopes_due(self, now: datetime, limit: int) -> list[str]:
        """Return scopes with a due fact, or new content or work left since their last sleep pass; the oldest pass first.

        A scope where a fact waits for a model is due again 15 minutes after its last pass. A scope whose last passes
        failed is left out until its `PassRecord.next_try`. It takes a few index steps for each scope of the store.

        Args:
            now: the present time.
            limit: how many at most; -1: all.
        """
        ...

    def is_due(self, scope: str, now: datetime) -> bool:
        """Return whether `scopes_due` would return this scope. It takes a few index steps in that scope."""
        ...

    def backlog(self, now: datetime) -> Backlog:
        """Return how many scopes are due, and since when the oldest of them is."""
        ...

    def running_workers(self) -> list[RunningWorker]:
        """Return the workers that renewed their rows within `ALIVE` seconds; a file has none."""
        ...

    def pass_record(self, scope: str) -> PassRecord:
        """Return how the last sleep passes of a scope ended."""
        ...

    def failing_passes(self, least: int, limit: int) -> list[tuple[str, PassRecord]]:
        """Return the scopes of which at least so many sleep passes failed in a row, those with the most failures first."""
        ...


class Leases(Protocol):
    """The leases of sleep passes: one process at a time sleeps a scope."""

    def scope_state(self, scope: str, query: StateQuery) -> ScopeState:
        """Return what a sleep pass reads of a scope before it plans, from one committed state."""
        ...

    def lease(
        self,
        scope: str,
        holder: str,
        seconds: float,
        now: datetime,
        ended: Callable[[str], bool] | None = None,
    ) -> int | None:
        """Take or renew the lease of a scope, or with 0 seconds return it.

        Args:
            scope: the scope to sleep.
            holder: a text that identifies the process and that no other process uses.
            seconds: how long the lease holds if it is not renewed.
            now: the present time.
            ended: called with the present holder's text; if it returns True, that holder has ended and loses the lease.

        Returns:
            A token that grows with every new holder, or None if another process holds the lease. A lease that is taken
            over from a process that did not release it counts as a failed pass of the scope (`PassRecord`).
        """
        ...

    def slept(
        self,
        scope: str,
        holder: str,
        run: int | None,
        now: datetime,
        again: datetime | None = None,
        *,
        error: str = "",
    ) -> datetime | None:
        """Record the end of a sleep pass that has seen all runs up to this key, and release the lease.

        Until then the scope stays due. Does nothing if `holder` no longer has the lease.

        Args:
            scope: the scope that was slept.
            holder: the text that took the lease.
            run: the key of the last run that the pass has seen; None: it saw none, because it raised an error.
            now: the present time.
            again: when the work that the pass left is due: then the scope is due again. None: it left none.
            error: the kind of the failure, if the pass failed: the scope is not due before the next of `pass_record.PAUSES`.

        Returns:
            When the scope may be slept again because of what this pass left; None if it left nothing.
        """
        ...

    def retry_pass(self, scope: str) -> bool:
        """Forget the failures of a scope's sleep passes, so that it is due at once. Returns whether there were any."""
        ...


class ModelLimits(Protocol):
    """What all processes of a store share about its models: the use of the hour and of the day, and pauses."""

    def admit_model_call(self, model: str, budget: StoreBudget, now: datetime) -> Refusal | None:
        """Count one call of a model, unless the model pauses or the budget is used up.

        Args:
            model: the name of the mind, which has pauses of its own.
            budget: the limits. Without any nothing is counted.
            now: the present time.

        Returns:
            None: the call may be made. Otherwise why not, and until when.
        """
        ...

    def add_model_use(self, use: ModelUse, at: datetime) -> None:
        """Add to what was used in the hour and the day of a time; negative calls were counted and not sent.

        Args:
            use: what to add.
            at: when the call was admitted.
        """
        ...

    def pause_model(self, model: str, until: datetime) -> None:
        """Let no process call this model before a time, at most `LONGEST_WAIT` ahead. An earlier time shortens no pause."""
        ...

    def model_use(self, now: datetime) -> tuple[ModelUse, ModelUse]:
        """Return what was used in the present hour and day, as far as budgets had it counted."""
        ...

    def model_pauses(self, now: datetime) -> dict[str, datetime]:
        """Return the models that pause, and until when."""
        ...


class Scrubber(Protocol):
    """Removal of erased bytes, and the check that they are gone."""

    unreached: tuple[str, ...]
    """What an erase does not reach in this store, as sentences."""

    def prove_erased(
        self, scope: str, texts: Sequence[str], ids: Sequence[str], *, rewrite: bool | None = None, again: bool = False
    ) -> ErasureProof:
        """Search for what was just erased, and remove its bytes from files where that is due.

        A file and a small database are proved as a whole: they are rewritten and searched. Of a large database the rows
        of the scope are searched; what only a proof of the whole store can show is pending, and `prove_pending` shows it.

        Args:
            scope: the scope from which it was erased.
            texts: the erased texts. Those of fewer than 8 bytes are not searched for: they occur by chance. Texts that
                a stored memory contains are no trace.
            ids: of the erased memories.
            rewrite: True: prove the whole store now, whatever its size; others wait while tables are rewritten. False:
                rewrite nothing. None: as the size of the store and the rights of the login suggest.
            again: an earlier erase may have left bytes anywhere, not only where this thread erased.
        """
        ...

    def pending_proofs(self) -> list[PendingProof]:
        """Return the erases that wait for a proof of the whole store, the oldest first."""
        ...

    def prove_pending(
        self, *, rewrite: bool | None = None, on_progress: Callable[[float, float | None], None] | None = None
    ) -> StoreProof:
        """Prove all pending erases with one pass over the store. An interrupted pass continues behind its last table.

        An erase that fails stays pending.

        Args:
            rewrite: True: rewrite tables of any size. False: rewrite none. None: tables of up to 64 MB each.
            on_progress: called with how many tables were searched, and how many there are to search.
        """
        ...
