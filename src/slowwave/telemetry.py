"""Spans and counters exported to OpenTelemetry: a span for each call of a facade method. Never includes memory text.

Names follow the GenAI conventions for memory operations (status "development", November 2026). Where these have no name,
names begin with `slowwave.`. If OpenTelemetry is not loaded in the process, a call pays one look-up in `sys.modules`.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sized
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, Final, NamedTuple, ParamSpec, Protocol, TypeVar, cast
from weakref import WeakSet

from slowwave.log import Log
from slowwave.model.operations import OPERATION_NAMES, Add, Change, MoveCursor
from slowwave.model.pass_record import TRIES
from slowwave.model.plan import FREE, Plan, Receipt
from slowwave.ports import Ports

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter as Count, Histogram, Observation, _Gauge as Gauge
    from opentelemetry.trace import Span, Tracer

P = ParamSpec("P")
R = TypeVar("R")

OPERATION: Final = "gen_ai.operation.name"
STORE: Final = "gen_ai.memory.store.id"
RECORD: Final = "gen_ai.memory.record.id"
RECORDS: Final = "gen_ai.memory.record.count"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 - of a model's tokens
ERROR: Final = "error.type"
VERB: Final = "slowwave.verb"

DEAD_MAX: Final = 10_000
"""Dead letters that are counted."""
_LOADED: Final = "opentelemetry"
_NOWHERE: Final = nullcontext()
_calls: Final = Log("calls")
_store: Final = Log("store")


BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the buckets of durations in seconds. The SDK's own begin at 5 s, so that no percentile is usable."""
GAUGES: Final = {
    "connections.in_use": ("{connection}", "Connections of this process that are in use"),
    "connections.waiting": ("{thread}", "Threads of this process that wait for a connection"),
    "connections.max": ("{connection}", "The greatest number of connections of this process"),
    "index.scopes": ("{scope}", "Scopes whose search index is in RAM"),
    "index.bytes": ("By", "Bytes of the search indexes in RAM"),
    "index.max_bytes": ("By", "The limit of the bytes of the search indexes in RAM"),
    "index.builds": ("{index}", "Search indexes that were built from rows since the start"),
    "index.loads": ("{index}", "Stored search indexes that were read since the start"),
    "index.evictions": ("{index}", "Search indexes that left the RAM for others since the start"),
}
"""The names of `Store.gauges` that are exported, with their units and descriptions."""


class HasGauges(Protocol):
    """An open store."""

    def gauges(self) -> Mapping[str, float]:
        """What it holds in this process now, by name."""
        ...


_watched: "WeakSet[HasGauges]" = WeakSet()


def watch(store: HasGauges) -> None:
    """Export the gauges of an open store, summed over the stores of this process."""
    _watched.add(store)


def _observed(name: str, _: object) -> "Iterator[Observation]":
    from opentelemetry.metrics import Observation  # noqa: PLC0415 - as in `instruments`

    found = [gauges[name] for gauges in (store.gauges() for store in list(_watched)) if name in gauges]
    if found:
        yield Observation(sum(found))


