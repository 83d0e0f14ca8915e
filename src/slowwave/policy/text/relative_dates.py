"""Resolves relative dates ("last Friday", "in two weeks") to absolute ones."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from slowwave.policy.text.calendar import MONTH_NUMBERS, MONTHS, SEASONS, WEEKDAY_NUMBERS
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import CARDINALS

# One line a month; English first, then German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Russian.
"""Lower-case name or abbreviation of a month -> 1..12."""

"""Month names that are also words or first names: alone they count only with a capital and a preposition before."""

"""Yesterday, today and tomorrow beyond English -> days from the day of the message."""

_LARGEST_COUNT: Final = 12
COUNTS: Final[Mapping[str, int]] = MappingProxyType(
    {"a": 1, "an": 1, "couple": 2}
    | {word: number for word, number in CARDINALS.items() if 1 <= number <= _LARGEST_COUNT and word != "dozen"}
)
"""English number words up to twelve, and a and couple."""

"""Weekdays and their abbreviations -> 0 (Monday) .. 6."""

"""Seasons -> their first month, as the northern half of the world counts them."""


_LONGEST: Final = 120  # characters before and after a phrase that may make a figure of it
_BEFORE: Final = lazy_regex(
    # It feels like (we met) (just) …, as if it were …, remember it like it was …
    r"\b(?:it|that|this|time|still|day|life)\s+(?:\w+\s+)?(?:feels|felt|seems|seemed)\s+(?:\w+\s+)?"
    r"(?:like|as (?:if|though))\b[^.!?;\n]*$"
    r"|(?:^|[^\w\s]\s*|\b(?:and|but|so)\s+)(?:feels|felt|seems|seemed)\s+(?:\w+\s+)?(?:like|as (?:if|though))\b[^.!?;\n]*$"
    r"|\b(?:like|as (?:if|though)|seems?|seemed|feels|felt)\s+(?:it\s+(?:was|were|is|happened|had been|all happened)\s+)?"
    r"(?:(?:only|just|but|literally|as recent as|as recently as)\s+)*$"
    r"|\b(?:born|no|another|every|each|any|here today,? (?:and )?gone)\s+$"
    r"|\b(?:who|what|where|how)\s+(?:I['’]?\s?a?m|you['’]?\s?(?:a?re)|s?he['’]?\s?i?s|we['’]?\s?(?:a?re)|they['’]?\s?(?:a?re)|it\s+is)\s+$",
    re.IGNORECASE,
)
_AFTER: Final = lazy_regex(
    r"\s+(?:is|will be) another day\b|['’]s (?:news|problems?|world|society|youth|generation|kids|standards)\b"
    r"|,? (?:and )?(?:gone|here) (?:today|tomorrow)\b",
    re.IGNORECASE,
)


def is_idiom(text: str, start: int, end: int) -> bool:
    """Whether the phrase of time at [start, end) only compares or generalises, and so names no day. In doubt it does.

    >>> text = "It feels like just yesterday that we met"
    >>> figurative(text, text.index("yesterday"), text.index(" that"))
    True
    """
    before, after = text[max(0, start - _LONGEST) : start], text[end : end + _LONGEST]
    return bool(_BEFORE.search(before) or _AFTER.match(after))


Span = tuple[date, date]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A phrase at [start, end) of a text, every stretch of days it can mean, and the words that say it outright.

    `said` is empty where the phrase is better left as it is.
    """

    start: int
    end: int
    spans: tuple[Span, ...]
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    spans: tuple[Span, ...]
    said: str = ""
    preposition: str = ""


_COUNT: Final = rf"(?P<count>\d{{1,3}}|a few|several|a couple(?: of)?|{'|'.join(COUNTS)})"
_UNIT: Final = r"(?P<unit>day|week|weekend|month|year)s?"
_PART: Final = r"(?:\s+(?P<part>morning|afternoon|evening|night))?"
_LONG_DAY: Final = "|".join(w for w in WEEKDAY_NUMBERS if w.endswith("day"))
_ANY_DAY: Final = "|".join(sorted(WEEKDAY_NUMBERS, key=len, reverse=True))
_LONG_MONTH: Final = "|".join(MONTHS)
_SEASON: Final = "|".join(SEASONS)
_WINTER: Final = 12
_SEASON_MONTHS: Final = 3
_VAGUELY: Final = 3  # days either way of "about ten days ago"
_FEW: Final = {"day": (2, 7), "week": (2, 6), "weekend": (2, 6), "month": (2, 8), "year": (2, 8)}

