"""Runs sleep passes for all scopes of a store that are due."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from slowwave.errors import NotFoundError, StoreError
from slowwave.model.pass_record import PassRecord
from slowwave.model.plan import Plan
from slowwave.pipelines.planning import new_id
from slowwave.pipelines.sleep.report import ELSEWHERE, SleepReport
from slowwave.pipelines.sleep.sleep_pass import SleepState, sleep
from slowwave.ports import Ports
from slowwave.telemetry import record_due_scopes, traced

SCOPES_AT_ONCE: Final = 1000
"""How many scopes one query for due scopes returns. Those with the oldest sleep pass come first."""


@record_due_scopes
def due_scopes(ports: Ports, limit: int = SCOPES_AT_ONCE) -> list[str]:
    """The scopes that are due for a sleep pass, those with the oldest sleep pass first."""
    return ports.store.scopes_due(ports.now(), limit)


@traced("upsert_memory")
def sleep_due_scope(ports: Ports, scope: str, *, think: bool = True) -> SleepReport | None:
    """Run one sleep pass for a scope, with the ports of another scope of the same store.

    Returns:
        None: the scope is not due any more, because another process slept it since the list was read.
    """
    if not ports.store.is_due(scope, ports.now()):
        return None
    own = replace(ports, scope=scope, scopes=(scope,))
    return sleep(own.start_run(), SleepState(), think=think)


def sleep_due(ports: Ports, *, think: bool = True, limit: int | None = None) -> Iterator[tuple[str, SleepReport]]:
    """Run one sleep pass for each scope that is due, one after the other; each report is yielded when its pass ends.

    Many machines may do so at once: the lease of a scope admits one of them, and the others continue with the next scope. If
    the store fails in a scope, its report contains the problem, and the round continues. A round sleeps a scope once, also
    if the pass left work that is due at once: the next round continues. A scope that another process sleeps is not yielded.

    Args:
        ports: the ports of any scope of the store.
        think: whether minds may be called.
        limit: how many scopes at most; None: all that are due.
    """
    begun: set[str] = set()
    while limit is None or len(begun) < limit:
        most = SCOPES_AT_ONCE if limit is None else min(SCOPES_AT_ONCE, limit - len(begun))
        found = [scope for scope in due_scopes(ports, most + len(begun)) if scope not in begun][:most]
        if not found:
            return
        begun.update(found)
        for scope in found:
            try:
                report = sleep_due_scope(ports, scope, think=think)
            except StoreError as error:
                now = ports.now()
                plan = Plan(id=new_id(now), scope=scope, cause="sleep", at=now)
                report = SleepReport(plan=plan, problems=(str(error),))
            if report is not None and ELSEWHERE not in report.left:
                yield scope, report


FAILING_MAX: Final = 10_000
"""How many failing scopes one call lists or retries."""


def failing_scopes(ports: Ports) -> dict[str, PassRecord]:
    """The scopes whose last sleep passes failed, those with the most failures in a row first; at most 10,000."""
    return dict(ports.store.failing_passes(1, FAILING_MAX))


def retry(ports: Ports, scope: str | None = None) -> list[str]:
    """Forget the failures of a scope, or of all failing ones, so that they are due at once. Returns which they were.

    Raises:
        NotFoundError: the store has no scope of this name.
    """
    if scope is not None and not [found for found in ports.store.scopes(scope, "", 1) if found.path == scope]:
        raise NotFoundError(f"{ports.store.name} has no scope {scope!r}: check the name")
    scopes = failing_scopes(ports) if scope is None else [scope]
    return [one for one in scopes if ports.store.retry_pass(one)]
