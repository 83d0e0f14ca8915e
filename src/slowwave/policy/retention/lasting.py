"""How long a fact is of use by its own words: whether it lasts, is ordinary or passes, and when it ends.

What a person is, has, likes and believes lasts, and so do the turning points of a life: a wedding, a new job, a move. A single
outing is ordinary. A mood, and what is only being thought about, passes. The words decide, not how often they were said.
"""

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from slowwave.model.memory import SUMMARY, Memory
from slowwave.policy.retention.life import tells_of_life, without_others
from slowwave.policy.text.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from slowwave.policy.text.dates import DateParts

Durability: TypeAlias = Literal["lasting", "ordinary", "passing"]

SELDOM_CHANGES: Final = frozenset({"identity", "person", "preference"})
OF_A_LIFE: Final = SELDOM_CHANGES | {"goal", "observation"}
"""Categories of which states last. Facts about work and tools fade as fast as their kind."""
PERSONAL: Final = OF_A_LIFE | {"other"}
"""Categories of facts whose words say how long they last."""
_ENDING: Final = PERSONAL | {"active_decision"}
"""Categories of which a fact ends when its words say so. A decision of which the day has passed is history."""
_STATE_OF_WORK: Final = "project_status"
_RESPECTED: Final = "active_decision"
_OF_PLANS: Final = frozenset({"goal", _STATE_OF_WORK})
OF_LITTLE_WORTH: Final = 0.3
"""An observation of less importance than this does not last: its words say little."""

