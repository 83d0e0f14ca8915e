"""Reads written dates, and replaces relative and partial dates of a message by full ones.

A date is represented by *partials*, truncated ISO 8601 dates: "2026-02-28", "2026-02", "2026", "--02-28", "--02", "---28" and
"-W-6" (a Saturday). Two texts name the same date, as far as both are complete, if they share a partial.
"""

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final

from slowwave.policy.text.calendar import (
    AMBIGUOUS_MONTHS,
    MONTH_NUMBERS,
    MONTHS,
    NEAR_DAYS,
    WEEKDAY_NUMBERS,
    cached_by_clock,
)
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.relative_dates import (
    DatePhrase,
    date_phrases,
    day_text,
    governing_year,
)
from slowwave.policy.text.tense import sentence_around, tense_at

_MONTH: Final = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_ENGLISH: Final = r"(?:january|february|march|may|june|july|october|december)\b"  # "12. May" is two sentences
_WRITTEN: Final = lazy_regex(
    rf"(?<![\w-])(?P<iso>(?P<iy>\d{{4}})[-/.](?P<im>\d{{1,2}})[-/.](?P<id>\d{{1,2}}))(?![\w-])"
    rf"|(?P<cjk>(?:(?P<cy>\d{{4}})年)?(?P<cm>\d{{1,2}})月(?:(?P<cd>\d{{1,2}})日)?)"
    rf"|(?<![\w./-])(?P<slashed>(?P<sa>\d{{1,2}})[/.](?P<sb>\d{{1,2}})[/.](?P<sy>\d{{4}}|\d{{2}}))(?![\w/]|\.\d)"
    rf"|(?<![\w.,:])(?P<dm>(?:the\s+)?(?P<dd>\d{{1,2}})(?:st|nd|rd|th|er|º|\.(?!\s+{_ENGLISH}))?\s+(?:of\s+|de\s+)?(?P<dn>{_MONTH})\b\.?"
    rf"(?:,?\s+(?:of\s+|de[l]?\s+)?(?P<dy>\d{{4}})\b)?)"
    rf"|\b(?P<md>(?P<mn>{_MONTH})\b\.?\s+(?:the\s+)?(?P<mdd>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:%]|\.\d)"
    rf"(?:,?\s+(?P<my>\d{{4}})\b)?)"
    rf"|\b(?P<ym>(?P<yn>{_MONTH})\b\.?,?\s+(?:of\s+|de\s+)?(?P<yy>(?:19|20)\d\d)\b)"
    rf"|\b(?P<month>(?P<ln>{_MONTH})\b)"
    rf"|(?<![\w$€£#.,-])(?P<year>(?P<ly>(?:19|20)\d\d))(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
_BEFORE_MONTH: Final = lazy_regex(
    r"\b(?:in|since|until|till|by|before|after|during|for|from|to|through|of|and|or|early|mid|late|last|next|this|each|every)"
    r"[\s-]+$",
    re.IGNORECASE,
)
_WEEKDAY: Final = lazy_regex(rf"\b({'|'.join(w for w in WEEKDAY_NUMBERS if w.endswith('day'))})s?\b", re.IGNORECASE)
_NEAR: Final = lazy_regex(
    "|".join(rf"\b{w}\b" if w[0] < "\u3000" else w for w in sorted(NEAR_DAYS, key=len, reverse=True))
)
_LAST_MONTH, _LAST_DAY, _CENTURY = 12, 31, 2000
_YEAR: Final = lazy_regex(r"\b(?:19|20)\d\d\b")
_LED_BY: Final = lazy_regex(r"^(?:(?:on|in|at) )?(?:the )?", re.IGNORECASE)

DateParts = tuple[int | None, int | None, int | None]
"""Year, month and day; None for a part that is not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDate:
    """A date written out at [start, end) of a text, and its possible readings."""

    start: int
    end: int
    readings: tuple[DateParts, ...]


def resolve(text: str, at: datetime) -> str:
    """Replace relative and partial dates by full ones, counted from the day of the message; other words stay unchanged.

    Args:
        text: English text; text in other languages is returned unchanged.
        at: The time of the message, aware. Days are counted in its time zone.

    >>> resolve("I went to a support group yesterday.", datetime(2026, 3, 1))
    'I went to a support group on 28 February 2026.'
    >>> resolve("We moved here last month, the party is on May 3.", datetime(2023, 4, 7))
    'We moved here in March 2023, the party is on 3 May 2023.'
    """
    pieces, place = [], 0
    for phrase in _resolvable(text, at):
        pieces += [text[place : phrase.start], phrase.wording]
        place = phrase.end
    return "".join((*pieces, text[place:]))


def dated(text: str, at: datetime) -> str:
    """A text with the full date in brackets after each relative or partial one; a month alone stays as it is.

    Args:
        text: English text; text in other languages is returned unchanged.
        at: The time of the message, aware. Days are counted in its time zone.

    >>> dated("I went there yesterday.", datetime(2026, 3, 1))
    'I went there yesterday [28 February 2026].'
    """
    pieces, place = [], 0
    for phrase in _resolvable(text, at):
        day = _LED_BY.sub("", phrase.wording)
        written = text[phrase.start : phrase.end]
        if not day.startswith(written) or any(map(str.isdigit, written)):
            pieces += [text[place : phrase.end], f" [{day}]"]
            place = phrase.end
    return "".join((*pieces, text[place:]))


@cached_by_clock
def derivable(text: str, at: datetime) -> frozenset[str]:
    """Every partial that a fact based on this text may mention.

    These are its written dates, all readings of its relative dates ("last Friday" can be this week's or that of the week
    before), and the day of the message.
    """
    allowed = set(partials(at.year, at.month, at.day))
    for written in mentioned(text):
        for year, month, day in written.readings:
            years: tuple[int | None, ...] = (year,)
            if month and not year:
                years = (None, at.year - 1, at.year, at.year + 1, governing_year(text, written.start, at))
            for each in years:
                allowed |= partials(each, month, day)
    for phrase in date_phrases(text, at):
        for first, last in phrase.spans:
            allowed |= _span_partials(first, last)
    for match in _NEAR.finditer(text.lower()):
        near = at.date() + timedelta(days=NEAR_DAYS[match.group()])
        allowed |= partials(near.year, near.month, near.day)
    return frozenset(allowed)


def partials(year: int | None, month: int | None, day: int | None) -> frozenset[str]:
    """Every truncated form of a date and the date itself; of a full date also its weekday.

    >>> sorted(partials(2026, 2, None))
    ['--02', '2026', '2026-02']
    """
    forms = set()
    if year:
        forms.add(f"{year:04}")
    if month:
        forms |= {f"--{month:02}"} | ({f"{year:04}-{month:02}"} if year else set())
    if day:
        forms |= {f"---{day:02}"} | ({f"--{month:02}-{day:02}"} if month else set())
    if year and month and day and (real := _real(year, month, day)):
        forms |= {real.isoformat(), f"-W-{real.isoweekday()}"}
    return frozenset(forms)


def exact(parts: DateParts) -> str:
    """The most complete partial of a date."""
    return max(partials(*parts) or {""}, key=lambda partial: (sum(c.isdigit() for c in partial), partial))


@lru_cache(maxsize=1024)
def mentioned(text: str) -> tuple[WrittenDate, ...]:
    """The dates written out in a text, complete or partial, in order. Weekdays and relative dates are not among them.

    >>> [exact(w.readings[0]) for w in mentioned("from Feb 3rd, 2026 to May 2026, then 4 March")]
    ['2026-02-03', '2026-05', '--03-04']
    """
    return tuple(_written(text))


def weekdays(text: str) -> frozenset[str]:
    """The weekdays a text names, as partials."""
    return frozenset(f"-W-{WEEKDAY_NUMBERS[m[1].lower()] + 1}" for m in _WEEKDAY.finditer(text))


def _written(text: str) -> Iterator[WrittenDate]:
    for match in _WRITTEN.finditer(text):
        readings = tuple(r for r in _readings(match) if _possible(r))
        if match["month"] and not _is_month(text, match):
            continue
        if readings:
            yield WrittenDate(start=match.start(), end=match.end(), readings=readings)


def _readings(match: re.Match[str]) -> tuple[DateParts, ...]:
    """The possible readings of a match of `_WRITTEN`. In "3/4/2026" either number can be the month."""
    group = match.groupdict()
    if group["iso"]:
        return ((int(group["iy"]), int(group["im"]), int(group["id"])),)
    if group["cjk"]:
        return ((_number(group["cy"]), int(group["cm"]), _number(group["cd"])),)
    if group["slashed"]:
        first, second, year = int(group["sa"]), int(group["sb"]), int(group["sy"])
        year += _CENTURY if len(group["sy"]) == len("26") else 0
        return (year, first, second), (year, second, first)
    if group["year"]:
        return ((int(group["ly"]), None, None),)
    name = group["dn"] or group["mn"] or group["yn"] or group["ln"]
    return (
        (
            _number(group["dy"] or group["my"] or group["yy"]),
            MONTH_NUMBERS[name.lower()],
            _number(group["dd"] or group["mdd"]),
        ),
    )


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _possible(parts: DateParts) -> bool:
    _, month, day = parts
    return (month is None or 1 <= month <= _LAST_MONTH) and (day is None or 1 <= day <= _LAST_DAY)


def _is_month(text: str, match: re.Match[str]) -> bool:
    """Whether a lone month name means the month: it has a capital, or a preposition before it, or both if it is also a word."""
    name = match["ln"]
    governed = bool(_BEFORE_MONTH.search(text[max(0, match.start() - _WORD_BEFORE) : match.start()]))
    if name.lower() in AMBIGUOUS_MONTHS:
        return governed and (name[0].isupper() or name == "march")
    return name[0].isupper() or (governed and name.capitalize() in MONTHS)


def _real(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


# A birthday, or what happens every year, belongs to no year; a birth may be of any year.
_YEARLY: Final = lazy_regex(
    r"\b(?:birthday|anniversary|name day)(?: \w+)?(?:['’]s)?(?:,| is| falls)?(?: on)?(?: the)?\s*$|\bborn\b[^,;]{0,40}$"
    r"|\b(?:every|each) (?:year|\w+ber|January|February|March|April|May|June|July|August)\b|\b(?:annual(?:ly)?|yearly)\b",
    re.IGNORECASE,
)
_CLEAR: Final = 60
"""Days: a clear tense decides against the nearest year if the date in that year is at least so far off.

On 10 April "the sprint will end on March 29" hardly means next year, nor "we met on April 20" last year: they stay unchanged.
"""
_UNDECIDED: Final = 100
"""Days: without a tense, a date further off than this in either direction stays unchanged; and where a present tense speaks of
a date, it is the next one if the last one is so long ago."""
_WORD_BEFORE: Final = 20  # characters, enough for the word before a date
_TITLE_CONTEXT: Final = 60  # characters before a date in which the start of a title is looked for
_LISTED_BY_DAY: Final = 9  # days of the longest span whose days are listed
_LISTED_BY_MONTH: Final = 100


def _span_partials(first: date, last: date) -> set[str]:
    """The partials of a span of days: its days up to about a week, its months up to a season, else its years."""
    length = (last - first).days
    days = [first + timedelta(days=n) for n in range(length + 1)]
    if length <= _LISTED_BY_DAY:
        return {p for d in days for p in partials(d.year, d.month, d.day)}
    if length <= _LISTED_BY_MONTH:
        return {p for d in days for p in partials(d.year, d.month, None)}
    return {f"{d.year:04}" for d in days}


def _resolvable(text: str, at: datetime) -> list[DatePhrase]:
    """The phrases to replace, in order.

    Of two that overlap, the earlier and longer one stays. A relative phrase beside a written day ("last weekend, July 3rd")
    is replaced together with it by the day, which is more exact.
    """
    quotes = [match.span() for match in _QUOTED.finditer(text)]
    starts = [start for start, _ in quotes]

    def quoted(phrase: DatePhrase) -> bool:
        place = bisect_left(starts, phrase.start) - 1
        return place >= 0 and phrase.start < quotes[place][1]

    candidates = [
        phrase
        for phrase in (*date_phrases(text, at), *_yearless(text, at))
        if phrase.wording and not quoted(phrase) and not _is_name(text, phrase)
    ]
    kept: list[DatePhrase] = []
    for phrase in sorted(candidates, key=lambda each: (each.start, -each.end)):
        if not kept or phrase.start >= kept[-1].end:
            kept.append(phrase)
    return _beside_days(text, kept)


_BESIDE_DAY: Final = lazy_regex(r"\s*(?:,|[-–—(]|\bon\b)\s*(?:on\s+)?(?:the\s+)?", re.IGNORECASE)

_NO_DAY: Final = lazy_regex(r"^in (?:\w+ )?\d{4}$", re.IGNORECASE)  # a year or month, in which the day is
_OWN_CLAUSE: Final = lazy_regex(r"\s+(?:is|was|are|were|will|has|had|would|worked|suits)\b", re.IGNORECASE)


def _beside_days(text: str, phrases: list[DatePhrase]) -> list[DatePhrase]:
    """The phrases, each relative one directly before a written day joined to it."""
    days = {written.start: written for written in mentioned(text) if written.readings[0][1] and written.readings[0][2]}
    if not days:
        return phrases
    worded = {phrase.start: phrase.wording for phrase in phrases}
    joined: list[DatePhrase] = []
    for phrase in phrases:
        between = _BESIDE_DAY.match(text, phrase.end)
        day = days.get(between.end()) if between else None
        if joined and phrase.start < joined[-1].end:
            continue
        if between is None or day is None or phrase.start in days or _NO_DAY.search(phrase.wording):
            joined.append(phrase)
            continue
        if _OWN_CLAUSE.match(text, day.end):
            joined.append(phrase)
            continue
        on = "On" if text[phrase.start].isupper() else "on"
        wording = f"{on} {worded.get(day.start, text[day.start : day.end])}"
        closed = "(" in between.group() and text[day.end : day.end + 1] == ")"
        joined.append(replace(phrase, end=day.end + closed, wording=wording))
    return joined


_QUOTED: Final = lazy_regex(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|(?<!\w)['‘][^'’\n]{1,300}['’](?!\w)")
_CALLED: Final = lazy_regex(r"\b(?:called|named|titled|entitled)\s+(?:[A-Z][\w'’]*\s+)*$")
_COPULA: Final = lazy_regex(r"\b(?:is|was|are|were|be|called|named)\s+$|['’](?:s|m|re)\s+$", re.IGNORECASE)
_CAPITALISED_DAY: Final = lazy_regex(r"\b(?:Yesterday|Today|Tomorrow|Tonight)\b")


def _is_name(text: str, phrase: DatePhrase) -> bool:
    """Whether a phrase is part of a name: after "called", or "Today" inside a sentence."""
    words, before = text[phrase.start : phrase.end], text[max(0, phrase.start - _TITLE_CONTEXT) : phrase.start]
    if words[:1].isupper() and _CALLED.search(before):
        return True
    day = _CAPITALISED_DAY.search(words)
    place = phrase.start + (day.start() if day else 0)
    return day is not None and not _opens_clause(text[max(0, place - _TITLE_CONTEXT) : place])


def _opens_clause(before: str) -> bool:
    """Whether a sentence or clause begins after these words."""
    return not before.strip() or before.rstrip()[-1] in '.!?:;…–—-\n"“('


def _yearless(text: str, at: datetime) -> Iterator[DatePhrase]:
    """Written dates without a year, completed by the year that the sentence names, or by the nearest that fits its tense."""
    for written in mentioned(text):
        year, month, day = written.readings[0]
        before = text[max(0, written.start - _TITLE_CONTEXT) : written.start]
        if year or not month or (not day and _COPULA.search(before)) or _is_yearly(text, written):
            continue
        guess = _year_of(text, written, (month, day), at)
        real = _real(guess, month, day or 1) if guess else None
        if real is not None:
            wording = day_text(real) if day else f"{MONTHS[month - 1]} {guess}"
            yield DatePhrase(start=written.start, end=written.end, spans=((real, real),), wording=wording)


def _is_yearly(text: str, written: WrittenDate) -> bool:
    start, end = sentence_around(text, written.start)
    return bool(_YEARLY.search(text[start : written.start]) or _YEARLY.search(text[written.end : end]))


def _year_of(text: str, written: WrittenDate, when: tuple[int, int | None], at: datetime) -> int | None:
    """The year of a date without one; None if the sentence does not tell it.

    A year that the sentence names binds. Otherwise it is the year of the nearest such date, unless the tense contradicts it:
    then the tense decides if it is clear and the nearest date is far enough away, else nothing does. A month alone needs a
    tense.
    """
    tense = tense_at(text, written.start, written.end)
    named = _joined_year(text, written) or governing_year(text, written.start, at) or _named_year(text, written, at)
    if named:
        return None if tense.sure and (_days_away(named, when, at) or 0) * tense.direction < 0 else named
    away = {
        year: days for year in (at.year - 1, at.year, at.year + 1) if (days := _days_away(year, when, at)) is not None
    }
    if not away:
        return None
    nearest = min(away, key=lambda year: abs(away[year]))
    if not tense.direction or (tense.habit and not when[1]):
        return nearest if when[1] and abs(away[nearest]) <= _UNDECIDED else None
    if away[nearest] * tense.direction >= 0:
        return nearest
    fitting = [year for year, days in away.items() if days * tense.direction >= 0]
    clear = abs(away[nearest]) >= (_CLEAR if tense.sure else _UNDECIDED) and (tense.sure or tense.direction > 0)
    return min(fitting, key=lambda year: abs(away[year])) if clear and fitting else None


def _days_away(year: int, when: tuple[int, int | None], at: datetime) -> int | None:
    """The days from the message to a date, negative for the past; of a month to its nearer end, 0 within it."""
    month, day = when
    if day:
        real = _real(year, month, day)
        return (real - at.date()).days if real else None
    first = _real(year, month, 1)
    if first is None:
        return None
    last = first.replace(day=monthrange(year, month)[1])
    return max(0, (first - at.date()).days) or min(0, (last - at.date()).days)


_JOINS_DATES: Final = lazy_regex(r"\s*(?:[-–—,/]|to|and|or|until|till|through)\s*(?:the\s+)?", re.IGNORECASE)
_BESIDE_YEAR: Final = lazy_regex(
    r"\b(?:since|until|till|from|to|between|than|through|of|version|before|after)\s+(?:the\s+)?$", re.IGNORECASE
)


_JOINED_WITHIN: Final = 100  # characters from the start of one date to the start of a date that is joined to it


def _written_between(text: str, first: int, last: int) -> Sequence[WrittenDate]:
    """The written dates that start in [first, last) of a text."""
    dates = mentioned(text)
    begin, end = (bisect_left(dates, place, key=lambda date: date.start) for place in (first, last))
    return dates[begin:end]


def _joined_year(text: str, written: WrittenDate) -> int | None:
    """The year of a date that is joined to this one: "from 20 December 2025 to 3 January", "Nov 1 - Nov 15, 2023"."""
    for other in _written_between(text, written.start - _JOINED_WITHIN, written.end + _JOINED_WITHIN):
        (year, month, day), mine = other.readings[0], written.readings[0]
        if not (year and month and mine[1]):
            continue
        later = (month, day or 1) < (mine[1], mine[2] or 1)
        if _JOINS_DATES.fullmatch(text[written.end : other.start] or "."):
            return year - later
        if _JOINS_DATES.fullmatch(text[other.end : written.start] or "."):
            return year + (not later and (month, day or 1) != (mine[1], mine[2] or 1))
    return None


def _named_year(text: str, written: WrittenDate, at: datetime) -> int | None:
    """A year near that of the message that the sentence names: "the Marathon 2026 is on 10 May"."""
    start, end = sentence_around(text, written.start)
    years = [
        (other.start, other.readings[0][0])
        for other in _written_between(text, start, end)
        if other.readings[0][1:] == (None, None)
        and not _BESIDE_YEAR.search(text[max(start, other.start - _WORD_BEFORE) : other.start])
    ]
    near = [(place, year) for place, year in years if year and abs(year - at.year) <= 1]
    before = [each for each in near if each[0] < written.start]
    return max(before)[1] if before else min(near, default=(0, None))[1]
