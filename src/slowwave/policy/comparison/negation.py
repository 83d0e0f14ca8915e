"""Detects when one text denies what another affirms, by the polarity of each word.

A word is affirmed (`YES`), denied (`NO`), or undecided (`OPEN`). Negations ("not", "never") and negative verbs ("avoid",
"stop") deny the content words after them, up to `REACH` words or the end of the clause.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import zip_longest
from types import MappingProxyType
from typing import Final

from slowwave.policy.comparison.alignment import expanded, stem
from slowwave.policy.comparison.modality import modality_mismatch
from slowwave.policy.text.clauses import is_question, sentence_runs
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.lexicon import AUXILIARIES, FUNCTION_WORDS, NEGATIONS, PAST, table_words

YES: Final = 1
NO: Final = -1
OPEN: Final = 0
"""The polarity of a word that the tables cannot decide: in a question, intended, or joined to a denied word."""
_OPPOSED: Final = frozenset({(frozenset({YES}), frozenset({NO})), (frozenset({NO}), frozenset({YES}))})
REACH: Final = 4
"""Content words that a negation denies. Words further behind it are `OPEN`."""


@cache  # at first use: stemming a table takes a few milliseconds that most commands do not need
def _stems(table: str) -> frozenset[str]:
    return frozenset(map(stem, table_words(table)))


# Names of word tables in english.json.
_NEGATIVE: Final = "negative_verbs"  # they invert the polarity of their object: "hates figs" denies liking figs
_POSITIVE: Final = "positive_verbs"  # they end the reach of a negation: "allergic to nuts and loves hazelnuts"
_LOSS: Final = "loss_words"  # a "no longer" may be based on them ("quit smoking"), but they deny no other word
_OPINION: Final = "opinion_verbs"  # "does not know whether …" leaves open what follows
_POSTPOSED: Final = frozenset(
    {"allergy", "allergies", "intolerance"}
)  # they concern the word before them: "a nut allergy"
_AGAINST: Final = frozenset({"to", "against"})
# Negations of languages in Latin letters: a fact may be written in English from a message in another language.
_FOREIGN_NEGATIONS: Final = table_words("foreign_negations")
_LAST_LATIN: Final = "\u024f"
# Negative in form only ("not only", "no doubt", "why don't you"): the words after them are OPEN.
_FORM_ONLY: Final = lazy_regex(
    r"\b(?:(?:not|no|never)-+\w+(?:-\w+)*|not (?:only|just|merely|simply|necessarily|to mention|yet)|can not (?:wait|help|get enough|thank|say enough|believe)"
    r"|(?:would|might|could) not have (?=[^.,;:!?]{0,100}\b(?:otherwise|without)\b)|could not (?:be|have been|agree|ask|help|resist|wait|stop)|no (?:doubt|wonder|problem|worries|matter|pressure|way|idea|more than)"
    r"|(?:why|if|or) not|why (?:do|does|did) not|whether or not|do not (?:worry|forget|hesitate|miss|mind)|never (?:mind|gets old|too late|stops?|"
    r"fails?|forget|give up|gives up|miss(?:es)?|know|imagined|thought|been (?:so|more|happier|better))|nothing (?:but|better|like|beats|more)|not (?:stop|give up|miss|lose)"
    r"|would not say no(?: to)?|why (?:\w+ ){1,2}(?:do|does|did|have|has|had) not|not like (?:it|that|this|they|we) (?:was|were|used|is|are)|instead of|rather than)\b",
    re.IGNORECASE,
)
# What has not happened for long, or no longer happens: "ages since I played", "the last time I was there", "I used to smoke".
_NO_MORE: Final = lazy_regex(
    r"\b(?:(?:ages|years|months|weeks|decades|forever|a (?:long |good )?(?:time|while)|(?:so|too|very) long) since"
    r"|the last time|used to(?= \w)|formerly)\b",
    re.IGNORECASE,
)
# What somebody still searches for, they have not found. The group is the thing.
_NOT_FOUND: Final = lazy_regex(r"\b(?:has|have|had|did) not (?:found|find)\b([^,.;:!?]*)", re.IGNORECASE)
_SEARCHES: Final = lazy_regex(
    r"\b(?:(?:search|look|hunt)(?:ing)? (?:\w+ ){0,2}?for|on the (?:hunt|lookout) for)\b([^,.;:!?]*)", re.IGNORECASE
)
_FOUND: Final = lazy_regex(r"\bfound\b", re.IGNORECASE)
# "Without" in a subject denies its noun and not the verb: "a girl without family was comforted".
_WITHOUT: Final = lazy_regex(
    rf"(?<=\w )((?:without|with no)(?: \w+){{1,4}}?) (?=(?:{'|'.join(sorted(AUXILIARIES))})\b)", re.IGNORECASE
)
# What somebody once expected and says otherwise of: "I thought I would hate it, but I love it".
_EXPECTED: Final = lazy_regex(
    r"\b(?:thought|expected|feared|assumed|figured|was (?:sure|afraid|worried))\s+(?:that\s+)?(?:i|we|he|she|it|they)\b[^,.;:!?]{0,100}(?=,?\s+but\b)",
    re.IGNORECASE,
)
_QUITE: Final = "quite"  # has the stem of "quit"
_SO: Final = "so"  # "not so great" does not deny "great", and "so" may begin a new clause
_OPEN_MARK: Final = "openmark"
# What somebody failed, forgot or pretended to do is not done, nor is what almost happened: "not" is inserted behind them.
_UNDONE: Final = lazy_regex(
    r"\b(?:fail|forget|forgot|neglect|omit|pretend)(?:s|ed|ting|ing|ten|ted)?(?= to\b)"
    rf"|\b(?:almost|nearly)(?= (?:\w{{2,}}ed|{'|'.join(sorted(PAST))})\b)",
    re.IGNORECASE,
)
# A clause behind one of these begins affirmed ...
_CLAUSE_BREAK: Final = lazy_regex(
    r"\s(?:but|because|although|though|while|whereas|however|since)\s|\s[-–—]+\s|—|:\s", re.IGNORECASE
)
# ... a clause behind one of these is OPEN if the clause before it was denied.
_CLAUSE_LINK: Final = lazy_regex(
    r",\s*|\s(?:and|or|nor|who|which|where|when|whenever|then|than|if|unless|until)\s|\s(?=from (?:now|here) on\b)",
    re.IGNORECASE,
)
_WORD: Final = lazy_regex(r"[^\W_]+")


def contradicts(claim: str, sources: Sequence[str], around: Sequence[str] = (), *, words: int = 1) -> str | None:
    """The word on which a claim says the opposite of its sources; None if they agree.

    Three cases are refused: a word that is affirmed on one side and denied on the other; a negation in the claim where
    neither `sources` nor `around` holds any negative word; and an action that is done on one side and only intended on the
    other (`modality_mismatch`).

    Args:
        claim: The text of a proposed fact or summary.
        sources: The texts it is based on.
        around: Neighbouring texts. They may justify a negation of the claim, but contradict nothing.
        words: The number of words that must disagree. In long talk two texts disagree on one word by chance.

    >>> contradicts("The user likes figs", ["I don't like figs"])
    'likes'
    """
    source_polarities = _merged_polarities(tuple(sources))
    claim = _searching(claim, sources)
    opposed = [
        word
        for word, polarity in polarities(claim.replace("?", ".")).items()
        if (polarity, source_polarities.get(word)) in _OPPOSED
    ]
    if len(opposed) >= words:
        return next(word for word in _words(claim) if stem(word) == opposed[0])
    if "never" in _words(claim) and any(map(_NO_MORE.search, sources)):
        return "never"
    negation = next((word for word in _words(claim) if word in NEGATIONS), None)
    if negation and not any(map(negates, (*sources, *around))):
        return negation
    return modality_mismatch(claim, sources) if words == 1 else None


def _searching(claim: str, sources: Sequence[str]) -> str:
    """The claim with "searches" for "has not found", if the sources search for that thing and say nowhere that it was found."""
    claimed = _NOT_FOUND.search(expanded(claim))
    if not claimed or any(map(_FOUND.search, sources)):
        return claim
    sought = {word for text in sources for match in _SEARCHES.finditer(text) for word in polarities(match[1])}
    return _NOT_FOUND.sub(r"searches\1", expanded(claim)) if sought & polarities(claimed[1]).keys() else claim


@lru_cache(maxsize=1024)
def negates(text: str) -> bool:
    """Whether a text holds a negation or a word of loss or end. True for scripts other than Latin, which have no table."""
    if any(c.isalpha() and c > _LAST_LATIN for c in text) or _NO_MORE.search(text):
        return True
    return any(
        word in NEGATIONS
        or word in _FOREIGN_NEGATIONS
        or word.startswith("un")
        or stem(word) in _stems(_NEGATIVE) | _stems(_LOSS)
        for word in _words(text)
    )


@lru_cache(maxsize=4096)
def polarities(text: str) -> Mapping[str, frozenset[int]]:
    """Each content stem of a text -> the polarities with which it occurs: `YES`, `NO` or `OPEN`.

    >>> sorted((word, *each) for word, each in polarities("I am allergic to walnuts but I love hazelnuts.").items())
    [('allerg', 1), ('hazelnut', 1), ('love', 1), ('walnut', -1)]
    """
    merged: dict[str, set[int]] = {}
    in_clause: dict[str, set[int]]
    negative = False
    marked = _FORM_ONLY.sub(f" {_OPEN_MARK} ", _NO_MORE.sub(f" {_OPEN_MARK} ", expanded(text)))
    marked = _EXPECTED.sub(f" {_OPEN_MARK} ", marked)
    marked = _WITHOUT.sub(r"\1 — ", _UNDONE.sub(r"\g<0> not", marked))
    for match in sentence_runs(marked, semicolons=True):
        sentence = match.group()
        clauses = _CLAUSE_BREAK.split(sentence)
        for number, clause in enumerate(clauses, 1):
            polarity, in_clause = YES, {}
            for piece in _CLAUSE_LINK.split(clause.casefold()):
                begins = NO if polarity == OPEN and negative and piece.startswith("not ") else polarity
                polarity = YES if _read_piece(piece, begins, in_clause) == YES else OPEN
                negative = NEGATIONS.isdisjoint(_WORD.findall(piece))  # "allergic to pollen, not to the cat"
            is_asked = number == len(clauses) and is_question(sentence)
            for word, each in in_clause.items():
                merged.setdefault(word, set()).update({OPEN} if is_asked else each)
    return MappingProxyType({word: frozenset(each) for word, each in merged.items()})


def _read_piece(piece: str, polarity: int, stems: dict[str, set[int]]) -> int:
    """Add the polarity of each content word of a piece to `stems`; return the polarity at its end."""
    reach, last = REACH, ""
    found = _WORD.findall(piece)
    for word, following in zip_longest(found, found[1:], fillvalue=""):
        root = stem(word)
        if word == _OPEN_MARK or (word == _SO and polarity == NO):
            polarity = OPEN
        elif word in NEGATIONS:
            polarity, reach = _inverted(polarity), REACH
        elif root in _stems(_NEGATIVE) and word != _QUITE:
            stems.setdefault(root, set()).add(polarity)
            if word in _POSTPOSED and last:
                stems[last].add(OPEN)
            if word not in _POSTPOSED or following in _AGAINST:
                polarity, reach = _inverted(polarity), REACH
        elif word not in FUNCTION_WORDS:
            if polarity == OPEN and root in _stems(_POSITIVE):
                polarity = YES
            stems.setdefault(root, set()).add(polarity)
            reach, last = reach - 1, root
            if polarity == NO and (root in _stems(_OPINION) or reach <= 0):
                polarity = OPEN
    return polarity


def _inverted(polarity: int) -> int:
    return NO if polarity == OPEN else -polarity


@lru_cache(maxsize=8)  # the sentences of one summary are based on the same texts
def _merged_polarities(texts: tuple[str, ...]) -> Mapping[str, frozenset[int]]:
    merged: dict[str, frozenset[int]] = {}
    for text in texts:
        for word, each in polarities(text).items():
            merged[word] = merged.get(word, frozenset()) | each
    return MappingProxyType(merged)


def _words(text: str) -> list[str]:
    return _WORD.findall(_FORM_ONLY.sub(" ", expanded(text)).casefold())
