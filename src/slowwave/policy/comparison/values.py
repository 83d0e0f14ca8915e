"""Detects changed values: two texts with different numbers, dates or amounts for the same quantity.

A value mention is a value with its unit ("8 cards"), the content stems around it, and whether a word of change is near.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations, islice
from typing import Any, Final

from slowwave.policy.comparison.asked_quantity import AskedQuantity, asked_quantity, item_at
from slowwave.policy.text.calendar import LOWER_MONTHS, LOWER_WEEKDAYS
from slowwave.policy.text.clauses import prose, sentences
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import NUMBER_WORDS, table_words
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import STOP_WORDS, stem

Idf = Callable[[str], float]
"""The inverse document frequency of a stem (as `tokens.stem` returns it) in a store."""

# Thresholds for two hits of one question. Simple numbers, the same for every data set; a finer extraction of values helped
# ten more pairs only.
QUESTION_SHARE_MIN: Final = 0.30
SHARED_IDF_MIN: Final = 2.0
SHARED_SHARE_MIN: Final = 0.10
# Thresholds for two facts without a question. No question names the attribute, so that much more context must be shared.
LINK_IDF_MIN: Final = 7.0
LINK_SHARE_MIN: Final = 0.30

_REACH: Final = 12  # words of context on each side of a value
_CUE_BEFORE: Final = 7
_CUE_AFTER: Final = 6
_UNIT_WORDS: Final = 2
_NOUN_WORDS: Final = 3  # before a noun, among which its determiner is looked for
_LINKS: Final = word_set("is are was were be been being to of at from now only set currently up down about")
_NO_UNITS: Final = word_set("now today instead again")
_DETERMINERS: Final = word_set("the a an my our your his her its their this that")
_CACHED_TEXTS: Final = 1024
_LONGEST: Final = 20_000  # characters read of one text
_TO_WITHIN: Final = 4  # tokens after a value within which "to" makes it a former one
_MENTIONS_MAX: Final = 50  # values compared of one text; a pasted table has more

_MONTHS: Final = "|".join(LOWER_MONTHS)
_WEEKDAYS: Final = "|".join(LOWER_WEEKDAYS)
_INLINE_CODE: Final = lazy_regex(r"`[^`\n]*`|https?://\S+")
_DIGITS: Final = lazy_regex(r"\d+")
_ISO_DATE: Final = lazy_regex(r"(\d{4})-(\d\d)-(\d\d)")
_WORD: Final = lazy_regex(r"[a-z]+")
_VALUE_WORDS: Final = frozenset({*LOWER_MONTHS, *LOWER_WEEKDAYS, *NUMBER_WORDS})
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
_CUE: Final = table_words("change_cues")
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
    r"|\bbefore\b|\bafter\b|\bhow did\b|\bin order\b|\bdifference\b|\bfrom\b.{1,80}\bto\b"
    r"|\bwhen did\b|\b(?:I|we|you|he|she|it|they) used to\b|\bdid\b.{1,60}\buse to\b|\bback then\b|\bin the past\b"
    r"|\bpreviously\b|\bformerly\b|\bearlier\b|\b(?:former|previous)\b|\b(?:my|our|his|her|their) old\b",
    re.IGNORECASE,
)
_ASKS_OF_PAST: Final = lazy_regex(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
_ORDINAL: Final = lazy_regex(r"\b(?:first|before|after)\b", re.IGNORECASE)
"""Words of history that a question for a present value has too: "What is the deadline of the first sprint?"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueMention:
    """One value in a text: its unit, the content stems around it (`context`), and whether a word of change is near (`cue`).

    A number directly after a word of change may have no unit ("the commits have reached 165"). `was` says that it is the former
    value of "from A to B", and `former` is A where it is B; `item` is the number of the item it belongs to ("sprint 2": "2").
    """

    value: str
    unit: frozenset[str]
    context: frozenset[str]
    cue: bool
    was: bool = False
    former: str = ""
    item: str = ""


PERHAPS: Final = "perhaps outdated"
"""The beginning of the explanation of a hit that may be outdated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuePair:
    """Two ranked texts that give different values for what a question asks.

    Attributes:
        newer, older: indexes into the ranking.
        new_value, old_value: the two values.
        stale: whether the older text is marked as outdated; False if the question asks for history, where both values are part
            of the answer and only their order changes.
        because: an explanation for a person.
        certain: whether the newer value replaces the older one for certain, or only perhaps.
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
    """A newer fact that may contain a new value of the same quantity. It is linked as a question and never supersedes."""

    new_value: str
    old_value: str
    because: str


