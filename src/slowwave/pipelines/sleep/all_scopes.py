"""Runs sleep passes for all scopes of a store that are due."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from slowwave.errors import StoreError
from slowwave.model.plan import Plan
from slowwave.pipelines.planning import new_id
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.pipelines.sleep.sleep_pass import SleepState, sleep
from slowwave.ports import Ports
from slowwave.telemetry import record_due_scopes, traced

SCOPES_MAX: Final = 1000
"""How many scopes one round sleeps; those that slept longest ago come first, and the next round does the rest."""


@record_due_scopes
def due_scopes(ports: Ports, limit: int = SCOPES_MAX) -> list[str]:
    """The scopes that are due for a sleep pass; those that slept longest ago come first."""
    return ports.store.scopes_due(ports.now(), limit)


@traced("upsert_memory")
def sleep_scope(ports: Ports, scope: str, *, think: bool = True) -> SleepReport:
    """Run one sleep pass for a scope, with the ports of another scope of the same store."""
    return sleep(replace(ports, scope=scope, scopes=(scope,)).start_run(), SleepState(), think=think)


def sleep_due(ports: Ports, *, think: bool = True, limit: int = SCOPES_MAX) -> Iterator[tuple[str, SleepReport]]:
    """Run one sleep pass for each scope that is due, one after the other; each report is yielded when its pass ends.

    Many machines may do so at once: the lease of a scope admits one of them, and the others go on to the next scope. If
    the store fails in a scope, its report contains the problem, and the round goes on.
    """
    for scope in due_scopes(ports, limit):
        try:
            report = sleep_scope(ports, scope, think=think)
        except StoreError as error:
            now = ports.now()
            plan = Plan(id=new_id(now), scope=scope, cause="sleep", at=now)
            report = SleepReport(plan=plan, problems=(str(error),))
        yield scope, report
