"""The ledger: caps before, costs after."""

import threading

import pytest

from slowwave.errors import InputError, ModelError
from slowwave.minds.llm.ledger import Caps, Ledger, estimated, price_of
from slowwave.model.plan import FREE, Cost


def test_costs_add_up() -> None:
    now = [100.0]
    ledger = Ledger(price=(2.0, 10.0), clock=lambda: now[0])
    started = ledger.admit()
    now[0] += 1.5
    cost = ledger.book(started, 500_000, 100_000)
    assert cost == Cost(calls=1, tokens_in=500_000, tokens_out=100_000, money=2.0, seconds=1.5)
    ledger.book(ledger.admit(), 0, 0)
    assert ledger.spent.calls == 2
    assert ledger.spent.money == 2.0


def test_the_cap_of_a_day_counts_what_other_runs_have_cost() -> None:
    journal = [Cost(calls=3)]
    ledger = Ledger(caps=Caps(calls_per_day=5), today=lambda: journal[0])
    ledger.admit()
    ledger.admit()
    with pytest.raises(ModelError, match="cap of 5 model calls a day") as refused:
        ledger.admit()
    assert refused.value.cost == FREE
    with pytest.raises(ModelError):
        Ledger(caps=Caps(calls_per_day=5), today=lambda: Cost(calls=5)).admit()


def test_a_journaled_part_of_the_run_counts_once() -> None:
    journal = [Cost(calls=2)]
    ledger = Ledger(caps=Caps(calls_per_day=5), today=lambda: journal[0])
    ledger.admit()
    journal[0] = Cost(calls=3)
    ledger.admit()
    journal[0] = Cost(calls=4)
    ledger.admit()
    with pytest.raises(ModelError):
        ledger.admit()


def test_the_cap_of_money_stops_the_call_after_the_one_that_exceeds_it() -> None:
    ledger = Ledger(price=(1.0, 1.0), caps=Caps(money_per_day=1.5), today=lambda: Cost(calls=1, money=0.6))
    ledger.book(ledger.admit(), 500_000, 500_000)
    with pytest.raises(ModelError, match=r"cap of 1\.5 a day"):
        ledger.admit()


def test_the_journal_is_not_read_without_a_cap_per_day() -> None:
    def asked() -> Cost:
        raise AssertionError

    Ledger(caps=Caps(calls_per_run=1), today=asked).admit()


def test_the_cap_of_a_run_applies_to_many_threads() -> None:
    ledger, refused = Ledger(caps=Caps(calls_per_run=50)), []

    def work() -> None:
        for _ in range(20):
            try:
                ledger.admit()
            except ModelError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 50


def test_a_cap_of_zero_and_no_cap() -> None:
    with pytest.raises(ModelError, match="llm_calls_per_run"):
        Ledger(caps=Caps(calls_per_run=0)).admit()
    for name in ("calls_per_run", "calls_per_day", "money_per_day"):
        with pytest.raises(InputError, match=name):
            Caps(**{name: -1})
    assert Ledger().admit() > 0


def test_tokens_are_estimated_and_prices_looked_up() -> None:
    assert [estimated(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]
    prices = {"m": (1.0, 2.0), "openai:n": (3.0, 4.0)}
    assert price_of(prices, "m", "openai:m") == (1.0, 2.0)
    assert price_of(prices, "n", "openai:n") == (3.0, 4.0)
    assert price_of(None, "m") == price_of(prices, "x") == (0.0, 0.0)
