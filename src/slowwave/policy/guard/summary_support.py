"""Decides sentence by sentence whether a summary is supported by its members.

It checks content words, the pairing of values with the words that they describe, negation, and accusations. A *mark* is a
content word, name, number or date of a sentence. The *owners* of a mark are the members that contain it.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache, reduce
from itertools import combinations, pairwise
from typing import Final

from slowwave.model.memory import Memory
from slowwave.policy.comparison.alignment import stem as verb_stem
from slowwave.policy.comparison.negation import contradicts
from slowwave.policy.guard.grounding import (
    content_stems,
    coverage_ratio,
    date_parts,
    people_of,
    strip_dates,
)
from slowwave.policy.guard.people import without_people
from slowwave.policy.text import names
from slowwave.policy.text.dates import derivable, exact, mentioned
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import table_words
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

SUPPORTED: Final = 0.5
"""The least share of a sentence's content words, without dates and numbers, that the members must contain."""
SUPPORTED_TALK: Final = 0.2
"""The same share for a summary of a conversation. It is lower, because such a summary rewords more."""
REWORDED: Final = 0.7
"""The least share of the content words of a merged fact that the two facts must contain."""
COVERED: Final = 2 / 3
"""The least share of the content words of a fact that a text must contain to take its place."""
_OPPOSED_IN_TALK: Final = 2  # words on which a summary of a conversation must disagree with it to be refused
_LONGEST_GROUP: Final = 64  # marks; a limit, so that the time is linear in the length of the text
_UNSUPPORTED_WORDS: Final = 3  # content words without a member in one clause that make it unsupported
_HALF_OF_DAY: Final = lazy_regex(r"(?i)(?<=\d) ?[ap]\.?m\b\.?")
"""What follows the figure of a time of day: "caught up at 8:18 pm" says no more than "caught up"."""
# Unlike `clauses.sentences` it also splits at semicolons, and keeps white space and captions.
_SENTENCE: Final = lazy_regex(r"(?<=[.!?…])[\"'”’)]*\s+|(?<=[。！？])\s*|;\s*|\n+")
_CLAUSE: Final = lazy_regex(r"[,:()]\s|\s(?:and|but|or|who|which|while|because)\s|\s[-–—]\s|—")
_WORD: Final = lazy_regex(r"[^\W_]+(?:['’][^\W\d_]+)*")

Owners = frozenset[int]
"""The positions of members."""


@cache
def _accusation_stems() -> frozenset[str]:
    return frozenset(map(verb_stem, table_words("accusations")))


def unsupported_accusations(text: str, sources: Iterable[str]) -> tuple[str, ...]:
    """The words of a text for crimes, cruelty or insults that no source contains, as written.

    Only forms with the same stem count as the same word: "thief" does not support "theft". Words that also have a harmless
    meaning (hit, shoot) are not in the table.

    >>> unsupported_accusations("The user wants to poison walnuts", ["I am allergic to walnuts"])
    ('poison',)
    """
    accusations = {word: root for word in words(text) if (root := verb_stem(word)) in _accusation_stems()}
    if not accusations:
        return ()
    supported = {verb_stem(word) for source in sources for word in words(source)}
    return tuple(word for word, root in accusations.items() if root not in supported)


def unsupported_by_facts(summary: str, members: Sequence[Memory]) -> str | None:
    """The reason why a summary of facts is not supported by its members; None if it is.

    A sentence is refused in these cases:

    - Less than `SUPPORTED` of its content words are in the members, or one clause has `_UNSUPPORTED_WORDS` content words that
      no member contains.
    - A content word is new while a word that all members share is missing: the subject was replaced.
    - A date, number or name is paired with words of another member ("Ann has 2 cats" from "Ann has a cat. Bob has 2 dogs").
      Two lists in the same order ("Ann and Bob have a cat and a dog") are accepted.
    - It denies what the members affirm, affirms what they deny, or accuses somebody.

    A sentence that is copied from a member always passes.
    """
    texts = [member.text for member in members]
    stems_of = list(map(content_stems, texts))
    source_stems = frozenset().union(*stems_of)
    common = (
        frozenset.intersection(*(content_stems(_without_figures(text)) for text in texts))
        if len(texts) > 1
        else frozenset()
    )
    lost = common - content_stems(summary)
    said = {_spaced(sentence) for text in texts for sentence in _sentences(text)}
    for sentence in _sentences(summary):
        if _spaced(sentence) in said:
            continue
        stems = content_stems(_without_figures(sentence))
        unsupported = stems - source_stems
        if (
            (stems and coverage_ratio(stems, source_stems) < SUPPORTED)
            or (lost and unsupported)
            or _has_unsupported_clause(sentence, source_stems)
        ):
            return f"no memory says {_first_word(sentence, unsupported or stems)!r}"
        if value := _mispaired(sentence, members):
            return f"{value!r} is paired with words of another memory"
        if reason := _opposition(sentence, _nearest(sentence, texts, stems_of), texts):
            return reason
    return None


