"""Facts out of a transcript by rule: what people say of themselves, their people, their work and their plans."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from slowwave.minds.offline.rules.claims import Claim, recall_likelihood
from slowwave.minds.offline.rules.first_person import classify_first_person
from slowwave.minds.offline.rules.introductions import introduced
from slowwave.minds.offline.rules.references import generalise_demonstratives, is_self_contained
from slowwave.minds.offline.rules.rewrite import third_person
from slowwave.minds.offline.rules.split import pieces
from slowwave.minds.offline.rules.third_party import dated_statement, instruction, named_statement, restore_subject
from slowwave.model.mind import Fact, Rejected, Transcript, Turn
from slowwave.policy.comparison.alignment import prepare
from slowwave.policy.text import names as naming
from slowwave.policy.text.dates import resolve
from slowwave.policy.text.tokens import terms

if TYPE_CHECKING:
    from slowwave.model.memory import Kind

USER: Final = "The user"
SHORTEST, LONGEST = 4, 45  # words of a fact
_UNSURE: Final = re.compile(
    r"\b(?:maybe|perhaps|might|if|guess|not sure|wondering|wish|would have|could have|or something|hypothetically|suppose)\b",
    re.IGNORECASE,
)
_COURTESY: Final = re.compile(
    r"\b(?:thank|thanks|appreciate|congrat\w*|sorry|proud of|good luck|same here|count me in|keep (?:it|me) up)\b",
    re.IGNORECASE,
)
_FILLERS: Final = re.compile(
    r"(?<!not )(?<!n't )(?<!n’t )\b(?:also|really|just|actually|honestly|basically|literally|super|totally|definitely|pretty much|kind of|kinda|sort of|finally) (?!like\b)",
    re.IGNORECASE,
)
_PERSON: Final = re.compile(r"[Mm]y (?:\w+ ){0,2}\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A fact, its place in the transcript, and how much it is worth (findings on what people ask later)."""

    fact: Fact
    turn: int
    start: int
    worth: float


def distil(transcript: Transcript) -> tuple[tuple[Fact, ...], tuple[Rejected, ...]]:
    """The facts of a transcript in the order they were said, and those over `transcript.most`: the worthiest stay.

    Of equal worth the later one stays, for it holds the newer value; statements that differ in their names and figures
    alone are worth the same, though the later one has fewer new words.

    In a chat with an assistant (whose messages have no speaker) only the user is heard, in one between people everyone.
    Only English is understood; of other talk nothing is distilled, and nothing is lost: messages stay searchable.
    """
    room = _room(transcript)
    found = [f for turn in transcript.turns for f in _in_turn(turn, room)]
    best: dict[str, Found] = {}
    worth_of: dict[str, float] = {}
    for each in _as_said(found):
        worth_of[_frame(each)] = max(each.worth, worth_of.get(_frame(each), 0.0))
    for each in sorted(found, key=lambda f: (-worth_of[_frame(f)], -f.turn, -f.start)):
        best.setdefault(each.fact.text.casefold(), each)
    ranked = list(best.values())
    kept, over = ([f.fact for f in _as_said(part)] for part in (ranked[: transcript.most], ranked[transcript.most :]))
    reason = f"over the {transcript.most} facts of one pass"
    return tuple(kept), tuple(Rejected(text=f.text, reason=reason, quote=f.quote or "") for f in over)


def _frame(found: Found) -> str:
    """A fact's words without its names and figures."""
    return re.sub(r"\S*\d\S*|(?<=\s)[A-Z]\S*", "", found.fact.text).casefold()


def _as_said(found: list[Found]) -> list[Found]:
    return sorted(found, key=lambda f: (f.turn, f.start))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """What is known of a conversation while its turns are read; `known` grows with the terms that were heard, `first` is the turn that opens the talk (0: none)."""

    assistant: bool
    speakers: frozenset[str]
    names: frozenset[str]
    known: set[str]
    first: int


def _room(transcript: Transcript) -> _Room:
    said = [*transcript.before, *(t.memory for t in transcript.turns)]
    names = frozenset(name for m in said for name in naming.names(m.text).inside)
    first = 0 if transcript.before else next((t.number for t in transcript.turns if t.memory.role == "user"), 0)
    return _Room(
        assistant=with_assistant(transcript), speakers=transcript.speakers, names=names, known=set(), first=first
    )


def with_assistant(transcript: Transcript) -> bool:
    """Whether the chat is with an assistant: its messages carry no speaker."""
    said = [m for m in (*transcript.before, *(t.memory for t in transcript.turns)) if m.role == "assistant"]
    return not any(m.speaker for m in said)


def _in_turn(turn: Turn, room: _Room) -> Iterator[Found]:
    said = turn.memory
    heard = said.role in {"user", None} or (said.role == "assistant" and said.speaker)
    if not heard or not prepare(said.text).english:
        return
    speaker = said.speaker or USER
    opens = room.assistant and turn.number == room.first
    for place, piece in enumerate(pieces(said.text, room.speakers - {speaker})):
        words = generalise_demonstratives(resolve(piece.text, said.at))
        draft = (introduced(piece, speaker) if opens and not place else None) or _draft(words, speaker, room)
        if draft is None:
            continue
        text, subject, claim = draft
        text = clean_text(text)
        if not SHORTEST <= len(text.split()) <= LONGEST:
            continue
        fact = Fact(
            text=text,
            category=claim.category,
            kind=cast("Kind", claim.kind),  # a rule names no other
            subject=subject,
            confidence=claim.confidence,
            turn=turn.number,
            quote=said.text[piece.head : piece.start] + piece.text,
        )
        yield Found(
            fact=fact, turn=turn.number, start=piece.start, worth=recall_likelihood(piece.text, claim, room.known)
        )
    room.known.update(terms(said.text))


def _draft(words: str, speaker: str, room: _Room) -> tuple[str, str, Claim] | None:
    """Say a piece as a fact, if a rule knows it to be one and it stands on its own."""
    if room.assistant and (told := instruction(words, speaker)):
        return told[0], speaker, told[1]
    if _UNSURE.search(words) or _COURTESY.search(words):
        return None
    if not is_self_contained(words, person=bool(_PERSON.match(words))):
        return None
    found = (dated_statement(words, speaker) if room.assistant else None) or named_statement(words, speaker, room.names)
    if found:
        return found
    whole = words if room.assistant else (restore_subject(words) or words)
    statement = third_person(whole, speaker)
    claim = classify_first_person(statement, assistant=room.assistant) if statement else None
    return (statement.text, speaker, claim) if statement and claim else None


def clean_text(text: str) -> str:
    """A fact's text without intensifiers and end marks, on one line."""
    text = re.sub(
        r"(?<=\b(?:are|was) )so (?!that)|(?<=\bis )so (?!that)|(?<=\bwere )so (?!that)", "", _FILLERS.sub("", text)
    )
    text = re.sub(r"\s+", " ", text).strip(" \t,;:-–—.!")
    return text[:1].upper() + text[1:]
