"""Expire: what has outlived its category's time goes cold, with the reason."""

from slowwave.model.operation import Change
from slowwave.pipelines.making import chunked
from slowwave.pipelines.moves import moved
from slowwave.pipelines.sleep.stage import Night, Staged
from slowwave.policy.retention import expired, expiry


def expire(night: Night) -> Staged:
    """Facts strictly past their time to live, unless something protects them."""
    changes = []
    for memory in night.open():
        if not expired(memory, night.ports.config, night.now):
            continue
        after = moved(memory, "expire", night.ports.config)
        until = expiry(memory, night.ports.config)
        because = f"{memory.category}: kept until {until:%d %b %Y}"
        changes.append(Change(before=memory, after=after, because=because, unless_used=True))
    night.taken.update(change.before.id for change in changes)
    return Staged(groups=chunked(changes, "past their time"))
