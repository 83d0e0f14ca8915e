"""What is told to OpenTelemetry: a span for each verb, and what it came to in counters. Never a word of a memory.

Names are those of the GenAI conventions for memory operations (status "development", November 2026); what they have no
name for begins with `slowwave.`. Without OpenTelemetry in the process, a verb pays one look into a table for it.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sized
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, TypeVar

from slowwave.model.operations import OPERATION_NAMES, Add, Change, MoveCursor
from slowwave.model.plan import FREE, Plan, Receipt

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


class Tools(NamedTuple):
    """What is measured with: one tracer and every instrument."""

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
    def of(cls, traces: Any, metrics: Any) -> "Tools":  # noqa: ANN401 - whatever gives a tracer, and a meter, by name
        """The instruments of these providers."""
        meter = metrics.get_meter("slowwave")
        return cls(
            tracer=traces.get_tracer("slowwave"),
            duration=meter.create_histogram("slowwave.operation.duration", "s", "How long a verb took"),
            records=meter.create_counter("slowwave.records", "{record}", "Memories that a verb found or wrote"),
            changes=meter.create_counter("slowwave.changes", "{operation}", "Operations that took effect"),
            calls=meter.create_counter("slowwave.mind.calls", "{call}", "Model calls"),
            tokens=meter.create_counter("slowwave.mind.tokens", "{token}", "Tokens of models, in and out"),
            left=meter.create_counter("slowwave.left", "{item}", "What nights left for another, by stage"),
            waiting=meter.create_counter("slowwave.waiting", "{fact}", "Facts that had to wait for a model"),
            due=meter.create_histogram("slowwave.scopes.due", "{scope}", "Scopes that were found due at a look"),
        )


@lru_cache(maxsize=1)
def instruments() -> Tools:
    """Those of this process, whichever provider it has set or will set."""
    from opentelemetry import metrics, trace  # noqa: PLC0415 - loaded by whoever measures

    return Tools.of(trace, metrics)


def traced(operation: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make each call of a verb a span with this `gen_ai.operation.name`.

    The verb's first argument is a handle, or the ports; a parameter `memory_id` names the record.
    """

    def decorate(verb: Callable[P, R]) -> Callable[P, R]:
        name, takes = verb.__name__, list(signature(verb).parameters)
        place = takes.index("memory_id") if "memory_id" in takes else None

        @wraps(verb)
        def measured(*args: P.args, **options: P.kwargs) -> R:
            if _LOADED not in sys.modules:
                return verb(*args, **options)
            known: dict[str, Any] = {OPERATION: operation, VERB: name}
            span = instruments().tracer.start_span(operation, attributes=known)
            if span.is_recording():
                ports: Any = getattr(args[0], "_ports", args[0])  # a closed handle has a name too
                span.set_attribute(STORE, ports.store.name)
                if place is not None:
                    span.set_attribute(RECORD, str([*args, options.get("memory_id")][place]))
            return _within(span, known, lambda: verb(*args, **options))

        return measured

    return decorate


def _within(span: "Span", known: dict[str, Any], call: Callable[[], R]) -> R:
    """The call inside the span: how long it took, what it came to, or the kind of its error, whose words may quote."""
    with_what, begun = instruments(), time.perf_counter()
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
            with_what.records.add(records, known)
        _nights(with_what, result)
        return result
    finally:
        with_what.duration.record(time.perf_counter() - begun, known)
        span.end()


def _current(span: "Span") -> AbstractContextManager["Span"]:
    """Inside, what others measure belongs to this span."""
    from opentelemetry.trace import use_span  # noqa: PLC0415 - loaded by whoever measures

    return use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False)


def _failed(span: "Span", kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - as above

    span.set_attribute(ERROR, kind)
    span.set_status(Status(StatusCode.ERROR))


def _records(result: object) -> int | None:
    """How many memories a verb found or wrote, by the shape of what it gave back."""
    if isinstance(result, Receipt):
        return len(result.ids) or sum(isinstance(one, Change) for one in result.applied)
    if isinstance(result, int):
        return result
    several = getattr(result, "destroyed", getattr(result, "facts", result))
    return len(several) if isinstance(several, Sized) else None


def _nights(with_what: Tools, result: object) -> None:
    for stage, number in getattr(result, "left", {}).items() if hasattr(result, "receipts") else ():
        with_what.left.add(number, {"slowwave.stage": stage})
    if waiting := getattr(result, "waiting", 0):
        with_what.waiting.add(waiting)


def record_apply(apply: Callable[[Any, Plan], Receipt]) -> Callable[[Any, Plan], Receipt]:
    """Count what a store's `apply` did, and what was paid for it: every change passes there once."""

    @wraps(apply)
    def told(store: Any, plan: Plan) -> Receipt:  # noqa: ANN401 - a store
        receipt = apply(store, plan)
        if _LOADED in sys.modules:
            _applied(plan, receipt)
        return receipt

    return told


def _applied(plan: Plan, receipt: Receipt) -> None:
    with_what = instruments()
    done: Counter[tuple[str, str, str]] = Counter()
    for one in receipt.applied:
        if isinstance(one, Add):
            done["add", one.memory.kind, one.memory.phase] += 1
        elif isinstance(one, Change):
            done["change", one.after.kind, one.after.reason or one.after.phase] += 1
        elif not isinstance(one, MoveCursor):
            done[OPERATION_NAMES[type(one)], "", ""] += 1
    for (change, kind, outcome), number in done.items():
        known = {"slowwave.change": change, "slowwave.kind": kind, "slowwave.outcome": outcome}
        with_what.changes.add(number, {name: value for name, value in known.items() if value})
    cost = plan.cost
    if cost != FREE and len(receipt.dropped) < len(plan.groups):  # else it is paid by a plan of its own
        with_what.calls.add(cost.calls)
        with_what.tokens.add(cost.tokens_in, {TOKEN_TYPE: "input"})
        with_what.tokens.add(cost.tokens_out, {TOKEN_TYPE: "output"})


def record_due_scopes(found: Callable[P, list[R]]) -> Callable[P, list[R]]:
    """Count how many scopes a look finds due."""

    @wraps(found)
    def told(*args: P.args, **options: P.kwargs) -> list[R]:
        scopes = found(*args, **options)
        if _LOADED in sys.modules:
            instruments().due.record(len(scopes))
        return scopes

    return told
