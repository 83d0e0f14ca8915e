"""How people write dates: month names and days relative to today in widely written languages, English counts and units."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

# One line a month; English first, then German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Russian.
_MONTH_LINES: Final = """
january jan januar janvier enero gennaio janeiro januari stycznia styczeń января январь
february feb februar février fevrier febrero febbraio fevereiro februari lutego luty февраля февраль
march mar märz maerz mars marzo março marco maart marca marzec марта март
april apr avril abril aprile kwietnia kwiecień апреля апрель
may mai mayo maggio maio mei maj maja мая май
june jun juni juin junio giugno junho czerwca czerwiec июня июнь
july jul juli juillet julio luglio julho lipca lipiec июля июль
august aug août aout agosto augustus augusti sierpnia sierpień августа август
september sep sept septembre septiembre settembre setembro września wrzesień сентября сентябрь
october oct oktober octobre octubre ottobre outubro października październik октября октябрь
november nov novembre noviembre novembro listopada listopad ноября ноябрь
december dec dezember décembre decembre diciembre dicembre dezembro grudnia grudzień декабря декабрь
"""
MONTH_NUMBERS: Final[Mapping[str, int]] = MappingProxyType(
    {word: number for number, line in enumerate(_MONTH_LINES.strip().splitlines(), 1) for word in line.split()}
)
"""Lower-case name or abbreviation of a month -> 1..12."""

ALSO_WORDS: Final = frozenset(
    {"may", "march", "mar", "jan", "mai", "mars", "mei", "jun", "maj", "sep", "luty", "marca"}
)
"""Month names that are also words or first names: alone they count only with a capital and a preposition before."""

NEAR_DAYS: Final[Mapping[str, int]] = MappingProxyType(
    {
        word: days
        for days, line in (
            (-1, "gestern hier ayer ieri ontem gisteren igår wczoraj вчера 昨天 昨日 어제"),
            (0, "heute aujourd'hui hoy oggi hoje vandaag idag dzisiaj dziś сегодня 今天 今日 오늘"),
            (1, "morgen demain mañana domani amanhã imorgon jutro завтра 明天 明日 내일"),
            (-2, "vorgestern avant-hier anteayer anteontem eergisteren позавчера 前天 一昨日"),
            (2, "übermorgen après-demain dopodomani overmorgen послезавтра 后天 明後日"),
        )
        for word in line.split()
    }
)
"""Yesterday, today and tomorrow beyond English -> days from the day of the message."""

COUNTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        word: number
        for number, line in enumerate(
            (
                "a an one",
                "two couple",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
                "eleven",
                "twelve",
            ),
            1,
        )
        for word in line.split()
    }
)
"""English number words up to twelve, and a and couple."""

WEEKDAY_NUMBERS: Final[Mapping[str, int]] = MappingProxyType(
    {
        word: number
        for number, line in enumerate(
            [
                "monday mon",
                "tuesday tues tue",
                "wednesday wed",
                "thursday thurs thur thu",
                "friday fri",
                "saturday sat",
                "sunday sun",
            ]
        )
        for word in line.split()
    }
)
"""Weekdays and their abbreviations -> 0 (Monday) .. 6."""

SEASONS: Final[Mapping[str, int]] = MappingProxyType({"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12})
"""Seasons -> their first month, as the northern half of the world counts them."""
