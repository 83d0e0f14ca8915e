"""Records are what the standard library makes of the same class, to whoever uses them."""

import copy
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from inspect import signature
from typing import Generic, TypeVar

import pytest

from slowwave.model.record import record

T = TypeVar("T")


class Plain(Generic[T]):
    """As written."""

    name: str
    other: T
    count: int = 3
    many: Mapping[str, int] = field(default_factory=dict)
    secret: str = field(default="s", repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("below 0")

    @property
    def double(self) -> int:
        return 2 * self.count


def fresh() -> type:
    return type(
        "Plain", Plain.__bases__, {k: v for k, v in vars(Plain).items() if k not in {"__dict__", "__weakref__"}}
    )


Standard = dataclass(frozen=True, slots=True, kw_only=True)(fresh())
Ours = record(fresh())
BOTH = pytest.mark.parametrize("made", [Standard, Ours])


@record
class Pickled:
    name: str
    count: int = 3


@record
class Empty:
    """Nothing in it."""


@BOTH
def test_it_is_built_by_keywords_with_its_defaults(made: type) -> None:
    one = made(name="a", other=None)
    assert (one.name, one.count, one.many, one.secret, one.double) == ("a", 3, {}, "s", 6)
    assert made(name="a", other=1).many is not made(name="a", other=1).many
    for wrong in ({}, {"name": "a"}, {"name": "a", "other": 1, "more": 1}):
        with pytest.raises(TypeError, match=r"__init__\(\)"):
            made(**wrong)
    with pytest.raises(TypeError, match="positional"):
        made("a", 1)
    with pytest.raises(ValueError, match="below 0"):
        made(name="a", other=1, count=-1)


@BOTH
def test_it_cannot_be_changed(made: type) -> None:
    one = made(name="a", other=None)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        one.name = "b"
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del one.name
    assert not hasattr(one, "__dict__")
    with pytest.raises((FrozenInstanceError, TypeError)):
        one.unheard_of = 1


@BOTH
def test_equal_is_what_has_the_same_class_and_values_but_for_those_left_out(made: type) -> None:
    one, same = made(name="a", other=1, many=()), made(name="a", other=1, many=(), secret="t")
    assert one == same
    assert hash(one) == hash(same)
    assert one != replace(one, count=4)
    assert one != "a"
    assert len({one, same, replace(one, name="b")}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(made(name="a", other=1))


def test_the_standard_functions_take_it_as_theirs() -> None:
    one, theirs = Ours(name="a", other=[1], count=2), Standard(name="a", other=[1], count=2)
    assert is_dataclass(one)
    assert one != theirs
    assert repr(one) == repr(theirs) == "Plain(name='a', other=[1], count=2, many={})"
    assert asdict(one) == asdict(theirs)
    assert [(f.name, f.type, f.default, f.kw_only) for f in fields(Ours)] == [
        (f.name, f.type, f.default, f.kw_only) for f in fields(Standard)
    ]
    assert list(signature(Ours).parameters) == list(signature(Standard).parameters)
    assert {name for name in dir(Standard) if "dataclass_fields" in name} <= set(dir(Ours))
    assert replace(one, count=5).double == 10
    assert Ours[int](name="a", other=1) == Ours(name="a", other=1)


def test_it_is_copied_and_pickled() -> None:
    one = Pickled(name="a", count=4)
    assert pickle.loads(pickle.dumps(one)) == copy.copy(one) == copy.deepcopy(one) == one
    with pytest.raises(FrozenInstanceError):
        copy.copy(one).name = "b"


def test_a_method_of_its_own_is_kept_and_one_without_fields_is_a_record_too() -> None:
    @record
    class Loud:
        name: str

        def __repr__(self) -> str:
            return self.name.upper()

    assert repr(Loud(name="a")) == "A"
    assert Empty() == Empty()
    assert Empty() != Pickled(name="a")
    assert repr(Empty()) == "Empty()"
    assert hash(Empty()) == hash(Empty())
