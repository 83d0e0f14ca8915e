"""Decides what a new fact does to a known one when a mind has compared them.

The functions are pure: they read no store and change nothing. A verdict is a proposal; the checks here keep a mind from
losing, inventing or reversing what a fact says.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from slowwave.model.codec import content_key
from slowwave.model.memory import SUMMARY, Memory
from slowwave.model.mind import Verdict
from slowwave.model.operations import LinkKind
from slowwave.model.plain_text import clean
from slowwave.policy.comparison.exclusion import excludes
from slowwave.policy.comparison.negation import contradicts
from slowwave.policy.guard.grounding import invented_details, missing_details
from slowwave.policy.guard.summary_support import covers, omitted_words, unsupported_rewording
from slowwave.policy.guard.trust import PERSONS, outranks
from slowwave.policy.retention.lasting import is_plan
from slowwave.policy.retention.phases import has_expired

Action: TypeAlias = Literal["store", "reinforce", "merge", "supersede"]

LIVE: Final = frozenset({"active", "core", "cold"})
"""The phases in which a fact counts as known."""
_VERDICT_LINKS: Final[Mapping[str, LinkKind]] = {
    "close": "close",
    "value changed?": "value changed?",
    "conflict?": "conflict?",
    "unsure": "unsure",
}
"""The kinds of links that the operation LINK of a verdict may create."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPair:
    """A new fact and the known one that a verdict names.

    Attributes:
        new: the new fact.
        known: the known fact as it is now; None if the verdict names none, or if it is gone.
        fixed: the known fact is protected: it may be linked to, but not changed.
        stated: a person states the new fact at this moment.
        stored: the new fact is in the store already, waiting for a mind.
        is_duplicate: whether a live fact other than these two says exactly this.
    """

    new: Memory
    known: Memory | None
    fixed: bool
    stated: bool
    stored: bool
    is_duplicate: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What happens to one new fact.

    Attributes:
        action: "store" it beside the known fact, "reinforce" the known fact with its sources, "merge" both into one
            fact, or "supersede" the known fact by it.
        because: the reason, for the journal.
        text: the wording of the merged or superseding fact.
        link: the kind of the link between the stored and the known fact, if they are to be linked, and its reason.
        problem: why the verdict was changed or not carried out; empty if it was carried out.
    """

    action: Action
    because: str
    text: str = ""
    link: tuple[LinkKind, str] | None = None
    problem: str = ""


def decide(verdict: Verdict | None, pair: ComparedPair, because: str) -> Decision:
    """The decision that follows from the verdict on a pair.

    Args:
        verdict: what the mind says; None if it says only which known facts are no longer true.
        pair: the two facts.
        because: the reason for storing the new fact, where the verdict has none.
    """
    new, known = pair.new, pair.known
    if verdict is None or known is None or verdict.op == "ADD":
        return Decision(action="store", because=reason_of(verdict, because))
    rewords_trusted = verdict.op == "UPDATE" and outranks(known.trust, new.trust)
    if known.phase not in LIVE or (pair.fixed and verdict.op != "NOOP") or rewords_trusted:
        kind: LinkKind = "conflict?" if verdict.op == "UPDATE" else "close"
        return Decision(action="store", because=because, link=(kind, reason_of(verdict, "it may not change")))
    if verdict.op == "NOOP":
        return _repeated(verdict, new, known, because)
    if verdict.op == "UPDATE":
        return _updated(verdict, pair, known, because)
    kind = _VERDICT_LINKS.get(verdict.relation, "close")
    return Decision(action="store", because=because, link=(kind, reason_of(verdict, "close")))


def may_retract(known: Memory, new: Memory, *, fixed: bool, stated: bool) -> bool:
    """Whether a mind may retract a known fact because of a new one.

    It may not if the fact is protected, if a person stated it and does not state the new one, if its source is trusted more,
    or if both can be so.
    """
    return not (fixed or _is_a_persons(known, stated=stated) or outranks(known.trust, new.trust)) and can_end(
        new, known
    )


def can_end(new: Memory, known: Memory) -> bool:
    """Whether a new fact can end a known one, as far as the words of both say: a model may err, and the older one would be lost."""
    called = [name for name in (new.subject, known.subject) if name]
    return is_plan(known) or excludes(new.text, known.text, called=called)


def reason_of(verdict: Verdict | None, otherwise: str) -> str:
    """The reason that the mind gives, or another one if it gives none."""
    return verdict.because if verdict and verdict.because else otherwise


def _repeated(verdict: Verdict, new: Memory, known: Memory, because: str) -> Decision:
    """The new fact says what the known one says, unless that lacks a detail of it."""
    if unsaid := _unsaid(known, new):
        problem = f"kept {new.text!r} beside {known.text!r}, which does not say {_listed(unsaid)}"
        return _store_beside(verdict, because, problem)
    because = reason_of(verdict, "already known") + _stated_words(new, known.text)
    return Decision(action="reinforce", because=because)


def _store_beside(verdict: Verdict, because: str, problem: str) -> Decision:
    link: tuple[LinkKind, str] = ("close", reason_of(verdict, "close, but each says more"))
    return Decision(action="store", because=because, link=link, problem=problem)


def _updated(verdict: Verdict, pair: ComparedPair, known: Memory, because: str) -> Decision:
    """The new fact takes the place of the known one or is merged with it; both stay if both can be so."""
    if has_expired(known) or _is_carried_out(pair, known):
        return _superseded(verdict, pair, known)
    if verdict.relation != "contradictory":
        return _merged(verdict, pair, known, because)
    if can_end(pair.new, known):
        return _superseded(verdict, pair, known)
    problem = f"kept {known.text!r} beside {pair.new.text!r}: as far as their words say, both can be so"
    link: tuple[LinkKind, str] = ("conflict?", reason_of(verdict, "it may have changed"))
    return Decision(action="store", because=because, link=link, problem=problem)


def _superseded(verdict: Verdict, pair: ComparedPair, known: Memory) -> Decision:
    """The new fact replaces the known one, in the mind's wording if that passes the checks, else in its own."""
    new = pair.new
    text, problem = clean(verdict.text or "").strip() or new.text, ""
    raises_trust = text != new.text and outranks(new.trust, known.trust)
    if fault := "the known memory is trusted less" if raises_trust else _replacement_fault(text, pair, known):
        text, problem = new.text, f"kept the words as they were said: {fault}"
    because = reason_of(verdict, "it changed") + _stated_words(new, text)
    return Decision(action="supersede", because=because, text=text, problem=problem)


