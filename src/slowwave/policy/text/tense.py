"""Decides whether a date in a sentence lies in the past or the future, by the verb that governs it.

The verb before the date decides; without one, the first verb after it. A date that is the subject ("10 May works for me")
belongs to the verb after it. Verbs that arrange something ("booked, moved, enrolled, got tickets") have the past tense of a date
that is usually still to come: they decide nothing, or the future if the date is what they arrange for ("moved to 10 May").
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import PARTICIPLES, PAST, PREPOSITIONS, table_words
from slowwave.policy.text.names import word_set

_IS: Final = frozenset({"am", "is", "are", "isn't", "aren't"})
_WAS: Final = frozenset({"was", "were", "wasn't", "weren't"})
_HAVE: Final = frozenset({"have", "has", "haven't", "hasn't"})
_BECOME: Final = frozenset({"be", "being", "been", "get", "gets", "getting", "got"})
_WILL: Final = frozenset({"will", "won't", "shall", "gonna"})
_MODALS: Final = frozenset({"must", "should", "can", "can't", "cannot", "might"})
_UNREAL: Final = frozenset({"would", "could", "wouldn't", "couldn't", "do", "does", "don't", "doesn't"})
_MEANT: Final = frozenset({"supposed", "going", "meant", "due", "about", "hoping", "planning", "trying", "intending"})
_SUBJECTS: Final = frozenset({"i", "we", "you", "he", "she", "they", "it", "who"})
_PLURAL_SUBJECTS: Final = frozenset({"i", "we", "you", "they"})
_JOINING: Final = frozenset({"and", "but", "then", "so", "because", "when", "that", "which", "or"})
_DETERMINERS: Final = frozenset({"a", "an", "the", "my", "our", "his", "her", "your", "their", "its", "this", "that"})
_ADVERBS: Final = frozenset(
    {"just", "also", "already", "only", "never", "always", "still", "now", "then", "not", "all"}
)
_REPORTING: Final = frozenset({"said", "told", "heard", "read", "knew", "thought", "mentioned", "asked", "noticed"})
_SAME_IN_PRESENT: Final = frozenset(
    {"put", "set", "cut", "let", "hit", "read", "quit", "hurt", "cost", "beat", "split"}
)
_LEFT_OVER: Final = frozenset({"days", "weeks", "months", "years", "hours", "time", "day", "week", "month"})
_NO_PAST: Final = word_set("need seed feed speed hundred weed indeed breed exceed proceed succeed naked wed")
_ARRANGING: Final = table_words("arranging_verbs")
"""Past forms and participles of verbs whose object is usually still to come."""
_ARRANGED: Final = table_words("arranged_things")
"""What one gets, makes or buys for a date to come: tickets, appointments."""
_SCHEDULED: Final = table_words("schedule_verbs")
"""Verbs of timetables in the third person of the present."""
_ORDERS: Final = table_words("planning_orders")
"""Words that open a request about a date to come."""

_TOKEN: Final = lazy_regex(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[,;:()]|\s[-–—]+\s|—")
_GOVERNS: Final = (
    r"\s+(?:(?:the\s+)?(?:morning|afternoon|evening|night|week|weekend)\s+of\s+)?(?:(?:the|early|mid|late)[\s-]+)?$"
)
_FOR: Final = lazy_regex(rf"\b(?:for|to|until|till|by){_GOVERNS}", re.IGNORECASE)
_BY: Final = lazy_regex(rf"\b(?:by|until|till|before|due(?: on)?){_GOVERNS}", re.IGNORECASE)
_SINCE: Final = lazy_regex(rf"\b(?:since|ever since){_GOVERNS}", re.IGNORECASE)
_STARTING: Final = lazy_regex(
    rf"\b(?:starting|beginning|ending|opening|commencing|running|arriving|leaving|departing|expiring)(?:\s+(?:on|from|in|at))?{_GOVERNS}",
    re.IGNORECASE,
)
_AS_SUBJECT: Final = lazy_regex(
    r"\s*(?:\d{4}\s+)?(?:is|was|will|works|worked|suits|marks|marked|would)\b", re.IGNORECASE
)
_COMING: Final = lazy_regex(r"\b(?:deadlines?|due|upcoming|coming up|next)\b", re.IGNORECASE)
# Characters of the blocks to which very long sentences are cut, so that the time is linear in the text's length.
_SENTENCE_BLOCK: Final = 200
_VERB_WITHIN: Final = 200  # characters from a date in which its verb is looked for
# Unlike `clauses.sentences`: it finds the bounds around one place without splitting the text.
_SENTENCE_END: Final = lazy_regex(r"(?<!\b[A-Z])[.!?;\n]\s")


@dataclass(frozen=True, slots=True)
class Tense:
    """Where a date lies: `direction` is -1 for the past, 1 for the future, 0 if nothing says it.

    `sure` means that the verb itself says it ("will", "went") and stands in the clause of the date; `habit` that the verb is in
    the plain present, which may also speak of what happens every year ("I work less in May").
    """

    direction: int
    sure: bool = False
    habit: bool = False


_UNKNOWN: Final = Tense(0)


def sentence_around(text: str, place: int) -> tuple[int, int]:
    """The start and end of the sentence around a place; of a very long sentence, of at most three blocks around it."""
    block = place // _SENTENCE_BLOCK
    first, last = max(0, (block - 1) * _SENTENCE_BLOCK), (block + 2) * _SENTENCE_BLOCK
    start = max((m.end() for m in _SENTENCE_END.finditer(text, first, place)), default=first)
    ending = _SENTENCE_END.search(text, place, last)
    return start, ending.start() if ending else min(last, len(text))


def time_direction(text: str, place: int) -> int:
    """Whether the date at a position lies in the past (-1), the future (1), or neither is said (0).

    >>> said = "I'm worried about the exam, it is on Friday"
    >>> time_direction(said, said.index("Friday")), time_direction("We met on Friday", 10)
    (1, -1)
    """
    return tense_at(text, place).direction


def tense_at(text: str, place: int, end: int | None = None) -> Tense:
    """The tense that governs the date at [place, end) of a text.

    >>> [tense_at(t, t.index("10")).direction for t in ("It was moved to 10 May", "I enrolled in a course on 10 May")]
    [1, 0]
    """
    start, last = sentence_around(text, place)
    end = place if end is None else end
    return _tense(text[max(start, place - _VERB_WITHIN) : place], text[end : min(last, end + _VERB_WITHIN)])


@lru_cache(maxsize=2048)
def _tense(before: str, after: str) -> Tense:
    if _SINCE.search(before):
        return Tense(-1, sure=True)
    if _STARTING.search(before):
        return _UNKNOWN
    words, following = _tokens(before), _tokens(after)
    arranged = bool(_FOR.search(before))
    if _AS_SUBJECT.match(after) and (found := _first(following, range(len(following)), arranged=False)):
        return found
    found = _first(words, range(len(words) - 1, -1, -1), arranged=arranged)
    if found is None and words and _plain(words[0]) in _ORDERS:
        found = Tense(1)
    if found is None and (_BY.search(before) or _COMING.search(before)):
        found = Tense(1)
    return found or _first(following, range(len(following)), arranged=False) or _UNKNOWN


def _tokens(text: str) -> list[str]:
    return [match.group().strip().replace("’", "'") for match in _TOKEN.finditer(text)]


def _plain(word: str) -> str:
    return word.lower()


def _first(words: Sequence[str], places: range, *, arranged: bool) -> Tense | None:
    """The tense of the first verb among these places; less sure if a comma or dash lies between it and the date."""
    parted = False
    for place in places:
        if not words[place][0].isalpha():
            parted = True
            continue
        tense = _of_word(words, place, arranged=arranged)
        if tense is not None:
            return replace(tense, sure=tense.sure and not parted)
    return None


def _of_word(words: Sequence[str], place: int, *, arranged: bool) -> Tense | None:
    """The tense of a word as the verb of its clause; None if it is no finite verb."""
    word = _plain(words[place])
    for rule in (_auxiliary, _contracted, _progressive):
        if (tense := rule(words, place, word)) is not None:
            return tense
    if word in PAST and word not in _SAME_IN_PRESENT and word not in PARTICIPLES:
        return _past(words, place, word, arranged=arranged, sure=True)
    if word in PAST or (word.endswith("ed") and word not in _NO_PAST and len(word) > len("bred")):
        return _past_or_participle(words, place, word, arranged=arranged)
    if word in _SCHEDULED or word in {"need", "needs", "want", "wants", "hope", "hopes", "plan", "plans"}:
        return Tense(1)
    return _present(words, place, word)


def _auxiliary(words: Sequence[str], place: int, word: str) -> Tense | None:
    following = _next(words, place)
    tense: Tense | None = None
    if word in _WILL or word.endswith("'ll"):
        tense = Tense(1, sure=True)
    elif word in _IS:
        tense = Tense(1, sure=following == "going")
    elif word in _WAS:
        tense = _UNKNOWN if following in _MEANT or following in _ARRANGING else Tense(-1, sure=True)
    elif word in _HAVE or word.endswith("'ve"):
        done = following == "been" or following in PARTICIPLES or following in PAST or following.endswith("ed")
        tense = (_UNKNOWN if following in _ARRANGING else Tense(-1)) if done else Tense(1)
    elif word in {"had", "did", "didn't", "hadn't"}:
        tense = Tense(-1, sure=True)
    elif word in _MODALS:
        tense = Tense(1)
    elif word in _UNREAL or word.endswith("'d"):
        tense = _UNKNOWN
    return tense


def _contracted(words: Sequence[str], place: int, word: str) -> Tense | None:
    """I'm, we're, she's: is, or has before a participle."""
    subject, mark, ending = word.partition("'")
    if (
        not mark
        or ending not in {"m", "re", "s"}
        or (ending == "s" and subject not in _SUBJECTS | {"that", "there", "here"})
    ):
        return None
    following = _next(words, place)
    if following == "been" or (ending == "s" and following in PARTICIPLES):
        return Tense(-1)
    return Tense(1, sure=following == "going")


