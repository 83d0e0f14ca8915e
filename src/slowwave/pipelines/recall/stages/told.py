"""Leaves out messages that say nothing new: small talk, and a question that was asked in the same words before."""

from typing import Final

from slowwave.model.codec import content_key
from slowwave.model.memory import MESSAGE
from slowwave.model.query import Hit
from slowwave.pipelines.recall.asked import Asked
from slowwave.policy.ranking.score import QUESTION
from slowwave.policy.text.features import is_small_talk

ONLY: Final = 0.9
"""The share of a text in questions from which it is only a question."""


def told(_: Asked, hits: list[Hit]) -> list[Hit]:
    """Leave out small talk, and messages or facts that repeat a better one in the same words."""
    seen: set[tuple[bool, str]] = set()
    kept = []
    for hit in hits:
        key = hit.memory.kind == MESSAGE, content_key(hit.text)
        if key in seen or (hit.memory.kind == MESSAGE and (_only_asks(hit) or is_small_talk(hit.text))):
            continue
        seen.add(key)
        kept.append(hit)
    return kept


def _only_asks(hit: Hit) -> bool:
    """Whether a message between people is a question and nothing else: it states nothing."""
    return hit.parts.get("question", 0.0) <= -ONLY * QUESTION
