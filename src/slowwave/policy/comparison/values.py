"""Values that changed: which of two statements about the same thing holds the newer number, date or amount."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from typing import Any, Final

from slowwave.policy.text.clauses import prose, sentences
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import NUMBER_WORDS
from slowwave.policy.text.tokens import STOP_WORDS, stem

Idf = Callable[[str], float]
"""How rare a stem is in this store (stems as `slowwave.policy.segment.stem` gives them)."""

# Rule v1 of the study: simple numbers, the same on every set; finer extraction helped ten pairs and nothing else.
QUESTION_SHARE_MIN: Final = 0.30
SHARED_IDF_MIN: Final = 2.0
SHARED_SHARE_MIN: Final = 0.10
# Without a question to name the attribute the shared context must be much stronger, and the result is a link only.
LINK_IDF_MIN: Final = 7.0
LINK_SHARE_MIN: Final = 0.30

_REACH: Final = 12  # words of context on either side of a value
_CUE_BEFORE: Final = 7
_CUE_AFTER: Final = 6
_UNIT_WORDS: Final = 2
_CACHED_TEXTS: Final = 1024
_LONGEST: Final = 20_000  # characters read of one text
_MENTIONS_MAX: Final = 50  # compared of one text: a pasted table is no statement

_MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_WEEKDAYS: Final = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_INLINE_CODE: Final = lazy_regex(r"`[^`\n]*`|https?://\S+")
_DIGITS: Final = lazy_regex(r"\d+")
_ISO_DATE: Final = lazy_regex(r"(\d{4})-(\d\d)-(\d\d)")
_WORD: Final = lazy_regex(r"[a-z]+")
_VALUE_WORDS: Final = frozenset({*_MONTHS.split("|"), *_WEEKDAYS.split("|"), *NUMBER_WORDS})
_TOKEN: Final = lazy_regex(
    rf"(?P<date>(?:(?:{_MONTHS})\s+\d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS}))\b"
    rf"(?:,?\s+(?:19|20)\d\d\b)?|\b(?:19|20)\d\d-\d\d-\d\d\b)"
    rf"|(?P<weekday>\b(?:{_WEEKDAYS})\b)"
    r"|(?P<skip>\b(?:version|port|http|error|chapter|section|step|part|line|room|api)\s+v?\d[\w.]*|\bv\d[\w.]*|\b\d+\.\d+\.\d[\w.]*|\#\d+)"
    r"|(?P<clock>\b\d{1,2}:\d\d(?:\s*[ap]m\b)?|\b\d{1,2}\s*[ap]m\b)"
    r"|(?P<money>[$€£]\s?\d[\d,]*(?:\.\d+)?(?:k|m|bn)?\b)"
    r"|(?P<percent>\b\d[\d,]*(?:\.\d+)?\s?(?:%|percent\b))"
    r"|(?P<fraction>\b\d+/\d+\b)"
    r"|(?P<year>\b(?:19|20)\d\d\b)"
    r"|(?P<number>\b\d[\d,]*(?:\.\d+)?(?P<attached>[a-z]{1,5})?\b)"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)",
    re.IGNORECASE,
)
_CUE_WORDS: Final = """
now recently switched changed moved instead updated update new increased decreased improved reduced raised grew reached actually extended
rescheduled postponed upgraded revised adjusted adjust latest currently just correction added extra more another already
"""
_CUE: Final = frozenset(_CUE_WORDS.split())
_CUE_PHRASE: Final = lazy_regex(
    r"\bno longer\b|\bfrom\b.{1,40}\bto\b|\bso far\b|\btotal of\b|\b(?:up|down) to\b", re.IGNORECASE
)

_ASKS_FOR_VALUE: Final = lazy_regex(
    r"\bhow (?:many|much|long|often|old|far|big|large|high|fast)\b|\bwhat(?:'s|’s| is| are| was| were)\b|\bwhen\b|\bwhich\b|\bdeadline\b|\btotal\b"
    r"|\bcurrent\w*\b|\b(?:percentage|date|time|score|rate)\b",
    re.IGNORECASE,
)
_ASKS_FOR_HISTORY: Final = lazy_regex(
    r"\bbetween\b|(?<!\bto )\b(?:improv|increas|chang)\w*|\bfirst\b|\binitial\w*|\boriginal\w*|\bcompar\w*|\bprogress\w*|\bover time\b"
    r"|\bbefore\b|\bafter\b|\bhow did\b|\bin order\b|\bdifference\b|\bfrom\b.{1,80}\bto\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One value in a text: what it counts, the content stems around it, and whether a word of change stands near."""

    value: str
    unit: frozenset[str]
    context: frozenset[str]
    cue: bool


