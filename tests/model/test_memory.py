from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime, timedelta

import pytest

from slowwave.model.memory import COUNTERS, HOT, PHASES, Memory, SourceRef, misplaced_fields
from slowwave.model.query import Hit

T = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def memory(**fields: object) -> Memory:
    return Memory(
        **({"id": "m", "scope": "s", "kind": "semantic", "text": "x", "recorded_at": T, "valid_from": T} | fields)
    )


def test_memories_are_equal_by_value_and_frozen() -> None:
    assert memory() == memory()
    assert memory() != memory(accesses=1)
    with pytest.raises(FrozenInstanceError):
        memory().text = "y"


def test_the_anchor_is_the_last_use_or_when_it_was_recorded() -> None:
    assert memory().last_used_or_recorded == T
    assert memory(used_at=T + DAY).last_used_or_recorded == T + DAY
    assert memory(used_at=T - DAY).last_used_or_recorded == T


def test_it_is_of_the_time_when_it_was_true() -> None:
    assert memory(valid_from=T - DAY).at == T - DAY


def test_active_and_core_are_hot() -> None:
    assert [phase for phase in PHASES if memory(phase=phase).is_searchable] == list(HOT)


@pytest.mark.parametrize(
    ("phase", "reason", "outdated"),
    [
        ("retracted", None, True),
        ("superseded", "replaced", True),
        ("superseded", "duplicate", False),
        ("superseded", "consolidated", False),
        ("cold", "faded", False),
        ("active", None, False),
    ],
)
def test_only_what_was_replaced_or_retracted_is_outdated(phase: str, reason: str | None, outdated: bool) -> None:
    assert memory(phase=phase, reason=reason).outdated is outdated


def test_a_cascade_summary_has_a_span_and_a_cluster_summary_has_none() -> None:
    assert memory(kind="summary", span=(1, 65)).is_cascade
    assert not memory(kind="summary", members=("a", "b")).is_cascade


def test_a_source_prints_as_the_callers_id() -> None:
    assert str(SourceRef(memory="m", ref="msg-17", quote="said so")) == "msg-17"


def test_counters_are_fields() -> None:
    assert {field.name for field in fields(Memory)} >= COUNTERS
    assert replace(memory(), accesses=2, sessions=1, used_at=T, last_session="a").version == memory().version


def test_memories_and_hits_may_be_elements_of_sets() -> None:
    one = memory(metadata={"source": "wiki"})
    other = replace(one, text="y")
    assert len({one, replace(one), other}) == 2
    assert (
        len({Hit(memory=one, score=1.0, parts={"words": 1.0}), Hit(memory=one, score=1.0), Hit(memory=one, score=2.0)})
        == 3
    )
    assert {one: 1}[replace(one)] == 1


@pytest.mark.parametrize(
    ("fields", "misplaced"),
    [
        ({"kind": "message", "conversation": "c", "seq": 1, "role": "user", "speaker": "A", "ref": "r"}, ()),
        ({"kind": "message", "subject": "A", "members": ("x",), "depth": 1}, ("subject", "members", "depth")),
        ({"subject": "A", "ref": "r", "sources": (SourceRef(memory="m", ref="r"),)}, ()),
        ({"seq": 1, "role": "user", "speaker": "A", "data": 1}, ("seq", "role", "speaker", "data")),
        ({"kind": "episodic", "span": (1, 2)}, ("span",)),
        ({"kind": "procedural", "members": ("x",), "depth": 1}, ("members", "depth")),
        ({"kind": "summary", "subject": "A", "members": ("x",), "depth": 1}, ()),
        ({"kind": "summary", "conversation": "c", "gist": "x"}, ("conversation", "gist")),
        ({"kind": "summary", "conversation": "c", "span": (1, 2), "members": ("x",), "depth": 1}, ()),
        ({"kind": "summary", "conversation": "c", "span": (1, 2), "seq": 1, "ref": "r"}, ("seq", "ref")),
        ({"kind": "note", "conversation": "", "ref": "n", "data": {"a": 1}}, ()),
        (
            {"kind": "note", "conversation": "", "ref": "n", "seq": 1, "role": "user", "span": (1, 2)},
            ("span", "seq", "role"),
        ),
    ],
)
def test_fields_of_another_kind_are_misplaced(fields: dict[str, object], misplaced: tuple[str, ...]) -> None:
    assert misplaced_fields(memory(**fields)) == misplaced
