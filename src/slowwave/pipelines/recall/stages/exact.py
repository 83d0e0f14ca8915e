"""Puts an outdated memory that has exactly the text of the question where it would be if it were current."""

from dataclasses import replace

from slowwave.model.codec import content_key
from slowwave.model.query import Hit
from slowwave.pipelines.recall.asked import Asked


def exact(asked: Asked, hits: list[Hit]) -> list[Hit]:
    """Take back the penalty of a deep search for outdated memories whose exact text is asked for."""
    if not asked.request.deep or not any("outdated" in hit.parts for hit in hits):
        return hits
    wording = content_key(asked.query.text)
    raised = [
        replace(
            hit,
            score=hit.score - hit.parts["outdated"],
            parts={name: part for name, part in hit.parts.items() if name != "outdated"},
        )
        if "outdated" in hit.parts and content_key(hit.memory.text) == wording
        else hit
        for hit in hits
    ]
    return sorted(raised, key=lambda hit: -hit.score)  # sorting is stable
