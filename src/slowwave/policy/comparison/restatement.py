"""Which of the hits of a question say what another one says anew: a home, an employer, a number, in plain sentences."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from slowwave.policy.comparison.values import ValuePair, asks_for_history
from slowwave.policy.text.clauses import prose, sentences
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from slowwave.policy.comparison.succession import Supersession

_LONGEST: Final = 4000  # characters read of one text
_SENTENCES_MAX: Final = 20  # of one text
_CACHED: Final = 1024
_PAIR: Final = 2
_OPENING: Final = lazy_regex(
    r"^(?:(?:hey|hi|hello|oh|well|so|yes|yeah|ok|okay|by the way|btw|and|but)\b[\s,;:.!–—-]*)+", re.IGNORECASE
)
_TOLD: Final = ("moved", "relocated", "switched", "migrated", "upgraded", "changed", "joined", "new job")
_TAKEN_BACK: Final = lazy_regex(
    r"\bno longer\b|\bany ?more\b|\bany longer\b|\bstopped\b|\bquit\b|\binstead of\b|\bfrom\b.+\bto\b|\bafter all\b"
    r"|\bactually\b|\breplaced\b",
    re.IGNORECASE,
)
_ASKS_HOW_IT_IS: Final = lazy_regex(
    r"^(?!.*\b(?:did|was|were|had)\b).*\b(?:where|who|whose|what|which|when|how|my|our|I)\b",
    re.IGNORECASE | re.DOTALL,
)

Near = Sequence[tuple[str, bool]]
"""Sentences of a text, and whether each shares a word with the question."""


def asks_current_value(question: str) -> bool:
    """Tell whether a question asks how something is now (where do I live, my phone number), not how it was."""
    return _ASKS_HOW_IT_IS.search(question) is not None


def superseded_hits(question: str, ranked: Sequence[tuple[str, Any, str | None]]) -> list[ValuePair]:
    """Find which of the hits of a question state what a later one of the same speaker states with another value.

    The question must ask how something is (`asks_how_it_is`). The older one must share a word with it; the later one as
    well, or tell of a change.

    Args:
        question: The question.
        ranked: Of the first hits, best first, the text, the time (anything that orders), and who speaks (None: the user).

    Returns:
        Pairs by the rank of the older text, then of the newer; none is `stale` where the question asks for the history.
    """
    if not asks_current_value(question):
        return []
    asked = tuple({stem(word) for word in words(question) if word not in STOP_WORDS})
    near = _statements([_near(asked, text) for text, _, _ in ranked])
    told = [place for place, found in enumerate(near) if found]
    pairs = []
    for one, other in combinations(told, 2):
        (_, at, speaker), (_, again, answering) = ranked[one], ranked[other]
        if at == again or speaker != answering:
            continue
        older, newer = (one, other) if at < again else (other, one)
        if found := _first(near[newer], near[older]):
            pairs.append(_pair(newer, older, found, stale=not asks_for_history(question)))
    return sorted(pairs, key=lambda pair: (pair.older, pair.newer))


def _pair(newer: int, older: int, found: "Supersession", *, stale: bool) -> ValuePair:
    return ValuePair(
        newer=newer,
        older=older,
        new_value=found.new_value,
        old_value=found.old_value,
        stale=stale,
        because=found.is_uncertain,
        certain=found.certain,
    )


def _near(asked: Sequence[str], text: str) -> Near:
    """The sentences of a text that touch the question, or tell of a change."""
    lowered = text[:_LONGEST].casefold()
    if not any(word in lowered for word in (*asked, *_TOLD)):
        return ()
    return [
        (sentence, touches)
        for sentence, folded in _sentences(text[:_LONGEST])
        if (touches := any(word in folded for word in asked)) or any(word in folded for word in _TOLD)
    ]


@lru_cache(maxsize=_CACHED)
def _sentences(text: str) -> tuple[tuple[str, str], ...]:
    """The sentences of a text without what they open with, each also in lower case."""
    bare = (_OPENING.sub("", one) for one in sentences(prose(text))[:_SENTENCES_MAX])
    return tuple((one, one.casefold()) for one in bare)


def _statements(near: Sequence[Near]) -> list[Near]:
    """Of these sentences those of a form that states something: few."""
    if sum(map(bool, near)) < _PAIR:
        return []
    from slowwave.policy.comparison.statements import formed  # noqa: PLC0415 - most questions do without

    return [[one for one in found if formed(one[0]) or _TAKEN_BACK.search(one[0])] for found in near]


def _first(newer: Near, older: Near) -> "Supersession | None":
    from slowwave.policy.comparison.succession import supersedes  # noqa: PLC0415 - see above

    for new, _ in newer:
        for old, touches in older:
            if touches and (found := supersedes(new, old) or _taken_back(new, old)):
                return found
    return None


def _taken_back(new: str, old: str) -> "Supersession | None":
    """An explicit correction: no longer, not any more, moved from A to B."""
    if not _TAKEN_BACK.search(new):
        return None
    from slowwave.policy.comparison.corrections import correction  # noqa: PLC0415 - see above
    from slowwave.policy.comparison.succession import Supersession  # noqa: PLC0415

    found = correction(new, old)
    return Supersession(certain=True, new_value=new, old_value=old, because=found.because) if found else None
