"""Dates in talk: "yesterday" and "the 14th" become days, in the calendar of whoever said them.

A date is handed on as *partials*, truncated ISO 8601: "2026-02-28", "2026-02", "2026", "--02-28", "--02", "---28" and
"-W-6" (a Saturday). Two texts speak of the same date, as far as both say, when they share a partial.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final

from slowwave.policy.text.calendar import AMBIGUOUS_MONTHS, MONTH_NUMBERS, MONTHS, NEAR_DAYS, WEEKDAY_NUMBERS
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.relative_dates import (
    Mention,
    day_text,
    governing_year,
    leaning,
    mentions,
)

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

Parts = tuple[int | None, int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A date that stands in a text at [start, end), by its possible readings as (year, month, day); None is unsaid."""

    start: int
    end: int
    readings: tuple[Parts, ...]


def resolve(text: str, at: datetime) -> str:
    """Write relative and partial dates out, as seen from the day of the message; other words stay as they are.

    Args:
        text: English text; other languages come back unchanged.
        at: When it was said, aware; days are counted in its own time zone.

    >>> resolve("I went to a support group yesterday.", datetime(2026, 3, 1))
    'I went to a support group on 28 February 2026.'
    >>> resolve("We moved here last month, the party is on May 3.", datetime(2023, 4, 7))
    'We moved here in March 2023, the party is on 3 May 2023.'
    """
    pieces, place = [], 0
    for mention in _resolvable(text, at):
        pieces += [text[place : mention.start], mention.said]
        place = mention.end
    return "".join((*pieces, text[place:]))


def derivable(text: str, at: datetime) -> frozenset[str]:
    """Every partial that a fact resting on this text may mention.

    These are its written dates, what its relative dates can mean, and the day it was said. Ambiguous phrases give all their readings ("last Friday" may be this week's or the week before's).
    """
    found = set(partials(at.year, at.month, at.day))
    for written in mentioned(text):
        for year, month, day in written.readings:
            years: tuple[int | None, ...] = (year,)
            if month and not year:
                years = (None, at.year - 1, at.year, at.year + 1, governing_year(text, written.start, at))
            for each in years:
                found |= partials(each, month, day)
    for mention in mentions(text, at):
        for first, last in mention.spans:
            found |= _covered(first, last)
    for match in _NEAR.finditer(text.lower()):
        near = at.date() + timedelta(days=NEAR_DAYS[match.group()])
        found |= partials(near.year, near.month, near.day)
    return frozenset(found)


def partials(year: int | None, month: int | None, day: int | None) -> frozenset[str]:
    """Every truncated form of a date, itself included; a full one with its weekday.

    >>> sorted(partials(2026, 2, None))
    ['--02', '2026', '2026-02']
    """
    found = set()
    if year:
        found.add(f"{year:04}")
    if month:
        found |= {f"--{month:02}"} | ({f"{year:04}-{month:02}"} if year else set())
    if day:
        found |= {f"---{day:02}"} | ({f"--{month:02}-{day:02}"} if month else set())
    if year and month and day and (real := _real(year, month, day)):
        found |= {real.isoformat(), f"-W-{real.isoweekday()}"}
    return frozenset(found)


def exact(parts: Parts) -> str:
    """The one partial that says all that is said of a date."""
    return max(partials(*parts) or {""}, key=lambda partial: (sum(c.isdigit() for c in partial), partial))


@lru_cache(maxsize=1024)
def mentioned(text: str) -> tuple[Written, ...]:
    """The dates written out in a text, however partial, in order; weekdays and relative dates are none of them.

    >>> [exact(w.readings[0]) for w in mentioned("from Feb 3rd, 2026 to May 2026, then 4 March")]
    ['2026-02-03', '2026-05', '--03-04']
    """
    return tuple(_written(text))


def weekdays(text: str) -> frozenset[str]:
    """The weekdays a text names, as partials."""
    return frozenset(f"-W-{WEEKDAY_NUMBERS[m[1].lower()] + 1}" for m in _WEEKDAY.finditer(text))


def _written(text: str) -> Iterator[Written]:
    for match in _WRITTEN.finditer(text):
        readings = tuple(r for r in _readings(match) if _possible(r))
        if match["month"] and not _is_month(text, match):
            continue
        if readings:
            yield Written(start=match.start(), end=match.end(), readings=readings)


def _readings(match: re.Match[str]) -> tuple[Parts, ...]:
    """What a match of `_WRITTEN` can mean; slashed dates read either way round."""
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


def _possible(parts: Parts) -> bool:
    _, month, day = parts
    return (month is None or 1 <= month <= _LAST_MONTH) and (day is None or 1 <= day <= _LAST_DAY)


