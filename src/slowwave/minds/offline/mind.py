"""The offline mind: rules and statistics, no model, no download, the same answer every time."""

from typing import TYPE_CHECKING, Final

from slowwave.minds.offline.word_similarity import word_similarity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slowwave.model.mind import Fact, MindAnswer, ReconcileCase, Summary, SummaryRequest, Transcript, Verdict
    from slowwave.policy.comparison.alignment import WordCosine
    from slowwave.ports import Embedder

PROMPT: Final = "offline/2"
"""The version of the rules, stored with each run like the version of a prompt."""


class OfflineMind:
    """A Mind that applies rules. It never fails and costs nothing; it ignores text that no rule matches.

    Args:
        embedder: with `word_vectors` of an embedder, words of similar meaning match; without, facts merge only
            when they use the same words.
        word_cosine: cosines of single words, rows by columns, instead of those of an embedder.
    """

    name = "offline"

    def __init__(self, *, embedder: "Embedder | None" = None, word_cosine: "WordCosine | None" = None) -> None:
        self._word_cosine = word_cosine or word_similarity(embedder)

    def distil(self, transcript: "Transcript", /) -> "MindAnswer[tuple[Fact, ...]]":
        """What people say plainly and what lasts, in their own words, each with its message and quote; most messages have none."""
        from slowwave.minds.offline.distil import distil  # noqa: PLC0415 - a search loads no rules
        from slowwave.model.mind import MindAnswer  # noqa: PLC0415 - as above

        facts, over = distil(transcript)
        return MindAnswer(value=facts, prompt=PROMPT, rejected=over)

    def decide(self, cases: "Sequence[ReconcileCase]", /) -> "MindAnswer[tuple[Verdict, ...]]":
        """Merge equivalent facts, supersede explicitly corrected ones, link close ones, and add all others."""
        from slowwave.minds.offline.decide import decide  # noqa: PLC0415 - see above
        from slowwave.model.mind import MindAnswer  # noqa: PLC0415 - see above

        verdicts = tuple(verdict for case in cases for verdict in decide(case, self._word_cosine))
        return MindAnswer(value=verdicts, prompt=PROMPT)

    def summarise(self, brief: "SummaryRequest", /) -> "MindAnswer[Summary]":
        """Select, never rewrite: a cluster keeps every name, number and date, a cascade the most informative clauses."""
        from slowwave.minds.offline.summarise import cascade, cluster  # noqa: PLC0415 - see above
        from slowwave.model.mind import MindAnswer, Summary  # noqa: PLC0415 - see above

        text = cluster(brief) if brief.style == "cluster" else cascade(brief)
        return MindAnswer(value=Summary(text=text), prompt=PROMPT)
