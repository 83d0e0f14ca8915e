"""Filters on metadata."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from slowwave import InputError
from slowwave.model.filters import checked_filter

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1), inner)
)


def passes(where: object, *fields: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether metadata pass, or the data of a note and its metadata."""
    compiled = checked_filter(where)
    data, metadata = fields if len(fields) > 1 else (None, *fields)
    assert compiled is not None
    return compiled(data, metadata)


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"project": "x"}, True),
        ({"project": "y"}, False),
        ({"score": 2.0}, True),
        ({"flag": 1}, False),
        ({"flag": True}, True),
        ({"missing": None}, True),
        ({"nothing": None}, True),
        ({"project": None}, False),
        ({"a.b": 3}, True),
        ({"a.c": 3}, False),
        ({"a.b.c": 3}, False),
        ({"a": {"b": 3}}, True),
        ({"a": {}}, False),
        ({"x.y": "dotted"}, True),
        ({"tags": ["t", "u"]}, True),
        ({"tags": ["t"]}, False),
        ({"score": {"$gte": 2}}, True),
        ({"score": {"$gt": 2}}, False),
        ({"score": {"$gt": 1, "$lt": 2.5}}, True),
        ({"score": {"$lte": 1.9}}, False),
        ({"score": {"$gt": "1"}}, False),
        ({"project": {"$gt": "w", "$lt": "y"}}, True),
        ({"flag": {"$gte": 0}}, False),
        ({"missing": {"$lt": 5}}, False),
        ({"project": {"$ne": "y"}}, True),
        ({"missing": {"$ne": "y"}}, True),
        ({"project": {"$in": ["y", "x"]}}, True),
        ({"score": {"$in": []}}, False),
        ({"missing": {"$in": [None]}}, True),
        ({"score": {"$eq": 2}}, True),
        ({"project": "x", "score": 3}, False),
    ],
)
def test_conditions_hold_for_equal_and_for_ordered_values(where: object, found: bool) -> None:
    metadata = {
        "project": "x",
        "score": 2,
        "flag": True,
        "nothing": None,
        "a": {"b": 3},
        "x.y": "dotted",
        "tags": ["t", "u"],
    }
    assert passes(where, metadata) is found


def test_a_field_is_taken_from_the_first_value_that_has_it() -> None:
    assert passes({"a": 1}, {"a": 1}, {"a": 2})
    assert not passes({"a": 2}, {"a": 1}, {"a": 2})
    assert passes({"b": 2}, {"a": 1}, {"b": 2})
    assert passes({"b": 2}, "no object", {"b": 2})


def test_no_condition_is_no_filter() -> None:
    assert checked_filter(None) is None
    assert checked_filter({}) is None


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("project", "project"),
        ({"": 1}, "''"),
        ({"a..b": 1}, "a..b"),
        ({".a": 1}, ".a"),
        ({1: 1}, "1"),
        ({"$gt": 1}, "$gt"),
        ({"a": {"$between": [1, 2]}}, "$between"),
        ({"a": {"$gt": 1, "b": 2}}, "'b'"),
        ({"a": {"gte": 1}}, "write '$gte'"),
        ({"a": {"gt": 1, "lt": 3}}, "write '$gt'"),
        ({"a": {"$in": "xy"}}, "$in"),
        ({"a": {"$gt": None}}, "$gt"),
        ({"a": {"$lt": True}}, "$lt"),
        ({"a": float("nan")}, "nan"),
        ({"a": object()}, "object"),
        ({f"k{n}": n for n in range(101)}, "101"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(where: object, named: str) -> None:
    with pytest.raises(InputError) as error:
        checked_filter(where)
    assert named in str(error.value)
    assert "\n" not in str(error.value)


def test_an_object_with_a_field_that_is_named_like_an_operator_can_still_be_compared() -> None:
    assert passes({"a": {"$eq": {"gte": 1}}}, {"a": {"gte": 1}})
    assert passes({"a": {"gte": 1, "unit": "kg"}}, {"a": {"gte": 1, "unit": "kg"}})


@given(VALUES)
def test_every_value_equals_itself_and_is_in_a_list_of_it(value: Any) -> None:  # noqa: ANN401 - any JSON value
    assert passes({"a": {"$eq": value}}, {"a": value})
    assert passes({"a": {"$in": [value]}}, {"a": value})
    assert not passes({"a": {"$ne": value}}, {"a": value})
