"""Resolves relative dates ("last Friday", "in two weeks") to absolute dates.

Each rule of `_RULES` is a pattern and a function that reads its match. A reading holds every span of days that the phrase can
mean, and the absolute wording to put in its place where one meaning is clear enough. Many phrases depend on whether the
verb of the sentence is past or future ("on Friday"); `tense.time_direction` decides this.
"""

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
from slowwave.policy.text.tense import sentence_around, time_direction

_LARGEST_COUNT: Final = 12
COUNTS: Final[Mapping[str, int]] = MappingProxyType(
    {"a": 1, "an": 1, "couple": 2}
    | {word: number for word, number in CARDINALS.items() if 1 <= number <= _LARGEST_COUNT and word != "dozen"}
)
"""Number words up to twelve, with "a" and "couple", as in "a week ago"."""


_LASTED: Final = lazy_regex(
    r"\b(?:ha(?:ve|s|d)(?:n['’]t| not| never)|never|first|only|best|worst|most)\b[^.!?\n]*$", re.IGNORECASE
)
"""Before "in two years": it says for how long something has not happened ("I haven't been there in two years")."""
_IDIOM_CONTEXT: Final = 120  # characters before and after a phrase in which an idiom is looked for
# "It feels like (we met) just …", "as if it were …", "I remember it like it was …".
_IDIOM_BEFORE: Final = lazy_regex(
    r"\b(?:it|that|this|time|still|day|life)\s+(?:\w+\s+)?(?:feels|felt|seems|seemed)\s+(?:\w+\s+)?"
    r"(?:like|as (?:if|though))\b[^.!?;\n]*$"
    r"|(?:^|[^\w\s]\s*|\b(?:and|but|so)\s+)(?:feels|felt|seems|seemed)\s+(?:\w+\s+)?(?:like|as (?:if|though))\b[^.!?;\n]*$"
    r"|\b(?:like|as (?:if|though)|seems?|seemed|feels|felt)\s+(?:it\s+(?:was|were|is|happened|had been|all happened)\s+)?"
    r"(?:(?:only|just|but|literally|as recent as|as recently as)\s+)*$"
    r"|\b(?:born|no|another|every|each|any|here today,? (?:and )?gone)\s+$"
    r"|\b(?:who|what|where|how)\s+(?:I['’]?\s?a?m|you['’]?\s?(?:a?re)|s?he['’]?\s?i?s|we['’]?\s?(?:a?re)|they['’]?\s?(?:a?re)|it\s+is)\s+$",
    re.IGNORECASE,
)
# "Tomorrow is another day", "yesterday's news"
_IDIOM_AFTER: Final = lazy_regex(
    r"\s+(?:is|will be) another day\b|['’]s (?:news|problems?|world|society|youth|generation|kids|standards)\b"
    r"|,? (?:and )?(?:gone|here) (?:today|tomorrow)\b",
    re.IGNORECASE,
)


def is_idiom(text: str, start: int, end: int) -> bool:
    """Whether the phrase at [start, end) is part of an idiom that names no day. Doubtful cases count as idioms.

    >>> text = "It feels like just yesterday that we met"
    >>> is_idiom(text, text.index("yesterday"), text.index(" that"))
    True
    """
    before, after = text[max(0, start - _IDIOM_CONTEXT) : start], text[end : end + _IDIOM_CONTEXT]
    return bool(_IDIOM_BEFORE.search(before) or _IDIOM_AFTER.match(after))


