"""Vetoes: reasons why two similar statements must not be merged. Each is symmetric; in doubt both statements are kept."""

from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from slowwave.policy.comparison.alignment import Prepared, content, stem
from slowwave.policy.text.lexicon import (
    CAPITALISED_TIMES,
    COMPARISONS,
    EXCLUSIVE,
    FUNCTION_WORDS,
    MODALS,
    NEGATIONS,
    PARTICIPLES,
    PREFIXES,
    QUANTITIES,
    TIME_WORDS,
)


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words)


def _exclusive() -> Mapping[str, Mapping[int, int]]:
    """Stem -> the exclusive sets it belongs to, and its place in each. Words of one place are synonyms."""
    places: dict[str, dict[int, int]] = {}
    for number, line in enumerate(EXCLUSIVE):
        for place, words in enumerate(line):
            for word in words:
                places.setdefault(stem(word), {})[number] = place
    return MappingProxyType(places)


_EXCLUSIVE: Final = _exclusive()
_MODAL_STEMS: Final = _stems(MODALS)
_PRONOUN_OF: Final = MappingProxyType(
    {
        "my": frozenset({"i"}),
        "our": frozenset({"we"}),
        "your": frozenset({"you"}),
        "his": frozenset({"he"}),
        "her": frozenset({"she"}),
        "their": frozenset({"they"}),
    }
)
_SHORTEST_OPPOSITE: Final = 3
_LETTER: Final = 1
_NO_HEADS: Final = TIME_WORDS | QUANTITIES | COMPARISONS | MODALS
_NO_NOUN: Final = ("ly", "ed", "ing")
"""Endings of words that tell more about a thing and make no other one of it."""


def _unshared(first: Prepared, second: Prepared) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that only the first and only the second sentence has, function words included."""
    return first.every - second.every, second.every - first.every


def negation(first: Prepared, second: Prepared) -> bool:
    """One is negative and the other is not: the number of negative words differs."""
    return sum(w in NEGATIONS for w in first.words) != sum(w in NEGATIONS for w in second.words)


def numbers(first: Prepared, second: Prepared) -> bool:
    """The numbers or their order differ."""
    return first.numbers != second.numbers


def opposite(first: Prepared, second: Prepared) -> bool:
    """A word of one and a word of the other exclude each other (red and blue, start and stop)."""
    left, right = (tuple(_EXCLUSIVE[w] for w in side if w in _EXCLUSIVE) for side in _unshared(first, second))
    return any(number in b and b[number] != place for a in left for number, place in a.items() for b in right)


def prefix(first: Prepared, second: Prepared) -> bool:
    """One sentence has a word, and the other its negation: happy and unhappy, careful and careless."""
    left, right = frozenset(first.words), frozenset(second.words)
    return _is_negation_of(left - right, right) or _is_negation_of(right - left, left)


def _is_negation_of(words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether a word of `words` is the negation of one of `others` by a prefix or by -less."""
    for word in words:
        for start in PREFIXES:
            if word.startswith(start) and len(word) - len(start) >= _SHORTEST_OPPOSITE and word[len(start) :] in others:
                return True
        if word.endswith("less") and word[: -len("less")] + "ful" in others:
            return True
    return False


def role(first: Prepared, second: Prepared) -> bool:
    """The roles are swapped: the subject of each occurs in the predicate of the other ("Ann pays Bob", "Bob pays Ann")."""
    if _swapped(first.subject, first.predicate, second.subject, second.predicate):
        return True
    return any(
        _swapped(*_halves(first, mark), *_halves(second, mark)) for mark in first.prepositions & second.prepositions
    )


def _swapped(
    head: frozenset[str], tail: frozenset[str], other_head: frozenset[str], other_tail: frozenset[str]
) -> bool:
    return bool((head - other_head) & other_tail and (other_head - head) & tail)


def _halves(sentence: Prepared, mark: str) -> tuple[frozenset[str], frozenset[str]]:
    cut = sentence.active.index(mark)
    return frozenset(content(sentence.active[:cut])), frozenset(content(sentence.active[cut:]))


def quantity(first: Prepared, second: Prepared) -> bool:
    """Words of quantity or frequency differ: all, most, many, few, always, usually."""
    return _differ(first, second, QUANTITIES)


def comparison(first: Prepared, second: Prepared) -> bool:
    """Words of comparison or continuation differ: more, less, before, after, until, still, again, yet."""
    return _differ(first, second, COMPARISONS)


def modality(first: Prepared, second: Prepared) -> bool:
    """One is a fact; the other is wished, planned, possible, begun or ended."""
    return first.every & _MODAL_STEMS != second.every & _MODAL_STEMS


def _differ(first: Prepared, second: Prepared, words: frozenset[str]) -> bool:
    return frozenset(first.words) & words != frozenset(second.words) & words


def time(first: Prepared, second: Prepared) -> bool:
    """Words of time differ: last, ago, now, weekdays, months."""
    return _times(first) != _times(second)


def _times(sentence: Prepared) -> frozenset[str]:
    written = frozenset(sentence.words) & TIME_WORDS
    capitals = frozenset(sentence.capitals)
    return _stems(written) | frozenset(w.casefold() for w in CAPITALISED_TIMES if w.casefold() in capitals)