class Instruments(NamedTuple):
    """One tracer and every instrument."""

    tracer: "Tracer"
    duration: "Histogram"
    records: "Count"
    changes: "Count"
    calls: "Count"
    tokens: "Count"
    left: "Count"
    waiting: "Count"
    due: "Gauge"
    oldest_due: "Gauge"
    dead: "Gauge"
    workers: "Gauge"
    unproved: "Gauge"

    @classmethod
    def of(cls, traces: Any, metrics: Any) -> "Instruments":  # noqa: ANN401 - the trace and metrics modules, or providers
        """The instruments of a tracer provider and a meter provider."""
        meter = metrics.get_meter("slowwave")
        for name, (unit, about) in GAUGES.items():
            meter.create_observable_gauge(f"slowwave.{name}", [partial(_observed, name)], unit, about)
        return cls(
            tracer=traces.get_tracer("slowwave"),
            duration=meter.create_histogram(
                "slowwave.operation.duration",
                "s",
                "Duration of a method call",
                explicit_bucket_boundaries_advisory=BUCKETS,
            ),
            records=meter.create_counter("slowwave.records", "{record}", "Memories that a method returned or wrote"),
            changes=meter.create_counter("slowwave.changes", "{operation}", "Operations that were applied"),
            calls=meter.create_counter("slowwave.mind.calls", "{call}", "Model calls"),
            tokens=meter.create_counter("slowwave.mind.tokens", "{token}", "Tokens of model calls, input and output"),
            left=meter.create_counter("slowwave.left", "{item}", "Items that a sleep pass did not reach, by stage"),
            waiting=meter.create_counter("slowwave.waiting", "{fact}", "Facts that wait for a decision of a model"),
            due=meter.create_gauge("slowwave.scopes.due", "{scope}", "Scopes that are due for a sleep pass"),
            oldest_due=meter.create_gauge("slowwave.due.oldest_seconds", "s", "For how long the oldest has been due"),
            workers=meter.create_gauge("slowwave.workers", "{worker}", "Workers that run"),
            dead=meter.create_gauge(
                "slowwave.scopes.dead", "{scope}", "Scopes whose sleep passes fail again and again"
            ),
            unproved=meter.create_gauge("slowwave.proofs.pending", "{erase}", "Erases not proved in the whole store"),
        )


@lru_cache(maxsize=1)
def instruments() -> Instruments:
    """The instruments of the providers of this process, also of those it sets later."""
    from opentelemetry import metrics, trace  # noqa: PLC0415 - only if the program has loaded OpenTelemetry

    return Instruments.of(trace, metrics)


class HasPorts(Protocol):
    """An open memory, or the ports themselves."""

    @property
    def ports(self) -> Ports:
        """The ports it works with."""
        ...


def traced(operation: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make each call of a function a span with this `gen_ai.operation.name`.

    The first argument of the function has `ports`. A parameter `memory_id` becomes the record id of the span.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name, parameters = function.__name__, list(signature(function).parameters)
        position = parameters.index("memory_id") if "memory_id" in parameters else None

        def timed(*args: P.args, **options: P.kwargs) -> R:
            started, outcome = time.perf_counter(), "failed"
            try:
                result = measured(*args, **options)
                records = _records(result)
                outcome = "done" if records is None else f"{records} memories"
                return result
            finally:
                _calls.debug("%s: %s in %.2f ms", name, outcome, 1_000 * (time.perf_counter() - started))

        @wraps(function)
        def called(*args: P.args, **options: P.kwargs) -> R:
            return (timed if _calls.debugs else measured)(*args, **options)

        def measured(*args: P.args, **options: P.kwargs) -> R:
            if _LOADED not in sys.modules:
                return function(*args, **options)
            attributes: dict[str, Any] = {OPERATION: operation, VERB: name}
            span = instruments().tracer.start_span(operation, attributes=attributes)

            def call() -> R:
                if span.is_recording():
                    if position is not None:
                        span.set_attribute(RECORD, str([*args, options.get("memory_id")][position]))
                    span.set_attribute(STORE, cast("HasPorts", args[0]).ports.store.name)
                return function(*args, **options)

            return _record(span, attributes, call)

        return called

    return decorate


def _record(span: "Span", known: dict[str, Any], call: Callable[[], R]) -> R:
    """Call within the span. Records duration and counts, or the class of the error: its message may quote a memory."""
    meters, started = instruments(), time.perf_counter()
    try:
        with _current(span) if span.get_span_context().is_valid else _NOWHERE:
            result = call()
    except BaseException as error:
        known[ERROR] = type(error).__name__
        _failed(span, known[ERROR])
        raise
    else:
        if (records := _records(result)) is not None:
            span.set_attribute(RECORDS, records)
            meters.records.add(records, known)
        _record_sleep(meters, result)
        return result
    finally:
        meters.duration.record(time.perf_counter() - started, known)
        span.end()


def _current(span: "Span") -> AbstractContextManager["Span"]:
    """A context in which the spans of other libraries become children of this span."""
    from opentelemetry.trace import use_span  # noqa: PLC0415 - as in `instruments`

    return use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False)