def _is_carried_out(pair: ComparedPair, known: Memory) -> bool:
    """Whether an update tells that a plan was carried out: the event takes the place of the plan, and keeps neither its date nor its category."""
    return is_plan(known) and not is_plan(pair.new) and not _is_a_persons(known, stated=pair.stated)


def _merged(verdict: Verdict, pair: ComparedPair, known: Memory, because: str) -> Decision:
    """Both facts become one, in the first wording that says all of both; if none does, they stay apart.

    Words of a less trusted fact do not enter the new one.

    A mind that writes a wording of its own says that neither fact has all words of both. If that wording is refused, the
    words of one fact are used only if they contain the words of the other.
    """
    new = pair.new
    own = clean(verdict.text or "").strip()
    fuller = {"subsumes": new.text, "subsumed": known.text}.get(verdict.relation, own or new.text)
    covers = not any(omitted_words(fuller, memory.text) for memory in (new, known))
    wordings = [own] if own else []
    if fuller != own and (covers or not own):
        wordings.append(fuller)
    if _is_a_persons(known, stated=pair.stated):
        wordings = [wording for wording in wordings if wording == known.text or pair.stored]
    if outranks(new.trust, known.trust):
        wordings = [wording for wording in wordings if wording == new.text]
    for wording in wordings:
        if _says_both(wording, new, known) and not pair.is_duplicate(wording):
            because = reason_of(verdict, "the same fact, more fully") + _stated_words(new, wording)
            return Decision(action="merge", because=because, text=wording)
    problem = f"did not merge {new.text!r} into {known.text!r}: words, names or numbers would be lost"
    return _store_beside(verdict, because, problem)


def _replacement_fault(text: str, pair: ComparedPair, known: Memory) -> str | None:
    """Why this wording may not replace the words of the new fact."""
    new = pair.new
    if text == new.text:
        return None
    if invented := invented_details(text, [new, known]):
        return f"{_listed(invented)} is in neither memory"
    omitted = omitted_words(text, new.text) if _stated_by_person(new) else ()
    if lost := (*missing_details(text, [new]), *omitted):
        return f"{_listed(lost)} would be lost"
    if unsupported := unsupported_rewording(text, new, known):
        return unsupported
    if content_key(text) == content_key(known.text) or pair.is_duplicate(text):
        return "another memory says just that"
    return None


def _says_both(text: str, new: Memory, known: Memory) -> bool:
    """Whether a wording may replace both facts: it loses no detail and few words, adds no detail, and reverses neither."""
    both = [new, known]
    if missing_details(text, both) or invented_details(text, both) or not all(covers(text, one.text) for one in both):
        return False
    if text != new.text and _stated_by_person(new) and omitted_words(text, new.text):
        return False
    if text in {new.text, known.text}:
        return True
    return not (
        (_stated_by_person(known) and omitted_words(text, known.text))
        or unsupported_rewording(text, new, known)
        or contradicts(text, [known.text], [new.text])
    )


def _unsaid(known: Memory, new: Memory) -> tuple[str, ...]:
    """Details of the new fact that the known one does not say, or the word on which it says the opposite.

    The names of the two subjects do not count: one subject may have two names.
    """
    subjects = {name.casefold() for name in (known.subject, new.subject) if name}
    missing = tuple(word for word in missing_details(known.text, [new]) if word.casefold() not in subjects)
    opposite = contradicts(new.text, [known.text])
    return missing or ((opposite,) if opposite else ())


def _is_a_persons(memory: Memory, *, stated: bool) -> bool:
    """Whether a person stated the fact and none states anything now: then no mind rewords or retracts it."""
    return not stated and memory.trust in PERSONS and _stated_by_person(memory)


def _stated_by_person(memory: Memory) -> bool:
    """Whether the fact was stated and not distilled: a stated fact has no source message."""
    return not memory.sources and memory.kind != SUMMARY


def _stated_words(new: Memory, text: str) -> str:
    """The words a person stated, for the journal, if another wording is stored instead."""
    return f"; stated: {new.text!r}" if _stated_by_person(new) and text != new.text else ""


def _listed(words: Sequence[str]) -> str:
    return ", ".join(repr(word) for word in words[:3])