def unsupported_rewording(text: str, new: Memory, known: Memory) -> str | None:
    """The reason why a mind's wording must not replace a new fact and a known one; None if it may.

    The wording must contain half of the new fact's content words. The share `REWORDED` of the wording's content words must
    occur in the two facts. The wording must not contradict the new fact; where the two facts disagree, the new fact decides.
    """
    if word := contradicts(text, [new.text], [known.text]):
        return f"one affirms what the other denies: {word!r}"
    both = (new.text, known.text)
    if harm := unsupported_accusations(text, both):
        return f"no memory says {harm[0]!r}"
    stems, new_stems = content_stems(text), content_stems(new.text)
    if lost := new_stems - stems if new_stems and coverage_ratio(new_stems, stems) < SUPPORTED else frozenset():
        return f"{_first_word(new.text, lost)!r} would be lost"
    source_stems = new_stems | content_stems(known.text)
    if stems and coverage_ratio(stems, source_stems) < REWORDED:
        return f"no memory says {_first_word(text, stems - source_stems)!r}"
    return None


def unsupported_by_transcript(summary: str, messages: Sequence[Memory]) -> str | None:
    """The reason why a summary of a conversation is not supported by its messages; None if it is.

    The limits are lower than those of `unsupported_by_facts`, because a summary of a conversation rewords its messages.
    """
    texts = [message.text for message in messages]
    source_stems = frozenset().union(*map(content_stems, (*texts, *(m.speaker for m in messages if m.speaker))))
    for sentence in _sentences(without_people(summary, people_of(messages), texts)):
        stems = content_stems(_without_figures(sentence))
        if len(stems) > 1 and coverage_ratio(stems, source_stems) < SUPPORTED_TALK:
            return f"no message says {_first_word(sentence, stems - source_stems)!r}"
        if reason := _opposition(sentence, texts, texts, opposed=_OPPOSED_IN_TALK):
            return reason
    return None


def omitted_words(text: str, stated: str) -> tuple[str, ...]:
    """The content words of a statement, as written, that a text which replaces it does not contain."""
    kept = {stem(word) for word in words(text)}
    return tuple(dict.fromkeys(w for w in words(stated) if w not in STOP_WORDS and stem(w) not in kept))


def covers(text: str, stated: str) -> bool:
    """Whether a text contains the share `COVERED` of the content words of a fact, so that it may take its place.

    >>> covers("Ann has a cat and two dogs", "Ann has a cat"), covers("Ann loves her family", "Ann's husband makes her laugh")
    (True, False)
    """
    stems = content_stems(stated)
    return not stems or coverage_ratio(stems, content_stems(text)) >= COVERED


def _sentences(text: str) -> list[str]:
    return [piece.strip() for piece in _SENTENCE.split(text) if piece.strip()]


def _spaced(sentence: str) -> str:
    """A sentence with single blanks between its words."""
    return " ".join(sentence.split())


@lru_cache(maxsize=1024)
def _without_figures(text: str) -> str:
    """A text without its dates, times of day and numbers, which other rules check."""
    bare = _HALF_OF_DAY.sub("", strip_dates(text, mentioned(text)))
    return " ".join(word for word in bare.split() if not any(c.isdigit() for c in word))


def _first_word(sentence: str, stems: frozenset[str]) -> str:
    return next((word for word in words(sentence) if stem(word) in stems), sentence)


def _has_unsupported_clause(sentence: str, source_stems: frozenset[str]) -> bool:
    clauses = (content_stems(_without_figures(clause)) for clause in _CLAUSE.split(sentence))
    return any(
        len(stems - source_stems) >= _UNSUPPORTED_WORDS and coverage_ratio(stems, source_stems) < SUPPORTED
        for stems in clauses
    )


def _nearest(sentence: str, texts: Sequence[str], stems: Sequence[frozenset[str]]) -> list[str]:
    """The texts, with these stems, that share most words with the sentence or with one of its clauses."""
    nearest: set[int] = set()
    for clause in (sentence, *_CLAUSE.split(sentence)):
        shared = [len(content_stems(clause) & each) for each in stems]
        nearest |= {place for place, count in enumerate(shared) if count == max(shared) > 0}
    return [texts[place] for place in sorted(nearest)]


