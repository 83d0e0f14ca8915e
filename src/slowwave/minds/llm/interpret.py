"""Turns the items of an answer into facts and verdicts. Unknown numbers, surplus facts and contradictions are refused."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from slowwave.errors import InputError
from slowwave.minds.llm.parse import ParsedReply
from slowwave.minds.llm.reply_models import RELATIONS, FactItem, VerdictItem
from slowwave.model.message import checked_time
from slowwave.model.mind import Fact, ReconcileCase, Rejected, Relation, Transcript, Verdict, VerdictOp
from slowwave.policy.comparison.duplicates import normalised
from slowwave.policy.guard.grounding import content_stems, coverage_ratio, ground
from slowwave.policy.retention.categories import REGISTRY, later
from slowwave.policy.retention.lasting import category_of
from slowwave.policy.text import names as naming
from slowwave.policy.text.date_spans import written_spans
from slowwave.policy.text.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from slowwave.model.memory import Kind

RELATION_NAMES: Final[dict[str, Relation]] = {relation: relation for relation in RELATIONS.values()}

Node = tuple[str, int]
HOURS: Final = 24
_UNCHANGED: Final = "it changes nothing that is known"
INSTRUCTION: Final = "instruction"
"""The category that a model is offered for standing instructions; they are stored as preferences of the kind procedural."""
GLOSSES: Final[dict[str, str]] = {
    "identity": "who the user is",
    "active_decision": "what the user chose and every answer must respect; no promise, no appointment",
    "preference": "likes",
    "person": "somebody's life, family, health, work",
    "goal": "a wish or plan",
    "observation": "what happened",
    "project_status": "unfinished work",
    "gotcha": "a pitfall",
    INSTRUCTION: "how the user wants the assistant to act from now on",
}
"""What a category means, for a model: the category decides how long a fact is kept."""
_SHORT_LIVED: Final = frozenset({"tool_output", "session_state"})
_USER: Final = lazy_regex(r"^user\b|\bthe user\b", re.IGNORECASE)
_LASTING: Final = lazy_regex(
    r"\b(?:since|from|until|till|by|before|after|every|born (?:in|on))\s+(?:the\s+)?$", re.IGNORECASE
)
_BEFORE_DATE: Final = 20  # characters
_ALIKE: Final = 0.4
"""The least share of the content words of a refused fact that a later wording of it has."""


def offered(categories: Iterable[str]) -> str:
    """The categories that a prompt names, with `GLOSSES`: those configured, less those that expire in days, and `INSTRUCTION`."""
    names = [name for name in categories if name not in _SHORT_LIVED or name not in REGISTRY]
    return "; ".join(f"{n} ({GLOSSES[n]})" if n in GLOSSES else n for n in dict.fromkeys((*names, INSTRUCTION)))


def interpret_facts(
    reading: ParsedReply[FactItem], transcript: Transcript, categories: Collection[str], prompt: str
) -> tuple[tuple[Fact, ...], list[Rejected]]:
    """The facts of an answer, at most `transcript.most`, and the refused items.

    A text that the prompt itself contains (in its example or rules) is refused: it is not from the conversation.
    """
    kept: list[Fact] = []
    refused = list(reading.rejected)
    times = {turn.number: turn.memory.at for turn in transcript.turns}
    for item in reading.items:
        shown = [number for number in item.messages if number in times]
        reason = None
        if item.messages and not shown:
            reason = "its source message was not shown"
        elif item.text in prompt:
            reason = "copied from the prompt"
        elif len(kept) == transcript.most:
            reason = f"more than the {transcript.most} asked for"
        if reason:
            refused.append(Rejected(text=item.text, reason=reason, quote=item.quote or ""))
            continue
        at = times[shown[0]] if shown else transcript.turns[-1].memory.at
        instruction = item.category == INSTRUCTION and INSTRUCTION not in categories
        category = category_of(item.category, item.text, at)
        kept.append(
            Fact(
                text=item.text,
                category="preference" if instruction else category if category in categories else "other",
                kind=_kind(item, instruction=instruction),
                subject=item.subject or _subject(item.text, transcript.speakers),
                confidence=item.confidence,
                importance=item.importance,
                turn=shown[0] if shown else None,
                turns=tuple(dict.fromkeys(shown)),
                quote=item.quote or "",
                valid_from=_since(item.valid_from, at),
                expires_at=later(at, item.expires_in_hours / HOURS) if item.expires_in_hours else None,
            )
        )
    return tuple(kept), refused


def _since(written: datetime | None, said: datetime) -> datetime | None:
    """Since when a fact is true; a time without a zone is in that of its message, as the times of the transcript are."""
    try:
        return written and checked_time(written, "valid_from", said.tzinfo or UTC)
    except InputError:
        return None


def repaired(
    kept: Sequence[Fact],
    refused: Sequence[tuple[Fact, str]],
    proposed: Sequence[Fact],
    transcript: Transcript,
) -> tuple[tuple[Fact, ...], list[Rejected]]:
    """The facts after a further answer of the model, and those that stay refused.

    Args:
        kept: the facts of the first answer that their messages support.
        refused: the other facts of it, with the reasons.
        proposed: the facts of the further answer; for each refused fact at most one counts, the one most like it. Only its
            text, messages and quote are taken: nothing else was asked for.
        transcript: the messages.
    """
    value, still = list(kept), []
    rest = [fact for fact in proposed if all(fact.text != known.text for known in kept)]
    for fact, reason in refused:
        stems = content_stems(fact.text)
        likeness = {place: coverage_ratio(stems, content_stems(other.text)) for place, other in enumerate(rest)}
        place = max(likeness, key=lambda each: likeness[each], default=None)
        if place is None or likeness[place] < _ALIKE:
            still.append(Rejected(text=fact.text, reason=reason, quote=fact.quote))
            continue
        other = rest.pop(place)
        found = ground(
            replace(
                fact, text=other.text, subject=other.subject, turn=other.turn, turns=other.turns, quote=other.quote
            ),
            transcript,
        )
        if isinstance(found, Rejected):
            still.append(found)
        else:
            value.append(found)
    return tuple(value), still


def _kind(item: FactItem, *, instruction: bool) -> "Kind":
    """The kind that a model names; else procedural for an instruction, episodic for what has a date, semantic for the rest."""
    if item.kind is not None:
        return cast("Kind", item.kind)  # the reply model accepts no other
    if instruction:
        return "procedural"
    before = (item.text[max(0, span.start - _BEFORE_DATE) : span.start] for span in written_spans(item.text))
    return "episodic" if any(not _LASTING.search(words) for words in before) else "semantic"


def _subject(text: str, speakers: Collection[str]) -> str | None:
    """The first speaker whom a fact names, "The user" for the user, else the first person it names at its opening.

    "In May 2026 Ada's cat died" is about Ada, "Ben's sister moved" about Ben.
    """
    found = [(match.start(), -len(name), name) for name in speakers if (match := _whole(name).search(text))]
    user = _USER.search(text)
    if user and (not found or user.start() < min(found)[0]):
        return "The user"
    return min(found)[2] if found else next(iter(naming.names(text).opening), None)


@lru_cache(maxsize=256)
def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def interpret_verdicts(
    reading: ParsedReply[VerdictItem], cases: Sequence[ReconcileCase]
) -> tuple[tuple[Verdict, ...], list[Rejected]]:
    """The verdicts of an answer, in its order, and the refused ones: unknown numbers, second decisions, contradictions.

    An answer names only the facts that change something. If it says that it reviewed all of them, each fact that it does not
    name is added. If it reviewed fewer, or does not say, or a verdict on a fact was refused, the fact is absent from the
    result and stays undecided: a truncated answer never decides what it does not reach.
    """
    kept: list[Verdict] = []
    refused = list(reading.rejected)
    by_number = {case.number: case for case in cases}
    consistency = _Consistency(cases)
    named = {item.fact for item in reading.items}
    for item in reading.items:
        case = by_number.get(item.fact)
        reason = _wrong_number(item, case) or consistency.conflict(item)
        if reason or case is None:
            refused.append(Rejected(text=item.text or "", reason=reason or "unknown fact"))
            continue
        known = {candidate.number for candidate in case.candidates}
        kept.append(
            Verdict(
                fact=item.fact,
                op=cast("VerdictOp", item.op),
                memory=item.memory if item.memory in known else None,
                text=item.text,
                relation=RELATION_NAMES.get(item.relation, RELATIONS[item.op]),
                because=item.because,
            )
        )
    if (reading.reviewed or 0) >= len(cases) and not reading.rejected:
        kept += [Verdict(fact=case.number, op="ADD", because=_UNCHANGED) for case in cases if case.number not in named]
    return tuple(kept), refused


def _wrong_number(item: VerdictItem, case: ReconcileCase | None) -> str | None:
    if case is None:
        return "names a fact that was not asked about"
    if item.op != "ADD" and item.memory is None:
        return f"{item.op} names no memory"
    if item.op != "ADD" and all(item.memory != candidate.number for candidate in case.candidates):
        return "names a memory that was not shown with this fact"
    return None


class _Consistency:
    """Checks each verdict against those accepted before it.

    A graph has an edge from each replaced text to the text that replaces it; in a cycle every text would be replaced.
    A fact of the batch that is also a candidate of another fact is one node, identified by its normalised text.
    """

    def __init__(self, cases: Sequence[ReconcileCase]) -> None:
        self._decided: set[int] = set()
        self._touched: dict[tuple[int, int | None], str] = {}
        self._replaced_by: dict[Node, set[Node]] = {}
        texts = {normalised(case.fact.text): case.number for case in cases}
        self._nodes: dict[tuple[int, int], Node] = {}
        for case in cases:
            for candidate in case.candidates:
                twin = texts.get(normalised(candidate.memory.text), case.number)
                node = ("memory", candidate.number) if twin == case.number else ("fact", twin)
                self._nodes[case.number, candidate.number] = node

    def conflict(self, item: VerdictItem) -> str | None:
        """The reason to refuse the verdict; None accepts and records it."""
        decides = item.op != "DELETE"
        if decides and item.fact in self._decided:
            return "a second decision on one fact"
        if item.memory is not None and item.op != "ADD":
            if (item.fact, item.memory) in self._touched:
                return "contradicts another verdict on the same memory"
            fact, memory = ("fact", item.fact), self._nodes[item.fact, item.memory]
            replaced, kept = (fact, memory) if item.op == "NOOP" else (memory, fact)
            if replaced == kept or replaced in self._reachable(kept):
                return "goes round in a circle with another verdict"
            self._replaced_by.setdefault(replaced, set()).add(kept)
            self._touched[item.fact, item.memory] = item.op
        if decides:
            self._decided.add(item.fact)
        return None

    def _reachable(self, start: Node) -> Iterator[Node]:
        seen, waiting = {start}, [start]
        while waiting:
            node = waiting.pop()
            yield node
            new = self._replaced_by.get(node, set()) - seen
            seen |= new
            waiting += new