_MILESTONE: Final = lazy_regex(
    r"\b(?:marr(?:y|ied|ies|ying|iage)|wedding|engaged|divorced|separated|widowed|graduat(?:ed|es|ing|ion)|hired|fired(?! up)|laid off"
    r"|promoted|resigned|retired|quit|adopt(?:ed|s|ing|ion)|founded|published|released|won|(?:first|second|third) (?:place|prize)|earned|awarded|qualified|passed"
    r"|mov(?:ed|es|ing) (?:in|out|to|from|back|away|into|here|there|abroad)|relocated|emigrated|immigrated|born|gave birth"
    r"|pregnan(?:t|cy)|died|death|passed away|funeral|diagnos(?:ed|is)|surgery|operation|injur(?:ed|y)|hurt|broke (?:an?|his|her|their|my)"
    r"|hospitali[sz]ed|recovered|enrolled|admitted|accepted|(?:(?<!be )(?<!is )(?<!are )(?<!was )(?<!been )applied|(?<!it )(?<!this )(?<!that )applies|applying) (?:to|for)|signed up|became|came out|transitioned"
    r"|(?:start(?:ed|s|ing)|beg(?:an|ins|inning)|finish(?:ed|es|ing)|complet(?:ed|es|ing)|open(?:ed|s|ing)|launch(?:ed|es|ing)|left|leav(?:es|ing)"
    r"|los(?:t|es|ing)|sold|sell(?:s|ing)|bought|buy(?:s|ing)|got|gets|getting)"
    r" (?:(?:an?|the|his|her|their|my|our|new|own|another|first|second|old) ){0,3}(?:[\w'’-]+ ){0,2}?"
    r"(?:jobs?|work|business|shop|store|studio|restaurant|gallery|website|tattoo|company|school|university|college|degree|course|class(?:es)?|lessons|studies|training|therapy|career|house"
    r"|home|flat|apartment|car|dogs?|puppy|pup|cats?|kitten|kitty|pets?|baby|child|book|novel|thesis|album|band|marathon|race"
    r"|mother|father|mom|mum|dad|parents?|husband|wife|partner|brother|sister|son|daughter|grandmother|grandfather|friend|visa|citizenship)"
    r"|(?:started|began) (?:\w+ )?(?:play|learn|look|stud|work|train|volunteer|teach|dat|see|car|writ|paint|runn)(?:y|k|n)?ing"
    r"|learn(?:s|ed|t|ing) (?:the (?!news|truth)\w+|(?:how )?to \w+)|shut(?:s|ting)? down|clos(?:ed|es|ing) down"
    r"|join(?:ed|s|ing) (?:[\w'’-]+ ){0,4}?(?:group|program(?:me)?|team|company|firm|organi[sz]ation|church|army|navy|(?:air )?force|brigade|band|choir|board|faculty|staff|party|union)"
    r"|ran (?:an? |the )?(?:[\w-]+ ){0,2}(?:marathon|race)|first (?:step|time|job|child|day at))\b",
    re.IGNORECASE,
)
_HEALTH: Final = lazy_regex(
    r"\b(?:allerg(?:y|ic|ies)|intoleran(?:t|ce)|diabet(?:es|ic)|asthma(?:tic)?|epilep(?:sy|tic)|coeliac|celiac|vegetarian|vegan|halal|kosher"
    r"|(?:can['’]t|cannot|must not|mustn['’]t|doesn['’]t|do(?:es)? not|never) (?:eat|have|drink|take|tolerate)s?"
    r"|helps? (?:me|him|her|them|us) (?:to )?(?:de-?stress|relax|unwind|sleep|cope|focus|calm)"
    r"|medication|insulin|inhaler|chronic|disab(?:led|ility)|blood type|blind|deaf|sober)\b",
    re.IGNORECASE,
)
_PASSING: Final = lazy_regex(
    r"\b(?:(?:is|are|was|were|am|['’](?:m|re)|been|feels?|felt) (?:(?:so|very|really|a bit|quite|still|just|pretty) ){0,2}"
    r"(?:busy|tired|swamped|exhausted|excited|stoked|thrilled|nervous|bored|hungry|stressed|happy|glad|sorry|curious|worried|sick|ill|jet-?lagged)"
    r"|(?:is|are|am|['’](?:m|re)|was|were|has been|have been) (?:(?:still|just|now|also|currently) ){0,2}(?:thinking (?:of|about)|considering|trying|hoping|wondering"
    r"|lending a hand|looking forward|getting ready|about to|off to|waiting|debating|deciding)"
    r"|still (?:looking|searching|hunting)|thinks? about|can['’]t wait|looks? forward|might|(?-i:may) (?=[a-z])|had (?:a lot of )?fun|had a (?:\w+ )?(?:time|day|night|weekend|blast)"
    r"|tonight|today|this (?:morning|afternoon|evening|week|weekend)|later today|tomorrow)\b",
    re.IGNORECASE,
)
_PLANNED: Final = lazy_regex(
    r"\b(?:(?:is|are|am|['’](?:m|re)|was|were) (?:\w+ly |also |both |still |now )?(?:planning|going to (?:an?|the)\b|having an?\b|hosting)|coming up|upcoming)\b",
    re.IGNORECASE,
)
_AHEAD: Final = lazy_regex(
    r"\b(?:(?:is|are|am|will be) (?:\w+ly |also |all |both )?(?:going|planning|having|hosting|attending|visiting|travell?ing|flying|meeting|starting"
    r"|seeing|taking|running|leaving|coming|moving|doing|throwing|performing|playing|speaking|presenting|joining|due|scheduled|booked|expecting|\w+ing)"
    r"|will|(?:plans?|intends?|wants?|hopes?|needs?|has|have|ought|expects?) to|looks? forward|thinking (?:of|about)"
    r"|plans (?:an?|another|the|more|for|on|his|her|their)"
    r"|has an? (?:\w+ ){0,3}(?:appointment|interview|meeting|exam|flight|trip|show|race|date|deadline|reservation|booking|visit)"
    r"|(?:appointment|interview|meeting|exam|flight|trip|race|deadline|reservation|party|wedding|concert) (?:is|are))\b",
    re.IGNORECASE,
)
_UNTIL: Final = lazy_regex(
    r"\b(?:until|till|last day|ends?|expires?|runs out|valid (?:to|through)|due)\b", re.IGNORECASE
)
_STATES: Final = tuple(
    (lazy_regex(pattern, re.IGNORECASE), timedelta(days=days))
    for pattern, days in (
        (
            r"\b(?:is|am|are|currently|now) (?:\w+ (?:weeks|months) )?pregnant\b|\bexpecting a (?:baby|child|son|daughter)\b",
            300,
        ),
        (
            r"\b(?:is|am|turned|turns|now) \d{1,3}(?: years old| year-old| yo\b|(?=[.,;]|$))|\baged? \d{1,3}\b|\bturned \d{1,3}\b",
            365,
        ),
        (r"\b(?:at the moment|right now|for now|for the time being|temporarily|this (?:week|month))\b", 90),
    )
)
"""States that end, and the days after which they are no longer taken for true. A pregnancy has 280 at most."""
_NO_END: Final = lazy_regex(
    r"\b(?:as of|since|from|after|(?:starting|beginning|started|began|begun|said|told|mentioned)\b[^.;]{0,40}?)"
    r"(?: (?:in|on|the|early|mid|late|beginning of|start of|end of|week of|weekend of))*\s*$",
    re.IGNORECASE,
)
"""Words before a date that tells when a plan was made, or when it begins: "as of April 2023", "since May 2023"."""
_NO_END_WITHIN: Final = 120  # characters before a date
_WILL: Final = lazy_regex(
    r"\b(?:will|(?:is|are) (?:also |both )?going to|(?:plans?|intends?|hopes?|expects?) to|has an (?:appointment|exam|interview))\b",
    re.IGNORECASE,
)
"""Words that tell of something to come, and of nothing under way: a date after them is its date."""
_NOW: Final = lazy_regex(r"\b(?:currently|now|these days|nowadays|still|lately|recently|at present)\b", re.IGNORECASE)
_GRACE: Final = timedelta(days=1)
"""How long after its day a plan stays: the day may have been elsewhere on Earth."""


