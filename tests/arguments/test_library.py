"""Every public argument with values of every kind: the call succeeds or raises a SlowwaveError, and the store stays sound.

Deliberate exceptions are Python's own for a call that names no argument of the function (TypeError) or no method
(AttributeError), and those of functions, iterators and streams that the caller passes.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from tests.arguments.calls import Case, Place, attempt, cases, readable
from tests.arguments.odd_values import MAKERS, values

from slowwave import AsyncAgentMemory
from slowwave.errors import SlowwaveError

CASES = cases()
EXAMPLES = 4
"""Values for each argument of a function in the short run; the long one tries all of them."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.chdir(tmp_path)  # a relative path as a value names a file here
    made = Place(tmp_path)
    yield made
    assert made.store.doctor(deep=True) == []
    readable(made)
    made.store.close()


@pytest.mark.parametrize("function", CASES)
def test_every_argument_is_accepted_or_refused_with_an_error_of_the_library(place: Place, function: str) -> None:
    arguments = CASES[function]

    @settings(max_examples=min(EXAMPLES * len(arguments), 24), suppress_health_check=list(HealthCheck), database=None)
    @given(st.sampled_from(arguments), values)
    def tried(case: Case, value: Any) -> None:  # noqa: ANN401 - what is tried
        attempt(place, case, value)

    tried()


@pytest.mark.long
@pytest.mark.parametrize("function", CASES)
def test_every_argument_with_every_value(place: Place, function: str) -> None:
    for case in CASES[function]:
        for make in MAKERS.values():
            attempt(place, case, make())


@settings(max_examples=8, suppress_health_check=list(HealthCheck), database=None)
@given(values)
@example("a\ud800b")
@example(b"chat")
def test_async_methods_refuse_the_same_values(value: Any) -> None:  # noqa: ANN401 - what is tried
    async def calls() -> None:
        async with AsyncAgentMemory.open(":memory:", llm=None, embedder="none") as memory:
            await memory.add("Alice owns the deploy pipeline")
            for call in (memory.add, memory.get, memory.search, memory.record_retrieval, memory.add_messages):
                with contextlib.suppress(SlowwaveError):
                    await call(value)
            assert await memory.doctor(deep=True) == []

    asyncio.run(calls())
