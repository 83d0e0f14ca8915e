"""Whether one text denies what another affirms: the sign of each word, told by the negations and negative words before it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

from slowwave.policy.comparison.alignment import expanded, stem
from slowwave.policy.comparison.modality import modality_mismatch
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import FUNCTION_WORDS, NEGATIONS, PAST, table_words
from slowwave.policy.text.names import word_set

YES: Final = 1
NO: Final = -1
OPEN: Final = 0
"""The sign of a word of which the tables cannot tell: asked, meant, or joined on to something that is denied."""
_OPPOSED: Final = frozenset({(frozenset({YES}), frozenset({NO})), (frozenset({NO}), frozenset({YES}))})
REACH: Final = 4
"""Content words that a negation is taken to reach; what stands further behind it is open."""


@cache  # when first asked: stems take a few milliseconds that most commands need not spend
def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, table_words(words)))


# They turn round what follows them, as "not" does: who hates figs does not like figs.
_TURNING: Final = "negative_verbs"
_NOUNS: Final = word_set("allergy allergies intolerance")  # what stands before them is meant too: "a nut allergy"
# They lose, end or miss something: enough for a "no longer" to rest on, too little to turn anything round.
_WANTING: Final = "loss_words"
# Who does it, is for it after all: "and loves hazelnuts" ends the reach of a negation.
_TAKING: Final = "positive_verbs"
# "Not" in other Latin letters: a fact may be written in English from what was said in another language.
_FOREIGN: Final = table_words("foreign_negations")
_LAST_LATIN: Final = "\u024f"
# What is not known, thought or expected may be so all the same.
_MEANING: Final = "opinion_verbs"
# Denied in form only; of what follows, nothing can be told.
_FORM_ONLY: Final = lazy_regex(
    r"\b(?:(?:not|no|never)-+\w+(?:-\w+)*|not (?:only|just|merely|simply|necessarily|to mention|yet)|can not (?:wait|help|get enough|thank|say enough|believe)"
    r"|could not (?:be|have been|agree|ask|help|resist|wait|stop)|no (?:doubt|wonder|problem|worries|matter|pressure|way|idea|more than)"
    r"|(?:why|if|or) not|why (?:do|does|did) not|whether or not|do not (?:worry|forget|hesitate|miss|mind)|never (?:mind|gets old|too late|stops?|"
    r"fails?|forget|give up|gives up|miss(?:es)?|know|imagined|thought|been (?:so|more|happier|better))|nothing (?:but|better|like|beats|more)|not (?:stop|give up|miss|lose))\b",
    re.IGNORECASE,
)
_QUITE: Final = "quite"  # has the stem of "quit"
_SO: Final = "so"  # "not so great" is not the denial of "great", and what follows "so" may be a clause of its own
_OPEN_MARK: Final = "openmark"
# What is failed, forgotten or pretended to be done is not done, nor what is almost done: "not" is read behind them.
_UNDONE: Final = lazy_regex(
    r"\b(?:fail|forget|forgot|neglect|omit|pretend)(?:s|ed|ting|ing|ten|ted)?(?= to\b)"
    rf"|\b(?:almost|nearly)(?= (?:\w{{2,}}ed|{'|'.join(sorted(PAST))})\b)",
    re.IGNORECASE,
)
_SENTENCE: Final = lazy_regex(r"[^.!?;。！？\n]+[.!?;。！？\n]*")
_FRESH: Final = lazy_regex(
    r"\s(?:but|because|although|though|while|whereas|however|since)\s|\s[-–—]+\s|—|:\s", re.IGNORECASE
)
_JOINED: Final = lazy_regex(r",\s*|\s(?:and|or|nor|who|which|where|when|then|than|if|unless|until)\s", re.IGNORECASE)
_LETTERS: Final = lazy_regex(r"[^\W_]+")


def contradicts(claim: str, close: Sequence[str], around: Sequence[str] = (), *, words: int = 1) -> str | None:
    """The word on which a claim says the opposite of what it rests on; None if they agree.

    A word that both have must not be affirmed in one and denied in the other, where the tables can tell; and a
    negation needs some negative word to rest on ("no longer smokes" on "quit smoking"). Nor may what is done in one be only
    meant in the other (`slowwave.policy.mood`).

    Args:
        claim: What is said by a mind.
        close: The words it rests on.
        around: What stands beside them: it may lend a negation, and is held against nothing.
        words: On how many words they must disagree: in long talk two texts do on one by chance.
    """
    held = _united(close)
    ours = polarities(claim.replace("?", "."))
    turned = [word for word, sign in ours.items() if (sign, held.get(word)) in _OPPOSED]
    if len(turned) >= words:
        return next(word for word in _words(claim) if stem(word) == turned[0])
    denial = next((w for w in _words(claim) if w in NEGATIONS), None)
    if denial and not any(map(negates, (*close, *around))):
        return denial
    return modality_mismatch(claim, close) if words == 1 else None


def negates(text: str) -> bool:
    """Whether a text holds a negation, or a word of loss, end or want that one may rest on; other scripts may."""
    return any(c.isalpha() and c > _LAST_LATIN for c in text) or any(
        w in NEGATIONS or w in _FOREIGN or w.startswith("un") or stem(w) in _stems(_TURNING) | _stems(_WANTING)
        for w in _words(text)
    )


@lru_cache(maxsize=4096)
def polarities(text: str) -> Mapping[str, frozenset[int]]:
    """Each content stem of a text -> the signs it stands with: `YES`, `NO`, or `OPEN` where the tables cannot tell.

    >>> sorted((word, *sign) for word, sign in signs("I am allergic to walnuts but I love hazelnuts.").items())
    [('allerg', 1), ('hazelnut', 1), ('love', 1), ('walnut', -1)]
    """
    found: dict[str, set[int]] = {}
    told: dict[str, set[int]]
    for sentence in _SENTENCE.findall(_UNDONE.sub(r"\g<0> not", _FORM_ONLY.sub(f" {_OPEN_MARK} ", expanded(text)))):
        asked = sentence.rstrip("\"'”’) \n").endswith(("?", "？"))
        parts = _FRESH.split(sentence)
        for number, part in enumerate(parts, 1):
            sign, told = YES, {}
            for piece in _JOINED.split(part):
                sign = YES if _signed(piece.casefold(), sign, told) == YES else OPEN
            for word, each in told.items():
                found.setdefault(word, set()).update({OPEN} if asked and number == len(parts) else each)
    return MappingProxyType({word: frozenset(each) for word, each in found.items()})


def _signed(piece: str, sign: int, found: dict[str, set[int]]) -> int:
    """Write down the sign of each content word of a piece; gives the sign at its end."""
    left, last = REACH, ""
    for word in _LETTERS.findall(piece):
        root = stem(word)
        if word == _OPEN_MARK or (word == _SO and sign == NO):
            sign = OPEN
        elif word in NEGATIONS:
            sign, left = _turned(sign), REACH
        elif root in _stems(_TURNING) and word != _QUITE:
            found.setdefault(root, set()).add(sign)
            if word in _NOUNS and last:
                found[last].add(OPEN)
            sign, left = _turned(sign), REACH
        elif word not in FUNCTION_WORDS:
            if sign == OPEN and root in _stems(_TAKING):
                sign = YES
            found.setdefault(root, set()).add(sign)
            left, last = left - 1, root
            if sign == NO and (root in _stems(_MEANING) or left <= 0):
                sign = OPEN
    return sign


def _turned(sign: int) -> int:
    return NO if sign == OPEN else -sign


def _united(texts: Iterable[str]) -> dict[str, frozenset[int]]:
    united: dict[str, frozenset[int]] = {}
    for text in texts:
        for word, each in polarities(text).items():
            united[word] = united.get(word, frozenset()) | each
    return united


def _words(text: str) -> list[str]:
    return _LETTERS.findall(_FORM_ONLY.sub(" ", expanded(text)).casefold())
