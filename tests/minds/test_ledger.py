"""The ledger: caps before, costs after."""

import threading

import pytest

from slowwave.errors import InputError, ModelError
from slowwave.minds.ledger import Ledger, estimated, price_of
from slowwave.model.plan import Cost


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


def test_the_cap_of_a_day_opens_again_after_a_day() -> None:
    now = [0.0]
    ledger = Ledger(most_calls_per_day=2, clock=lambda: now[0])
    ledger.admit()
    now[0] = 3_600
    ledger.admit()
    with pytest.raises(ModelError, match="cap of 2 model calls a day"):
        ledger.admit()
    now[0] = 86_400
    ledger.admit()
    with pytest.raises(ModelError):
        ledger.admit()


def test_the_cap_holds_for_many_threads() -> None:
    ledger, refused = Ledger(most_calls=50), []

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


def test_a_cap_of_nothing_and_no_cap() -> None:
    with pytest.raises(ModelError):
        Ledger(most_calls=0).admit()
    with pytest.raises(InputError):
        Ledger(most_calls_per_day=-1)
    assert Ledger().admit() > 0


def test_tokens_are_estimated_and_prices_looked_up() -> None:
    assert [estimated(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]
    assert price_of("m", {"m": (1.0, 2.0)}) == (1.0, 2.0)
    assert price_of("m", None) == price_of("x", {"m": (1.0, 2.0)}) == (0.0, 0.0)
