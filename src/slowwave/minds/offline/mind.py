"""The offline mind: rules and statistics, no model, no download, the same answer every time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from slowwave.minds.offline.word_similarity import word_similarity
from slowwave.model.mind import Fact, MindAnswer, ReconcileCase, Summary, SummaryRequest, Transcript, Verdict

if TYPE_CHECKING:
    from slowwave.policy.comparison.alignment import WordCosine
    from slowwave.ports import Embedder

PROMPT: Final = "offline/1"
"""The version of the rules, kept with each run as a prompt's version is."""


class OfflineMind:
    """A Mind that reads by rule. It never fails and costs nothing; what it does not understand it leaves alone.

    Args:
        embedder: one with `word_vectors` lets it see that two words mean nearly the same; without, facts merge only
            when they use the same words.
        word_cosine: cosines of single words, rows by columns, in place of an embedder's.
    """

    name = "offline"

    def __init__(self, *, embedder: "Embedder | None" = None, word_cosine: "WordCosine | None" = None) -> None:
        self._word_cosine = word_cosine or word_similarity(embedder)

    def distil(self, transcript: Transcript, /) -> MindAnswer[tuple[Fact, ...]]:
        """Facts that a rule can read in plain English, each with its message and its words; most messages hold none."""
        from slowwave.minds.offline.distil import distil  # noqa: PLC0415 - a question needs no thought, so no rules

        facts, over = distil(transcript)
        return MindAnswer(value=facts, prompt=PROMPT, rejected=over)

    def decide(self, cases: Sequence[ReconcileCase], /) -> MindAnswer[tuple[Verdict, ...]]:
        """Merge what says the same, supersede what is explicitly corrected, link what is close; add everything else."""
        from slowwave.minds.offline.decide import decide  # noqa: PLC0415 - see above

        verdicts = tuple(verdict for case in cases for verdict in decide(case, self._word_cosine))
        return MindAnswer(value=verdicts, prompt=PROMPT)

    def summarise(self, brief: SummaryRequest, /) -> MindAnswer[Summary]:
        """Select, never rewrite: a cluster keeps every name, number and date, a cascade the most informative clauses."""
        from slowwave.minds.offline.summarise import cascade, cluster  # noqa: PLC0415 - see above

        text = cluster(brief) if brief.style == "cluster" else cascade(brief)
        return MindAnswer(value=Summary(text=text), prompt=PROMPT)
