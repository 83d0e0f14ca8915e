"""Reads words without a verb, or with another subject than the speaker, that say something of the speaker: notes, tastes, dates."""

import re
from dataclasses import dataclass
from typing import Final

from slowwave.minds.offline.rules.claims import EPISODIC, SEMANTIC, Claim, says_something_definite
from slowwave.minds.offline.rules.fragments import _CODED, _DATED, _NOTE_SHORTEST, NOTE_LONGEST
from slowwave.minds.offline.rules.morphology import ing_base, past_base
from slowwave.minds.offline.rules.pronouns import UnclearError, in_third_person, inside, plain
from slowwave.policy.text.names import word_set

_THERE: Final = re.compile(
    r"^there(?P<is>['’]s| is| are| was| were) (?P<what>(?!you|it|that|no (?:need|way|point|reason))[^,;:]+?) (?P<where>(?:in|at|on|under|behind|near|above|below|next to|opposite|outside) (?:my|our) [\w'’ -]+)(?P<more>, [\w ]{2,40})?$",
    re.IGNORECASE,
)
_TO_ME: Final = re.compile(
    r"^(?P<what>(?!(?:it|that|this|these|those|they|he|she|you|which|what|who|nothing|everything|something|anything|all|some|and|but|if|so|let|give|tell|help|show|send|call|remind|ask|excuse|trust|"
    r"believe|make|please|don['’]t|can|could|would|will)\b)[A-Za-z][\w'’-]*(?: [\w'’-]+){0,4}?) (?P<verb>bores?|annoys?|disgusts?|scares?|terrif(?:y|ies)|calms?|relaxes?|relax|bothers?|irritates?|upsets?|"
    r"(?:leaves?|makes?|gives?|gets?|does|do|triggers?) (?:nothing for )?) ?me(?P<more>(?: .*)?)$",
    re.IGNORECASE,
)
_FOR_ME: Final = re.compile(
    r"^(?P<what>(?!(?:it|that|this|these|those|they|he|she|you|which|what|who|there|here|nothing|everything)\b)[A-Za-z][\w'’ -]{1,40}?) (?:is|are|isn['’]t|aren['’]t) (?:not |still |just )?"
    r"(?:an? |the |too |always |off |out |my )?[\w' -]{2,30}? for me$",
    re.IGNORECASE,
)
_ONLY: Final = re.compile(
    r"^the (?:only|best|worst) (?!(?:thing|way|problem|issue|reason|question|part|option|difference)\b)[\w -]{3,30}? (?:that )?(?:I|we)(?:['’]ve| have)? (?:(?:ever|really|actually|can|regularly) )*[\w]+ (?:is|are|was) (?P<value>(?!(?:this|that|the one|how|when|what|it|in|on)\b)[^,;]+)$",
    re.IGNORECASE,
)
"""What the speaker does of one kind: "the only sport I watch is snooker"."""
_MINE: Final = re.compile(
    r"^(?P<what>(?!(?:it|that|this|these|those|they|he|she|you|which|what|who|there|here|i|we|my)\b)[A-Za-z][\w'’ -]{1,40}?) (?:is|are) (?:definitely |still |always )?my (?:(?:absolute|big|biggest|all-time|least|secret|real|main|new) )*"
    r"(?:weakness|guilty pleasure|comfort food|favou?rites?|jam|nemesis|kryptonite|fear|phobia|passion|go-to|happy place|hobby|obsession|pet peeve|religion|team|drug of choice)\b[^,;]*$",
    re.IGNORECASE,
)
"""What something is to the speaker: "sour sweets are my weakness"."""
_BEST: Final = re.compile(
    r"^(?:nothing|no one|nobody) (?:beats|tops|compares (?:to|with)|is better than) (?P<what>.+)$", re.IGNORECASE
)
_WORTHLESS: Final = re.compile(
    r"\b(?:you|your|it|this|that|these|those|they|them|he|she|him|we|us|i|i'm|let|please|thanks?|sorry|hello|help)\b",
    re.IGNORECASE,
)
_COMMAND: Final = word_set(
    "book add set put remind call check plan show create write make give find list schedule explain describe suggest recommend compare translate summarise summarize draft cancel order print say see let tell send help do convert"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A fact that is not read as a clause of the speaker, and its claim."""

    text: str
    claim: Claim


def note(text: str, speaker: str) -> Note | None:
    """A fact of a clause about the speaker that has another subject, or of words without a verb that have a date or code.

    >>> note("Crime podcasts bore me", "The user").text
    'Crime podcasts bore the user'
    """
    try:
        return _of_speaker(text, speaker) or _there(text, speaker) or _dated(text, speaker)
    except UnclearError:
        return None


def _of_speaker(text: str, speaker: str) -> Note | None:
    """What a thing does to the speaker: a taste or an effect."""
    if (only := _ONLY.match(text)) and says_something_definite(only["value"], 1):
        return _note(text, speaker, "preference", 0.75)
    if (own := _MINE.match(text)) and says_something_definite(own["what"], 1):
        return _note(text, speaker, "preference", 0.8)
    best = _BEST.match(text)
    if best and says_something_definite(best["what"], 1):
        return _note(f"{text} for {inside(speaker)}", speaker, "preference", 0.8)
    match = _TO_ME.match(text) or _FOR_ME.match(text)
    if match is None or not says_something_definite(match["what"], 1):
        return None
    if _MOMENT.search(text) or re.search(
        r"\b(?:work|makes sense|easier|helpful|useful|important|perfect)\b", text[match.end("what") :]
    ):
        return None
    return _note(text, speaker, "preference", 0.75)


_MOMENT: Final = re.compile(
    r"\b(?:error|issue|problem with|code|function|result|output|answer|explanation|idea|time|chance|call|hope|energy|joy|question)\b",
    re.IGNORECASE,
)


_OURS: Final = re.compile(
    r"^(?!(?:[\w'-]+ ){0,3}?(?:claims?|says?|said|thinks?|means?|shows?|told|tells?|know|hopes?|guess|likes?|loves?|hates?|checks?|sees?|makes?|believes?|promises?|find|found)\b)(?:the |both |all |one |two |half |most )?(?:of )?(?:[\w'-]+ ){0,2}?(?:(?:in|at|on|of|to|from) )?(?:my|our) [\w' -]{2,30}? (?:is|are|has|have|isn['’]t|aren['’]t) (?!(?:so|very|that|this|what|how)\b)\S",
    re.IGNORECASE,
)


def _there(text: str, speaker: str) -> Note | None:
    if _OURS.match(text) and not _MOMENT.search(text):
        return _note(text, speaker, "observation", 0.75)
    if lacking := re.match(
        r"(?P<what>no [\w' -]{3,30}?) (?P<where>(?:in|at|on) (?:my|our) [\w'’ -]+)", text, re.IGNORECASE
    ):
        return _note(
            f"There is {lacking['what'].lower()} {text[lacking.start('where') :]}", speaker, "observation", 0.75
        )
    match = _THERE.match(text)
    if match is None or not says_something_definite(match["what"], 1):
        return None
    verb = {"'s": " is", "’s": " is"}.get(match["is"], match["is"])
    return _note(f"There{verb} {re.sub(r' of us$', '', match['what'])} {match['where']}", speaker, "observation", 0.75)


def _dated(text: str, speaker: str) -> Note | None:
    """Words without a verb and with a date or a code: "Eye test, 12 January, 9:15 at Boots"."""
    words = text.split()
    head = plain(words[0]) if words else ""
    if not _NOTE_SHORTEST < len(words) <= NOTE_LONGEST or _WORTHLESS.search(text) or text.endswith(":") or ": " in text:
        return None
    if _LOOKED_UP.search(text):
        return None
    dated = _DATED.search(text)
    coded = _CODED.search(text) and re.search(r"(?<!\w)[\w-]*\d[\w-]*$|\d{3,}", text) and len(words) <= _CODED_LONGEST
    if not (dated or coded) or not says_something_definite(_DATED.sub("", text), 1 if coded else 2):
        return None
    plain_words = [plain(w) for w in words]
    if head in _COMMAND or ing_base(head) or head in _NO_HEAD or any(_is_verb(word) for word in plain_words[1:]):
        return None
    return _note(text, speaker, "goal" if dated and not re.search(r"\b(?:every|since)\b", text) else "observation", 0.7)


_CODED_LONGEST: Final = 8
_LOOKED_UP: Final = re.compile(
    r"\b(?:recipes?|weather|forecast|ideas?|figures|history|examples|tips|facts|list|summary|causes|events|rules|key|best|top|prices?|hotels|restaurants|notes|news|agenda|1[0-8]\d\d)\b",
    re.IGNORECASE,
)
"""Words of a search that is written as a note: "weather in Oslo tomorrow"."""
_NO_HEAD: Final = word_set(
    "in on at by since for from after before during until with and but or so because when while if what which who how why where not only yes no maybe about as than to of good happy great next last "
    "see same until till every both either thank morning evening tomorrow tonight hope sure can could would will is are was were do does did a"
)


def _is_verb(word: str) -> bool:
    return bool(past_base(word)) or word in {
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "will",
        "can",
        "should",
        "would",
        "do",
        "does",
        "need",
        "want",
        "'s",
    }


def _note(text: str, speaker: str, category: str, confidence: float) -> Note:
    stated = in_third_person(text, speaker)
    kind = EPISODIC if category == "event" else SEMANTIC
    return Note(text=stated[:1].upper() + stated[1:], claim=Claim(category=category, kind=kind, confidence=confidence))
