"""Distil what automatic triggers left due: buffered turns are read, never dropped."""

from slowwave.pipelines.distil import CURSOR, planned
from slowwave.pipelines.sleep.stage import Night, Staged


def distil(night: Night) -> Staged:
    """One chunk of each conversation that waits, when automatic distilling is on."""
    ports = night.ports
    if ports.config.consolidate_every_turns is None:
        return Staged()
    waiting = [
        found.name
        for found in ports.store.conversations(ports.scope)
        if found.last_seq - found.cursor(CURSOR) >= ports.config.min_messages
    ]
    if not night.think:
        return Staged(left=len(waiting))
    staged = Staged()
    for name in waiting:
        chunk = planned(ports, name)
        if chunk is None:
            continue
        if chunk.plan is None:
            return Staged(groups=staged.groups, left=len(waiting), problems=chunk.result.problems, cost=staged.cost)
        found = ports.store.conversation(ports.scope, name)
        more = found is not None and found.last_seq > chunk.span[1]
        staged = Staged(
            groups=(*staged.groups, *chunk.plan.groups),
            left=staged.left + more,
            problems=(*staged.problems, *chunk.result.problems),
            cost=staged.cost + chunk.result.cost,
        )
    return staged
