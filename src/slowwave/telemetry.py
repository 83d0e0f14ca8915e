"""Spans and counters exported to OpenTelemetry: a span for each call of a facade method. Never includes memory text.

Names follow the GenAI conventions for memory operations (status "development", November 2026). Where these have no name,
names begin with `slowwave.`. If OpenTelemetry is not loaded in the process, a call pays one look-up in `sys.modules`.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sized
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from slowwave.log import Log
from slowwave.model.operations import OPERATION_NAMES, Add, Change, MoveCursor
from slowwave.model.plan import FREE, Plan, Receipt
from slowwave.ports import Ports

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter as Count, Histogram
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

_LOADED: Final = "opentelemetry"
_NOWHERE: Final = nullcontext()
_calls: Final = Log("calls")
_store: Final = Log("store")


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
    due: "Histogram"

    @classmethod
    def of(cls, traces: Any, metrics: Any) -> "Instruments":  # noqa: ANN401 - the trace and metrics modules, or providers
        """The instruments of a tracer provider and a meter provider."""
        meter = metrics.get_meter("slowwave")
        return cls(
            tracer=traces.get_tracer("slowwave"),
            duration=meter.create_histogram("slowwave.operation.duration", "s", "Duration of a method call"),
            records=meter.create_counter("slowwave.records", "{record}", "Memories that a method returned or wrote"),
            changes=meter.create_counter("slowwave.changes", "{operation}", "Operations that were applied"),
            calls=meter.create_counter("slowwave.mind.calls", "{call}", "Model calls"),
            tokens=meter.create_counter("slowwave.mind.tokens", "{token}", "Tokens of model calls, input and output"),
            left=meter.create_counter("slowwave.left", "{item}", "Items that a sleep pass did not reach, by stage"),
            waiting=meter.create_counter("slowwave.waiting", "{fact}", "Facts that wait for a decision of a model"),
            due=meter.create_histogram("slowwave.scopes.due", "{scope}", "Scopes that were due at one query"),
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


def record_due_scopes(query: Callable[P, list[R]]) -> Callable[P, list[R]]:
    """Record how many due scopes each call of a query returns."""

    @wraps(query)
    def counted(*args: P.args, **options: P.kwargs) -> list[R]:
        scopes = query(*args, **options)
        if _LOADED in sys.modules:
            instruments().due.record(len(scopes))
        return scopes

    return counted
