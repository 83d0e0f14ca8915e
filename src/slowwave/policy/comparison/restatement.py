"""Finds search hits that a later hit supersedes: both state the same attribute (a home, an employer) with other values."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from slowwave.policy.comparison.values import ValuePair, asks_for_history
from slowwave.policy.text.clauses import prose, sentences
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import STOP_WORDS, content_terms, stem, words

if TYPE_CHECKING:
    from slowwave.policy.comparison.pair_rules import Outdated
    from slowwave.policy.comparison.succession import Supersession

_LONGEST: Final = 4000  # characters read of one text
_SENTENCES_MAX: Final = 20  # of one text
_CACHED: Final = 1024
_PAIR: Final = 2
SHORT: Final = 200
"""Characters of a message to an assistant in which a word of change is about the whole. In longer ones, and in talk between
people, "now" and "new" were about something else: there it cost LoCoMo 0.3 and BEAM 0.6."""
# Words before a statement. Other than in `clauses`, a statement may follow "yes", "and" or "but".
_OPENING: Final = lazy_regex(
    r"^(?:(?:hey|hi|hello|oh|well|so|yes|yeah|ok|okay|by the way|btw|and|but)\b[\s,;:.!–—-]*)+", re.IGNORECASE
)
_CHANGE_WORDS: Final = ("moved", "relocated", "switched", "migrated", "upgraded", "changed", "joined", "new job")
_CORRECTS: Final = lazy_regex(
    r"\bno longer\b|\bany ?more\b|\bany longer\b|\bstopped\b|\bquit\b|\binstead of\b|\bfrom\b.+\bto\b|\bafter all\b"
    r"|\bactually\b|\breplaced\b",
    re.IGNORECASE,
)
_ASKS_CURRENT_VALUE: Final = lazy_regex(
    r"^(?!.*\b(?:did|was|were|had)\b).*\b(?:where|who|whose|what|which|when|how|my|our|I)\b",
    re.IGNORECASE | re.DOTALL,
)

_NEW_CLAUSE: Final = lazy_regex(
    r"[;:,–—]?\s+(?:and|but|while|whereas|because|so|also)\s+(?=(?:I|my|our|we|he|his|she|her|it|its|they|their|the)\b)|[;–—]\s*",
    re.IGNORECASE,
)
"""The text between two clauses of a sentence, each with a subject."""

RelevantSentences = Sequence[tuple[str, bool]]
"""Sentences of a text, each with whether it shares a word with the question."""


def asks_current_value(question: str) -> bool:
    """Whether a question asks for a present value ("where do I live", "my phone number"), not for a past one."""
    return _ASKS_CURRENT_VALUE.search(question) is not None


def superseded_hits(question: str, ranked: Sequence[tuple[str, Any, str | None]]) -> list[ValuePair]:
    """The hits whose statement a later hit of the same speaker repeats with another value.

    The question must ask for a present value (`asks_current_value`). The older sentence must share a word with the question;
    the later one must do so too, or report a change ("moved", "switched"). Words of a role play, a story or a quotation state nothing.

    Args:
        question: The question.
        ranked: The first hits, best first: text, time (anything that can be ordered), and speaker (None for the user).

    Returns:
        Pairs ordered by the rank of the older text, then of the newer. None is `stale` if the question asks for history.
    """
    if not asks_current_value(question) or not (pairs := _pairs(question, ranked)):
        return []
    from slowwave.policy.text.foreign.own_text import own_text  # noqa: PLC0415 - most questions do without

    read = {place for pair in pairs for place in (pair.older, pair.newer)}
    own = [(own_text(text) if place in read else text, at, by) for place, (text, at, by) in enumerate(ranked)]
    return _pairs(question, own) if any(own[place][0] != ranked[place][0] for place in read) else pairs


def _pairs(question: str, ranked: Sequence[tuple[str, Any, str | None]]) -> list[ValuePair]:
    """The pairs of `superseded_hits`, also of texts that are not the writer's own words."""
    question_stems = tuple({stem(word) for word in words(question) if word not in STOP_WORDS})
    stems, history = frozenset(question_stems), asks_for_history(question)
    every = [_relevant_sentences(question_stems, text) for text, _, _ in ranked]
    relevant = _statements(every)
    with_statements = [place for place, sentences_of in enumerate(every) if sentences_of]
    pairs = []
    for first, second in combinations(with_statements, 2):
        (_, first_at, first_speaker), (_, second_at, second_speaker) = ranked[first], ranked[second]
        if first_at == second_at or first_speaker != second_speaker:
            continue
        older, newer = (first, second) if first_at < second_at else (second, first)
        supersession = _first_supersession(stems, relevant[newer], relevant[older])
        if supersession is None and not history:
            supersession = _first_by_rule(every[newer], every[older])
            if (
                supersession is None
                and first_speaker is None
                and max(len(ranked[first][0]), len(ranked[second][0])) <= SHORT
            ):
                supersession = _first_change(stems, every[newer], every[older])
        if supersession:
            pairs.append(_pair(newer, older, supersession, stale=not history))
    return sorted(pairs, key=lambda pair: (pair.older, pair.newer))


