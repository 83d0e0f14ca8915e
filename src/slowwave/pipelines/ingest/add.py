"""Adds facts that a person states; they are reconciled as distilled facts are."""

from dataclasses import replace

from slowwave.errors import InputError
from slowwave.model.json_value import checked_metadata
from slowwave.model.mind import Fact
from slowwave.model.plan import Plan, Receipt
from slowwave.pipelines.ingest.reconcile import ReconcileResult, reconcile
from slowwave.pipelines.ingest.review import secrets
from slowwave.pipelines.planning import apply_with_retry, checked_name, checked_text, single_group_plan, with_notes
from slowwave.ports import Ports

KINDS = ("episodic", "semantic", "procedural")


def checked_fact(fact: Fact) -> Fact:
    """The fact with valid values, or InputError."""
    if fact.kind not in KINDS:
        raise InputError(f"a fact cannot be of kind {fact.kind!r}: use {', '.join(KINDS)}")
    importance = fact.importance
    is_number = isinstance(importance, int | float) and not isinstance(importance, bool)
    if importance is not None and not (is_number and 0 <= importance <= 1):
        raise InputError(f"importance={importance!r}: use a number from 0 to 1, or None to work it out")
    return replace(
        fact,
        text=checked_text(fact.text),
        category=checked_name(fact.category, "category"),
        subject=checked_name(fact.subject, "subject") if fact.subject is not None else None,
        metadata=checked_metadata(fact.metadata),
    )


def add_fact(ports: Ports, facts: tuple[Fact, ...], *, cause: str = "add") -> Receipt:
    """Store stated facts. If the mind fails, the facts are stored and wait for it, and the receipt has the problem."""
    result: ReconcileResult | None = None

    def plan() -> Plan:
        nonlocal result
        now = ports.now()
        result = reconcile(ports, facts, now=now, stated=True)
        return single_group_plan(ports, cause, result.operations, facts[0].text, now=now, cost=result.cost)

    receipt = apply_with_retry(ports, plan)
    assert result is not None  # `apply_with_retry` plans at least once
    return with_notes(
        receipt,
        notes=(*result.notes, *secrets(fact.text for fact in facts)),
        problems=result.problems,
        waiting=result.waiting,
    )
