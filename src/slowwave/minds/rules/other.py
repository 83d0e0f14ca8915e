"""Statements that are not about their speaker: standing instructions, named people, and things with a date or figure."""

import re
from collections.abc import Collection
from typing import Final

from slowwave.minds.rules.english import KIN
from slowwave.minds.rules.rewrite import others
from slowwave.minds.rules.worth import PROCEDURAL, SEMANTIC, Claim, telling

_STANDING: Final = re.compile(
    r"^(?:please\s+)?(?P<how>always|never|from now on|in (?:the )?future|going forward|remember to|remember that|remember|make sure (?:to|you)(?: always)?|whenever|"
    r"when(?:ever)? i ask|don['’]?t ever|do not ever)\b[,:]?\s*",
    re.IGNORECASE,
)
_WISH: Final = re.compile(
    r"^(?:please\s+)?(?P<not>don['’]t |do not |avoid )?(?P<order>(?:keep|make|write|give|format|answer|reply|respond|use|include|add|be|skip|call me|address me|speak|stick|limit|"
    r"using|giving|adding|including|writing|being)\b.*)$",
    re.IGNORECASE,
)
_OF_ANSWERS: Final = re.compile(
    r"\b(?:answers?|replies|responses?|explanations?|preamble|emojis?|bullet points?|tone|when i ask|every time|whenever|in (?:all|every) (?:\w+\s)?(?:answers?|responses?|examples?)|"
    r"call me|address me|concise|brief|verbose)\b",
    re.IGNORECASE,
)
_WHEN_ASKED: Final = re.compile(
    r"^(?:when|whenever|if) (?P<case>i (?:ask|request|mention|want|say)[^,]*),\s*(?:please\s+)?(?:i (?:want|would like|'d like) you to\s+)?(?P<order>.+)$",
    re.IGNORECASE,
)
_ALWAYS_WHEN: Final = re.compile(
    r"\bwhen(?:ever)? I (?:ask|request|inquire|mention|want|need|discuss|talk|submit|share)\b", re.IGNORECASE
)

_NAMED_SUBJECT: Final = re.compile(
    r"^(?P<name>[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+){0,2})(?P<of>,? (?:my|our) [\w\s-]{2,30}?,)?\s+"
    r"(?P<verb>is|was|has|owns|leads|manages|works|lives|runs|uses|teaches|studies|plays|likes|loves|hates|prefers|enjoys|wants|plans|moved|joined|started|left|"
    r"got|bought|went|suggested|recommended|invited|offered|agreed|mentioned|gave|told|helped|handles|maintains|reports|speaks|will|can't|doesn't|graduated|retired)\s+"
    r"(?P<rest>.+)$"
)
_OF_PEOPLE: Final = frozenset(
    ["owns", "leads", "manages", "works", "lives", "teaches", "studies", "plays", "handles", "maintains", "joined"]
)
_NO_NAME: Final = frozenset(
    [
        "the",
        "this",
        "that",
        "these",
        "those",
        "it",
        "he",
        "she",
        "they",
        "we",
        "you",
        "there",
        "here",
        "what",
        "who",
        "how",
        "when",
        "where",
        "why",
        "which",
        "one",
        "everyone",
        "everybody",
        "someone",
        "nobody",
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "its",
        "so",
        "all",
        "most",
        "many",
        "some",
        "any",
        "each",
        "both",
        "time",
        "life",
        "people",
        "hope",
        "glad",
        "thanks",
        "music",
        "art",
        "dance",
        "dancing",
        "nature",
        "family",
        "mental",
        "being",
        "having",
        "seeing",
        "taking",
        "running",
        "reading",
        "painting",
        "cooking",
        "working",
        "helping",
        "everything",
        "something",
        "nothing",
        "another",
        "just",
        "if",
        "as",
        "a",
        "an",
        "and",
        "but",
        "or",
        "now",
        "then",
        "today",
        "yesterday",
        "tomorrow",
    ]
)
_THING: Final = re.compile(
    r"^(?P<noun>(?:The|Our)\s+(?:[\w.'’/-]+\s+){0,5}?[\w.'’/-]+)\s+(?P<verb>is|are|was|uses|use|runs|has|have|will be|must be|starts|begins|ends|costs|takes place|happens|"
    r"expires|launches|ships|lives|supports|requires|depends on|stores|serves|returns)\s+(?P<rest>.+)$"
)
_DATED: Final = re.compile(
    r"\b(?:deadline|due|release|launch|meeting|budget|limit|exam|event|review|interview|trip|wedding|appointment|flight|party|version|port|goal|target)\b",
    re.IGNORECASE,
)
_SHARP: Final = re.compile(r"\d|(?<=[a-z] )[A-Z][\w.]+")
_PRONOUN: Final = re.compile(r"\b(?:you|your|it|that|this|these|those)\b", re.IGNORECASE)
_ELIDED: Final = re.compile(
    r"^(?:(?:finally|recently|just|also|already|yesterday|last (?:night|week|weekend|month|year|summer|\w+day))\s*,?\s*)*"
    r"(?=(?:got|lost|started|bought|went|took|met|found|finished|joined|signed|ran|had|made|won|moved|visited|launched|adopted|attended|been)\b)",
    re.IGNORECASE,
)


