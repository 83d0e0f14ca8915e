"""Written spans of dates, and whether a message supports them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from slowwave.policy.text.date_spans import span_follows, written_spans

AT = datetime(2023, 5, 24, 9, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("on 20 May 2023", ["2023-05-20/2023-05-20"]),
        ("on May 20th, 2023", ["2023-05-20/2023-05-20"]),
        ("on 2023-05-20", ["2023-05-20/2023-05-20"]),
        ("20-21 May 2023", ["2023-05-20/2023-05-21"]),
        ("20–21 May 2023", ["2023-05-20/2023-05-21"]),
        ("May 20 to 22, 2023", ["2023-05-20/2023-05-22"]),
        ("between 3 and 17 May 2023", ["2023-05-03/2023-05-17"]),
        ("from 28 May to 3 June 2023", ["2023-05-28/2023-06-03"]),
        ("30 December to 2 January 2024", ["2023-12-30/2024-01-02"]),
        ("between 28 May and 3 June 2023", ["2023-05-28/2023-06-03"]),
        ("3 May 2023 and 9 June 2023", ["2023-05-03/2023-05-03", "2023-06-09/2023-06-09"]),
        ("on 3 and 17 May 2023", ["2023-05-17/2023-05-17"]),
        ("the weekend of 20 May 2023", ["2023-05-20/2023-05-21"]),
        ("the weekend of 20-21 May 2023", ["2023-05-20/2023-05-21"]),
        ("the week of 10 May 2023", ["2023-05-08/2023-05-14"]),
        ("around 20 May 2023", ["2023-05-17/2023-05-23"]),
        ("the week before 9 June 2023", ["2023-05-29/2023-06-04"]),
        ("two weekends before 17 July 2023", ["2023-07-08/2023-07-09"]),
        ("the Sunday before 25 May 2023", ["2023-05-21/2023-05-21"]),
        ("the Friday after 25 May 2023", ["2023-05-26/2023-05-26"]),
        ("three days after 30 May 2023", ["2023-06-02/2023-06-02"]),
        ("a month before 25 May 2023", ["2023-04-01/2023-04-30"]),
        ("two years before 25 May 2023", ["2021-01-01/2021-12-31"]),
        ("in May 2023", ["2023-05-01/2023-05-31"]),
        ("in late May 2023", ["2023-05-16/2023-05-31"]),
        ("at the beginning of May 2023", ["2023-05-01/2023-05-16"]),
        ("May or June 2023", ["2023-05-01/2023-06-30"]),
        ("from November to January 2024", ["2023-11-01/2024-01-31"]),
        ("summer 2023", ["2023-06-01/2023-08-31"]),
        ("winter 2022/2023", ["2022-12-01/2023-02-28"]),
        ("winter 2023", ["2023-12-01/2024-02-29", "2022-12-01/2023-02-28"]),
        ("the third quarter of 2023", ["2023-07-01/2023-09-30"]),
        ("in 2023", ["2023-01-01/2023-12-31"]),
        ("from 2019 to 2022", ["2019-01-01/2022-12-31"]),
        ("the early 1990s", ["1990-01-01/1994-12-31"]),
        ("31 June 2023", []),
        ("20 May, at 2024.5 degrees, for $2000", []),
    ],
)
def test_spans_of_dates_are_read(text: str, spans: list[str]) -> None:
    assert [f"{first}/{last}" for span in written_spans(text) for first, last in span.readings] == spans


def test_the_place_of_a_span_covers_its_numbers() -> None:
    text = "Camped on the weekend of 20-21 May 2023 with 4 friends"
    (span,) = written_spans(text)
    assert text[span.start : span.end] == "weekend of 20-21 May 2023"


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("on 23 May 2023", "I ran yesterday"),
        ("in May 2023", "I ran yesterday"),
        ("the weekend of 20-21 May 2023", "We camped last weekend"),
        ("the weekend of 27 May 2023", "We camp this weekend"),
        ("the weekend of 20 May 2023", "It was fun this weekend"),
        ("the week of 15 May 2023", "We moved last week"),
        ("18 May 2023", "We moved last week"),
        ("May 2022", "I moved a year ago"),
        ("2022", "I moved a year ago"),
        ("2013", "I moved ten years ago"),
        ("summer 2022", "I was there last summer"),
        ("July 2022", "I was there last summer"),
        ("3-4 June 2023", "The fair is on 3 and 4 June"),
        ("April 2023", "We moved a few weeks ago"),
        ("the end of November 2023", "The baby is due at the end of November"),
        ("late June 2023", "We move in late June"),
        ("early May 2023", "We moved a couple of weeks ago"),
        ("22 May 2023", "Our son was born the night before last"),
        ("31 May 2023", "The exam is a week from today"),
        ("the week of 5 June 2023", "The exam is the week after next"),
        ("the weekend of 13 May 2023", "We sailed the weekend before last"),
        ("March 2023", "The shop closed the month before last"),
        ("14 May 2023", "We won the cup two Sundays ago"),
        ("the week of 7 August 2023", "The course is in the second week of August"),
        ("8-14 August 2023", "The course is in the second week of August"),
        ("the week of 29 May 2023", "The course is in the first week of June"),
        ("the weekend of 26 August 2023", "The fair is on the last weekend of August"),
        ("14 June 2023", "We meet on the second Wednesday in June"),
        ("the second quarter of 2023", "The grant must be spent by the end of Q2"),
        ("the end of March 2023", "We wanted it by the end of last quarter"),
        ("early June 2023", "It begins at the beginning of next month"),
        ("December 2022", "We moved at the end of last year"),
        ("Christmas 2022", "We spent Christmas in Oslo"),
        ("31 December 2022", "New Year's Eve was loud"),
        ("December 2022", "We were in Oslo over the holidays"),
        ("31 October 2022", "He was a ghost on Halloween"),
    ],
)
def test_a_span_that_the_message_means_follows(fact: str, said: str) -> None:
    assert all(span_follows(span, said, AT) for span in written_spans(fact))


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("on 3 April 2023", "I moved last month"),
        ("July 2022", "I moved last year"),
        ("2021", "I moved a year ago"),
        ("the weekend of 6 May 2023", "We camped last weekend"),
        ("May 2021", "We met in April"),
        ("summer 2023", "hello"),
        ("the week of 8 May 2023", "We met yesterday"),
        ("the end of November 2023", "The baby is due at the beginning of November"),
        ("the end of November 2023", "The baby is due in November"),
        ("20 May 2023", "Our son was born the night before last"),
        ("the week of 29 May 2023", "The exam is the week after next"),
        ("4 May 2023", "We won the cup two Sundays ago"),
        ("the week of 21 August 2023", "The course is in the second week of August"),
        ("the third quarter of 2023", "The grant must be spent by the end of Q2"),
        ("the end of February 2023", "We wanted it by the end of last quarter"),
        ("late June 2023", "It begins at the beginning of next month"),
        ("21 June 2023", "We meet on the second Wednesday in June"),
        ("December 2022", "We bought a Christmas tree stand"),
        ("late April 2023", "We moved in the week before last"),
    ],
)
def test_another_or_a_more_exact_span_does_not_follow(fact: str, said: str) -> None:
    assert not any(span_follows(span, said, AT) for span in written_spans(fact))


@given(st.text(alphabet="0123456789 /-.MayJunetoand", max_size=60), st.datetimes(timezones=st.just(UTC)))
def test_any_text_is_read_without_an_error(text: str, at: datetime) -> None:
    assert all(0 <= span.start < span.end <= len(text) for span in written_spans(text))
    assert all(span_follows(span, text, at) for span in written_spans(text))


@pytest.mark.parametrize("at", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)])
@pytest.mark.parametrize(
    "text",
    [
        "last winter",
        "at Christmas",
        "last quarter",
        "late today",
        "the second week of May",
        "the month after next",
        "letztes Jahr",
    ],
)
def test_a_message_with_the_first_or_the_last_date_of_the_calendar_supports_a_date_that_it_names(
    text: str, at: datetime
) -> None:
    span = written_spans("on 3 May 2023")[0]
    assert span_follows(span, f"{text}, on 3 May 2023", at)
    assert not span_follows(span, text, at)
