"""Detects that a fact ends a job that an older fact states: somebody left it, or names their last day."""

import re
from datetime import datetime
from typing import Final

from slowwave.policy.text.dates import mentioned

_PLACE: Final = r"(?P<place>[A-Z][\w'’&.-]*(?: (?:[A-Z&][\w'’&.-]*|of|and|de|the(?= [A-Z])))*)"
_LEAD: Final = re.compile(r"^(?:On|In|At|After|Before|Last)\b[^,]*?(?:,\s*|\s(?=The user\b))")
_JOB: Final = re.compile(
    rf"^(?P<who>.+?) (?:(?:now|still|currently) )?(?:works?|has worked|has been working|is working|has (?:an?|the) job|is (?:an?|the) (?:[\w'’/-]+ ){{0,4}}?[\w'’/-]+)"
    rf"(?: [\w'’,/-]+){{0,8}}? (?:at|for|with) (?:the )?{_PLACE}"
)
_WAS_LEFT: Final = re.compile(
    r"^(?P<who>.+?) (?:(?:has|have|had|just|already|recently|finally) )*"
    r"(?:left|quit|resigned from|retired from|lost|(?:was|got|been|were) (?:laid off|fired|let go|made redundant)(?: from| by)?)"
    rf" (?:(?:[\w'’]+ ){{1,3}}?(?:job|position|post|role) (?:at|with|from|in) )?(?:the )?{_PLACE}"
)
_WILL_BE_LEFT: Final = re.compile(
    r"^(?:(?P<who>.+?) (?:is (?:leaving|quitting)|will (?:leave|quit|be leaving))(?: [\w'’]+ (?:job|position|post|role) (?:at|with))?"
    rf"|(?P<whose>.+?)['’]s last (?:working )?day (?:at|with)) (?:the )?{_PLACE}"
)
_WHEN: Final = re.compile(
    r"\b(?P<when>(?:(?:the )?(?:end|beginning|middle) of )?(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4})\b"
)


def job_end(new: str, at: datetime, old: str) -> str | None:
    """What is known of the job of an older fact after a newer one: the older text with its end, or the newer text if it is over.

    Args:
        new: The newer fact.
        at: When it was said.
        old: The older fact.

    Returns:
        The text; None if the newer fact does not end that job, or does not say when.

    >>> said = datetime(2026, 3, 2)
    >>> job_end("Ana's last day at Roche is on 6 March 2026", said, "Ana works at Roche as a chemist")
    'Ana works at Roche as a chemist until 6 March 2026'
    >>> job_end("Ana left Roche in February 2026", said, "Ana works at Roche as a chemist")
    'Ana left Roche in February 2026'
    """
    job, stated = _JOB.match(old), _LEAD.sub("", new)
    ended = _WAS_LEFT.match(stated) or _WILL_BE_LEFT.match(stated)
    if job is None or ended is None or " until " in old:
        return None
    who = ended.groupdict().get("whose") or ended["who"]
    if who != job["who"] or not _same_place(ended["place"], job["place"]):
        return None
    when = _WHEN.search(new)
    over = when is not None and _is_over(when["when"], at)
    if over or ended.re is _WAS_LEFT:
        return new
    return f"{old} until {when['when']}" if when else None


def _same_place(new: str, old: str) -> bool:
    """Whether two names are one, or the shorter one begins the other: "Roche", "Roche Diagnostics"."""
    short, long = sorted((new.split(), old.split()), key=len)
    return long[: len(short)] == short


def _is_over(when: str, at: datetime) -> bool:
    """Whether a date is before the day on which it was named."""
    today = (at.year, at.month, at.day)
    return any(
        year is not None and month is not None and (year, month, day or 31) < today
        for written in mentioned(when)
        for year, month, day in written.readings
    )
