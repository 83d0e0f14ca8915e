"""Whether two statements say the same: word alignment with vetoes, the rule a memory merges by without a model."""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from slowwave.policy.comparison import vetoes
from slowwave.policy.comparison.alignment import Alignment, WordCosine, align, prepare
from slowwave.policy.text.lazy_regex import lazy_regex

# The merge rule's five numbers (measured on SICK: 93 % precision at 74 % recall, no contradiction merged).
COSINE_MIN: Final = 0.60
WORST_MIN: Final = 0.40
ORDER_MIN: Final = 0.30
UNMATCHED_MAX: Final = 3
PREPOSITIONS_MAX: Final = 1
CLOSE_COSINE_MIN: Final = 0.85

_SPACE: Final = lazy_regex(r"\s+")
_QUOTES: Final = " \"'“”‘«»"
_ENDS: Final = _QUOTES + ".,;:!?…。、"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What comparing two statements found: the five numbers, the vetoes, and the verdict in words.

    `merge`: they say the same, so one memory may stand for both. `close`: alike enough to link (true whenever `merge` is).
    """

    cosine: float
    worst: float
    order: float
    unmatched: int
    prepositions: int
    vetoes: tuple[str, ...]
    merge: bool
    close: bool
    because: str


def normalised(text: str) -> str:
    """Fold case, white space, Unicode form (NFKC), closing punctuation and outer quotation marks; equal results are the same statement.

    >>> normalised("  Alice owns the Pipeline. ") == normalised("alice owns the pipeline")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("’", "'")
    spaced = _SPACE.sub(" ", folded).strip()
    return spaced.rstrip(_ENDS).lstrip(_QUOTES) or spaced


def longer(first: str, second: str) -> str:
    """Choose the text that survives a merge: the longer one says everything the shorter does.

    Equal lengths are settled by the alphabet, so that the order of arrival does not matter.
    """
    return max(first, second, key=lambda text: (len(normalised(text)), text))


def compare(
    first: str, second: str, *, cosine: float, word_cosine: WordCosine, names: Collection[str] = ()
) -> Comparison:
    """Compare two statements word by word.

    They merge if their normalised texts are equal, or if both are English, no veto fires, and all of cosine >= 0.60,
    worst >= 0.40, order >= 0.30, unmatched <= 3 and prepositions <= 1 hold (`slowwave.policy.alignment.Alignment`).
    Text in a language the word tables do not cover merges only when it is the same words.

    Args:
        first: One statement.
        second: The other; the verdict does not depend on their order.
        cosine: Cosine of the two sentences' vectors; 1.0 where there are no vectors.
        word_cosine: Cosines of single words, rows by columns (static word vectors); symmetric.
        names: Names known in this store; several words in one name count singly.

    Returns:
        The numbers, the vetoes that fired and the verdict.
    """
    left, right = prepare(first), prepare(second)
    found = align(left, right, word_cosine)
    if normalised(first) == normalised(second):
        return _comparison(cosine, found, (), merge=True, close=True, because="Both say the same words.")
    if not (left.english and right.english):
        alike = cosine >= CLOSE_COSINE_MIN
        because = "The words differ, and the language is not one whose opposites are known."
        return _comparison(cosine, found, (), merge=False, close=alike, because=because)
    learned = frozenset(word for name in names for word in prepare(name).words)
    vetoed = vetoes.fired(left, right, learned)
    short = _shortfall(cosine, found)
    merge = not vetoed and not short
    close = not short or cosine >= CLOSE_COSINE_MIN
    return _comparison(cosine, found, vetoed, merge=merge, close=close, because=_because(found, vetoed, short))


def _shortfall(cosine: float, found: Alignment) -> str:
    """Say which of the five numbers misses its line first; empty if all hold."""
    if cosine < COSINE_MIN:
        return f"the sentences are too far apart ({cosine:.2f})"
    if found.unmatched > UNMATCHED_MAX:
        return f"{found.unmatched} words have no partner"
    if found.worst < WORST_MIN:
        return f"a word has no near partner ({found.worst:.2f})"
    if found.order < ORDER_MIN:
        return f"the shared words stand in another order ({found.order:.2f})"
    if found.prepositions > PREPOSITIONS_MAX:
        return f"{found.prepositions} prepositions differ"
    return ""


def _because(found: Alignment, vetoed: tuple[str, ...], short: str) -> str:
    if vetoed:
        return "Kept apart: " + "; ".join(vetoes.SAID[key] for key in vetoed) + "."
    if short:
        return f"Kept apart: {short}."
    return f"Word for word the same but for {found.unmatched} that add or restate, and nothing contradicts."


def _comparison(
    cosine: float, found: Alignment, vetoed: tuple[str, ...], *, merge: bool, close: bool, because: str
) -> Comparison:
    return Comparison(
        cosine=cosine,
        worst=found.worst,
        order=found.order,
        unmatched=found.unmatched,
        prepositions=found.prepositions,
        vetoes=vetoed,
        merge=merge,
        close=close,
        because=because,
    )
