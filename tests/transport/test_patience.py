"""Retries: how many, for how long, and Retry-After."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from slowwave.transport import RetryPolicy, TransientError, TransportError
from slowwave.transport.patience import retry_delay

NOW = datetime(2026, 3, 1, tzinfo=UTC)


class Time:
    """A clock that moves only by sleeping."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)

    def patience(self, **options: float) -> RetryPolicy:
        return RetryPolicy(sleep=self.sleep, clock=lambda: self.now, chance=lambda: 1.0, **options)


def failing(*errors: Exception, then: str = "done") -> Callable[[float], str]:
    pending = list(errors)

    def call(_: float) -> str:
        if pending:
            raise pending.pop(0)
        return then

    return call


def test_pauses_double_and_end() -> None:
    time = Time()
    assert time.patience(tries=9).run(failing(*[TransientError("x")] * 7)) == "done"
    assert time.slept == [0.5, 1, 2, 4, 8, 16, 20]


def test_retry_after_overrides_the_pause() -> None:
    time = Time()
    assert time.patience().run(failing(TransientError("x", 7), TransientError("x"))) == "done"
    assert time.slept == [7, 1.0]


def test_a_given_up_call_is_unsent_only_if_no_try_was_sent() -> None:
    unsent = [TransientError("no server", sent=False) for _ in range(3)]
    with pytest.raises(TransportError, match="tried 4 times") as caught:
        Time().patience().run(failing(*unsent, TransientError("no server", sent=False)))
    assert not caught.value.sent
    with pytest.raises(TransportError, match="tried 4 times") as caught:
        Time().patience().run(failing(TransientError("busy"), *unsent))
    assert caught.value.sent


def test_retries_end_after_the_limit_of_tries_or_of_time() -> None:
    time = Time()
    with pytest.raises(TransportError, match=r"busy \(tried 4 times\)") as caught:
        time.patience().run(failing(*[TransientError("busy")] * 4))
    assert not isinstance(caught.value, TransientError)
    with pytest.raises(TransportError, match="no further retry"):
        time.patience(budget=60).run(failing(TransientError("busy", 60)))
    assert len(time.slept) == 3


def test_a_permanent_failure_is_not_retried() -> None:
    time = Time()
    with pytest.raises(TransportError, match="for good"):
        time.patience().run(failing(TransportError("for good")))
    assert not time.slept


def test_each_call_gets_the_remaining_seconds() -> None:
    time, remaining = Time(), []

    def call(seconds: float) -> str:
        remaining.append(seconds)
        if len(remaining) < 3:
            raise TransientError("x", 10)
        return "done"

    time.patience(budget=60).run(call)
    assert remaining == [60, 50, 40]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0), ("1.5", 1.5), (" 7 ", 7.0), ("Sun, 01 Mar 2026 00:01:00 GMT", 60.0), ("Sat, 28 Feb 2026 00:00:00 GMT", 0.0),
        ("Sun, 01 Mar 2026 00:01:00", 60.0), (None, None), ("", None), ("soon", None), ("-5", None), ("nan", None), ("1e9", None),
    ],
)  # fmt: skip
def test_retry_after_may_be_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_delay(header, NOW) == seconds
