"""Leaves out hits that share neither a word nor a near meaning with the question."""

from slowwave.model.query import Hit
from slowwave.pipelines.recall.asked import Asked
from slowwave.policy.ranking.score import MEANING


def related(asked: Asked, hits: list[Hit]) -> list[Hit]:
    """Leave out what has no word of the question, in itself or in the messages around it, and is not near in meaning."""
    return [hit for hit in hits if is_related(asked, hit)]


def is_related(asked: Asked, hit: Hit) -> bool:
    """Whether a hit shares a word with the question, or is as near it as related texts are.

    The name of its speaker or subject is a word of it; so is "I" in a question of the user, for what the user said.

    Nothing is related to small talk, whose hits have the relevance 0.
    """
    parts, memory = hit.parts, hit.memory
    if not hit.relevance:
        return False
    if parts.get("words", 0.0) > 0.0 or parts.get("spelling", 0.0) > 0.0 or parts.get("asked", 0.0) > 0.0:
        return True
    if parts.get("user", 0.0) > 0.0 or parts.get("meaning", 0.0) >= MEANING * asked.query.related:
        return True
    name = memory.speaker or memory.subject
    return name is not None and not asked.words.isdisjoint(name.lower().split())
