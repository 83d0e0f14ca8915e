"""Plots of a scope: how facts fade, how their number grew, and what the sleep passes changed."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from slowwave.errors import InputError, shown
from slowwave.model.memory import FACT_KINDS, HOT, MESSAGE, Memory
from slowwave.model.operations import Add, Change, Erase, Link, Operation, Use
from slowwave.model.query import Where
from slowwave.model.zone import local
from slowwave.policy.charts import Picture, Series
from slowwave.policy.retention.categories import later
from slowwave.policy.retention.core import rank
from slowwave.policy.retention.policies import strength
from slowwave.ports import Ports

CURVES: Final = 6
"""How many facts are drawn: those that were used, then the others, each in core memory's ranking."""
POINTS: Final = 120
AHEAD: Final = 0.35
"""The share of the width that shows the future, in which no fact is used."""
RUNS: Final = 5000
"""The latest runs that are read for growth."""
PASSES: Final = 60
LAST: Final = datetime.max.replace(tzinfo=UTC)
_DAY: Final = 86400.0
_TICKS: Final = 5


def plot(ports: Ports, kind: str, memory: Memory | None = None) -> Picture:
    """The picture of a kind: `forgetting`, `growth` or `sleep`. With a memory, only its own curve is drawn.

    Raises:
        InputError: for any other kind, or if a kind other than `forgetting` is asked for with a memory.
    """
    if kind not in KINDS:
        raise InputError(f"unknown plot {shown(kind)}: use {', '.join(KINDS)}")
    if memory is None:
        return KINDS[kind](ports)
    if kind != "forgetting":
        raise InputError(f"the plot {kind!r} is about the whole scope: use 'forgetting' to draw one memory")
    return _forgetting(ports, (memory,), "How it fades, and how use keeps it")


def forgetting(ports: Ports) -> Picture:
    """The strengths of the top facts from when they were recorded, their uses as dots, and their future course without use."""
    where = Where(kinds=frozenset(FACT_KINDS), phases=frozenset(HOT))
    now, config = ports.now(), ports.config
    facts = ports.store.select((ports.scope,), where)
    ranked = rank(facts, config, now, top_k=len(facts))
    top = sorted(ranked, key=lambda memory: not memory.accesses)[:CURVES]
    return _forgetting(ports, top, "How facts fade, and how use keeps them")


def _forgetting(ports: Ports, top: Sequence[Memory], title: str) -> Picture:
    """The strengths of these memories over time."""
    now, config = ports.now(), ports.config
    first = min((memory.recorded_at for memory in top), default=now)
    past = max(_days(first, now), 1.0)
    last = past / (1 - AHEAD)
    series = tuple(_curve(ports, memory, first, last) for memory in top)
    return Picture(
        title=title,
        across="each dot is a use; right of now: without further use",
        up="strength",
        series=series,
        ticks=_ticks(local(first, ports.zone), last),
        lines=(
            (config.consolidation_retention_threshold, "compressed below"),
            (config.forgetting_threshold, "cold below"),
        ),
        now=past,
        top=1.0,
    )


def _curve(ports: Ports, memory: Memory, first: datetime, last: float) -> Series:
    """The strength of a fact over time, computed at each instant from the version that was current then."""
    versions: list[tuple[datetime, Memory]] = []
    uses: list[tuple[float, float]] = []
    for event in ports.store.history(memory.scope, memory.id):
        match event.operation:
            case Add(memory=after) | Change(after=after):
                versions.append((event.at, after))
            case Use(used_version=seen, after=after):
                versions.append((event.at, after))
                if after.accesses > seen.accesses:
                    uses.append((max(0.0, _days(first, event.at)), strength(after, ports.config, event.at)))
    versions = versions or [(memory.recorded_at, memory)]
    places = sorted({n * last / POINTS for n in range(POINTS + 1)} | {x for x, _ in uses})
    points: list[tuple[float, float]] = []
    for place in places:
        at = _at(first, place)
        earlier = [version for since, version in versions if since <= at]
        if earlier:
            points.append((place, strength(earlier[-1], ports.config, at)))
    return Series(name=memory.text, points=tuple(points), dots=tuple(uses), memory=memory.id)


