"""Keeps recognised secrets from a model: its questions contain a placeholder for each, and its answers are read with that.

A message is stored as it was said; only the question is changed. A fact that names a placeholder is refused, because it
says nothing that the store may keep. Of a quote with a placeholder the longest part without one is kept, which is in the
message word for word, so that the check of quotes is the same as for any other fact.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from slowwave.model.memory import Memory
from slowwave.model.mind import Fact, ReconcileCase, Rejected, SummaryRequest, Transcript, Verdict
from slowwave.policy.guard.redaction import redact

REFUSED: Final = "it names a secret that the model was not shown"


@dataclass(slots=True)
class Withheld:
    """The question and the answer of one call of a model.

    Args:
        active: whether secrets are withheld; otherwise nothing is changed.

    Attributes:
        placeholders: what replaces secrets in the question.
    """

    active: bool
    placeholders: set[str] = field(default_factory=set)

    def text(self, text: str) -> str:
        """The text as the model is shown it."""
        if not self.active:
            return text
        found = redact(text)
        self.placeholders |= {f"[{kind} removed]" for kind in found.kinds}
        return found.text

    def transcript(self, transcript: Transcript) -> Transcript:
        """The messages as the model is shown them."""
        if not self.active:
            return transcript
        turns = tuple(replace(turn, memory=self._memory(turn.memory)) for turn in transcript.turns)
        return replace(transcript, turns=turns, before=tuple(map(self._memory, transcript.before)))

    def cases(self, cases: Sequence[ReconcileCase]) -> list[ReconcileCase]:
        """The facts to compare as the model is shown them."""
        return [
            replace(
                case,
                fact=replace(case.fact, text=self.text(case.fact.text)),
                candidates=tuple(replace(one, memory=self._memory(one.memory)) for one in case.candidates),
            )
            for case in cases
        ]

    def request(self, brief: SummaryRequest) -> SummaryRequest:
        """The memories to summarise as the model is shown them."""
        topic = None if brief.topic is None else self.text(brief.topic)
        return replace(brief, memories=tuple(map(self._memory, brief.memories)), topic=topic)

    def _memory(self, memory: Memory) -> Memory:
        shown = self.text(memory.text)
        return memory if shown == memory.text else replace(memory, text=shown)

    def facts(self, facts: Iterable[Fact]) -> tuple[tuple[Fact, ...], tuple[Rejected, ...]]:
        """The facts with quotes that are in the messages, and those that name a placeholder as refused."""
        kept: list[Fact] = []
        refused: list[Rejected] = []
        for fact in facts:
            if self._names_placeholder(fact.text):
                refused.append(Rejected(text=fact.text, quote=fact.quote, reason=REFUSED))
            else:
                kept.append(replace(fact, quote=self._said(fact.quote)))
        return tuple(kept), tuple(refused)

    def verdicts(self, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
        """The verdicts. A new wording that names a placeholder is left out, so that the fact keeps its own."""
        return tuple(
            replace(verdict, text=None) if verdict.text and self._names_placeholder(verdict.text) else verdict
            for verdict in verdicts
        )

    def _names_placeholder(self, text: str) -> bool:
        return any(placeholder in text for placeholder in self.placeholders)

    def _said(self, quote: str) -> str:
        """The longest part of a quote without a placeholder."""
        for placeholder in self.placeholders:
            quote = quote.replace(placeholder, "\n")
        return max(quote.split("\n"), key=len).strip() if self.placeholders else quote