def _failed(span: "Span", kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - as in `instruments`

    span.set_attribute(ERROR, kind)
    span.set_status(Status(StatusCode.ERROR))


def _records(result: object) -> int | None:
    """How many memories a method returned or wrote, by the type of its result."""
    if isinstance(result, Receipt):
        return len(result.ids) or sum(isinstance(operation, Change) for operation in result.applied)
    if isinstance(result, int):
        return result
    several = getattr(result, "destroyed", getattr(result, "facts", result))
    return len(several) if isinstance(several, Sized) else None


def _record_sleep(meters: Instruments, result: object) -> None:
    for stage, number in getattr(result, "left", {}).items() if hasattr(result, "receipts") else ():
        meters.left.add(number, {"slowwave.stage": stage})
    if waiting := getattr(result, "waiting", 0):
        meters.waiting.add(waiting)


def record_apply(apply: Callable[[Any, Plan], Receipt]) -> Callable[[Any, Plan], Receipt]:
    """Count the operations and the model costs of each call of `Store.apply`, through which every change passes once."""

    @wraps(apply)
    def counted(store: Any, plan: Plan) -> Receipt:  # noqa: ANN401 - a store
        receipt = apply(store, plan)
        if _LOADED in sys.modules:
            _record_operations(plan, receipt)
        if "logging" in sys.modules and receipt.applied:
            counts = Counter(OPERATION_NAMES[type(operation)] for operation in receipt.applied)
            shown = ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
            _store.info("run %s (%s) applied: %s; %d dropped", plan.id, plan.cause, shown, len(receipt.dropped))
        return receipt

    return counted


def _record_operations(plan: Plan, receipt: Receipt) -> None:
    meters = instruments()
    counts: Counter[tuple[str, str, str]] = Counter()
    for operation in receipt.applied:
        if isinstance(operation, Add):
            counts["add", operation.memory.kind, operation.memory.phase] += 1
        elif isinstance(operation, Change):
            counts["change", operation.after.kind, operation.after.reason or operation.after.phase] += 1
        elif not isinstance(operation, MoveCursor):
            counts[OPERATION_NAMES[type(operation)], "", ""] += 1
    for (change, kind, outcome), number in counts.items():
        attributes = {"slowwave.change": change, "slowwave.kind": kind, "slowwave.outcome": outcome}
        meters.changes.add(number, {name: value for name, value in attributes.items() if value})
    cost = plan.cost
    if cost != FREE and len(receipt.dropped) < len(plan.groups):  # else the caller records the cost in a separate plan
        meters.calls.add(cost.calls)
        meters.tokens.add(cost.tokens_in, {TOKEN_TYPE: "input"})
        meters.tokens.add(cost.tokens_out, {TOKEN_TYPE: "output"})


def child(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make each call of a function a child span of the method call that it is a part of. Outside of one it is no span."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **options: P.kwargs) -> R:
            if _LOADED not in sys.modules or not _in_recorded_span():
                return function(*args, **options)
            span = instruments().tracer.start_span(name)
            try:
                with _current(span):
                    return function(*args, **options)
            except BaseException as error:
                _failed(span, type(error).__name__)
                raise
            finally:
                span.end()

        return called

    return decorate


def _in_recorded_span() -> bool:
    from opentelemetry.trace import get_current_span  # noqa: PLC0415 - as in `instruments`

    return get_current_span().is_recording()


def record_due_scopes(query: Callable[Concatenate[Ports, P], list[R]]) -> Callable[Concatenate[Ports, P], list[R]]:
    """At each call of a query for due scopes, record how many there are, and what else waits in the store."""

    @wraps(query)
    def counted(ports: Ports, /, *args: P.args, **options: P.kwargs) -> list[R]:
        scopes = query(ports, *args, **options)
        if _LOADED in sys.modules:
            _record_backlog(ports)
        return scopes

    return counted


def _record_backlog(ports: Ports) -> None:
    meters, store, now = instruments(), ports.store, ports.now()
    backlog = store.backlog(now)
    meters.due.set(backlog.due)
    meters.oldest_due.set(0.0 if backlog.oldest is None else max(0.0, (now - backlog.oldest).total_seconds()))
    meters.dead.set(sum(record.dead for _, record in store.failing_passes(TRIES, DEAD_MAX)))
    meters.workers.set(len(store.running_workers()))
    meters.unproved.set(len(store.pending_proofs()))
