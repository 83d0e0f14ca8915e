"""Reads written dates and spans of dates as first and last days, and tells which of them a message supports.

A fact names a span where its message is no more exact: "the weekend of 20 May 2023", "20-21 May 2023", "late May 2023".
`written_spans` reads such a span with its place, so that its numbers need no other source; `span_follows` compares it with a
message. Each rule of `_RULES` is a pattern and a function that reads its match.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from slowwave.policy.text.calendar import MONTH_NUMBERS, SEASONS, WEEKDAY_NUMBERS, cached_by_clock
from slowwave.policy.text.dates import mentioned
from slowwave.policy.text.foreign_spans import foreign_spans
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.relative_dates import COUNTS, DateSpan, date_phrases, governing_year

EXACT_DAYS: Final = 10
"""The most days of a span of a message of which a fact may name a single day ("last week" supports a day of it)."""
_MONTH_DAYS: Final = 28
_SEASON_DAYS: Final = 100
_TOLERANCE: Final = timedelta(days=1)
_WINTER: Final = 12

_MONTH: Final = "(?:" + "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True)) + r")\b\.?"
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_TO: Final = r"\s*(?:[-–—/]|\b(?:to|through|until|till)\b)\s*(?:the\s+)?"
_LIST: Final = rf"(?:\s*(?P<list>&|\b(?:and|or)\b)\s*(?:the\s+)?|{_TO})"
_BETWEEN: Final = r"(?P<between>between\s+(?:the\s+)?)?"
_YEAR: Final = r"(?:19|20)\d\d"
_BEFORE_YEAR: Final = r"(?:,?\s+(?:of\s+|del?\s+)?)"
_NTH: Final = lazy_regex(
    rf"\b(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th)\s+(?P<unit>week|weekend|{'|'.join(w for w in WEEKDAY_NUMBERS if w.endswith('day'))})"
    rf"\s+(?:of|in)\s+(?P<m>{_MONTH})(?:,?\s+(?P<y>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_NUMBERS: Final = MappingProxyType(
    {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 0}
)
_FEASTS: Final = tuple(
    (lazy_regex(rf"\b(?:{words})\b", re.IGNORECASE), first, last)
    for words, first, last in (
        (r"(?:christmas|xmas)(?! (?:tree|song|movie|film|lights?|cookies?))", (12, 24), (12, 26)),
        (r"new year['’]?s(?: eve| day)?|new year(?= (?:celebration|party))", (12, 31), (1, 1)),
        (r"(?:over|for|during|spen[dt]) the (?:winter )?holidays|the holiday season", (12, 20), (1, 1)),
        (r"halloween", (10, 31), (10, 31)),
        (r"thanksgiving", (11, 22), (11, 29)),
        (r"valentine['’]?s(?: day)?", (2, 14), (2, 14)),
        (r"easter", (3, 22), (4, 26)),
    )
)
"""Feasts that a message names without a date, with the month and day of their first and last day."""
_BARE_QUARTER: Final = lazy_regex(r"\b(?P<q>Q[1-4]|(?:first|second|third|fourth|last) quarter)\b", re.IGNORECASE)
_BARE_SEASON: Final = lazy_regex(rf"\b(?:{'|'.join(SEASONS)})\b", re.IGNORECASE)
_PART: Final = (
    r"(?:(?P<part>early|mid|middle|late|(?:the\s+)?(?:beginning|start|middle|end|first half|second half|first part|last part)"
    r"\s+of)(?:\s+|-)(?:the\s+)?)?"
)
_PART_LONGEST: Final = 30
"""The characters before a month in which its part may be named."""
_PART_BEFORE: Final = lazy_regex(rf"\b{_PART.removesuffix('?')}$", re.IGNORECASE)
_BEGINS: Final = r"(?<![\w.,:/$€£#-])"
_ENDS: Final = r"(?![\w%]|[.,]\d)"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSpan:
    """A complete date or span of dates at [start, end) of a text.

    Attributes:
        readings: each first and last day, both inclusive, that it can mean; more than one only for a winter ("winter 2023").
    """

    start: int
    end: int
    readings: tuple[DateSpan, ...]


@lru_cache(maxsize=1024)
def written_spans(text: str) -> tuple[WrittenSpan, ...]:
    """The dates and spans of dates of a text that name a year, in order. Dates without a year are not among them.

    >>> [[str(day) for day in span.readings[0]] for span in written_spans("the weekend of 20 May 2023, then summer 2024")]
    [['2023-05-20', '2023-05-21'], ['2024-06-01', '2024-08-31']]
    >>> [str(day) for day in written_spans("between 28 May and 3 June 2023")[0].readings[0]]
    ['2023-05-28', '2023-06-03']
    """
    found: list[WrittenSpan] = []
    taken = bytearray(len(text))
    for pattern, read in _RULES:
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            try:
                readings = tuple(span for span in read(match) if span[0] <= span[1])
            except ValueError:  # 31 June
                readings = ()
                taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
            if readings:
                taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
                found.append(_with_lead(text, WrittenSpan(start=match.start(), end=match.end(), readings=readings)))
    return tuple(sorted(found, key=lambda span: span.start))


@cached_by_clock
def possible_spans(text: str, at: datetime) -> tuple[DateSpan, ...]:
    """Every span of days that a message may mean: its own day, its written dates and all readings of its relative dates.

    A date or season without a year counts in the year before the message, in that year, in the next, and in the year that its
    sentence names.
    """
    spans: dict[DateSpan, None] = {(at.date(), at.date()): None}
    spans |= dict.fromkeys(reading for span in written_spans(text) for reading in span.readings)
    for written in mentioned(text):
        part = _PART_BEFORE.search(text[max(0, written.start - _PART_LONGEST) : written.start])
        years = {at.year - 1, at.year, at.year + 1, governing_year(text, written.start, at) or at.year}
        for year, month, day in written.readings:
            if month:
                months = [s for y in sorted({year} if year else years) if (s := _parts_span(y, month, day))]
                spans |= dict.fromkeys(months)
                if part and not day:  # "at the end of November"
                    spans |= dict.fromkeys(_part_of(span, part["part"]) for span in months)
    for phrase in date_phrases(text, at):
        spans |= dict.fromkeys(phrase.spans)
        part = _PART_BEFORE.search(text[max(0, phrase.start - _PART_LONGEST) : phrase.start])
        if part:  # "by the end of last quarter"
            spans |= dict.fromkeys(_edge(span, part["part"]) for span in phrase.spans)
    spans |= dict.fromkeys(foreign_spans(text, at))
    first, last = max(MINYEAR, at.year - 1), min(MAXYEAR - 1, at.year + 1)  # a winter ends in the year after its own
    spans |= dict.fromkeys(span for year in range(first, last + 1) for span in _named_parts(text, year))
    return tuple(spans)


def _named_parts(text: str, year: int) -> Iterator[DateSpan]:
    """The seasons, weeks of a month and feasts of a year that a text names."""
    for found in _BARE_SEASON.finditer(text):
        month = SEASONS[found.group().lower()]
        yield date(year, month, 1), _month_span(year + (month + 1) // 12, (month + 1) % 12 + 1)[1]
    for found in _BARE_QUARTER.finditer(text):
        number = _quarter_number(found["q"])
        yield date(year, 3 * number - 2, 1), _month_span(year, 3 * number)[1]
    for match in _NTH.finditer(text):
        if not match["y"] or int(match["y"]) == year:
            yield from _nth_of_month(match, year)
    for pattern, first_day, last_day in _FEASTS:
        if pattern.search(text):
            yield date(year, *first_day), date(year + (last_day < first_day), *last_day)


def _nth_of_month(match: re.Match[str], year: int) -> Iterator[DateSpan]:
    """The readings of "the second week of August": the days 8 to 14, the second whole week, the week after that of the first day."""
    first, last = _month_span(year, _month_of(match["m"]))
    number, unit = _NUMBERS[match["nth"].lower()], match["unit"].lower()
    if unit in WEEKDAY_NUMBERS:
        days = [day for n in range(last.day) if (day := first + timedelta(days=n)).weekday() == WEEKDAY_NUMBERS[unit]]
        day = days[number - 1]
        yield day, day
        return
    weekend = unit == "weekend"
    monday = first - timedelta(days=first.weekday())
    if not number:  # the last one
        yield last - timedelta(days=6), last
        yield _week_of(last, weekend=weekend)
        yield _week_of(last - timedelta(days=7), weekend=weekend)
        return
    steps = timedelta(weeks=number - 1)
    yield _week_of(monday + steps, weekend=weekend)
    yield _week_of(monday + timedelta(weeks=1) + steps, weekend=weekend)
    if not weekend:
        yield first + steps, first + steps + timedelta(days=6)


def span_follows(span: WrittenSpan, text: str, at: datetime) -> bool:
    """Whether a span that a fact names follows from a message and its time.

    It follows if a reading of it contains a possible span of the message (a day more at either side is allowed) or, being
    longer, at least half of one, or lies within one and is not much more exact: any days within about a week, months within a
    season.

    Args:
        span: One of `written_spans` of the fact.
        text: The message.
        at: The time of the message, aware.

    >>> def follows(fact, said):
    ...     return span_follows(written_spans(fact)[0], said, datetime(2023, 5, 24))
    >>> follows("the weekend of 20-21 May 2023", "We camped last weekend"), follows("28 May 2023", "We camp this weekend")
    (True, True)
    >>> follows("May 2022", "I moved a year ago"), follows("3 April 2023", "I moved last month")
    (True, False)
    """
    return any(_reading_follows(wide, text, at.replace(tzinfo=None)) for wide in span.readings)


@lru_cache(maxsize=4096)
def _reading_follows(wide: DateSpan, text: str, at: datetime) -> bool:
    spans = _spans_by_year(text, at)
    return any(
        _contains(wide, narrow) or _is_detail(wide, narrow) or _is_coarser(wide, narrow)
        for year in _years_of(wide)
        for narrow in spans.get(year, ())
    )


@cached_by_clock
def _spans_by_year(text: str, at: datetime) -> Mapping[int, Sequence[DateSpan]]:
    """The `possible_spans` of a message by each year that has a day of them. A fact is compared with those of its years only."""
    by_year: dict[int, list[DateSpan]] = {}
    for span in possible_spans(text, at):
        for year in _years_of(span):
            by_year.setdefault(year, []).append(span)
    return MappingProxyType(by_year)


def _years_of(span: DateSpan) -> range:
    """The years that have a day of a span, or of the `_TOLERANCE` beside it."""
    if not _inside_calendar(span):
        return range(span[0].year, span[1].year + 1)
    return range((span[0] - _TOLERANCE).year, (span[1] + _TOLERANCE).year + 1)


def _contains(fact: DateSpan, said: DateSpan) -> bool:
    return (
        fact[0] - _TOLERANCE <= said[0] and said[1] <= fact[1] + _TOLERANCE if _inside_calendar(fact) else fact == said
    )


def _inside_calendar(span: DateSpan) -> bool:
    return date.min < span[0] and span[1] < date.max


def _is_detail(fact: DateSpan, said: DateSpan) -> bool:
    """Whether a fact's span lies within one of the message that is about as exact; of a month at least its middle."""
    said_days, fact_days = ((last - first).days + 1 for first, last in (said, fact))
    if said_days <= EXACT_DAYS:
        return said[0] <= fact[0] and fact[1] <= said[1]
    middle = fact[0] + (fact[1] - fact[0]) / 2
    return said[0] <= middle <= said[1] and said_days <= _SEASON_DAYS and fact_days >= _MONTH_DAYS