_FUTURE: Final = lazy_regex(
    r"\b(?:will|shall|won't|going to|gonna|plan(?:s|ning)?(?: to)?|planned for|upcoming|coming up|deadlines?|due|by|until|"
    r"scheduled|aim(?:ing)?|want(?:s)?|need(?:s)?|hop(?:e|ing)|can't wait|looking forward|should|must|tomorrow|next|"
    r"expect(?:ing)?|starts|begins|launch(?:es|ing)?|release|(?:is|are) (?:on|at))\b|'ll\b",
    re.IGNORECASE,
)
_PAST: Final = lazy_regex(
    r"\b(?:was|were|went|had|did|didn't|got|met|saw|took|made|came|found|bought|began|left|lost|won|ran|gave|said|told|"
    r"ate|drove|flew|read|wrote|thought|knew|felt|became|brought|built|sold|spent|taught|sang|held|heard|since|ago|"
    r"[a-z]{2,}(?<!ne)ed)\b",
    re.IGNORECASE,
)
_BOOKED: Final = lazy_regex(
    r"\b(?:booked|reserved|arranged|organi[sz]ed|planned|scheduled|rescheduled|postponed|fixed|set(?: up)?)\b[^;]*"
    r"\bfor (?:the )?(?:(?:morning|afternoon|evening|night|weekend|week) of (?:the )?)?$",
    re.IGNORECASE,
)
_SENTENCE_LONGEST: Final = 400  # characters; in longer ones the stretch around a place speaks for it
_SENTENCE_END: Final = lazy_regex(r"[.!?;\n]\s")


def day_text(day: date) -> str:
    """A day as facts write it.

    >>> day_text(date(2026, 2, 28))
    '28 February 2026'
    """
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def sentence_around(text: str, place: int) -> tuple[int, int]:
    """Where the sentence around a place begins and ends; of very long ones the stretch around it."""
    block = place // _SENTENCE_LONGEST
    first, last = max(0, (block - 1) * _SENTENCE_LONGEST), (block + 2) * _SENTENCE_LONGEST
    start = max((m.end() for m in _SENTENCE_END.finditer(text, first, place)), default=first)
    ending = _SENTENCE_END.search(text, place, last)
    return start, ending.start() if ending else min(last, len(text))


def leaning(text: str, place: int) -> int:
    """Whether the sentence around a place looks back (-1), ahead (1), or does not say (0).

    What is booked, planned or set for a day lies ahead of the booking, whatever its tense.
    """
    start, end = sentence_around(text, place)
    return 1 if _BOOKED.search(text[start:place]) else _lean(text[start:end])


@lru_cache(maxsize=1024)
def _lean(sentence: str) -> int:
    if _FUTURE.search(sentence):
        return 1
    return -1 if _PAST.search(sentence) else 0


def governing_year(text: str, place: int, at: datetime) -> int | None:
    """The year that the sentence around a place says it speaks of: "Next year …", "In 2024 …", "… two years ago".

    Of several the last before the place, else the first after it.
    """
    start, end = sentence_around(text, place)
    sentence = text[start:end]
    years = [(match.start(), int(match[1])) for match in _OPENING_YEAR.finditer(sentence)]
    for mention in mentions(sentence, at):
        first, last = mention.spans[0]
        if mention.said and (first, last) == _year(first.year).spans[0]:
            years.append((mention.start, first.year))
    before = [named for named in years if named[0] < place - start]
    return max(before)[1] if before else min(years, default=(0, None))[1]


def mentions(text: str, at: datetime) -> list[Mention]:
    """Every relative phrase of a text; earlier rules win where two overlap."""
    found: list[Mention] = []
    taken = bytearray(len(text))
    for pattern, read in _RULES:
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            try:
                reading = read(match, at.date(), leaning(text, match.start()))
            except (OverflowError, ValueError):  # beyond the calendar's years
                continue
            if reading:
                mention = _placed(text, match, reading)
                taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
                found.append(mention)
    return sorted(found, key=lambda m: m.start)


