"""Reads relative dates of other languages than English ("letzte Woche", "hace dos años") as spans of days.

They only support dates that a fact names; no text is rewritten. A language is a row of `_LANGUAGES`: its number words, and for
each unit its names and the words of the last and the next one. Add a row for a further language.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Final

from slowwave.policy.text.relative_dates import DateSpan

_UNITS: Final = ("day", "week", "weekend", "month", "year")
_COUNT_MAX: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    """The words of one language, as alternatives of a regular expression.

    Attributes:
        numbers: the number words from 1 on, separated by spaces; alternatives by "|".
        units: the names of a day, week, weekend, month and year, in singular and plural.
        last: words before or after a unit that mean the last one.
        this: the same for the present one.
        next: the same for the next one.
        ago: a count of units that have passed since, with COUNT and UNIT.
        ahead: a count of units from now on.
        yesterday: the day before; `before` is the day before that one, `tomorrow` the day after.
    """

    numbers: str
    units: tuple[str, str, str, str, str]
    last: str
    this: str
    next: str
    ago: tuple[str, ...]
    ahead: tuple[str, ...]
    yesterday: str
    before: str
    tomorrow: str


_LANGUAGES: Final = (
    _Language(  # German
        numbers="ein|eine|einem|einer|einen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        units=("tag(?:e|en)?", "wochen?", "wochenenden?", "monat(?:e|en|s)?", "jahr(?:e|en|es)?"),
        last="letzte[rnms]?|vergangene[rnms]?|vorige[rnms]?",
        this="diese[rnms]?|am",
        next="nächste[rnms]?|kommende[rnms]?",
        ago=(
            "vor (?:etwa |rund |über |fast )?COUNT UNIT",
            "seit (?:etwa |rund |über |fast )?COUNT UNIT",
        ),
        ahead=("in (?:etwa |rund )?COUNT UNIT",),
        yesterday="gestern|(?:letzte|vergangene) nacht",
        before="vorgestern",
        tomorrow="morgen",
    ),
    _Language(  # Spanish
        numbers="un|uno|una dos tres cuatro cinco seis siete ocho nueve diez once doce",
        units=("días?", "semanas?", "fin(?:es)? de semana", "mes(?:es)?", "años?"),
        last="pasad[oa]|últim[oa]",
        this="est[ea]",
        next="próxim[oa]|que viene",
        ago=("hace (?:unos |unas |casi |más de )?COUNT UNIT",),
        ahead=("(?:dentro de|en) COUNT UNIT",),
        yesterday="ayer|anoche|la noche pasada",
        before="anteayer|antes de ayer",
        tomorrow="mañana",
    ),
    _Language(  # French
        numbers="une? deux trois quatre cinq six sept huit neuf dix onze douze",
        units=("jours?", "semaines?", "week-?ends?", "mois", "ans?|années?"),
        last="derni(?:er|ère)|passée?",
        this="cet?|cette",
        next="prochaine?",
        ago=("(?:il y a|depuis) (?:environ |presque |plus de )?COUNT UNIT",),
        ahead=("dans COUNT UNIT",),
        yesterday="hier|la nuit (?:dernière|passée)",
        before="avant-hier",
        tomorrow="demain",
    ),
    _Language(  # Italian
        numbers="un|uno|una due tre quattro cinque sei sette otto nove dieci undici dodici",
        units=("giorn[oi]", "settiman[ae]", "fine settimana|weekend", "mes[ei]", "ann[oi]"),
        last="scors[oa]|passat[oa]|ultim[oa]",
        this="quest[oa]",
        next="prossim[oa]",
        ago=(
            "COUNT UNIT fa",
            "da COUNT UNIT",
        ),
        ahead=("(?:tra|fra) COUNT UNIT",),
        yesterday="ieri|(?:la notte scorsa|la scorsa notte)",
        before="l'altro ieri|avantieri",
        tomorrow="domani",
    ),
    _Language(  # Portuguese
        numbers="uma? dois|duas três quatro cinco seis sete oito nove dez onze doze",
        units=("dias?", "semanas?", "fi(?:m|ns) de semana", "mês|meses", "anos?"),
        last="passad[oa]|últim[oa]",
        this="est[ea]|nest[ea]",
        next="próxim[oa]|que vem",
        ago=(
            "há (?:cerca de |quase |mais de )?COUNT UNIT",
            "COUNT UNIT atrás",
        ),
        ahead=("(?:daqui a|em) COUNT UNIT",),
        yesterday="ontem|(?:na )?noite passada",
        before="anteontem",
        tomorrow="amanhã",
    ),
    _Language(  # Dutch
        numbers="een|één twee drie vier vijf zes zeven acht negen tien elf twaalf",
        units=("dag(?:en)?", "we(?:ek|ken)", "weekends?|weekeinden?", "maand(?:en)?", "jaar|jaren"),
        last="vorige?|afgelopen|laatste",
        this="deze|dit",
        next="volgende?|komende?",
        ago=(
            "COUNT UNIT geleden",
            "(?:al|sinds) COUNT UNIT",
        ),
        ahead=("over COUNT UNIT",),
        yesterday="gister(?:en|avond|nacht|middag|morgen)|afgelopen nacht",
        before="eergisteren",
        tomorrow="morgen",
    ),
)


Rule = tuple[re.Pattern[str], str, int, bool]
"""A pattern, its unit, its steps from the day of the message (a sign if it counts), and whether it counts."""


def foreign_spans(text: str, at: datetime) -> Iterator[DateSpan]:
    """Every span of days that a relative date of these languages may mean in a text that was said at a time.

    >>> [tuple(map(str, span)) for span in foreign_spans("Letzten Monat zog ich um", datetime(2023, 6, 14))]
    [('2023-05-01', '2023-05-31')]
    """
    for words in _LANGUAGES:
        if not _pattern("|".join((*words.units, words.yesterday, words.before, words.tomorrow))).search(text):
            continue
        for pattern, unit, steps, counts in _rules(words):
            for match in pattern.finditer(text):
                count = _number(match["count"].casefold()) if counts else 1
                if 0 < count <= _COUNT_MAX:
                    yield from _stepped(at.date(), unit, steps * count)


@cache
def _rules(words: _Language) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    forms = (form for alternatives in words.numbers.split() for form in alternatives.split("|"))
    count = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(forms, key=len, reverse=True))})"
    for unit, names in zip(_UNITS, words.units, strict=True):
        for steps, which in ((-1, words.last), (0, words.this), (1, words.next)):
            beside = rf"(?:{which})\s+(?:{names})|(?:{names})\s+(?:{which})"
            rules.append((_pattern(beside), unit, steps, False))
        if unit == "weekend":  # its name is English too
            continue
        for sign, counted in (*((-1, form) for form in words.ago), *((1, form) for form in words.ahead)):
            written = counted.replace("COUNT", count).replace("UNIT", f"(?:{names})")
            rules.append((_pattern(written), unit, sign, True))
    for steps, day in ((-1, words.yesterday), (-2, words.before), (1, words.tomorrow)):
        rules.append((_pattern(day), "day", steps, False))
    return tuple(rules)


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


@cache
def _number(word: str) -> int:
    """The number that digits or a word of any of the languages mean; 0 for none."""
    if word.isdigit():
        return int(word)
    for words in _LANGUAGES:
        for number, alternatives in enumerate(words.numbers.split(), 1):
            if any(re.fullmatch(form, word) for form in alternatives.split("|")):
                return number
    return 0


def _stepped(today: date, unit: str, steps: int) -> Iterator[DateSpan]:
    """The spans that lie so many units before or after a day, each with its first and last day."""
    try:
        if unit == "day":
            day = today + timedelta(days=steps)
            yield day, day
        elif unit in {"week", "weekend"}:
            monday = today - timedelta(days=today.weekday()) + timedelta(weeks=steps)
            weekend = unit == "weekend"
            yield monday + timedelta(days=4 if weekend else -1), monday + timedelta(days=6)
            if (
                weekend and steps <= 0
            ):  # on a Monday "this weekend" is the one before, on a Sunday "last weekend" may be this one
                other = monday + timedelta(weeks=1 if steps else -1)
                yield other + timedelta(days=4), other + timedelta(days=6)
        else:
            months = steps if unit == "month" else 12 * steps
            yield (
                _months(today, months, 1)
                if unit == "month"
                else (
                    date(today.year + steps, 1, 1),
                    date(today.year + steps, 12, 31),
                )
            )
            if unit == "year":
                yield _months(today, months - 1, 3)
    except (OverflowError, ValueError):  # before year 1 or after year 9999
        return


def _months(today: date, steps: int, length: int) -> DateSpan:
    """So many months from the first day of one that lies so many months from a day."""
    first, after = (today.year * 12 + today.month - 1 + steps + more for more in (0, length))
    return date(first // 12, first % 12 + 1, 1), date(after // 12, after % 12 + 1, 1) - timedelta(days=1)