def _is_coarser(fact: DateSpan, said: DateSpan) -> bool:
    """Whether a fact's span is longer than one of the message and contains half of it: "a couple of weeks ago", "in late May"."""
    said_days, fact_days = ((last - first).days + 1 for first, last in (said, fact))
    common = (min(fact[1], said[1]) - max(fact[0], said[0])).days + 1
    return fact_days > max(said_days, EXACT_DAYS) and 2 * common >= said_days


def _parts_span(year: int, month: int, day: int | None) -> DateSpan | None:
    try:
        return (date(year, month, day), date(year, month, day)) if day else _month_span(year, month)
    except ValueError:
        return None


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _month_of(name: str) -> int:
    return MONTH_NUMBERS[name.rstrip(".").lower()]


def _month_span(year: int, month: int) -> DateSpan:
    first = date(year, month, 1)
    return first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)


def _part_of(span: DateSpan, part: str | None) -> DateSpan:
    """The named part of a span: its first or last third with a margin, or its half.

    Early and late are read broadly: the first half and the second half; "mid" is the middle half.
    """
    if part is None:
        return span
    first, last = span
    half, quarter = (last - first) / 2, (last - first) / 4
    words = part.lower()
    if "mid" in words:
        return first + quarter, last - quarter
    if re.search(r"early|beginning|start|first", words):
        return first, first + half
    return first + half, last