_OPENING_YEAR: Final = lazy_regex(r"^\s*in ((?:19|20)\d\d)\b(?!['’s-])", re.IGNORECASE)
_GOVERNS: Final = lazy_regex(
    r"\b(?:by|since|until|till|from|to|before|after|for|around|about|of|between|through|during|than)\s+$", re.IGNORECASE
)
_LOOSE: Final = lazy_regex(r"\b(?:on|in|at)\s+$", re.IGNORECASE)
_WORD_BEFORE: Final = 20  # characters that hold the word before a phrase
_POSSESSIVE: Final = lazy_regex(r"['’]s?\b(?=\s+\w)|['’](?=\s+\w)")
_AS_SUBJECT: Final = lazy_regex(
    r"\s+(?:is|was|will|has|had|marks|marked|would|seems|seemed|feels|felt)\b|['’]s\b(?=\s+(?:a|an|the|been|going)\b)"
)


def _placed(text: str, match: re.Match[str], reading: _Reading) -> Mention:
    """Fit the words to their place: the right preposition, none as a subject, an article before a possessive's owner."""
    start, end = match.span()
    if not reading.said or is_idiom(text, start, end):
        return Mention(start=start, end=end, spans=reading.spans, said="")
    said = f"{reading.preposition} {reading.said}".strip()
    before = text[max(0, start - _WORD_BEFORE) : start]
    if (_opens(before) and _AS_SUBJECT.match(text, end)) or _GOVERNS.search(before):
        said = reading.said
    elif owner := _POSSESSIVE.match(text, end):
        said, end = f"the {reading.said.removeprefix('the ')}", owner.end()
    elif loose := _LOOSE.search(before):
        start -= len(before) - loose.start()
        before = before[: loose.start()]
    opening = said[:1].upper() + said[1:] if _opens(before) else said
    return Mention(start=start, end=end, spans=reading.spans, said=opening)


def _opens(before: str) -> bool:
    """Whether a sentence begins after these words."""
    return not before.strip() or before.rstrip()[-1] in ".!?\n"


def _on(day: date, part: str | None = None) -> _Reading:
    said = f"the {part} of {day_text(day)}" if part else day_text(day)
    return _Reading(spans=((day, day),), said=said, preposition="on")


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _week(monday: date) -> _Reading:
    sunday_before, sunday = monday - timedelta(days=1), monday + timedelta(days=6)
    return _Reading(spans=((sunday_before, sunday),), said=f"the week of {day_text(monday)}", preposition="in")


def _weekend(monday: date, *others: date) -> _Reading:
    spans = tuple((m + timedelta(days=4), m + timedelta(days=6)) for m in (monday, *others))
    return _Reading(spans=spans, said=f"the weekend of {day_text(monday + timedelta(days=5))}", preposition="on")


def _month(year: int, month: int) -> _Reading:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    first = date(year, month, 1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return _Reading(spans=((first, last),), said=f"{MONTHS[month - 1]} {year}", preposition="in")


def _year(year: int) -> _Reading:
    return _Reading(spans=((date(year, 1, 1), date(year, 12, 31)),), said=str(year), preposition="in")


def _season(name: str, year: int) -> _Reading:
    """The season that begins in that year."""
    first = date(year, SEASONS[name], 1)
    last = (first + timedelta(days=92)).replace(day=1) - timedelta(days=1)
    years = f"{year}/{year + 1}" if SEASONS[name] == _WINTER else str(year)
    return _Reading(spans=((first, last),), said=f"{name.lower()} {years}", preposition="in")


_OPEN: Final = frozenset({"over", "more than", "almost", "nearly", "less than"})
_NEAR: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}
_STEP: Final = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}


def _near(match: re.Match[str], today: date, _: int) -> _Reading:
    word, part = match["near"].lower(), match["part"]
    return _on(today + timedelta(days=_NEAR[word]), part.lower() if part else None)


def _two_off(match: re.Match[str], today: date, _: int) -> _Reading:
    return _on(today + timedelta(days=-2 if match["side"].lower() == "before yesterday" else 2))


def _part_of_today(match: re.Match[str], today: date, _: int) -> _Reading:
    words = match.group().lower()
    if words.startswith("last"):
        return _on(today - timedelta(days=1), "night")
    return _on(today, "evening" if words == "tonight" else words.split()[-1])


