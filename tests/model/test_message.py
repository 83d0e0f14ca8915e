from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from slowwave.errors import InputError
from slowwave.model import message as module
from slowwave.model.message import ROLES, Message, checked_message, checked_time, clean

GOOD = Message("user", "Hello", speaker="Alice", at=datetime(2026, 1, 1, tzinfo=UTC), id="m-1")


@given(st.text(st.characters(codec=None)))
def test_clean_text_can_be_stored_anywhere_and_stays_clean(text: str) -> None:
    stored = clean(text)
    assert stored.encode().decode() == stored
    assert "\x00" not in stored
    assert clean(stored) == stored


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_text_that_can_be_stored_is_kept_verbatim(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(("text", "stored"), [("a\x00b", "a\ufffdb"), ("a\ud83d", "a\ufffd"), ("\ud83d\ude00", "😀")])
def test_what_no_store_can_hold_is_replaced(text: str, stored: str) -> None:
    assert clean(text) == stored


def test_times_are_kept_in_utc() -> None:
    tokyo = datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    assert checked_time(tokyo, "the time") == datetime(2026, 1, 1, tzinfo=UTC)
    assert checked_time(tokyo, "the time").tzinfo is UTC


@pytest.mark.parametrize("at", [datetime(2026, 1, 1), "2026-01-01", 1767225600])  # noqa: DTZ001 - a naive time is the point
def test_a_time_without_a_zone_is_refused_with_the_fix(at: object) -> None:
    with pytest.raises(
        InputError, match=r"has no time zone: set one, e\.g\. at\.replace\(tzinfo=|pass a datetime with a time zone"
    ):
        checked_time(at, "the time")


def test_a_time_outside_the_calendar_is_refused() -> None:
    with pytest.raises(InputError, match="outside the years 1 to 9999"):
        checked_time(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9))), "the time")


def test_a_good_message_stays_as_it_is() -> None:
    assert checked_message(GOOD) == GOOD
    bare = Message("tool", "42")
    assert checked_message(bare) == bare
    assert [checked_message(Message(role, "x")).role for role in ROLES] == list(ROLES)


def test_the_content_of_a_message_is_cleaned() -> None:
    assert checked_message(Message("user", "a\x00", speaker="b", id="c")) == Message(
        "user", "a\ufffd", speaker="b", id="c"
    )


@pytest.mark.parametrize("name", ["speaker", "id"])
@pytest.mark.parametrize("value", ["b\x00", "b\ud800", "\ud83d\ude00"])
def test_names_that_no_store_keeps_are_refused(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"message 3 has the {name} .*NUL or a lone surrogate"):
        checked_message(replace(GOOD, **{name: value}), "message 3")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"role": "robot"}, "role 'robot': use one of user, assistant, system, tool"),
        ({"content": "  \n"}, "has no text: leave empty messages out"),
        ({"content": None}, "has no text"),
        ({"speaker": " "}, "speaker ' ': use 1 to 512 characters, or None"),
        ({"speaker": 7}, "speaker 7"),
        ({"id": "x" * 513}, "has the id"),
        ({"at": datetime(2026, 1, 1)}, "message 3's time"),  # noqa: DTZ001 - a naive time is the point
    ],
)
def test_a_bad_message_is_refused_naming_its_place(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match="message 3") as told:
        checked_message(replace(GOOD, **wrong), "message 3")
    assert words in str(told.value)


def test_another_type_than_a_message_is_refused_with_the_class_to_use() -> None:
    with pytest.raises(InputError, match=r"is a dict: pass slowwave\.Message"):
        checked_message({"role": "user", "content": "x"})


def test_a_message_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 10)
    with pytest.raises(InputError, match="11 characters, more than 10: cut it into parts"):
        checked_message(Message("user", "x" * 11))
