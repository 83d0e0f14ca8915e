"""Reads standing orders: what the user wants of every answer, whole, with its exceptions, in the user's own words."""

import re
from collections.abc import Sequence
from typing import Final

from slowwave.minds.offline.own_text import Sentence
from slowwave.minds.offline.words import anywhere, at_start

_LONGEST: Final = 700
"""Characters of an order with its exceptions."""
_REPORTS: Final = re.compile(
    r"\b(?:she|he|they|it|who|we)\b['’]?\w* (?:\w+ ){0,2}(?:always|never)\b|\byou['’]?(?:re|ve)? (?:always|never|have|are)\b|\b(?:if|as) (?:always|ever|never)\b",
    re.IGNORECASE,
)
"""A habit of somebody, not an order: "he never answers", "you always help"."""
_OWN_HABIT: Final = re.compile(
    r"^\W*(?:\w+,? ){0,2}(?:i|we|my|our|je|j['’]|ich|wir|mein\w*|yo|eu|mi|meu|minha|nous|mon|ma)(?![\w])(?!['’]?d? (?:(?:would|really|also) )*(?:want|like|need|prefer|expect|ask|wish)\b.{0,40}\b(?:you|your|u|answers|replies|responses)\b)",
    re.IGNORECASE,
)
_ASKED_TO: Final = re.compile(
    r"^(?:\w+[,:]? ){0,2}?(?:can|could|would|will) (?:you|u) (?:please |just )?(?:always|never|from now on|stop|only)\b",
    re.IGNORECASE,
)
_EXAMPLE: Final = re.compile(
    r"\b(?:for example|e\.g|for instance|such as|zum beispiel|par exemple|por ejemplo|por exemplo)\b", re.IGNORECASE
)
_LASTING_END: Final = re.compile(
    r"^(?!.*\b(?:i|we|he|she|they|it|my|our|his|her)\b).*,? (?:always|every time|each time)\W*$", re.IGNORECASE
)
_NONE_OF: Final = re.compile(
    r"^\W*(?:\w+\W+){0,2}no (?:more )?\w+(?: \w+){0,4}\W+(?:please|pls|plz|thanks)\b|^(?:please|pls) no \w+",
    re.IGNORECASE,
)
"""No essays, please."""


def orders(said: Sequence[Sentence]) -> list[tuple[str, tuple[int, ...]]]:
    """The standing orders among the sentences of a message: each whole, and the numbers of its sentences.

    Sentences that follow one another belong together if each orders something, or limits what the one before orders.
    """
    found: list[list[int]] = []
    for number, sentence in enumerate(said):
        limits = bool(found) and found[-1][-1] == number - 1 and _goes_on(sentence)
        if limits or _is_order(sentence):
            if found and found[-1][-1] == number - 1 and not (sentence.opens and not limits):
                found[-1].append(number)
            else:
                found.append([number])
    texts = [(" ".join(said[number].text for number in group), tuple(group)) for group in found]
    return [(text, group) for text, group in texts if len(text) <= _LONGEST and _holds(said, group)]


def _holds(said: Sequence[Sentence], group: Sequence[int]) -> bool:
    """Whether one of the sentences says that it holds for always; "no essays, please" alone is for this answer."""
    return any(_lasts(said[number].text) for number in group)


def _lasts(text: str) -> bool:
    return bool(anywhere("rules").search(text) or anywhere("lasting").search(text) or _of_all_answers(text))


def _of_all_answers(text: str) -> bool:
    return bool(at_start("commands").match(text) and anywhere("answers").search(text))


def _is_order(sentence: Sentence) -> bool:
    text = sentence.text
    if (sentence.asks and not _ASKED_TO.match(text)) or _OWN_HABIT.match(text) or _REPORTS.search(text):
        return False
    if _EXAMPLE.search(text):
        return False
    if _NONE_OF.match(text) or _of_all_answers(text) or anywhere("rules").search(text):
        return True
    if not anywhere("lasting").search(text):
        return False
    return bool(anywhere("addressed").search(text) or at_start("commands").match(text) or _LASTING_END.search(text))


def _goes_on(sentence: Sentence) -> bool:
    """Whether a sentence limits or completes the order before it: "Except recipes", "bash is exempt", "Line by line there"."""
    if sentence.asks:
        return False
    if anywhere("exceptions").search(sentence.text):
        return True
    return not (
        sentence.opens
        or _OWN_HABIT.match(sentence.text)
        or at_start("accepted").match(sentence.text)
        or anywhere("named").search(sentence.text)
    )
