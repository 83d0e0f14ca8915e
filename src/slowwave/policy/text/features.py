"""Properties of a text that search uses: the index entry of a memory, and what a question asks for."""

import re
import sys
from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import product
from typing import Final, TypeAlias

from slowwave.model.index_entry import IndexEntry
from slowwave.policy.text.calendar import LOWER_MONTHS, LOWER_WEEKDAYS, MONTHS, WEEKDAYS
from slowwave.policy.text.languages import content_words
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS, fold, stem, term_id, word_id, words

WHEN, COUNT, WHERE, WHY, WHO, PREFERS, RULE = 1, 2, 4, 8, 16, 32, 64
"""The bits of `IndexEntry.cues`: which kinds of question a text may answer.

PREFERS: it states what somebody prefers, loves, avoids or is allergic to. RULE: it tells an assistant how to answer ("always
…", "from now on", "when I ask"). Entries of older versions have neither bit.
"""

# Most cues are single words: a look-up in the set of a text's words costs a tenth of a search with a pattern. Patterns are used
# only where capitals or neighbouring words matter, and only if a word shows that they can match.
_TIME_WORDS: Final = table_words("cue_time_words")
_DATED: Final = frozenset({*LOWER_MONTHS, *LOWER_WEEKDAYS})
_DATE: Final = lazy_regex(rf"\b(?:{'|'.join((*MONTHS, *WEEKDAYS))})\b")
_DIGIT: Final = lazy_regex(r"\d")
_YEAR: Final = lazy_regex(r"\b(?:19|20)\d\d\b")
_NUMBERS: Final = word_set(
    "one two three four five six seven eight nine ten eleven twelve dozen hundred thousand once twice couple few"
)
_TOWARDS: Final = word_set("in at to from near")
_PLACE: Final = lazy_regex(r"\b(?:in|at|to|from|near)\s+(?:the\s+)?[A-Z][a-z]")
_REASONS: Final = table_words("cue_reasons")
_REASON_OPENS: Final = word_set("so order thanks")
_REASON: Final = lazy_regex(r"\b(?i:so that|so I|in order to|thanks to)\b")
_KIN: Final = table_words("cue_relatives")
_NAME: Final = lazy_regex(r"[A-Z](?<=[a-z,;] [A-Z])[a-z]")  # does not match "I"
# Unlike `clauses.sentences` it keeps all end marks and does not normalise: the share of questions is stored in the index.
_SENTENCE: Final = lazy_regex(r"[^.!?。！？\n]*[.!?。！？\n]*")
_WORD: Final = lazy_regex(r"[^\W\d_]+(?:-[^\W\d_]+)*(?:['’]s?(?!\w))?")
_PREFERENCE_WORDS: Final = table_words("cue_preferences")
_PREFERENCE: Final = lazy_regex(
    r"\b(?:i|i'd|i'll|i've|we|we'd|user|he|she|they)(?: \w+){0,2} (?:prefer|love|hate|avoid|enjoy|dislike|favou?r|appreciate)(?:s|ed)?\b"
    r"|\bi(?:'d| would) rather\b|\b(?:my|his|her|their|user's)(?: \w+)? (?:favou?rite|preference|preferred)s?\b|\ballergic\b|\ballergy\b",
    re.IGNORECASE,
)
_RULE_WORDS: Final = word_set("always never on ask forward future")
_RULE: Final = lazy_regex(
    r"(?:^|[.!?;:\n]\s{0,9}|, )(?:(?:please|and|so|but|user:|remember to|wants you to)\s{1,9}){0,9}(?:always|never|from now on|going forward|in (?:the )?future)\b"
    r"|\b(?:when|whenever|every time|each time|if) i ask\b|\bfrom now on\b",
    re.IGNORECASE,
)
_QUESTIONS: Final = (
    (WHEN, lazy_regex(r"\bwhen\b|\bwh(?:at|ich) (?:date|day|month|year|time)\b|\bhow long ago\b")),
    (COUNT, lazy_regex(r"\bhow (?:many|much|often|long|old|far)\b|\bwhat (?:number|percentage|amount)\b")),
    (WHERE, lazy_regex(r"\bwhere\b|\b(?:what|which) (?:city|country|state|place|town)\b")),
    (WHY, lazy_regex(r"\bwhy\b|\bwhat (?:motivat|inspir|made|reason|prompt)")),
    (WHO, lazy_regex(r"\bwho\b|\bwhom\b|\bwhose\b")),
)
_MYSELF: Final = lazy_regex(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b")
_ADVICE: Final = lazy_regex(
    r"\b(?:suggest|recommend|advi[cs]e|should (?:i|we)|help me|any (?:ideas|tips)|ideas for|(?:can|could|would|will) you"
    r"|walk me through|show me|tell me how)"
)
_REQUEST: Final = lazy_regex(
    r"\bhow (?:do|can|could|should|would|to)\b|\bwhat are (?:some|the)\b|\b(?:explain|describe|write|create|give me)\b"
)
_SAID: Final = lazy_regex(r"\b(?:did|said|told|mention(?:ed)?)\b")
_NOW: Final = lazy_regex(r"\b(?:now|latest|currently|current|recently|nowadays|newest|these days|at the moment)\b")
_AT_PRESENT: Final = lazy_regex(r"\b(?:at the moment|these days|right now|at present)\b", re.IGNORECASE)
"""Phrases whose words are not searched: "Is he working at the moment?" found each message with a moment."""

PASSAGE: Final = 40
"""Words of a passage."""
LONG: Final = 60
"""Texts of more than this many words are also embedded passage by passage."""
PASSAGES_MOST: Final = 64
SMALL_TALK_LONGEST: Final = 60
"""The most characters of a text that can be small talk."""
NICKNAME: Final = 3
"""A capitalised word of at least this many letters that begins the name of exactly one speaker means that speaker."""


def index_text(text: str) -> IndexEntry:
    """The index entry of a text, without vectors (the caller adds them)."""
    text_words = words(text)
    ids = array("Q", [word_id(word) for word in text_words])
    return IndexEntry(
        terms=_little_endian(ids), words=len(ids), question=_question_share(text), cues=_cues(text, text_words)
    )


def _little_endian(ids: "array[int]") -> bytes:
    if sys.byteorder == "big":
        ids.byteswap()
    return ids.tobytes()


def _question_share(text: str) -> float:
    if "?" not in text and "？" not in text:
        return 0.0
    question_words = total = 0
    for sentence in _SENTENCE.findall(text):
        length = len(sentence.split())
        total += length
        if sentence.rstrip().endswith(("?", "？")):
            question_words += length
    return question_words / total


def _cues(text: str, text_words: list[str]) -> int:
    distinct = set(text_words)
    digit = _DIGIT.search(text) is not None
    dated = not distinct.isdisjoint(_TIME_WORDS)
    dated = dated or (digit and _YEAR.search(text) is not None)
    dated = dated or (not distinct.isdisjoint(_DATED) and _DATE.search(text) is not None)
    cues = WHEN if dated else 0
    cues |= COUNT if digit or not distinct.isdisjoint(_NUMBERS) else 0
    cues |= WHERE if not distinct.isdisjoint(_TOWARDS) and _PLACE.search(text) else 0
    reason = not distinct.isdisjoint(_REASONS) or (
        not distinct.isdisjoint(_REASON_OPENS) and _REASON.search(text) is not None
    )
    cues |= WHY if reason else 0
    cues |= PREFERS if not distinct.isdisjoint(_PREFERENCE_WORDS) and _PREFERENCE.search(text) else 0
    cues |= RULE if not distinct.isdisjoint(_RULE_WORDS) and is_rule(text) else 0
    return cues | (WHO if not distinct.isdisjoint(_KIN) or _NAME.search(text) else 0)


def is_rule(text: str) -> bool:
    """Whether a text has a standing instruction for an assistant.

    >>> is_rule("Always add units"), is_rule("I always forget")
    (True, False)
    """
    return _RULE.search(text) is not None


def _wanted(lowered: str) -> int:
    """The bits of what a request to an assistant wants beside its answer: preferences for advice, and rules for any request."""
    if _SAID.search(lowered):
        return 0
    if _ADVICE.search(lowered):
        return PREFERS | RULE
    return RULE if _REQUEST.search(lowered) else 0


def passages(text: str) -> list[str]:
    """The passages of a long text, which are embedded beside the whole text; none for a short one.

    All passages but the last have the same length: 40 words, or more where the text would make more than 64 passages.
    """
    parts = text.split()
    if len(parts) <= LONG:
        return []
    size = max(PASSAGE, -(-len(parts) // PASSAGES_MOST))
    return [" ".join(parts[start : start + size]) for start in range(0, len(parts), size)]


def is_small_talk(text: str) -> bool:
    """Whether a short text has only function words, greetings, thanks and the like, of many languages, and so no content.

    >>> is_small_talk("Ok, noted. Thanks!"), is_small_talk("Noted: pepper"), is_small_talk("Vielen Dank!")
    (True, False, True)
    """
    if len(text) > SMALL_TALK_LONGEST:
        return False
    return all(word in STOP_WORDS or word in _acknowledgements(plain=word.isascii()) for word in words(text))


@cache
def _acknowledgements(*, plain: bool) -> frozenset[str]:
    """The words of the tables, as `words` splits and folds them. Plain: those in ASCII, which take a tenth of the time."""
    phrases = table_words("acknowledgements") | table_words("small_talk_abroad")
    parts = (part for phrase in phrases for part in fold(phrase).split() if not plain or part.isascii())
    return frozenset(word for part in parts for word in words(part))


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuestion:
    """What a question asks for.

    Attributes:
        wording: the question without the names of known speakers; this text is embedded.
        terms: the ids of its distinct stems, without stop words and speakers' names.
        cue: the bits of the kinds of answer it asks for.
        speaker: the number of the known speaker it names, if it names exactly one; else None.
        of_user: whether it is about the user of an assistant: it says I, my, we or our, or is not in English.
        wanted: PREFERS and RULE if it wants advice from an assistant, RULE if it is another request to one, else 0.
        recent: whether it asks for the present state ("now", "latest", "currently").
        foreign: whether it is in another language than English, as its function words tell.
    """

    wording: str
    terms: tuple[int, ...]
    cue: int = 0
    speaker: int | None = None
    of_user: bool = False
    wanted: int = 0
    recent: bool = False
    foreign: bool = False


TERMS_MAX: Final = 512
"""Distinct words of a question that are searched, the first ones: the time of a search grows with their number."""


def parse_question(text: str, names: Mapping[str, frozenset[int]]) -> ParsedQuestion:
    """Parse a question.

    Args:
        text: The question.
        names: Each word of the names of known speakers (`name_tokens`) -> the numbers of the speakers with this word.
    """
    named: list[frozenset[int]] = []
    cased = text != text.lower()

    def without_name(match: re.Match[str]) -> str:
        word = match.group()
        bearers = _bearers(word, names) if word[0].isupper() or not cased else None
        if not bearers:
            return word
        named.append(bearers)
        return ""

    wording = _WORD.sub(without_name, text) if names else text
    speakers = frozenset.intersection(*named) if named else frozenset()
    lowered = wording.lower()
    content, foreign = content_words(_AT_PRESENT.sub(" ", wording))
    return ParsedQuestion(
        wording=" ".join(wording.split()) if named else text,
        terms=tuple(dict.fromkeys(map(word_id, content)))[:TERMS_MAX],
        cue=sum(bit for bit, pattern in _QUESTIONS if pattern.search(lowered)),
        speaker=min(speakers) if len(speakers) == 1 else None,
        of_user=foreign or _MYSELF.search(lowered) is not None,
        wanted=0 if foreign else _wanted(lowered),
        recent=_NOW.search(lowered) is not None,
        foreign=foreign,
    )


def _bearers(word: str, names: Mapping[str, frozenset[int]]) -> frozenset[int] | None:
    name = fold(word).removesuffix("'s").removesuffix("'")
    if name in names:
        return names[name]
    if len(name) < NICKNAME or not word[0].isupper() or name in STOP_WORDS:
        return None
    bearers = frozenset().union(*(numbers for full, numbers in names.items() if full.startswith(name)))
    return bearers if len(bearers) == 1 else None


def name_tokens(speaker: str) -> list[str]:
    """The words of a name that a question may use alone: ann and smith for "Dr. Ann Smith"."""
    titles = {"dr", "mr", "mrs", "ms", "prof", "sir"}
    return [word for word in words(speaker) if len(word) > 1 and word not in titles and word not in STOP_WORDS]


def date_terms(at: datetime) -> tuple[int, ...]:
    """The terms that a question may use for a day: its number, the month's name and the year.

    >>> from slowwave.policy.text.tokens import terms
    >>> date_terms(datetime(2023, 5, 8)) == tuple(map(term_id, terms("8 May 2023")))
    True
    """
    return term_id(str(at.day)), term_id(stem(LOWER_MONTHS[at.month - 1])), term_id(str(at.year))


def date_keys(at: datetime) -> tuple[int, ...]:
    """The keys of a day: one for each combination of its day, month and year but the year alone (see `dates_asked`)."""
    return tuple(_date_key(*parts) for parts in _parts(at.day, at.month, at.year))


def dates_asked(terms: Collection[int]) -> dict[int, tuple[int, ...]]:
    """The keys of the days that the terms of a question may mean -> the terms of each.

    >>> keys = dates_asked([term_id("2023"), term_id("8")])
    >>> sorted(map(len, keys.values())), set(keys) < set(date_keys(datetime(2023, 5, 8)))
    ([1, 2], True)
    """
    days = [*(day for day in range(1, 32) if term_id(str(day)) in terms), None]
    months = [*(month for month, name in enumerate(LOWER_MONTHS, 1) if term_id(stem(name)) in terms), None]
    years = [*(year for year in _YEARS if term_id(str(year)) in terms), None]
    by_key = {_date_key(*parts): parts for whole in product(days, months, years) for parts in _parts(*whole)}
    return {
        key: tuple(
            term
            for part, term in (
                (day, term_id(str(day))),
                (month, term_id(stem(LOWER_MONTHS[(month or 1) - 1]))),
                (year, term_id(str(year))),
            )
            if part is not None
        )
        for key, (day, month, year) in by_key.items()
    }


_Parts: TypeAlias = tuple[int | None, int | None, int | None]


def _parts(day: int | None, month: int | None, year: int | None) -> set[_Parts]:
    """Every combination of the known parts of a day but the year alone."""
    combinations = product({day, None}, {month, None}, {year, None})
    return {parts for parts in combinations if parts[0] is not None or parts[1] is not None}


def _date_key(day: int | None, month: int | None, year: int | None) -> int:
    return term_id(f"@{year or ''}-{month or ''}-{day or ''}")


_YEARS: Final = range(1970, 2101)
