"""OpenTelemetry: names of the GenAI conventions, counts, and no memory text."""

import subprocess
import sys
import time
import timeit
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from slowwave import AgentMemory, telemetry
from slowwave.errors import NotFoundError
from slowwave.pipelines.sleep.all_scopes import due_scopes
from slowwave.telemetry import ERROR, OPERATION, RECORD, RECORDS, STORE, VERB, Instruments, traced

metrics = pytest.importorskip("opentelemetry.sdk.metrics", reason="no SDK here: pip install opentelemetry-sdk")

from opentelemetry.sdk.metrics.export import InMemoryMetricReader  # noqa: E402 - needs the import above
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider  # noqa: E402 - as above
from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: E402 - as above
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: E402 - as above

if TYPE_CHECKING:
    from tests.conftest import Talk, World

SECRET = "xylophone"
MOST_SECONDS = 5e-6
"""Seconds that a call may cost without OpenTelemetry."""


class Measured:
    """The exported spans and metrics."""

    def __init__(self, spans: InMemorySpanExporter, reader: InMemoryMetricReader) -> None:
        self._spans = spans
        self._reader = reader

    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())

    def verbs(self) -> list[str]:
        return [span.name for span in self.spans() if VERB in (span.attributes or {})]

    def children(self, verb: str) -> list[str]:
        """The names of the spans inside the last call of a method."""
        (parent,) = [span for span in self.spans() if (span.attributes or {}).get(VERB) == verb][-1:]
        known = {parent.context.span_id}
        found = []
        for span in sorted(self.spans(), key=lambda one: one.start_time or 0):
            if span.parent is not None and span.parent.span_id in known:
                known.add(span.context.span_id)
                found.append(span.name)
        return found

    def buckets(self, name: str, verb: str | None = None) -> dict[float, int]:
        """The number of values of a method in each bucket of a histogram, by its upper bound."""
        points = [
            point
            for resource in self._reader.get_metrics_data().resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
            if point.attributes.get(VERB) == verb
        ]
        counts: Counter[float] = Counter()
        for point in points:
            counts.update(dict(zip([*point.explicit_bounds, float("inf")], point.bucket_counts, strict=True)))
        return counts

    def data(self) -> str:
        """Everything that is exported: names, attributes, events and values."""
        exported = self._reader.get_metrics_data()
        return "".join(span.to_json() for span in self.spans()) + (exported.to_json() if exported else "")

    def span(self, verb: str) -> dict[str, Any]:
        (attributes,) = [
            dict(span.attributes or {}) for span in self.spans() if (span.attributes or {}).get(VERB) == verb
        ]
        return attributes

    def points(self, name: str) -> dict[tuple[tuple[str, Any], ...], Any]:
        data = self._reader.get_metrics_data()
        values = {}
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    if metric.name == name:
                        for point in metric.data.data_points:
                            key = tuple(sorted((point.attributes or {}).items()))
                            values[key] = getattr(point, "value", getattr(point, "count", None))
        return values


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[Measured]:
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    traces, meters = TracerProvider(), metrics.MeterProvider([reader])
    traces.add_span_processor(SimpleSpanProcessor(spans))
    instruments = Instruments.of(traces, meters)
    monkeypatch.setattr(telemetry, "instruments", lambda: instruments)
    yield Measured(spans, reader)
    traces.shutdown()
    meters.shutdown()


def test_each_method_call_is_a_span_with_the_name_of_its_operation(world: "World", measured: Measured) -> None:
    memory = world.open()
    receipt = memory.add("Alice owns the deploy pipeline")
    assert memory.search("who owns deploys?")
    memory.update(receipt.ids[0], "Alice owns the release pipeline")
    memory.delete(receipt.ids[0])
    assert measured.verbs() == [
        "upsert_memory", "search_memory", "update_memory", "delete_memory",
    ]  # fmt: skip
    assert measured.span("add") == {
        OPERATION: "upsert_memory", VERB: "add", STORE: str(world.path), RECORDS: 1,
    }  # fmt: skip
    assert measured.span("search")[RECORDS] == 1
    assert measured.span("delete")[RECORD] == receipt.ids[0]


