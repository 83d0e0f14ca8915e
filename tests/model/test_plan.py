from dataclasses import replace
from datetime import UTC, datetime

from slowwave.model.memory import Memory
from slowwave.model.operations import Add, Change, Erase, Link, MoveCursor, Operation, RejectFact, Suppress, Use
from slowwave.model.plan import FREE, GROUP_MAX, Cost, Dropped, Group, Plan, Receipt, count_operations, merge_groups

T = datetime(2026, 1, 1, tzinfo=UTC)
ONE = Memory(id="one", scope="s", kind="semantic", text="x", recorded_at=T, valid_from=T)
ADD = Add(memory=ONE, because="stated")
ERASE = Erase(memory="two", because="asked")
ALL: list[Operation] = [
    ADD,
    Change(before=ONE, after=replace(ONE, pinned=True), because="b"),
    Link(source="one", target="two", kind="close", weight=0.5, before=0.0, because="b", at=T),
    MoveCursor(conversation="c", cursor="distil", before=0, after=3, because="b"),
    Use(used_version=ONE, after=ONE, because="b"),
    Suppress(key="k", because="b"),
    RejectFact(text="t", quote="q", reason="r", because="b"),
    ERASE,
]


def plan(*groups: Group, parts: tuple[Plan, ...] = ()) -> Plan:
    return Plan(id="p", scope="s", cause="add", at=T, groups=groups, parts=parts)


def test_costs_add_up() -> None:
    one = Cost(calls=1, tokens_in=10, tokens_out=5, money=0.5, seconds=2.0)
    assert one + one == Cost(calls=2, tokens_in=20, tokens_out=10, money=1.0, seconds=4.0)
    assert FREE + one == one


def test_operations_come_in_order_those_of_parts_last() -> None:
    part = plan(Group(operations=(ERASE,), because="part"))
    whole = plan(Group(operations=(ADD,), because="a"), Group(operations=(ADD, ADD), because="b"), parts=(part,))
    assert list(whole.operations) == [ADD, ADD, ADD, ERASE]


def test_a_plan_that_does_nothing_is_false() -> None:
    assert not plan()
    assert not plan(Group(operations=(), because="nothing"))
    assert not plan(parts=(plan(),))
    assert plan(Group(operations=(ADD,), because="a"))
    assert plan(parts=(plan(Group(operations=(ADD,), because="a")),))


def test_a_plan_can_be_reviewed_by_printing_it() -> None:
    part = plan(Group(operations=(ERASE,), because="asked"))
    whole = plan(Group(operations=(ADD, ADD), because="stated twice"), parts=(part,))
    assert str(whole).splitlines() == [
        "add: 2 added, 1 erased",
        "  - stated twice",
        "  add: 1 erased",
        "    - asked",
    ]
    assert str(plan()) == "add: nothing to do"


def test_every_operation_is_counted_in_words_but_cursors_are_not_news() -> None:
    assert (
        count_operations(ALL) == "1 added, 1 changed, 1 linked, 1 used, 1 blocked from returning, 1 refused, 1 erased"
    )


def test_a_released_tombstone_allows_a_new_import() -> None:
    assert count_operations([Suppress(key="k", because="stated again", on=False)]) == "1 unblocked"


def test_another_date_to_look_at_a_memory_is_no_news_either() -> None:
    later = Change(before=ONE, after=replace(ONE, due_at=T, pace=3, version=2), because="looked at; nothing to do yet")
    assert later.only_reschedules
    assert not Change(
        before=ONE, after=replace(ONE, due_at=T, phase="cold", version=2), because="faded"
    ).only_reschedules
    assert count_operations([later]) == ""
    assert str(plan(Group(operations=(later,), because="looked at"))) == "add: nothing to do"


def test_a_receipt_names_what_was_added_and_prints_as_two_lines() -> None:
    receipt = Receipt(run_id="r1", cause="add", scope="s", applied=(ADD, ERASE), notes=("one already known",))
    assert receipt.ids == ("one",)
    assert str(receipt).splitlines() == [
        "add in s: 1 added, 1 erased",
        "  one already known; run r1, which `undo` reverses",
    ]


def test_a_receipt_lists_dropped_groups_waiting_facts_and_problems() -> None:
    dropped = Dropped(group=Group(operations=(ADD,), because="a"), reason="one was changed")
    receipt = Receipt(
        run_id="r1", cause="add", scope="s", dropped=(dropped,), waiting=2, problems=("the model is down",)
    )
    assert str(receipt).splitlines() == [
        "add in s: nothing changed, 1 dropped as out of date, 2 waiting",
        "  the model is down; not done: one was changed",
    ]
    assert str(Receipt(run_id="r1", cause="add", scope="s")) == "add in s: nothing changed\n  already known"


def test_moving_a_cursor_is_printed_neither_as_a_change_nor_as_a_plan() -> None:
    moved = next(one for one in ALL if isinstance(one, MoveCursor))
    receipt = Receipt(run_id="r1", cause="sleep/duplicates", scope="s", applied=(moved,))
    assert str(receipt) == "sleep/duplicates in s: nothing changed\n  nothing new to keep"
    part = plan(Group(operations=(moved,), because="looked through"))
    assert str(part) == "add: nothing to do"
    assert str(plan(Group(operations=(ADD,), because="a"), parts=(part,))) == "add: 1 added\n  - a"


def test_groups_split_by_the_limit_of_a_group_are_merged_and_no_others() -> None:
    full = Group(operations=(ADD,) * GROUP_MAX, because="500 faded", count_of="faded")
    rest = Group(operations=(ADD,) * 7, because="7 faded", count_of="faded")
    other = Group(operations=(ADD,), because="1 expired", count_of="expired")
    whole = merge_groups((full, full, rest, other))
    assert [(one.because, len(one)) for one in whole] == [("1,007 faded", 1007), ("1 expired", 1)]
    assert merge_groups((rest, rest)) == [rest, rest], "two of the same words that were never one"
    earlier = [replace(one, because="507 faded") for one in (full, rest)]
    assert [one.because for one in merge_groups(earlier)] == ["507 faded"], "as it was journaled before"
    undone = [replace(one, because="undo of x: 507 faded", count_of="") for one in (full, rest)]
    assert [one.because for one in merge_groups(undone)] == ["undo of x: 507 faded"]
    assert str(plan(full, rest)).splitlines()[1:] == ["  - 507 faded"]
