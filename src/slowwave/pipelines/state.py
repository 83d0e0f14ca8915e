"""State: a fact in a person's own words takes the same path as a distilled one."""

from slowwave.model.fact import Fact
from slowwave.model.plan import Plan, Receipt
from slowwave.pipelines.making import noted, one_group, settle
from slowwave.pipelines.reconcile import Reconciled, reconcile
from slowwave.ports import Ports


def state(ports: Ports, facts: tuple[Fact, ...], *, cause: str = "add") -> Receipt:
    """Store facts that someone states. A failing mind is in the receipt; the fact is stored all the same, and waits."""
    done: Reconciled | None = None

    def plan() -> Plan:
        nonlocal done
        now = ports.now()
        done = reconcile(ports, facts, now=now, stated=True)
        return one_group(ports, cause, done.operations, facts[0].text, now=now, cost=done.cost)

    receipt = settle(ports, plan)
    assert done is not None  # settle plans at least once
    return noted(receipt, notes=done.notes, problems=done.problems, waiting=done.waiting)