def _edge(span: DateSpan, part: str | None) -> DateSpan:
    """The first or last days of a span, at most `EXACT_DAYS`, if the part is its beginning or end; else the part."""
    first, last = _part_of(span, part)
    days = min(timedelta(days=EXACT_DAYS - 1), last - first)
    if first == span[0]:
        return first, first + days
    return (last - days, last) if last == span[1] else (first, last)


def _is_span(match: re.Match[str], length: timedelta) -> bool:
    """Whether two dates are the ends of a span. With "and" they are if they are neighbours: "3 and 17 May" are two dates."""
    return not match["list"] or bool(match["between"]) or length <= _TOLERANCE


def _days_of_a_month(match: re.Match[str]) -> Iterator[DateSpan]:
    year, month = int(match["y"]), _month_of(match["m"])
    first, last = (date(year, month, _number(match[name])) for name in ("d1", "d2"))
    if _is_span(match, last - first):
        yield first, last


def _two_dates(match: re.Match[str]) -> Iterator[DateSpan]:
    months, days = (_month_of(match["m1"]), _month_of(match["m2"])), (_number(match["d1"]), _number(match["d2"]))
    last = date(int(match["y2"]), months[1], days[1])
    year = int(match["y1"]) if match["y1"] else last.year - ((months[0], days[0]) > (months[1], days[1]))
    first = date(year, months[0], days[0])
    if _is_span(match, last - first):
        yield first, last


