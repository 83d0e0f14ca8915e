"""Whether what one text only means to do is done in another: who wants to paint has not painted."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from slowwave.policy.comparison.alignment import expanded, stem
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import FUNCTION_WORDS, PAST

_VERBS: Final = "plan|want|hope|wish|intend|aim|aspire|attempt|tr|expect|propose|promise|offer|threaten"
_STILL: Final = (
    rf"\b(?:{_VERBS})(?:s|y|ies|ing|ning|ying)? to (\w+)|\b(?:would|[’']d) (?:like|love) to (\w+)|\blook(?:s|ing)? forward to (\w+)"
    r"|\b(?:plan|consider|think)(?:s|ing|ning)? (?:of |on |about )?(\w+ing)\b|\bdreams? (?:of|about) (\w+ing)\b"
)
_ONCE: Final = (
    rf"\b(?:{_VERBS})(?:d|ed|ned|ied) to (\w+)|\blooked forward to (\w+)|\b(?:planned|considered) (?:on )?(\w+ing)\b"
)
_MEANT: Final = lazy_regex(rf"{_STILL}|{_ONCE}", re.IGNORECASE)
_AHEAD: Final = lazy_regex(  # what was wanted once may have been done since
    rf"{_STILL}|\b(?:will|going to|gonna|wanna|should|might|may|must|shall|need to|needs to|have to|has to)\s+"
    r"(?:\w+ly |also |just |not |really )?(\w+)",
    re.IGNORECASE,
)
_WORD: Final = lazy_regex(r"[^\W\d_]+")
_SHORTEST_PAST: Final = 4


def modality_mismatch(claim: str, close: Sequence[str]) -> str | None:
    """The words on which a claim differs from what it rests on in whether a thing is done or only meant; None if they agree.

    What a claim says is wanted, planned, hoped, intended or tried may not be told as done, and what it tells as done may
    not be only meant. Plain English is understood; a deed in other words is not compared.

    Args:
        claim: What is said by a mind.
        close: The words it rests on.
    """
    said = expanded(claim)
    told = [expanded(text) for text in close]
    for found in _MEANT.finditer(said):
        verb = next(filter(None, found.groups()))
        forms = [word for text in told for word in _forms(text, verb)]
        if forms and all(map(_past, forms)) and not _past(verb):
            return found.group()
    return next((word for word in _done(said) if _only_meant(word, told)), None)


def _done(text: str) -> Iterator[str]:
    return (word for word in _WORD.findall(text) if _past(word) and word.casefold() not in FUNCTION_WORDS)


def _only_meant(word: str, texts: Sequence[str]) -> bool:
    """Whether the texts have a verb only behind a word that says it is still to be done."""
    root = stem(word.casefold())
    ahead = [form for text in texts for found in _AHEAD.finditer(text) for form in found.groups() if form]
    meant = sum(stem(form.casefold()) == root and not _past(form) for form in ahead)
    return 0 < meant == sum(1 for text in texts for _ in _forms(text, word))


def _forms(text: str, verb: str) -> Iterator[str]:
    root = stem(verb.casefold())
    return (word for word in _WORD.findall(text) if stem(word.casefold()) == root)


def _past(word: str) -> bool:
    folded = word.casefold()
    return folded in PAST or (len(folded) > _SHORTEST_PAST and folded.endswith("ed") and not folded.endswith("eed"))