def _pair(newer: int, older: int, supersession: "Supersession", *, stale: bool) -> ValuePair:
    return ValuePair(
        newer=newer,
        older=older,
        new_value=supersession.new_value,
        old_value=supersession.old_value,
        stale=stale,
        because=supersession.explanation,
        certain=supersession.certain,
    )


def _relevant_sentences(question_stems: Sequence[str], text: str) -> RelevantSentences:
    """The sentences of a text that share a stem with the question, or contain a word of change."""
    lowered = text[:_LONGEST].casefold()
    if not any(word in lowered for word in (*question_stems, *_CHANGE_WORDS)):
        return ()
    return [
        (sentence, is_shared)
        for sentence, folded in _sentences(text[:_LONGEST])
        if (is_shared := any(word in folded for word in question_stems))
        or any(word in folded for word in _CHANGE_WORDS)
    ]


@lru_cache(maxsize=_CACHED)
def _sentences(text: str) -> tuple[tuple[str, str], ...]:
    """The sentences of a text without their opening words, each also in lower case."""
    bare = (_OPENING.sub("", sentence) for sentence in sentences(prose(text))[:_SENTENCES_MAX])
    return tuple((sentence, sentence.casefold()) for sentence in bare)


def _statements(relevant: Sequence[RelevantSentences]) -> list[RelevantSentences]:
    """Of these sentences those that have the form of a statement or a correction."""
    if sum(map(bool, relevant)) < _PAIR:
        return [()] * len(relevant)
    from slowwave.policy.comparison.statements import formed  # noqa: PLC0415 - most questions do without

    return [[each for each in of_text if formed(each[0]) or _CORRECTS.search(each[0])] for of_text in relevant]


def _first_supersession(
    question: frozenset[str], newer: RelevantSentences, older: RelevantSentences
) -> "Supersession | None":
    from slowwave.policy.comparison.succession import supersedes  # noqa: PLC0415 - see above

    for new, _ in newer:
        for old, is_shared in older:
            if (
                is_shared
                and (supersession := supersedes(new, old) or _correction(new, old))
                and _is_asked(question, old, supersession.old_value)
            ):
                return supersession
    return None


def _is_asked(question: frozenset[str], sentence: str, value: str) -> bool:
    """Whether a question asks for the clause of a sentence that has a value, and not for another one only.

    Of "I live in Graz and my dog is called Rex" the home may change, and the name of the dog stays true.
    """
    clauses = _NEW_CLAUSE.split(sentence)
    with_value = [clause for clause in clauses if value.casefold() in clause.casefold()]
    if len(clauses) < _PAIR or not with_value:
        return True
    return any(question & content_terms(clause) for clause in with_value)


def _first_by_rule(newer: RelevantSentences, older: RelevantSentences) -> "Supersession | None":
    from slowwave.policy.comparison.pair_rules import is_doubtful, may_outdate, outdated_by  # noqa: PLC0415 - see above

    asked = [old for old, is_shared in older if is_shared]
    doubted = [old for old in asked if is_doubtful(old)]
    pairs = (outdated_by(new, old) for new, _ in newer for old in (asked if may_outdate(new) else doubted))
    return next((_as_supersession(found) for found in pairs if found), None)


def _first_change(
    question: frozenset[str], newer: RelevantSentences, older: RelevantSentences
) -> "Supersession | None":
    from slowwave.policy.comparison.pair_rules import changed_for  # noqa: PLC0415 - see above

    pairs = (changed_for(question, new, old) for new, _ in newer for old, is_shared in older if is_shared)
    return next((_as_supersession(found) for found in pairs if found), None)


def _as_supersession(found: "Outdated") -> "Supersession":
    from slowwave.policy.comparison.succession import Supersession  # noqa: PLC0415 - see above

    return Supersession(
        certain=found.certain, new_value=found.new_value, old_value=found.old_value, because=found.because
    )


def _correction(new: str, old: str) -> "Supersession | None":
    """An explicit correction ("no longer", "not any more", "moved from A to B") as a supersession."""
    if not _CORRECTS.search(new):
        return None
    from slowwave.policy.comparison.corrections import correction  # noqa: PLC0415 - see above
    from slowwave.policy.comparison.succession import Supersession  # noqa: PLC0415

    ended = correction(new, old)
    return Supersession(certain=True, new_value=new, old_value=old, because=ended.because) if ended else None
