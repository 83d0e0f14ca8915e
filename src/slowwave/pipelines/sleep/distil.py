"""Distil what automatic triggers left due: buffered turns are read, never dropped."""

from dataclasses import replace

from slowwave.pipelines.chunks import CURSOR, begun
from slowwave.pipelines.distil import planned
from slowwave.pipelines.sleep.stage import Night, Staged


def distil(night: Night) -> Staged:
    """One chunk of each conversation that waits, when automatic distilling is on."""
    ports = night.ports
    if ports.config.consolidate_every_turns is None:
        return Staged()
    waiting = [
        found.name
        for found in ports.store.conversations(ports.scope)
        if found.last_seq - found.cursor(CURSOR) >= ports.config.min_messages or begun(found)
    ]
    if not night.think:
        return Staged(left=len(waiting))
    staged = Staged()
    for name in waiting:
        read = planned(ports, name)
        if read is None:
            continue
        staged = Staged(
            groups=(*staged.groups, *read.plan.groups),
            left=staged.left + (read.failed or read.chunk.more),
            problems=(*staged.problems, *read.result.problems),
            cost=staged.cost + read.result.cost,
        )
        if read.failed:
            return replace(staged, left=len(waiting))
    return staged
