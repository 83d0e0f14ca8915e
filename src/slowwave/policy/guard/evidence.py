"""Checks by whom, on which day, and with which verb a fact was said.

Each function returns what speaks against a fact, None if nothing does.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date, timedelta
from typing import Final

from slowwave.model.memory import Memory
from slowwave.policy.text import names as naming
from slowwave.policy.text.clauses import is_question, sentence_runs
from slowwave.policy.text.date_spans import EXACT_DAYS, possible_spans, written_spans
from slowwave.policy.text.dates import mentioned
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import PAST, table_words
from slowwave.policy.text.relative_dates import date_phrases

FIRST_PERSON: Final = table_words("first_person_singular")
_OTHER_PRONOUNS: Final = table_words("other_pronouns")
_SECOND_PERSON: Final = frozenset("you you're you've you'd you'll your yours".split())  # noqa: SIM905 - one form for word lists
_TWO: Final = 2
_DAY: Final = timedelta(days=1)
_CALL_WORDS: Final = 3
"""A sentence with so many words or fewer only calls somebody: "Hey Ada!"."""
_DROPPED: Final = lazy_regex(
    r"^\W*(?:(?i:just|finally|recently|already|also|actually|so|yes|yeah|yep|well|oh|wow)\W+){0,2}"
    rf"(?i:{'|'.join(sorted(PAST))}|[a-z]{{2,}}ed)\b"
)
"""A sentence that begins with a verb in the past: its subject is "I", which was dropped."""
_NEAR_DAY: Final = lazy_regex(
    r"\b(?:yesterday|today|tomorrow|tonight|last night|this (?:morning|afternoon|evening))\b"
    r"|\b(?:two|three|four|five|six|\d) days ago\b",
    re.IGNORECASE,
)

_SAYS: Final = lazy_regex(
    r"\b(?:(?:also|already|once|has|had)\s{1,9}){0,4}"
    r"(?:advis(?:es?|ed)|recommend(?:s|ed)?|suggest(?:s|ed)?|propos(?:es?|ed)|warn(?:s|ed)?|explain(?:s|ed)?|mention(?:s|ed)?"
    r"|promis(?:es?|ed)|sa(?:ys?|id)|t(?:ells?|old))\b",
    re.IGNORECASE,
)


def other_speaker(text: str, quote: str, turn: Memory, speakers: Collection[str]) -> str | None:
    """The speaker to whom a fact wrongly attributes what the quoted speaker says about themselves.

    The fact names this speaker and not the quoted one, and the quote says "I", or drops it ("Just got back"), and neither names
    the other one nor mentions anybody else.

    Args:
        text: the fact.
        quote: the quoted words.
        turn: the message that is quoted.
        speakers: the names of all speakers.
    """
    stated = naming.words(text)
    if not turn.speaker or _names(turn.speaker, stated):
        return None
    said = naming.words(quote)
    if said & _OTHER_PRONOUNS or not (said & FIRST_PERSON or _DROPPED.search(quote)):
        return None
    others = (name for name in sorted(speakers) if name != turn.speaker and _names(name, stated))
    return next((name for name in others if not _names(name, said)), None)


def unaddressed_speaker(text: str, quote: str, messages: Sequence[Memory], speakers: Collection[str]) -> str | None:
    """The only speaker whom a fact names, if others said all its messages and none of these names or addresses that speaker.

    A name in a sentence of at most `_CALL_WORDS` words, such as "Hey Ada!", does not count. "You" addresses the other one of
    two speakers, in the quote or in a sentence that is no question. Among more speakers "she" and "he" may mean one of them.
    """
    stated = naming.words(text)
    authors = {message.speaker for message in messages if message.speaker}
    named = [name for name in sorted(speakers) if _names(name, stated)]
    if len(named) != 1 or len(authors) != len({message.speaker for message in messages}) or named[0] in authors:
        return None
    pronouns = _SECOND_PERSON if len(speakers) <= _TWO else _OTHER_PRONOUNS
    for message in messages:
        sentences = [run.group() for run in sentence_runs(message.text)]
        telling = " ".join(s for s in sentences if len(s.split()) > _CALL_WORDS or s.strip() in quote)
        if _names(named[0], naming.words(telling)):
            return None
        said = " ".join(s for s in sentences if not is_question(s))
        if (naming.words(said) | naming.words(quote)) & pronouns:
            return None
    return named[0]


def unheard_speaker(text: str, messages: Sequence[Memory], speakers: Collection[str]) -> str | None:
    """The speaker who, as a fact tells, says something ("Ada advises"), if others said all its messages and none reports that."""
    authors = {message.speaker for message in messages}
    if None in authors or any(_SAYS.search(message.text) for message in messages):
        return None
    for name in sorted(set(speakers) - authors):
        if any(_SAYS.match(text, found.end()) for found in re.finditer(rf"\b{re.escape(name)}\s+", text)):
            return name
    return None


def _names(speaker: str, said: frozenset[str]) -> bool:
    """Whether a word of a speaker's name is among these words, itself or by a derivation."""
    return any(naming.is_named_in(word, said) for word in naming.words(speaker))


def wrong_day(
    text: str, quote: str, turn: Memory, messages: Sequence[Memory], beside: Sequence[Memory] = ()
) -> str | None:
    """The day of a fact that is not the exact one.

    Where the quoted sentence has "yesterday", "today" or "two days ago", the messages must give each day of the fact.
    "Yesterday" is the day before the message, by the clock of its speaker. Elsewhere they, or those beside it,
    must give the day before the message and the day after it: a message without a date supports its own day only.

    Args:
        text: the fact.
        quote: the quoted words.
        turn: the message that is quoted.
        messages: the messages that the fact names.
        beside: others that lend a day: those of the same speaker, and questions.
    """
    days = [span for span in written_spans(text) if all(first == last for first, last in span.readings)]
    if not days:
        return None
    if not _NEAR_DAY.search(_sentence(quote, turn.text)):
        own = turn.at.date()
        days = [day for day in days if any(abs(each - own) == _DAY for each, _ in day.readings)]
        days = [day for day in days if not any(each == own for each, _ in day.readings)]
        messages = [*messages, *beside]
    allowed = {span for message in messages for span in _stated_spans(message)} if days else frozenset()
    for day in days:
        if not any(first <= each <= last for each, _ in day.readings for first, last in allowed):
            return text[day.start : day.end]
    return None


def _sentence(quote: str, text: str) -> str:
    """The sentences of a message in which a quote stands; the quote itself if it stands in none."""
    start = text.find(quote)
    runs = [run for run in sentence_runs(text) if run.start() < start + len(quote) and start < run.end()]
    return " ".join(run.group() for run in runs) if start >= 0 and runs else quote


def _stated_spans(message: Memory) -> Iterable[tuple[date, date]]:
    """The days and short spans that the words of a message name, without its own day."""
    at = message.at
    own = (at.date(), at.date())
    phrases = {span for phrase in date_phrases(message.text, at) for span in phrase.spans}
    for span in phrases | (set(possible_spans(message.text, at)) - {own}):
        if (span[1] - span[0]).days < EXACT_DAYS:
            yield span
    if any(written.readings[0][1:] == (at.month, at.day) for written in mentioned(message.text)):
        yield own