def asks_for_value(question: str) -> bool:
    """Whether a question asks for a value (how many, when, what is the, which, deadline, current, rate …)."""
    return _ASKS_FOR_VALUE.search(question) is not None


def asks_for_history(question: str) -> bool:
    """Whether a question asks for the history of a value (between, improve, first, compare, over time …)."""
    return _ASKS_FOR_HISTORY.search(question) is not None


def asks_for_present(question: str) -> bool:
    """Whether a question asks for a present value: without words of history, or with "first" but no other sign of the past.

    >>> asks_for_present("Which editor do I use?"), asks_for_present("Which editor did I use before?")
    (True, False)
    """
    return not asks_for_history(question) or _is_present_in_order(question)


def _is_present_in_order(question: str) -> bool:
    """Whether a question has words of history such as "first", but no other sign that it asks for the past."""
    return not (_ASKS_OF_PAST.search(question) or asks_for_history(_ORDINAL.sub(" ", question)))


@lru_cache(maxsize=_CACHED_TEXTS)
def mentions(text: str) -> tuple[ValueMention, ...]:
    """The values of a text: amounts with a unit, %, money, fractions, dates, weekdays, clock times and years.

    Code, versions and identifiers are skipped. The context is the content stems within 12 words in the same sentence; a word
    of change counts within 7 words before or 6 after.

    >>> [(m.value, sorted(m.unit)) for m in mentions("We now have 8 cards")]
    [('8', ['card'])]
    """
    values: list[ValueMention] = []
    for sentence in sentences(_INLINE_CODE.sub(" ", prose(text[:_LONGEST]))):
        if _DIGITS.search(sentence) or not _VALUE_WORDS.isdisjoint(_WORD.findall(sentence.lower())):
            values += _in_sentence(list(_TOKEN.finditer(sentence)), sentence)
    return tuple(values)


def _in_sentence(tokens: Sequence[re.Match[str]], sentence: str) -> list[ValueMention]:
    stems = [_content(token) for token in tokens]
    values = []
    for place, token in enumerate(tokens):
        kind, value = _value(token)
        if kind is None:
            continue
        unit = _unit(token, stems[place + 1 : place + 2 + _UNIT_WORDS]) if kind == "number" else frozenset({kind})
        unit = unit or _noun_before(tokens, stems, place)
        if not unit and not (kind == "number" and place and tokens[place - 1].group().casefold() in _CUE):
            continue
        near = stems[max(0, place - _REACH) : place + _REACH + 1]
        values.append(
            ValueMention(
                value=value,
                unit=unit,
                context=frozenset(s for s in near if s) - unit,
                cue=_cue(tokens, place, sentence),
                was=_was(tokens, place),
                former=_former(tokens, place),
                item=item_at(sentence, token.start()),
            )
        )
    return values


def _content(token: re.Match[str]) -> str:
    """The stem of a content word; empty for function words, numbers and other tokens."""
    word = token.group("word")
    if (
        word is None
        or (folded := word.casefold().replace("’", "'").removesuffix("'s")) in STOP_WORDS
        or folded in NUMBER_WORDS
    ):
        return ""
    return stem(folded)


def _value(token: re.Match[str]) -> tuple[str | None, str]:
    """The kind of a value and its normal form; kind None if the token is no value."""
    kind, text = token.lastgroup, token.group().casefold()
    if kind == "word":
        return ("number", NUMBER_WORDS[text]) if text in NUMBER_WORDS else (None, "")
    if kind in {None, "skip"}:
        return None, ""
    if kind == "date":
        return kind, _date(text)
    return kind, re.sub(r"[,\s]+", "", text).replace("percent", "%")


def _date(text: str) -> str:
    """A date in one form: month, day, and year if it is given ("april 1 2024")."""
    if iso := _ISO_DATE.fullmatch(text):
        return f"{LOWER_MONTHS[(int(iso[2]) - 1) % 12]} {int(iso[3])} {iso[1]}"
    month = next(name for name in LOWER_MONTHS if name in text)
    return " ".join([month, *map(str, map(int, _DIGITS.findall(text)))])


def _same(first: str, second: str) -> bool:
    """Whether two values agree. A date without a year agrees with that date in any year."""
    return first == second or first.startswith(f"{second} ") or second.startswith(f"{first} ")


def _unit(token: re.Match[str], following: Sequence[str]) -> frozenset[str]:
    """The unit of a number: the letters attached to it (250ms), else the next one or two content words (8 cards)."""
    if attached := token.groupdict().get("attached"):
        return frozenset({attached.casefold()})
    nouns: list[str] = []
    for word in following:
        if not word or word in _NO_UNITS or len(nouns) == _UNIT_WORDS:
            break
        nouns.append(word)
    return frozenset(nouns)


