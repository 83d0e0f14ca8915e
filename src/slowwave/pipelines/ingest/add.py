"""Adds facts that are stated; they are reconciled as distilled facts are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any, Final, TypeAlias

from slowwave.errors import ConflictError, InputError, shown
from slowwave.model.arguments import check_fields, has_items
from slowwave.model.json_value import checked_metadata
from slowwave.model.memory import STATEMENT_KINDS, Memory
from slowwave.model.message import Message, checked_time
from slowwave.model.mind import Fact
from slowwave.model.names import checked_label
from slowwave.model.operations import Add
from slowwave.model.plan import BATCH_MAX, Outcome, OutcomeName, Plan, Receipt
from slowwave.model.query import Where
from slowwave.pipelines.ingest.reconcile import ReconcileResult, reconcile
from slowwave.pipelines.ingest.review import QUARANTINED, secrets
from slowwave.pipelines.planning import (
    apply_with_retry,
    checked_text,
    in_parts,
    single_group_plan,
    with_notes,
)
from slowwave.policy.guard.trust import checked_trust, least
from slowwave.ports import Ports

PART: Final = 20
"""Facts that are reconciled together, in one call of the mind and one transaction."""

FactLike: TypeAlias = str | Fact | Mapping[str, Any]
"""A fact as callers may pass it: a text, a Fact, or a mapping with the arguments of `AgentMemory.add`."""

_ARGUMENTS: Final[Mapping[str, str]] = {
    **{name: name for name in ("text", "category", "kind", "subject", "importance", "metadata", "trust", "expires_at")},
    "id": "ref",
    "at": "valid_from",
}
"""The arguments of `AgentMemory.add`, and the field of Fact that each fills."""


def stated_fact(fact: object, zone: tzinfo, place: str) -> Fact:
    """A text, a Fact, or a mapping with the arguments of `AgentMemory.add`, as a checked Fact with times in a zone.

    Raises:
        InputError: naming the place of what cannot be stored.
    """
    if isinstance(fact, Fact):
        return checked_fact(fact, zone)
    if isinstance(fact, str):
        return checked_fact(Fact(text=fact), zone)
    if isinstance(fact, Message) or (isinstance(fact, Mapping) and {"role", "content"} <= fact.keys()):
        raise InputError(f"{place} is a message: use add_messages, which stores messages; `consolidate` extracts facts")
    if not isinstance(fact, Mapping):
        raise InputError(f"{place} is of type {type(fact).__name__}: pass a text, a Fact, or a mapping with a text")
    if "text" not in fact or fact.keys() - _ARGUMENTS.keys():
        raise InputError(
            f"{place} has the fields {sorted(map(str, fact))}: use text and any of {', '.join(_ARGUMENTS)}"
        )
    given = {_ARGUMENTS[name]: value for name, value in fact.items() if value is not None or name == "text"}
    return checked_fact(Fact(**given), zone)


def checked_fact(fact: Fact, zone: tzinfo) -> Fact:
    """The fact with valid values, or InputError. Its times without a zone are in the given one."""
    if not isinstance(fact.kind, str) or fact.kind not in STATEMENT_KINDS:
        raise InputError(f"a fact cannot be of kind {shown(fact.kind)}: use {', '.join(STATEMENT_KINDS)}")
    importance = fact.importance
    is_number = isinstance(importance, int | float) and not isinstance(importance, bool)
    if importance is not None and not (is_number and 0 <= importance <= 1):
        raise InputError(f"importance={shown(importance)}: use a number from 0 to 1, or None to work it out")
    _refuse_messages(fact.text)
    began, ends = _checked_times(fact, zone)
    checked = replace(
        fact,
        text=checked_text(fact.text),
        trust=checked_trust(fact.trust),
        category=checked_label(fact.category, "category"),
        subject=checked_label(fact.subject, "subject") if fact.subject is not None else None,
        ref=checked_label(fact.ref, "id") if fact.ref is not None else None,
        metadata=checked_metadata(fact.metadata),
        valid_from=began,
        expires_at=ends,
    )
    check_fields(checked, "fact")
    return checked


def _refuse_messages(text: object) -> None:
    """Raise InputError for messages that are passed as the text of a fact."""
    first = text[0] if isinstance(text, list | tuple) and text else text
    if isinstance(first, Message) or (isinstance(first, Mapping) and "role" in first):
        raise InputError("these are messages: use add_messages to store them; `consolidate` then extracts facts")
    if isinstance(text, list | tuple | Mapping):
        raise InputError(f"text is a {type(text).__name__}: pass one fact as a text, or several to add_all")


def _checked_times(fact: Fact, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    began = checked_time(fact.valid_from, "at", zone) if fact.valid_from is not None else None
    ends = checked_time(fact.expires_at, "expires_at", zone) if fact.expires_at is not None else None
    if began is not None and ends is not None and ends <= began:
        raise InputError(f"expires_at {ends.isoformat()} is not after at {began.isoformat()}: pass a later end")
    return began, ends


def _refuse_ended(facts: Iterable[Fact], now: datetime) -> None:
    """Raise InputError for a fact whose end has passed and that does not say when it was true: no search would find it."""
    for fact in facts:
        if fact.valid_from is None and fact.expires_at is not None and fact.expires_at <= now:
            raise InputError(
                f"expires_at {fact.expires_at.isoformat()} has passed: use a later time, or pass `at` for a fact of the past"
            )


def add_facts(ports: Ports, facts: Sequence[Fact], *, cause: str = "add") -> Receipt:
    """Store stated facts as one run. If the mind fails, they are stored and wait for it, and the receipt says so.

    No fact is trusted more than `ports.ceiling`. Of more than 20 facts, each 20 are stored in one transaction, as child
    runs of one run.

    Args:
        ports: the store, the mind, the embedder and the settings.
        facts: checked facts, in order.
        cause: of the run.

    Raises:
        ConflictError: a caller's id is known with other words, and nothing was stored.
        InputError: a fact that is true from now on has an end that has passed, and nothing was stored.
    """
    facts = [replace(fact, trust=least((fact.trust, ports.ceiling))) for fact in facts]
    known = _recognised(ports, facts)
    _refuse_ended((fact for fact in facts if fact.ref not in known), ports.now())
    receipt = in_parts(ports, cause, facts, PART, lambda part, parent: _add_part(ports, part, cause, parent))
    return with_notes(receipt, notes=secrets(fact.text for fact in facts))


def add_all(ports: Ports, facts: object) -> Receipt:
    """Store several stated facts as one run; if one of them is invalid, none is stored."""
    if isinstance(facts, Mapping | Fact) or not (isinstance(facts, Iterable) and has_items(facts)):
        raise InputError(f"facts is a {type(facts).__name__}: pass a list of texts, Facts or mappings; `add` takes one")
    listed = list(facts)
    if len(listed) > BATCH_MAX:
        raise InputError(f"{len(listed):,} facts in one call, more than {BATCH_MAX:,}: add them in parts")
    checked = []
    for number, fact in enumerate(listed):
        try:
            checked.append(stated_fact(fact, ports.zone, f"fact {number}"))
        except InputError as error:
            raise type(error)(str(error) if str(error).startswith("fact ") else f"fact {number}: {error}") from error
    return add_facts(ports, checked)


def _add_part(ports: Ports, facts: Sequence[Fact], cause: str, parent: str | None) -> Receipt:
    """Reconcile and store a few facts in one transaction."""
    result: ReconcileResult | None = None
    outcomes: tuple[Outcome, ...] = ()

    def plan() -> Plan:
        nonlocal result, outcomes
        now = ports.now()
        known = _recognised(ports, facts)
        fresh = [fact for fact in _first_of_each_id(facts) if fact.ref not in known]
        result = reconcile(ports, fresh, now=now, stated=True)
        outcomes = _in_order(facts, fresh, result.outcomes, known)
        name = cause if parent is None else f"{cause}/part"
        made = single_group_plan(ports, name, result.operations, facts[0].text, now=now, cost=result.cost)
        return replace(made, parent=parent)

    receipt = apply_with_retry(ports, plan)
    assert result is not None  # `apply_with_retry` plans at least once
    receipt = with_notes(receipt, notes=result.notes, problems=result.problems, waiting=result.waiting)
    return replace(receipt, outcomes=outcomes)


# ---- ids of the caller


def _first_of_each_id(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, without those whose id an earlier one has."""
    found: dict[object, Fact] = {}
    for number, fact in enumerate(facts):
        found.setdefault(number if fact.ref is None else fact.ref, fact)
    return list(found.values())