def _progressive(words: Sequence[str], place: int, word: str) -> Tense | None:
    if not word.endswith("ing"):
        return None
    helper = _helper(words, place)
    if helper in _WAS:
        return _UNKNOWN if word in _MEANT else Tense(-1, sure=True)
    if helper in _IS or helper.endswith(("'m", "'re")) or helper.removesuffix("'s") in _SUBJECTS - {helper}:
        return Tense(1, sure=word == "going")
    return _UNKNOWN if helper == "been" else None


def _past_or_participle(words: Sequence[str], place: int, word: str, *, arranged: bool) -> Tense | None:
    """Of a form on -ed, or one that may be a participle: by its helping verb, or by whether it follows a subject."""
    helper = _helper(words, place)
    if helper in _IS or helper.endswith(("'m", "'re")) or helper.removesuffix("'s") in _SUBJECTS - {helper}:
        return Tense(1) if word not in PARTICIPLES or helper in _IS else Tense(-1)
    if helper in _WAS or helper in _HAVE or helper.endswith("'ve") or helper in {"been", "had", "got"}:
        return _past(words, place, word, arranged=arranged, sure=helper != "got")
    if helper in _BECOME or (word == "left" and helper in _LEFT_OVER):
        return None
    if word in _SAME_IN_PRESENT:
        return _UNKNOWN
    original = words[place - 1] if place else ""
    finite = helper in _SUBJECTS | _JOINING | {""} or not original[:1].isalpha() or original[:1].isupper()
    if not finite and (helper in _DETERMINERS or helper in PREPOSITIONS):
        return None
    return _past(words, place, word, arranged=arranged, sure=finite or (word in PAST and _owned_subject(words, place)))