def _is_month(text: str, match: re.Match[str]) -> bool:
    """Whether a month's name standing alone means the month: capitalised, and governed if it is also a word."""
    name = match["ln"]
    if not name[0].isupper():
        return False
    return name.lower() not in AMBIGUOUS_MONTHS or bool(
        _BEFORE_MONTH.search(text[max(0, match.start() - _NEAR_ENOUGH) : match.start()])
    )


def _real(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


_YEARLY: Final = lazy_regex(
    r"\b(?:birthday|anniversary)(?: \w+)? (?:is|falls)\b|\b(?:every|each) (?:year|\w+ber|January|February|March|April|May|June|July|August)\b"
)
_JUST_OVER: Final = 60  # days; "the sprint ends March 29" on April 10 is no date of next year, and better left alone
_NEAR_ENOUGH: Final = 20  # characters that hold the word before
_NAME_LONGEST: Final = 60  # characters of a name before the word in it that could be a day
_DAYS_SAID_SINGLY: Final = 9
_DAYS_SAID_BY_MONTH: Final = 100


def _covered(first: date, last: date) -> set[str]:
    """The partials of a stretch: its days if it is a week or so, its months if it is a season, else its years."""
    length = (last - first).days
    days = [first + timedelta(days=n) for n in range(length + 1)]
    if length <= _DAYS_SAID_SINGLY:
        return {p for d in days for p in partials(d.year, d.month, d.day)}
    if length <= _DAYS_SAID_BY_MONTH:
        return {p for d in days for p in partials(d.year, d.month, None)}
    return {f"{d.year:04}" for d in days}


def _resolvable(text: str, at: datetime) -> list[Mention]:
    """The mentions that have words to be replaced by, without overlaps, in order."""
    found = [m for m in (*mentions(text, at), *_yearless(text, at)) if m.said and not _is_name(text, m)]
    kept: list[Mention] = []
    for mention in sorted(found, key=lambda m: (m.start, -m.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


_QUOTED: Final = lazy_regex(r"\"[^\"\n]+\"|“[^”\n]+”|«[^»\n]+»|(?<!\w)['‘][^'’\n]+['’](?!\w)")
_CALLED: Final = lazy_regex(r"\b(?:called|named|titled|entitled)\s+(?:[A-Z][\w'’]*\s+)*$")
_COPULA: Final = lazy_regex(r"\b(?:is|was|are|were|be|called|named)\s+$|['’](?:s|m|re)\s+$", re.IGNORECASE)
_CAPITALISED_DAY: Final = lazy_regex(r"\b(?:Yesterday|Today|Tomorrow|Tonight)\b")


def _is_name(text: str, mention: Mention) -> bool:
    """Whether a mention is part of a title or name: quoted, after "called", or Today with a capital inside a sentence."""
    if any(q.start() < mention.start < q.end() for q in _QUOTED.finditer(text)):
        return True
    said, before = text[mention.start : mention.end], text[max(0, mention.start - _NAME_LONGEST) : mention.start]
    if said[:1].isupper() and _CALLED.search(before):
        return True
    day = _CAPITALISED_DAY.search(said)
    return day is not None and not _opens(text[: mention.start + day.start()])


def _opens(before: str) -> bool:
    """Whether a sentence or clause begins after these words."""
    return not before.strip() or before.rstrip()[-1] in '.!?:;…–—-\n"“('


def _yearless(text: str, at: datetime) -> Iterator[Mention]:
    """Written dates with a month but no year, and the year that the tense of the sentence gives them."""
    yearly = _YEARLY.search(text)
    for written in mentioned(text):
        year, month, day = written.readings[0]
        before = text[max(0, written.start - _NEAR_ENOUGH) : written.start]
        if year or not month or yearly or (not day and _COPULA.search(before)):
            continue
        lean, governing = leaning(text, written.start), governing_year(text, written.start, at)
        if not day and not lean and not governing:
            continue
        guess = governing or at.year + _years_off(month, day, at, lean)
        real = _real(guess, month, day or 1)
        if real is None:
            continue
        if not governing and guess > at.year and (at.date() - real.replace(year=at.year)).days < _JUST_OVER:
            continue
        said = day_text(real) if day else f"{MONTHS[month - 1]} {guess}"
        yield Mention(start=written.start, end=written.end, spans=((real, real),), said=said)


def _years_off(month: int, day: int | None, at: datetime, lean: int) -> int:
    """Whether the nearest such day that a sentence leaning back or ahead can mean is last or next year's."""
    if lean < 0 and (month, day or 1) > (at.month, at.day):
        return -1
    return int(lean > 0 and (month, day or _LAST_DAY) < (at.month, at.day))