def durability(memory: Memory) -> Durability:
    """How long the fact is of use, by its category, kind and words."""
    if memory.kind in {SUMMARY, "procedural"}:
        return "ordinary"
    if memory.category in PERSONAL and _is_planned(memory.text):
        return "passing" if own_end(memory) is None and not _has_open_date(memory.text) else "ordinary"
    return _durability(memory.text, memory.category, memory.kind == "semantic", memory.importance >= OF_LITTLE_WORTH)


def _is_milestone(text: str) -> bool:
    """Whether a text tells of a turning point in the life of somebody whom it names."""
    return _MILESTONE.search(without_others(text)) is not None


def _is_planned(text: str) -> bool:
    """Whether a text is a plan of something that is soon over: with a date it stays until then, without one it passes."""
    return _PLANNED.search(text) is not None and not _HEALTH.search(text) and not _is_milestone(text)


@lru_cache(maxsize=20_000)
def _has_open_date(text: str) -> bool:
    """Whether a text has a date without a year, of which it is not known when it is over."""
    from slowwave.policy.text.dates import mentioned  # noqa: PLC0415 - most texts are no plans

    return any(year is None for written in mentioned(text) for year, _, _ in written.readings)


@lru_cache(maxsize=20_000)
def _durability(text: str, category: str, is_state: bool, tells: bool) -> Durability:
    if category not in PERSONAL:
        return "ordinary"
    if _HEALTH.search(text):
        return "lasting"
    if _PASSING.search(text):
        return "passing"
    if _is_milestone(text) or (is_state and tells_of_life(text)):
        return "lasting"
    lasts = category in SELDOM_CHANGES or (category in OF_A_LIFE and tells)
    return "lasting" if is_state and lasts else "ordinary"


def tells_of_now(memory: Memory) -> bool:
    """Whether a state of a life is told as the present one, and may have changed: "currently", "now", "these days", "still"."""
    return (
        memory.kind == "semantic"
        and memory.category in PERSONAL
        and not memory.pinned
        and bool(_NOW.search(memory.text))
    )


def is_plan(memory: Memory) -> bool:
    """Whether a fact tells of something to come: it is a goal or the state of some work, or its plan ends with a day that it names."""
    return bool(_AHEAD.search(memory.text)) and (memory.category in _OF_PLANS or own_end(memory) is not None)


