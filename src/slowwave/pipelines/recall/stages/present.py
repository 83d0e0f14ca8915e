"""Leaves out what a search of the present may not show: facts that have ended, and notes without words."""

from slowwave.model.memory import MESSAGE, NOTE
from slowwave.model.query import Hit
from slowwave.pipelines.recall.asked import Asked


def present(asked: Asked, hits: list[Hit]) -> list[Hit]:
    """Leave out notes without words and, unless the request asks for them, what has ended since the last sleep pass."""
    expired = asked.query.deep
    return [hit for hit in hits if hit.memory.kind == MESSAGE or _is_shown(asked, hit, expired=expired)]


def _is_shown(asked: Asked, hit: Hit, *, expired: bool) -> bool:
    memory, now = hit.memory, asked.query.now
    if memory.kind == NOTE and not memory.text.strip():
        return False
    if expired:
        return True
    if memory.kind == NOTE:
        return memory.expires_at is None or now <= memory.expires_at
    due = (memory.expires_at, memory.due_at)
    if memory.phase != "core" and all(at is None or at > now for at in due):
        return True  # the end of a fact is never before the instant at which a sleep pass looks at it
    from slowwave.policy.retention.policies import has_ended  # noqa: PLC0415 - few facts are due

    return not has_ended(memory, now)