def _opposition(sentence: str, near: Sequence[str], texts: Sequence[str], *, opposed: int = 1) -> str | None:
    """Why a sentence opposes its sources: it contradicts the nearest ones, or accuses without support in any."""
    if word := contradicts(sentence, near, words=opposed):
        return f"one affirms what the other denies: {word!r}"
    harm = unsupported_accusations(sentence, texts)
    return f"no memory says {harm[0]!r}" if harm else None


def _mispaired(sentence: str, members: Sequence[Memory]) -> str | None:
    """The first value of a sentence that does not belong to the words beside it; None if all values do.

    The marks of the sentence must split into consecutive groups in which each value occurs in the same member as a word beside
    it.
    """
    everyone = frozenset(range(len(members)))
    marks = [
        (text, owners, value) for text, owners, value in _marks(sentence, members) if owners and owners != everyone
    ]
    values = [mark for mark in marks if mark[2]]
    if not values or len(values) == len(marks) or reduce(frozenset.__and__, (owners for _, owners, _ in marks)):
        return None
    ends = {0}  # the places up to which the marks split into valid groups
    for end in range(1, len(marks) + 1):
        if any(n in ends and _is_valid_group(marks[n:end]) for n in range(max(0, end - _LONGEST_GROUP), end)):
            ends.add(end)
    return None if len(marks) in ends else values[0][0]


def _is_valid_group(group: Sequence[tuple[str, Owners, bool]]) -> bool:
    """Whether all marks of a group come from one member, or form a list of words and a list of values in the same order."""
    values = [owners for _, owners, value in group if value]
    others = [owners for _, owners, value in group if not value]
    if not values:
        return True
    if not others:
        return False
    if reduce(frozenset.__and__, (*values, *others)):
        return True
    if sum(a != b for a, b in pairwise(value for _, _, value in group)) != 1:
        return False
    left, right = _runs(values), _runs(others)
    return len(left) == len(right) and all(a & b for a, b in zip(left, right, strict=True))


def _runs(owners: Iterable[Owners]) -> list[Owners]:
    """The owners of consecutive marks, with neighbours that share an owner merged."""
    runs: list[Owners] = []
    for each in owners:
        if runs and runs[-1] & each:
            runs[-1] &= each
        else:
            runs.append(each)
    return runs


def _marks(sentence: str, members: Sequence[Memory]) -> list[tuple[str, Owners, bool]]:
    """Each date, number, name and content word in order, its owners, and whether it is a value (not a plain word)."""
    held = [_marks_of(member.text) for member in members]
    marks: list[tuple[int, str, Owners, bool]] = []
    written = mentioned(sentence)
    for each in written:
        date_text = sentence[each.start : each.end]
        owners = frozenset(n for n, m in enumerate(members) if any(_has_date(r, m) for r in each.readings))
        marks.append((each.start, date_text, owners, True))
    dated = {place for each in written for place in range(each.start, each.end)}
    sentence_names = names.names(sentence)
    named = {*sentence_names.inside, *sentence_names.opening}
    for token in _WORD.finditer(sentence):
        if token.start() in dated or token.group().lower() in STOP_WORDS:
            continue
        owners = frozenset().union(*(_owners(word, held) for word in words(token.group())))
        value = any(c.isdigit() for c in token.group()) or names.bare(token.group()) in named
        marks.append((token.start(), token.group(), owners, value))
    return [(text, owners, value) for _, text, owners, value in sorted(marks)]


def _owners(word: str, held: Sequence[frozenset[str]]) -> Owners:
    return frozenset(place for place, stems in enumerate(held) if stem(word) in stems)


@lru_cache(maxsize=1024)
def _marks_of(text: str) -> frozenset[str]:
    days = (
        part[1:] for written in mentioned(text) for r in written.readings for part in date_parts(r) if part[0] in "yd"
    )
    return frozenset((*map(stem, words(text)), *days, *names.countable(text)))


def _has_date(reading: tuple[int | None, int | None, int | None], member: Memory) -> bool:
    return date_parts(reading) in _parts_of_dates(member.text) or exact(reading) in derivable(member.text, member.at)


@lru_cache(maxsize=1024)
def _parts_of_dates(text: str) -> frozenset[frozenset[str]]:
    """What a reading of a date in a text has, and each part and pair of parts of it."""
    readings = {date_parts(reading) for written in mentioned(text) for reading in written.readings}
    return frozenset(
        frozenset(some) for parts in readings for count in range(len(parts) + 1) for some in combinations(parts, count)
    )
