"""Scores how much a text reads as an order to a model: signs of words and form, and a weight for each pair of signs.

The signs of a sentence say whom it addresses (a model is called, noted, obliged), how it speaks (as an order, for always, when
somebody asks), what it demands (secrecy, private data, tools, praise), and what speaks against it (people, games, reports,
quotations). Whom the sentences before it address counts as well. The score of a sentence is the sum of the weights of its
pairs of signs and of its doubts (`policy/data/order_weights.toml`); no word alone has a weight. `tools/fit_orders.py` fits the
weights by logistic regression. A sentence has a bounded length, so the time is linear in the length of the text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations, product, repeat
from typing import Final, NamedTuple, TypeAlias

from slowwave.policy.guard.addressees import SENTENCE_END
from slowwave.policy.guard.disguises import OfWords
from slowwave.policy.guard.lexicon import scored_codes, weights_of_signs
from slowwave.policy.guard.order_signs import (
    A_READER,
    ACTING,
    CARRYING,
    DOUBTS,
    NEEDED,
    PAIRED,
    UNSPACED,
    Clauses,
    Signs,
    forms_in,
    kinds,
    signs_in,
    together,
)
from slowwave.policy.guard.sentence_language import FOREIGN, LONGEST, has_script, languages
from slowwave.policy.guard.sign_words import bit, names_of, spaced
from slowwave.policy.text.lazy_regex import lazy_regex

_CARRIED: Final = 2
"""Sentences after one that addresses a model in which its order may stand."""
_LETTER: Final = 80
"""Characters at the beginning of a text in which the greeting of a letter may stand."""

_WORD: Final = lazy_regex(r"[^\W_]+")
_SHORT: Final = 200
"""Characters of a text that is read in every language if no word tells its language, and that the rules read if it has no sign."""
WHOLE: Final = 600
"""Characters of a text that is one passage."""
SET_ASIDE: Final = "instructions set aside"
"""A sign with which rules read a sentence, however low its score is."""
_FENCE: Final = "'''"
"""The marks of a block of code, as `disguises.folded` writes them."""
_OF_PROGRAMS: Final = frozenset(
    ["address", "call", "shell", "field", "many harms", "several harms", "private data", "user"]
)
"""Signs that say nothing in a block of code."""


Codes: TypeAlias = tuple[str, ...]


class Score(NamedTuple):
    """How much a sentence reads as an order to a model.

    Attributes:
        start: where the sentence begins in its text.
        end: where it ends.
        total: the sum of the weights of its pairs and doubts.
        signs: its signs; None if it may be in a language without a table, so that the total says nothing.
    """

    start: int
    end: int
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


def scores_of(flat: str, least: float | None = None) -> Iterator[Score]:
    """The score of each sentence of a text on one line (`orders.flattened`).

    Args:
        flat: the text.
        least: the least score of interest: a sentence that cannot reach it gets a score below it, without its signs. That
            takes a small part of the time, and most sentences are such.
    """
    constant, weights, doubts = _weights()
    for start, end, signs in _read(flat, least):
        total = constant
        if signs is not None:
            total += sum(map(weights.get, pairs_of(signs), repeat(0.0)))
            total += sum(map(doubts.get, signs.doubts, repeat(0.0)))
        yield Score(start, end, round(total, 6), signs)


def signs_of(flat: str) -> Iterator[tuple[int, int, Signs | None]]:
    """The sentences of a text, by where they begin and end, with their signs; None if a language without a table is likely."""
    yield from _read(flat, None)


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


def _read(flat: str, least: float | None) -> Iterator[tuple[int, int, Signs | None]]:
    """As `signs_of`; without the signs of a sentence whose score cannot reach `least`."""
    carried: list[frozenset[str]] = []
    told = _Languages(flat)
    is_letter: bool | None = None
    fences = 0
    for start, end in _sentences(flat):
        sentence = flat[start:end]
        words = _WORD.findall(sentence)
        is_listing = fences % 2 == 1 or _FENCE in sentence
        fences += sentence.count(_FENCE)
        codes = told.of(sentence, words)
        if not codes and len(flat) <= _SHORT:
            yield start, end, None
            codes = _spaced_codes() if _may_count(_any_language().of(words)) else ()
        if least is not None and len(codes) == 1 and not any(carried):
            found = _passed_over(codes[0], sentence, words, least, is_listing=is_listing)
            if found is not None:
                if found and is_letter is None:
                    is_letter = bool(found & _PEOPLE) and start < _LETTER
                yield start, end, _NO_SIGNS if found or _is_told(flat, codes) else None
                continue
        best = _best(codes, sentence, words, is_listing=is_listing)
        before = frozenset(f"before: {name}" for names in carried for name in names)
        carried = [*carried[1 - _CARRIED :], best.paired & CARRYING if best else frozenset()]
        if best is None:
            yield start, end, _NO_SIGNS if _is_told(flat, codes) else None
            continue
        if is_letter is None:
            is_letter = "doubt: people" in best.doubts and start < _LETTER
        doubts = best.doubts | {"doubt: letter"} if is_letter else best.doubts
        paired = best.paired | before
        is_sure = not _SURE.isdisjoint(paired)
        yield start, end, Signs(paired, frozenset(f"{doubt}, addressed" for doubt in doubts) if is_sure else doubts)


def _best(codes: Codes, sentence: str, words: list[str], *, is_listing: bool) -> Signs | None:
    """The signs of a sentence in the language in which it has the most; None if it has too few in each."""
    found = [signs for code in codes if code != FOREIGN and (signs := signs_in(code, sentence, words))]
    if is_listing:
        found = [Signs(signs.paired - _OF_PROGRAMS, signs.doubts) for signs in found]
    return max(found, key=lambda signs: len(signs.paired), default=None)


def _passed_over(code: str, sentence: str, words: list[str], least: float, *, is_listing: bool) -> int | None:  # noqa: PLR0911 - each reason in turn
    """The signs of the words of a sentence whose score cannot reach `least`, 0 if they are too few; None if it may reach it.

    Of a sentence that may address a reader, so that the next ones depend on it, the answer is None.
    """
    if code == FOREIGN or code in UNSPACED:
        return None
    found = spaced(code).signs(words, NEEDED)
    if not found:
        return 0
    if found & A_READER or (found & _BECOMES and found & _WITHOUT_LIMITS):
        return None
    if found & _DROPS and SET_ASIDE in together(found):
        return None
    own = tuple(sorted(forms_in(sentence)))
    if not CARRYING.isdisjoint(own):
        return None
    if _bound(found, own, -1, is_listing) < least:
        return found
    ordered = Clauses(sentence, words, spaced(code).hits(words)).ordered()
    return found if _bound(found, own, ordered, is_listing) < least else None


@lru_cache(maxsize=10_000)
def _bound(found: int, forms: tuple[str, ...], ordered: int, is_listing: bool) -> float:
    """The highest score of a sentence with these signs of words that addresses no reader.

    Args:
        found: the signs of its words.
        forms: its signs that are no words.
        ordered: the signs whose verbs are orders; -1 if each may be one or not.
        is_listing: whether it stands in a block of code.
    """
    constant, weights, doubts = _weights()
    certain = {*names_of(found & PAIRED), *forms, *together(found)}
    acting = names_of(found & ACTING & ordered)
    may_be = {f"order: {name}" for name in acting}
    if ordered >= 0:
        certain |= may_be | kinds(certain, set(acting))
        may_be = set()
    else:
        certain |= kinds(certain, set())
        may_be |= kinds(set(), set(acting))
    if is_listing:
        certain -= _OF_PROGRAMS
    total = constant + sum(map(weights.get, combinations(sorted(certain), 2), repeat(0.0)))
    for first, second in (*product(may_be, certain), *combinations(may_be, 2)):
        weight = weights.get((first, second) if first < second else (second, first), 0.0)
        total += max(0.0, weight)
    return total + sum(doubts.get(f"doubt: {name}", 0.0) for name in names_of(found & _DOUBTING))


_PEOPLE: Final = bit("people")
_DOUBTING: Final = bit(*DOUBTS)
_DROPS: Final = bit("set aside")
_BECOMES: Final = bit("become", "no longer be")
_WITHOUT_LIMITS: Final = bit("without limits", "full rights")


@cache
def _spaced_codes() -> Codes:
    """The languages with a table whose words stand between spaces."""
    return tuple(code for code in scored_codes() if code not in UNSPACED)


def has_signs(words: Iterable[str]) -> bool:
    """Whether one of some words may be a sign in any language with a table whose words stand between spaces."""
    return bool(_any_language().of(words))


@cache
def _any_language() -> OfWords:
    """The signs that a word may be or begin in any of these languages."""
    tables = tuple(map(spaced, _spaced_codes()))

    def possible(word: str) -> int:
        found = 0
        for table in tables:
            found |= table.possible(word)
        return found

    return OfWords(possible)


def _may_count(possible: int) -> bool:
    """Whether signs have one of those that every order has, and a second one."""
    return bool(possible & NEEDED and possible & (possible - 1))


_SURE: Final = frozenset(
    [
        *("model called", "note to a reader", "reader and this text", "being a reader", "before: model called"),
        *("before: note to a reader", "before: reader and this text", "field of a reader", "called to do"),
    ]
)
"""Signs with which doubts have weights of their own."""


def passage_of(flat: str, scores: Sequence[Score], number: int) -> str:
    """A sentence with the one before and the one after it; all of a short text."""
    if len(flat) <= WHOLE:
        return flat
    return flat[scores[max(0, number - 1)].start : scores[min(len(scores) - 1, number + 1)].end]


def _sentences(flat: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text, long ones in pieces."""
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
