"""Ranks the hits of a question in another language than English by their spelling too."""

from typing import Final

from slowwave.model.query import Hit
from slowwave.pipelines.recall.asked import Asked
from slowwave.policy.text.languages import is_foreign

CANDIDATES: Final = 100
"""How many of the best hits by words and meaning are compared by their spelling."""


def spelled(asked: Asked, hits: list[Hit]) -> list[Hit]:
    """Raise the hits that have the trigrams of the words of a question in another language than English."""
    if not is_foreign(asked.query.text):
        return hits
    from slowwave.policy.ranking.spelling import with_spelling  # noqa: PLC0415 - most questions do without

    return with_spelling(asked.query.text, hits)