def instruction(piece: str, speaker: str) -> tuple[str, Claim] | None:
    """A standing wish of how an assistant is to behave; one-off requests are none.

    >>> instruction("Please keep answers short, no preamble", "The user")[0]
    'The user wants the assistant to keep answers short, no preamble'
    """
    claim = Claim(category="preference", kind=PROCEDURAL, confidence=0.95)
    if asked := _WHEN_ASKED.match(piece):
        if telling(asked["order"]):
            return (
                f"{speaker} wants the assistant to {_order(asked['order'])} when {others(asked['case'].replace('i ', 'I ', 1))}",
                claim,
            )
        return None
    if standing := _STANDING.match(piece):
        how, order = standing["how"].lower(), piece[standing.end() :]
        if how.startswith(("when", "remember")) and not _ALWAYS_WHEN.search(piece) and not _OF_ANSWERS.search(order):
            return None
        if not telling(order) or re.match(r"(?:i|it|had|have|been|give up|stop|a|the)\b", order, re.IGNORECASE):
            return None
        word = {"always": "always ", "never": "never "}.get(
            how, "never " if "ever" in how and "n" in how[:6] and not how.startswith("when") else ""
        )
        later = " from now on" if how in {"from now on", "going forward", "in future", "in the future"} else ""
        return f"{speaker} wants the assistant to {word}{_order(order)}{later}", claim
    wish = _WISH.match(piece)
    if (
        wish
        and _OF_ANSWERS.search(piece)
        and telling(wish["order"], 1)
        and (
            piece.lower().startswith("please")
            or _ALWAYS_WHEN.search(piece)
            or re.match(r"(?:call|address|keep|don)", piece, re.IGNORECASE)
        )
    ):
        denied = (wish["not"] or "").lower().strip()
        lead = {"": "", "avoid": "avoid "}.get(denied, "not ")
        return (
            f"{speaker} wants the assistant {'not ' if lead == 'not ' else ''}to {lead if lead == 'avoid ' else ''}{_order(wish['order'])}",
            claim,
        )
    return None


def _order(order: str) -> str:
    order = re.sub(r"^(?:please|always)\s+", "", others(order), flags=re.IGNORECASE)
    return order[:1].lower() + order[1:] if order[1:2].islower() else order


def named(piece: str, speaker: str, names: Collection[str]) -> tuple[str, str, Claim] | None:
    """What is said of a person or thing by name: the text, its subject, and what it is worth.

    A capital at the start proves no name: it must be one of `names`, or do what only people do.
    """
    match = _NAMED_SUBJECT.match(piece)
    if match is None or match["name"].split()[0].lower() in _NO_NAME or not match["name"].replace(" ", "").isalpha():
        return None
    if match["name"].split()[0] not in names and match["verb"] not in _OF_PEOPLE:
        return None
    if match["verb"] in {"is", "was"} and not re.match(
        rf"(?:an?|the|my|our|in|from|at|\d|{'|'.join(sorted(KIN))})\b", match["rest"]
    ):
        return None
    if not telling(match["rest"]) or _PRONOUN.search(match["rest"]):
        return None
    text = _owned_by(piece, speaker)
    return text, match["name"], Claim(category="person", kind=SEMANTIC, confidence=0.8)


def thing(piece: str, speaker: str) -> tuple[str, str, Claim] | None:
    """What is said of a thing with a date, a name or a figure: "The Q3 release deadline is Oct 14"."""
    match = _THING.match(piece)
    if match is None or not _SHARP.search(match["rest"]) or _PRONOUN.search(piece) or not telling(match["rest"], 1):
        return None
    noun = match["noun"]
    category = "goal" if _DATED.search(noun) else "project"
    return _owned_by(piece, speaker), noun.partition(" ")[2], Claim(category=category, kind=SEMANTIC, confidence=0.8)


def _owned_by(piece: str, speaker: str) -> str:
    """The piece with the first "my" or "our" said of the speaker."""
    owner = f"{speaker[:1].lower() + speaker[1:] if speaker.startswith('The ') else speaker}'s"
    text = re.sub(r"\b(?:[Mm]y|[Oo]ur)\b", owner, piece, count=1)
    return others(text[:1].upper() + text[1:])


def elided(piece: str) -> str | None:
    """A piece that leaves its "I" out ("Just got a tattoo"), with it."""
    match = _ELIDED.match(piece)
    if match is None:
        return None
    rest = piece[match.end() :]
    before = re.sub(r"\bjust\b\s*", "", match.group(), flags=re.IGNORECASE).strip(" ,")
    lead = f"{before}, " if before and not before.lower().startswith(("finally", "recently", "also", "already")) else ""
    return f"{lead}I {'have ' if rest.lower().startswith('been') else ''}{rest[:1].lower()}{rest[1:]}"
