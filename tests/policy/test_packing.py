"""Packing: the weights of texts add up, and a room is never exceeded."""

from math import ceil

import pytest
from hypothesis import given, strategies as st

from slowwave.model.query import Item
from slowwave.policy.ranking.packing import Line, Room, estimate, weight

everything = st.text(st.characters(codec=None))
lines = st.lists(st.floats(min_value=0.25, max_value=60), max_size=12)


def line(cost: float) -> Line:
    return Line(Item(text="x", tokens=ceil(cost)), cost)


@given(everything, everything)
def test_the_weight_of_two_texts_is_the_sum_of_theirs(first: str, second: str) -> None:
    assert weight(first + second) == pytest.approx(weight(first) + weight(second))
    assert estimate(first) == ceil(weight(first))


@given(st.floats(min_value=0, max_value=200), st.floats(min_value=0, max_value=200), lines, lines)
def test_a_room_is_never_exceeded_and_a_line_that_is_too_long_is_skipped(
    left: float, most: float, first: list[float], second: list[float]
) -> None:
    room = Room(left=left, headings={"a": ("A", 2.0), "b": ("A", 2.0)})
    spent = room.fill("a", map(line, first), most) + room.fill("b", map(line, second), left)
    taken = len(room.taken.get("a", ())) + len(room.taken.get("b", ()))
    assert spent <= left + 1e-6
    assert room.left == pytest.approx(left - spent)
    assert room.omitted == len(first) + len(second) - taken


def test_the_heading_of_two_parts_is_charged_once_and_shorter_lines_follow_a_long_one() -> None:
    room = Room(left=20.0, headings={"a": ("A", 2.0), "b": ("A", 2.0), "c": ("C", 3.0)})
    assert room.fill("a", [line(4.0), line(30.0), line(1.0)], 10.0) == 7.0
    assert room.fill("b", [line(5.0)], 20.0) == 5.0
    assert room.fill("c", [line(5.0)], 20.0) == 8.0
    assert room.left == 0.0
    assert room.omitted == 1