def _in_order(
    facts: Sequence[Fact], fresh: Sequence[Fact], outcomes: Sequence[Outcome], known: Mapping[str | None, Outcome]
) -> tuple[Outcome, ...]:
    """An outcome for each fact: of those that were reconciled, and of those whose id was known."""
    of_fresh = {id(fact): outcome for fact, outcome in zip(fresh, outcomes, strict=True)}
    of_id = {fact.ref: outcome for fact, outcome in zip(fresh, outcomes, strict=True) if fact.ref is not None}
    ordered = []
    for fact in facts:
        outcome = of_fresh.get(id(fact)) or known.get(fact.ref)
        if outcome is None:
            same = of_id[str(fact.ref)]
            repeated: OutcomeName = "NOOP" if same.operation in {"ADD", "UPDATE", "DELETE"} else same.operation
            outcome = replace(same, operation=repeated, reason="the same id earlier in the batch")
        ordered.append(outcome)
    return tuple(ordered)


def _recognised(ports: Ports, facts: Iterable[Fact]) -> dict[str | None, Outcome]:
    """The outcomes of facts whose id is stored with the same words, by id.

    Raises:
        ConflictError: an id is stored, or used earlier in the batch, with other words.
    """
    known: dict[str | None, Outcome] = {}
    words: dict[str, str] = {}
    for fact in facts:
        if fact.ref is None:
            continue
        stored = _stored_under(ports, fact.ref) if fact.ref not in words else None
        stored_text = _stated_words(ports, stored) if stored is not None else words.get(fact.ref, fact.text)
        if stored_text != fact.text:
            where = (
                f"stored with other words (memory {stored.id})" if stored else "twice in the batch, with other words"
            )
            raise ConflictError(f"the id {fact.ref!r} is {where}: give the new fact another id; nothing was stored")
        words[fact.ref] = stored_text
        if stored is not None:
            known[fact.ref] = _known_outcome(ports, stored, fact.text)
    return known


