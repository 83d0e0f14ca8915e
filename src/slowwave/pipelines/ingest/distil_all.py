"""Distils every conversation with unread messages, as one run."""

from itertools import chain

from slowwave.model.counted import counted
from slowwave.model.plan import FREE
from slowwave.model.progress import FAILED_CURSOR, is_unreadable_by
from slowwave.pipelines.ingest.chunks import unreadable_messages
from slowwave.pipelines.ingest.distil import ConsolidationResult, Pace, consolidate
from slowwave.pipelines.planning import new_id
from slowwave.pipelines.work_time import WorkTime
from slowwave.ports import Ports, Progress


def consolidate_all(ports: Ports, *, force: bool = False, on_progress: Progress | None = None) -> ConsolidationResult:
    """Distil all conversations with unread messages, the one that was idle longest first; those that failed come last.

    They are the parts of one run. It passes over a conversation at which the mind fails. It stops if the mind does not
    answer about other words either, or when `Config.work_seconds` are over; what remains stays due.

    Args:
        ports: the store, the mind, the embedder and the settings.
        force: also read conversations with fewer than `Config.min_messages` unread messages.
        on_progress: called after each conversation with how many were visited, and of how many.
    """
    marked = unreadable_messages(ports)
    again = {one.conversation for one in marked if force or not is_unreadable_by(one.flags, ports.mind.name)}
    unread = ports.store.unread(ports.scope).keys() | again
    pace = Pace(others=True)
    found = [one for one in reversed(ports.store.conversations(ports.scope)) if one.name in unread]
    names = [one.name for one in sorted(found, key=lambda one: one.cursor(FAILED_CURSOR))]
    parent, time = new_id(ports.now()), WorkTime(ports.config.work_seconds)
    results: dict[str, ConsolidationResult] = {}
    left: dict[str, str] = {}
    for done, name in enumerate(names, 1):
        if time.is_over:
            left |= dict.fromkeys(names[done - 1 :], str(time))
            break
        results[name] = consolidate(ports, name, force=force, parent=parent, time=time, pace=pace)
        if on_progress is not None:
            on_progress(done, len(names))
        if (reason := results[name].skipped_reason) is not None:
            left[name] = reason
            if pace.answers is False:
                left |= dict.fromkeys(names[done:], reason)
                break
    return _total(results, left, parent)


def _total(results: dict[str, ConsolidationResult], left: dict[str, str], parent: str) -> ConsolidationResult:
    """The results of all conversations in one."""
    every = list(results.values())
    facts = {fact.id: fact for result in every for fact in result.facts}
    failed = next((result.skipped_reason for result in every if result.skipped_reason and not result.too_few), None)
    return ConsolidationResult(
        facts=tuple(facts.values()),
        skipped_reason=failed or _reason(len(every), len(left)),
        run_id=parent if any(result.run_id for result in every) else None,
        cost=sum((result.cost for result in every), FREE),
        rejected=tuple(chain.from_iterable(result.rejected for result in every)),
        waiting=sum(result.waiting for result in every),
        problems=tuple(chain.from_iterable(result.problems for result in every)),
        notes=tuple(chain.from_iterable(result.notes for result in every)),
        about={fact: notes for result in every for fact, notes in result.about.items()},
        receipts=tuple(chain.from_iterable(result.receipts for result in every)),
        conversations=tuple(name for name, result in results.items() if result.run_id),
        left=left,
        by_conversation=results,
    )


def _reason(visited: int, left: int) -> str | None:
    if not visited:
        return "no new messages"
    if not left:
        return None
    return counted(left, "conversation has too few messages", "conversations have too few messages")
