"""Rules for statements about other people and their possessions."""

import re
from collections.abc import Collection
from typing import Final

from slowwave.minds.offline.rules.claims import (
    EPISODIC,
    PROCEDURAL,
    SEMANTIC,
    Claim,
    has_time_word,
    says_something_definite,
)
from slowwave.minds.offline.rules.rewrite import Statement, others
from slowwave.minds.offline.rules.verbs import KIN, OF_PEOPLE, PERSON_WORDS
from slowwave.policy.text.names import word_set

_STANDING: Final = re.compile(
    r"^(?:please\s+)?(?P<how>always|never|from now on|in (?:the )?future|going forward|remember to|make sure (?:to|you)(?: always)?|"
    r"don['’]t ever|do not ever)\b[,:]?\s*(?:please\s+)?",
    re.IGNORECASE,
)
_HOW: Final = {"always": "to always", "never": "to never", "don't ever": "to never", "do not ever": "to never"}
_LATER: Final = frozenset({"from now on", "going forward", "in future", "in the future"})
_NO_ORDER: Final = re.compile(r"(?:i|it|had|have|been|give up|stop|a|the|we)\b", re.IGNORECASE)
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
_NO_NAME: Final = word_set(
    "the this that these those it he she they we you there here what who how when where why which one everyone "
    "everybody someone nobody my our your his her their its so all most many some any each both time life people "
    "hope glad thanks music art dance dancing nature family mental being having seeing taking running reading "
    "painting cooking working helping everything something nothing another just if as a an and but or now then "
    "today yesterday tomorrow"
)
_MOVED: Final = r"(?:(?:has|have|was|is|got)\s+(?:now\s+)?(?:been\s+)?)?(?:moved|changed|postponed|rescheduled|shifted|pushed|brought)(?: back| forward)? to"
_THING: Final = re.compile(
    r"^(?P<noun>(?:[Tt]he|[Oo]ur)\s+(?:[\w.'’/-]+\s+){0,5}?[\w.'’/-]+)\s+(?P<verb>"
    + _MOVED
    + r"|is|are|was|uses|use|runs|has|have|will be|must be|starts|begins|ends|costs|takes place|happens|"
    r"expires|launches|ships|lives|supports|requires|depends on|stores|serves|returns)\s+(?P<rest>.+)$"
)
_DATED: Final = re.compile(
    r"\b(?:deadline|due|release|launch|meeting|budget|limit|exam|event|review|interview|trip|wedding|appointment|flight|party|version|port|goal|target)\b",
    re.IGNORECASE,
)
_OF_EXERCISES: Final = re.compile(
    r"\b(?:probability|rectangle|triangle|circle|line|number|answer|solution|result|equation|formula|angle|area|sum|vertices|slope|point|error|code)\b",
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
    """A standing instruction to the assistant, or None; a single request is none.

    >>> instruction("Please keep answers short, no preamble", "The user")[0]
    'The user wants the assistant to keep answers short, no preamble'
    """
    order = _when_asked(piece) or _standing(piece) or _of_answers(piece)
    if order is None:
        return None
    return f"{speaker} wants the assistant {order}", Claim(category="preference", kind=PROCEDURAL, confidence=0.95)


def _when_asked(piece: str) -> str | None:
    match = _WHEN_ASKED.match(piece)
    if match is None or not says_something_definite(match["order"]):
        return None
    case = others(re.sub(r"^i\b", "I", match["case"]))
    return f"to {_order(match['order'])} when {case}"


def _standing(piece: str) -> str | None:
    """An instruction with always, never or from now on; with "remember to" only if it is about answers or requests."""
    found = _STANDING.match(piece)
    if found is None:
        return None
    how, order = found["how"].lower().replace("’", "'"), piece[found.end() :]
    if how.startswith("remember") and not (_ALWAYS_WHEN.search(piece) or _OF_ANSWERS.search(order)):
        return None
    if not says_something_definite(order) or _NO_ORDER.match(order):
        return None
    later = " from now on" if how in _LATER else ""
    return f"{_HOW.get(how, 'to')} {_order(order)}{later}"


def _of_answers(piece: str) -> str | None:
    """An instruction about answers in general: "keep answers short", "please don't use emojis", "call me Sam"."""
    match = _WISH.match(piece)
    if match is None or not _OF_ANSWERS.search(piece) or not says_something_definite(match["order"], 1):
        return None
    polite = re.match(r"please\b|call\b|address\b|keep\b|don['’]t\b", piece, re.IGNORECASE)
    if not (polite or _ALWAYS_WHEN.search(piece)):
        return None
    denied = (match["not"] or "").lower().strip()
    lead = {"": "to", "avoid": "to avoid"}.get(denied, "not to")
    return f"{lead} {_order(match['order'])}"


def _order(order: str) -> str:
    order = re.sub(r"^(?:please|always)\s+|,?\s+please$", "", others(order), flags=re.IGNORECASE)
    order = re.sub(r"\byour\b", "its", order)
    return order[:1].lower() + order[1:] if order[1:2].islower() else order


def named_statement(piece: str, speaker: str, names: Collection[str]) -> tuple[str, str, Claim] | None:
    """The text, subject and claim of a statement about a named person or object, or None.

    A capital at the start is not enough: the word must be one of `names`, or the verb must be one of people.
    """
    match = _NAMED_SUBJECT.match(piece)
    if match is None or match["name"].split()[0].lower() in _NO_NAME or not match["name"].replace(" ", "").isalpha():
        return None
    if match["name"].split()[0] not in names and match["verb"] not in OF_PEOPLE:
        return None
    if match["verb"] in {"is", "was"} and not re.match(
        rf"(?:an?|the|my|our|in|from|at|\d|{'|'.join(sorted(KIN))})\b", match["rest"]
    ):
        return None
    if not says_something_definite(match["rest"], 1 if match["verb"] in OF_PEOPLE else 2) or _PRONOUN.search(
        match["rest"]
    ):
        return None
    text = _owned_by(piece, speaker)
    return text, match["name"], Claim(category="person", kind=SEMANTIC, confidence=0.8)


def dated_statement(piece: str, speaker: str) -> tuple[str, str, Claim] | None:
    """The text, subject and claim of a statement about an object with a date, name or number, or None.

    An example is "The Q3 release deadline is Oct 14".
    """
    match = _THING.match(piece)
    if (
        match is None
        or not _SHARP.search(piece, match.start("verb"))
        or _PRONOUN.search(piece)
        or not says_something_definite(match["rest"], 1)
    ):
        return None
    noun = match["noun"]
    if _OF_EXERCISES.search(noun):
        return None
    category = "goal" if _DATED.search(noun) else "project"
    return _owned_by(piece, speaker), noun.partition(" ")[2], Claim(category=category, kind=SEMANTIC, confidence=0.8)


def _owned_by(piece: str, speaker: str) -> str:
    """The piece with the possessive of the speaker for the first "my" or "our"."""
    owner = f"{speaker[:1].lower() + speaker[1:] if speaker.startswith('The ') else speaker}'s"
    text = re.sub(r"\b(?:[Mm]y|[Oo]ur)\b", owner, piece, count=1)
    return others(text[:1].upper() + text[1:])


def restore_subject(piece: str) -> str | None:
    """A piece without its subject ("Just got a tattoo") with "I" added; None for any other piece."""
    match = _ELIDED.match(piece)
    if match is None:
        return None
    rest = piece[match.end() :]
    before = re.sub(r"\bjust\b\s*", "", match.group(), flags=re.IGNORECASE).strip(" ,")
    lead = f"{before}, " if before and not before.lower().startswith(("finally", "recently", "also", "already")) else ""
    return f"{lead}I {'have ' if rest.lower().startswith('been') else ''}{rest[:1].lower()}{rest[1:]}"


_LONGEST_NOUN: Final = 6  # words
_OWNED_VERB: Final = re.compile(
    r"\b(?P<verb>is|are|was|were|has|have|had|will|can't|doesn't|don't|isn't|uses|runs|lives?|works?|owns?|leads?|likes?|loves?|hates?|prefers?|enjoys?|needs?|"
    r"wants?|moved|started|got|went|passed|died|gave|bought|made|took|joined|said|told|works|studies|teaches|plays?|plans?|helped|taught|"
    r"recommended|came|became|graduated|retired|turned|celebrated|adopted|broke|opened|launched|starts|begins|expires|costs?|depends|serves|stores)\b"
)
_VAGUE_OWNED: Final = re.compile(
    r"^(?:own\b|(?:best|worst) part|question|point|thoughts?|feelings?|mind|heart|head|eyes|day|life|time|way|bad|apolog|understanding|next question|"
    r"hope|guess|experience|dreams?|passion|love|mood|bond|code\b|current code|initial|example|solution|concern|issue|problem|answer|calculation|work\b)",
    re.IGNORECASE,
)


_OF_IDENTITY: Final = re.compile(
    r"(?:(?:(?:full|first|last) )?name|birthday|birth date|native language|mother tongue|pronouns|nationality|address|phone number)$"
)
_VAGUE_TASTE: Final = re.compile(r"(?:it|that|this|how|when|what|the one)\b")
_VAGUE_GOAL: Final = re.compile(r"(?:to )?(?:keep|stay|be |make (?:sure|it)|do|help)\b")
_STATES: Final = frozenset({"is", "are", "has", "have"})


def possession_statement(statement: Statement, *, assistant: bool) -> Claim | None:
    """The claim of a statement that begins with "my" or "our", or None."""
    verb = _OWNED_VERB.search(statement.owned)
    if verb is None or _VAGUE_OWNED.match(statement.owned):
        return None
    noun, predicate = statement.owned[: verb.start()].strip(), statement.owned[verb.end() :].strip()
    if not 0 < len(noun.split()) <= _LONGEST_NOUN or not says_something_definite(predicate, 1):
        return None
    if _OF_IDENTITY.match(noun):
        return Claim(category="identity", kind=SEMANTIC, confidence=0.9)
    if re.match(r"favou?rite\b", noun):
        return None if _VAGUE_TASTE.match(predicate) else Claim(category="preference", kind=SEMANTIC, confidence=0.9)
    if re.match(r"(?:\w+\s)?(?:goal|aim|plan|target|deadline)\b", noun):
        vague = not says_something_definite(predicate) or _VAGUE_GOAL.match(predicate)
        return None if vague else Claim(category="goal", kind=SEMANTIC, confidence=0.85)
    return _of_thing(noun, predicate, verb["verb"], assistant=assistant)


def _of_thing(noun: str, predicate: str, verb: str, *, assistant: bool) -> Claim | None:
    """The claim of a statement about a person, an object of work, or a dated event; None for other statements."""
    words = noun.lower().split()
    person = words[-1] in PERSON_WORDS or words[0].strip(",") in PERSON_WORDS
    if not says_something_definite(predicate, 1 if person and verb in OF_PEOPLE else 2):
        return None
    happened = has_time_word(predicate) and verb not in _STATES
    if person:
        return Claim(category="person", kind=EPISODIC if happened else SEMANTIC, confidence=0.85)
    if assistant:
        return Claim(category="project", kind=SEMANTIC, confidence=0.75)
    return Claim(category="observation", kind=EPISODIC, confidence=0.75) if has_time_word(predicate) else None
