"""Sleeping every scope of a store that needs it: what a machine does at night for all of its tenants."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from slowwave.errors import StoreError
from slowwave.model.plan import Plan
from slowwave.pipelines.making import new_id
from slowwave.pipelines.sleep import Rest, SleepReport, sleep
from slowwave.ports import Ports

SCOPES_MAX: Final = 1000
"""How many scopes one round sleeps; the longest unslept come first, so that the next round does the rest."""


def sleep_due(ports: Ports, *, think: bool = True, limit: int = SCOPES_MAX) -> Iterator[tuple[str, SleepReport]]:
    """One night for each scope that is due, one after the other, as it is done.

    Many machines may do so at once: a scope's lease admits one of them, and the others go on to the next scope. A scope
    whose store fails is told as a problem, and the round goes on.
    """
    now = ports.now()
    for scope in ports.store.scopes_due(now, limit):
        own = replace(ports, scope=scope, scopes=(scope,)).begun()
        try:
            report = sleep(own, Rest(), think=think)
        except StoreError as error:
            plan = Plan(id=new_id(now), scope=scope, cause="sleep", at=now)
            report = SleepReport(plan=plan, problems=(str(error),))
        yield scope, report