def _noun_before(tokens: Sequence[re.Match[str]], stems: Sequence[str], number: int) -> frozenset[str]:
    """The noun whose value a number without a unit is: "the size is 20", "raised our limit to 40". It has a determiner."""
    place = number - 1
    while place >= 0 and tokens[place].group().casefold() in _LINKS:
        place -= 1
    if place < 0 or place == number - 1 or not stems[place] or tokens[place].group().casefold() in _CUE:
        return frozenset()
    before = (token.group().casefold() for token in tokens[max(0, place - _NOUN_WORDS) : place])
    determined = place == 0 or not _DETERMINERS.isdisjoint(before)
    return frozenset({stems[place]}) if determined else frozenset()


def _cue(tokens: Sequence[re.Match[str]], place: int, sentence: str) -> bool:
    near = tokens[max(0, place - _CUE_BEFORE) : place + _CUE_AFTER + 1]
    if any(token.group().casefold() in _CUE for token in near):
        return True
    return _CUE_PHRASE.search(sentence, near[0].start(), near[-1].end()) is not None


def older_value_hits(question: str, ranked: Sequence[tuple[str, Any]], idf: Idf) -> list[ValuePair]:
    """The hits of a question that give an older value than another hit.

    Two values belong to the same quantity if each covers at least 0.30 of the question's idf mass, they share a unit, and their
    shared context has an idf mass of at least 2 and of a tenth of the smaller context. The newer must be near a word of change.
    Perhaps they do if the question names the unit ("how many cards") and each has another word of it nearby; and if the question
    has a word of history such as "first", but asks for the present. Then both must be values of what the question asks for
    (`asked_quantity`), of the same item.

    Args:
        question: The question; without a question for a value the result is empty.
        ranked: Text and time (anything that can be ordered) of the first hits, best first; measured with 20. Of a chat with an
            assistant only the user's messages.
        idf: The inverse document frequency of a stem in this store.

    Returns:
        Pairs ordered by the rank of the older text, then of the newer.
    """
    if not asks_for_value(question):
        return []
    question_stems = _stems(question)
    weight = sum(map(idf, question_stems))
    history = asks_for_history(question)
    stale = asks_for_present(question)
    asked = asked_quantity(question)
    every = [_near_question(question_stems, text) for text, _ in ranked]
    relevant = [_relevant_mentions(question_stems, weight, text, idf) for text, _ in ranked]
    pairs = []
    for first, second in combinations([i for i, of_text in enumerate(every) if of_text], 2):
        if ranked[first][1] == ranked[second][1]:
            continue
        older, newer = (first, second) if ranked[first][1] < ranked[second][1] else (second, first)
        asked_for = partial(_is_asked, asked, every[older])
        changed = _changed(
            relevant[newer],
            relevant[older],
            idf,
            SHARED_IDF_MIN,
            SHARED_SHARE_MIN,
            asked_for if history else partial(_may_be_asked, asked),
        )
        certain = changed if not history else None
        if change := changed or _counted(every[newer], every[older], question_stems, asked_for):
            new, old = change
            because = f"A later message says {new.value} where this one says {old.value}."
            pairs.append(
                ValuePair(
                    newer=newer,
                    older=older,
                    new_value=new.value,
                    old_value=old.value,
                    stale=stale,
                    because=because if certain else f"{PERHAPS}: {because[0].lower()}{because[1:]}",
                    certain=certain is not None,
                )
            )
    return sorted(pairs, key=lambda pair: (pair.older, pair.newer))


def _may_be_asked(asked: AskedQuantity, new: ValueMention, old: ValueMention) -> bool:
    """Whether two values are of a kind that a question may ask for: a share answers no question for a count."""
    return asked.may_be(new.unit) and asked.may_be(old.unit)


def _is_asked(asked: AskedQuantity, said: Sequence[ValueMention], new: ValueMention, old: ValueMention) -> bool:
    """Whether two values are both of what a question asks for, and of its item, and the older text does not say the newer one.

    "From A to B" replaces A only.
    """
    if _says(said, new) or (new.former and not _same(new.former, old.value)):
        return False
    if any(asked.item and mention.item and asked.item != mention.item for mention in (new, old)):
        return False
    return all(asked.fits(mention.unit, mention.context) for mention in (new, old)) and not _other_items(new, old)


def _says(said: Sequence[ValueMention], new: ValueMention) -> bool:
    """Whether a text also says the newer value: "it rose from 70% to 90%" is not outdated by 90%."""
    return any(_same(mention.value, new.value) and mention.unit & new.unit for mention in said)


