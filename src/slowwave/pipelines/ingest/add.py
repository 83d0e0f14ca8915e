"""State: a fact in a person's own words takes the same path as a distilled one."""

from collections.abc import Mapping
from dataclasses import replace

from slowwave.errors import InputError
from slowwave.model.message import clean
from slowwave.model.mind import Fact
from slowwave.model.plan import Plan, Receipt
from slowwave.pipelines.ingest.reconcile import ReconcileResult, reconcile
from slowwave.pipelines.ingest.review import secrets
from slowwave.pipelines.planning import apply_with_retry, checked_name, checked_text, single_group_plan, with_notes
from slowwave.ports import Ports

KINDS = ("episodic", "semantic", "procedural")


def checked_fact(fact: Fact) -> Fact:
    """The fact with clean words, or InputError saying what cannot be meant."""
    if fact.kind not in KINDS:
        raise InputError(f"a fact cannot be of kind {fact.kind!r}: use {', '.join(KINDS)}")
    number = fact.importance
    if number is not None and (isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1):
        raise InputError(f"importance={number!r}: use a number from 0 to 1, or None to work it out")
    if not isinstance(fact.metadata, Mapping):
        raise InputError(f"metadata={fact.metadata!r}: use a mapping of texts to texts")
    words = {key: clean(value) for key, value in fact.metadata.items() if isinstance(value, str)}
    if len(words) < len(fact.metadata) or not all(isinstance(key, str) for key in words):
        raise InputError(f"metadata={fact.metadata!r}: use texts for names and values")
    return replace(
        fact,
        text=checked_text(fact.text),
        category=checked_name(fact.category, "category"),
        subject=checked_name(fact.subject, "subject") if fact.subject is not None else None,
        metadata={clean(key): value for key, value in words.items()},
    )


def add_fact(ports: Ports, facts: tuple[Fact, ...], *, cause: str = "add") -> Receipt:
    """Store facts that someone states. A failing mind is in the receipt; the fact is stored all the same, and waits."""
    done: ReconcileResult | None = None

    def plan() -> Plan:
        nonlocal done
        now = ports.now()
        done = reconcile(ports, facts, now=now, stated=True)
        return single_group_plan(ports, cause, done.operations, facts[0].text, now=now, cost=done.cost)

    receipt = apply_with_retry(ports, plan)
    assert done is not None  # settle plans at least once
    return with_notes(
        receipt,
        notes=(*done.notes, *secrets(fact.text for fact in facts)),
        problems=done.problems,
        waiting=done.waiting,
    )
