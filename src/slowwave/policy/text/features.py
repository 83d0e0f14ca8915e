"""What can be read off a text alone: the searchable side of a memory, and what a question asks for."""

import re
import sys
from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Final, TypeAlias

from slowwave.model.index_entry import IndexEntry
from slowwave.policy.text.calendar import LOWER_MONTHS, LOWER_WEEKDAYS, MONTHS, WEEKDAYS
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS, fold, stem, term_id, word_id, words

WHEN, COUNT, WHERE, WHY, WHO = 1, 2, 4, 8, 16
"""The bits of `Entry.cues`: what kind of question a text may answer."""

# Words decide most cues: a set of a text's own words is asked, which costs a tenth of a pattern each. Where capitals or
# neighbours matter a pattern looks, and only if a word says that it may find something.
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
_NAME: Final = lazy_regex(r"[A-Z](?<=[a-z,;] [A-Z])[a-z]")  # never "I", which no small letter follows
_SENTENCE: Final = lazy_regex(r"[^.!?。！？\n]*[.!?。！？\n]*")
_WORD: Final = lazy_regex(r"[^\W\d_]+(?:-[^\W\d_]+)*(?:['’]s?(?!\w))?")
_QUESTIONS: Final = (
    (WHEN, lazy_regex(r"\bwhen\b|\bwh(?:at|ich) (?:date|day|month|year|time)\b|\bhow long ago\b")),
    (COUNT, lazy_regex(r"\bhow (?:many|much|often|long|old|far)\b|\bwhat (?:number|percentage|amount)\b")),
    (WHERE, lazy_regex(r"\bwhere\b|\b(?:what|which) (?:city|country|state|place|town)\b")),
    (WHY, lazy_regex(r"\bwhy\b|\bwhat (?:motivat|inspir|made|reason|prompt)")),
    (WHO, lazy_regex(r"\bwho\b|\bwhom\b|\bwhose\b")),
)
_MYSELF: Final = lazy_regex(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b")
_YOU: Final = lazy_regex(r"\b(?:you|your|yours|assistant)\b")
_NOW: Final = lazy_regex(r"\b(?:now|latest|currently|current|recently|nowadays|newest|these days|at the moment)\b")

_ACKNOWLEDGED: Final = table_words("acknowledgements")

PASSAGE: Final = 40
"""Words of a passage."""
LONG: Final = 60
"""Texts of more words than this are also embedded passage by passage."""
PASSAGES_MOST: Final = 64
NOTHING_LONGEST: Final = 60
"""Characters of a text up to which it may say nothing."""
NICKNAME: Final = 3
"""A capitalised beginning of at least so many letters of exactly one speaker's name is taken for that speaker."""


def index_text(text: str) -> IndexEntry:
    """The searchable side of a text, without vectors (a caller adds them)."""
    found = words(text)
    ids = array("Q", [word_id(word) for word in found])
    return IndexEntry(
        terms=_little_endian(ids), words=len(ids), question=_question_share(text), cues=_cues(text, found)
    )


def _little_endian(ids: "array[int]") -> bytes:
    if sys.byteorder == "big":
        ids.byteswap()
    return ids.tobytes()


def _question_share(text: str) -> float:
    if "?" not in text and "？" not in text:
        return 0.0
    asked = total = 0
    for sentence in _SENTENCE.findall(text):
        length = len(sentence.split())
        total += length
        if sentence.rstrip().endswith(("?", "？")):
            asked += length
    return asked / total


def _cues(text: str, found: list[str]) -> int:
    said = set(found)
    digit = _DIGIT.search(text) is not None
    dated = not said.isdisjoint(_TIME_WORDS)
    dated = dated or (digit and _YEAR.search(text) is not None)
    dated = dated or (not said.isdisjoint(_DATED) and _DATE.search(text) is not None)
    cues = WHEN if dated else 0
    cues |= COUNT if digit or not said.isdisjoint(_NUMBERS) else 0
    cues |= WHERE if not said.isdisjoint(_TOWARDS) and _PLACE.search(text) else 0
    reason = not said.isdisjoint(_REASONS) or (not said.isdisjoint(_REASON_OPENS) and _REASON.search(text) is not None)
    cues |= WHY if reason else 0
    return cues | (WHO if not said.isdisjoint(_KIN) or _NAME.search(text) else 0)


def passages(text: str) -> list[str]:
    """The passages of a long text that are embedded beside the whole; none for a short one.

    Passages are of equal length, at most 40 words each for texts of up to 64 passages.
    """
    spaced = text.split()
    if len(spaced) <= LONG:
        return []
    size = max(PASSAGE, -(-len(spaced) // PASSAGES_MOST))
    return [" ".join(spaced[start : start + size]) for start in range(0, len(spaced), size)]


def is_small_talk(text: str) -> bool:
    """Whether a text only keeps a talk going: no number, and no word that is neither grammar nor an acknowledgement.

    >>> says_nothing("Ok, noted. Thanks!"), says_nothing("Noted: pepper")
    (True, False)
    """
    return len(text) <= NOTHING_LONGEST and all(word in STOP_WORDS or word in _ACKNOWLEDGED for word in words(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a question asks for.

    Attributes:
        wording: the question without the names of known speakers: what to embed.
        terms: the ids of its distinct stems, without stop words and speakers' names.
        cue: the bits of the kinds of answer it wants.
        speaker: the number of the one known speaker it names, else None.
        of_user: whether it is about the user of an assistant: it says I or my, or does not turn to the assistant at all.
        recent: whether it asks for now, the latest, currently.
    """

    wording: str
    terms: tuple[int, ...]
    cue: int = 0
    speaker: int | None = None
    of_user: bool = False
    recent: bool = False


def parse_question(text: str, names: Mapping[str, frozenset[int]]) -> Question:
    """Read a question, given the words of every known speaker's name (`name_words`) and the numbers of their bearers."""
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
    meant = frozenset.intersection(*named) if named else frozenset()
    lowered = wording.lower()
    return Question(
        wording=" ".join(wording.split()) if named else text,
        terms=tuple(dict.fromkeys(word_id(word) for word in words(wording) if word not in STOP_WORDS)),
        cue=sum(bit for bit, pattern in _QUESTIONS if pattern.search(lowered)),
        speaker=min(meant) if len(meant) == 1 else None,
        of_user=_MYSELF.search(lowered) is not None or _YOU.search(lowered) is None,
        recent=_NOW.search(lowered) is not None,
    )


def _bearers(word: str, names: Mapping[str, frozenset[int]]) -> frozenset[int] | None:
    name = fold(word).removesuffix("'s").removesuffix("'")
    if name in names:
        return names[name]
    if len(name) < NICKNAME or not word[0].isupper() or name in STOP_WORDS:
        return None
    meant = frozenset().union(*(bearers for full, bearers in names.items() if full.startswith(name)))
    return meant if len(meant) == 1 else None


def name_tokens(speaker: str) -> list[str]:
    """The words of a name that a question may use alone: "Dr. Ann Smith" gives ann and smith."""
    titles = {"dr", "mr", "mrs", "ms", "prof", "sir"}
    return [word for word in words(speaker) if len(word) > 1 and word not in titles and word not in STOP_WORDS]


def date_terms(at: datetime) -> tuple[int, ...]:
    """The words a question may use for a day: its number, the month's name and the year.

    >>> from slowwave.policy.text.tokens import terms
    >>> date_terms(datetime(2023, 5, 8)) == tuple(map(term_id, terms("8 May 2023")))
    True
    """
    return term_id(str(at.day)), term_id(stem(LOWER_MONTHS[at.month - 1])), term_id(str(at.year))


def date_keys(at: datetime) -> tuple[int, ...]:
    """Numbers that stand for a day by any of its words but the year alone: what `dates_asked` looks for."""
    return tuple(_date_key(*parts) for parts in _parts(at.day, at.month, at.year))


def dates_asked(terms: Collection[int]) -> dict[int, tuple[int, ...]]:
    """The numbers of the days that the words of a question may mean, each with these words.

    >>> found = dates_asked([term_id("2023"), term_id("8")])
    >>> sorted(map(len, found.values())), set(found) < set(date_keys(datetime(2023, 5, 8)))
    ([1, 2], True)
    """
    days = [*(day for day in range(1, 32) if term_id(str(day)) in terms), None]
    months = [*(month for month, name in enumerate(LOWER_MONTHS, 1) if term_id(stem(name)) in terms), None]
    years = [*(year for year in _YEARS if term_id(str(year)) in terms), None]
    said = {_date_key(*parts): parts for whole in product(days, months, years) for parts in _parts(*whole)}
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
        for key, (day, month, year) in said.items()
    }


_Parts: TypeAlias = tuple[int | None, int | None, int | None]


def _parts(day: int | None, month: int | None, year: int | None) -> set[_Parts]:
    """What may be said of a day: any of its parts that are known, but not the year alone."""
    some = product({day, None}, {month, None}, {year, None})
    return {parts for parts in some if parts[0] is not None or parts[1] is not None}


def _date_key(day: int | None, month: int | None, year: int | None) -> int:
    return term_id(f"@{year or ''}-{month or ''}-{day or ''}")


_YEARS: Final = range(1970, 2101)