def _other_items(new: ValueMention, old: ValueMention) -> bool:
    """Whether two values belong to items of different numbers: "sprint 1" and "sprint 2"."""
    return bool(new.item and old.item and new.item != old.item)


def _stems(text: str) -> frozenset[str]:
    return frozenset(s for s in map(_content, _TOKEN.finditer(text)) if s)


def _relevant_mentions(question_stems: frozenset[str], weight: float, text: str, idf: Idf) -> list[ValueMention]:
    """The values of a text whose unit and context cover enough of the question."""
    floor = QUESTION_SHARE_MIN * weight
    relevant = (m for m in mentions(text) if sum(map(idf, (m.context | m.unit) & question_stems)) >= floor > 0)
    return list(islice(relevant, _MENTIONS_MAX))


def _near_question(question_stems: frozenset[str], text: str) -> list[ValueMention]:
    """The values of a text whose unit or context has a word of the question."""
    return [m for m in mentions(text)[:_MENTIONS_MAX] if not question_stems.isdisjoint(m.context | m.unit)]


def _changed(
    newer: Sequence[ValueMention],
    older: Sequence[ValueMention],
    idf: Idf,
    least: float,
    share: float,
    accepts: Callable[[ValueMention, ValueMention], bool] = lambda *_: True,
) -> tuple[ValueMention, ValueMention] | None:
    """The first two mentions of one quantity with different values, if a word of change is near the newer one."""
    for new in newer:
        if not new.cue or new.was:
            continue
        for old in older:
            if _same(new.value, old.value) or not new.unit & old.unit or _other_items(new, old):
                continue
            shared = sum(map(idf, new.context & old.context))
            smaller = min(sum(map(idf, new.context)), sum(map(idf, old.context)))
            if shared >= least and shared >= share * smaller and accepts(new, old):
                return new, old
    return None


def _counted(
    newer: Sequence[ValueMention],
    older: Sequence[ValueMention],
    question: frozenset[str],
    accepts: Callable[[ValueMention, ValueMention], bool],
) -> tuple[ValueMention, ValueMention] | None:
    """The first two different numbers of what a question counts, if a word of change is near the newer one.

    Each has a further word of the question nearby.
    """
    for new in newer:
        if not new.cue or new.was:
            continue
        for old in older:
            unit = (new.unit or new.context) & old.unit & question
            if (
                unit
                and (new.context | new.unit) & question > unit
                and not _same(new.value, old.value)
                and (old.context | old.unit) & question > unit
                and accepts(new, old)
            ):
                return new, old
    return None


def _was(tokens: Sequence[re.Match[str]], place: int) -> bool:
    """Whether a value is the former one: "from 70% to 90%"."""
    after = [token.group().casefold() for token in tokens[place + 1 : place + _TO_WITHIN]]
    return place > 0 and tokens[place - 1].group().casefold() == "from" and "to" in after


def _former(tokens: Sequence[re.Match[str]], place: int) -> str:
    """The value A of "from A to B" at the place of B; empty without one."""
    near = tokens[max(0, place - _TO_WITHIN) : place]
    if not near or "to" not in (token.group().casefold() for token in near):
        return ""
    starts = range(max(1, place - _TO_WITHIN), place)
    return next((_value(tokens[n])[1] for n in starts if tokens[n - 1].group().casefold() == "from"), "")


def newest_above_outdated(size: int, pairs: Sequence[ValuePair]) -> list[int]:
    """The new order of `size` ranked texts: each newer text moves directly above the highest text that it outdates.

    A text that is already above its older one does not move.
    """
    order = list(range(size))
    for pair in sorted(pairs, key=lambda pair: (pair.older, pair.newer)):
        if order.index(pair.newer) > order.index(pair.older):
            order.remove(pair.newer)
            order.insert(order.index(pair.older), pair.newer)
    return order


def value_changed(new: str, old: str, idf: Idf) -> ValueChange | None:
    """Whether a newer fact may give a new value for what an older one states. The caller must ensure the same subject.

    The shared context must have an idf mass of at least 7 and of 0.3 of the smaller context, with a word of change near the new
    value. About one in four such links concerns the same attribute: the result is a question for a person, not a reason to
    supersede.
    """
    newer, older = (mentions(text)[:_MENTIONS_MAX] for text in (new, old))
    change = _changed(newer, older, idf, LINK_IDF_MIN, LINK_SHARE_MIN)
    if change is None:
        return None
    after, before = (mention.value for mention in change)
    because = f"The newer fact says {after}, the older {before}, of what may be the same thing."
    return ValueChange(new_value=after, old_value=before, because=because)
