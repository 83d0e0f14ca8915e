"""A sleep stage that brings topic pages up to date with what was said and changed since the last pass."""

from slowwave.pipelines.ingest.topic_pages import planned_pages
from slowwave.pipelines.sleep.stage import SleepContext, StagePlan


def topic_pages(context: SleepContext) -> StagePlan:
    """Add what is new to the pages, mark what has ended, and remove what was retracted. No mind is asked."""
    planned = planned_pages(context.ports, context.now, context.state, context.taken)
    if planned.left:  # what fades now would be missing from the pages that are not written yet
        context.kept_hot.update(memory.id for memory in context.due)
    groups = (planned.group,) if planned.group is not None else ()
    return StagePlan(groups=groups, left=planned.left, problems=planned.problems)
