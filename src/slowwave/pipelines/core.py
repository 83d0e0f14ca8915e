"""Core: the facts that matter most now, from a few index reads and a merge rather than a look at every fact."""

from collections.abc import Iterator
from datetime import datetime
from heapq import nsmallest

from slowwave.model.memory import FACT_KINDS, HOT, Memory
from slowwave.model.query import Where
from slowwave.policy.core import bonus, rank
from slowwave.policy.curves import Curve, strength_at
from slowwave.policy.retention import curve_of
from slowwave.ports import Ports

_Placed = tuple[float, float, float, str]  # in the order of `rank`: minus score, anchor and confidence; and the id


def core(ports: Ports, *, top_k: int, min_retrievals: int = 0) -> list[Memory]:
    """The best `top_k` of all hot facts by strength + 0.1 ln(1 + uses); exact, whatever is stored.

    Inside a lane, facts of one pace used equally often, strength falls with the anchor at every instant: each lane
    gives its first `top_k`, and lanes that cannot reach the best so far are not read. Where facts were planned with
    other numbers, or the policy's order changes with time, all hot facts are read and compared.
    """
    now = ports.now()
    found: list[Memory] = []
    for scope in ports.scopes:
        lanes = [lane for lane in _lanes(ports, scope) if lane[2] >= min_retrievals]
        if all(curve is not None for curve, _, _ in lanes):
            found += ports.store.get((scope,), _best(ports, scope, lanes, now, top_k))
        else:
            found += ports.store.select((scope,), Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT)))
    return rank(found, ports.config, now, top_k=top_k, min_retrievals=min_retrievals)


def _lanes(ports: Ports, scope: str) -> list[tuple[Curve | None, int, int]]:
    """Curve, pace and number of uses of every lane, the most used first; no curve where its order says nothing."""
    lanes = sorted(ports.store.lanes(scope), key=lambda lane: -lane[1])
    curves = {pace: None if pace is None else curve_of(pace, ports.config) for pace, _ in lanes}
    return [(curves[pace], pace or 0, uses) for pace, uses in lanes]


def _best(ports: Ports, scope: str, lanes: list[tuple[Curve | None, int, int]], now: datetime, top_k: int) -> list[str]:
    """The ids of the best of one scope."""

    def placed(curve: Curve, pace: int, uses: int) -> Iterator[_Placed]:
        for identity, anchor, confidence in ports.store.lane(scope, pace, uses, top_k):
            score = strength_at(curve, anchor, now) + bonus(uses)
            yield -score, -anchor.timestamp(), -confidence, identity

    best: list[_Placed] = []
    for curve, pace, uses in lanes if top_k > 0 else ():
        if len(best) == top_k and -best[-1][0] > 1.0 + bonus(uses):
            break
        if curve is not None:
            best = nsmallest(top_k, [*best, *placed(curve, pace, uses)])
    return [identity for _, _, _, identity in best]
