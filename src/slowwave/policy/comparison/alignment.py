"""Aligns two short statements word by word: parses each sentence once, and computes the numbers of the merge rule."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Protocol

from slowwave.policy.text import tokens as segment, word_frequency
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import (
    AUXILIARIES,
    EMPTY_NOUNS,
    ENGLISH_EVIDENCE,
    FOREIGN_EVIDENCE,
    FORMS_OF_BE,
    FUNCTION_WORDS,
    IRREGULAR,
    NUMBER_WORDS,
    PARTICIPLES,
    PAST,
    PREPOSITIONS,
)


class Grid(Protocol):
    """Rows of cosines: a list of lists of floats, or a numpy array."""

    def __len__(self) -> int:
        """The number of rows."""
        ...

    def __getitem__(self, row: int, /) -> Sequence[float]:
        """One row: the cosines of one word with each word of the columns."""
        ...


WordCosine = Callable[[Sequence[str], Sequence[str]], Grid]

# A run of letters, or a token with a digit (8003, 3.11, 10:30, 1,200, v2, 8am), with its $ or %.
_TOKEN: Final = lazy_regex(r"(?<!\w)[$€£]?\w*\d(?:\w|[.,:/](?=\d))*%?|[^\W\d_]+")
_CONTRACTIONS: Final = (
    (lazy_regex(r"\b(?:can['’]?t|cannot)\b", re.IGNORECASE), "can not"),
    (lazy_regex(r"\bwon['’]?t\b", re.IGNORECASE), "will not"),
    (lazy_regex(r"\b(do|does|did|is|was|are|were|has|have|had|would|could|should)n['’]?t\b", re.IGNORECASE), r"\1 not"),
    (lazy_regex(r"n['’]t\b", re.IGNORECASE), " not"),
    (lazy_regex(r"['’]ll\b", re.IGNORECASE), " will"),
    (lazy_regex(r"\bused to\b", re.IGNORECASE), "formerly"),
)
_LITERAL: Final = lazy_regex(r"(?<![\w~.+-])[\w~.+-]*(?:[_/@\\#]|\w[.:=]\w|[a-z][A-Z])(?:[/@\\#.:=+-]{0,16}+\w++)++")
_SYMBOL: Final = lazy_regex(r"[=<>+*^|~×÷∩∪≤≥≠]")
_POSSESSIVE: Final = lazy_regex(
    r"\b(\w+)(?:['’]s|(?<=s)['’])\s+(\w+)|\b(my|your|his|her|their|our)\s+(\w+)", re.IGNORECASE
)
_LAST_LATIN: Final = "\u024f"
_ENGLISH_SHARE: Final = 0.6
_SHORTEST_PAST: Final = 4
_PARTNERS_MAX: Final = 100  # unmatched words; statements with more of them are never the same
_ORDINAL: Final = lazy_regex(r"^(\d+)(?:st|nd|rd|th)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One parsed sentence.

    Attributes:
        words: its words in lower case; number words as digits.
        every: the stems of all words.
        stems: the stems of its content words, in the order of the active voice.
        content: the same, each once.
        surface: stem -> a word with this stem.
        subject, predicate: the content stems before and after the first auxiliary.
        capitals: words that may be names.
        literals: paths, addresses and identifiers.
        symbols: the signs of formulas.
        possessions: possessor and thing, both as stems.
        active: all words in the order of the active voice.
        past: whether the sentence is about the past.
        english: whether the word tables apply.
    """

    words: tuple[str, ...]
    every: frozenset[str]
    stems: tuple[str, ...]
    content: tuple[str, ...]
    surface: Mapping[str, str]
    subject: frozenset[str]
    predicate: frozenset[str]
    prepositions: frozenset[str]
    numbers: tuple[str, ...]
    capitals: tuple[str, ...]
    literals: frozenset[str]
    symbols: str
    possessions: frozenset[tuple[str, str]]
    active: tuple[str, ...]
    past: bool
    english: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """The differences of two sentences after their shared words are removed.

    Attributes:
        worst: each unmatched content word of the side with fewer of them has a best cosine with the words of the other side;
            this is the smallest of these (1.0 if no word is unmatched, 0.0 if more than `_PARTNERS_MAX` are).
        order: the Dice coefficient of the pairs of adjacent stems, over the shared stems.
        unmatched: the number of content words without an equal, on the side with more of them.
        prepositions: the number of prepositions that only one side has.
    """

    worst: float
    order: float
    unmatched: int
    prepositions: int


