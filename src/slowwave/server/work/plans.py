"""Plans of dry runs that wait to be applied or discarded. A client can name one, not write one; the store has their texts."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from slowwave.agent_memory import AgentMemory
from slowwave.errors import NotFoundError
from slowwave.formats import plan_file
from slowwave.model.plan import Plan
from slowwave.pipelines.planning import new_id
from slowwave.pipelines.sleep.sleep_pass import findable
from slowwave.server.work.shares import SHARE
from slowwave.server.work.stored_text import KEPT_HOURS, StoredText

if TYPE_CHECKING:
    from slowwave.pipelines.sleep.report import SleepReport

KEPT_MOST: Final = 200
"""Plans of a process. A tenant with more than its share loses its oldest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPlan:
    """Whose share a plan counts for, and its place in the store, which is in the scope of the plan."""

    tenant: str
    kept: StoredText


class Plans:
    """The places of the plans of dry runs by their ids, at most 200, each for 12 hours."""

    def __init__(self) -> None:
        self._plans: OrderedDict[str, KeptPlan] = OrderedDict()
        self._lock = threading.Lock()

    def make(self, memory: AgentMemory, sleep: Callable[[], "SleepReport"], tenant: str) -> "SleepReport":
        """Make a dry run, and keep its plan.

        Args:
            memory: the memory that sleeps.
            sleep: makes the dry run.
            tenant: whose share the plan counts for.
        """
        kept = StoredText(f"plan:{new_id(datetime.now(UTC))}")
        kept.claim(memory)  # before a memory is read: an erase from now on deletes the plan
        report = sleep()
        kept.put(memory, plan_file.to_text(report.plan))
        with self._lock:
            self._plans[report.plan.id] = KeptPlan(tenant=tenant, kept=kept)
            counts = Counter(one.tenant for one in self._plans.values())
            if counts[tenant] > KEPT_MOST // SHARE:
                self._drop_oldest(tenant)
            elif counts.total() > KEPT_MOST:
                self._drop_oldest(max(counts, key=lambda one: counts[one]))
        return report

    def get(self, memory: AgentMemory, plan_id: str) -> Plan:
        """A plan of the scope of a memory.

        Raises:
            NotFoundError: it was applied or discarded, it is too old, memories of the scope were erased since, or this
                process does not know it; the error says what to do.
        """
        with self._lock:
            place = self._plans.get(plan_id)
        text = None if place is None else place.kept.read(memory)  # in the scope of the memory: another one has none
        if text is not None:
            return findable(memory.ports.whole, plan_file.from_text(text, f"plan {plan_id}"))
        if memory.ports.store.run(memory.scope, plan_id) is not None:
            raise NotFoundError(
                f"plan {plan_id!r} was applied: the run of the same id shows what it did, and its undo reverses it"
            )
        raise NotFoundError(
            f"no plan {plan_id!r} in scope {memory.scope}: it was discarded, is older than {KEPT_HOURS} hours, memories were erased "
            "since, or it was made before the server restarted or by another process. Nothing of it was carried out: make a new "
            "one with a dry run"
        )

    def drop(self, plan_id: str) -> None:
        """Forget a plan that was applied or discarded."""
        with self._lock:
            self._plans.pop(plan_id, None)

    def _drop_oldest(self, tenant: str) -> None:
        del self._plans[next(name for name, one in self._plans.items() if one.tenant == tenant)]