def test_operations_are_counted_once(
    world: "World", measured: Measured, talk: "Talk", facts: tuple[object, ...]
) -> None:
    memory = world.open()
    world.mind.facts = facts
    memory.add_messages(talk(), conversation="c")
    memory.consolidate("c")
    hits = memory.search("who owns deploys?", top_k=3)
    memory.record_retrieval(hits[:1])
    changes = {
        (dict(key)["slowwave.change"], dict(key).get("slowwave.kind")): n
        for key, n in measured.points("slowwave.changes").items()
    }
    assert changes["add", "message"] == 8
    assert changes["add", "semantic"] == 4
    assert changes["use", None] >= 1
    assert sum(measured.points("slowwave.mind.calls").values()) == memory.status().cost.calls
    records = {dict(key)[VERB]: number for key, number in measured.points("slowwave.records").items()}
    assert records["add_messages"] == 8
    assert records["search"] == 3
    assert {dict(key)[VERB] for key in measured.points("slowwave.operation.duration")} == set(records)


def test_sleep_passes_record_due_scopes_and_spans(world: "World", measured: Measured) -> None:
    memory = world.open()
    world.mind.verdicts = RuntimeError("down")
    memory.add("Alice owns the deploy pipeline")
    with pytest.raises(RuntimeError):
        memory.add("Alice owns the deploy pipelines and the releases")
    due_scopes(memory.ports)
    assert measured.points("slowwave.scopes.due") == {(): 1}
    memory.sleep_due(think=False)
    assert measured.points("slowwave.scopes.due") == {(): 0}
    assert measured.span("sleep_due_scope")[OPERATION] == "upsert_memory"


def test_spans_and_metrics_contain_no_memory_text_and_no_question(world: "World", measured: Measured) -> None:
    memory = world.open()
    memory.add(f"Alice owns the {SECRET}", subject=SECRET, metadata={SECRET: SECRET})
    memory.search(SECRET)
    memory.context(SECRET)
    memory.erase(text=SECRET)
    with pytest.raises(NotFoundError):
        memory.consolidate(SECRET)
    failed = measured.span("consolidate")
    assert failed[ERROR] == "NotFoundError"
    everything = measured.data()
    assert "search_memory" in everything
    assert "slowwave.index.build" in everything
    assert "slowwave.records" in everything
    assert SECRET not in everything


def test_a_search_and_a_night_have_child_spans(world: "World", measured: Measured) -> None:
    memory = world.open()
    memory.add_messages({"role": "user", "content": "Alice owns the deploy pipeline"}, "c")
    memory.search("who owns deploys?")
    assert set(measured.children("search")) == {"slowwave.embed", "slowwave.index.build"}
    memory.search("who owns the pipeline?")
    assert measured.children("search") == ["slowwave.embed"], "the index is in RAM now"


def test_a_search_on_a_server_shows_its_round_trips(own: str, measured: Measured) -> None:
    with AgentMemory.open(own, llm=None) as memory:
        memory.add("Alice owns the deploy pipeline")
        memory.search("who owns deploys?")
        assert "slowwave.store.round_trip" in measured.children("search")


def test_durations_of_milliseconds_fall_into_different_buckets(measured: Measured) -> None:
    histogram = telemetry.instruments().duration
    for seconds in (0.0008, 0.004, 0.15, 0.4):
        histogram.record(seconds)
    counts = measured.buckets("slowwave.operation.duration")
    assert {bound: number for bound, number in counts.items() if number} == {0.001: 1, 0.005: 1, 0.2: 1, 0.5: 1}


def test_figures_of_the_indexes_and_connections_of_open_stores_are_gauges(own: str, measured: Measured) -> None:
    with AgentMemory.open(own, llm=None) as memory:
        memory.add("Alice owns the deploy pipeline")
        memory.search("who owns deploys?")
        assert measured.points("slowwave.index.scopes")[()] >= 1
        assert measured.points("slowwave.index.bytes")[()] > 0
        assert measured.points("slowwave.connections.max")[()] >= 16


def test_without_opentelemetry_a_call_costs_under_five_microseconds_and_imports_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def verb(_: object) -> int:
        return 1

    for name in [name for name in sys.modules if name.split(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    wrapped, times = traced("search_memory")(verb), 20_000
    paid = min(timeit.repeat(lambda: wrapped(None), timer=time.process_time, number=times, repeat=5)) / times
    print(f"{paid * 1e6:.2f} µs where OpenTelemetry is not loaded")  # noqa: T201 - the figure of this test
    assert paid < MOST_SECONDS
    program = "import sys, slowwave\nwith slowwave.AgentMemory.open(':memory:', embedder='none') as m: m.add('x y z')\nassert 'opentelemetry' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
