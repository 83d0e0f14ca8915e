"""A warm context for a question enters few functions: what answers must be traceable."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from slowwave import Message

if TYPE_CHECKING:
    from tests.conftest import World

MOST_OF_A_CONTEXT = 5000
MOST_OF_A_SEARCH = 2000
PLACES = ("harbour", "market", "library", "garden", "bakery", "workshop", "station")


def _calls(run: Callable[[], object]) -> int:
    """How many functions of the package a call enters."""
    found = 0

    def count(frame: Any, event: str, _: object) -> None:  # noqa: ANN401 - a frame
        nonlocal found
        found += event == "call" and "/slowwave/" in frame.f_code.co_filename

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


def test_a_warm_search_and_a_warm_context_make_few_calls(world: "World") -> None:
    memory = world.open(llm=None)
    for n in range(200):
        text = f"On day {n} I met Paula at the {PLACES[n % 7]} and we talked about boat number {n * 7} for a while."
        memory.add_message(Message(role="user", content=text, at=world.clock()), f"c{n // 20}")
        world.later(hours=1)
    for n in range(40):
        memory.add(f"Paula keeps boat number {n * 7} at the {PLACES[n % 7]}", category="person")
    world.clock.advance(days=1)
    question = "Where did I meet Paula to talk about boats?"
    for run, most in (
        (lambda: memory.context(question, budget_tokens=400), MOST_OF_A_CONTEXT),
        (lambda: memory.search(question), MOST_OF_A_SEARCH),
    ):
        run()
        assert _calls(run) <= most