def _stored_under(ports: Ports, ref: str) -> Memory | None:
    """The memory that was stored under an id of the caller's."""
    where = Where(kinds=frozenset(STATEMENT_KINDS), ref=ref, limit=1)
    return next(iter(ports.store.select((ports.scope,), where)), None)


def _stated_words(ports: Ports, memory: Memory) -> str:
    """The text with which a memory was added; it may have been reworded since."""
    events = ports.store.history(ports.scope, memory.id)
    added = next((event.operation.memory.text for event in events if isinstance(event.operation, Add)), None)
    return memory.text if added is None else added


def _known_outcome(ports: Ports, stored: Memory, text: str) -> Outcome:
    holder, seen = stored, {stored.id}
    while holder.reason == "duplicate" and holder.superseded_by and holder.superseded_by not in seen:
        seen.add(holder.superseded_by)
        holder = next(iter(ports.store.get((ports.scope,), [holder.superseded_by])), holder)
    if holder.phase == QUARANTINED:
        return Outcome(operation="REVIEW", memory_id=holder.id, text=text, reason="it is under review already")
    reason = (
        "the memory of its id was retracted: `revive` restores it" if holder.phase == "retracted" else "its id is known"
    )
    return Outcome(operation="NOOP", memory_id=holder.id, text=text, reason=reason)
