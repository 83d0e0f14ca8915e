"""The ports of a store's upkeep: leases of sleep passes, limits of model calls, and the proof that erased bytes are gone."""

from __future__ import annotations  # the types of all ports take 15 ms to import, which each process would wait for

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from slowwave.model.budget import ModelUse, Refusal, StoreBudget
    from slowwave.model.proof import ErasureProof, PendingProof, StoreProof
    from slowwave.model.scope_state import ScopeState, StateQuery


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
            error: the kind of the failure, if the pass failed: the scope is not due before the next of `night.PAUSES`.

        Returns:
            When the scope may be slept again because of what this pass left; None if it left nothing.
        """
        ...

    def retry_night(self, scope: str) -> bool:
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

        Raises:
            OlderSchemaError: the budget has limits, and the schema of the store cannot count yet.
        """
        ...

    def add_model_use(self, use: ModelUse) -> None:
        """Add to what was used in the present hour and day; negative calls were counted and not sent."""
        ...

    def pause_model(self, model: str, until: datetime) -> None:
        """Let no process call this model before a time. An earlier time does not shorten a pause."""
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
