"""State: a fact in a person's own words takes the same path as a distilled one."""

from collections.abc import Mapping
from dataclasses import replace

from slowwave.errors import InputError
from slowwave.model.fact import Fact
from slowwave.model.message import clean
from slowwave.model.plan import Plan, Receipt
from slowwave.pipelines.edit import checked_name, checked_text
from slowwave.pipelines.making import noted, one_group, settle
from slowwave.pipelines.reconcile import Reconciled, reconcile
from slowwave.pipelines.review import secrets
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
    return noted(
        receipt,
        notes=(*done.notes, *secrets(fact.text for fact in facts)),
        problems=done.problems,
        waiting=done.waiting,
    )