def _step(match: re.Match[str], today: date, lean: int) -> _Reading:
    """Last, this or next week, weekend, month, year, season, weekday or month by name."""
    step, unit = _STEP[match["step"].lower()], match["unit"].lower()
    if unit in {"week", "weekend"}:
        monday = _monday(today) + timedelta(weeks=step)
        nearer = monday - timedelta(weeks=step)
        return _week(monday) if unit == "week" else _weekend(monday, nearer)
    if unit == "month":
        return _month(today.year, today.month + step)
    if unit == "year":
        return _year(today.year + step)
    if unit in SEASONS:
        return _stepped_season(unit, today, step)
    if unit in WEEKDAY_NUMBERS:
        return _stepped_weekday(WEEKDAY_NUMBERS[unit], today, step or lean or 1)
    month = MONTH_NUMBERS[unit]
    past, ahead = today.year - (month >= today.month), today.year + (month <= today.month)
    return _month({-1: past, 0: today.year, 1: ahead}[step], month)


def _stepped_season(name: str, today: date, step: int) -> _Reading:
    """The season under way counts as this one; otherwise the last is the one that began latest."""
    began = today.year - (today.month < SEASONS[name])
    if (today.month - SEASONS[name]) % 12 < _SEASON_MONTHS:
        return _season(name, began + step)
    return _season(name, (began, today.year, began + 1)[step + 1])


def _stepped_weekday(weekday: int, today: date, step: int) -> _Reading:
    """The nearest such day strictly before or after today; the one a week further is the other reading."""
    off = (weekday - today.weekday()) % 7
    day = today + timedelta(days=off or 7) if step > 0 else today - timedelta(days=(7 - off) % 7 or 7)
    other = day + timedelta(weeks=1 if step > 0 else -1)
    return _Reading(spans=((day, day), (other, other)), said=day_text(day), preposition="on")


def _count(match: re.Match[str]) -> int | None:
    """How many; None if the words leave it open."""
    words = match["count"].lower()
    if words.isdigit():
        return int(words)
    return COUNTS.get(words.removeprefix("a ").removesuffix(" of")) if "few" not in words else None


def _ago(match: re.Match[str], today: date, _: int) -> _Reading:
    """Two weeks ago: as exact as its unit. Open counts ("a few days ago") keep their words and gain the day they count from."""
    unit, count = match["unit"].lower(), _count(match)
    about = (match["about"] or "").lower()
    if count is None or about in _OPEN or match["half"]:
        few, many = _FEW[unit] if count is None else (max(0, count - 1), count + 2)
        span = (_back(today, many, unit).spans[0][0], _back(today, few, unit).spans[0][1])
        words = re.sub(r"\s+(?:ago|back)$", "", match.group(), flags=re.IGNORECASE)
        return _Reading(spans=(span,), said=f"{words} before {day_text(today)}")
    if about and unit == "day":
        day, margin = today - timedelta(days=count), timedelta(days=_VAGUELY)
        return _Reading(spans=((day - margin, day + margin),), said=f"around {day_text(day)}")
    return _back(today, count, unit)


def _back(today: date, count: int, unit: str) -> _Reading:
    if unit == "day":
        return _on(today - timedelta(days=count))
    monday = _monday(today - timedelta(weeks=count)) if unit.startswith("week") else today
    if unit == "week":
        return _week(monday)
    if unit == "weekend":
        return _weekend(monday, monday + timedelta(weeks=1))
    return _month(today.year, today.month - count) if unit == "month" else _year(today.year - count)


def _ahead(match: re.Match[str], today: date, lean: int) -> _Reading | None:
    """In two weeks: ahead only where the sentence looks ahead, for it may also say how long something took."""
    unit, count = match["unit"].lower(), _count(match)
    if count is None:
        return None
    reading = _back(today, -count, unit)
    return reading if lean > 0 else _Reading(spans=reading.spans)


def _lasting(match: re.Match[str], today: date, _: int) -> _Reading | None:
    """For three years: the day it began may be told."""
    count = _count(match)
    return _Reading(spans=_back(today, count, match["unit"].lower()).spans) if count else None


def _other_day(_: re.Match[str], today: date, __: int) -> _Reading:
    """The other day: some day lately, which nobody counted, so its words stay."""
    return _Reading(spans=((today - timedelta(days=8), today - timedelta(days=1)),))


