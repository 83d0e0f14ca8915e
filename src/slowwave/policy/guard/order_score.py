"""Scores how much a sentence reads as an order to a model: signs of words and form, and a weight for each pair of signs.

The signs of a sentence say whom it addresses (a model is called, noted, obliged), how it speaks (as an order, for always, when
somebody asks), what it demands (secrecy, private data, tools, praise), and what speaks against it (people, games, reports,
quotations). Whom the sentences before it address counts as well. The score of a sentence is the sum of the weights of its
pairs of signs and of its doubts (`policy/data/order_weights.toml`); no word alone has a weight. `tools/fit_orders.py` fits the
weights by logistic regression. A sentence has a bounded length, so the time is linear in the length of the text.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, repeat
from typing import Final, NamedTuple, TypeAlias

from slowwave.policy.guard.addressees import SENTENCE_END
from slowwave.policy.guard.lexicon import weights_of_signs
from slowwave.policy.guard.order_signs import CARRYING, Signs, signs_in
from slowwave.policy.guard.sentence_language import FOREIGN, LONGEST, has_script, languages
from slowwave.policy.text.lazy_regex import lazy_regex

_CARRIED: Final = 2
"""Sentences after one that addresses a model in which its order may stand."""
_LETTER: Final = 80
"""Characters at the beginning of a text in which the greeting of a letter may stand."""
_WORD: Final = lazy_regex(r"[^\W_]+")
_SHORT: Final = 200
"""Characters of a text whose language is sure only if it is English: other languages share their few words."""
_FENCE: Final = "'''"
"""The marks of a block of code, as `disguises.folded` writes them."""
_OF_PROGRAMS: Final = frozenset(
    ["address", "call", "shell", "field", "many harms", "several harms", "private data", "user"]
)
"""Signs that say nothing in a block of code."""

Codes: TypeAlias = tuple[str, ...]
"""Languages by their codes, in the order of the table."""
Span: TypeAlias = tuple[int, int]
"""Where a sentence begins and ends in its text."""


class Score(NamedTuple):
    """How much a sentence reads as an order to a model.

    Attributes:
        total: the sum of the weights of its pairs and doubts.
        signs: its signs; None if it may be in a language without a table, so that the total says nothing.
    """

    total: float
    signs: Signs | None

    @property
    def is_known(self) -> bool:
        """Whether the total says something."""
        return self.signs is not None

    @property
    def pairs(self) -> tuple[str, ...]:
        """The pairs of signs and the doubts that have a weight, the weightiest first."""
        if self.signs is None:
            return ()
        _, weights, doubts = _weights()
        found = {" + ".join(pair): weights[pair] for pair in pairs_of(self.signs) if pair in weights}
        found |= {doubt: doubts[doubt] for doubt in self.signs.doubts if doubt in doubts}
        return tuple(sorted(found, key=lambda name: -abs(found[name])))


def pairs_of(signs: Signs) -> Iterator[tuple[str, str]]:
    """The pairs of signs of a sentence."""
    return combinations(sorted(signs.paired), 2)


def scores_of(flat: str, spans: Sequence[Span], chosen: Collection[int]) -> dict[int, Score]:
    """The scores of some sentences of a text, by their numbers.

    Args:
        flat: the text on one line (`orders.flattened`).
        spans: its sentences (`sentences`).
        chosen: the numbers of those whose scores are wanted.
    """
    return {number: _score_of(signs) for number, signs in signs_of(flat, spans, chosen) if number in chosen}


def _score_of(signs: Signs | None) -> Score:
    """The score of a sentence with these signs."""
    total, weights, doubts = _weights()
    if signs is not None:
        total += sum(map(weights.get, pairs_of(signs), repeat(0.0)))
        total += sum(map(doubts.get, signs.doubts, repeat(0.0)))
    return Score(round(total, 6), signs)


class _Languages:
    """The languages of the sentences of a text. One that does not tell its language has that of those before, or of the text."""

    def __init__(self, flat: str) -> None:
        self._flat = flat
        self._scripts = has_script(flat)
        self._usual: Codes | None = None

    def of(self, sentence: str, words: Sequence[str]) -> Codes:
        """The likeliest languages of the next sentence; empty if nothing tells."""
        codes = languages(sentence, words, scripts=self._scripts)
        if len(codes) == 1:
            self._usual = codes
        elif self._usual is None:
            start = self._flat[:LONGEST]
            found = languages(start, _WORD.findall(start), scripts=self._scripts)
            self._usual = found if len(found) == 1 and FOREIGN not in found else ()
        return self._usual or codes


def _is_told(flat: str, codes: Codes) -> bool:
    """Whether the language of a sentence is sure, so that it orders nothing if it has no signs."""
    return bool(codes) and FOREIGN not in codes and (len(flat) > _SHORT or codes == ("en",))


_NO_SIGNS: Final = Signs(frozenset(), frozenset())


def signs_of(flat: str, spans: Sequence[Span], chosen: Collection[int]) -> Iterator[tuple[int, Signs | None]]:
    """The signs of some sentences, and of those that say whom they address; None if a language without a table is likely.

    The arguments are those of `scores_of`.
    """
    carried: dict[int, frozenset[str]] = {}
    told = _Languages(flat)
    is_letter: bool | None = None
    fences = place = 0
    for number in _read_for(spans, chosen):
        start, end = spans[number]
        fences += flat.count(_FENCE, place, start)
        place = start
        sentence = flat[start:end]
        words = _WORD.findall(sentence)
        codes = told.of(sentence, words)
        best = _best(codes, sentence, words, is_listing=fences % 2 == 1 or _FENCE in sentence)
        if best is None:
            yield number, _NO_SIGNS if _is_told(flat, codes) else None
            continue
        before = [carried.get(number - back, frozenset()) for back in range(1, _CARRIED + 1)]
        carried[number] = best.paired & CARRYING
        if is_letter is None:
            is_letter = "doubt: people" in best.doubts and start < _LETTER
        doubts = best.doubts | {"doubt: letter"} if is_letter else best.doubts
        paired = best.paired | {f"before: {name}" for names in before for name in names}
        is_sure = not _SURE.isdisjoint(paired)
        yield number, Signs(paired, frozenset(f"{doubt}, addressed" for doubt in doubts) if is_sure else doubts)


def _read_for(spans: Sequence[Span], chosen: Collection[int]) -> Sequence[int]:
    """The sentences to read for some: themselves, those before them that may address a reader, and the greeting of a letter."""
    greeting = (number for number in range(min(_LETTER, len(spans))) if spans[number][0] < _LETTER)
    return sorted({*greeting, *(number - back for number in chosen for back in range(_CARRIED + 1) if number >= back)})


def _best(codes: Codes, sentence: str, words: list[str], *, is_listing: bool) -> Signs | None:
    """The signs of a sentence in the language in which it has the most; None if it has too few in each."""
    found = [signs for code in codes if code != FOREIGN and (signs := signs_in(code, sentence, words))]
    if is_listing:
        found = [Signs(signs.paired - _OF_PROGRAMS, signs.doubts) for signs in found]
    return max(found, key=lambda signs: len(signs.paired), default=None)


_SURE: Final = frozenset(
    [
        *("model called", "note to a reader", "reader and this text", "being a reader", "before: model called"),
        *("before: note to a reader", "before: reader and this text", "field of a reader", "called to do"),
    ]
)
"""Signs with which doubts have weights of their own."""


def sentences(flat: str) -> list[Span]:
    """The sentences of a text on one line, long ones in pieces."""
    return list(_sentences(flat))


def _sentences(flat: str) -> Iterator[Span]:
    start = 0
    for found in SENTENCE_END.finditer(flat):
        while found.end() - start > LONGEST:
            yield start, start + LONGEST
            start += LONGEST
        if found.end() - start > 3:  # noqa: PLR2004 - a mark and a space are no sentence
            yield start, found.end()
            start = found.end()
    for place in range(start, len(flat), LONGEST):
        yield place, min(len(flat), place + LONGEST)


@cache
def _weights() -> tuple[float, Mapping[tuple[str, str], float], Mapping[str, float]]:
    """The constant, the weight of each pair of signs, and that of each doubt."""
    constant, weights = weights_of_signs()
    pairs = {}
    doubts = {}
    for name, weight in weights.items():
        first, _, second = name.partition(" + ")
        if second:
            pairs[first, second] = weight
        else:
            doubts[name] = weight
    return constant, pairs, doubts
