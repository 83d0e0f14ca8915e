"""Core: the facts that matter most now, from a few index reads and a merge rather than a look at every fact."""

from datetime import datetime
from itertools import groupby

from slowwave.model.memory import FACT_KINDS, HOT, Memory
from slowwave.model.query import Where
from slowwave.policy.core import bonus, rank
from slowwave.policy.curves import Curve, strength_at
from slowwave.policy.retention import curve_of
from slowwave.ports import Ports

_Placed = tuple[float, float, float, str]  # in the order of `rank`: minus score, anchor and confidence; and the id


def core(ports: Ports, *, top_k: int, min_retrievals: int = 0) -> list[Memory]:
    """The best `top_k` of all hot facts by strength + 0.1 ln(1 + uses); exact, whatever is stored.

    Inside a lane, facts of one pace used equally often, strength falls with the anchor at every instant: so the heads
    of the lanes tell which `top_k` lanes can hold the best, and only these are read. Where facts were planned with
    other numbers, or the policy's order changes with time, all hot facts are read and compared.
    """
    now = ports.now()
    found: list[Memory] = []
    for scope in ports.scopes:
        best = _best(ports, scope, now, top_k, min_retrievals)
        if best is None:
            found += ports.store.select((scope,), Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT)))
        else:
            found += ports.store.get((scope,), best)
    return rank(found, ports.config, now, top_k=top_k, min_retrievals=min_retrievals)


def _best(ports: Ports, scope: str, now: datetime, top_k: int, min_retrievals: int) -> list[str] | None:
    """The ids of the best of one scope; None if its lanes do not tell."""
    heads: list[tuple[float, int, int, Curve]] = []
    lanes = sorted(ports.store.lanes(scope), key=lambda lane: -lane.uses)
    curves = {pace: curve_of(pace, ports.config) for pace in {lane.pace for lane in lanes} if pace is not None}
    if None in curves.values() or any(lane.pace is None for lane in lanes):
        return None
    for uses, group in groupby(lanes, key=lambda lane: lane.uses):
        heads.sort(key=lambda head: head[0])
        if uses < min_retrievals or (len(heads) >= top_k > 0 and -heads[top_k - 1][0] > 1.0 + bonus(uses)):
            break  # so many heads are better than whatever was used this often, or less
        for pace, _, anchor in group:
            if (curve := curves.get(pace or 0)) is not None and anchor is not None:
                heads.append((-strength_at(curve, anchor, now) - bonus(uses), pace or 0, uses, curve))
    heads.sort(key=lambda head: head[0])
    best: list[_Placed] = []
    for score, pace, uses, curve in heads if top_k > 0 else ():
        if len(best) == top_k and score > best[-1][0]:
            break
        best += (
            (-strength_at(curve, anchor, now) - bonus(uses), -anchor.timestamp(), -confidence, identity)
            for identity, anchor, confidence in ports.store.lane(scope, pace, uses, top_k)
        )
        best = sorted(best)[:top_k]  # two runs in order already: one merge
    return [identity for _, _, _, identity in best]
