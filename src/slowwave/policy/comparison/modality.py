"""Detects when one text says that an action was done and the other only that it is intended ("wants to paint", "painted")."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from slowwave.policy.comparison.alignment import expanded, is_past_form, stem
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import FUNCTION_WORDS

_INTENTION_VERBS: Final = "plan|want|hope|wish|intend|aim|aspire|attempt|tr|expect|propose|promise|offer|threaten"
# "wants to paint", "would like to paint", "looks forward to painting", "plans on painting": the group is the action.
_INTENDS: Final = (
    rf"\b(?:{_INTENTION_VERBS})(?:s|y|ies|ing|ning|ying)? to (\w+)|\b(?:would|[’']d) (?:like|love) to (\w+)"
    r"|\blook(?:s|ing)? forward to (\w+)"
    r"|\b(?:plan|consider|think)(?:s|ing|ning)? (?:of |on |about )?(\w+ing)\b|\bdreams? (?:of|about) (\w+ing)\b"
)
# "wanted to paint", "planned on painting".
_INTENDED: Final = rf"\b(?:{_INTENTION_VERBS})(?:d|ed|ned|ied) to (\w+)|\blooked forward to (\w+)|\b(?:planned|considered) (?:on )?(\w+ing)\b"
_INTENTION: Final = lazy_regex(rf"{_INTENDS}|{_INTENDED}", re.IGNORECASE)
# Intentions of the past are excluded: the action may have happened since then.
_STILL_AHEAD: Final = lazy_regex(
    rf"{_INTENDS}|\b(?:will|going to|gonna|wanna|should|might|may|must|shall|need to|needs to|have to|has to)\s+"
    r"(?:\w+ly |also |just |not |really )?(\w+)",
    re.IGNORECASE,
)
# "It took me two attempts to pass": it was done in the end.
_MANAGED: Final = lazy_regex(r"\b(took (?:\w+ ){0,4}?)(?:attempts?|tries) to\b", re.IGNORECASE)
_OF_MANY_MEANINGS: Final = frozenset(
    map(stem, ("take", "make", "get", "go", "have", "do", "give", "keep", "put", "bring"))
)
_WORD: Final = lazy_regex(r"[^\W\d_]+")
_TO_BE: Final = lazy_regex(r"\bbe (?:\w+ly )?\w+", re.IGNORECASE)  # "will not be extended" reports nothing as done


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What is compared of a text.

    Attributes:
        forms: stem -> the words with this stem, and how often each occurs.
        followed: each stem with the stem of the content word behind it.
        ahead: the stems of actions that lie ahead, and how often each occurs.
    """

    forms: Mapping[str, Counter[str]]
    followed: frozenset[tuple[str, str]]
    ahead: Counter[str]


def modality_mismatch(claim: str, sources: Sequence[str]) -> str | None:
    """The words of a claim that disagree with its sources on whether an action is done or only intended; None if none do.

    Two cases are detected. The claim intends what the sources report as done ("wants to paint" from "I painted it"), or the
    claim reports as done what the sources only intend ("painted" from "I want to paint it"). Only forms of the same verb are
    compared: another verb for the same action is not recognised.

    Args:
        claim: The text of a proposed fact or summary.
        sources: The texts it is based on.

    >>> modality_mismatch("The user painted the fence", ["I want to paint the fence"])
    'painted'
    """
    written = expanded(claim)
    for match in _INTENTION.finditer(written):
        verb = next(filter(None, match.groups()))
        forms = {form for text in sources for form in _forms(text, verb)}
        if forms and all(map(is_past_form, forms)) and not is_past_form(verb):
            return match.group()
    return next((verb for verb, thing in _past_verbs(written) if _is_only_intended(verb, thing, sources)), None)


def _past_verbs(text: str) -> Iterator[tuple[str, str]]:
    """The verbs in the past, each with the stem of the content word behind it."""
    found = [word for word in _with_next(_TO_BE.sub(" ", text)) if is_past_form(word[0])]
    return ((word, thing) for word, thing in found if word.casefold() not in FUNCTION_WORDS)


def _with_next(text: str) -> Iterator[tuple[str, str]]:
    """Each word of a text, and the stem of the next one that is no function word; empty at the end."""
    pairs: list[tuple[str, str]] = []
    behind = ""
    for word in reversed(_WORD.findall(text)):
        pairs.append((word, behind))
        if (folded := word.casefold()) not in FUNCTION_WORDS:
            behind = stem(folded)
    return reversed(pairs)


def _is_only_intended(verb: str, thing: str, texts: Sequence[str]) -> bool:
    """Whether the texts contain the verb, and each time after a word that says that the action lies ahead.

    A verb of many meanings counts only with the thing behind it: "thinks about taking care" does not deny "took part".
    """
    root = stem(verb.casefold())
    if root in _OF_MANY_MEANINGS and not any((root, thing) in _read(text).followed for text in texts):
        return False
    intended = sum(_read(text).ahead[root] for text in texts)
    return 0 < intended == sum(_forms(text, verb).total() for text in texts)


def _forms(text: str, verb: str) -> Counter[str]:
    """The words of a text with the stem of a verb, and how often each occurs."""
    return _read(text).forms.get(stem(verb.casefold()), Counter())


@lru_cache(maxsize=64)  # each verb of a claim is looked for in the same few texts
def _read(source: str) -> _Read:
    text = _MANAGED.sub(r"\1 ", expanded(source))
    forms: dict[str, Counter[str]] = {}
    followed = set()
    for word, following in _with_next(text):
        root = stem(word.casefold())
        forms.setdefault(root, Counter())[word] += 1
        followed.add((root, following))
    ahead = (form for match in _STILL_AHEAD.finditer(text) for form in match.groups() if form)
    return _Read(
        forms=MappingProxyType(forms),
        followed=frozenset(followed),
        ahead=Counter(stem(form.casefold()) for form in ahead if not is_past_form(form)),
    )
