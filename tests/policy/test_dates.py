"""Relative and partial dates, resolved from the day of the message."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings, strategies as st

from slowwave.policy.text import dates
from slowwave.policy.text.dates import derivable, exact, mentioned, partials, resolve
from slowwave.policy.text.tense import time_direction

# Naive bounds are how hypothesis takes them; what it draws is aware.
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
AT = datetime(2026, 3, 1, 9, tzinfo=UTC)  # a Sunday

RESOLVED = {
    "I went to a support group yesterday": "I went to a support group on 28 February 2026",
    "Yesterday I went hiking": "On 28 February 2026 I went hiking",
    "Yesterday's meeting ran late": "The 28 February 2026 meeting ran late",
    "Today was hard": "1 March 2026 was hard",
    "Let's talk later today": "Let's talk on 1 March 2026",
    "It was the day before yesterday": "It was on 27 February 2026",
    "The demo is the day after tomorrow": "The demo is on 3 March 2026",
    "I have a test tomorrow morning": "I have a test on the morning of 2 March 2026",
    "We ate out last night": "We ate out on the night of 28 February 2026",
    "We leave tonight": "We leave on the evening of 1 March 2026",
    "I ran this morning": "I ran on the morning of 1 March 2026",
    "We met last Friday": "We met on 27 February 2026",
    "It was last Fri.": "It was on 27 February 2026.",
    "We'll meet next Tuesday": "We'll meet on 3 March 2026",
    "We'll meet this Friday": "We'll meet on 6 March 2026",
    "We'll meet on Friday": "We'll meet on 6 March 2026",
    "We met on Friday": "We met on 27 February 2026",
    "It must be done by Friday": "It must be done by 6 March 2026",
    "I moved here last week": "I moved here in the week before 1 March 2026",
    "I moved here two weeks ago": "I moved here in the week of 9 February 2026",
    "I moved here three days ago": "I moved here on 26 February 2026",
    "I moved here about 10 days ago": "I moved here around 19 February 2026",
    "I moved here a few days ago": "I moved here a few days before 1 March 2026",
    "I moved here over a year ago": "I moved here over a year before 1 March 2026",
    "I moved here a year and a half ago": "I moved here a year and a half before 1 March 2026",
    "I moved here six months ago": "I moved here in September 2025",
    "I moved here 10 years ago": "I moved here in 2016",
    "I moved here 10 yrs ago": "I moved here in 2016",
    "We camped two weekends ago": "We camped on the weekend of 14 February 2026",
    "We were there last weekend": "We were there on the weekend of 21 February 2026",
    "This weekend is busy": "The weekend of 28 February 2026 is busy",
    "I go next month": "I go in April 2026",
    "I have lived here since last year": "I have lived here since 2025",
    "We met our goal last quarter": "We met our goal in the fourth quarter of 2025",
    "We hire two people next quarter": "We hire two people in the second quarter of 2026",
    "It must be done by next quarter": "It must be done by the second quarter of 2026",
    "I was there last summer": "I was there in summer 2025",
    "I'll be there next summer": "I'll be there in summer 2026",
    "I was there last winter": "I was there in winter 2025/2026",
    "I was there last May": "I was there in May 2025",
    "I'll be there next May": "I'll be there in May 2026",
    "The party is on May 3": "The party is on 3 May 2026",
    "The Q3 release deadline is Oct 14": "The Q3 release deadline is 14 October 2026",
    "We married on December 20": "We married on 20 December 2025",
    "I went hiking in May": "I went hiking in May 2025",
    "It must be done by the 14th": "It must be done by 14 March 2026",
    "I saw her on the 14th": "I saw her on 14 February 2026",
    "It will be done on the 14th, at last": "It will be done on 14 March 2026, at last",
    "We will finish in two weeks": "We will finish in the week of 9 March 2026",
    "I plan to start two weeks from now": "I plan to start in the week of 9 March 2026",
    "I booked the terrace for 16 May": "I booked the terrace for 16 May 2026",
    "We have reserved a table for Friday": "We have reserved a table for 6 March 2026",
    "The trip was planned for the weekend of 3 April": "The trip was planned for the weekend of 3 April 2026",
    "I booked a band; we married on 16 May": "I booked a band; we married on 16 May 2025",
    "Next year the choir sings on 12 December": "In 2027 the choir sings on 12 December 2027",
    "Last year we met on 2 February": "In 2025 we met on 2 February 2025",
    "Two years ago we met on 2 February": "In 2024 we met on 2 February 2024",
    "In 2019 we met on 2 February": "In 2019 we met on 2 February 2019",
    "In 2019 we met in May": "In 2019 we met in May 2019",
    "In 2019 we met. We married on 2 February": "In 2019 we met. We married on 2 February 2026",
    "I felt like crying yesterday": "I felt like crying on 28 February 2026",
    "I would like to leave tomorrow": "I would like to leave on 2 March 2026",
    "This feels great. I met her yesterday": "This feels great. I met her on 28 February 2026",
    "I met her just yesterday": "I met her just on 28 February 2026",
    "Last year we met and next year we leave on 2 May": "In 2025 we met and in 2027 we leave on 2 May 2027",
}
UNCHANGED = [
    "I finished it in two weeks",
    "In 2022 we met",
    "We met in May 2023",
    "We met on 3 May 2023",
    "We met on March 3, 2023",
    "over the last week",
    "I may march on",
    "the last week of term",
    "every Friday",
    "My birthday is on 5 June",
    "Friday deploys were banned",
    "in May or so",
    "my last name",
    "the 14th floor",
    "The launch is on January 10th",
    "ein Treffen gestern",
    "9999 years ago",
    "on February 30",
    "in a few weeks",
    "Time flies- feels like just yesterday I put this dress on!",
    "It seems like only yesterday that we met",
    "I remember it as if it were yesterday",
    "I remember it like it was yesterday",
    "It feels like we moved in just last month",
    "It still feels like two years ago",
    "We dance like there is no tomorrow",
    "I wasn't born yesterday",
    "That is yesterday's news",
    "Tomorrow is another day",
    "Here today, gone tomorrow",
    "It made me who I am today",
    "I saw it the other day",
    "Any day now we shall know, one day for sure, and these days I run",
]


@pytest.mark.parametrize(("said", "resolved"), RESOLVED.items())
def test_relative_dates_are_written_out(said: str, resolved: str) -> None:
    assert resolve(said, AT) == resolved


def test_a_past_day_means_next_year_in_a_sentence_about_the_future() -> None:
    assert resolve("The launch is on May 10th", AT.replace(month=9)) == "The launch is on 10 May 2027"
    assert resolve("It will be in May", AT.replace(month=9)) == "It will be in May 2027"
    assert resolve("It will be on February 29", AT.replace(year=2024, month=9)) == "It will be on February 29"


@pytest.mark.parametrize("text", UNCHANGED)
def test_other_phrases_stay_unchanged(text: str) -> None:
    assert resolve(text, AT) == text


@pytest.mark.parametrize("text", RESOLVED)
@settings(max_examples=15)
@given(at=TIMES)
def test_resolve_writes_only_derivable_dates_and_is_idempotent(text: str, at: datetime) -> None:
    once = resolve(text, at)
    assert resolve(once, at) == once
    allowed = derivable(text, at)
    assert all(any(exact(r) in allowed for r in w.readings) for w in mentioned(once)), once


@given(days=st.integers(0, 300), at=TIMES)
def test_n_days_ago_is_exactly_that_day(days: int, at: datetime) -> None:
    day = at.date() - timedelta(days=days)
    text = f"I saw it {days} days ago."
    assert resolve(text, at) == f"I saw it on {day.day} {day:%B} {day.year}."
    assert day.isoformat() in derivable(text, at)


def test_days_are_counted_in_the_message_s_own_time_zone() -> None:
    late = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-8)))
    assert resolve("I left today", late) == "I left on 1 March 2026"


@pytest.mark.parametrize(
    ("text", "partial"),
    [
        ("I went yesterday", "2026-02-28"),
        ("I went last Friday", "2026-02-27"),
        ("I went last Friday", "2026-02-20"),
        ("See you on Friday", "2026-03-06"),
        ("See you on Sunday", "2026-03-01"),
        ("I have painted for seven years", "2019"),
        ("gestern war ich da", "2026-02-28"),
        ("我昨天去了", "2026-02-28"),
        ("2026年2月3日に会った", "2026-02-03"),
        ("2月3日に会った", "2026-02-03"),
        ("am 3. Februar", "2026-02-03"),
        ("el 3 de marzo de 2024", "2024-03-03"),
        ("on 03/04/2024", "2024-04-03"),
        ("on 03/04/24", "2024-03-04"),
        ("on 2024-03-04", "--03-04"),
        ("Oct 14", "2026-10-14"),
        ("the 14th of October", "2025-10-14"),
        ("in October", "2026-10"),
        ("a few years ago", "2021"),
        ("a few weeks ago", "2026-02"),
        ("in two weeks", "2026-03-12"),
        ("hello", "2026-03-01"),
    ],
)
def test_dates_of_a_fact_can_be_derived_from_its_message(text: str, partial: str) -> None:
    assert partial in derivable(text, AT)


@pytest.mark.parametrize(
    ("text", "partial"),
    [
        ("the last few weeks", "2025"),
        ("for a few weeks", "2025"),
        ("in a few weeks", "2027"),
        ("I went yesterday", "2026-02-26"),
        ("hello", "2025"),
        ("Oct 14", "2024-10-14"),
        ("last month", "2026-01"),
    ],
)
def test_other_dates_are_not_derivable(text: str, partial: str) -> None:
    assert partial not in derivable(text, AT)


@pytest.mark.parametrize(
    ("text", "exacts"),
    [
        ("March 12, 2024", ["2024-03-12"]),
        ("12 Mar 2024 and Feb 2023", ["2024-03-12", "2023-02"]),
        ("12:30 in March, at 2022 Main", ["--03", "2022"]),
        ("You May go, march on, in May", ["--05"]),
        ("at 10:30 May Lee came; the 5. March of it", []),
        ("am 12. Mai 2024", ["2024-05-12"]),
        ("version 2.2024 costs $2000", []),
        ("99/99/2024", []),
    ],
)
def test_written_dates_are_found_and_months_normalised(text: str, exacts: list[str]) -> None:
    assert [exact(w.readings[0]) for w in mentioned(text)] == exacts


def test_partials_of_an_impossible_day_leave_the_calendar_out() -> None:
    assert partials(2026, 2, 30) == {"2026", "--02", "2026-02", "---30", "--02-30"}
    assert exact((None, None, None)) == ""
    assert dates.weekdays("on Fridays or Monday") == {"-W-5", "-W-1"}


@pytest.mark.parametrize(
    ("text", "lean"),
    [("I went home", -1), ("I will go", 1), ("The party", 0), ("I went. I will go", 1), ("We will. We went", -1)],
)
def test_the_time_direction_of_a_sentence_is_detected(text: str, lean: int) -> None:
    assert time_direction(text, len(text)) == lean


@pytest.mark.parametrize("text", ["400 years ago", "in 400 weeks", "last year", "by the 14th we will"])
@pytest.mark.parametrize("at", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)])
def test_dates_at_the_ends_of_the_calendar_are_correct(text: str, at: datetime) -> None:
    assert str(at.year) in {f"{int(p)}" for p in derivable(text, at) if p.isdigit()}


@pytest.mark.parametrize("text", ["I was there on the 31st", "we met on the 0th", "It will be on the 30th"])
def test_days_that_do_not_exist_are_skipped(text: str) -> None:
    assert "2026-02-3" not in " ".join(derivable(text, AT))
    assert "31 February" not in resolve(text, AT)


@given(st.text(max_size=200), st.datetimes(timezones=st.just(UTC)))
def test_any_text_is_read_without_an_error(text: str, at: datetime) -> None:
    resolve(text, at)
    assert exact((at.year, at.month, at.day)) in derivable(text, at)


@pytest.mark.parametrize(
    "text",
    [
        "My favourite song is Yesterday.",
        "My favourite film is The Day After Tomorrow.",
        "I was reading USA Today.",
        'I loved "Last Week Tonight" and “tomorrow never dies”.',
        "My daughter was called April.",
        "We saw a film called Next Friday.",
        "It was named The Last Weekend.",
        "The name of my sister was June.",
    ],
)
def test_titles_and_names_are_not_dates(text: str) -> None:
    assert resolve(text, AT) == text


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday I ran.",
        "Great! Tomorrow we ride.",
        "He called yesterday.",
        "Plan: Today we ride.",
        "I WENT YESTERDAY",
    ],
)
def test_days_at_the_start_of_a_sentence_or_in_lower_case_are_dates(text: str) -> None:
    assert resolve(text, AT) != text
