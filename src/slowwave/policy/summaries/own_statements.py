"""Decides which clauses of a message a topic page lists: what the speaker says of the own life, not what is said to the other."""

import re
from collections.abc import Iterable
from typing import Final

from slowwave.policy.text.clauses import Clause
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.names import word_set
from slowwave.policy.text.tokens import content_terms, stem, words

_OWN: Final = lazy_regex(r"\b(?:I|we|We|my|My|our|Our)\b(?!\.)|\bI['’]")
_OF_ME: Final = lazy_regex(r"\b(?:me|mine|us|ours)\b|\bit['’]s been a dream\b", re.IGNORECASE)
_SUBJECTLESS: Final = lazy_regex(
    r"(?:Been|Got|Went|Started|Finished|Met|Bought|Made|Took|Had|Joined|Moved|Adopted|Saw|Won|Lost)\b"
)
_NAMES: Final = lazy_regex(
    r"(?:(?:his|her|its|their|the \w+['’]s) names?(?:['’]s| is| are| was)|(?:he|she|it|they)(?:['’](?:s|re)| is| was| are) (?:called|named)|"
    r"(?:I|we) (?:named|called|call) (?:him|her|it|them))\b",
    re.IGNORECASE,
)
_YOU: Final = lazy_regex(
    r"(?<!let )(?<!tell )(?<!told )(?<!show )\b(?:you|your|yours|yourself)\b(?! know\b)", re.IGNORECASE
)
_TO_THE_OTHER: Final = lazy_regex(
    r"^\W*(?:(?:but|and|so|yes|yup|yeah|maybe|besides that),? )*(?:let['’]s|check out|we (?:should|need|must|can|all|have to)\b|(?:I['’]m|I am|we['’]re|I) (?:\w+ )?(?:glad|happy|sorry|proud|sure|bet|guess|agree|understand|know|get it|wish|"
    r"imagine|wonder|believe|think (?!of|about)|feel like|appreciate|admire|grateful|thankful|lucky|here for|can (?:see|imagine|relate)|hear)\b|"
    r"(?:which|who|whom|that|because|since|for|if|or|physically)\b|(?:keep|take care|thanks?|congrat\w*|good luck|glad|happy|sounds?|looks?)\b|"
    r"(?:it|this|that|these|those|they|there|here|seeing|it['’]s|that['’]s|here['’]s|they['’]ve|there['’]s)\b(?!.*\b(?:I|we)\b)|"
    r"(?:it|this|that|it['’]s|that['’]s) (?:\w+ )?(?:reminds?|reminded|helps?|helped|makes?|made|gives?|gave|means|feels?|felt|inspires?|inspired)\b)",
    re.IGNORECASE,
)
_GENERAL: Final = lazy_regex(
    r"\b(?:keeps? (?:me|us|it) (?:going|up|motivated)|means? (?:a lot|the world|so much)|each other|makes? (?:a|the) difference|"
    r"positive change|(?:is|are|was|were) (?:so |really |very |truly |just )?(?:important|key|great|awesome|amazing|tough|priceless|worth it|essential)|"
    r"all of us|reminds? (?:me|us)|we all|in life|together (?:we|to make))\b",
    re.IGNORECASE,
)
_OF_THE_TALK: Final = lazy_regex(
    r"\bsince (?:we|our|the) (?:last )?(?:talk|spoke|chat|met|call|conversation)\w*|\bsomething (?:\w+ )?(?:I|we) (?:want|have|need|['’]ve got) to (?:tell|ask|show|share)\b",
    re.IGNORECASE,
)
_POINTING: Final = lazy_regex(r"\b(?:it|that|this|them|those|these|so)\b", re.IGNORECASE)
_LIGHT: Final = frozenset(
    stem(word)
    for word in word_set(
        "want hope try help make happen pass keep go get give take do let see use find start work others people thing things way ways lot "
        "time good great better best able sure really ready gonna gotta wanna know learn understand love"
    )
)
"""Words that say nothing beside a pronoun: "I want to help make that happen"."""


def own_statements(found: Iterable[Clause]) -> list[Clause]:
    """The clauses in which the speaker tells something of the own life, and those that name the person of the clause before.

    Left out are questions, captions, clauses about "you", encouragement, opinions in general, and clauses that begin with a
    word that needs the one before ("which helped me").
    """
    statements: list[Clause] = []
    named = False
    for clause in found:
        named = _tells(clause) or bool(_NAMES.match(clause.text) and not clause.question)
        if named:
            statements.append(clause)
    return statements


def of_the_own_life(clause: Clause) -> bool:
    """Whether a clause is about the speaker or the speaker's people, whatever it says of them."""
    text = clause.text
    if clause.question or clause.caption or speaks_to_the_other(text) or _OF_THE_TALK.search(text):
        return False
    own = (_OWN, _OF_ME)
    return any(pattern.search(text) for pattern in own) or bool(_SUBJECTLESS.match(text) or _NAMES.search(text))


def speaks_to_the_other(text: str) -> bool:
    """Whether a text contains "you"."""
    return _YOU.search(text) is not None


def names_the_last(clause: Clause) -> bool:
    """Whether a clause gives the name of the person of the clause before: "Her name is Biscuit"."""
    return _NAMES.match(clause.text) is not None


def says_little(text: str) -> bool:
    """Whether all words of a text are stop words and words that say nothing beside a pronoun: "I want to help"."""
    return not content_terms(text) - _LIGHT


def shows(caption: Clause, statements: Iterable[Clause]) -> bool:
    """Whether a caption shows what the speaker's own words are about: they share a content word."""
    said = {stem(word) for clause in statements for word in words(clause.text)}
    return len(content_terms(caption.text) & said) >= SHARED


SHARED: Final = 1
"""Content words that a caption and the words beside it share if they are about the same."""


def _tells(clause: Clause) -> bool:
    text = clause.text
    if clause.question or clause.caption or _YOU.search(text) or _TO_THE_OTHER.match(text) or _GENERAL.search(text):
        return False
    if _OF_THE_TALK.search(text) or (_POINTING.search(text) and says_little(text)):
        return False
    return _OWN.search(text) is not None or _SUBJECTLESS.match(text) is not None