def owner(first: Prepared, second: Prepared) -> bool:
    """One is about somebody, the other about something of theirs: Alice, and Alice's sister."""
    return _owns_more(first, second) or _owns_more(second, first)


def _owns_more(first: Prepared, second: Prepared) -> bool:
    for possessor, thing in first.possessions:
        if thing in second.every:
            continue
        if possessor in second.every or (
            thing in first.subject and second.every & _PRONOUN_OF.get(possessor, frozenset())
        ):
            return True
    return False


def tense(first: Prepared, second: Prepared) -> bool:
    """One is about the present, the other about the past."""
    return first.past != second.past


def literal(first: Prepared, second: Prepared) -> bool:
    """Paths, addresses, identifiers, single letters or signs of a formula differ."""
    letters = [frozenset(w for w in s.stems if len(w) == _LETTER and w.isalpha()) for s in (first, second)]
    if first.symbols != second.symbols:
        return True
    return first.literals != second.literals or letters[0] != letters[1]


def thing(first: Prepared, second: Prepared) -> bool:
    """More words make another thing: a dog and a dog phobia, milk and milk thistle, York and New York."""
    return _makes_another(first, second) or _makes_another(second, first)


def _makes_another(short: Prepared, long: Prepared) -> bool:
    """Whether a noun at the end of a phrase of one is followed by another noun in the other, or a name has a first part more."""
    more = frozenset(long.words) - frozenset(short.words)
    words = ("", *short.active)
    ends = {
        word
        for place, (before, word, after) in enumerate(zip(words[:-1], words[1:], (*words[2:], ""), strict=True))
        if _is_content(word)
        and not word.endswith(_NO_NOUN)
        and not _is_content(after)
        and (place > 1 or before in FUNCTION_WORDS)
    }
    capitals = frozenset(long.capitals)
    for word, after in zip(long.active, long.active[1:], strict=False):
        if (
            after in more
            and word in ends
            and _is_content(after)
            and not (after.endswith(_NO_NOUN) or after in PARTICIPLES)
        ):
            return True
        if word in more and {word, after} <= capitals and after in short.words:
            return True
    return False


def _is_content(word: str) -> bool:
    return bool(word) and word[0].isalpha() and word not in FUNCTION_WORDS and word not in _NO_HEADS


def _names(sentence: Prepared, learned: Collection[str]) -> tuple[str, ...]:
    """The learned names in a sentence, in its order, each once."""
    return tuple(dict.fromkeys(w for w in sentence.words if w in learned))


def _lacks_capitals_of(first: Prepared, second: Prepared) -> bool:
    return any(stem(w) not in second.every for w in first.capitals)


def name(first: Prepared, second: Prepared, learned: Collection[str]) -> bool:
    """Each has a capitalised word that the other lacks, or the learned names differ."""
    if _lacks_capitals_of(first, second) and _lacks_capitals_of(second, first):
        return True
    return frozenset(_names(first, learned)) != frozenset(_names(second, learned))


def name_order(first: Prepared, second: Prepared, learned: Collection[str]) -> bool:
    """The first name differs, or the names of the two sentences are in different order."""
    left, right = _capitals_or_learned(first, learned), _capitals_or_learned(second, learned)
    if left and right and left[0] != right[0]:
        return True
    shared = frozenset(left) & frozenset(right)
    return [w for w in left if w in shared] != [w for w in right if w in shared]


def _capitals_or_learned(sentence: Prepared, learned: Collection[str]) -> list[str]:
    """The names of a sentence in order; learned names count in upper and lower case."""
    capitals = frozenset(sentence.capitals)
    return list(dict.fromkeys(w for w in sentence.words if w in capitals or w in learned))


_VETOES: Final[Mapping[str, Callable[[Prepared, Prepared], bool]]] = MappingProxyType(
    {
        "negation": negation,
        "numbers": numbers,
        "opposite": opposite,
        "prefix": prefix,
        "role": role,
        "quantity": quantity,
        "comparison": comparison,
        "modality": modality,
        "time": time,
        "owner": owner,
        "tense": tense,
        "literal": literal,
        "thing": thing,
    }
)
_NAME_VETOES: Final = MappingProxyType({"name": name, "name order": name_order})
EXPLANATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "negation": "one of them denies it",
        "numbers": "their numbers differ",
        "opposite": "they hold words that exclude each other",
        "prefix": "one word is the denial of another",
        "role": "who acts on whom is swapped",
        "quantity": "they differ in how many or how often",
        "comparison": "they compare or continue differently",
        "modality": "one is a plan, a doubt, a beginning or an end",
        "time": "their times differ",
        "owner": "one speaks of what belongs to the other's subject",
        "tense": "one is so, the other was",
        "literal": "paths, identifiers, letters or signs differ",
        "thing": "more words make another thing",
        "name": "they name different people or things",
        "name order": "their names come in another order",
    }
)


def fired(first: Prepared, second: Prepared, learned: Collection[str] = ()) -> tuple[str, ...]:
    """The names of the vetoes that forbid a merge, in a fixed order.

    Args:
        first: One sentence.
        second: The other.
        learned: Names known in this store, as single lower-case words.

    Returns:
        Keys of `EXPLANATIONS`; empty if nothing forbids a merge.
    """
    plain = [key for key, veto in _VETOES.items() if veto(first, second)]
    named = [key for key, veto in _NAME_VETOES.items() if veto(first, second, learned)]
    return (*plain, *named)