def growth(ports: Ports) -> Picture:
    """The numbers of messages and of hot, cold, superseded and retracted facts after each run."""
    runs = ports.store.runs(ports.scope, RUNS)
    now = ports.now()
    first = runs[-1].at if runs else now
    totals: Counter[str] = Counter()
    counted = ports.store.count(ports.scope)
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in _STATES}
    for (kind, phase), number in counted.items():
        totals[_state(kind, phase)] += number
    for name in _STATES:  # backwards from today, so that runs before those that are read are not needed
        lines[name].append((_days(first, now), float(totals[name])))
    for run in runs:
        at = max(0.0, _days(first, run.at))
        for name in _STATES:
            lines[name].append((at, float(totals[name])))
        for operation in run.plan.operations:
            _undo(totals, operation)
    for name in _STATES:
        lines[name].append((0.0, float(totals[name])))
    last = max(_days(first, now), 1.0)
    return Picture(
        title="How the memory grew",
        across="the journal's latest runs" if len(runs) == RUNS else "since the first run",
        up="facts",
        series=tuple(
            Series(name=name, points=tuple(reversed(lines[name]))) for name in _STATES if any(y for _, y in lines[name])
        ),
        ticks=_ticks(local(first, ports.zone), last),
    )


_STATES: Final = ("hot", "cold", "superseded or retracted", "under review")


def _state(kind: str, phase: str) -> str:
    if kind in {MESSAGE, "cascade"}:
        return ""
    named = {"quarantined": "under review", "cold": "cold", "superseded": _STATES[2], "retracted": _STATES[2]}
    return named.get(phase, "hot")


def _undo(totals: Counter[str], operation: Operation) -> None:
    match operation:
        case Add(memory=memory):
            totals[_of(memory)] -= 1
        case Change(before=before, after=after):
            totals[_of(after)] -= 1
            totals[_of(before)] += 1
        case _:
            return


def _of(memory: Memory) -> str:
    return _state("cascade" if memory.is_cascade else memory.kind, memory.phase)


def passes(ports: Ports) -> Picture:
    """How many memories each of the latest sleep passes changed or linked, by stage."""
    slept = [run for run in ports.store.runs(ports.scope, PASSES * 10, "sleep") if run.parent is not None]
    first = slept[-1].at if slept else ports.now()
    done: dict[str, Counter[float]] = {}
    for run in slept:
        touched = sum(_alters(operation) for operation in run.plan.operations)
        touched = touched or sum(isinstance(operation, Link) for operation in run.plan.operations)
        if touched:
            done.setdefault(run.cause.partition("/")[2], Counter())[round(max(0.0, _days(first, run.at)), 3)] += touched
    last = max(_days(first, slept[0].at), 1.0) if slept else 1.0
    return Picture(
        title="What the sleep passes did",
        across="date",
        up="memories changed or linked",
        series=tuple(
            Series(name=name, points=tuple(sorted((x, float(y)) for x, y in days.items())))
            for name, days in sorted(done.items())
        ),
        ticks=_ticks(local(first, ports.zone), last),
        bars=True,
    )


def _alters(operation: Operation) -> bool:
    """Whether an operation adds, changes or erases a memory, other than by moving its due date."""
    return isinstance(operation, (Add, Erase)) or (isinstance(operation, Change) and not operation.only_reschedules)


KINDS: Final[dict[str, Callable[[Ports], Picture]]] = {"forgetting": forgetting, "growth": growth, "sleep": passes}


def _days(first: datetime, at: datetime) -> float:
    return (at - first).total_seconds() / _DAY


def _at(first: datetime, days: float) -> datetime:
    """The time so many days later; the last instant there is, for any time after it."""
    return later(first, days) or LAST


def _ticks(first: datetime, last: float) -> tuple[tuple[float, str], ...]:
    shape = " %b %Y" if last > 300 else " %b" if last > 3 else " %b %H:%M"  # noqa: PLR2004 - days
    marks = ((n * last / (_TICKS - 1) * 0.94) for n in range(_TICKS))
    days = ((place, _at(first, place)) for place in marks)
    return tuple((place, f"{day.day}{day:{shape}}") for place, day in days)