def _iso_dates(match: re.Match[str]) -> Iterator[DateSpan]:
    first = date.fromisoformat(match["i1"])
    yield first, date.fromisoformat(match["i2"]) if match["i2"] else first


def _one_day(match: re.Match[str]) -> Iterator[DateSpan]:
    day = date(int(match["y"]), _month_of(match["m"]), _number(match["d"]))
    yield day, day


def _two_months(match: re.Match[str]) -> Iterator[DateSpan]:
    first, last, year = _month_of(match["m1"]), _month_of(match["m2"]), int(match["y2"])
    began = int(match["y1"]) if match["y1"] else year - (first > last)
    if match["list"] and not match["between"] and 12 * (year - began) + last - first != 1:
        return
    yield _part_of(_month_span(began, first), match["part"])[0], _month_span(year, last)[1]


def _one_month(match: re.Match[str]) -> Iterator[DateSpan]:
    yield _part_of(_month_span(int(match["y"]), _month_of(match["m"])), match["part"])


def _season(match: re.Match[str]) -> Iterator[DateSpan]:
    """A season; a winter of one year is the one that begins in it or the one that ends in it."""
    month, year = SEASONS[match["season"].lower()], int(match["y"])
    began = (year, year - 1) if month == _WINTER and not match["y2"] else (year,)
    for each in began:
        yield _part_of(
            (date(each, month, 1), _month_span(each + (month + 1) // 12, (month + 1) % 12 + 1)[1]), match["part"]
        )


_QUARTERS: Final = ("first", "second", "third", "fourth", "last")


def _quarter_number(name: str) -> int:
    return int(name[1]) if name[1].isdigit() else min(4, _QUARTERS.index(name.lower().split()[0]) + 1)


def _quarter(match: re.Match[str]) -> Iterator[DateSpan]:
    number, year = _quarter_number(match["q"]), int(match["y"])
    yield date(year, 3 * number - 2, 1), _month_span(year, 3 * number)[1]


def _years(match: re.Match[str]) -> Iterator[DateSpan]:
    first = int(match["y1"])
    last = int(match["y2"] or first) if not match["decade"] else first + 9
    yield _part_of((date(first, 1, 1), date(last, 12, 31)), match["part"])


def _rule(pattern: str) -> re.Pattern[str]:
    return lazy_regex(f"{_BEGINS}(?:{pattern}){_ENDS}", re.IGNORECASE)


_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Iterator[DateSpan]]], ...]] = (
    (_rule(rf"(?P<i1>{_YEAR}-\d\d-\d\d)(?:{_TO}(?P<i2>{_YEAR}-\d\d-\d\d))?"), _iso_dates),
    (
        _rule(
            rf"{_BETWEEN}(?P<d1>{_DAY})\s+(?:of\s+)?(?P<m1>{_MONTH})(?:,?\s+(?P<y1>{_YEAR}))?{_LIST}"
            rf"(?P<d2>{_DAY})\s+(?:of\s+)?(?P<m2>{_MONTH}){_BEFORE_YEAR}(?P<y2>{_YEAR})"
        ),
        _two_dates,
    ),
    (
        _rule(
            rf"{_BETWEEN}(?P<m1>{_MONTH})\s+(?P<d1>{_DAY})(?:,?\s+(?P<y1>{_YEAR}))?{_LIST}(?P<m2>{_MONTH})\s+(?P<d2>{_DAY}),?"
            rf"\s+(?P<y2>{_YEAR})"
        ),
        _two_dates,
    ),
    (
        _rule(
            rf"{_BETWEEN}(?P<d1>{_DAY}){_LIST}(?P<d2>{_DAY})\s+(?:of\s+)?(?P<m>{_MONTH}){_BEFORE_YEAR}(?P<y>{_YEAR})"
        ),
        _days_of_a_month,
    ),
    (_rule(rf"{_BETWEEN}(?P<m>{_MONTH})\s+(?P<d1>{_DAY}){_LIST}(?P<d2>{_DAY}),?\s+(?P<y>{_YEAR})"), _days_of_a_month),
    (_rule(rf"(?P<d>{_DAY})\s+(?:of\s+|de\s+)?(?P<m>{_MONTH}){_BEFORE_YEAR}(?P<y>{_YEAR})"), _one_day),
    (_rule(rf"(?P<m>{_MONTH})\s+(?:the\s+)?(?P<d>{_DAY}),?\s+(?P<y>{_YEAR})"), _one_day),
    (
        _rule(
            rf"{_BETWEEN}{_PART}(?P<m1>{_MONTH})(?:{_BEFORE_YEAR}(?P<y1>{_YEAR}))?{_LIST}(?P<m2>{_MONTH}){_BEFORE_YEAR}(?P<y2>{_YEAR})"
        ),
        _two_months,
    ),
    (_rule(rf"{_PART}(?P<m>{_MONTH}){_BEFORE_YEAR}(?P<y>{_YEAR})"), _one_month),
    (
        _rule(
            rf"{_PART}(?:the\s+)?(?P<season>{'|'.join(SEASONS)}){_BEFORE_YEAR}(?P<y>{_YEAR})(?:\s?[/–-]\s?(?P<y2>(?:{_YEAR}|\d\d)))?"
        ),
        _season,
    ),
    (_rule(rf"(?:the\s+)?(?P<q>Q[1-4]|(?:{'|'.join(_QUARTERS)}) quarter){_BEFORE_YEAR}(?P<y>{_YEAR})"), _quarter),
    (_rule(rf"{_PART}(?P<y1>{_YEAR[:-2]}0)(?P<decade>['’]?s)(?P<y2>)"), _years),
    (_rule(rf"{_PART}(?P<y1>{_YEAR})(?:{_TO}(?P<y2>{_YEAR}))?(?P<decade>)"), _years),
)
_LEAD: Final = lazy_regex(
    rf"(?:(?P<unit>week(?:end)?)\s+(?:of|from|beginning|starting)|(?P<about>around|about|circa)"
    rf"|\b(?P<count>the|a few|several|{'|'.join(COUNTS)}|\d{{1,3}})\s+(?P<step>day|weekend|week|month|year|{'|'.join(w for w in WEEKDAY_NUMBERS if w.endswith('day'))})s?"
    rf"\s+(?P<side>before|after))\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_LEAD_LONGEST: Final = 40  # characters
_ABOUT: Final = timedelta(days=3)
_UNIT_DAYS: Final = {"day": 1, "weekend": 7, "week": 7, "month": 31, "year": 366}
_FEW: Final = (2, 8)


def _with_lead(text: str, span: WrittenSpan) -> WrittenSpan:
    """The span with the words before it read: "the week of", "the weekend of", "around", "two weeks before"."""
    before = text[max(0, span.start - _LEAD_LONGEST) : span.start]
    lead = _LEAD.search(before)
    if lead is None:
        return span
    readings = tuple(led for reading in span.readings for led in _led(lead, reading))
    if not readings:
        return span
    return WrittenSpan(start=span.start - len(before) + lead.start(), end=span.end, readings=readings)


def _led(lead: re.Match[str], reading: DateSpan) -> Iterator[DateSpan]:
    first, last = reading
    if (last - first).days > EXACT_DAYS:
        return
    try:
        if lead["about"]:
            yield first - _ABOUT, last + _ABOUT
        elif lead["unit"]:
            yield _week_of(first, weekend=lead["unit"].lower() == "weekend")
        else:
            yield _off(
                first, lead["count"].lower(), lead["step"].lower(), -1 if lead["side"].lower() == "before" else 1
            )
    except OverflowError:
        return


def _week_of(day: date, *, weekend: bool) -> DateSpan:
    """Monday to Sunday, or Saturday and Sunday, of the week of a day."""
    monday = day - timedelta(days=day.weekday())
    return (monday + timedelta(days=5) if weekend else monday), monday + timedelta(days=6)


def _off(day: date, count: str, step: str, side: int) -> DateSpan:
    """The span so many steps before or after a day; "the" is one step, "a few" are two to eight."""
    if step in WEEKDAY_NUMBERS:
        off = (day.weekday() - WEEKDAY_NUMBERS[step]) * -side % 7 or 7
        named = day + timedelta(days=side * off)
        return named, named
    counts = _FEW if count in {"a few", "several"} else (int(count) if count.isdigit() else COUNTS.get(count, 1),) * 2
    near, far = (day + timedelta(days=side * _UNIT_DAYS[step] * n) for n in counts)
    first, last = min(near, far), max(near, far)
    if step == "day":
        return first, last
    if step in {"week", "weekend"}:
        weekend = step == "weekend"
        return _week_of(first, weekend=weekend)[0], _week_of(last, weekend=weekend)[1]
    first, last = (d.replace(month=1) if step == "year" else d for d in (first, last))
    return first.replace(day=1), (
        last.replace(month=12, day=31) if step == "year" else _month_span(last.year, last.month)[1]
    )
