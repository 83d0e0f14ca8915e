"""Fresh ids: they sort by time, then by their order in this process, and no two processes give the same."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from slowwave.model.plan import Receipt
from slowwave.pipelines.planning import new_id, with_notes

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_ids_sort_by_time_and_those_of_one_instant_in_the_order_they_were_made() -> None:
    made = [new_id(NOW + timedelta(milliseconds=n // 100)) for n in range(1000)]
    assert made == sorted(set(made))
    assert {len(identity) for identity in made} == {20}


def test_ids_of_one_instant_differ_in_their_last_letters_so_that_an_index_keeps_them_together() -> None:
    one, other = new_id(NOW), new_id(NOW)
    assert one[:14] == other[:14]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_generates_other_ids_than_its_parent() -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, new_id(NOW).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 100).decode()[8:14] != new_id(NOW)[8:14]
    os.close(reading)
    os.close(writing)


def test_a_receipt_without_notes_is_returned_unchanged() -> None:
    receipt = Receipt(run_id="r", cause="observe", scope="a", notes=("one",))
    assert with_notes(receipt, notes=(), problems=iter(())) is receipt
    assert with_notes(receipt, notes=("two",)).notes == ("one", "two")
    assert with_notes(receipt, waiting=2).waiting == 2
