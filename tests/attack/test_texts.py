"""The class of long texts reports what grows faster than the length, and nothing else."""

from pathlib import Path

import pytest
from tests.attack import texts


def _faults(taken: dict[int, float], monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    monkeypatch.setattr(texts, "seconds", lambda text, _: {"verb": taken[len(text)]})
    return texts.too_slow("a".__mul__, 400, Path())


def test_time_that_grows_with_the_square_of_the_length_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _faults({100: 0.1, 200: 0.4, 400: 1.6, 800: 6.4}, monkeypatch) == {"verb": 4.0}


@pytest.mark.parametrize(
    "taken",
    [
        pytest.param({100: 0.1, 200: 0.2, 400: 0.4, 800: 0.8}, id="in proportion"),
        pytest.param({100: 0.1, 200: 0.2, 400: 1.6, 800: 3.2}, id="a fact is found in the longest"),
        pytest.param({100: 0.1, 200: 0.8, 400: 1.6, 800: 3.2}, id="a fact is found in the longer ones"),
        pytest.param({100: 0.1, 200: 0.3, 400: 0.9, 800: 1.8}, id="one piece more in each of two"),
        pytest.param({100: 0.001, 200: 0.01, 400: 0.05, 800: 0.25}, id="too short to measure"),
    ],
)
def test_other_times_are_none(taken: dict[int, float], monkeypatch: pytest.MonkeyPatch) -> None:
    assert _faults(taken, monkeypatch) == {}