DateSpan = tuple[date, date]
"""First and last day, both inclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatePhrase:
    """A phrase at [start, end) of a text that names a date.

    Attributes:
        spans: every span of days that it can mean, the most likely first.
        wording: the absolute date to write in its place; empty where the phrase stays as it is.
    """

    start: int
    end: int
    spans: tuple[DateSpan, ...]
    wording: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    spans: tuple[DateSpan, ...]
    wording: str = ""
    preposition: str = ""


_COUNT: Final = rf"(?P<count>\d{{1,3}}|a few|several|a couple(?: of)?|{'|'.join(COUNTS)})"
_UNIT: Final = r"(?P<unit>day|week|weekend|month|year|wk|yr)s?"
_UNIT_SHORT: Final = {"wk": "week", "yr": "year"}
_PART: Final = r"(?:\s+(?P<part>morning|afternoon|evening|night))?"
_LONG_DAY: Final = "|".join(w for w in WEEKDAY_NUMBERS if w.endswith("day"))
_ANY_DAY: Final = "|".join(sorted(WEEKDAY_NUMBERS, key=len, reverse=True))
_EACH_WEEK: Final = r"\s+(?:nights|mornings|evenings|afternoons|lunchtimes|lunches)\b"
_LONG_MONTH: Final = "|".join(MONTHS)
_SEASON: Final = "|".join(SEASONS)
_WINTER: Final = 12
_SEASON_MONTHS: Final = 3
_VAGUE_DAYS: Final = 3  # "about ten days ago" means any day from three before to three after
# How many "a few" or "several" can be, by unit.
_FEW: Final = {"day": (2, 7), "week": (2, 6), "weekend": (2, 6), "month": (2, 8), "year": (2, 8)}


def day_text(day: date) -> str:
    """A day in the form that facts use.

    >>> day_text(date(2026, 2, 28))
    '28 February 2026'
    """
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def governing_year(text: str, place: int, at: datetime) -> int | None:
    """The year that the sentence around a place names: "Next year …", "In 2024 …", "… two years ago"; None if none.

    Of several years it is the last before the place, else the first after it.
    """
    start, end = sentence_around(text, place)
    sentence = text[start:end]
    years = [(match.start(), int(match[1])) for match in _OPENING_YEAR.finditer(sentence)]
    for phrase in date_phrases(sentence, at):
        first, last = phrase.spans[0]
        if phrase.wording and (first, last) == _year(first.year).spans[0]:
            years.append((phrase.start, first.year))
    before = [year for year in years if year[0] < place - start]
    return max(before)[1] if before else min(years, default=(0, None))[1]


def date_phrases(text: str, at: datetime) -> tuple[DatePhrase, ...]:
    """Every relative date of a text, in order. Where two matches overlap, the one of the earlier rule stays."""
    return _date_phrases(text, at.date())


@lru_cache(maxsize=256)  # each check of a fact reads the same few messages
def _date_phrases(text: str, today: date) -> tuple[DatePhrase, ...]:
    phrases: list[DatePhrase] = []
    taken = bytearray(len(text))
    for pattern, read in _RULES:
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            try:
                reading = read(match, today, time_direction(text, match.start()))
            except (OverflowError, ValueError):  # before year 1 or after year 9999
                continue
            if reading:
                phrase = _placed(text, match, reading)
                taken[phrase.start : phrase.end] = b"\1" * (phrase.end - phrase.start)
                phrases.append(phrase)
    return tuple(sorted(phrases, key=lambda phrase: phrase.start))


_OPENING_YEAR: Final = lazy_regex(r"^\s*in ((?:19|20)\d\d)\b(?!['’s-])", re.IGNORECASE)
# Prepositions that stay before an absolute date ("since 2023"), and those that its own preposition replaces.
_KEPT_PREPOSITION: Final = lazy_regex(
    r"\b(?:by|since|until|till|from|to|before|after|for|around|about|of|between|through|during|than)\s+$", re.IGNORECASE
)
_REPLACED_PREPOSITION: Final = lazy_regex(r"\b(?:on|in|at)\s+$", re.IGNORECASE)
_STRANDED: Final = lazy_regex(
    r"\b(?:in|at)\s+(?:yesterday|today|tomorrow)\b|\bat\s+(?:last|next)\b(?! weekend)", re.IGNORECASE
)
"""A preposition before a date that belongs to the verb before it: "a shop that I work at last Friday"."""
_WORD_BEFORE: Final = 20  # characters, enough for the word before a phrase
_POSSESSIVE: Final = lazy_regex(r"['’]s?\b(?=\s+\w)|['’](?=\s+\w)")
_AS_SUBJECT: Final = lazy_regex(
    r"\s+(?:is|was|will|has|had|marks|marked|would|seems|seemed|feels|felt)\b|['’]s\b(?=\s+(?:a|an|the|been|going)\b)"
)


def _placed(text: str, match: re.Match[str], reading: _Reading) -> DatePhrase:
    """Fit the wording of a reading into its sentence.

    "We met yesterday" needs a preposition ("on 1 May 2026"), "since yesterday" keeps its own, "Yesterday was fun" needs none,
    and "yesterday's talk" becomes "the 1 May 2026 talk".
    """
    start, end = match.span()
    if not reading.wording or is_idiom(text, start, end):
        return DatePhrase(start=start, end=end, spans=reading.spans, wording="")
    wording = f"{reading.preposition} {reading.wording}".strip()
    before = text[max(0, start - _WORD_BEFORE) : start]
    if (_opens_sentence(before) and _AS_SUBJECT.match(text, end)) or _KEPT_PREPOSITION.search(before):
        wording = reading.wording
    elif owner := _POSSESSIVE.match(text, end):
        wording, end = f"the {reading.wording.removeprefix('the ')}", owner.end()
    elif (replaced := _REPLACED_PREPOSITION.search(before)) and not _STRANDED.match(
        text, start - len(before) + replaced.start()
    ):
        start -= len(before) - replaced.start()
        before = before[: replaced.start()]
    opening = wording[:1].upper() + wording[1:] if _opens_sentence(before) else wording
    return DatePhrase(start=start, end=end, spans=reading.spans, wording=opening)


def _opens_sentence(before: str) -> bool:
    """Whether a sentence begins after these words."""
    return not before.strip() or before.rstrip()[-1] in ".!?\n"


def _on(day: date, part: str | None = None) -> _Reading:
    wording = f"the {part} of {day_text(day)}" if part else day_text(day)
    return _Reading(spans=((day, day),), wording=wording, preposition="on")


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _week(monday: date) -> _Reading:
    sunday_before, sunday = monday - timedelta(days=1), monday + timedelta(days=6)
    return _Reading(spans=((sunday_before, sunday),), wording=f"the week of {day_text(monday)}", preposition="in")


def _weekend(monday: date, *others: date) -> _Reading:
    spans = tuple((m + timedelta(days=4), m + timedelta(days=6)) for m in (monday, *others))
    return _Reading(spans=spans, wording=f"the weekend of {day_text(monday + timedelta(days=5))}", preposition="on")


def _unit(match: re.Match[str]) -> str:
    unit = match["unit"].lower()
    return _UNIT_SHORT.get(unit, unit)


def _month(year: int, month: int) -> _Reading:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    first = date(year, month, 1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return _Reading(spans=((first, last),), wording=f"{MONTHS[month - 1]} {year}", preposition="in")


def _year(year: int) -> _Reading:
    return _Reading(spans=((date(year, 1, 1), date(year, 12, 31)),), wording=str(year), preposition="in")


_QUARTER_MONTHS: Final = 3
_QUARTERS: Final = ("first", "second", "third", "fourth")


def _quarter(year: int, number: int) -> _Reading:
    """The quarter of that number, counted from 0 in January of the year."""
    year, number = year + number // len(_QUARTERS), number % len(_QUARTERS)
    first = _month(year, number * _QUARTER_MONTHS + 1).spans[0][0]
    last = _month(year, (number + 1) * _QUARTER_MONTHS).spans[0][1]
    return _Reading(spans=((first, last),), wording=f"the {_QUARTERS[number]} quarter of {year}", preposition="in")


def _season(name: str, year: int) -> _Reading:
    """The season that begins in that year; a winter names both of its years."""
    first = date(year, SEASONS[name], 1)
    last = (first + timedelta(days=92)).replace(day=1) - timedelta(days=1)
    years = f"{year}/{year + 1}" if SEASONS[name] == _WINTER else str(year)
    return _Reading(spans=((first, last),), wording=f"{name.lower()} {years}", preposition="in")


# Words that make a count inexact.
_INEXACT: Final = frozenset({"over", "more than", "almost", "nearly", "less than"})
_NEAR: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}
_STEP: Final = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}


def _near_day(match: re.Match[str], today: date, _: int) -> _Reading:
    word, part = match["near"].lower(), match["part"]
    return _on(today + timedelta(days=_NEAR[word]), part.lower() if part else None)


def _two_days_off(match: re.Match[str], today: date, _: int) -> _Reading:
    return _on(today + timedelta(days=-2 if match["side"].lower() == "before yesterday" else 2))


def _night_before_last(_: re.Match[str], today: date, __: int) -> _Reading:
    return _on(today - timedelta(days=2), "night")


def _two_steps(match: re.Match[str], today: date, _: int) -> _Reading:
    """The week before last, the month after next."""
    steps, unit = (-2 if match["side"].lower() == "before last" else 2), _unit(match)
    if unit in {"week", "weekend"}:
        monday = _monday(today) + timedelta(weeks=steps)
        return _week(monday) if unit == "week" else _weekend(monday, monday - timedelta(weeks=steps // 2))
    return _stepped_part_of_year(unit, today, steps)


def _weekdays_ago(match: re.Match[str], today: date, _: int) -> _Reading | None:
    """Two Sundays ago: so many weeks before the last one but one; a week earlier is the second reading."""
    count = _count(match)
    if not count:
        return None
    day = _stepped_weekday(WEEKDAY_NUMBERS[match["weekday"].lower()], today, -1).spans[0][0]
    day -= timedelta(weeks=count - 1)
    other = day - timedelta(weeks=1)
    return _Reading(spans=((day, day), (other, other)), wording=day_text(day) if count > 1 else "", preposition="on")


def _part_of_today(match: re.Match[str], today: date, _: int) -> _Reading:
    words = match.group().lower()
    if words.startswith("last"):
        return _on(today - timedelta(days=1), "night")
    return _on(today, "evening" if words == "tonight" else words.split()[-1])


def _step(match: re.Match[str], today: date, direction: int) -> _Reading:
    """Last, this or next: week, weekend, month, year, season, weekday, or month by name."""
    step, unit = _STEP[match["step"].lower()], _unit(match)
    if unit in {"week", "weekend"}:
        monday = _monday(today) + timedelta(weeks=step)
        if unit == "week" and step < 0 and today.weekday() == WEEKDAY_NUMBERS["sunday"]:
            return _week_before_sunday(today)
        return _week(monday) if unit == "week" else _stepped_weekend(today, monday, step, direction)
    if unit in {"month", "quarter", "year"}:
        return _stepped_part_of_year(unit, today, step)
    if unit in SEASONS:
        return _stepped_season(unit, today, step)
    if unit in WEEKDAY_NUMBERS:
        return _stepped_weekday(WEEKDAY_NUMBERS[unit], today, step or direction or 1)
    month = MONTH_NUMBERS[unit]
    past, ahead = today.year - (month >= today.month), today.year + (month <= today.month)
    return _month({-1: past, 0: today.year, 1: ahead}[step], month)


def _week_before_sunday(today: date) -> _Reading:
    """Last week, said on a Sunday: the week that ends or the one before it, by the day on which the speaker's week begins."""
    ended, before = (_week(_monday(today) + timedelta(weeks=step)).spans[0] for step in (0, -1))
    return _Reading(spans=(ended, before), wording=f"the week before {day_text(today)}", preposition="in")