def _owned_subject(words: Sequence[str], place: int) -> bool:
    """Whether "my sister", "the boys" stands before a verb."""
    return place > 1 and _plain(words[place - 2]) in _DETERMINERS


def _past(words: Sequence[str], place: int, word: str, *, arranged: bool, sure: bool) -> Tense:
    rest = {_plain(each) for each in words[place + 1 :]}
    if word in _ARRANGING or (word not in {"was", "were", "had", "went", "missed"} and rest & _ARRANGED):
        return Tense(1, sure=True) if arranged else _UNKNOWN
    return _UNKNOWN if word in _REPORTING else Tense(-1, sure=sure)


def _present(words: Sequence[str], place: int, word: str) -> Tense | None:
    """I, we, you or they before a verb in the present; he, she or it before one on -s."""
    following = _next(words, place)
    if not following or word not in _SUBJECTS:
        return None
    verb = next((n for n in range(place + 1, len(words)) if _plain(words[n]) == following), place)
    if following in _SUBJECTS or (verb != place and _of_word(words, verb, arranged=False) is not None):
        return None
    if following in _SAME_IN_PRESENT:
        return _UNKNOWN if word in _PLURAL_SUBJECTS else Tense(-1)
    return Tense(1, habit=True) if word in _PLURAL_SUBJECTS or following.endswith("s") else None


def _is_adverb(word: str) -> bool:
    return word in _ADVERBS or (word.endswith("ly") and word not in {"july", "fly", "family", "apply", "reply", "rely"})


def _next(words: Sequence[str], place: int) -> str:
    """The next word that is no adverb; empty at a comma and at the end."""
    return _beside(words, range(place + 1, len(words)))


def _helper(words: Sequence[str], place: int) -> str:
    """The word before that is no adverb; empty at the beginning, the mark itself at a comma."""
    return _beside(words, range(place - 1, -1, -1))


def _beside(words: Sequence[str], places: range) -> str:
    return next((word for word in (_plain(words[place]) for place in places) if not _is_adverb(word)), "")
