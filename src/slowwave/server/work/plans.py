"""Plans of dry runs that wait to be applied or discarded. They stay in the process: a client can name one, not write one."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from slowwave.agent_memory import AgentMemory
from slowwave.errors import NotFoundError
from slowwave.model.plan import Plan

KEPT_MOST: Final = 200
KEPT_HOURS: Final = 12
KEPT: Final = timedelta(hours=KEPT_HOURS)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPlan:
    """A plan, and when it was made."""

    plan: Plan
    at: datetime


class Plans:
    """The plans of dry runs by their ids, at most 200, each for 12 hours."""

    def __init__(self) -> None:
        self._plans: OrderedDict[str, KeptPlan] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, plan: Plan) -> None:
        """Keep a plan. The oldest one is dropped if there are too many."""
        with self._lock:
            self._plans[plan.id] = KeptPlan(plan=plan, at=datetime.now(UTC))
            while len(self._plans) > KEPT_MOST:
                self._plans.popitem(last=False)

    def get(self, memory: AgentMemory, plan_id: str) -> Plan:
        """A plan of the scope of a memory.

        Raises:
            NotFoundError: it was applied or discarded, it is too old, or this process does not know it; the error says what
                to do.
        """
        with self._lock:
            kept = self._plans.get(plan_id)
        if kept is not None and kept.plan.scope == memory.scope and datetime.now(UTC) - kept.at <= KEPT:
            return kept.plan
        if memory.ports.store.run(memory.scope, plan_id) is not None:
            raise NotFoundError(
                f"plan {plan_id!r} was applied: the run of the same id shows what it did, and its undo reverses it"
            )
        raise NotFoundError(
            f"no plan {plan_id!r} in scope {memory.scope}: it was discarded, is older than {KEPT_HOURS} hours, or was made "
            "before the server restarted or by another process. Nothing of it was carried out: make a new one with a dry run"
        )

    def drop(self, plan_id: str) -> None:
        """Forget a plan that was applied or discarded."""
        with self._lock:
            self._plans.pop(plan_id, None)

    def drop_of(self, result: object) -> None:
        """Forget the plan that a job has made, by the result of the job."""
        match result:
            case {"plan": {"id": str(plan_id)}}:
                self.drop(plan_id)

    def forget(self, scope: str) -> None:
        """Drop the plans of a scope: they may quote what was erased."""
        with self._lock:
            for plan_id in [plan_id for plan_id, kept in self._plans.items() if kept.plan.scope == scope]:
                del self._plans[plan_id]
