"""Finds the sentences of a message that the page of a life lists, and short answers to questions about a life."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from slowwave.policy.guard.fence import remove_fenced_blocks
from slowwave.policy.guard.redaction import redact
from slowwave.policy.retention.life import tells_of_life
from slowwave.policy.summaries.own_statements import of_the_own_life, says_little, speaks_to_the_other
from slowwave.policy.text.clauses import Clause, clauses, is_question, sentences
from slowwave.policy.text.lazy_regex import lazy_regex

SENTENCE_MAX: Final = 24
"""Words of a sentence that is listed whole; of a longer one the clauses that tell something are."""
CLAUSE_MAX: Final = 40
"""A longer clause is not listed."""
ANSWER_MAX: Final = 8
"""Words of an answer that needs its question."""

_POINTS_BACK: Final = lazy_regex(
    r"(?:(?:it )?turns out (?:that )?)?(?:it|they|he|she|which|who|whom|because)\b|(?:this|that|these|those)(?:['’]s\b| (?:is|was|are|were|has|have|had|really|just|made|makes?|gave|gives?|helped|helps?|means?|reminds?)\b)",
    re.IGNORECASE,
)
_HOW_OFTEN: Final = lazy_regex(
    r"\b(?:at least )?(?:(?:once|twice|once or twice|(?:a few|several|many|two|three|four|five|six|\d+) times) (?:an?|each|every|per)|every|each) "
    r"(?:day|week|month|year)\b",
    re.IGNORECASE,
)
_ACTS: Final = lazy_regex(r"\b(?:I|we|We)\b")
_THANKS: Final = lazy_regex(r"(?:thanks?|thank you|aww?|wow|haha|yes|yeah|yep|yup|sure|of course)\b", re.IGNORECASE)
_NUMBER: Final = lazy_regex(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|twenty|thirty|forty|fifty|sixty)\b",
    re.IGNORECASE,
)
_PLACE: Final = lazy_regex(r"(?<!^)\b[A-Z][a-z]|^[A-Z]\w+[,.!]*(?: [A-Z]\w+[.!]*)?$")
_NAMES: Final = lazy_regex(r"^[A-Z][\w'’-]+(?:,? (?:and|&) [A-Z][\w'’-]+|, [A-Z][\w'’-]+)*[.!]*$")
_ASKED: Final = (
    (
        lazy_regex(
            r"\bhow (?:long|many years) have (?:you|you (?:two|both|guys)) been (?:married|together)\b|\bwhen did you (?:marry|get married)\b",
            re.IGNORECASE,
        ),
        _NUMBER,
        "married",
    ),
    (
        lazy_regex(
            r"\bwhat(?:['’]s| is| are) (?:his|her|its|their|your \w+['’]s?) names?\b|\bwhat did you (?:name|call) (?:him|her|it|them)\b"
            r"|\bwhat(?:['’]s| is| are) (?:he|she|it|they) (?:called|named)\b",
            re.IGNORECASE,
        ),
        _NAMES,
        "names",
    ),
    (
        lazy_regex(
            r"\bwhere (?:do you live|are you from|did you grow up)\b|\bwhat (?:city|town|country) (?:do you live in|are you from)\b",
            re.IGNORECASE,
        ),
        _PLACE,
        "home",
    ),
)
"""Questions about a life, what an answer contains, and the label under which the page lists the answer."""
_IS_NAMED: Final = lazy_regex(r"^(?:his|her|its|their) names?(?:['’]s| is| are) ", re.IGNORECASE)
_OF_PETS: Final = lazy_regex(r"\b(?:pets?|dogs?|cats?|puppy|pup|kitten|kitty)\b", re.IGNORECASE)


@lru_cache(maxsize=2048)
def life_sentences(text: str) -> tuple[Clause, ...]:
    """The sentences of a message that tell of the speaker's life as it lasts; of a long one the clauses that do.

    A sentence that points back ("It is a part of my life") comes with the one before it, or not at all.
    """
    found: list[Clause] = []
    before: Clause | None = None
    for sentence in _by_sentence(text):
        whole = replace(sentence[0], text=" ".join(clause.text for clause in sentence))
        short = len(whole.text.split()) <= SENTENCE_MAX
        own = of_the_own_life(whole)
        telling = [
            clause
            for clause in sentence
            if (own or of_the_own_life(clause)) and tells_of_life(clause.text) and not _says_how_often(clause.text)
        ]
        if telling and short and not speaks_to_the_other(whole.text):
            points_back = _POINTS_BACK.match(whole.text)
            if points_back and before is not None and not (found and found[-1] is before):
                found.append(before)
            if not points_back or before is not None or any(_ACTS.search(clause.text) for clause in telling):
                found.append(whole)
        else:
            brief = (clause for clause in telling if len(clause.text.split()) <= CLAUSE_MAX)
            found += [clause for clause in brief if not _POINTS_BACK.match(clause.text) or _ACTS.search(clause.text)]
        before = whole if short and of_the_own_life(whole) else None
    return tuple(found)


def labelled_answer(text: str, asked: str) -> str | None:
    """The first words of a message with a label for the question about a life that they answer; None if they answer none.

    The words of the question are not repeated: they are another person's.

    >>> labelled_answer("Biscuit and Toffee! They sleep all day.", "So sweet, your dogs! What are their names?")
    'names of pets: Biscuit and Toffee'
    """
    questions = [sentence for sentence in sentences(asked) if is_question(sentence)]
    kinds = [
        (answer, label)
        for sentence in reversed(questions)
        for question, answer, label in _ASKED
        if question.search(sentence)
    ]
    said = [sentence for sentence in sentences(redact(remove_fenced_blocks(text)).text) if not _THANKS.match(sentence)]
    if not kinds or not said or is_question(said[0]) or len(said[0].split()) > ANSWER_MAX:
        return None
    answer, label = kinds[0]
    of_pets = label == "names" and _OF_PETS.search(asked)
    given = _IS_NAMED.sub("", said[0]) if of_pets else said[0]
    if not answer.search(given):
        return None
    return f"{label}{' of pets' if of_pets else ''}: {given.rstrip('.!')}"


def _says_how_often(text: str) -> bool:
    """Whether a clause says how often something happens, and not what: "We go a few times a week"."""
    return _HOW_OFTEN.search(text) is not None and says_little(_THANKS.sub(" ", _HOW_OFTEN.sub(" ", text)))


def _by_sentence(text: str) -> list[list[Clause]]:
    """The clauses of each sentence; captions are left out."""
    found: list[list[Clause]] = []
    for clause in clauses(redact(remove_fenced_blocks(text)).text):
        if clause.caption:
            continue
        if clause.opens or not found:
            found.append([])
        found[-1].append(clause)
    return found
