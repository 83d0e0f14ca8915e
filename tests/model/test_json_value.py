"""JSON values of callers."""

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, strategies as st

from slowwave import InputError
from slowwave.model.json_value import LONGEST, checked_json, checked_metadata, same_json, strings

PLAIN = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXTS = st.text(PLAIN)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner))


@given(VALUES)
def test_a_json_value_stays_what_it_is(value: Any) -> None:  # noqa: ANN401 - any JSON value
    made = checked_json(value, "data", exact=True)
    assert json.dumps(made) == json.dumps(value)
    assert same_json(made, json.loads(json.dumps(value)))


def test_other_mappings_and_tuples_become_dicts_and_lists() -> None:
    assert checked_metadata(MappingProxyType({"a": (1, (2,))})) == {"a": [1, [2]]}


def test_a_value_is_copied() -> None:
    mine = {"a": [1]}
    made = checked_metadata(mine)
    mine["a"].append(2)
    assert made == {"a": [1]}


def deep(levels: int) -> Any:  # noqa: ANN401 - nested lists
    made: Any = 1
    for _ in range(levels):
        made = [made]
    return made


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        object(),
        b"bytes",
        {1: 2},
        {"a": {None: 1}},
        {1, 2},
        deep(65),
        ["x" * LONGEST],
        [10**5000],
    ],
)
def test_what_json_cannot_hold_is_refused(value: Any) -> None:  # noqa: ANN401 - that is the point
    with pytest.raises(InputError, match="data"):
        checked_json(value, "data")


def test_text_that_no_store_can_hold_is_refused_where_it_must_be_exact_and_replaced_elsewhere() -> None:
    assert checked_json(["a\x00", {"\ud800": 1}], "metadata") == ["a\ufffd", {"\ufffd": 1}]
    with pytest.raises(InputError):
        checked_json({"a\x00": 1}, "data", exact=True)


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_metadata_are_a_mapping(value: object) -> None:
    with pytest.raises(InputError, match="metadata"):
        checked_metadata(value)


def test_the_texts_of_a_value_come_in_order_without_names() -> None:
    assert list(strings({"a": "one", "b": [2, {"c": "three"}, None], "d": "four"})) == ["one", "three", "four"]