def stem(word: str) -> str:
    """The stem of a lower-case English word: by the table of irregular forms, else by Porter's rules."""
    return segment.stem(IRREGULAR.get(word, word))


def expanded(text: str) -> str:
    """The text after NFKC with contractions written out ("don't" becomes "do not")."""
    text = unicodedata.normalize("NFKC", text)
    for pattern, replacement in _CONTRACTIONS:
        text = pattern.sub(replacement, text)
    return text


def _word(token: str) -> str:
    """The token in lower case; numbers without thousands commas and ordinal endings, number words as digits."""
    word = token.casefold()
    if any(c.isdigit() for c in word):
        return _ORDINAL.sub(r"\1", re.sub(r",(?=\d{3})", "", word))
    return NUMBER_WORDS.get(word, word)


def _is_participle(word: str) -> bool:
    return word.endswith(("ed", "en")) or word in PARTICIPLES


def _active(words: list[str]) -> list[str]:
    """The words in the order of the active voice.

    "X is (being) V-ed ... by Y" becomes "Y is V-ed ... X", and "X is being V-ed" becomes "is V-ed X".
    """
    by = next((i for i, w in enumerate(words) if w == "by" and i + 1 < len(words)), None)
    for place in range((by or len(words)) - 1, -1, -1):
        if words[place] not in FORMS_OF_BE:
            continue
        start = next((i for i in range(place + 1, len(words)) if not words[i].endswith("ly")), len(words))
        if start < len(words) and _is_participle(words[start]):
            subject = words[: place - (words[place - 1] in FORMS_OF_BE)] if place else []
            if by:
                return [*words[by + 1 :], "is", *words[start:by], *subject]
            if words[place] == "being":
                return ["is", words[start], *subject, *words[start + 1 :]]
        break
    return words


def _capitals(text: str, tokens: Sequence[re.Match[str]]) -> tuple[str, ...]:
    """The words that may be names: capitalised inside a sentence, or at its start with the form of a name."""
    capitals = []
    for number, match in enumerate(tokens):
        written = match.group()
        if not written[0].isupper() or written == "I":
            continue
        before = text[: match.start()].rstrip(" \"'“‘(")
        starts = not before or before[-1] in ".!?:;\n"
        following = tokens[number + 1].group().casefold() if number + 1 < len(tokens) else ""
        if not starts or _opens_as_name(written.casefold(), following):
            capitals.append(_word(written))
    return tuple(capitals)


def _opens_as_name(word: str, following: str) -> bool:
    """Whether the first word of a sentence is likely a name: no function word, and a singular verb after a plural form."""
    if word in FUNCTION_WORDS or word in EMPTY_NOUNS or word in IRREGULAR or word.endswith(("ing", "ly")):
        return False
    if word.endswith("s"):
        return following in {"is", "has", "was", "does"} or (
            following.endswith("s") and following not in FUNCTION_WORDS
        )
    return True


def _looks_english(tokens: Sequence[str]) -> bool:
    """Whether the English word tables apply: most words are common English, and function words of other languages are fewer."""
    letters = [t for t in tokens if t.isalpha()]
    if any(max(t) > _LAST_LATIN for t in letters):
        return False
    plain = [t for t in letters if not t[0].isupper()] or [t.casefold() for t in letters]
    known = sum(t in word_frequency.probabilities() for t in plain)
    foreign = sum(t in FOREIGN_EVIDENCE for t in plain)
    return known >= _ENGLISH_SHARE * len(plain) > 0 and sum(t in ENGLISH_EVIDENCE for t in plain) >= foreign


def _is_past(words: Sequence[str]) -> bool:
    """Whether a statement is about the past: it has was, were, had or did, or a past form and no auxiliary."""
    if any(w in {"was", "were", "had", "did"} for w in words):
        return True
    return any(map(is_past_form, words)) and not AUXILIARIES & frozenset(words)


