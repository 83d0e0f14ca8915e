"""Starts automatic distilling after a message is stored."""

from datetime import timedelta
from itertools import pairwise

from slowwave.model.memory import MESSAGE
from slowwave.model.plan import Receipt
from slowwave.model.query import Where
from slowwave.pipelines.planning import with_notes
from slowwave.ports import Ports

TURNS_LOOKED_AT = 2000
"""Messages that are read to count turns; if there are more, distilling is due anyway."""


def run_triggers(ports: Ports, receipt: Receipt, conversation: str) -> Receipt:
    """Distil if enough turns are complete and the cool-down is over; the receipt contains the problems."""
    every = ports.config.consolidate_every_turns
    if every is None or not receipt.applied:
        return receipt
    if _complete_turns(ports, conversation) < every or _cooling(ports):
        return receipt
    from slowwave.pipelines.ingest.distil import consolidate  # noqa: PLC0415 - most messages start nothing

    result = consolidate(ports, conversation)
    notes = [f"distilled {len(result.facts)} facts"] if result.facts else []
    return with_notes(receipt, notes=notes, problems=result.problems, waiting=result.waiting)


def _complete_turns(ports: Ports, conversation: str) -> int:
    """How many user messages that are not distilled yet have an answer."""
    from slowwave.pipelines.ingest.chunks import CURSOR  # noqa: PLC0415 - most messages start nothing

    found = ports.store.conversation(ports.scope, conversation)
    where = Where(
        kinds=frozenset({MESSAGE}),
        conversation=conversation,
        after_seq=found.cursor(CURSOR) if found else 0,
        order="seq",
        limit=TURNS_LOOKED_AT,
    )
    roles = [memory.role for memory in ports.store.select((ports.scope,), where)]
    return sum(role == "user" and next_role != "user" for role, next_role in pairwise(roles))


def _cooling(ports: Ports) -> bool:
    seconds = ports.config.extraction_cooldown_seconds
    if seconds is None:
        return False
    last = ports.store.runs(ports.scope, 1, "consolidate")
    # A run in the future was stored while the clock was wrong: it does not count.
    return bool(last) and timedelta(0) <= ports.now() - last[0].at < timedelta(seconds=seconds)