def _stepped_part_of_year(unit: str, today: date, step: int) -> _Reading:
    if unit == "quarter":
        return _quarter(today.year, (today.month - 1) // _QUARTER_MONTHS + step)
    return _month(today.year, today.month + step) if unit == "month" else _year(today.year + step)


def _stepped_weekend(today: date, monday: date, step: int, direction: int) -> _Reading:
    """Last, this or next weekend. Before Friday, "this weekend was fun" means the one before; the other is a second reading."""
    if step:
        return _weekend(monday, _monday(today))
    before = monday - timedelta(weeks=1)
    passed = direction < 0 and today.weekday() < WEEKDAY_NUMBERS["friday"]
    return _weekend(before, monday) if passed else _weekend(monday, before)


def _stepped_season(name: str, today: date, step: int) -> _Reading:
    """Within a season "this" is that one; between two of its name, "last" is the one that began last."""
    began = today.year - (today.month < SEASONS[name])
    if (today.month - SEASONS[name]) % 12 < _SEASON_MONTHS:
        return _season(name, began + step)
    return _season(name, (began, today.year, began + 1)[step + 1])


def _stepped_weekday(weekday: int, today: date, step: int) -> _Reading:
    """The nearest such weekday strictly before or after today; a week further is the second reading."""
    off = (weekday - today.weekday()) % 7
    day = today + timedelta(days=off or 7) if step > 0 else today - timedelta(days=(7 - off) % 7 or 7)
    other = day + timedelta(weeks=1 if step > 0 else -1)
    return _Reading(spans=((day, day), (other, other)), wording=day_text(day), preposition="on")


def _count(match: re.Match[str]) -> int | None:
    """The number that a count names; None for "a few" and "several"."""
    words = match["count"].lower()
    if words.isdigit():
        return int(words)
    return COUNTS.get(words.removeprefix("a ").removesuffix(" of")) if "few" not in words else None


def _ago(match: re.Match[str], today: date, _: int) -> _Reading:
    """Two weeks ago: as exact as its unit. "A few days ago" keeps its words and names the day from which it counts."""
    unit, count = _unit(match), _count(match)
    about = (match["about"] or "").lower()
    if count is None or about in _INEXACT or match["half"]:
        few, many = _FEW[unit] if count is None else (max(0, count - 1), count + 2)
        span = (_back(today, many, unit).spans[0][0], _back(today, few, unit).spans[0][1])
        words = re.sub(r"\s+(?:ago|back)$", "", match.group(), flags=re.IGNORECASE)
        return _Reading(spans=(span,), wording=f"{words} before {day_text(today)}")
    if about and unit == "day":
        day, margin = today - timedelta(days=count), timedelta(days=_VAGUE_DAYS)
        return _Reading(spans=((day - margin, day + margin),), wording=f"around {day_text(day)}")
    return _back(today, count, unit)


def _back(today: date, count: int, unit: str) -> _Reading:
    if unit == "day":
        return _on(today - timedelta(days=count))
    monday = _monday(today - timedelta(weeks=count)) if unit.startswith("week") else today
    if unit == "week":
        return _week(monday)
    if unit == "weekend":
        return _weekend(monday, monday + timedelta(weeks=1))
    return _month(today.year, today.month - count) if unit == "month" else _years_back(today, count)


def _years_back(today: date, count: int) -> _Reading:
    """So many years ago or ahead: the year; the months around the day of the message are a second reading.

    One year ago is the month of last year, whose exact limits people do not remember: "around May 2022".
    """
    year = _year(today.year - count)
    months = [_month(today.year - count, today.month + off) for off in (-1, 0, 1)]
    spans = (*year.spans, (months[0].spans[0][0], months[-1].spans[0][1]))
    if count != 1:
        return _Reading(spans=spans, wording=year.wording, preposition="in")
    return _Reading(spans=spans, wording=f"around {months[1].wording}")


def _ahead(match: re.Match[str], today: date, direction: int) -> _Reading | None:
    """In two weeks: replaced only in a sentence about the future, because it may also say how long something took or lasted."""
    unit, count = _unit(match), _count(match)
    if count is None:
        return None
    reading = _back(today, -count, unit)
    lasted = _LASTED.search(match.string, max(0, match.start() - _IDIOM_CONTEXT), match.start())
    return reading if direction > 0 and not lasted else _Reading(spans=reading.spans)


def _lasting(match: re.Match[str], today: date, _: int) -> _Reading | None:
    """For three years: the first day is a possible reading; the words stay."""
    count = _count(match)
    return _Reading(spans=_back(today, count, _unit(match)).spans) if count else None


def _other_day(_: re.Match[str], today: date, __: int) -> _Reading:
    """The other day: any of the last eight days; the words stay."""
    return _Reading(spans=((today - timedelta(days=8), today - timedelta(days=1)),))


def _weekday(match: re.Match[str], today: date, direction: int) -> _Reading:
    """On Friday: the last or the next one, by the direction of the sentence; both are possible readings."""
    day = WEEKDAY_NUMBERS[match["weekday"].lower()]
    reading, other = (_stepped_weekday(day, today, side) for side in ((direction or 1), -(direction or 1)))
    same_day = ((today, today),) if today.weekday() == day else ()
    spans = (*reading.spans, *other.spans, *same_day)
    return _Reading(spans=spans, wording=reading.wording if direction else "", preposition="on")


def _bare_weekday(match: re.Match[str], today: date, direction: int) -> _Reading:
    """A weekday without a preposition may be a habit or a name ("Friday deploys"): the words stay."""
    return _Reading(spans=_weekday(match, today, direction).spans)


def _day_of_month(match: re.Match[str], today: date, direction: int) -> _Reading | None:
    """The 14th: this month's, or the last or next one, by the direction of the sentence."""
    wanted = int(match["day"])
    months = (0, -1, 1) if not direction else (0, direction)
    candidates = []
    for months_off in months:
        year, month = divmod(today.year * 12 + today.month - 1 + months_off, 12)
        try:
            candidates.append(date(year, month + 1, wanted))
        except ValueError:
            continue
    fitting = [d for d in candidates if not direction or (d - today).days * direction >= 0]
    if not fitting:
        return None
    return _Reading(spans=tuple((d, d) for d in candidates), wording=day_text(fitting[0]), preposition="on")


def _rule(pattern: str) -> re.Pattern[str]:
    return lazy_regex(pattern, re.IGNORECASE)


# Looks back at a preposition, which Python allows only with alternatives of a fixed width each.
_GOVERNED: Final = (
    "(?:" + "|".join(rf"(?<=\b{w} )" for w in ("on", "by", "until", "till", "since", "before", "after", "for")) + ")"
)
# "over the last year", "these past weeks" are spans up to now, not dates.
_NOT_A_SPAN: Final = r"(?<!\bthe )(?<!\bover )(?<!\bthese )(?<!\bmy )(?<!\bour )(?<!\bwithin )"
_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date, int], _Reading | None]], ...]] = (
    (_rule(r"\bthe day (?P<side>before yesterday|after tomorrow)\b"), _two_days_off),
    (_rule(r"\bthe night before last\b"), _night_before_last),
    (_rule(r"\bthe (?P<unit>week|weekend|month|quarter|year) (?P<side>before last|after next)\b"), _two_steps),
    (_rule(rf"\b{_COUNT}\s+(?P<weekday>{_LONG_DAY})s?\s+ago\b"), _weekdays_ago),
    (_rule(rf"\b{_COUNT}\s+{_UNIT}\s+from (?:now|today)\b"), _ahead),
    (_rule(r"\b(?:last night|tonight|this (?:morning|afternoon|evening))\b"), _part_of_today),
    (_rule(rf"\b(?:earlier |later )?(?P<near>yesterday|today|tomorrow)\b{_PART}"), _near_day),
    (
        _rule(
            rf"(?:(?P<about>about|around|roughly|over|almost|nearly|more than|less than)\s+)?\b{_COUNT}"
            rf"(?: and a half)?\s+{_UNIT}(?P<half> and a half)?\s+(?:ago|back)\b"
        ),
        _ago,
    ),
    (_rule(rf"\b(?:in|within)\s+{_COUNT}\s+{_UNIT}(?:['’]? time)?\b(?!\s+of)"), _ahead),
    (_rule(rf"\b(?:for|past|last)\s+(?:the\s+)?(?:past\s+|last\s+|about\s+|over\s+)?{_COUNT}\s+{_UNIT}\b"), _lasting),
    (_rule(r"\bthe other day\b"), _other_day),
    (
        _rule(
            rf"{_NOT_A_SPAN}\b(?:this )?(?P<step>last|past|this|next|coming)\s+"
            rf"(?P<unit>weekend|week|month|quarter|year|{_SEASON}|{_ANY_DAY}|{_LONG_MONTH})\b(?!-|\s+of\b|\s+or\s+so\b)"
        ),
        _step,
    ),
    (_rule(rf"{_GOVERNED}\b(?P<weekday>{_LONG_DAY})\b(?!{_EACH_WEEK})"), _weekday),
    (_rule(rf"(?<!\bevery )(?<!\beach )\b(?P<weekday>{_LONG_DAY})\b(?!{_EACH_WEEK})"), _bare_weekday),
    (
        _rule(
            r"(?:(?<=\bby )|(?<=\bon ))the (?P<day>[1-3]?\d)(?:st|nd|rd|th)\b"
            r"(?=\s*(?:$|[.,;!?)])|\s+(?:and|but|at|for|to|with|in|is|was|will|because|when|so)\b)"
        ),
        _day_of_month,
    ),
)
