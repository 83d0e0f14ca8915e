"""Turns the items of an answer into facts and verdicts. Unknown numbers, surplus facts and contradictions are refused."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final, cast

from slowwave.minds.llm.parse import ParsedReply
from slowwave.minds.llm.reply_models import RELATIONS, FactItem, VerdictItem
from slowwave.model.mind import Fact, ReconcileCase, Rejected, Relation, Transcript, Verdict, VerdictOp
from slowwave.policy.comparison.duplicates import normalised
from slowwave.policy.retention.categories import later

if TYPE_CHECKING:
    from slowwave.model.memory import Kind

RELATION_NAMES: Final[dict[str, Relation]] = {relation: relation for relation in RELATIONS.values()}

Node = tuple[str, int]
HOURS: Final = 24
_UNCHANGED: Final = "it changes nothing that is known"


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
        reason = None
        if item.message is not None and item.message not in times:
            reason = "its source message was not shown"
        elif item.text in prompt:
            reason = "copied from the prompt"
        elif len(kept) == transcript.most:
            reason = f"more than the {transcript.most} asked for"
        if reason:
            refused.append(Rejected(text=item.text, reason=reason, quote=item.quote or ""))
            continue
        at = times[item.message] if item.message is not None else transcript.turns[-1].memory.at
        kept.append(
            Fact(
                text=item.text,
                category=item.category if item.category in categories else "other",
                kind=cast("Kind", item.kind),  # the reply model accepts no other
                subject=item.subject,
                confidence=item.confidence,
                importance=item.importance,
                turn=item.message,
                quote=item.quote or "",
                valid_from=item.valid_from,
                expires_at=later(at, item.expires_in_hours / HOURS) if item.expires_in_hours else None,
            )
        )
    return tuple(kept), refused


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
    if reading.reviewed == len(cases) and not reading.rejected:
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