def is_past_form(word: str) -> bool:
    """Whether a word is the past form of a verb: an irregular one of the table, or one on -ed but not on -eed.

    >>> is_past_form("painted"), is_past_form("Went"), is_past_form("need")
    (True, True, False)
    """
    folded = word.casefold()
    return folded in PAST or (len(folded) > _SHORTEST_PAST and folded.endswith("ed") and not folded.endswith("eed"))


def _subject(words: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The content stems before and after the first auxiliary; without one the first content word is the subject."""
    cut = next((i for i, w in enumerate(words) if i and w in AUXILIARIES), None)
    if cut is None:
        cut = next((i + 1 for i, w in enumerate(words) if w not in FUNCTION_WORDS), 0)
    return frozenset(content(words[:cut])), frozenset(content(words[cut:]))


def content(words: Sequence[str]) -> list[str]:
    """The stems of words that are neither function words nor empty nouns."""
    return [stem(w) for w in words if w not in FUNCTION_WORDS and w not in EMPTY_NOUNS]


@lru_cache(maxsize=4096)
def prepare(text: str) -> Prepared:
    """Parse a sentence for comparison; cached."""
    text = expanded(text)
    tokens = list(_TOKEN.finditer(text))
    words = [_word(t.group()) for t in tokens]
    active = _active(words)
    subject, predicate = _subject(active)
    stems = content(active)
    return Prepared(
        words=tuple(words),
        every=frozenset(map(stem, words)),
        stems=tuple(stems),
        content=tuple(dict.fromkeys(stems)),
        surface=MappingProxyType({stem(w): w for w in words}),
        subject=subject,
        predicate=predicate,
        prepositions=frozenset(words) & PREPOSITIONS,
        numbers=tuple(w for w in words if any(c.isdigit() for c in w)),
        capitals=_capitals(text, tokens),
        literals=frozenset(m.group().casefold() for m in _LITERAL.finditer(text)),
        symbols="".join(_SYMBOL.findall(text)),
        possessions=frozenset(
            (stem((m[1] or m[3]).casefold()), stem((m[2] or m[4]).casefold())) for m in _POSSESSIVE.finditer(text)
        ),
        active=tuple(active),
        past=_is_past(words),
        english=_looks_english([t.group() for t in tokens]),
    )


def _pairs(stems: Sequence[str], shared: frozenset[str]) -> frozenset[tuple[str, str]]:
    kept = [s for s in stems if s in shared]
    return frozenset(pairwise(kept))


def _order(first: Prepared, second: Prepared) -> float:
    shared = frozenset(first.content) & frozenset(second.content)
    if not shared:
        return 0.0
    left, right = _pairs(first.stems, shared), _pairs(second.stems, shared)
    if not left and not right:
        return 1.0
    return 2 * len(left & right) / (len(left) + len(right))


def _weakest(side: Sequence[str], words: Prepared, other: Prepared, word_cosine: WordCosine) -> float:
    """The smallest, over the words of `side`, of the best cosine with the other sentence's content words."""
    if not side:
        return 1.0
    if len(side) > _PARTNERS_MAX:
        return 0.0
    grid = word_cosine([words.surface[s] for s in side], [other.surface[s] for s in other.content])
    return min(float(max(grid[row])) for row in range(len(side)))


def align(first: Prepared, second: Prepared, word_cosine: WordCosine) -> Alignment:
    """Align two sentences. The result does not depend on their order if `word_cosine` is symmetric.

    `word_cosine(rows, columns)` returns the cosines of word vectors, one row for each word of `rows`.
    """
    known, others = frozenset(first.content), frozenset(second.content)
    left = [s for s in first.content if s not in others]
    right = [s for s in second.content if s not in known]
    sides = []
    if len(left) <= len(right):
        sides.append(_weakest(left, first, second, word_cosine))
    if len(right) <= len(left):
        sides.append(_weakest(right, second, first, word_cosine))
    return Alignment(
        worst=min(sides),
        order=_order(first, second),
        unmatched=max(len(left), len(right)),
        prepositions=len(first.prepositions ^ second.prepositions),
    )
