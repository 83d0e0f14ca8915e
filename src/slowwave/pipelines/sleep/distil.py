"""Distil what automatic triggers left due, and what was released after review: it is read, never dropped."""

from dataclasses import replace

from slowwave.pipelines.chunks import CURSOR, begun, released
from slowwave.pipelines.distil import planned
from slowwave.pipelines.sleep.stage import Night, Staged


def distil(night: Night) -> Staged:
    """One chunk of each conversation that waits: when automatic distilling is on, and where a person released something.

    What was released is read even where nothing is read by itself: what stands around it was.
    """
    ports = night.ports
    passed_over = {message.conversation for message in released(ports)}
    automatic = ports.config.consolidate_every_turns is not None
    waiting = [
        found.name
        for found in (ports.store.conversations(ports.scope) if automatic or passed_over else ())
        if found.name in passed_over
        or (automatic and (found.last_seq - found.cursor(CURSOR) >= ports.config.min_messages or begun(found)))
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
            left=staged.left + (read.failed or (automatic and read.chunk.more)),
            problems=(*staged.problems, *read.result.problems),
            cost=staged.cost + read.result.cost,
        )
        if read.failed:
            return replace(staged, left=len(waiting))
    return staged
