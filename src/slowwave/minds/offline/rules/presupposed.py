"""Finds the statement that a sentence takes for granted before its main clause: "since I moved to Porto I hardly cook"."""

import re
from typing import Final

from slowwave.policy.text.names import word_set

_TAKEN_FOR_GRANTED: Final = re.compile(
    r"^[\s,;:.!?…–—*•#-]*(?:(?:and|but|so|well|hey|hi|hello|ok|okay|btw|also|actually)\b[\s,]*)*(?:now that|ever since|since|because|even though|although|given that|seeing as|seeing that)\s+"
    r"(?=(?:I|I['’]?(?:m|ve|d)|im|ive|my|our|we|we['’](?:re|ve))\b)",
    re.IGNORECASE,
)
"""Words after which a clause says what is so already."""
_ROLE: Final = re.compile(
    r"^[\s,;:.!?…–—*•#-]*(?=as an? (?!(?:(?:little|young|small) )?(?:kid|child|teen(?:ager)?|boy|girl|student|baby|toddler|rule|result|matter|joke|treat|snack|side|bonus|last|first|gift|present|reward|surprise|way|backup|hobby|user|test)\b))",
    re.IGNORECASE,
)
"""Words that say what somebody is: "as a mum of four I hardly sleep"."""
_SUBJECT: Final = re.compile(
    r"(?<=[\w'’)\"])\s+(?=(?:I|I['’](?:m|ve|d|ll)|im|ive|we|we['’](?:re|ve|ll|d))\s)", re.IGNORECASE
)
_NO_END: Final = word_set(
    "and but or so that than then because since when while where which who whom whose what how why if unless until till before after as like the a an my our your his her their to of in on at "
    "for with from by about said say says think thought know knew hope guess believe feel felt told tell mean sure glad wish once whenever every all everything something anything nothing "
    "time way day year month week moment thing reason place one"
)
"""Words before "I" after which it begins no main clause: "the city that I love", "the day I left"."""
_SHORTEST: Final = 2  # words of the statement, its subject included
_BEFORE: Final = 100  # characters before a main clause in which its first clause is read
_OTHER: Final = re.compile(
    r"\s+(?=(?:the|it|it['’]s|my|our|everything|life|things|nothing|nobody|everyone)\s)", re.IGNORECASE
)
_DATED: Final = re.compile(
    r"(?:^|\W)(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day|ago|yesterday|(?:19|20)\d\d|(?:last|this) (?:week|month|year|spring|summer|autumn|winter))$",
    re.IGNORECASE,
)
"""A time, after which a main clause may begin with any subject."""


def main_clause(sentence: str) -> int:
    """Where the main clause of a sentence begins whose first clause takes something for granted; 0 if there is none.

    >>> sentence = "since I moved to Porto I hardly cook"
    >>> sentence[main_clause(sentence) :].strip()
    'I hardly cook'
    >>> main_clause("since I met the woman that I love")
    0
    """
    opening = _TAKEN_FOR_GRANTED.match(sentence) or _ROLE.match(sentence)
    if opening is None:
        return 0
    for found in _SUBJECT.finditer(sentence, opening.end()):
        words = sentence[max(opening.end(), found.start() - _BEFORE) : found.start()].split()
        if len(words) >= _SHORTEST and words[-1].lower().strip("'’\"") not in _NO_END:
            return found.start()
    for found in _OTHER.finditer(sentence, opening.end()):
        if _DATED.search(sentence[max(opening.end(), found.start() - _BEFORE) : found.start()]):
            return found.start()
    return 0
