"""The description of each kind of operation, with the text before and after."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from slowwave.model.memory import Memory
from slowwave.model.operations import Add, Change, Link, MoveCursor, Operation, RejectFact, Use
from slowwave.pipelines.sleep.report import describe_operations

AT = datetime(2026, 3, 2, tzinfo=UTC)
FACT = Memory(id="f", scope="t", kind="semantic", text="Odile rows", recorded_at=AT, valid_from=AT, category="person")
NAMES = {"f": "Odile rows", "g": "Odile sails"}


def _link(weight: float) -> Link:
    return Link(source="f", target="g", kind="close", weight=weight, before=0.0, because="near", at=AT)


@pytest.mark.parametrize(
    ("operation", "description"),
    [
        (Add(memory=FACT, because="b"), "+ [person] Odile rows"),
        (
            Change(before=FACT, after=replace(FACT, phase="cold", reason="expired"), because="b"),
            "active → cold (expired): Odile rows",
        ),
        (
            Change(before=FACT, after=replace(FACT, text="Odile sails"), because="b"),
            "changed: Odile rows → Odile sails",
        ),
        (
            Change(before=FACT, after=replace(FACT, gist="Odile"), because="b"),
            "fewer words: Odile rows → Odile",
        ),
        (_link(0.5), "linked (close): Odile rows — Odile sails"),
        (_link(0.0), "unlinked (close): Odile rows — Odile sails"),
        (Use(used_version=FACT, after=FACT, because="b"), "used: Odile rows"),
        (RejectFact(text="Odile flies", quote="", reason="r", because="r"), "refused: Odile flies"),
        (MoveCursor(conversation="c", cursor="distil", before=0, after=1, because="b"), None),
    ],
)
def test_each_kind_of_operation_has_a_description(operation: Operation, description: str | None) -> None:
    assert describe_operations(operation, NAMES) == description
