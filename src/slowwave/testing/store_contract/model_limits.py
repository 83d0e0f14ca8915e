"""Tests of shared limits of model calls: inherit `ModelLimitsContract` and define a `store` fixture."""

# ruff: noqa: D102  # a test's name is its sentence

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from slowwave.model.budget import ModelUse, StoreBudget
from slowwave.ports import Store
from slowwave.testing.builders import NOW

NO_LIMIT = StoreBudget()
MOST = 7
HOUR = timedelta(hours=1)
NEXT_HOUR = NOW.replace(minute=0, second=0, microsecond=0) + HOUR
NEXT_DAY = NOW.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


class ModelLimitsContract:
    """Tests of budgets and pauses. The `store` fixture of the inheriting class returns an empty, open store."""

    def test_calls_of_threads_at_the_same_time_never_exceed_the_budget(self, store: Store) -> None:
        budget = StoreBudget(calls_per_hour=MOST, calls_per_day=100)
        with ThreadPoolExecutor(4) as threads:
            refusals = list(threads.map(lambda _: store.admit_model_call("m", budget, NOW), range(20)))
        assert refusals.count(None) == MOST
        assert {refusal.until for refusal in refusals if refusal is not None} == {NEXT_HOUR}
        assert store.model_use(NOW) == (ModelUse(MOST), ModelUse(MOST))

    def test_the_next_hour_begins_at_zero_and_the_day_goes_on(self, store: Store) -> None:
        budget = StoreBudget(calls_per_hour=2, calls_per_day=3)
        times = [NOW, NOW, NOW, NEXT_HOUR, NEXT_HOUR]
        refusals = [store.admit_model_call("m", budget, at) for at in times]
        assert [refusal and refusal.until for refusal in refusals] == [None, None, NEXT_HOUR, None, NEXT_DAY]
        assert store.admit_model_call("m", budget, NEXT_DAY) is None

    def test_tokens_and_money_refuse_the_call_after_the_one_that_used_them_up(self, store: Store) -> None:
        for budget, use in (
            (StoreBudget(tokens_per_hour=100), ModelUse(tokens=100)),
            (StoreBudget(money_per_day=1.5), ModelUse(money=1.5)),
        ):
            assert store.admit_model_call("m", budget, NOW) is None
            store.add_model_use(use, NOW)
            assert store.admit_model_call("m", budget, NOW) is not None
        assert store.model_use(NOW)[1] == ModelUse(2, 100, 1.5)

    def test_a_call_that_was_not_sent_is_taken_off_again(self, store: Store) -> None:
        budget = StoreBudget(calls_per_day=1)
        assert store.admit_model_call("m", budget, NOW) is None
        store.add_model_use(ModelUse(calls=-1), NOW)
        assert store.admit_model_call("m", budget, NOW) is None

    @pytest.mark.parametrize("wrong", [timedelta(days=400), HOUR, -HOUR, -timedelta(days=400)])
    def test_calls_at_a_wrong_time_count_for_that_time_only(self, store: Store, wrong: timedelta) -> None:
        budget = StoreBudget(calls_per_hour=2)
        assert store.admit_model_call("m", budget, NOW) is None
        for _ in range(2):
            assert store.admit_model_call("m", budget, NOW + wrong) is None
        store.add_model_use(ModelUse(tokens=7), NOW + wrong)
        assert store.admit_model_call("m", budget, NOW) is None
        refusal = store.admit_model_call("m", budget, NOW)
        assert refusal is not None
        assert refusal.until == NEXT_HOUR
        assert f"calls go on at {NEXT_HOUR:%Y-%m-%d %H:%M}" in refusal.reason
        assert store.model_use(NOW)[0] == ModelUse(2)
        assert store.model_use(NOW + wrong)[0] == ModelUse(2, 7)
        assert store.admit_model_call("m", budget, NOW + timedelta(days=2)) is None

    def test_a_pause_of_a_wrong_time_is_past_and_hides_no_later_one(self, store: Store) -> None:
        store.pause_model("m", NOW + timedelta(days=400))
        assert store.admit_model_call("m", NO_LIMIT, NOW) is None
        assert store.model_pauses(NOW) == {}
        store.pause_model("m", NOW + HOUR)
        store.pause_model("m", NOW)
        assert store.model_pauses(NOW) == {"m": NOW + HOUR}

    def test_a_pause_holds_for_one_model_until_its_longest_end(self, store: Store) -> None:
        store.pause_model("m", NOW + 2 * HOUR)
        store.pause_model("m", NOW + HOUR)
        refusal = store.admit_model_call("m", NO_LIMIT, NOW + HOUR)
        assert refusal is not None
        assert refusal.until == NOW + 2 * HOUR
        assert store.admit_model_call("other", NO_LIMIT, NOW) is None
        assert store.model_pauses(NOW) == {"m": NOW + 2 * HOUR}
        assert store.admit_model_call("m", NO_LIMIT, NOW + 2 * HOUR) is None
        assert store.model_pauses(NOW + 2 * HOUR) == {}
        assert store.model_use(NOW) == (ModelUse(), ModelUse())