def _weekday(match: re.Match[str], today: date, lean: int) -> _Reading:
    """On Friday: the last or the next one, as the sentence leans; both are possible readings."""
    day = WEEKDAY_NUMBERS[match["weekday"].lower()]
    reading, other = (_stepped_weekday(day, today, side) for side in ((lean or 1), -(lean or 1)))
    here = ((today, today),) if today.weekday() == day else ()
    spans = (*reading.spans, *other.spans, *here)
    return _Reading(spans=spans, said=reading.said if lean else "", preposition="on")


def _loose_weekday(match: re.Match[str], today: date, lean: int) -> _Reading:
    """A weekday without a preposition may be a habit or a name ("Friday deploys"), so its words stay."""
    return _Reading(spans=_weekday(match, today, lean).spans)


def _day_of_month(match: re.Match[str], today: date, lean: int) -> _Reading | None:
    """The 14th: this month's, or the last or next one that the sentence leans to."""
    wanted = int(match["day"])
    months = (0, -1, 1) if not lean else (0, lean)
    candidates = []
    for months_off in months:
        year, month = divmod(today.year * 12 + today.month - 1 + months_off, 12)
        try:
            candidates.append(date(year, month + 1, wanted))
        except ValueError:
            continue
    fitting = [d for d in candidates if not lean or (d - today).days * lean >= 0]
    if not fitting:
        return None
    return _Reading(spans=tuple((d, d) for d in candidates), said=day_text(fitting[0]), preposition="on")


def _rule(pattern: str) -> re.Pattern[str]:
    return lazy_regex(pattern, re.IGNORECASE)


_GOVERNED: Final = (
    "(?:" + "|".join(rf"(?<=\b{w} )" for w in ("on", "by", "until", "till", "since", "before", "after", "for")) + ")"
)
_NOT_A_SPAN: Final = r"(?<!\bthe )(?<!\bover )(?<!\bthese )(?<!\bmy )(?<!\bour )(?<!\bwithin )"
_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date, int], _Reading | None]], ...]] = (
    (_rule(r"\bthe day (?P<side>before yesterday|after tomorrow)\b"), _two_off),
    (_rule(r"\b(?:last night|tonight|this (?:morning|afternoon|evening))\b"), _part_of_today),
    (_rule(rf"\b(?:earlier |later )?(?P<near>yesterday|today|tomorrow)\b{_PART}"), _near),
    (
        _rule(
            rf"(?:(?P<about>about|around|roughly|over|almost|nearly|more than|less than)\s+)?\b{_COUNT}"
            rf"(?: and a half)?\s+{_UNIT}(?P<half> and a half)?\s+(?:ago|back)\b"
        ),
        _ago,
    ),
    (_rule(rf"\b(?:in|within)\s+{_COUNT}\s+{_UNIT}(?:['’]? time)?\b(?!\s+of)"), _ahead),
    (_rule(rf"\b{_COUNT}\s+{_UNIT}\s+from (?:now|today)\b"), _ahead),
    (_rule(rf"\b(?:for|past|last)\s+(?:the\s+)?(?:past\s+|last\s+|about\s+|over\s+)?{_COUNT}\s+{_UNIT}\b"), _lasting),
    (_rule(r"\bthe other day\b"), _other_day),
    (
        _rule(
            rf"{_NOT_A_SPAN}\b(?:this )?(?P<step>last|past|this|next|coming)\s+"
            rf"(?P<unit>weekend|week|month|year|{_SEASON}|{_ANY_DAY}|{_LONG_MONTH})\b(?!-|\s+of\b|\s+or\s+so\b)"
        ),
        _step,
    ),
    (_rule(rf"{_GOVERNED}\b(?P<weekday>{_LONG_DAY})\b"), _weekday),
    (_rule(rf"(?<!\bevery )(?<!\beach )\b(?P<weekday>{_LONG_DAY})\b"), _loose_weekday),
    (
        _rule(
            r"(?:(?<=\bby )|(?<=\bon ))the (?P<day>[1-3]?\d)(?:st|nd|rd|th)\b"
            r"(?=\s*(?:$|[.,;!?)])|\s+(?:and|but|at|for|to|with|in|is|was|will|because|when|so)\b)"
        ),
        _day_of_month,
    ),
)