def category_of(name: str, text: str, said: datetime) -> str:
    """The category of a distilled fact, which a mind may have called the state of some work, or an active decision.

    A past event is an observation, and what ends with a day to come, such as an appointment or a promise, is a goal.

    >>> category_of("project_status", "Ann tiled the bath on 3 May 2026", datetime(2026, 5, 4))
    'observation'
    >>> category_of("project_status", "Ann is tiling the bath since 3 May 2026", datetime(2026, 5, 4))
    'project_status'
    >>> category_of("active_decision", "Ann will be at the fair on 9 May 2026", datetime(2026, 5, 4))
    'goal'
    """
    if (
        name == _RESPECTED
        and not _UNTIL.search(text)
        and _AHEAD.search(text)
        and _own_end(text, said.replace(tzinfo=None))
    ):
        return "goal"
    if name != _STATE_OF_WORK or _AHEAD.search(text) or _UNTIL.search(text):
        return name
    from slowwave.policy.text.dates import mentioned  # noqa: PLC0415 - most searches do without

    days = [_last_day(parts) for written in mentioned(text) for parts in written.readings]
    return "observation" if days and all(day and day <= said.date() for day in days) else name


def own_end(memory: Memory) -> datetime | None:
    """The last instant at which the words of a fact can be true; None if they name no end.

    A plan ends with the last day that it names, "until 3 May" and "last day" with that day, and a state that cannot last,
    such as a pregnancy, an age or "at the moment", some time after it was said. The day or month in which a plan was stated, if
    it does not stand behind "will" or "plans to", and a date after "as of", "since" or "from", are no dates of the plan: it does
    not end with them.

    >>> at = datetime(2026, 3, 1)
    >>> plan = Memory(id="a", scope="s", kind="semantic", text="Ann is going to Rome on 5 May 2026", recorded_at=at, valid_from=at)
    >>> own_end(plan).isoformat()
    '2026-05-07T00:00:00'
    """
    if memory.kind in {SUMMARY, "procedural"} or memory.category not in _ENDING:
        return None
    try:
        end = _own_end(memory.text, memory.valid_from.replace(tzinfo=None))
        return end and end.replace(tzinfo=memory.valid_from.tzinfo)
    except OverflowError:  # after the end of the calendar: "valid until 31 December 9999"
        return None


@lru_cache(maxsize=20_000)
def _own_end(text: str, said: datetime) -> datetime | None:
    """The end by the clock of the zone in which it was said, whose reading is `said`."""
    ends = _UNTIL.search(text)
    if ends or (_AHEAD.search(text) and not _is_milestone(text)):  # a wedding or a move is worth knowing afterwards
        from slowwave.policy.text.dates import mentioned  # noqa: PLC0415 - most searches do without

        coming = _WILL.search(text)
        days = [
            day
            for written in mentioned(text)
            if ends or not _NO_END.search(text, max(0, written.start - _NO_END_WITHIN), written.start)
            for parts in written.readings
            if (day := _last_day(parts))
            and (ends or (coming and coming.end() <= written.start) or not _is_of_the_telling(parts, said.date()))
        ]
        if days:
            last = datetime.combine(max(days), time()) + timedelta(days=1) + _GRACE
            return last if last > said else None  # the words tell of the past
    return next((said + days for pattern, days in _STATES if pattern.search(text)), None)


def _is_of_the_telling(parts: "DateParts", said: date) -> bool:
    """Whether a date is the day or the month in which something was said, or an earlier one."""
    year, month, day = parts
    if year is None or month is None:
        return False
    return (year, month, day or 0) <= (said.year, said.month, said.day)


def _last_day(parts: "DateParts") -> date | None:
    """The last day of a date that names its year; None without a year."""
    year, month, day = parts
    if year is None:
        return None
    try:
        if month is None:
            return date(year, 12, 31)
        if day is None:
            return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        return date(year, month, day)
    except ValueError:
        return None
