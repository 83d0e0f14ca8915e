"""Steps: groups that are stored one by one while a stage goes on thinking, each a run of its own."""

from dataclasses import dataclass, field
from datetime import datetime

from slowwave.model.plan import FREE, Cost, Group, Plan, Receipt
from slowwave.pipelines.making import new_id, paid
from slowwave.pipelines.sleep.lease import Lease
from slowwave.ports import Ports


@dataclass(slots=True, kw_only=True)
class Steps:
    """The runs of one stage so far. In a dry run they are plans only.

    `cost` is what thinking has cost that led to a step; `parent` the run they all belong to.
    """

    ports: Ports
    now: datetime
    cause: str
    parent: str
    dry_run: bool = False
    lease: Lease | None = None
    plans: list[Plan] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    cost: Cost = FREE

    def keep(self, group: Group, cost: Cost) -> bool:
        """Store a group now; whether it still held. What it cost is journaled all the same."""
        self.cost += cost
        step = Plan(
            id=new_id(self.now),
            scope=self.ports.scope,
            cause=self.cause,
            at=self.now,
            groups=(group,),
            parent=self.parent,
            cost=cost,
            lease=self.lease.token if self.lease else None,
        )
        self.plans.append(step)
        if self.dry_run:
            return True
        if self.lease:
            self.lease.renewed()
        receipt = self.ports.store.apply(step)
        self.receipts.append(receipt)
        if receipt.dropped:
            paid(self.ports, step, receipt.dropped[0].reason)
        return not receipt.dropped
