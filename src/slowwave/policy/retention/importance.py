"""Scores the importance of a text: the information of its words, and cues of content that later questions need.

Age is not part of the score: measured, a decay by time keeps no more messages that are needed later than chance does. The parts of
a score are natural logarithms and are added, so that every score can be explained part by part.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from slowwave.policy.text import word_frequency
from slowwave.policy.text.calendar import LOWER_MONTHS, LOWER_WEEKDAYS
from slowwave.policy.text.clauses import Clause, captions, is_question, prose, sentences
from slowwave.policy.text.lazy_regex import lazy_regex
from slowwave.policy.text.tokens import STOP_WORDS, stem, words

PRIOR_DOCUMENTS: Final = (
    300  # the word frequencies of English count as this many documents, in addition to those of the scope
)
PRIOR_WORDS: Final = 20  # of this many words each
COUNTED: Final = 6  # the most informative words of a text that count; with more, long texts would score higher
COMMON: Final = 2.0  # a word of a text that is not rarer than this has no information; the second is for clauses
COMMON_IN_CLAUSE: Final = 1.0
QUESTION: Final = 0.6  # weight of a word that occurs only in a question: of the text, or of the message that it answers
CAPTION: Final = 0.5  # weight of a word that occurs only in the caption of a picture
OF_OTHERS: Final = (
    0.6  # weight of a word that occurs only in sentences about "you": praise and advice are rarely asked for later
)
ASSISTANT: Final = -2.3  # added to messages of an assistant, so that those of the person rank higher
CUES: Final[Mapping[str, float]] = MappingProxyType(
    {
        "time": 0.4,
        "figure": 0.8,
        "names": 0.3,
        "event": 0.2,
        "preference": 0.2,
        "first person": 0.15,
        "instruction": 1.0,
    }
)
"""The weight of each cue. Three names give the full weight of "names"."""
MIDDLE: Final = 2.3  # the score of a plain fact ("Alice owns the deploy pipeline"), which has importance 0.5
SPREAD: Final = 0.8  # the difference in score from importance 0.5 to 0.73

_MONTHS: Final = "|".join(month for month in LOWER_MONTHS if month not in {"march", "may"})
_DAYS: Final = "|".join(LOWER_WEEKDAYS)
_TIME: Final = lazy_regex(
    rf"\b(?:(?i:{_MONTHS}|{_DAYS}|weekends?|yesterday|today|tonight|tomorrow|last|ago|weeks?|months?|years?|mornings?|evenings?|"
    r"spring|summer|autumn|winter|seasons?|recently)|March|May(?! (?:I|we|you|he|she|it|they|the|be)\b))\b"
)
_SHORT_MONTHS: Final = "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
_A_MONTH: Final = rf"(?:{_SHORT_MONTHS}|may|{_MONTHS}|march)\b\.?"
_FIGURE: Final = lazy_regex(
    r"[$€£¥]\s?\d|\d\s?(?:[%€£¥°]|percent\b|dollars?\b|euros?\b|pounds?\b|bucks\b)"
    r"|\b\d{1,2}(?::\d\d|\s?[ap]\.?m\b)|\b\d+(?:st|nd|rd|th)\b|\b(?:19|20)\d\d\b|\b\d{1,3}(?:,\d{3})+\b|\b\d{4,}\b"
    rf"|\b{_A_MONTH} \d{{1,2}}\b|\b\d{{1,2}} {_A_MONTH}"
    r"|\b\d+(?:\.\d+)?[\s-]?(?:years?|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|ms|km|kilometers?|miles?|"
    r"meters?|metres?|feet|foot|ft|inch(?:es)?|cm|mm|kg|kilos?|grams?|lbs?|oz|liters?|litres?|ml|gb|mb|kb|tb|people|users?|"
    r"times|pages?|items?|points?|steps?|rows?|requests?|calories|degrees?)\b",
    re.IGNORECASE,
)
_EVENT: Final = lazy_regex(
    r"\b(?:I|we)(?:['’]ve|['’]d)?\s+(?:(?:just|recently|also|finally|have|had)\s+)*"
    r"(?:went|got|had|made|took|started|began|joined|bought|met|won|moved|saw|found|came|left|lost|gave|ran|did|built|wrote|read|"
    r"sold|taught|chose|felt|told|became|been|gone|\w{2,}ed)\b",
    re.IGNORECASE,
)
_FIRST_PERSON: Final = lazy_regex(r"\b(?:I|my|we|our|me)\b", re.IGNORECASE)
_SECOND_PERSON: Final = lazy_regex(r"\b(?:you|your|yours|yourself|let['’]s)\b", re.IGNORECASE)
_INSTRUCTION: Final = lazy_regex(
    r"(?:^|[,;:]\s+(?:and |but |so )?)(?:please\s+)?"
    r"(?:(?:always|never)\b(?! (?:been|had|seen|saw|got|was|were|here|there|\w{1,20}[^\We]ed)\b)"  # a report, no order
    r"|(?:remember (?:to|that)|make sure you|from now on|whenever I|when I ask)\b)"
    r"|\bI(?:['’]d| would)? prefer\b|\bI['’]d rather\b|\bI(?:['’]ve| have)? (?:decided|chose|chosen|agreed)\b",
    re.IGNORECASE,
)
_PREFERENCE: Final = lazy_regex(
    r"\b(?:I|we) (?:\w{1,20}ly |also |just |always |both |all |still |so ){0,3}"
    r"(?:loved?|liked?|enjoy(?:ed)?|prefer(?:red)?|hated?|avoid(?:ed)?|adored?|disliked?)"
    r"(?! (?:to|it|its|that|this|these|those|them|they|how|what|when|where|you|your|the)\b)(?= \w)"  # of the message before
    r"|\b(?:I|we)(?:['’](?:m|re)| am| are| was| were|(?:['’]ve| have) (?:always )?been) (?:\w{1,20}ly |also |just |always |still |so ){0,3}"
    r"(?:an? (?:\w+ )?)?(?:fan of|passionate about|interested in|keen on|fond of|obsessed with|into)\b"
    r"|\b(?:my|our) (?:[\w-]+ )?(?:favou?rites?|faves?|passion)\b",
    re.IGNORECASE,
)
_WORD: Final = lazy_regex(r"[^\W_]+(?:['’][^\W_]+)*")
_NO_NAME: Final = lazy_regex(
    rf"(?:{_MONTHS}|march|may|{_SHORT_MONTHS}|{_DAYS}|i|i['’]\w+|ok|okay|tv|lol)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequencies:
    """How common words are in a scope: its own counts combined with the frequencies of English words.

    Args:
        documents: Number of texts in the scope.
        frequency: Stem -> in how many of them it occurs.
        background: Lower-case word -> its share of running text; by default the bundled English table.
    """

    documents: int
    frequency: Callable[[str], int]
    background: Mapping[str, float] = field(default_factory=word_frequency.probabilities)

    def rarity(self, word: str) -> float:
        """ln(documents / documents with the word). The background counts as 300 documents, this text as one."""
        share = -math.expm1(-PRIOR_WORDS * self.background.get(word, 0.0))  # of documents of 20 words with the word
        known = self.frequency(stem(word)) + PRIOR_DOCUMENTS * share
        return math.log((self.documents + PRIOR_DOCUMENTS + 1) / (known + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextScore:
    """The score of a text and its parts.

    Args:
        score: The sum of the parts, a natural logarithm; only differences between scores are meaningful.
        parts: What each part adds: "information", the cues found, "answer", "assistant".
    """

    score: float
    parts: Mapping[str, float]

    @property
    def importance(self) -> float:
        """The score as a number in (0, 1): chatter about 0.2, an ordinary fact 0.5, a dated figure or instruction 0.8."""
        return 1 / (1 + math.exp((MIDDLE - self.score) / SPREAD))


def text_score(
    text: str,
    *,
    frequencies: Frequencies,
    speakers: Collection[str] = (),
    from_assistant: bool = False,
    answering: str = "",
) -> TextScore:
    """The score of a whole text: ln(0.5 + I) plus its cues.

    I is the sum of the six largest word values, divided by max(5, words)^0.15. The value of a word is max(0, rarity - 2), times
    1 in a statement, 0.6 in a question or a sentence about "you", 0.5 in a caption. Code and the names of speakers are left
    out. The words of a question before an answer count 0.6 with the answer's own, without adding to its length.

    Args:
        text: A message or a fact.
        frequencies: How common words are in its scope, without this text.
        speakers: Names of those who talk.
        from_assistant: Whether it is a message of an assistant without a name: this adds -2.3.
        answering: The message of another speaker before it. Only a question at its end counts.
    """
    text = prose(text)
    spoken, shown = sentences(text), captions(text)
    weighted = [*((sentence, _share(sentence)) for sentence in spoken), *((caption, CAPTION) for caption in shown)]
    length = sum(len(s.split()) for s in spoken) + CAPTION * sum(len(c.split()) for c in shown)
    ignored = name_stems(speakers)
    values = _values(weighted, frequencies, ignored)
    own = _information(values, length)
    parts = {"information": own, **importance_cues(text, speakers=speakers)}
    question = [(sentence, QUESTION) for sentence in sentences(prose(answering))[-1:] if is_question(sentence)]
    if question:
        borrowed = _information(_values(question, frequencies, ignored) | values, length) - own
        parts |= {"answer": borrowed} if borrowed else {}
    if from_assistant:
        parts["assistant"] = ASSISTANT
    return TextScore(score=sum(parts.values()), parts=MappingProxyType(parts))


def importance(
    text: str, *, frequencies: Frequencies, speakers: Collection[str] = (), from_assistant: bool = False
) -> float:
    """`TextScore.importance` of a text, in (0, 1): the importance of a new memory unless the caller or a mind sets another."""
    return text_score(text, frequencies=frequencies, speakers=speakers, from_assistant=from_assistant).importance


def clause_score(
    clause: Clause, *, frequencies: Frequencies, turn_cues: float = 0.0, speakers: Collection[str] = ()
) -> float:
    """The score of one clause per word, a natural logarithm. Clauses over `hot_words_max` are removed by it.

    ln(0.1 + sum of max(0, rarity - 1) over its distinct words) - 0.75 ln(words) + its cues + 0.3 times the cues of the
    whole message (`turn_cues`), + ln 0.6 in a question.
    """
    ignored = name_stems(speakers)
    worth = {
        stem(word): max(0.0, frequencies.rarity(word) - COMMON_IN_CLAUSE)
        for word in words(clause.text)
        if word not in STOP_WORDS and stem(word) not in ignored
    }
    own = 0.0 if clause.caption else sum(importance_cues(clause.text, speakers=speakers, opens=clause.opens).values())
    return (
        math.log(0.1 + sum(worth.values()))
        - 0.75 * math.log(max(1, len(clause.text.split())))
        + own
        + 0.3 * turn_cues
        + (math.log(QUESTION) if clause.question else 0.0)
    )


def importance_cues(text: str, *, speakers: Collection[str] = (), opens: bool = True) -> dict[str, float]:
    """The cues of later use in a text -> what each adds to the score; cues that are absent are left out.

    Args:
        text: A message, a fact or a clause.
        speakers: Names of the speakers, which do not count as names.
        opens: Whether the text begins a sentence. The capital of its first word then does not mark a name.
    """
    parts = sentences(text)
    spoken = " ".join(parts)
    shares = {
        "time": bool(_TIME.search(spoken)),
        "figure": bool(_FIGURE.search(spoken)),
        "names": min(3, _names(parts, speakers=speakers, opens=opens)) / 3,
        "event": bool(_EVENT.search(spoken)),
        "preference": bool(_PREFERENCE.search(spoken)),
        "first person": any(_FIRST_PERSON.search(part) for part in parts if not is_question(part)),
        "instruction": any(_INSTRUCTION.search(part) for part in parts),
    }
    return {cue: CUES[cue] * share for cue, share in shares.items() if share}


def _values(
    weighted: Sequence[tuple[str, float]], frequencies: Frequencies, ignored: Collection[str]
) -> dict[str, float]:
    """Stem -> its value: the rarity of its rarest word above `COMMON`, times the largest weight of a part with this word."""
    weights: dict[str, float] = {}
    for part, weight in sorted(weighted, key=lambda pair: -pair[1]):
        for word in words(part):
            weights.setdefault(word, weight)
    values: dict[str, float] = {}  # by stem: a word counts once, whatever its endings
    for word, weight in weights.items():
        if word not in STOP_WORDS and stem(word) not in ignored:
            value = max(0.0, frequencies.rarity(word) - COMMON) * weight
            values[stem(word)] = max(value, values.get(stem(word), 0.0))
    return values


def _information(values: Mapping[str, float], length: float) -> float:
    """ln(0.5 + I) of `text_score`."""
    return math.log(0.5 + sum(sorted(values.values(), reverse=True)[:COUNTED]) / max(5.0, length) ** 0.15)


def _share(sentence: str) -> float:
    """The weight of the words of a sentence."""
    if is_question(sentence):
        return QUESTION
    of_others = _SECOND_PERSON.search(sentence) and not (
        _FIRST_PERSON.search(sentence) or _INSTRUCTION.search(sentence)
    )
    return OF_OTHERS if of_others else 1.0


def name_stems(names: Collection[str]) -> frozenset[str]:
    """The stems of the words of these names."""
    return frozenset(stem(word) for name in names for word in words(name))


def _names(parts: list[str], *, speakers: Collection[str], opens: bool) -> int:
    """The number of distinct capitalised words that do not begin a sentence and are no speaker, weekday or month."""
    known = {word.lower() for name in speakers for word in _WORD.findall(name)}
    names: set[str] = set()
    for index, part in enumerate(parts):
        capitals = _WORD.findall(part)[1 if opens or index else 0 :]
        names.update(word.removesuffix("'s").removesuffix("’s") for word in capitals if word[0].isupper())
    return sum(name.lower() not in known and not _NO_NAME.fullmatch(name) for name in names)