PERHAPS: Final = "perhaps outdated"
"""How the reason begins why a hit is marked of which it is not certain that it is outdated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuePair:
    """Two ranked texts that give different values for what a question asks.

    `newer` and `older` are indexes into the ranking. `stale`: whether the older one is to be marked; False when the
    question asks for the history, where both values are part of the answer and only the order changes. `certain`: whether
    the newer value replaces the older one for certain, or only perhaps.
    """

    newer: int
    older: int
    new_value: str
    old_value: str
    stale: bool
    because: str
    certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """A newer fact that seems to give a new value for the same thing: a link to ask about, never a verdict."""

    new_value: str
    old_value: str
    because: str


def asks_for_value(question: str) -> bool:
    """Tell whether a question asks for a value (how many, when, what is the, which, deadline, current, rate …)."""
    return _ASKS_FOR_VALUE.search(question) is not None


def asks_for_history(question: str) -> bool:
    """Tell whether a question asks how a value came about (between, improve, first, compare, over time …)."""
    return _ASKS_FOR_HISTORY.search(question) is not None


@lru_cache(maxsize=_CACHED_TEXTS)
def mentions(text: str) -> tuple[Mention, ...]:
    """Find the values of a text: amounts with a unit, %, money, fractions, dates, weekdays, clock times and years.

    Code, versions and identifiers are skipped. Context are the content stems within 12 words in the same sentence; a cue
    is a word of change within 7 words before or 6 after.
    """
    found: list[Mention] = []
    for sentence in sentences(_INLINE_CODE.sub(" ", prose(text[:_LONGEST]))):
        if _DIGITS.search(sentence) or not _VALUE_WORDS.isdisjoint(_WORD.findall(sentence.lower())):
            found += _in_sentence(list(_TOKEN.finditer(sentence)), sentence)
    return tuple(found)


def _in_sentence(tokens: Sequence[re.Match[str]], sentence: str) -> list[Mention]:
    stems = [_content(token) for token in tokens]
    found = []
    for place, token in enumerate(tokens):
        kind, value = _value(token)
        if kind is None:
            continue
        unit = _unit(token, stems[place + 1 :]) if kind == "number" else frozenset({kind})
        if not unit:
            continue
        near = stems[max(0, place - _REACH) : place + _REACH + 1]
        found.append(
            Mention(
                value=value,
                unit=unit,
                context=frozenset(s for s in near if s) - unit,
                cue=_cue(tokens, place, sentence),
            )
        )
    return found


def _content(token: re.Match[str]) -> str:
    """The stem of a content word; empty for function words and for anything that is not a word."""
    word = token.group("word")
    if (
        word is None
        or (folded := word.casefold().replace("’", "'").removesuffix("'s")) in STOP_WORDS
        or folded in NUMBER_WORDS
    ):
        return ""
    return stem(folded)


def _value(token: re.Match[str]) -> tuple[str | None, str]:
    """The kind of a value and its normal form; None for anything else."""
    kind, text = token.lastgroup, token.group().casefold()
    if kind == "word":
        return ("number", NUMBER_WORDS[text]) if text in NUMBER_WORDS else (None, "")
    if kind in {None, "skip"}:
        return None, ""
    if kind == "date":
        return kind, _date(text)
    return kind, re.sub(r"[,\s]+", "", text).replace("percent", "%")


def _date(text: str) -> str:
    """Month, day and year if there is one, in one order: "april 1 2024"."""
    if iso := _ISO_DATE.fullmatch(text):
        return f"{_MONTHS.split('|')[(int(iso[2]) - 1) % 12]} {int(iso[3])} {iso[1]}"
    month = next(name for name in _MONTHS.split("|") if name in text)
    return " ".join([month, *map(str, map(int, _DIGITS.findall(text)))])


def _same(one: str, other: str) -> bool:
    """Tell whether two values agree; a date without its year agrees with that date in any year."""
    return one == other or one.startswith(f"{other} ") or other.startswith(f"{one} ")


def _unit(token: re.Match[str], following: Sequence[str]) -> frozenset[str]:
    """What a number counts: the letters attached to it (250ms), or the next one or two content nouns (8 cards)."""
    if attached := token.groupdict().get("attached"):
        return frozenset({attached.casefold()})
    nouns: list[str] = []
    for word in following:
        if not word or len(nouns) == _UNIT_WORDS:
            break
        nouns.append(word)
    return frozenset(nouns)


def _cue(tokens: Sequence[re.Match[str]], place: int, sentence: str) -> bool:
    near = tokens[max(0, place - _CUE_BEFORE) : place + _CUE_AFTER + 1]
    if any(token.group().casefold() in _CUE for token in near):
        return True
    return _CUE_PHRASE.search(sentence, near[0].start(), near[-1].end()) is not None


def older_value_hits(question: str, ranked: Sequence[tuple[str, Any]], idf: Idf) -> list[ValuePair]:
    """Find which of the hits of a question give an older value than another hit.

    Two mentions are of the same thing if each covers at least 0.30 of the question's idf mass, they share a unit, and
    their shared context weighs at least 2 and a tenth of the smaller one; the newer must stand near a word of change.

    Args:
        question: The question; pairs are sought only if it asks for a value.
        ranked: Text and time (anything that orders) of the first hits, best first; 20 were measured. In a chat with an
            assistant pass the user's messages only.
        idf: How rare a stem is in this store.

    Returns:
        Pairs by the rank of the older text, then of the newer.
    """
    if not asks_for_value(question):
        return []
    asked = _stems(question)
    weight = sum(map(idf, asked))
    stale = not asks_for_history(question)
    named = [_naming(asked, weight, text, idf) for text, _ in ranked]
    found = []
    for one, other in combinations([i for i, named_here in enumerate(named) if named_here], 2):
        if ranked[one][1] == ranked[other][1]:
            continue
        older, newer = (one, other) if ranked[one][1] < ranked[other][1] else (other, one)
        if change := _changed(named[newer], named[older], idf, SHARED_IDF_MIN, SHARED_SHARE_MIN):
            new, old = change
            because = f"A later message says {new.value} where this one says {old.value}."
            found.append(
                ValuePair(
                    newer=newer, older=older, new_value=new.value, old_value=old.value, stale=stale, because=because
                )
            )
    return sorted(found, key=lambda pair: (pair.older, pair.newer))


def _stems(text: str) -> frozenset[str]:
    return frozenset(s for s in map(_content, _TOKEN.finditer(text)) if s)


def _naming(asked: frozenset[str], weight: float, text: str, idf: Idf) -> list[Mention]:
    """The mentions of a text that the question names."""
    floor = QUESTION_SHARE_MIN * weight
    found = (m for m in mentions(text) if sum(map(idf, (m.context | m.unit) & asked)) >= floor > 0)
    return list(islice(found, _MENTIONS_MAX))


def _changed(
    newer: Sequence[Mention], older: Sequence[Mention], idf: Idf, least: float, share: float
) -> tuple[Mention, Mention] | None:
    """The first pair of mentions of one thing with different values and a word of change at the newer one."""
    for new in newer:
        if not new.cue:
            continue
        for old in older:
            if _same(new.value, old.value) or not new.unit & old.unit:
                continue
            shared = sum(map(idf, new.context & old.context))
            smaller = min(sum(map(idf, new.context)), sum(map(idf, old.context)))
            if shared >= least and shared >= share * smaller:
                return new, old
    return None


def newest_above_outdated(size: int, pairs: Sequence[ValuePair]) -> list[int]:
    """Give the new order of `size` ranked texts: each newer one directly above the highest it outdates, the rest as it was.

    A text that is itself above its older one does not move.
    """
    order = list(range(size))
    for pair in sorted(pairs, key=lambda pair: (pair.older, pair.newer)):
        if order.index(pair.newer) > order.index(pair.older):
            order.remove(pair.newer)
            order.insert(order.index(pair.older), pair.newer)
    return order


def value_changed(new: str, old: str, idf: Idf) -> ValueChange | None:
    """Tell whether a newer fact may give a new value for what an older one states (same subject, the caller's to know).

    The shared context must weigh at least 7 and 0.3 of the smaller one, with a word of change at the new value. About one
    in four such links is truly the same attribute, so this is a question to ask, never a reason to supersede.
    """
    found = _changed(mentions(new)[:_MENTIONS_MAX], mentions(old)[:_MENTIONS_MAX], idf, LINK_IDF_MIN, LINK_SHARE_MIN)
    if found is None:
        return None
    newer, older = found
    because = f"The newer fact says {newer.value}, the older {older.value}, of what may be the same thing."
    return ValueChange(new_value=newer.value, old_value=older.value, because=because)
