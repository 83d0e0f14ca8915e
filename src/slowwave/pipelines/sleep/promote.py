"""Promote what is used often and well into core memory, and demote what no longer is."""

from slowwave.model.operation import Change
from slowwave.pipelines.making import chunked
from slowwave.pipelines.moves import moved
from slowwave.pipelines.sleep.stage import Night, Staged
from slowwave.policy.core import demotes, promotes


def promote(night: Night) -> Staged:
    """Due facts that have earned a place in core memory, or lost it."""
    config = night.ports.config
    changes = []
    for memory in night.open():
        core = memory.phase == "core"
        if because := demotes(memory, config) if core else promotes(memory, config):
            after = moved(memory, "demote" if core else "promote", config, night.now)
            changes.append(Change(before=memory, after=after, because=because))
    night.taken.update(change.before.id for change in changes)
    return Staged(groups=chunked(changes, f"{len(changes)} moved into core memory or out of it"))
